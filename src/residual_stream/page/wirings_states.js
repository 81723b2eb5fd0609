// A wiring's states: the followed word's four numbers before the first block and after each,
// each with a small bar; all wirings' bars are on one scale.

import { h, setText } from "./dom.js";
import { numberElement, showNumber } from "./numbers.js";
import { subscript } from "./words.js";

/** {element, update(token, block)}; names: the entry of each state, table: the wiring's own. */
export function createWiringsStates({ words }, table, names, largest) {
  const caption = h("caption", { class: "visually-hidden" });
  const heads = names.map((_, k) => h("th", { scope: "col" }, `x${subscript(k)}`));
  const rows = table.labels("d_model", "en").map(() => wiringsRow(names.length));
  const head = h("thead", {}, h("tr", {}, h("td", {}), ...heads));
  const body = h("tbody", { "data-numbers": "" }, ...rows.map((row) => row.element));
  const element = h("table", { class: "wirings-states" }, caption, head, body);

  function update(token, block) {
    setText(caption, words.say("wirings_states", { token: table.tokens[token] }));
    const labels = table.labels("d_model", words.language);
    heads.forEach((cell, k) => cell.classList.toggle("is-chosen", k === block));
    rows.forEach(({ label, cells }, axis) => {
      setText(label, labels[axis]);
      cells.forEach((cell, k) => {
        showNumber(cell.value, table, true, names[k], [token, axis]);
        wiringsBar(cell, table.row(true, names[k], token)[axis], largest);
        cell.element.classList.toggle("is-chosen", k === block);
      });
    });
  }
  return { element, update };
}

function wiringsRow(count) {
  const label = h("th", { scope: "row" });
  const cells = Array.from({ length: count }, () => {
    const [value, bar, over] = [numberElement(), h("i", { class: "wirings-bar" }), h("span", { class: "wirings-over" })];
    const track = h("span", { class: "wirings-track", "aria-hidden": "true" }, bar, over);
    return { value, bar, over, element: h("td", {}, value, track) };
  });
  return { label, cells, element: h("tr", {}, label, ...cells.map((cell) => cell.element)) };
}

/** From the zero line in the middle; what goes beyond the scale ends at its edge, with a sign. */
function wiringsBar({ bar, over }, value, largest) {
  const share = Math.max(-1, Math.min(1, value / largest));
  bar.style.left = `${50 + 50 * Math.min(0, share)}%`;
  bar.style.width = `${50 * Math.abs(share)}%`;
  const isOver = Math.abs(value) > largest * (1 + 1e-9);
  setText(over, isOver ? (value > 0 ? "▸" : "◂") : "");
  over.classList.toggle("is-left", value < 0);
}
