// Looking into one block of the lab: who looks where, and every matrix.

import { h, setText } from "./dom.js";
import { createMatrix } from "./inside.js";
import { createLabSlider } from "./lab_form.js";
import { numberElement, showNumber } from "./numbers.js";
import { percent } from "./table.js";

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
