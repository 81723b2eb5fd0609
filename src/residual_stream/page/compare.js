// The scene of the state; in compare mode one with and one without the residual, at the
// same step, with the first number that differs marked.

import { h, setHidden, setText } from "./dom.js";
import { createScene } from "./scene.js";
import { stepAt } from "./steps.js";
import { number } from "./table.js";

const SAME = 1e-9;

/** The first number of a word that differs between on and off, up to a step; or null. */
export function firstDifference(table, step, token) {
  const last = step.shows;
  for (const [name, on] of table.entries.on) {
    const off = table.entry(false, name);
    const [mine, other] = [on.value[token], off.value[token]].map((row) => [row].flat());
    const axis = mine.findIndex((value, i) => Math.abs(value - other[i]) > SAME);
    if (axis >= 0) return { name, axis, on: mine[axis], off: other[axis], single: on.axes.length === 1 };
    if (name === last) return null;
  }
  return null;
}

export function createCompare(context) {
  const { words, table } = context;
  const single = createScene(context, { residual: null });
  const pair = []; // made when it is first shown
  const line = h("p", { class: "compare-line" });
  const place = h("p", { class: "compare-place" });
  const sides = h("div", { class: "compare-sides" });
  const both = h("div", { class: "compare" }, h("div", { class: "compare-found" }, line, place), sides);
  const element = h("section", { class: "block", id: "block" }, single.element, both);

  function update(state, previous, options) {
    element.setAttribute("aria-label", words.say("block_region"));
    setHidden(single.element, state.compare);
    setHidden(both, !state.compare);
    if (!state.compare) {
      single.update(state, previous, options);
      return;
    }
    if (pair.length === 0) {
      pair.push(...[true, false].map((residual) => createSide(context, residual)));
      sides.append(...pair.map((side) => side.element));
    }
    const difference = firstDifference(table, stepAt(state.step, state.depth), state.token);
    for (const { residual, scene, heading } of pair) {
      setText(heading, words.say(residual ? "compare_on" : "compare_off"));
      scene.update(state, previous, { motion: false });
      scene.mark(difference);
    }
    showLine(difference, state);
  }

  function showLine(difference, state) {
    if (difference === null) {
      setText(line, words.say("no_difference"));
      setText(place, "");
      return;
    }
    const { name, axis, single: alone } = difference;
    const labels = table.labels(table.axes(true, name).at(-1), state.language);
    const form = (value) => number(value, 2);
    const values = { name, label: alone ? "" : labels[axis], on: form(difference.on), off: form(difference.off) };
    setText(line, words.say("first_difference", values));
    const [, layer, part] = name.match(/^blocks\.(\d+)\.(\w+)/);
    const isFfn = ["ln2", "mlp", "mlp_out", "resid_post"].includes(part);
    setText(place, words.say(isFfn ? "chapter_ffn" : "chapter_attention", { block: Number(layer) + 1 }));
  }

  return { element, update };
}

function createSide(context, residual) {
  const scene = createScene(context, { residual });
  const heading = h("h3", { class: "compare-heading" });
  return { residual, scene, heading, element: h("div", { class: "compare-side" }, heading, scene.element) };
}
