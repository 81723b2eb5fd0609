// The lab: change anything of the model, and every picture follows. The server computes;
// the newest settings win, and the last good picture stays until there is another.

import { h, setHidden, setText } from "../elements/dom.js";
import { labDefault, labSame, readLab, writeLab } from "../store/lab_text.js";
import { createNewestAnswer } from "../store/server_link.js";
import { number, percent } from "../store/table.js";
import { createLabForm } from "./form.js";
import { createLabMap, createLabPanels, labRange } from "./map.js";
import { createLabBlock, createLabStates, createLabSum } from "./results.js";
import { labStateName, LabTable } from "./table.js";

// Everything that follows the lab's newest answer, in the order in which it is read.

/** {element, update(answer)}; onBlock: (block) when a reader wants to look into another. */
function createLabViews(context, table, onBlock) {
  const { words } = context;
  const map = createLabMap(context, onBlock);
  const lines = createLabPanels();
  const states = createLabStates(context, table);
  const looks = createLabPanels();
  const block = createLabBlock(context, table, onBlock);
  const sum = createLabSum(context, table);
  const parts = [map, lines, states, block, looks, sum];
  const element = h("div", { class: "lab-views", hidden: true }, ...parts.map((part) => part.element));
  element.lessonTable = table;

  function update(answer) {
    element.hidden = false;
    for (const view of [map, states, block, sum]) view.update(answer);
    lines.update(labStateLines(words, table, answer));
    looks.element.hidden = answer.looks === null || answer.settings.depth === 1;
    if (!looks.element.hidden) looks.update(labLookLines(words, answer));
    context.prepareNumbers();
  }
  return { element, update };
}

/** The length and each axis of all words by depth. */
function labStateLines(words, table, { settings, states, lengths }) {
  const { words: list, follow, depth } = settings;
  const axes = table.labels("d_model", words.language);
  const by = (pick) => list.map((_, word) => states.map((_state, k) => pick(k, word)));
  const length = { title: words.say("map_length"), lines: by((k, word) => lengths[k][word]), bold: follow, cells: null };
  const panels = axes.map((title, axis) => {
    const ends = [0, depth].map((k) => [labStateName(k), [follow, axis]]);
    return { title, lines: by((k, word) => states[k][word][axis]), bold: follow, cells: { table, ends } };
  });
  const all = [length, ...panels];
  const range = labRange(all.flatMap(({ lines }) => lines.flat()));
  const said = { token: list[follow], low: number(range[0]), high: number(range[1]) };
  const text = words.say(list.length > 1 ? "lab_lines_note" : "lab_lines_alone", said);
  return { title: words.say("lab_lines", said), text, list: all, range };
}

/** The share with which the followed word looks at each word, block by block. */
function labLookLines(words, { settings, looks }) {
  const { words: list, follow } = settings;
  const panels = list.map((title, key) => ({ title, lines: [looks.map((row) => row[key])], bold: 0, cells: null }));
  return { title: words.say("looks_where", { token: list[follow] }), text: words.say("lab_looks_note"), list: panels, range: [0, 1], form: percent };
}

const LAB_REST = 150; // ms
const LAB_ERRORS = ["lab_error_large", "lab_error_number"];

/** The view; state.lab is its part of the address, "" for the lesson's own model. */
export function createLab(context) {
  const { words, store, table } = context;
  const [heading, lead, offline] = [h("h2", {}), h("p", { class: "lab-lead" }), h("p", { class: "lab-offline", hidden: true })];
  const own = new LabTable(table);
  const form = createLabForm(context, own, { change, reset: () => change(labDefault(table)), refuse });
  const views = createLabViews(context, own, (block) => change({ block }));
  const element = h("section", { class: "lab", hidden: true }, heading, lead, offline, h("div", { class: "lab-body" }, form.element, views.element));
  const asking = createNewestAnswer(context, { kind: "lab", rest: LAB_REST, show, away });
  let settings = labDefault(table);
  let written = ""; // what the address has of the settings
  let answer = null;
  let said = { text: () => "", bad: false }; // the status line, in the language of the moment
  let begun = false;
  let fieldIsBad = false;

  function change(changes) {
    const wanted = { ...settings, ...changes };
    adopt({ ...wanted, block: Math.min(wanted.block, wanted.depth) });
    written = writeLab(settings, table);
    store.set({ lab: written }, "lab");
    want();
  }

  /** Ask for the settings' numbers; until they come the views are of other settings. */
  function want(options) {
    views.element.setAttribute("aria-busy", "true");
    asking.want(settings, options);
  }

  function adopt(next) {
    settings = next;
    form.update(settings);
  }

  /** A field holds no number: say so; what is computed stays as it was. */
  function refuse(isBad) {
    if (isBad) say(() => words.say("lab_error_field"), true);
    else if (fieldIsBad && answer !== null) say(() => labDone(words, answer));
    fieldIsBad = isBad;
  }

  function say(text, bad = false) {
    said = { text, bad };
    form.say(text(), bad);
  }

  function show(next) {
    offline.hidden = true;
    views.element.setAttribute("aria-busy", "false");
    if (next.error) {
      const known = LAB_ERRORS.includes(next.key);
      say(() => words.say("lab_error_kept", { error: known ? words.say(next.key, next.values) : `${next.error}.` }), true);
      return;
    }
    draw(next);
    say(() => labDone(words, next));
  }

  function draw(next) {
    answer = next;
    own.take(next, (block) => words.say("lab_given_block", { block }));
    form.show(next);
    views.update(next);
  }

  /** Only a server that is known to be missing is spoken of; one may be on its way. */
  function away() {
    if (store.get().connected === false) views.element.setAttribute("aria-busy", "false");
    offline.hidden = store.get().connected !== false;
    setText(offline, words.say("lab_offline"));
  }

  /** The first picture comes with the page; any other is asked for. */
  function begin() {
    if (begun) return;
    begun = true;
    context.load("lab").then(
      (data) => {
        form.offer(data.cancelling);
        if (answer === null) draw(data.answer);
        if (labSame(settings, labDefault(table))) say(() => labDone(words, answer));
        else want({ now: true });
      },
      () => {
        begun = false; // the next showing tries again
        want({ now: true });
      },
    );
  }

  function update(state, previous) {
    setHidden(element, state.view !== "lab");
    if (element.hidden) return;
    if (state.lab !== written) {
      written = state.lab;
      settings = readLab(written, table, context.lesson.lab_weights) ?? labDefault(table);
      if (begun) want({ now: true });
    }
    element.setAttribute("aria-label", words.say("lab_title"));
    setText(heading, words.say("lab_title"));
    setText(lead, words.say("lab_lead"));
    away();
    if (state.connected && !previous?.connected) asking.again();
    form.update(settings);
    if (answer !== null && previous?.language !== state.language) {
      form.show(answer);
      views.update(answer);
      form.say(said.text(), said.bad);
    }
    begin();
  }

  return { element, update, remove: asking.stop };
}

/** What a reader is told when the pictures have followed. */
function labDone(words, { settings, states, lengths, word }) {
  const { follow, words: list } = settings;
  const values = { token: list[follow], depth: states.length - 1, length: number(lengths.at(-1)[follow]) };
  if (word.sum_errors === null) return words.say("lab_done", values);
  return words.say("lab_done_sum", { ...values, error: number(word.sum_errors.at(-1)) });
}
