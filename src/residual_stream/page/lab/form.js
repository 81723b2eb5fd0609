// The lab's form: words and model. Native controls; each change is told at once.

import { h, resize, setText } from "../elements/dom.js";
import { numberElement, showNumber } from "../scene/numbers.js";
import { createSelect } from "../shell/controls.js";
import { LAB_LIMITS } from "../store/lab_text.js";
import { number } from "../store/table.js";
import { labStateName } from "./table.js";

// What the blocks get of a word: its vector and its place's together, as they were computed.

const labX0Number = (value) => number(value, 2);

/** {element, update(answer)} for the word at a place; table: the newest answer's numbers. */
function createLabX0({ words }, table, at) {
  const lead = h("span", {});
  const cells = h("span", { "data-numbers": "" });
  const element = h("p", { class: "lab-hint lab-x0", hidden: true }, lead, cells);
  element.lessonTable = table;

  function update({ settings }) {
    element.hidden = at >= settings.words.length;
    if (element.hidden) return;
    const axes = table.labels("d_model", words.language);
    setText(lead, words.say("lab_x0", { place: at + 1, word: settings.words[at] }));
    resize(cells, axes.length, () => h("span", { class: "lab-x0-axis" }, h("span", {}), numberElement()));
    axes.forEach((axis, i) => {
      const [name, cell] = cells.children[i].children;
      setText(name, ` ${axis} `);
      showNumber(cell, table, true, labStateName(0), [at, i], labX0Number);
    });
  }
  return { element, update };
}

// The lab's words: a list to choose, move, add and remove, each with its vector's numbers.

/**
 * @param own     the newest answer's numbers
 * @param change  (changes of the settings) is called with what a reader made of them
 * @param refuse  (true or false): whether a field holds what is no number
 * @returns {element, update(settings), show(answer)}
 */
function createLabWords(context, own, change, refuse) {
  const { words } = context;
  let settings = null;
  const legend = h("legend", {});
  const note = h("p", { class: "lab-hint" });
  const actions = {
    choose: (at, word) => edit((list) => (list[at] = { word, vector: null })),
    vector: (at, vector) => edit((list) => (list[at].vector = vector)),
    follow: (at) => change({ follow: at }),
    move: (at, by) => move(at, by),
    remove: (at) => remove(at),
    refuse,
  };
  const rows = Array.from({ length: LAB_LIMITS.words }, (_, at) => createLabWord(context, at, actions, own));
  const add = h("button", { type: "button", class: "button button-small", click: () => append() });
  const list = h("ol", { class: "lab-words" }, ...rows.map((row) => row.element));
  const element = h("fieldset", { class: "lab-fieldset" }, legend, list, add, note);

  function edit(work, follow = settings.follow) {
    const list = settings.words.map((word, at) => ({ word, vector: settings.vectors[at] }));
    work(list);
    change({ words: list.map((one) => one.word), vectors: list.map((one) => one.vector), follow });
  }

  function move(at, by) {
    const to = at + by;
    if (to < 0 || to >= settings.words.length) return;
    const follow = { [at]: to, [to]: at }[settings.follow] ?? settings.follow;
    edit((list) => ([list[at], list[to]] = [list[to], list[at]]), follow);
    rows[to].focus(by < 0 ? "up" : "down");
  }

  function remove(at) {
    if (settings.words.length === 1) return;
    const last = settings.words.length - 2;
    const follow = settings.follow > at ? settings.follow - 1 : Math.min(settings.follow, last);
    edit((list) => list.splice(at, 1), follow);
    rows[Math.min(at, last)].focus("select");
  }

  function append() {
    const at = settings.words.length;
    if (at === LAB_LIMITS.words) return;
    edit((list) => list.push({ word: context.table.tokens[at % context.table.tokens.length], vector: null }));
    rows[at].focus("select");
  }

  function update(next) {
    settings = next;
    setText(legend, words.say("lab_words"));
    setText(add, words.say("lab_add"));
    setText(note, words.say("lab_words_note", { most: LAB_LIMITS.words, places: context.table.tokens.length }));
    add.setAttribute("aria-disabled", settings.words.length === LAB_LIMITS.words);
    rows.forEach((row, at) => row.update(settings, at));
  }
  return { element, update, show: (answer) => rows.forEach((row) => row.show(answer)) };
}

