// Predict, run, see: the list of experiments, and one of them opened at a time.

import { h, setHidden, setText } from "../elements/dom.js";
import { prose } from "../elements/words.js";
import { createExperimentCard } from "./card.js";

// Which experiments a learner has run, and what was predicted first. Kept in this
// browser only.

const PROGRESS_KEY = "residual-stream.progress";

/** What was predicted first, by experiment: of one lesson, by its id. */
function createProgress(lessonId) {
  const kept = readProgress();
  let mine = kept[lessonId] ?? {};

  function keep() {
    try {
      localStorage.setItem(PROGRESS_KEY, JSON.stringify({ ...readProgress(), [lessonId]: mine }));
    } catch {
      // a page without storage keeps the record for this visit
    }
  }

  return {
    first: (id) => mine[id] ?? null,
    count: (ids) => ids.filter((id) => id in mine).length,
    note(id, option) {
      if (id in mine) return;
      mine = { ...mine, [id]: option };
      keep();
    },
    reset() {
      mine = {};
      keep();
    },
  };
}

function readProgress() {
  try {
    const kept = JSON.parse(localStorage.getItem(PROGRESS_KEY));
    if (kept === null || typeof kept !== "object") return {};
    return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== null && typeof value === "object"));
  } catch {
    return {};
  }
}

// The experiments as a list in two groups, with a mark at those that were run.

const GROUPS = ["F", "G"];

function createExperimentList({ context, progress, open, say }) {
  const { words } = context;
  let buttons = {};
  let element = null;

  function render(experiments) {
    buttons = {};
    const groups = GROUPS.map((letter) => {
      const own = experiments.filter(({ id }) => id.startsWith(letter));
      if (own.length === 0) return null;
      return h("div", { class: "experiments-group" }, h("h3", {}, words.say(`experiments_${letter.toLowerCase()}`)), h("ol", { class: "experiments-list" }, ...own.map(item)));
    });
    element = h("div", { class: "experiments-overview" }, h("div", { class: "experiments-groups" }, ...groups.filter(Boolean)), foot(experiments));
    return element;
  }

  function item(experiment) {
    const { title } = experiment.prose[words.language].question;
    const first = progress.first(experiment.id);
    const verdict = first === null ? null : h("span", { class: "experiments-done" }, `✓ ${words.say("experiments_done")}`);
    const texts = prose(title, experiment.fills.question, (_, inner) => inner[0]);
    buttons[experiment.id] = h(
      "button",
      { type: "button", class: "experiments-open", click: () => open(experiment.id) },
      h("span", { class: "experiments-id" }, experiment.id),
      h("span", { class: "experiments-name" }, ...texts),
      verdict,
    );
    return h("li", {}, buttons[experiment.id]);
  }

  function foot(experiments) {
    const ids = experiments.map(({ id }) => id);
    const done = progress.count(ids);
    const count = h("span", {}, words.say("experiments_count", { count: ids.length, done }));
    const clear = () => {
      progress.reset();
      element.replaceWith(render(experiments));
      say(words.say("experiments_reset_said"));
      buttons[ids[0]].focus();
    };
    const reset = done === 0 ? null : h("button", { type: "button", class: "button button-small", click: clear }, words.say("experiments_reset"));
    return h("p", { class: "experiments-foot" }, count, reset, h("span", { class: "experiments-private" }, words.say(context.classroom ? "class_private" : "experiments_private")));
  }

  return { render, focus: (id) => buttons[id]?.focus() };
}

/** The view of the experiments; its data is loaded when it is first shown. */
export function createExperiments(context) {
  const { words, store } = context;
  const progress = createProgress(context.lesson.id);
  const heading = h("h2", { tabindex: -1 });
  const lead = h("p", { class: "experiments-lead" });
  const place = h("div", { class: "experiments-place" });
  const head = h("div", { class: "experiments-head" }, heading, lead);
  const element = h("section", { class: "experiments", id: "experiments" }, head, place);
  const card = createExperimentCard({ context, progress, open, close, say: context.announce });
  const list = createExperimentList({ context, progress, open, say: context.announce });
  let experiments = null;
  let language = null;
  let opened = "";
  let loading = false;

  async function load() {
    loading = true;
    place.replaceChildren(h("p", { class: "experiments-note" }, words.say("loading")));
    const data = await context.load("experiments").catch(() => null);
    loading = false;
    if (data === null) {
      failed();
      return;
    }
    ({ experiments } = data);
    show();
  }

  function failed() {
    const retry = h("button", { type: "button", class: "button", click: load }, words.say("experiments_retry"));
    place.replaceChildren(h("p", { class: "experiments-note", role: "alert" }, words.say("experiments_failed")), retry);
  }

  function show() {
    language = words.language;
    follow(store.get().experiment);
    element.setAttribute("aria-label", words.say("experiments_title"));
    setText(heading, words.say("experiments_title"));
    setText(lead, words.say("experiments_lead", { count: experiments.length }));
    head.hidden = card.isOpen();
    place.replaceChildren(card.isOpen() ? card.render(experiments) : list.render(experiments));
  }

  /** Open what the state names; a name that no experiment has shows the list. */
  function follow(id) {
    if (id === opened) return;
    opened = id;
    if (experiments.some((experiment) => experiment.id === id)) card.open(id);
    else if (card.isOpen()) card.close();
  }

  /** Open one experiment; the focus goes to its title, as on a new page. */
  function open(id) {
    store.set({ experiment: id }, "experiment");
    card.focus();
  }

  /** Back to the list, to the experiment that was open. */
  function close() {
    const id = opened;
    store.set({ experiment: "" }, "experiment");
    list.focus(id);
  }

  function update(state) {
    setHidden(element, state.view !== "experiments");
    if (element.hidden) return;
    if (experiments === null) {
      if (!loading) load();
    } else if (language !== state.language || opened !== state.experiment) show();
  }

  return { element, update: (state = store.get()) => update(state) };
}
