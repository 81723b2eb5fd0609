// Predict, run, see: the list of experiments, and one of them opened at a time.

import { createExperimentCard } from "./experiment_card.js";
import { createExperimentList } from "./experiment_list.js";
import { createProgress } from "./experiment_progress.js";
import { h, setHidden, setText } from "./dom.js";

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
