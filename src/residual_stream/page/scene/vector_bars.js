// The followed word's vector, a row an axis: the stream's bar, the correction's under it, and
// the numbers. Bars are placed from table values alone; the sum is looked up, never worked out.

import { h, setAttributes, setHidden, setText } from "../elements/dom.js";
import { subscript } from "../elements/words.js";
import { number } from "../store/table.js";
import { clearNumber, numberElement, showNumber } from "./numbers.js";

const VECTOR_ZERO = 100 / 3; // where the zero line stands, in % of the width
const VECTOR_REACH = 0.97; // of the room on a side, for the largest value there
const VECTOR_BARS = ["ghost", "first", "rest", "delta", "input", "end"];

/** {element, update(facts), draw(share, before), mark(axis or null)}; before: the facts to move away from. */
export function createVectorBars(context) {
  const { table, words } = context;
  const width = table.labels("d_model", "en").length;
  const head = createVectorHead(context);
  const rows = Array.from({ length: width }, createVectorRow);
  const scale = numberElement();
  const divide = [h("span", {}), h("span", {})];
  const copy = h("span", {});
  const norm = h("div", { class: "scene-copy" }, h("div", {}, copy, h("strong", {}, divide[0], scale, divide[1])));
  const body = h("div", { class: "scene-rows", role: "table" }, head.element, ...rows.map(({ element }) => element));
  const element = h("div", { class: "scene-vector", "data-numbers": "" }, body, norm);
  let shown = null;

  function update(facts) {
    shown = facts;
    head.update(facts);
    body.setAttribute("aria-label", `${words.say("stream")}: ${table.tokens[facts.token]}`);
    const labels = table.labels("d_model", facts.language);
    rows.forEach((row, axis) => fillVectorRow(row, axis, labels[axis], facts, context));
    element.classList.toggle("is-norm", facts.step.part === "norm");
    setText(copy, words.say("normalised_copy"));
    words.say("scale_divides").split("{scale}").forEach((text, i) => divide[i] && setText(divide[i], text));
    if (facts.step.part === "norm") showNumber(scale, table, facts.residual, facts.step.scale, [facts.token], (value) => number(value, 2));
    else clearNumber(scale);
  }

  function draw(share, before) {
    const place = vectorPlace(table, shown);
    const bars = (facts, axis) => vectorBars(vectorValues(table, facts, axis), facts, place);
    rows.forEach((row, axis) => {
      const to = bars(shown, axis);
      const from = share < 1 ? { ...bars(before, axis), ghost: to.ghost } : to;
      for (const name of VECTOR_BARS) placeVectorBar(row.bars[name], from[name], to[name], share);
      row.bars.rest.classList.toggle("is-back", leadsBack(to));
    });
  }

  const mark = (axis) => rows.forEach((row, i) => row.element.classList.toggle("is-marked", i === axis));
  return { element, update, draw, mark };
}

/** x₀ for the input, x₁ for the state after block 1; between a block's two updates plain x. */
export function stateSymbol(name) {
  const [, layer, state] = name.match(/^blocks\.(\d+)\.(.+)$/);
  const block = { resid_pre: Number(layer), resid_post: Number(layer) + 1 }[state];
  return block === undefined ? "x" : `x${subscript(block)}`;
}

/** Δ₁ for the first correction, in the order in which the run wrote them. */
export function deltaSymbol(table, residual, name) {
  const place = table.word(residual, 0).corrections.indexOf(name);
  return place < 0 ? "Δ" : `Δ${subscript(place + 1)}`;
}

function createVectorRow() {
  const bars = Object.fromEntries(VECTOR_BARS.map((name) => [name, h("i", { class: `scene-bar is-${name}` })]));
  const label = h("span", { class: "scene-axis", role: "rowheader" });
  const plot = h("span", { class: "scene-plot", "aria-hidden": "true" }, ...Object.values(bars));
  const [old, delta, result] = [numberElement(), numberElement(), numberElement()];
  const [gone, equals] = [h("span", { class: "visually-hidden" }), h("span", { class: "scene-equals" })];
  const cell = (name, ...children) => h("span", { class: `scene-cell is-${name}`, role: "cell" }, ...children);
  const cells = [cell("old", old, gone), cell("delta", delta), cell("new", equals, result)];
  return { element: h("div", { class: "scene-row", role: "row" }, label, plot, ...cells), label, bars, old, delta, result, gone, equals };
}

function fillVectorRow(row, axis, label, facts, { table, words }) {
  const { residual, token, step, names } = facts;
  const values = vectorValues(table, facts, axis);
  // what is divided by a small scale needs a second decimal for the quotient to be followed
  const small = step.part === "norm" && table.row(residual, step.scale, token) < 0.3;
  const decimals = addsUp(values, 1) && !small ? 1 : 2;
  const isCut = !residual && (step.part === "add" || step.part === "sum");
  const plain = (value) => number(value, decimals);
  const signed = (value) => (plain(value).startsWith("−") || (step.part === "write" && Number(plain(value)) === 0) ? "" : "+") + plain(value);
  setText(row.label, label);
  row.element.classList.toggle("has-hundredths", decimals === 2);
  for (const [element, name, form] of [
    [row.old, names.old, plain],
    [row.delta, names.delta, isCut ? plain : signed],
    [row.result, names.result, plain],
  ]) {
    if (name === null) clearNumber(element);
    else showNumber(element, table, residual, name, [token, axis], form);
  }
  row.old.classList.toggle("is-cut", isCut);
  setText(row.gone, isCut ? words.say("replaced") : "");
  const equals = addsUp(values, decimals) ? "=" : "≈";
  setText(row.equals, names.result === null ? "" : step.part === "sum" ? "→" : equals);
}

