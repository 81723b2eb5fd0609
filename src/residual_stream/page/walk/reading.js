// The reading matter below the lesson, with links that set the page, and the glossary.

import { h, setHidden, setText } from "../elements/dom.js";
import { prose } from "../elements/words.js";
import { readAddress } from "../store/address.js";

/** What a link in the prose becomes: a way to a state, or a glossary term. */
export function createLinks(context) {
  return (href, inner) => (href.startsWith("#") ? termLink(context, href.slice(1), inner) : stateLink(context, href, inner));
}

function stateLink(context, href, inner) {
  const { store, table, lesson, words } = context;
  const go = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const { state } = readAddress(href, { table, lesson, defaults: store.get() });
    store.set({ view: "lesson", compare: false, ...state }, "link");
    context.toLesson();
  };
  return h("a", { class: "state-link", href: `${href}&lang=${words.language}`, click: go }, ...inner);
}

/** A word that opens its note: text like its neighbours, so that lines break as if it were none. */
function termLink(context, id, inner) {
  const { data, float, words } = context;
  const open = (element) => {
    const term = data.glossary.find((one) => one.id === id);
    float.open(element, termNote(term, words), { label: term.term[words.language], pin: true });
    float.element.focus({ preventScroll: true });
  };
  const click = (event) => open(event.currentTarget);
  const keydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault(); // Space would go to the next step, or scroll
    open(event.currentTarget);
  };
  return h("span", { role: "button", tabindex: 0, class: "glossary-link", click, keydown, "aria-haspopup": "dialog" }, ...inner);
}

function termNote(term, words) {
  const language = words.language;
  const other = language === "ja" ? "en" : "ja";
  const facts = [term.term[other], term.symbol, term.trace].filter(Boolean).join(" · ");
  return [
    h("p", { class: "float-head" }, h("strong", {}, term.term[language])),
    h("p", { class: "float-facts" }, facts),
    h("p", {}, term.explanation[language]),
  ];
}

export function createReading(context) {
  const { data, words } = context;
  const heading = h("h2", {});
  const grid = h("div", { class: "reading-grid" });
  const glossaryHeading = h("summary", {});
  const list = h("dl", { class: "glossary" });
  const glossary = h("details", { class: "reading-glossary" }, glossaryHeading, list);
  const element = h("section", { class: "reading", id: "reading" }, heading, grid, glossary);

  function update(state, previous) {
    setHidden(element, state.hide.includes("reading") || state.projector);
    if (previous?.language === state.language) return;
    setText(heading, words.say("reading"));
    element.setAttribute("aria-label", words.say("reading"));
    setText(glossaryHeading, words.say("glossary"));
    const sections = data.prose[state.language].reading;
    grid.replaceChildren(
      ...sections.flatMap((section, i) => (section.id === "intro" ? [] : [article(context, section, data.fills.reading[i])])),
    );
    list.replaceChildren(...data.glossary.map((term) => glossaryRow(term, words)));
  }

  return { element, update };
}

function article(context, section, fills) {
  return h(
    "article",
    { class: `reading-${section.id}` },
    h("h3", {}, ...prose(section.title, fills, context.onLink)),
    ...prose(section.nodes, fills, context.onLink),
  );
}

function glossaryRow(term, words) {
  const other = words.language === "ja" ? "en" : "ja";
  const also = h("span", { class: "glossary-also", lang: other }, term.term[other]);
  const symbol = term.symbol ? h("span", { class: "glossary-symbol" }, term.symbol) : null;
  const trace = term.trace ? h("code", {}, term.trace) : null;
  return h(
    "div",
    {},
    h("dt", {}, term.term[words.language], " ", also, " ", symbol, " ", trace),
    h("dd", {}, term.explanation[words.language]),
  );
}
