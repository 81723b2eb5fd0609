// The head of the page: title, the page's parts, language, theme, projector, link to this state, help.

import { createSelect } from "./controls.js";
import { h, setHidden, setText } from "./dom.js";
import { createMastheadMenu } from "./masthead_menu.js";
import { prose } from "./words.js";

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
