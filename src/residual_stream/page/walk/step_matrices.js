// Look inside: this step's values for all words, as small matrices.

import { h, setText } from "../elements/dom.js";
import { numberElement, showNumber } from "../scene/numbers.js";
import { stepAt } from "../store/steps.js";

const TITLES = {
  embed: "m_embed",
  pos_embed: "m_positions",
  resid_pre: "m_stream",
  resid_mid: "m_stream",
  resid_post: "m_stream",
  "ln1.scale": "m_scale",
  "ln2.scale": "m_scale",
  "ln1.normalized": "m_normalised",
  "ln2.normalized": "m_normalised",
  "attn.q": "m_q",
  "attn.k": "m_k",
  "attn.v": "m_v",
  "attn.scores": "m_scores",
  "attn.pattern": "m_pattern",
  "attn.z": "m_z",
  attn_out: "m_written",
  "mlp.pre": "m_hidden_pre",
  "mlp.post": "m_hidden_post",
  mlp_out: "m_written",
};

/** The entries that belong to a step, in the order of computation. */
function insideOf(step) {
  const at = `blocks.${step.layer}.`;
  if (step.part === "input") return ["embed", "pos_embed", step.shows];
  if (step.part === "sum") return [step.shows];
  if (step.part === "norm") return [step.before, step.scale, step.shows];
  if (step.part === "add") return [step.before, step.delta, step.update];
  const inner = step.sublayer === "attention" ? ["attn.q", "attn.k", "attn.v", "attn.scores", "attn.pattern", "attn.z"] : ["mlp.pre", "mlp.post"];
  return [...inner.map((name) => at + name), step.delta];
}

export function createInside(context) {
  const { words, store } = context;
  const summary = h("summary", {});
  const note = h("p", { class: "inside-note" });
  const matrices = h("div", { class: "inside-matrices" });
  const made = new Map();
  const element = h("details", { class: "inside", toggle: () => update(store.get()) }, summary, note, matrices);

  function update(state) {
    setText(summary, words.say("show_details"));
    if (!element.open) return;
    setText(note, words.say("rows_are_words"));
    const names = insideOf(stepAt(state.step, state.depth));
    const shown = names.map((name) => {
      const key = name.replace(/^blocks\.\d+\./, "");
      if (!made.has(key)) made.set(key, createMatrix(context));
      const matrix = made.get(key);
      matrix.update(state, name, TITLES[key] ? words.say(TITLES[key]) : "");
      return matrix.element;
    });
    if (shown.some((matrix, i) => matrix !== matrices.children[i]) || shown.length !== matrices.childElementCount) {
      matrices.replaceChildren(...shown);
    }
    context.prepareNumbers();
  }

  return { element, update };
}

/** One entry as a table: a row a word, a column for each label of its last axis. */
export function createMatrix(context) {
  const { table, words } = context;
  const title = h("span", { class: "matrix-title" });
  const code = h("code", {});
  const head = h("tr", {});
  const body = h("tbody", { "data-numbers": "" });
  const scroller = h("div", { class: "matrix-scroll", tabindex: 0, role: "group" });
  const element = h("div", { class: "matrix" }, scroller);
  scroller.append(h("table", {}, h("caption", {}, title, " ", code), h("thead", {}, head), body));

  function build(width) {
    head.replaceChildren(h("td", {}), ...Array.from({ length: width }, () => h("th", { scope: "col" })));
    body.replaceChildren(
      ...table.tokens.map((token) =>
        h("tr", {}, h("th", { scope: "row" }, token), ...Array.from({ length: width }, () => h("td", {}, numberElement()))),
      ),
    );
  }

  function update(state, name, heading) {
    const entry = table.entry(state.residual, name);
    const single = entry.axes.length === 1;
    const labels = single ? [""] : table.labels(entry.axes[1], words.language);
    if (head.childElementCount !== labels.length + 1) build(labels.length);
    setText(title, heading);
    setText(code, name);
    scroller.setAttribute("aria-label", `${heading} ${name}`.trim());
    labels.forEach((label, i) => setText(head.children[i + 1], label));
    table.tokens.forEach((_, row) => {
      body.children[row].classList.toggle("is-followed", row === state.token);
      labels.forEach((_label, column) => {
        const place = single ? [row] : [row, column];
        showNumber(body.children[row].children[column + 1].firstChild, table, state.residual, name, place);
      });
    });
  }

  return { element, update };
}
