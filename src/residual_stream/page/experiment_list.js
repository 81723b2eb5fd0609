// The experiments as a list in two groups, with a mark at those that were run.

import { h } from "./dom.js";
import { prose } from "./words.js";

const GROUPS = ["F", "G"];

export function createExperimentList({ context, progress, open, say }) {
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
