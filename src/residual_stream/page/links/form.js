// The settings of a link or a class's next place: native labelled controls, each change told
// at once. Language, size and what is hidden are each page's own in a class.

import { h, resize, setText } from "../elements/dom.js";
import { createSelect } from "../shell/controls.js";
import { HIDEABLE } from "../store/address.js";
import { firstStepOf, lastStepOf, stepCount } from "../store/steps.js";
import { experimentTitle, stepName } from "./sentences.js";

// Places that a teacher often wants, as buttons: of the walk, and each experiment.

const LINK_DEPTH = 3;
const LINK_DEEP = 6;
// attention has written its correction, and the next step adds it
const beforeFirstAdd = () => ({ step: firstStepOf(1) + 1, depth: LINK_DEPTH, residual: true });
const afterBlock1 = () => ({ step: lastStepOf(1), depth: LINK_DEPTH, residual: true });
const offAtDepth6 = () => ({ step: stepCount(LINK_DEEP), depth: LINK_DEEP, residual: false });

/** {element, update(), offer(experiments)}; here() is where the lesson stands now. */
export function createLinkPresets(context, change, here) {
  const { words } = context;
  const walk = { view: "lesson", experiment: "", compare: false };
  const places = { first_add: beforeFirstAdd, block_1: afterBlock1, off_6: offAtDepth6, here };
  const choose = (place) => () => change({ ...walk, ...place() });
  const buttons = Object.entries(places).map(([name, place]) => ({ name, button: linkButton(choose(place)) }));
  const [legend, own] = [h("legend", {}), h("h3", {})];
  const list = h("div", { class: "links-buttons" }, ...buttons.map(({ button }) => button));
  const more = h("div", { class: "links-buttons links-experiments" });
  const element = h("fieldset", { class: "links-fieldset links-presets" }, legend, list, own, more);
  let offered = []; // {experiment, name, button}

  function offer(experiments) {
    offered = experiments.map((experiment) => {
      const name = h("span", {});
      const place = { view: "experiments", experiment: experiment.id };
      return { experiment, name, button: linkButton(() => change(place), h("span", { class: "links-id" }, experiment.id), " ", name) };
    });
    more.replaceChildren(...offered.map(({ button }) => button));
  }

  function update() {
    setText(legend, words.say("links_presets"));
    own.hidden = offered.length === 0;
    setText(own, words.say("view_experiments"));
    for (const { name, button } of buttons) setText(button, words.say(`links_preset_${name}`));
    for (const { experiment, name } of offered) setText(name, experimentTitle(context, experiment));
  }

  return { element, update, offer };
}

const linkButton = (click, ...children) => h("button", { type: "button", class: "button links-preset", click }, ...children);

const LINK_LANGUAGES = { ja: "日本語", en: "English" };
// what a part is called where it is shown
const LINK_PARTS = { sum: "sum_region", map: "depth_map" };
const LINK_SHOWS = ["lesson", "experiments"];

/** {element, update(settings), offer(experiments)}; change(changes) hears of each. */
export function createLinkForm(context, change) {
  const { words, table, classroom } = context;
  const lesson = createLinkLesson(context);
  const show = createLinkShow(context, change);
  const step = createLinkStep(context, change);
  const blocks = Array.from({ length: table.maxDepth }, (_, i) => i + 1);
  const depth = createSelect(blocks, (value) => change({ depth: Number(value) }));
  const residual = createSelect(["on", "off"], (value) => change({ residual: value === "on" }));
  const token = createSelect(Object.keys(table.tokens), (value) => change({ token: Number(value) }));
  const language = createSelect(["", ...Object.keys(LINK_LANGUAGES)], (value) => change({ language: value || null }));
  const names = classroom ? ["compare"] : ["compare", "projector"];
  const flags = createLinkChecks(names, (name, isOn) => change({ [name]: isOn }));
  const hide = createLinkHide(context, change);
  const [legend, selects] = [h("legend", {}), [...(classroom ? [] : [lesson]), show, step, depth, residual, token, ...(classroom ? [] : [language])]];
  const opened = h("fieldset", { class: "links-fieldset" }, legend, h("div", { class: "links-selects" }, ...selects.map((select) => select.element)), flags.element);
  const element = h("form", { class: "links-form", submit: (event) => event.preventDefault() }, opened, classroom ? null : hide.element);

  function update(settings) {
    element.setAttribute("aria-label", words.say(classroom ? "class_places_form" : "links_form"));
    setText(legend, words.say(classroom ? "class_places_own" : "links_opens"));
    lesson.update();
    show.update(settings);
    step.update(settings);
    depth.update(words.say("depth"), blocks.map((count) => words.say("blocks", { count })), String(settings.depth));
    residual.update(words.say("residual"), ["residual_on", "residual_off"].map((key) => words.say(key)), settings.residual ? "on" : "off");
    token.update(words.say("token"), table.tokens, String(settings.token));
    language.update(words.say("language"), [linkOwnLanguage(context), ...Object.values(LINK_LANGUAGES)], settings.language ?? "");
    flags.update(names.map((name) => words.say(name)), names.filter((name) => settings[name]));
    hide.update(settings);
  }

  return { element, update, offer: show.offer };
}

