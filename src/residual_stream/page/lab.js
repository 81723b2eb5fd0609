// The lab: change anything of the model, and every picture follows. The server computes;
// the newest settings win, and the last good picture stays until there is another.

import { h, setHidden, setText } from "./dom.js";
import { labDefault, labSame, readLab, writeLab } from "./lab_address.js";
import { createLabForm } from "./lab_form.js";
import { LabTable } from "./lab_table.js";
import { createLabViews } from "./lab_views.js";
import { createNewestAnswer } from "./newest_answer.js";
import { number } from "./table.js";

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
