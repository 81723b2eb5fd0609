// The sum: x₀ and every correction, axis by axis, with what is left over.

import { h, setHidden, setText } from "../elements/dom.js";
import { subscript } from "../elements/words.js";
import { numberElement, showNumber } from "../scene/numbers.js";
import { stepAt, stepCount } from "../store/steps.js";
import { number } from "../store/table.js";

/** How many corrections have been written by a step. */
function writtenBy(step, depth) {
  const { part, sublayer, layer } = stepAt(step, depth);
  if (part === "input") return 0;
  if (part === "sum") return 2 * depth;
  return 2 * layer + (sublayer === "ffn" ? 1 : 0) + (part === "add" ? 1 : 0);
}

export function createSum(context) {
  const { table, words } = context;
  const heading = h("h2", {});
  const notes = { on: h("span", { class: "sum-note-on" }), off: h("span", { class: "sum-note-off" }) };
  const note = h("p", { class: "sum-note" }, notes.on, notes.off);
  const head = h("tr", {});
  const body = h("tbody", { "data-numbers": "" });
  const caption = h("caption", { class: "visually-hidden" });
  const error = h("p", { class: "sum-error" });
  const grid = h("table", { class: "sum-table" }, caption, h("thead", {}, head), body);
  const element = h("section", { class: "sum", id: "sum" }, heading, note, grid, error);
  const made = []; // rows, for the deepest walk so far
  let rows = [];

  function build(state) {
    const axes = table.labels("d_model", words.language);
    head.replaceChildren(h("td", {}), ...axes.map(() => h("th", { scope: "col" })));
    while (made.length < 2 + 2 * state.depth) made.push(createRow(axes.length));
    rows = made.slice(0, 2 + 2 * state.depth);
    body.replaceChildren(...rows.map((row) => row.element));
  }

  function update(state, previous) {
    if (!previous || previous.depth !== state.depth) build(state);
    setHidden(element, state.hide.includes("sum"));
    element.setAttribute("aria-label", words.say("sum_region"));
    setText(heading, words.say("sum_region"));
    setText(caption, words.say("sum_caption"));
    // both stand there, one unseen, so that the switch moves nothing
    setText(notes.on, words.say("sum_caption"));
    setText(notes.off, words.say("sum_none"));
    element.classList.toggle("is-off", !state.residual);
    table.labels("d_model", words.language).forEach((axis, i) => setText(head.children[i + 1], axis));
    fillRows(context, rows, state);
    showError(error, context, state);
  }

  return { element, update };
}

function createRow(width) {
  const name = h("th", { scope: "row" });
  const cells = Array.from({ length: width }, () => {
    const bar = h("span", { class: "sum-bar" });
    const value = numberElement();
    const running = h("span", { class: "sum-running" });
    const cell = h("span", { class: "sum-cell" }, h("span", { class: "sum-numbers" }, value, running), h("span", { class: "sum-track", "aria-hidden": "true" }, bar));
    return { bar, value, running, element: h("td", {}, cell) };
  });
  return { name, cells, element: h("tr", {}, name, ...cells.map((cell) => cell.element)) };
}

function fillRows(context, rows, state) {
  const { table, words } = context;
  const word = table.word(state.residual, state.token);
  const scale = table.word(true, state.token).running.slice(0, 2 * state.depth + 1).flat();
  const largest = Math.max(...scale.map(Math.abs));
  const written = writtenBy(state.step, state.depth);
  const last = `blocks.${state.depth - 1}.resid_post`;
  rows.forEach((row, i) => {
    const final = i === rows.length - 1;
    const name = i === 0 ? "blocks.0.resid_pre" : final ? last : word.corrections[i - 1];
    row.element.className = rowClass(i, final, written, state);
    setText(row.name, rowName(words, i, final, state));
    row.cells.forEach((cell, axis) => {
      const value = table.row(state.residual, name, state.token)[axis];
      showNumber(cell.value, table, state.residual, name, [state.token, axis], i === 0 || final ? number : signed);
      const start = state.residual && !final && i > 0 ? word.running[i - 1][axis] : 0;
      const end = state.residual && !final ? word.running[i][axis] : value;
      drawBar(cell.bar, start, end, largest);
      setText(cell.running, state.residual && i > 0 && !final ? `→ ${number(end)}` : "");
    });
  });
}

function rowClass(i, final, written, state) {
  if (i === 0) return state.residual || written === 0 ? "sum-row is-input" : "sum-row is-input is-dropped";
  if (final) return "sum-row is-total";
  const kind = i % 2 ? "is-attention" : "is-ffn";
  const kept = state.residual || i === written;
  return ["sum-row", kind, state.residual ? "" : "is-red", i > written ? "is-to-come" : "", i <= written && !kept ? "is-dropped" : "", i === written ? "is-current" : ""]
    .filter(Boolean)
    .join(" ");
}

function rowName(words, i, final, state) {
  if (i === 0) return words.say("sum_input");
  if (final) return words.say("sum_total", { state: `x${subscript(state.depth)}` });
  const sublayer = words.say(i % 2 ? "attention" : "ffn");
  return words.say("sum_correction", { block: Math.ceil(i / 2), sublayer });
}

const signed = (value) => (number(value).startsWith("−") ? number(value) : `+${number(value)}`);

/** From `start` to `end` on an axis that runs from −largest to +largest. */
function drawBar(bar, start, end, largest) {
  const share = (value) => 50 + (50 * value) / largest;
  const [from, to] = [share(Math.min(start, end)), share(Math.max(start, end))];
  bar.style.left = `${from}%`;
  bar.style.width = `${to - from}%`;
  bar.classList.toggle("is-down", end < start);
}

function showError(element, { table, words }, state) {
  const errors = table.word(state.residual, state.token).sum_errors;
  if (errors === null) {
    setText(element, ""); // its line stays, so that the switch moves nothing
    return;
  }
  const value = errors[state.depth - 1];
  const exact = value === 0 ? "0" : value.toExponential(1).replace("e-", " × 10^−");
  setText(element, `${words.say("sum_error")} ${number(value)}`);
  element.title = exact;
  element.classList.toggle("is-checked", state.step === stepCount(state.depth));
}
