// The sentence: whose word is followed and, while attention reads, where that word looks.

import { h, s, setAttributes, setText } from "../elements/dom.js";
import { percent } from "../store/table.js";
import { clearNumber, numberElement, showNumber } from "./numbers.js";

const ARC_FOOT = 88; // the arcs' own units: 100 a word across, 100 high
const ARC_LOW = 36;
const ARC_HIGH = 84;
const ARC_OWN = 12; // half the width of a word's arc to itself

/** {element, update(facts), draw(share), mark(word or null)}; share: how much of the arcs is drawn. */
export function createAttentionWords({ table, words }) {
  const { tokens } = table;
  const caption = h("p", { class: "scene-caption" });
  const arcs = tokens.map(() => s("path", { class: "scene-arc" }));
  const size = `0 0 ${100 * tokens.length} 100`;
  const picture = s("svg", { class: "scene-arcs", viewBox: size, preserveAspectRatio: "none", "aria-hidden": "true" }, ...arcs);
  const tip = h("span", { class: "scene-arc-tip", "aria-hidden": "true" });
  const items = tokens.map(attentionItem);
  const list = h("ul", { class: "scene-sentence", role: "list", "data-numbers": "" }, ...items.map(({ element }) => element));
  const frame = h("div", { class: "scene-words-frame", style: `--words:${tokens.length}` }, picture, tip, list);
  const element = h("div", { class: "scene-words" }, caption, frame);
  let shown = null;

  function update(facts) {
    shown = facts;
    const { step, token } = facts;
    const reads = step.part === "write" && step.sublayer === "attention";
    const alone = step.part === "write" && step.sublayer === "ffn";
    const name = { token: tokens[token] };
    setText(caption, reads ? words.say("looks_where", name) : alone ? words.say("own_word_only", name) : "");
    element.classList.toggle("is-reading", reads);
    element.classList.toggle("is-alone", alone);
    frame.style.setProperty("--followed", String(token));
    const shares = reads ? table.row(facts.residual, step.pattern, token) : null;
    items.forEach((item, i) => fillAttentionItem(item, i, shares, facts, { table, words }));
    arcs.forEach((arc, i) => styleAttentionArc(arc, shares === null ? 0 : shares[i]));
  }

  function draw(share) {
    arcs.forEach((arc, i) => setAttributes(arc, { d: attentionArc(i, shown.token, tokens.length, share) }));
    tip.style.opacity = share < 1 ? "0" : "1";
  }

  const mark = (word) => items.forEach(({ element: item }, i) => item.classList.toggle("is-marked", i === word));
  return { element, update, draw, mark };
}

function attentionItem(token) {
  const before = h("span", { class: "visually-hidden" });
  const share = numberElement();
  const word = h("span", { class: "scene-word" }, token);
  return { element: h("li", { class: "scene-item" }, word, before, h("span", { class: "scene-share" }, share)), before, share };
}

function fillAttentionItem({ element, before, share }, key, shares, { step, token, residual }, { table, words }) {
  element.classList.toggle("is-followed", key === token);
  element.classList.toggle("is-most", shares !== null && isMost(shares, key));
  const pair = { token: table.tokens[token], other: table.tokens[key], share: "" };
  setText(before, shares === null ? "" : words.say("looks_at", pair));
  if (shares === null) clearNumber(share);
  else showNumber(share, table, residual, step.pattern, [token, key], percent);
}

/** Whether a word gets the largest share, told apart as far as the page shows it. */
function isMost(shares, key) {
  const seen = shares.map(percent);
  const most = percent(Math.max(...shares));
  return seen[key] === most && seen.some((one) => one !== most);
}

function styleAttentionArc(arc, share) {
  const style = `stroke-width:${(0.07 + 0.43 * share).toFixed(3)}rem;opacity:${share === 0 ? 0 : (0.35 + 0.65 * share).toFixed(3)}`;
  setAttributes(arc, { style });
}

/** The first part of the arc from a word to the followed one; a word's arc to itself is a small loop over it. */
function attentionArc(from, to, count, share) {
  const middle = (word) => 100 * word + 50;
  const own = from === to;
  const height = own ? ARC_LOW : ARC_LOW + ((ARC_HIGH - ARC_LOW) * Math.abs(from - to)) / (count - 1);
  const top = ARC_FOOT - (4 / 3) * height;
  const foot = own ? ARC_OWN : 0; // both feet of the loop stand over the word
  const [start, end] = [middle(from) - foot, middle(to) + foot];
  return attentionCurve([[start, ARC_FOOT], [start, top], [end, top], [end, ARC_FOOT]], share);
}

/** A cubic curve's beginning, up to `share`, by de Casteljau's construction. */
function attentionCurve(points, share) {
  const between = (list) => list.slice(1).map(([x, y], i) => [list[i][0] + (x - list[i][0]) * share, list[i][1] + (y - list[i][1]) * share]);
  const [once, twice, thrice] = [between(points), between(between(points)), between(between(between(points)))];
  const text = [points[0], once[0], twice[0], thrice[0]].map((point) => point.map((value) => Number(value.toFixed(2))).join(" "));
  return `M${text[0]}C${text.slice(1).join(" ")}`;
}
