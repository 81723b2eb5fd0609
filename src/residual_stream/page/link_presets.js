// Places that a teacher often wants, as buttons: of the walk, and each experiment.

import { h, setText } from "./dom.js";
import { experimentTitle } from "./link_said.js";
import { firstStepOf, lastStepOf, stepCount } from "./steps.js";

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
