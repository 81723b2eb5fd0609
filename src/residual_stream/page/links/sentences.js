// What a link does, or a class's next place is, in one sentence.

import { prose } from "../elements/words.js";
import { stepAt, stepCount } from "../store/steps.js";
import { stepText } from "../walk/walk.js";

// the parts of `hide` that are controls; the others are looked at
const LINK_CONTROLS = ["residual", "depth", "token", "language", "compare"];
// "A, B or C" after a "not"; Japanese lists them alike either way
const LINK_LISTS = { en: ["en-GB", "disjunction"], ja: ["ja", "conjunction"] };

/** A title of prose as plain text. */
const linkTitle = (nodes, fills) =>
  prose(nodes, fills, (_, inner) => inner[0])
    .map((node) => node.textContent)
    .join("");

/** An experiment's title in the page's language. */
export function experimentTitle({ words }, experiment) {
  return linkTitle(experiment.prose[words.language].question.title, experiment.fills.question);
}

/** A step's number, short name and block, in the page's language. */
export function stepName(context, settings, step) {
  const { block } = stepAt(step, settings.depth);
  const { title, fills } = stepText(context, { ...settings, step });
  const key = step === 1 || step === stepCount(settings.depth) ? "links_step" : "links_step_block";
  return context.words.say(key, { step, block, title: linkTitle(title, fills) });
}

/** The sentence: what a student sees, and what is taken away. */
export function sayLink(context, settings, experiments) {
  const { words } = context;
  if (context.classroom) return sayClassPlace(context, settings, experiments);
  const chosen = settings.language ?? (context.servedLanguage || "own");
  const language = words.say(`links_in_${chosen}`);
  const isLesson = settings.view === "lesson";
  const projector = settings.projector ? words.say(isLesson ? "links_extra_projector" : "links_extra_large") : "";
  const rest = linkRest(words, settings);
  if (!isLesson) {
    const experiment = experiments.find(({ id }) => id === settings.experiment);
    if (!experiment) return words.say("links_said_experiments", { language, extras: projector, rest });
    const title = experimentTitle(context, experiment);
    return words.say("links_said_experiment", { id: experiment.id, title, language, extras: projector, rest });
  }
  return words.say("links_said_lesson", { ...linkPlace(context, settings), language, extras: (settings.compare ? words.say("links_extra_compare") : "") + projector, rest });
}

/** The sentence in a class, where nothing else of a page is set. */
function sayClassPlace(context, settings, experiments) {
  const { words } = context;
  if (settings.view === "lesson") {
    const extras = settings.compare ? words.say("links_extra_compare") : "";
    return words.say("class_places_lesson", { ...linkPlace(context, settings), extras });
  }
  const experiment = experiments.find(({ id }) => id === settings.experiment);
  if (!experiment) return words.say("class_places_experiments");
  return words.say("class_places_experiment", { id: experiment.id, title: experimentTitle(context, experiment) });
}

function linkPlace(context, settings) {
  const { words, table } = context;
  const { title, fills } = stepText(context, settings);
  return {
    step: settings.step,
    steps: stepCount(settings.depth),
    title: linkTitle(title, fills),
    token: table.tokens[settings.token],
    residual: words.say(settings.residual ? "residual_on" : "residual_off"),
  };
}

function linkRest(words, { view, hide, projector }) {
  const [locale, type] = LINK_LISTS[words.language];
  const list = new Intl.ListFormat(locale, { type });
  const named = (parts) => list.format(parts.map((part) => words.say(`links_the_${part}`)));
  const controls = named(hide.filter((part) => LINK_CONTROLS.includes(part)));
  const parts = named(hide.filter((part) => !LINK_CONTROLS.includes(part)));
  if (controls && parts) return words.say("links_rest_both", { controls, parts });
  if (controls) return words.say("links_rest_controls", { controls });
  if (parts) return words.say("links_rest_parts", { parts });
  return words.say(view === "lesson" && projector ? "links_rest_none_else" : "links_rest_none");
}
