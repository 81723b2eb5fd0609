// The wirings: the same numbers through pre-norm, post-norm and two mistakes, side by side.

import { h, setHidden, setText } from "../elements/dom.js";
import { subscript } from "../elements/words.js";
import { numberElement, showNumber } from "../scene/numbers.js";
import { createSelect } from "../shell/controls.js";
import { number, Table } from "../store/table.js";
import { createWiringsPicture } from "./picture.js";

// A wiring's states: the followed word's four numbers before the first block and after each,
// each with a small bar; all wirings' bars are on one scale.

/** {element, update(token, block)}; names: the entry of each state, table: the wiring's own. */
function createWiringsStates({ words }, table, names, largest) {
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

const WIRINGS_FORMULAS = {
  pre_norm: "x ← x + f(norm(x))",
  post_norm: "x ← norm(x + f(x))",
  skip_after_norm: "n ← norm(x),  x ← n + f(n)",
  add_inside: "x ← x + (x + f(norm(x)))",
};
const WIRINGS_SOURCES = {
  skip_after_norm: { name: "pytorch/pytorch#61165", at: "https://github.com/pytorch/pytorch/issues/61165" },
  add_inside: { name: "yunzeliu/MAP#3", at: "https://github.com/yunzeliu/MAP/issues/3" },
};
const wiringsPlaces = (value) => number(value, 2);

/** The view; its data is loaded when it is first shown. */
export function createWirings(context) {
  const { words, store, table, load } = context;
  const [heading, lead, line, note] = [h("h2", {}), h("p", { class: "wirings-lead" }), h("p", { class: "wirings-line" }), h("div", { class: "wirings-note" }, h("p", {}), h("p", {}))];
  const token = createSelect(table.tokens.map((_, i) => String(i)), (value) => store.set({ token: Number(value) }));
  const chooser = createSelect(["1", "2", "3"], (value) => {
    block = Number(value);
    update(store.get());
  });
  const list = h("div", { class: "wirings-list" });
  const element = h("section", { class: "wirings", hidden: true }, heading, lead, h("div", { class: "settings" }, token.element, chooser.element), line, list, note);
  let block = 1;
  let cards = null;
  let asked = false;

  function begin() {
    if (asked) return;
    asked = true;
    load("wirings").then(build, () => {
      asked = false; // the next showing asks again
      setText(line, words.say("wirings_failed"));
      context.announce(line.textContent);
    });
  }

  function build(data) {
    const tables = Object.fromEntries(data.wirings.map((one) => [one.id, wiringsTable(table, one)]));
    cards = data.wirings.map((one) => createWiringsCard(context, one, tables, data.largest));
    list.replaceChildren(...cards.map((card) => card.element));
    update(store.get());
    context.prepareNumbers();
  }

  function update(state) {
    setHidden(element, state.view !== "wirings");
    if (element.hidden) return;
    begin();
    element.setAttribute("aria-label", words.say("wirings_title"));
    setText(heading, words.say("wirings_title"));
    setText(lead, words.say("wirings_lead"));
    setText(line, cards === null ? words.say("wirings_loading") : "");
    line.hidden = cards !== null;
    ["wirings_sum_error", "wirings_scale"].forEach((key, i) => setText(note.children[i], words.say(key)));
    note.hidden = cards === null;
    token.update(words.say("token"), table.tokens, String(state.token));
    setHidden(token.element, state.hide.includes("token"));
    chooser.update(words.say("wirings_block"), ["1", "2", "3"], String(block));
    cards?.forEach((card) => card.update(state, block));
  }

  return { element, update };
}

/** A wiring's entries as a table of their own; words, names and weights are the lesson's. */
const wiringsTable = (table, { entries }) => new Table({ ...table.model, runs: { on: { entries, words: [] } } });

function createWiringsCard(context, wiring, tables, largest) {
  const { words } = context;
  const { id } = wiring;
  const [title, kind, text, sum] = ["h3", "p", "p", "p"].map((tag) => h(tag, {}));
  const picture = createWiringsPicture(context, wiring, id === "pre_norm");
  const states = createWiringsStates(context, tables[id], wiring.states, largest);
  const difference = createWiringsDifference(context, wiring, tables);
  const source = createWiringsSource(words, id);
  const formula = h("p", { class: "wirings-formula" }, h("code", {}, WIRINGS_FORMULAS[id]));
  kind.className = "wirings-kind";
  text.className = "wirings-text";
  sum.className = "wirings-sum";
  const error = h("p", { class: "wirings-error" });
  const head = h("div", { class: "wirings-head" }, kind, title, formula, h("div", {}, text, source.element));
  const foot = h("div", { class: "wirings-foot" }, error, sum);
  const element = h("article", { class: `wirings-card is-${id}` }, head, picture.element, difference.element, states.element, foot);
  element.lessonTable = tables[id];

  function update({ token }, block) {
    const found = wiring.words[token].first_difference;
    setText(kind, words.say(`wirings_kind_${id}`));
    setText(title, words.say(`wirings_${id}`));
    element.setAttribute("aria-label", words.say(`wirings_${id}`));
    setText(text, words.say(`wirings_text_${id}`));
    setText(sum, words.say(`wirings_sum_${id}`));
    source.update();
    picture.update(block - 1, block === 1 ? (found?.name ?? null) : null, words.say("wirings_picture", { name: words.say(`wirings_${id}`), block }));
    states.update(token, block);
    difference.update(token);
    setText(error, words.say("wirings_error", { block, error: wiringsPlaces(wiring.words[token].sum_errors[block - 1]) }));
    error.classList.toggle("is-exact", id === "pre_norm");
  }
  return { element, update };
}

/** The first number that is another than in pre-norm: its name, its label and both values. */
function createWiringsDifference({ words }, wiring, tables) {
  const [text, name, here, there] = [h("p", { class: "wirings-same" }), h("code", {}), numberElement(), numberElement()];
  const [what, hereWord, thereWord] = [h("p", {}), h("span", {}), h("span", {})];
  const right = h("span", { class: "wirings-value" }, thereWord, " ", there);
  right.lessonTable = tables.pre_norm;
  const values = h("p", { class: "wirings-values", "data-numbers": "" }, h("span", { class: "wirings-value is-here" }, hereWord, " ", here), " ", right);
  const both = h("div", { class: "wirings-difference" }, what, h("p", { class: "wirings-name" }, name), values);
  const element = h("div", { class: "wirings-compared" }, text, both);

  function update(token) {
    const found = wiring.words[token].first_difference;
    both.hidden = found === null;
    text.hidden = found !== null;
    setText(text, words.say(wiring.id === "pre_norm" ? "wirings_measure" : "wirings_same"));
    if (found === null) return;
    const table = tables[wiring.id];
    const axes = table.axes(true, found.name);
    const label = axes.length === 1 ? table.tokens[token] : table.labels(axes.at(-1), words.language)[found.index.at(-1)];
    setText(what, `≠ ${words.say("wirings_first")}`);
    setText(name, `${found.name}: ${label}`);
    setText(hereWord, words.say("wirings_here"));
    setText(thereWord, words.say("wirings_there"));
    showNumber(here, table, true, found.name, found.index, wiringsPlaces);
    showNumber(there, tables.pre_norm, true, found.name, found.index, wiringsPlaces);
  }
  return { element, update };
}

/** Where the mistake stands in public code; nothing for the two that are none. */
function createWiringsSource(words, id) {
  const known = WIRINGS_SOURCES[id];
  const text = h("span", {});
  const link = known ? h("a", { href: known.at, rel: "noreferrer", target: "_blank" }, known.name) : null;
  const element = h("p", { class: "wirings-source", hidden: !known }, text, " ", link);
  return { element, update: () => setText(text, known ? words.say(`wirings_source_${id}`) : "") };
}
