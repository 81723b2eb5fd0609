// The parts of the page: the lesson, the experiments, the wirings, the lab, the links.

import { VIEWS } from "./address.js";
import { h, setHidden, setText } from "./dom.js";

/** The way back to the list of a site's lessons; nothing on a page that has none. */
export function createHome({ words, home }) {
  const link = h("a", { class: "view-link" });
  const element = h("p", { class: "home" }, link);
  if (home) link.setAttribute("href", home);
  setHidden(element, !home);
  return { element, update: () => setText(link, words.say("site_all")) };
}

/** A line of links; each is a real address, followed without leaving the page. */
export function createViewNav({ words, store, classroom }) {
  const links = VIEWS.map((view) => {
    const go = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      store.set({ view }, "nav");
      window.scrollTo(0, 0);
    };
    return { view, link: h("a", { class: "view-link", click: go }) };
  });
  const items = links.map(({ link }) => h("li", {}, link));
  const element = h("nav", { class: "view-nav" }, h("ul", {}, ...items));

  function update(state) {
    element.setAttribute("aria-label", words.say("views"));
    for (const { view, link } of links) {
      setText(link, words.say(`view_${view}`));
      link.setAttribute("href", `?view=${view}&lang=${state.language}`);
      if (view === state.view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    // what a class looks at names only what is for the class
    const isForClass = state.projector || classroom?.get().role === "student";
    setHidden(items[VIEWS.indexOf("links")], isForClass && state.view !== "links");
  }

  classroom?.subscribe((_room, _previous, { changed }) => changed.includes("role") && update(store.get()));

  return { element, update };
}
