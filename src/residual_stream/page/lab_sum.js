// The lab's tables: the followed word's account, and its states by depth. Both scroll in a
// box of their own, since a run may be 96 blocks deep.

import { h, resize, setAttributes, setText } from "./dom.js";
import { labStateName } from "./lab_table.js";
import { numberElement, showNumber } from "./numbers.js";
import { number } from "./table.js";
import { subscript } from "./words.js";

const LAB_DEEP = 26; // rows that do not fit into the box

const labSigned = (value) => (number(value).startsWith("−") ? number(value) : `+${number(value)}`);

/** x₀, every correction and the last state, axis by axis. */
export function createLabSum({ words }, table) {
  const [heading, note, error] = [h("h3", {}), h("p", { class: "lab-hint" }), h("p", { class: "lab-error" })];
  const grid = createLabGrid("lab-sum");
  const element = h("section", { class: "lab-account" }, heading, note, grid.element, error);

  function update({ settings, residual, word }) {
    const last = labStateName(settings.depth);
    const names = ["blocks.0.resid_pre", ...word.corrections, last];
    const heads = names.map((name, i) => labRowName(words, name, i, names.length - 1, settings.depth));
    setText(heading, words.say("lab_sum", { token: settings.words[settings.follow] }));
    setText(note, words.say(residual ? "sum_caption" : "sum_none"));
    grid.update(words.say("sum_region"), table.labels("d_model", words.language), heads, (cell, row, column) => {
      const isChange = row > 0 && row < names.length - 1;
      showNumber(cell, table, true, names[row], [settings.follow, column], isChange ? labSigned : number);
    });
    grid.mark((row) => (row === names.length - 1 ? "is-total" : !residual && row < names.length - 2 ? "is-dropped" : ""));
    error.hidden = word.sum_errors === null;
    if (word.sum_errors) setText(error, `${words.say("sum_error")} ${number(word.sum_errors.at(-1))}`);
  }
  return { element, update };
}

function labRowName(words, name, i, last, depth) {
  if (i === 0) return words.say("sum_input");
  if (i === last) return words.say("sum_total", { state: `x${subscript(depth)}` });
  const block = Number(name.split(".")[1]) + 1;
  return words.say("sum_correction", { block, sublayer: words.say(name.endsWith("attn_out") ? "attention" : "ffn") });
}

/** The followed word's states by depth with their lengths: the pictures' numbers. */
export function createLabStates(context, table) {
  const { words } = context;
  const summary = h("summary", {});
  const grid = createLabGrid("lab-states");
  let answer = null;
  const element = h("details", { class: "lab-details", toggle: () => fill() }, summary, grid.element);

  function fill() {
    if (!element.open || answer === null) return;
    const { settings, residual, states, lengths, word } = answer;
    const { follow } = settings;
    const width = table.labels("d_model", "en").length;
    const bar = words.say(residual ? "so_far" : "latest");
    const heads = [...table.labels("d_model", words.language), words.say("map_length"), bar];
    const rows = states.map((_, k) => `x${subscript(k)}`);
    grid.update(words.say("lab_states"), heads, rows, (cell, k, column) => {
      if (column < width) showNumber(cell, table, true, labStateName(k), [follow, column]);
      else if (column === width) setText(cell, number(lengths[k][follow], 2));
      else setText(cell, k === 0 ? "" : number(word.bars[k - 1], 2));
    }, width);
    context.prepareNumbers();
  }

  function update(next) {
    answer = next;
    setText(summary, words.say("lab_states"));
    fill();
  }
  return { element, update };
}

/** A table in a scrolling box; its rows are kept when it grows or shrinks. */
function createLabGrid(name) {
  const [caption, head, body] = [h("caption", { class: "visually-hidden" }), h("tr", {}), h("tbody", { "data-numbers": "" })];
  const element = h("div", { class: `lab-scroll ${name}`, tabindex: 0, role: "group" }, h("table", {}, caption, h("thead", {}, head), body));
  let width = "";

  function build(rows, columns, explained) {
    const wanted = [columns, explained].join();
    if (wanted !== width) {
      head.replaceChildren(h("td", {}), ...Array.from({ length: columns }, () => h("th", { scope: "col" })));
      body.replaceChildren();
    }
    width = wanted;
    const cell = (_, i) => h("td", {}, i < explained ? numberElement() : h("span", {}));
    resize(body, rows, () => h("tr", {}, h("th", { scope: "row" }), ...Array.from({ length: columns }, cell)));
  }

  /** explained: how many columns hold numbers of the trace. */
  function update(label, heads, rows, fillCell, explained = heads.length) {
    build(rows.length, heads.length, explained);
    element.classList.toggle("is-deep", rows.length > LAB_DEEP);
    setText(caption, label);
    element.setAttribute("aria-label", label);
    heads.forEach((text, i) => setText(head.children[i + 1], text));
    rows.forEach((text, row) => {
      const cells = body.children[row].children;
      setText(cells[0], text);
      heads.forEach((_, column) => fillCell(cells[column + 1].firstChild, row, column));
    });
  }
  const mark = (classOf) => [...body.children].forEach((row, i) => setAttributes(row, { class: classOf(i) }));
  return { element, update, mark };
}
