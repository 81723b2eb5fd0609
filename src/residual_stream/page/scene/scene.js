// The scene: the picture that answers the step's sentence. The words, the block's wiring, and
// the followed word's vector, all of the same step.

import { h, setAttributes, setHidden, setText } from "../elements/dom.js";
import { SWITCHING } from "../elements/motion.js";
import { stepAt } from "../store/steps.js";
import { createAttentionWords } from "./attention_words.js";
import { createVectorBars, stateSymbol } from "./vector_bars.js";
import { createWiring, smallBlock } from "./wiring.js";

const SCENE_READING = 350; // ms: the text has changed, the reader reads, then the picture moves

/**
 * @param residual  null follows the state's switch; true or false fixes the scene to it
 * @returns {element, update(state, previous, {motion}), mark(difference)}
 *          mark: {name, axis} outlines that row (or word, for attn.pattern) if the step shows that
 *          value; null clears it
 */
export function createScene(context, { residual = null } = {}) {
  const { table, motion: player } = context;
  const sentence = createAttentionWords(context);
  const block = createBlockPicture(context, residual);
  const vector = createVectorBars(context);
  const body = h("div", { class: "scene-body" }, sentence.element, block.element, vector.element);
  const element = h("div", { class: "scene" }, body);
  let run = 0;
  let shown = [];

  function update(state, previous = null, { motion = false } = {}) {
    const facts = sceneFacts(context, state, residual);
    shown = [...Object.values(facts.names), facts.step.id === "attention" ? facts.step.pattern : null];
    element.dataset.part = facts.step.part;
    element.dataset.sublayer = facts.step.sublayer ?? "";
    element.classList.toggle("is-off", !facts.residual);
    element.dataset.stream = facts.isInput ? "input" : facts.writer;
    for (const view of [sentence, block, vector]) view.update(facts);
    const before = motion && previous !== null ? sceneFacts(context, previous, residual) : null;
    play(sceneMotion(facts, before), facts, before);
  }

  /** One motion: arcs and bars of what the step speaks of, or the whole change of the switch. */
  function play(kind, facts, before) {
    const own = ++run;
    const cut = facts.residual ? 0 : 1;
    const draw = (share) => {
      if (own !== run) return;
      sentence.draw(kind === "step" ? share : 1);
      block.draw(kind === "switch" ? 1 - cut + (2 * cut - 1) * share : cut);
      vector.draw(kind === null ? 1 : share, before);
    };
    if (kind === null) draw(1);
    else player.play(draw, { delay: kind === "step" ? SCENE_READING : SWITCHING });
  }

  /** Where on and off first differ, if it is seen: a row of the vector, or a word that attention reads. */
  function mark(difference) {
    const isSeen = difference !== null && shown.includes(difference.name);
    const axis = isSeen ? table.axes(true, difference.name).at(-1) : "";
    sentence.mark(axis === "key_pos" ? difference.axis : null);
    vector.mark(axis === "d_model" ? difference.axis : null);
  }

  return { element, update, mark };
}

/** The block's wiring, or at the sum all blocks: {element, update(facts), draw(cut)}; cut: how far the skips are. */
function createBlockPicture(context, residual) {
  const { table, words } = context;
  const title = h("span", {});
  const keys = ["attention", "ffn"].map((name) => {
    const text = h("span", {});
    const element = h("span", { class: "scene-key-item" }, h("i", { class: `scene-swatch is-${name}` }), text);
    return { name, text, element };
  });
  const caption = h("div", { class: "scene-caption" }, title, ...keys.map(({ element }) => element));
  const overviews = (residual === null ? [true, false] : [residual]).map((on) => createOverview(table, on));
  const picture = h("div", { class: "scene-picture", role: "img" }, ...overviews.map(({ element }) => element));
  const wiring = createWiring(context, picture);

  function update(facts) {
    const { step, depth, description } = facts;
    const isSum = step.part === "sum";
    const block = step.layer + 1;
    setText(title, isSum ? words.say("blocks", { count: depth }) : words.say("chapter_block", { block }));
    for (const { name, text, element } of keys) {
      setText(text, words.say(name));
      setHidden(element, !isSum);
    }
    picture.setAttribute("aria-label", description);
    for (const view of [wiring, ...overviews]) view.update(facts);
  }
  const draw = (cut) => picture.style.setProperty("--cut", String(Number(cut.toFixed(3))));
  return { element: h("div", { class: "scene-wiring" }, caption, picture), update, draw };
}

/** The whole stream of a run: every block down to the depth, side by side; made when the sum is first shown. */
function createOverview(table, on) {
  const first = h("span", { class: "scene-overview-end" }, "x₀");
  const last = h("span", { class: "scene-overview-end is-last" });
  const element = h("div", { class: "scene-overview" }, first, last);
  const blocks = [];

  function update({ depth, step, residual }) {
    const isShown = residual === on && step.part === "sum";
    setHidden(element, !isShown);
    if (!isShown) return;
    while (blocks.length < depth) {
      blocks.push(overviewBlock(table, on, blocks.length));
      last.before(blocks.at(-1));
    }
    element.classList.toggle("is-crowded", depth > 6);
    blocks.forEach((block, i) => setAttributes(block, { hidden: i >= depth }));
    setText(last, stateSymbol(step.shows));
  }
  return { element, update };
}

function overviewBlock(table, on, layer) {
  const drawing = smallBlock(table, on, layer);
  drawing.classList.toggle("is-first", layer === 0);
  const block = h("span", { class: "scene-overview-number" }, String(layer + 1));
  return h("div", { class: "scene-overview-block" }, drawing, block);
}

/** What moves: "step" at a write or an add, "switch" when the residual was flipped, or nothing (null). */
function sceneMotion({ step, residual }, before) {
  if (before === null) return null;
  if (before.residual !== residual) return "switch";
  return before.step.shows !== step.shows && ["write", "add"].includes(step.part) ? "step" : null;
}

/** All that the three parts need to know of a state. */
function sceneFacts({ table, words }, state, fixed) {
  const residual = fixed ?? state.residual;
  const step = stepAt(state.step, state.depth);
  const input = "blocks.0.resid_pre";
  const isSum = step.part === "sum";
  const names = {
    input,
    old: isSum ? input : (step.before ?? input),
    delta: step.part === "write" || step.part === "add" ? step.delta : null,
    result: step.part === "add" || isSum ? step.shows : null,
    sum: residual && (step.part === "write" || step.part === "add") ? step.update : null,
  };
  const { token, depth, language } = state;
  const stream = isSum ? step.shows : names.old;
  const facts = { residual, step, token, depth, language, names, isInput: stream === input };
  return { ...facts, writer: sceneWriter(table, residual, stream), description: sceneDescription(facts, table, words) };
}

/** Which sublayer's output a state of the stream is, if it is just that: the origin it was copied from. */
function sceneWriter(table, residual, name) {
  for (let entry = table.entry(residual, name); entry !== null; entry = table.entry(residual, entry.inputs[0])) {
    if (entry.name.endsWith("attn_out")) return "attention";
    if (entry.name.endsWith("mlp_out")) return "ffn";
    if (entry.inputs.length !== 1) return "";
  }
  return "";
}

function sceneDescription({ step, token, residual }, table, words) {
  const place = step.sublayer ? words.say(`chapter_${step.sublayer}`, { block: step.block }) : words.say(`chapter_${step.part}`);
  const state = words.say("scene_state", { place, residual: words.say(residual ? "scene_residual_on" : "scene_residual_off") });
  return words.say("scene_description", { token: table.tokens[token], sentence: table.tokens.join(" "), state });
}
