// For teachers: a link that opens the lesson at a chosen place; in a class, the place that is
// shown next. What is set here is kept here: the page's own state and its address stay.

import { h, setHidden, setText } from "../elements/dom.js";
import { agree } from "../store/steps.js";
import { createLinkForm, createLinkPresets } from "./form.js";
import { createClassShow, createLinkResult } from "./result.js";
import { sayLink } from "./sentences.js";

/** The view; it starts with where the lesson stands when it is first shown. */
export function createLinkBuilder(context) {
  const { words, store, classroom } = context;
  const title = classroom ? "class_places" : "links_title";
  const [heading, lead, failed] = [h("h2", {}), h("p", { class: "links-lead" }), h("p", { class: "links-quiet", hidden: true })];
  const retry = h("button", { type: "button", class: "button button-small", click: load, hidden: true });
  const presets = createLinkPresets(context, change, () => linkStart(store.get()));
  const form = createLinkForm(context, change);
  const result = classroom ? createClassShow(context) : createLinkResult(context);
  const body = h("div", { class: "links-body" }, presets.element, form.element, result.element);
  const element = h("section", { class: "links", hidden: true }, heading, lead, failed, retry, body);
  let settings = { projector: false, hide: [], language: null, lab: "", ...linkStart(store.get()) };
  let experiments = []; // until they are there
  let loading = null;

  function change(changes) {
    settings = agree(context.table.maxDepth, { ...settings, ...changes }, settings, changes);
    context.announce(show());
  }

  /** Everything follows the settings. Returns the sentence that says what they do. */
  function show() {
    const said = sayLink(context, settings, experiments);
    form.update(settings);
    presets.update();
    result.update(settings, said);
    return said;
  }

  function load() {
    loading ??= context.load("experiments").then(
      (data) => {
        ({ experiments } = data);
        form.offer(experiments);
        presets.offer(experiments);
        hasFailed(false);
        show();
      },
      () => {
        loading = null;
        hasFailed(true);
      },
    );
  }

  function hasFailed(isSo) {
    setHidden(failed, !isSo);
    setHidden(retry, !isSo);
  }

  function update(state, previous) {
    setHidden(element, state.view !== "links");
    if (element.hidden) return;
    element.setAttribute("aria-label", words.say(title));
    setText(heading, words.say(title));
    setText(lead, words.say(classroom ? "class_places_lead" : "links_lead"));
    setText(failed, words.say("experiments_failed"));
    setText(retry, words.say("experiments_retry"));
    if (state.connected && !previous?.connected) result.again?.();
    load();
    show();
  }

  return { element, update, remove: result.stop };
}

/** The place in the lesson that a state stands for. */
const linkStart = ({ step, depth, residual, token, compare }) => ({ view: "lesson", experiment: "", step, depth, residual, token, compare });
