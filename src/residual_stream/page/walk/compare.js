// The scene of the state; in compare mode one with and one without the residual, at the
// same step, with the first number that differs marked.

import { h, setAttributes, setHidden, setText } from "../elements/dom.js";
import { createScene } from "../scene/scene.js";
import { stepAt } from "../store/steps.js";
import { number } from "../store/table.js";
import { showFormula } from "./walk.js";

const SAME = 1e-9;

/** The first number of a word that differs between on and off, up to a step; or null. */
function firstDifference(table, step, token) {
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
  const sides = h("div", { class: "compare-sides" });
  const both = h("div", { class: "compare" }, line, sides);
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
    for (const { residual, scene, heading, formula } of pair) {
      setText(heading, words.say(residual ? "compare_on" : "compare_off"));
      showFormula(formula, context, state, residual);
      scene.update(state, previous, { motion: false });
      scene.mark(difference);
    }
    showLine(difference, state);
  }

  function showLine(difference, state) {
    if (difference === null) {
      setText(line, words.say("no_difference"));
      setAttributes(line, { title: null });
      return;
    }
    const { name, axis, single: alone } = difference;
    const labels = table.labels(table.axes(true, name).at(-1), state.language);
    const place = differencePlace(name, words);
    const where = alone ? place : words.say("difference_of", { place, label: labels[axis] });
    setText(line, words.say("first_difference", { where, ...shortest(difference) }));
    setAttributes(line, { title: name });
  }

  return { element, update };
}

function createSide(context, residual) {
  const scene = createScene(context, { residual });
  const heading = h("h3", { class: "compare-heading" });
  const formula = h("p", { class: "step-formula" });
  const head = h("div", { class: "compare-head" }, heading, formula);
  return { residual, scene, heading, formula, element: h("div", { class: "compare-side" }, head, scene.element) };
}

/** Where in the walk a value is made: after a sublayer's update, or within a sublayer. */
function differencePlace(name, words) {
  const [, layer, part] = name.match(/^blocks\.(\d+)\.(\w+)/);
  const block = Number(layer) + 1;
  const sublayer = ["ln2", "mlp", "mlp_out", "resid_post"].includes(part) ? "ffn" : "attention";
  return words.say(part.startsWith("resid") ? "difference_after" : "difference_within", { block, sublayer: words.say(sublayer) });
}

/** Both numbers with the one decimal that the rows have, or with two where one does not tell them apart. */
function shortest({ on, off }) {
  const decimals = number(on, 1) === number(off, 1) ? 2 : 1;
  return { on: number(on, decimals), off: number(off, decimals) };
}
