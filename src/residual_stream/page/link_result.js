// What comes of the settings: the sentence, the link with Copy and Open, its QR code.

import { addressOf } from "./address.js";
import { h, setAttributes, setText } from "./dom.js";
import { createLinkCode } from "./link_code.js";
import { createCopy } from "./masthead.js";

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
