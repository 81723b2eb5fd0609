// The lab's depth map: the same picture as the lesson's, with a bar for each block, drawn
// with plain elements so that any depth up to 96 is one quick change.

import { h, resize, s, setText } from "../elements/dom.js";
import { numberElement, showNumber } from "../scene/numbers.js";
import { number } from "../store/table.js";

// Small pictures side by side, one for each thing that goes by depth: the followed word's
// line is bold, the other words' are thin; all share one range, and zero is in sight.

const LAB_HEIGHT = 40; // units; 100 wide

/** {element, update({title, text, list, range, form})} for any list of panels. */
export function createLabPanels() {
  const [heading, note] = [h("h3", {}), h("p", { class: "lab-hint" })];
  const grid = h("div", { class: "lab-panels" });
  const element = h("section", { class: "lab-lines" }, heading, note, grid);
  let panels = [];

  /**
   * list: [{title, lines: [[…]], bold, cells}]: bold is the place of the followed line;
   * cells: null, or {table, ends: [[name, index], [name, index]]} of its first and last value.
   */
  function update({ title, text, list, range, form = number }) {
    setText(heading, title);
    setText(note, text);
    if (panels.length !== list.length) {
      panels = list.map(createLabPanel);
      grid.replaceChildren(...panels.map((panel) => panel.element));
    }
    list.forEach((panel, i) => panels[i].update(panel, range, form));
  }
  return { element, update };
}

function createLabPanel() {
  const name = h("span", { class: "lab-panel-name" });
  const ends = [numberElement(), numberElement()];
  const plain = h("span", {});
  const cells = h("span", { "data-numbers": "" }, ends[0], " → ", ends[1]);
  const [zero, thin, bold] = [s("path", { class: "lab-zero" }), s("path", { class: "lab-thin" }), s("path", { class: "lab-bold" })];
  const picture = s("svg", { viewBox: `0 0 100 ${LAB_HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, zero, thin, bold);
  const element = h("div", { class: "lab-panel" }, h("p", {}, name, h("span", { class: "lab-panel-ends" }, cells, plain)), picture);

  function update(panel, range, form) {
    setText(name, panel.title);
    const own = panel.lines[panel.bold];
    cells.hidden = panel.cells === null;
    plain.hidden = panel.cells !== null;
    setText(plain, `${form(own[0])} → ${form(own.at(-1))}`);
    panel.cells?.ends.forEach(([entry, index], i) => showNumber(ends[i], panel.cells.table, true, entry, index, form));
    const at = labScale(range);
    zero.setAttribute("d", `M0 ${at(0)}H100`);
    const others = panel.lines.filter((_, i) => i !== panel.bold);
    thin.setAttribute("d", others.map((line) => labPath(line, at)).join(""));
    bold.setAttribute("d", labPath(own, at));
  }
  return { element, update };
}

function labScale([low, high]) {
  const span = high - low || 1;
  return (value) => Number((2 + (LAB_HEIGHT - 4) * (1 - (value - low) / span)).toFixed(2));
}

function labPath(values, at) {
  const step = 100 / Math.max(1, values.length - 1);
  if (values.length === 1) return `M0 ${at(values[0])}H100`;
  return values.map((value, i) => `${i ? "L" : "M"}${Number((i * step).toFixed(2))} ${at(value)}`).join("");
}

/** The range of all numbers, with zero in it. */
export function labRange(numbers) {
  return numbers.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [0, 0]);
}

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
