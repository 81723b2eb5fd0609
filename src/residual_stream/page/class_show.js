// What comes of a teacher's choice in a class: the sentence, and the button that takes every
// page there which follows. A link would open a page that is at once where the class is.

import { h, setText } from "./dom.js";

// the lab keeps its model: no place of the list is there
const CLASS_PLACE = ["view", "step", "depth", "residual", "token", "compare", "experiment"];

/** {element, update(settings, sentence)}; the teacher's own page goes there too. */
export function createClassShow(context) {
  const { words, store } = context;
  const heading = h("h3", { class: "visually-hidden" });
  const said = h("p", { class: "links-said" });
  const show = h("button", { type: "button", class: "button button-main", click: go, "data-control": "links-show" });
  const element = h("div", { class: "links-result class-show" }, heading, said, h("div", { class: "links-acts" }, show));
  let settings = null;

  function go() {
    store.set(Object.fromEntries(CLASS_PLACE.map((key) => [key, settings[key]])), "place");
    window.scrollTo(0, 0);
    context.toMain(); // the button is gone
  }

  function update(now, sentence) {
    settings = now;
    setText(heading, words.say("class_places_result"));
    setText(said, sentence);
    setText(show, words.say("class_places_show"));
  }

  return { element, update };
}
