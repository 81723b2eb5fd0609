// For teachers: a link that opens the lesson at a chosen place. What is set here is kept
// here; the page's own state and its address stay as they are.

import { addressOf } from "./address.js";
import { h, setHidden, setText } from "./dom.js";
import { createLinkForm } from "./link_form.js";
import { createLinkPresets } from "./link_presets.js";
import { createLinkResult } from "./link_result.js";
import { sayLink } from "./link_said.js";
import { agree } from "./steps.js";

/** The view; it starts with where the lesson stands when it is first shown. */
export function createLinkBuilder(context) {
  const { words, store, table } = context;
  const [heading, lead, failed] = [h("h2", {}), h("p", { class: "links-lead" }), h("p", { class: "links-quiet", hidden: true })];
  const retry = h("button", { type: "button", class: "button button-small", click: load, hidden: true });
  const presets = createLinkPresets(context, change, () => linkStart(store.get()));
  const form = createLinkForm(context, change);
  const result = createLinkResult(context);
  const body = h("div", { class: "links-body" }, presets.element, form.element, result.element);
  const element = h("section", { class: "links", hidden: true }, heading, lead, failed, retry, body);
  let settings = { projector: false, hide: [], language: null, lab: "", ...linkStart(store.get()) };
  let experiments = []; // until they are there
  let loading = null;

  function change(changes) {
    settings = agree(table.maxDepth, { ...settings, ...changes }, settings, changes);
    context.announce(show());
  }

  /** Everything follows the settings. Returns the sentence that says what they do. */
  function show() {
    const said = sayLink(context, settings, experiments);
    form.update(settings);
    presets.update();
    result.update(linkTo(settings, table), said, settings);
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
    element.setAttribute("aria-label", words.say("links_title"));
    setText(heading, words.say("links_title"));
    setText(lead, words.say("links_lead"));
    setText(failed, words.say("experiments_failed"));
    setText(retry, words.say("experiments_retry"));
    if (state.connected && !previous?.connected) result.again();
    load();
    show();
  }

  return { element, update, remove: result.stop };
}

/** The place in the lesson that a state stands for. */
const linkStart = ({ step, depth, residual, token, compare }) => ({ view: "lesson", experiment: "", step, depth, residual, token, compare });

/** The page's own address with the settings in place of its state, and nothing else after "#". */
function linkTo(settings, table) {
  const address = addressOf(settings, table);
  return location.protocol.startsWith("http") ? address.split("#", 1)[0] : address;
}
