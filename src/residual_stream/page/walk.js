// The walk: chapters to jump to, and the step's sentence, formula, numbers and code.

import { h, setText } from "./dom.js";
import { afterPaint } from "./later.js";
import { numberElement, showNumber } from "./numbers.js";
import { setting } from "./table.js";
import { deltaSymbol, stateSymbol } from "./vector_bars.js";
import { chapters, stepAt, stepCount } from "./steps.js";
import { prose, subscript } from "./words.js";

/** The texts of a step in a state: {title, nodes, fills} in the current language. */
export function stepText(context, state) {
  const { data, words } = context;
  const filled = data.fills.steps[setting(state.residual)][state.token];
  const last = state.step >= stepCount(state.depth);
  const [section, ...fills] = last ? filled.sums[state.depth - 1] : filled.steps[state.step - 1];
  return { ...data.prose[words.language].steps[section], fills };
}

/** The line of chapters: a button each, the current one marked. */
export function createChapters(context) {
  const { words, store } = context;
  const list = h("ol", { class: "chapters-list" });
  const element = h("nav", { class: "chapters" }, list);
  let buttons = [];

  function build(depth) {
    buttons = chapters(depth).map((chapter) => {
      const go = () => store.set({ step: chapter.step }, "chapter");
      const button = h("button", { type: "button", class: "chapter", click: go });
      return { chapter, button };
    });
    list.replaceChildren(...buttons.map(({ button }) => h("li", {}, button)));
  }

  function update(state, previous) {
    if (!previous || previous.depth !== state.depth) build(state.depth);
    element.setAttribute("aria-label", words.say("chapters"));
    const current = buttons.findLast(({ chapter }) => chapter.step <= state.step);
    for (const { chapter, button } of buttons) {
      setText(button, words.say(`chapter_${chapter.id}`, { block: chapter.block }));
      const here = button === current.button;
      button.classList.toggle("is-done", chapter.step < current.chapter.step);
      if (here) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    if (previous?.step !== state.step) afterPaint(() => keepInView(list, current.button));
  }

  return { element, update };
}

function keepInView(list, button) {
  const left = button.offsetLeft - list.offsetLeft;
  const hiddenLeft = left < list.scrollLeft;
  const hiddenRight = left + button.offsetWidth > list.scrollLeft + list.clientWidth;
  if (hiddenLeft || hiddenRight) list.scrollLeft = left - list.clientWidth / 3;
}

/** The step's region: where we are, the sentence, the formula, the numbers, the code. */
export function createStep(context) {
  const { words } = context;
  const count = h("p", { class: "step-count" });
  const title = h("h2", { class: "step-title" });
  const text = h("div", { class: "step-text" });
  const formula = h("p", { class: "step-formula" });
  const what = h("p", { class: "step-what" });
  const numbers = h("p", { class: "step-numbers", "data-numbers": "" });
  const code = createCode(context);
  const element = h("section", { class: "step", id: "step", tabindex: -1 }, count, title, text, formula, what, numbers, code.element);

  let told = "";

  /** New text has new links: the focus that one of the old had goes to the region. */
  function tell(content) {
    const now = JSON.stringify(content);
    if (now === told) return;
    told = now;
    const held = [title, text].some((part) => part.contains(element.getRootNode().activeElement));
    title.replaceChildren(...prose(content.title, content.fills, context.onLink));
    text.replaceChildren(...prose(content.nodes, content.fills, context.onLink));
    if (held) element.focus({ preventScroll: true });
  }

  function update(state) {
    element.setAttribute("aria-label", words.say("step"));
    setText(count, words.say("step_of", { step: state.step, steps: stepCount(state.depth) }));
    tell(stepText(context, state));
    showFormula(formula, context, state, state.residual);
    setText(what, whatIsShown(context, state));
    showNumbers(numbers, context, state);
    code.update(state);
  }

  return { element, update };
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
