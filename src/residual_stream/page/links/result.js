// What comes of the settings: the sentence, the link with Copy and Open, its QR code.

import { h, s, setAttributes, setHidden, setText } from "../elements/dom.js";
import { createCopy } from "../shell/masthead.js";
import { addressOf } from "../store/address.js";
import { createNewestAnswer } from "../store/server_link.js";

// The link as a QR code: Python makes it, here it is drawn as one path. Always dark on
// white, whatever the theme, or not every camera reads it.

const CODE_QUIET = 4; // modules of white around it (ISO/IEC 18004)

/** {element, update(link), again, stop}; a code is shown only while it is the link's. */
export function createLinkCode(context) {
  const { words, store } = context;
  const [white, dark] = [s("rect", { fill: "#fff" }), s("path", { fill: "#000" })];
  const picture = s("svg", { class: "links-code", role: "img", "shape-rendering": "crispEdges", hidden: true }, white, dark);
  const line = h("p", { class: "links-quiet", hidden: true });
  const element = h("div", { class: "links-code-place" }, picture, line);
  const asking = createNewestAnswer(context, { kind: "qr", rest: 0, show, away });
  let wanted = "";

  function show(answer, { text }) {
    if (answer.error) {
      setText(line, words.say("links_code_failed"));
    } else draw(answer, text);
    shown(!answer.error);
  }

  function draw({ size, dark: runs }, text) {
    const side = size + 2 * CODE_QUIET;
    setAttributes(picture, { viewBox: `0 0 ${side} ${side}`, "data-text": text });
    setAttributes(white, { width: side, height: side });
    setAttributes(dark, { d: runs.map(([x, y, width]) => `M${x + CODE_QUIET} ${y + CODE_QUIET}h${width}v1h-${width}z`).join("") });
  }

  function shown(hasCode) {
    picture.classList.remove("is-waiting");
    picture.toggleAttribute("hidden", !hasCode); // an SVG has no property for it
    setHidden(line, hasCode);
  }

  /** Only a server that is known to be missing is spoken of; one may be on its way. */
  function away() {
    if (store.get().connected !== false) return;
    setText(line, words.say("links_code_offline"));
    shown(false);
  }

  function update(link) {
    setAttributes(picture, { "aria-label": words.say("links_code") });
    if (!line.hidden) setText(line, words.say(store.get().connected === false ? "links_code_offline" : "links_code_failed"));
    if (link === wanted) return;
    wanted = link;
    picture.classList.add("is-waiting");
    asking.want({ text: link }, { now: true });
  }

  return { element, update, again: asking.again, stop: asking.stop };
}

// What comes of a teacher's choice in a class: the sentence, and the button that takes every
// page there which follows. A link would open a page that is at once where the class is.

// the lab keeps its model: no place of the list is there
const CLASS_PLACE = ["view", "step", "depth", "residual", "token", "compare", "experiment"];

/** {element, update(settings, sentence)}; the teacher's own page goes there too. */
export function createClassShow(context) {
  const { words, store } = context;
  const heading = h("h3", { class: "visually-hidden" });
  const said = h("p", { class: "links-said" });
  const show = h("button", { type: "button", class: "button button-main", click: go, "data-control": "links-show" });
  const element = h("div", { class: "links-result class-show" }, heading, said, h("div", { class: "links-acts" }, show));
  let settings = null;

  function go() {
    store.set(Object.fromEntries(CLASS_PLACE.map((key) => [key, settings[key]])), "place");
    window.scrollTo(0, 0);
    context.toMain(); // the button is gone
  }

  function update(now, sentence) {
    settings = now;
    setText(heading, words.say("class_places_result"));
    setText(said, sentence);
    setText(show, words.say("class_places_show"));
  }

  return { element, update };
}

// this machine's own names: nobody else's browser gets here by them
export const LINK_LOCAL = /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

/** {element, update(settings, said), again: a server has come, stop}. */
export function createLinkResult(context) {
  const { words, table } = context;
  const said = h("p", { class: "links-said" });
  const [label, hint] = [h("span", {}), h("p", { class: "links-quiet", hidden: true })];
  const field = h("textarea", { readonly: true, rows: 3, spellcheck: "false", focus: () => field.select(), "data-control": "links-link" });
  const button = (name, click) => h("button", { type: "button", class: "button button-main", click, "data-control": `links-${name}` });
  const copy = createCopy(context, button, { name: "links_copy", link: () => field.value });
  const open = h("a", { class: "button links-open", target: "_blank", rel: "noopener", "data-control": "links-open" });
  const code = createLinkCode(context);
  const heading = h("h3", { class: "visually-hidden" });
  const acts = h("div", { class: "links-acts" }, copy.element, open);
  const element = h("div", { class: "links-result" }, heading, said, h("label", { class: "links-link" }, label, field), acts, hint, code.element);

  function update(settings, sentence) {
    const link = linkTo(settings, table);
    setText(heading, words.say("links_result"));
    setText(said, sentence);
    setText(label, words.say("links_link"));
    if (field.value !== link) field.value = link;
    copy.update();
    setText(open, words.say("links_open"));
    setAttributes(open, { href: link });
    sayHint(hint, linkHint(context));
    code.update(link);
  }

  return { element, update, again: code.again, stop: code.stop };
}

/** The page's own address with the settings in place of its state, and nothing else after "#". */
function linkTo(settings, table) {
  const address = addressOf(settings, table);
  return location.protocol.startsWith("http") ? address.split("#", 1)[0] : address;
}

/** A line in which the command's options stand as code, unbroken. */
export function sayHint(hint, text) {
  if (hint.textContent === text) return;
  hint.hidden = text === "";
  hint.replaceChildren(...text.split(/(--[a-z-]+)/).map((part) => (part.startsWith("--") ? h("code", {}, part) : part)));
}

/** Who can't follow links made here, and what to do about it; "" if everybody can. */
function linkHint({ words, hasAddress, home }) {
  if (!hasAddress) return words.say("links_inside");
  if (location.protocol === "file:") return words.say("links_file");
  if (!LINK_LOCAL.test(location.hostname)) return "";
  return words.say(home ? "links_local_site" : "links_local", { host: location.host });
}
