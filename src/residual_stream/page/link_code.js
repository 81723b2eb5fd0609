// The link as a QR code: Python makes it, here it is drawn as one path. Always dark on
// white, whatever the theme, or not every camera reads it.

import { h, s, setAttributes, setHidden, setText } from "./dom.js";
import { createNewestAnswer } from "./newest_answer.js";

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
