// Where the parts of the page stand, on screens of every width.

import { createFoot } from "./class_bar.js";
import { h, setHidden, setText } from "./dom.js";

/** Put the views into the page; returns its main part. */
export function layOut(root, views, context) {
  const skip = h("a", { class: "skip", href: "#step", click: (event) => {
    event.preventDefault();
    views.step.element.focus();
  } });
  const sayings = { update: () => setText(skip, context.words.say("skip_to_lesson")) };
  views.skip = { ...sayings, element: skip };
  const stage = h("div", { class: "stage" }, views.step.element, views.scene.element);
  const lesson = h("div", { class: "view" }, views.chapters.element, stage, views.map.element, views.inside.element, views.sum.element, views.reading.element);
  const main = h("main", { tabindex: context.classroom ? -1 : null }, lesson, views.experiments.element, views.wirings.element, views.lab.element, views.links.element);
  views.shown = {
    update(state) {
      setHidden(lesson, state.view !== "lesson");
      setHidden(views.dock.element, state.view !== "lesson");
    },
  };
  placeSettings(context, views, stage);
  root.prepend(skip, views.masthead.element, views.notice.element, main, views.home.element, createFoot(views), views.server.element, views.announcer.element, views.help.element);
  return main;
}

/** The settings stand in the dock where it is wide enough, else below the picture; on a phone Start over is with them. */
function placeSettings(context, { dock, settings }, stage) {
  const [wide, narrow] = ["(min-width: 72rem)", "(max-width: 40rem)"].map((width) => matchMedia(width));
  const first = dock.start.parentElement;
  const move = () => {
    if (wide.matches) dock.middle.append(settings.element);
    else stage.after(settings.element);
    if (narrow.matches) settings.element.append(dock.start);
    else first.prepend(dock.start);
  };
  for (const width of [wide, narrow]) {
    width.addEventListener("change", move);
    context.leave.push(() => width.removeEventListener("change", move));
  }
  move();
}
