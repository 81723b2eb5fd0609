// One polite live region that says each change in a sentence.

import { h, setText } from "../elements/dom.js";
import { prose } from "../elements/words.js";
import { stepCount } from "../store/steps.js";
import { stepText } from "../walk/walk.js";

/** The region; every view says what it has to say through `context.announce`. */
export function createAnnouncer(context) {
  const { words, table } = context;
  const element = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  context.announce = (text) => (element.textContent = text);
  context.announceToo = (text) => context.announce(`${element.textContent} ${text}`.trim());

  function update(state, previous) {
    if (!previous) return;
    const sentences = [];
    const changed = (key) => state[key] !== previous[key];
    if (changed("language")) sentences.push(words.say("announce_language"));
    if (changed("residual")) sentences.push(words.say(state.residual ? "announce_residual_on" : "announce_residual_off"));
    if (changed("depth")) sentences.push(words.say("announce_depth", { depth: state.depth }));
    if (changed("token")) sentences.push(words.say("announce_token", { token: table.tokens[state.token] }));
    if (changed("compare")) sentences.push(words.say(state.compare ? "announce_compare_on" : "announce_compare_off"));
    if (changed("projector")) sentences.push(words.say(state.projector ? "announce_projector_on" : "announce_projector_off"));
    if (changed("view")) sentences.push(words.say("announce_view", { view: words.say(`view_${state.view}`) }));
    if (changed("step")) sentences.push(stepSentence(context, state));
    if (sentences.length) element.textContent = sentences.join(" ");
  }

  return { element, update };
}

function stepSentence(context, state) {
  const content = stepText(context, state);
  const asText = (nodes) => prose(nodes, content.fills, (_, inner) => inner[0]).map((node) => node.textContent).join("");
  const first = content.nodes.slice(0, 1);
  return context.words.say("announce_step", {
    step: state.step,
    steps: stepCount(state.depth),
    title: asText(content.title),
    text: asText(first),
  });
}

// What the address said that could not be used.

/** What in the link was not usable: one line each, gone when the learner closes it. */
export function createNotice({ words, faults, defaults, table }) {
  const list = h("ul", {});
  const close = h("button", { type: "button", class: "button button-small", click: () => (element.hidden = true) });
  const element = h("div", { class: "notice", role: "alert", hidden: faults.length === 0 }, list, close);
  const shown = { ...defaults, token: table.tokens[defaults.token], residual: defaults.residual ? "on" : "off", lang: defaults.language };

  let told = faults;

  function update() {
    if (told.length === 0) return;
    const lines = told.map(({ key, value, needed, allowed }) => {
      const need = words.say(needed, { allowed });
      const fallback = typeof shown[key] === "boolean" ? Number(shown[key]) : String(shown[key]) || "–";
      return words.say("url_bad", { key, value, needed: need, default: fallback });
    });
    if (list.childElementCount !== lines.length) list.replaceChildren(...lines.map(() => h("li", {})));
    lines.forEach((line, i) => setText(list.children[i], line));
    setText(close, words.say("help_close"));
  }

  /** In place of what was told before. */
  function tell(now) {
    told = now;
    update();
    element.hidden = now.length === 0;
  }

  return { element, update, tell };
}