/** A word's old value, correction, result and input on one axis; null for what the step does not show. */
function vectorValues(table, { residual, token, names }, axis) {
  const at = (name) => (name === null ? null : table.row(residual, name, token)[axis]);
  return { old: at(names.old), delta: at(names.delta), result: at(names.result), sum: at(names.sum), input: at(names.input) };
}

/** Whether a sum's three numbers, rounded as they are shown, seem to add up. */
function addsUp({ old, delta, sum }, decimals) {
  const rounded = (value) => Math.round(10 ** decimals * Number(value.toFixed(decimals)));
  return sum === null || rounded(old) + rounded(delta) === rounded(sum);
}

/** The lowest and the highest value of this word down to the depth, on and off, give the scale. */
function vectorPlace(table, { token, depth }) {
  const parts = ["resid_pre", "attn_out", "resid_mid", "mlp_out", "resid_post"];
  const names = Array.from({ length: depth }, (_, layer) => parts.map((part) => `blocks.${layer}.${part}`)).flat();
  const values = [true, false].flatMap((on) => names.flatMap((name) => (table.entry(on, name) ? table.row(on, name, token) : [])));
  const [low, high] = [Math.min(-1e-9, ...values), Math.max(1e-9, ...values)];
  const unit = VECTOR_REACH * Math.min((100 - VECTOR_ZERO) / high, VECTOR_ZERO / -low);
  return (value) => VECTOR_ZERO + unit * value;
}

/** Each bar as [from, to, lane]; the corrections so far may lead back over x₀, and beyond zero. */
function vectorBars({ old, delta, result, input }, { residual, step, isInput }, place) {
  const stream = step.part === "sum" ? result : old;
  const isReplaced = !residual && step.part === "add";
  // with the residual x₀ is always a term, and the corrections go on from where it ends
  const kept = residual ? input : isInput ? stream : 0;
  const [first, whole] = isReplaced ? [0, 0] : [kept, stream];
  const written = step.part === "add" && residual ? [old, result] : [0, delta];
  const end = step.part === "add" ? result : stream;
  const values = {
    ghost: [0, isReplaced ? old : 0, 0],
    first: [0, first, 0],
    rest: [first, whole, 0],
    delta: delta === null ? [0, 0, 1] : [...written, isReplaced ? 0 : 1],
    input: [input, input, 0],
    end: [end, end, 0],
  };
  return Object.fromEntries(Object.entries(values).map(([name, [from, to, lane]]) => [name, [place(from), place(to), lane]]));
}

/** Whether the corrections so far lie over x₀'s bar: then they are drawn slimmer than it. */
const leadsBack = ({ first: [zero, input], rest: [, stream] }) => (input - zero) * (stream - input) < 0;

function placeVectorBar(bar, from, to, share) {
  const [start, end, lane] = to.map((value, i) => from[i] + (value - from[i]) * share);
  // held where it starts, so that a sliver's least width does not reach over the other side
  const [side, edge] = end < start ? ["right", 100 - start] : ["left", start];
  const [place, length] = [edge, Math.abs(end - start)].map((value) => Number(value.toFixed(3)));
  setAttributes(bar, { style: `${side}:${place}%;width:${length}%;--lane:${Number(lane.toFixed(3))}` });
  bar.classList.toggle("is-empty", length === 0);
}

function createVectorHead({ table, words }) {
  const token = h("span", { class: "scene-axis", role: "columnheader" });
  const keys = ["ghost", "first", "rest", "delta", "end"].map((name) => [name, h("span", { class: "scene-key-text" })]);
  const items = keys.map(([name, text]) => h("span", { class: "scene-key-item" }, h("i", { class: `scene-swatch is-${name}` }), text));
  const key = h("span", { class: "scene-key", "aria-hidden": "true" }, ...items);
  const columns = ["old", "delta", "new"].map((name) => {
    const [symbol, meaning] = [h("span", {}), h("span", { class: "visually-hidden" })];
    return { symbol, meaning, element: h("span", { class: `scene-cell is-${name}`, role: "columnheader" }, symbol, meaning) };
  });
  const element = h("div", { class: "scene-row is-head", role: "row" }, token, key, ...columns.map((column) => column.element));

  function update({ token: followed, residual, step, names, isInput }) {
    const isReplaced = !residual && step.part === "add";
    setText(token, table.tokens[followed]);
    const symbols = [stateSymbol(names.old), names.delta && deltaSymbol(table, residual, names.delta), names.result && stateSymbol(names.result)];
    const meanings = ["old_state", "correction", "new_state"];
    columns.forEach(({ symbol, meaning }, i) => {
      setText(symbol, symbols[i] ?? "");
      setText(meaning, words.say(meanings[i]));
    });
    const texts = {
      ghost: isReplaced ? words.say("old_state") : "",
      first: isReplaced && isInput ? "" : "x₀",
      rest: isReplaced || isInput ? "" : words.say(residual ? "so_far" : "latest"),
      delta: names.delta ? `${symbols[1]} ${words.say(step.sublayer)}` : "",
      end: names.result ? words.say("new_state") : "",
    };
    keys.forEach(([name, text], i) => {
      setText(text, texts[name]);
      setHidden(items[i], texts[name] === "");
    });
  }
  return { element, update };
}
