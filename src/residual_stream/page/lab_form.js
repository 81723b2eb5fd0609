// The lab's form: words and model. Native controls; each change is told at once.

import { createSelect } from "./controls.js";
import { h, setText } from "./dom.js";
import { LAB_LIMITS } from "./lab_address.js";
import { createLabWords, labTyped } from "./lab_words.js";

const LAB_NORMS = ["rms", "layer", "none"];
const LAB_WEIGHTS = ["lesson", "cancelling"];
const LAB_CHECKS = { residual: "residual", attention: "attention", ffn: "ffn", positions: "lab_positions" };

/**
 * {element, update(settings), show(answer), say(text, bad), offer(cancelling)}; change and refuse
 * as in createLabWords, table: the newest answer's numbers.
 */
export function createLabForm(context, table, { change, reset, refuse }) {
  const { words } = context;
  const list = createLabWords(context, table, change, refuse);
  const parts = createLabParts(context, change);
  const own = createLabOwnWeights(context, change, refuse);
  const depth = createLabSlider(context, "depth", LAB_LIMITS.depth, (value) => change({ depth: value }));
  const norm = createSelect(LAB_NORMS, (value) => change({ norm: value }));
  const weights = createSelect(LAB_WEIGHTS, (value) => change({ weights: value }));
  const clear = h("button", { type: "button", class: "button button-small lab-reset", click: reset, "data-control": "lab-reset" });
  const status = h("p", { class: "lab-status" });
  const legend = h("legend", {});
  const model = h("fieldset", { class: "lab-fieldset lab-model" }, legend, clear, depth.element, parts.element, h("div", { class: "lab-selects" }, norm.element, weights.element), own.element);
  const element = h("form", { class: "lab-form", submit: (event) => event.preventDefault() }, h("div", { class: "lab-answer" }, status), model, list.element);

  function update(settings) {
    element.setAttribute("aria-label", words.say("lab_form"));
    setText(legend, words.say("lab_model"));
    list.update(settings);
    depth.update(words.say("depth"), settings.depth, words.say("blocks", { count: settings.depth }));
    parts.update(settings);
    norm.update(words.say("norm"), LAB_NORMS.map((one) => words.say(`lab_norm_${one}`)), settings.norm);
    weights.update(words.say("lab_weights"), LAB_WEIGHTS.map((one) => words.say(`lab_weights_${one}`)), settings.weights);
    own.update(settings);
    setText(clear, words.say("lab_reset"));
  }

  /** One line beside the controls; `bad` marks one that says what is wrong. */
  function say(text, bad = false) {
    if (text && text !== status.textContent) context.announce(text);
    setText(status, text);
    status.classList.toggle("is-bad", bad);
  }
  return { element, update, show: list.show, say, offer: (cancelling) => (weights.element.hidden = !cancelling) };
}

/** A labelled slider with its value in words. */
export function createLabSlider(context, name, highest, choose) {
  const input = h("input", { type: "range", min: 1, max: highest, step: 1, input: () => choose(Number(input.value)), "data-control": `lab-${name}` });
  const [label, value] = [h("span", {}), h("span", { class: "setting-value" })];
  const element = h("label", { class: "setting setting-depth lab-slider" }, label, input, value);

  function update(text, now, said, most = highest) {
    setText(label, text);
    setText(value, said);
    input.max = String(most);
    input.value = String(now);
    input.setAttribute("aria-label", text);
    input.setAttribute("aria-valuetext", said);
  }
  return { element, update };
}

/** The parts of the model, each there or not. */
function createLabParts({ words }, change) {
  const boxes = Object.keys(LAB_CHECKS).map((name) => {
    const [box, text] = [h("input", { type: "checkbox", change: () => change({ [name]: box.checked }) }), h("span", {})];
    return { name, box, text, element: h("label", { class: "setting setting-check" }, box, text) };
  });
  const element = h("div", { class: "lab-checks" }, ...boxes.map((one) => one.element));

  function update(settings) {
    for (const { name, box, text } of boxes) {
      box.checked = settings[name];
      setText(text, words.say(LAB_CHECKS[name]));
    }
  }
  return { element, update };
}

/** Weights of each block's own: drawn from a seed, near those of the lesson. */
function createLabOwnWeights({ words }, change, refuse) {
  const [box, text] = [h("input", { type: "checkbox", change: () => change({ varied: box.checked ? { seed: 1, amount: 0.1 } : null }) }), h("span", {})];
  const field = (highest, step) => {
    const [name, input] = [h("span", {}), h("input", { type: "number", min: 0, max: highest, step, input: read })];
    return { name, input, element: h("label", { class: "lab-field" }, name, input) };
  };
  const [seed, amount] = [field(LAB_LIMITS.seed, 1), field(LAB_LIMITS.amount, "any")];
  const fields = h("div", { class: "lab-seed" }, seed.element, amount.element);
  const element = h("div", {}, h("label", { class: "setting setting-check" }, box, text), fields);

  function read() {
    const values = [seed, amount].map(({ input }) => labTyped(input));
    [seed, amount].forEach(({ input }, i) => input.setAttribute("aria-invalid", values[i] === null));
    refuse(values.includes(null));
    if (!values.includes(null)) change({ varied: { seed: values[0], amount: values[1] } });
  }

  function update({ varied }) {
    box.checked = varied !== null;
    fields.hidden = varied === null;
    setText(text, words.say("lab_varied"));
    setText(seed.name, words.say("lab_seed"));
    setText(amount.name, words.say("lab_amount"));
    if (varied === null) return;
    for (const [{ input }, value] of [[seed, varied.seed], [amount, varied.amount]]) {
      if (!input.matches(":focus")) input.value = String(value);
    }
  }
  return { element, update };
}