function createLabWord(context, at, actions, own) {
  const { words, table } = context;
  const button = (name, sign, act) => h("button", { type: "button", class: "button button-quiet lab-move", click: act, "data-control": name }, sign);
  const select = h("select", { change: () => actions.choose(at, select.value) }, ...table.tokens.map((token) => h("option", { value: token }, token)));
  const radio = h("input", { type: "radio", change: () => actions.follow(at) });
  const buttons = {
    up: button("up", "↑", () => actions.move(at, -1)),
    down: button("down", "↓", () => actions.move(at, +1)),
    remove: button("remove", "✕", () => actions.remove(at)),
  };
  const follow = h("span", {});
  const x0 = createLabX0(context, own, at);
  const vector = createLabVector(context, at, actions, x0.element);
  const line = h("div", { class: "lab-word-line" }, select, h("label", { class: "lab-follow" }, radio, follow), ...Object.values(buttons));
  const element = h("li", {}, line, vector.element);

  function update(settings) {
    element.hidden = at >= settings.words.length;
    if (element.hidden) return;
    const word = settings.words[at];
    select.value = word;
    select.setAttribute("aria-label", words.say("lab_word", { place: at + 1 }));
    radio.checked = settings.follow === at;
    radio.setAttribute("aria-label", words.say("lab_follow_word", { place: at + 1, word }));
    setText(follow, words.say("lab_follow"));
    for (const [name, one] of Object.entries(buttons)) one.setAttribute("aria-label", words.say(`lab_${name}`, { place: at + 1, word }));
    buttons.up.setAttribute("aria-disabled", at === 0);
    buttons.down.setAttribute("aria-disabled", at === settings.words.length - 1);
    buttons.remove.setAttribute("aria-disabled", settings.words.length === 1);
    vector.update(settings);
  }
  return { element, update, show: x0.update, focus: (name) => ({ select, ...buttons })[name].focus() };
}

/** A word's own vector, to be typed over, and what follows of it: folded until somebody wants it. */
function createLabVector(context, at, { vector: take, refuse }, result) {
  const { words, table } = context;
  const summary = h("summary", {});
  const fields = table.labels("d_model", "en").map(() => {
    const [name, input] = [h("span", {}), h("input", { type: "number", min: -LAB_LIMITS.vector, max: LAB_LIMITS.vector, step: "any", input: read, blur: settle })];
    return { name, input, element: h("label", { class: "lab-field" }, name, input) };
  });
  const own = h("button", { type: "button", class: "button button-small", click: () => take(at, null) });
  const element = h("details", { class: "lab-vector" }, summary, h("div", { class: "lab-numbers" }, ...fields.map((field) => field.element)), result, own);
  let shown = [];

  function read() {
    const values = fields.map(({ input }) => labTyped(input));
    fields.forEach(({ input }, i) => input.setAttribute("aria-invalid", values[i] === null));
    refuse(values.includes(null));
    if (!values.includes(null)) take(at, values);
  }

  /** What was left unusable goes back to the number that is in use. */
  function settle() {
    fields.forEach(({ input }, i) => {
      input.value = String(shown[i]);
      input.removeAttribute("aria-invalid");
    });
    refuse(false);
  }

  function update({ words: list, vectors }) {
    const changed = vectors[at] !== null;
    shown = vectors[at] ?? table.entry(true, "embed").value[table.tokens.indexOf(list[at])];
    const labels = table.labels("d_model", words.language);
    const text = shown.map((value) => number(value, 1)).join("  ");
    setText(summary, words.say(changed ? "lab_vector_changed" : "lab_vector", { numbers: text }));
    setText(own, words.say("lab_vector_own"));
    own.hidden = !changed;
    fields.forEach(({ name, input }, i) => {
      setText(name, labels[i]);
      input.setAttribute("aria-label", words.say("lab_vector_field", { place: at + 1, word: list[at], axis: labels[i] }));
      if (!input.matches(":focus")) input.value = String(shown[i]);
    });
  }
  return { element, update };
}

/** A field's number with four decimals, or null. */
function labTyped(input) {
  if (input.value === "" || !input.validity.valid) return null;
  return Math.round(input.valueAsNumber * 1e4) / 1e4 + 0;
}

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
