// The lab's words: a list to choose, move, add and remove, each with its vector's numbers.

import { LAB_LIMITS } from "./lab_address.js";
import { h, setText } from "./dom.js";
import { createLabX0 } from "./lab_x0.js";
import { number } from "./table.js";

/**
 * @param own     the newest answer's numbers
 * @param change  (changes of the settings) is called with what a reader made of them
 * @param refuse  (true or false): whether a field holds what is no number
 * @returns {element, update(settings), show(answer)}
 */
export function createLabWords(context, own, change, refuse) {
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
export function labTyped(input) {
  if (input.value === "" || !input.validity.valid) return null;
  return Math.round(input.valueAsNumber * 1e4) / 1e4 + 0;
}
