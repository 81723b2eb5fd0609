// Looking into one block of the lab: who looks where, and every matrix.

import { h, resize, setAttributes, setText } from "../elements/dom.js";
import { subscript } from "../elements/words.js";
import { numberElement, showNumber } from "../scene/numbers.js";
import { number, percent } from "../store/table.js";
import { createMatrix } from "../walk/step_matrices.js";
import { createLabSlider } from "./form.js";
import { labStateName } from "./table.js";

// The lab's tables: the followed word's account, and its states by depth. Both scroll in a
// box of their own, since a run may be 96 blocks deep.

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

const LAB_TITLES = {
  "attn.q": "m_q", "attn.k": "m_k", "attn.v": "m_v", "attn.scores": "m_scores", "attn.z": "m_z", attn_out: "m_written",
  "mlp.pre": "m_hidden_pre", "mlp.post": "m_hidden_post", mlp_out: "m_written",
};

/** {element, update(answer)}; onBlock: (block) when another is chosen. */
export function createLabBlock(context, table, onBlock) {
  const { words } = context;
  const heading = h("h3", {});
  const slider = createLabSlider(context, "block", 1, onBlock);
  const pattern = createLabPattern(context, table);
  const [summary, note] = [h("summary", {}), h("p", { class: "inside-note" })];
  const matrices = h("div", { class: "inside-matrices" });
  const details = h("details", { class: "inside", toggle: () => fill() }, summary, note, matrices);
  const element = h("section", { class: "lab-block" }, heading, slider.element, pattern.element, details);
  let made = new Map();
  let madeFor = "";
  let answer = null;

  function fill() {
    if (!details.open || answer === null) return;
    const { settings, entries } = answer;
    // a matrix keeps its rows' words: other words need other matrices
    if (madeFor !== settings.words.join()) made = new Map();
    madeFor = settings.words.join();
    const isInside = (name) => settings.block === 1 || name.startsWith(`blocks.${settings.block - 1}.`); // x₀ is made before the first
    const names = entries.filter(({ axes }) => axes.length === 2).map(({ name }) => name).filter((name) => isInside(name) && !name.endsWith("attn.pattern"));
    const shown = names.map((name) => {
      const key = name.replace(/^blocks\.\d+\./, "");
      if (!made.has(key)) made.set(key, createMatrix({ table, words }));
      const matrix = made.get(key);
      matrix.update({ residual: true, token: settings.follow }, name, LAB_TITLES[key] ? words.say(LAB_TITLES[key]) : "");
      return matrix.element;
    });
    if (shown.length !== matrices.childElementCount || shown.some((one, i) => one !== matrices.children[i])) matrices.replaceChildren(...shown);
    context.prepareNumbers();
  }

  function update(next) {
    answer = next;
    const { depth, block } = next.settings;
    setText(heading, words.say("lab_block"));
    slider.update(words.say("map_block"), block, words.say("chapter_block", { block }), depth);
    pattern.update(next);
    setText(summary, words.say("lab_inside", { block }));
    setText(note, words.say("rows_are_words"));
    fill();
  }
  return { element, update };
}

/** Who looks where: a row for each word that looks, darker where it looks more. */
function createLabPattern({ words }, table) {
  const [head, body] = [h("tr", {}), h("tbody", { "data-numbers": "" })];
  const grid = h("table", { class: "lab-pattern" }, h("thead", {}, head), body);
  const caption = h("p", { class: "lab-hint" });
  const scroller = h("div", { class: "matrix-scroll", tabindex: 0, role: "group" }, grid);
  const element = h("div", { class: "lab-looks" }, caption, scroller);
  let size = 0;

  function build(count) {
    const list = (make) => Array.from({ length: count }, make);
    head.replaceChildren(h("td", {}), ...list(() => h("th", { scope: "col" })));
    body.replaceChildren(...list(() => h("tr", {}, h("th", { scope: "row" }), ...list(() => h("td", {}, numberElement())))));
  }

  function update({ settings, looks }) {
    const { words: list, block, follow } = settings;
    const label = words.say(looks === null ? "lab_no_attention" : "lab_pattern", { block });
    scroller.hidden = looks === null;
    scroller.setAttribute("aria-label", label);
    setText(caption, label);
    if (looks === null) return;
    if (size !== list.length) build(list.length);
    size = list.length;
    const name = `blocks.${block - 1}.attn.pattern`;
    list.forEach((word, query) => {
      setText(head.children[query + 1], word);
      const row = body.children[query];
      row.classList.toggle("is-followed", query === follow);
      setText(row.firstChild, word);
      list.forEach((_, key) => {
        const cell = row.children[key + 1];
        showNumber(cell.firstChild, table, true, name, [query, key], percent);
        cell.style.setProperty("--share", String(Number(table.cell(true, name, [query, key]).toFixed(3))));
      });
    });
  }
  return { element, update };
}
