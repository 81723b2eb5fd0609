// A step of the walk: its sentence, formula, numbers and code.

import { h, setText } from "../elements/dom.js";
import { prose, proseText, subscript } from "../elements/words.js";
import { numberElement, showNumber } from "../scene/numbers.js";
import { deltaSymbol, stateSymbol } from "../scene/vector_bars.js";
import { stepAt, stepCount } from "../store/steps.js";
import { setting } from "../store/table.js";

/** The texts of a step in a state: {title, nodes, fills} in the current language. */
export function stepText(context, state) {
  const { data, words } = context;
  const filled = data.fills.steps[setting(state.residual)][state.token];
  const last = state.step >= stepCount(state.depth);
  const [section, ...fills] = last ? filled.sums[state.depth - 1] : filled.steps[state.step - 1];
  return { ...data.prose[words.language].steps[section], fills };
}

/** The step's region: where we are, the sentence, the formula, the numbers, the code. */
export function createStep(context) {
  const { words } = context;
  const count = h("p", { class: "step-count" });
  const telling = createTelling(context, () => element.focus({ preventScroll: true }));
  const formula = h("p", { class: "step-formula" });
  const what = h("p", { class: "step-what" });
  const numbers = h("p", { class: "step-numbers", "data-numbers": "" });
  const code = createCode(context);
  const element = h("section", { class: "step", id: "step", tabindex: -1 }, count, ...telling.elements, formula, what, numbers, code.element);

  function update(state) {
    element.setAttribute("aria-label", words.say("step"));
    element.dataset.part = stepAt(state.step, state.depth).part;
    setText(count, words.say("step_of", { step: state.step, steps: stepCount(state.depth) }));
    telling.update(state);
    showFormula(formula, context, state, state.residual);
    setText(what, whatIsShown(context, state));
    showNumbers(numbers, context, state);
    code.update(state);
  }

  return { element, update };
}

/**
 * A step's title and text. Behind each lies, unseen, what the other setting of the switch
 * says: the room is the longer one's, so that flipping it moves nothing below.
 */
function createTelling(context, keepFocus) {
  const title = h("span", { class: "step-title" });
  const text = h("div", { class: "step-text" });
  const elements = [h("h2", { class: "step-titles" }, title), h("div", { class: "step-texts" }, text)];
  const told = new Map();

  /** New text has new links: the focus that one of the old had goes to the region. */
  function tell(content) {
    const focused = text.getRootNode().activeElement;
    const held = [title, text].some((part) => part.contains(focused));
    title.replaceChildren(...prose(content.title, content.fills, context.onLink));
    text.replaceChildren(...prose(content.nodes, content.fills, context.onLink));
    if (held) keepFocus();
  }

  function keepRoom(content) {
    [content.title, content.nodes].forEach((nodes, i) => (elements[i].dataset.other = proseText(nodes, content.fills)));
  }

  function once(what, content) {
    const now = JSON.stringify(content);
    if (told.get(what) !== now) what(content);
    told.set(what, now);
  }

  function update(state) {
    once(tell, stepText(context, state));
    once(keepRoom, stepText(context, { ...state, residual: !state.residual }));
  }

  return { elements, update };
}

/** What the step does to the stream, with the residual or without. */
export function showFormula(element, context, state, residual) {
  const step = stepAt(state.step, state.depth);
  const formula = context.data.lesson.formulas[step.id][setting(residual)]
    .replaceAll("_2n", subscript(2 * state.depth))
    .replaceAll("_n", subscript(state.depth));
  const [before, marked, after] = formula.split(/[«»]/);
  element.setAttribute("aria-label", `${context.words.say("formula")}: ${before}${marked}${after}`);
  element.replaceChildren(before, h("mark", {}, marked), after);
}

/** What the step's numbers are: the draft, a copy, a correction or a state. */
function whatIsShown({ table, words }, { step, depth, residual }) {
  const { part, shows } = stepAt(step, depth);
  if (part === "input") return words.say("ribbon");
  if (part === "norm") return words.say("normalised_copy");
  if (part === "write") return words.say("step_correction", { delta: deltaSymbol(table, residual, shows) });
  return words.say(part === "sum" ? "sum_total" : "step_state", { state: stateSymbol(shows) });
}

function showNumbers(element, context, state) {
  const { table, words } = context;
  const step = stepAt(state.step, state.depth);
  const axis = table.entry(state.residual, step.shows).axes.at(-1);
  const labels = table.labels(axis, words.language);
  if (element.childElementCount !== labels.length) {
    element.replaceChildren(...labels.map(() => h("span", { class: "step-number" }, h("span", { class: "step-label" }), numberElement())));
  }
  labels.forEach((label, i) => {
    const [name, value] = element.children[i].children;
    setText(name, label);
    showNumber(value, table, state.residual, step.shows, [state.token, i]);
  });
}

function createCode(context) {
  const summary = h("summary", {});
  const place = h("span", { class: "code-place" });
  const line = h("code", {});
  const element = h("details", { class: "code" }, summary, place, h("pre", { tabindex: 0 }, line));

  function update(state) {
    const entry = context.table.entry(state.residual, stepAt(state.step, state.depth).shows);
    setText(summary, context.words.say("show_code"));
    setText(place, entry.place);
    setText(line, entry.source);
  }

  return { element, update };
}
