// What the blocks get of a word: its vector and its place's together, as they were computed.

import { h, resize, setText } from "./dom.js";
import { labStateName } from "./lab_table.js";
import { numberElement, showNumber } from "./numbers.js";
import { number } from "./table.js";

const labX0Number = (value) => number(value, 2);

/** {element, update(answer)} for the word at a place; table: the newest answer's numbers. */
export function createLabX0({ words }, table, at) {
  const lead = h("span", {});
  const cells = h("span", { "data-numbers": "" });
  const element = h("p", { class: "lab-hint lab-x0", hidden: true }, lead, cells);
  element.lessonTable = table;

  function update({ settings }) {
    element.hidden = at >= settings.words.length;
    if (element.hidden) return;
    const axes = table.labels("d_model", words.language);
    setText(lead, words.say("lab_x0", { place: at + 1, word: settings.words[at] }));
    resize(cells, axes.length, () => h("span", { class: "lab-x0-axis" }, h("span", {}), numberElement()));
    axes.forEach((axis, i) => {
      const [name, cell] = cells.children[i].children;
      setText(name, ` ${axis} `);
      showNumber(cell, table, true, labStateName(0), [at, i], labX0Number);
    });
  }
  return { element, update };
}
