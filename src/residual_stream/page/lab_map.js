// The lab's depth map: the same picture as the lesson's, with a bar for each block, drawn
// with plain elements so that any depth up to 96 is one quick change.

import { h, resize, setText } from "./dom.js";
import { number } from "./table.js";

/** {element, update(answer)}; onBlock: (block) when a reader picks one. */
export function createLabMap({ words }, onBlock) {
  const heading = h("h3", {});
  const keys = ["x0", "so-far", "latest"].map((name) => {
    const word = h("span", {});
    return { word, element: h("li", {}, h("span", { class: `depth-map-swatch is-${name}` }), word) };
  });
  const mark = h("span", {});
  const ribbon = h("div", { class: "lab-ribbon" }, h("span", {}));
  const columns = h("div", { class: "lab-columns" });
  const stage = h("div", { class: "lab-stage", click: (event) => pick(event) }, ribbon, columns);
  const pointer = h("div", { class: "lab-pointer" });
  const ends = [h("span", {}), h("span", {})];
  const axis = h("p", { class: "lab-axis" }, ...ends);
  const key = h("ul", { class: "depth-map-key" }, ...keys.map((one) => one.element), h("li", {}, h("span", { class: "lab-mark", "aria-hidden": "true" }, "▲"), mark));
  const picture = h("div", { role: "img" }, stage, h("div", { class: "lab-way" }, pointer), axis);
  const element = h("section", { class: "lab-map" }, heading, key, picture);
  let bars = [];

  function pick(event) {
    const box = columns.getBoundingClientRect();
    const block = Math.floor(((event.clientX - box.left) / box.width) * bars.length) + 1;
    if (block >= 1 && block <= bars.length) onBlock(block);
  }

  function build(count) {
    resize(columns, count, () => h("div", { class: "lab-column" }, h("span", { class: "lab-length" }), h("i", { class: "lab-bar" })));
    bars = [...columns.children].map(({ firstChild: text, lastChild: bar }) => ({ bar, text }));
  }

  function update({ settings, residual, word }) {
    const { depth, block, follow } = settings;
    if (bars.length !== depth) build(depth);
    const tallest = Math.max(...word.bars, 1e-9) + (residual ? word.x0_length : 0);
    const top = Math.max(tallest, word.x0_length, 1e-9) * 1.12;
    const share = (length) => `${(100 * length) / top}%`;
    const foot = residual ? word.x0_length : 0;
    element.classList.toggle("is-off", !residual);
    element.classList.toggle("is-crowded", depth > 16);
    ribbon.style.height = share(word.x0_length);
    bars.forEach(({ bar, text }, i) => {
      bar.style.height = share(word.bars[i]);
      bar.style.bottom = share(foot);
      text.style.bottom = share(foot + word.bars[i]);
      setText(text, depth <= 16 || i === depth - 1 ? number(word.bars[i]) : "");
    });
    pointer.style.left = `${(100 * (block - 0.5)) / depth}%`;
    say(settings.words[follow], residual, word, block, depth);
  }

  function say(token, residual, word, block, depth) {
    setText(heading, words.say("lab_map", { token }));
    ["ribbon", "so_far", "latest"].forEach((name, i) => setText(keys[i].word, words.say(name)));
    setText(mark, words.say("lab_mark"));
    keys[1].element.hidden = !residual;
    keys[2].element.hidden = residual;
    setText(ribbon.firstChild, `x₀ ${number(word.x0_length)}`);
    setText(pointer, "");
    [1, depth].forEach((one, i) => setText(ends[i], words.say("map_hover_block", { block: one })));
    ends[1].hidden = depth === 1;
    // under the middle of the first and of the last bar, but within the picture
    [ends[0].style.left, ends[1].style.right] = Array(2).fill(`${50 / depth}%`);
    [ends[0].style.translate, ends[1].style.translate] = [`max(-50%, ${-50 / depth}cqw)`, `min(50%, ${50 / depth}cqw)`];
    const last = { shows: words.say(residual ? "so_far" : "latest"), length: number(word.bars.at(-1)) };
    picture.setAttribute("aria-label", `${words.say("lab_map", { token })}. ${words.say("map_hover_length", last)}`);
  }
  return { element, update };
}
