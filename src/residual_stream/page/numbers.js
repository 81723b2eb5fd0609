// Numbers that can be asked where they come from: each a `.number` with its place.

import { h, setText } from "./dom.js";
import { number } from "./table.js";

/** One number of the trace; `showNumber` fills it. */
export function numberElement(attributes = {}) {
  return h("span", { class: "number", ...attributes });
}

/** Put one cell's value into its element; an entry that is not in this run leaves it empty. */
export function showNumber(element, table, residual, name, index, form = number) {
  const value = table.entry(residual, name) ? table.cell(residual, name, index) : null;
  setText(element, value === null ? "" : form(value));
  element.dataset.name = name;
  element.dataset.index = index.join();
  element.dataset.residual = residual ? "on" : "off";
}