/** What a link without a language opens in: the reader's own, unless the page is served in one. */
function linkOwnLanguage({ words, servedLanguage }) {
  return servedLanguage ? words.say("links_served_language", { language: LINK_LANGUAGES[servedLanguage] }) : words.say("links_own_language");
}

/** Which lesson the link is of: this page's own, as steps and experiments are each lesson's own. */
function createLinkLesson({ words, lesson }) {
  const [name, title] = [h("span", {}), h("strong", {})];
  const element = h("p", { class: "setting is-long links-lesson" }, name, title);
  const update = () => {
    setText(name, words.say("view_lesson"));
    setText(title, lesson.title[words.language]);
  };
  return { element, update };
}

/** The lesson, all experiments, or one of them. */
function createLinkShow(context, change) {
  const { words } = context;
  const element = h("div", { class: "is-long" });
  let experiments = [];
  let select = null;

  function offer(found) {
    experiments = found;
    const values = [...LINK_SHOWS, ...experiments.map(({ id }) => id)];
    select = createSelect(values, (value) => change(LINK_SHOWS.includes(value) ? { view: value, experiment: "" } : { view: "experiments", experiment: value }));
    element.replaceChildren(select.element);
  }

  function update({ view, experiment }) {
    const titles = experiments.map((one) => `${one.id} ${experimentTitle(context, one)}`);
    select.update(words.say("links_show"), [words.say("view_lesson"), words.say("links_all_experiments"), ...titles], experiment || view);
  }

  offer([]);
  return { element, update, offer };
}

/** The steps of the walk, as many as the depth has, each with its name. */
function createLinkStep(context, change) {
  const select = h("select", { change: () => change({ step: Number(select.value) }) });
  const name = h("span", {});
  const element = h("label", { class: "setting is-long" }, name, select);

  function update(settings) {
    setText(name, context.words.say("step"));
    resize(select, stepCount(settings.depth), () => h("option", {}));
    [...select.options].forEach((option, i) => {
      option.value = String(i + 1);
      setText(option, stepName(context, settings, i + 1));
    });
    select.value = String(settings.step);
  }

  return { element, update };
}

/** Which parts the page leaves out. */
function createLinkHide({ words }, change) {
  const legend = h("legend", {});
  let hidden = [];
  const boxes = createLinkChecks(HIDEABLE, (name, isOn) => {
    change({ hide: HIDEABLE.filter((part) => (part === name ? isOn : hidden.includes(part))) });
  });
  const note = h("p", { class: "links-quiet" });
  const element = h("fieldset", { class: "links-fieldset" }, legend, boxes.element, note);

  function update({ hide }) {
    hidden = hide;
    setText(legend, words.say("links_hide"));
    boxes.update(HIDEABLE.map((part) => words.say(LINK_PARTS[part] ?? part)), hide);
    // the reading matter has links that set these
    const isLoose = ["residual", "depth", "token"].some((part) => hide.includes(part)) && !hide.includes("reading");
    setText(note, isLoose ? words.say("links_reading_note") : "");
  }

  return { element, update };
}

/** Checkboxes with their labels; choose(name, isOn). */
function createLinkChecks(names, choose) {
  const boxes = names.map((name) => {
    const box = h("input", { type: "checkbox", change: () => choose(name, box.checked), "data-control": `links-${name}` });
    return { name, box, text: h("span", {}) };
  });
  const element = h("div", { class: "links-checks" }, ...boxes.map(({ box, text }) => h("label", { class: "setting setting-check" }, box, text)));

  function update(texts, on) {
    boxes.forEach(({ name, box, text }, i) => {
      setText(text, texts[i]);
      box.checked = on.includes(name);
    });
  }

  return { element, update };
}
