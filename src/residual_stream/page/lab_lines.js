// Small pictures side by side, one for each thing that goes by depth: the followed word's
// line is bold, the other words' are thin; all share one range, and zero is in sight.

import { h, s, setText } from "./dom.js";
import { numberElement, showNumber } from "./numbers.js";
import { number } from "./table.js";

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
