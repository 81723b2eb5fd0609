// The chapters of the walk, to jump to.

import { afterPaint } from "../elements/after_paint.js";
import { h, setAttributes, setText } from "../elements/dom.js";
import { chapters } from "../store/steps.js";

const FADE = 32; // px at an edge, as in assets/styles/20-walk.css

/** The line of chapters: a button each, the current one marked. */
export function createChapters(context) {
  const { words, store } = context;
  const list = h("ol", { class: "chapters-list", scroll: () => showEdges() });
  const element = h("nav", { class: "chapters" }, list);
  let buttons = [];

  function build(depth) {
    buttons = chapters(depth).map((chapter) => {
      const go = () => store.set({ step: chapter.step }, "chapter");
      const button = h("button", { type: "button", class: "chapter", click: go });
      return { chapter, button };
    });
    list.replaceChildren(...buttons.map(({ button }) => h("li", {}, button)));
  }

  function update(state, previous) {
    if (!previous || previous.depth !== state.depth) build(state.depth);
    element.setAttribute("aria-label", words.say("chapters"));
    const current = buttons.findLast(({ chapter }) => chapter.step <= state.step);
    for (const { chapter, button } of buttons) {
      setText(button, words.say(`chapter_${chapter.id}`, { block: chapter.block }));
      const here = button === current.button;
      button.classList.toggle("is-done", chapter.step < current.chapter.step);
      if (here) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    if (previous?.step !== state.step) afterPaint(() => keepInView(list, current.button.parentElement));
    afterPaint(showEdges);
  }

  /** Where the line goes on beyond an edge, it fades there. */
  function showEdges() {
    const room = list.scrollWidth - list.clientWidth;
    const more = [list.scrollLeft > 1 ? "left" : "", list.scrollLeft < room - 1 ? "right" : ""];
    setAttributes(element, { "data-more": more.filter(Boolean).join(" ") });
  }

  const watch = new ResizeObserver(showEdges);
  watch.observe(list);
  return { element, update, remove: () => watch.disconnect() };
}

/** The chapter is seen whole, and of the one after it enough to tell that there is one. */
function keepInView(list, item) {
  const left = item.offsetLeft - list.offsetLeft;
  const next = Math.min(item.nextElementSibling?.offsetWidth ?? 0, list.clientWidth / 4);
  const hiddenLeft = left < list.scrollLeft + (item.previousElementSibling ? FADE : 0);
  const hiddenRight = left + item.offsetWidth + next > list.scrollLeft + list.clientWidth;
  if (hiddenLeft || hiddenRight) list.scrollLeft = left - Math.max(0, Math.min(list.clientWidth / 3, list.clientWidth - item.offsetWidth - next));
}
