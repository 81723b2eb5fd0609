// One polite live region that says each change in a sentence.

import { h } from "./dom.js";
import { stepText } from "./walk.js";
import { stepCount } from "./steps.js";
import { prose } from "./words.js";

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
