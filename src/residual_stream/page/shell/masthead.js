// The head of the page: title, the page's parts, language, theme, projector, link to this state, help.

import { h, setHidden, setText } from "../elements/dom.js";
import { prose } from "../elements/words.js";
import { VIEWS } from "../store/address.js";
import { createSelect } from "./controls.js";

// On a phone the head is one line: what isn't needed at each step waits in a menu.

/**
 * Move `parts` into a native disclosure at the end of `tools` while the screen is narrow,
 * and each back to where it stood when it is wide. Escape, a press beside it and a way to
 * another part of the page close it.
 */
function createMastheadMenu({ words, leave }, tools, parts) {
  const name = h("summary", { class: "button button-quiet" });
  const panel = h("div", { class: "masthead-menu-panel" });
  const element = h("details", { class: "masthead-menu" }, name, panel);
  const places = parts.map((part) => {
    const place = document.createComment("");
    part.before(place);
    return place;
  });

  const move = () => {
    if (narrow.matches) {
      panel.append(...parts);
      tools.append(element);
    } else {
      parts.forEach((part, i) => places[i].after(part));
      element.remove();
    }
  };
  const close = () => element.removeAttribute("open");
  const onKey = (event) => {
    if (event.key !== "Escape" || !element.open) return;
    close();
    name.focus();
  };
  const onPress = (event) => {
    if (!event.composedPath().includes(element)) close();
  };
  const narrow = matchMedia("(max-width: 40rem)");
  narrow.addEventListener("change", move);
  element.addEventListener("keydown", onKey);
  panel.addEventListener("click", (event) => event.composedPath().some((at) => at instanceof HTMLAnchorElement) && close());
  document.addEventListener("pointerdown", onPress);
  leave.push(() => {
    narrow.removeEventListener("change", move);
    document.removeEventListener("pointerdown", onPress);
  });
  move();
  return { update: () => setText(name, words.say("menu")) };
}

// The parts of the page: the lesson, the experiments, the wirings, the lab, the links.

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

const COPY_SAID = 8000; // ms
export const THEMES = ["system", "light", "dark"];

/** The head; `nav` is the line of the page's parts. */
export function createMasthead(context, nav) {
  const { data, words, store } = context;
  const title = h("h1", {});
  const lead = h("div", { class: "masthead-lead" });
  const language = createSelect(["ja", "en"], (value) => store.set({ language: value }));
  const theme = createSelect(THEMES, (value) => store.set({ theme: value }));
  theme.element.dataset.control = "theme";
  const button = (name, click) => h("button", { type: "button", class: "button button-quiet", click, "data-control": name });
  const projector = button("projector", () => store.set({ projector: !store.get().projector }));
  const copy = createCopy(context, button);
  const help = button("help", () => context.help.open());
  const tools = h("div", { class: "masthead-tools" }, language.element, theme.element, projector, copy.element, help);
  const titles = h("div", { class: "masthead-titles" }, title, nav.element, lead);
  const element = h("header", { class: "masthead" }, titles, tools);
  const menu = createMastheadMenu(context, tools, [nav.element, theme.element, projector, help]);

  function update(state, previous) {
    if (previous?.language !== state.language) {
      const intro = data.prose[state.language].reading.findIndex((section) => section.id === "intro");
      setText(title, data.lesson.title[state.language]);
      const { nodes } = data.prose[state.language].reading[intro];
      lead.replaceChildren(...prose(nodes, data.fills.reading[intro], context.onLink));
    }
    setHidden(lead, state.view !== "lesson");
    language.update(words.say("language"), ["日本語", "English"], state.language);
    setHidden(language.element, state.hide.includes("language"));
    theme.update(words.say("theme"), THEMES.map((name) => words.say(`theme_${name}`)), state.theme);
    setText(projector, words.say(state.projector ? "projector_leave" : "projector"));
    projector.setAttribute("aria-pressed", state.projector);
    setText(help, words.say("help"));
    copy.update();
    menu.update();
  }

  return { element, update };
}

/** Asked first where that can be asked: a try within a sandbox would be reported as an error. */
const mayCopy = () => document.featurePolicy?.allowsFeature("clipboard-write") ?? true;

/** A button that copies a link, and says so; by default the link to the page's own state. */
export function createCopy(context, button, { name = "copy_link", link: linkNow = context.address.link } = {}) {
  const { words } = context;
  const said = h("span", { class: "copy-said" });
  const element = h("span", { class: "copy" });
  let timer = 0;
  const press = button("copy", async () => {
    const link = linkNow();
    try {
      if (!mayCopy()) throw new Error("no clipboard here");
      await navigator.clipboard.writeText(link);
      setText(said, words.say("copied"));
      context.announce(words.say("copied"));
    } catch {
      // no clipboard without a secure page: show the link, ready to be copied by hand
      setText(said, "");
      said.replaceChildren(words.say("copy_failed"), " ", h("input", { readonly: true, value: link, "aria-label": words.say(name) }));
      said.querySelector("input").select();
    }
    clearTimeout(timer); // what was said before this has no say in how long this stays
    timer = setTimeout(() => said.replaceChildren(), COPY_SAID);
  });
  element.append(press, said);
  return { element, update: () => setText(press, words.say(name)) };
}

const KEY_ROWS = [
  ["→  Space", "key_next"],
  ["←", "key_back"],
  ["Home", "key_start"],
  ["R", "key_residual"],
  ["[  ]", "key_depth"],
  ["P", "key_projector"],
  ["?", "key_help"],
  ["Esc", "key_close"],
];

/** The help: which keys do what. A modal dialog that gives the focus back. */
export function createHelp({ words }) {
  const title = h("h2", {});
  const rows = KEY_ROWS.map(([keys, text]) => ({ text, meaning: h("dd", {}), keys: h("dt", {}, h("kbd", {}, keys)) }));
  const pointing = h("p", { class: "help-more" });
  const close = h("button", { type: "button", class: "button", click: () => element.close() });
  const element = h("dialog", { class: "help" }, title, h("dl", {}, ...rows.map(({ keys, meaning }) => h("div", {}, keys, meaning))), pointing, close);

  function update() {
    element.setAttribute("aria-label", words.say("help_title"));
    setText(title, words.say("help_title"));
    rows.forEach(({ text, meaning }) => setText(meaning, words.say(text)));
    setText(pointing, words.say("help_more"));
    setText(close, words.say("help_close"));
  }

  return { element, update, open: () => element.open || element.showModal() };
}
