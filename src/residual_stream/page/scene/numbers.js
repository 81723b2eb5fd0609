// Numbers that can be asked where they come from: each a `.number` with its place.

import { h, setAttributes, setText } from "../elements/dom.js";
import { number, setting } from "../store/table.js";

/** One number of the trace; `showNumber` fills it. */
export function numberElement(attributes = {}) {
  return h("span", { class: "number", ...attributes });
}

/** Put one cell's value into its element; an entry that is not in this run leaves it empty. */
export function showNumber(element, table, residual, name, index, form = number) {
  const value = table.entry(residual, name) ? table.cell(residual, name, index) : null;
  setText(element, value === null ? "" : form(value));
  setAttributes(element, { role: "button", "data-name": name, "data-index": index.join(), "data-residual": setting(residual) });
  if (!element.hasAttribute("tabindex")) element.tabIndex = -1; // its group gives one of them a tab stop
}

/** Take a number's value and place away, so that nothing asks for it. */
export function clearNumber(element) {
  setText(element, "");
  for (const name of ["data-name", "data-index", "data-residual", "role", "tabindex"]) element.removeAttribute(name);
}
