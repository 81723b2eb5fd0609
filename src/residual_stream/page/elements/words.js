// Texts in the reader's language. Everything is text or a tree of allowed tags.

import { h } from "./dom.js";

const NO_BREAK = "\u00a0";
const OPERATOR = /^ [+−×÷=≈] $/;
const TAGS = new Set(["p", "em", "strong", "code", "ul", "ol", "li", "a", "br"]);

export class Words {
  constructor(texts) {
    this.texts = texts; // {key: {ja, en}}
    this.language = "en";
  }

  /** One text, its {names} filled in. */
  say(key, values = {}) {
    const text = this.texts[key]?.[this.language];
    if (text === undefined) throw new Error(`no text ${key} in ${this.language}`);
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
  }
}

/**
 * Prose as Python parsed it: a node is a text, ["slot", i] (a number that Python filled
 * in), or [tag, attributes, ...children].
 */
export function prose(nodes, fills, onLink) {
  return equations(nodes).map((node) => {
    if (Array.isArray(node[0])) return h("span", { class: "equation" }, ...node.map((part) => piece(part, fills, onLink)));
    return piece(node, fills, onLink);
  });
}

function piece(node, fills, onLink) {
  if (typeof node === "string") return document.createTextNode(node);
  if (node[0] === "slot") return h("span", { class: "figure" }, fills[node[1]] ?? "");
  const [tag, attributes, ...children] = node;
  if (!TAGS.has(tag)) throw new Error(`prose holds <${tag}>`);
  const inner = prose(children, fills, onLink);
  return tag === "a" ? onLink(attributes.href, inner) : h(tag, {}, ...inner);
}

/** Prose as a text alone, with its equations unbroken too. */
export function proseText(nodes, fills) {
  return equations(nodes)
    .map((node) => (Array.isArray(node[0]) ? node.map((part) => pieceText(part, fills)).join("").replaceAll(" ", NO_BREAK) : pieceText(node, fills)))
    .join("");
}

function pieceText(node, fills) {
  if (typeof node === "string") return node;
  return node[0] === "slot" ? (fills[node[1]] ?? "") : proseText(node.slice(2), fills);
}

/** The same nodes; a number, an operator and a number, however often, are one list: an equation is not split. */
function equations(nodes) {
  const isSlot = (node) => Array.isArray(node) && node[0] === "slot";
  const list = [];
  for (let i = 0; i < nodes.length; i++) {
    let end = i;
    while (isSlot(nodes[end]) && OPERATOR.test(nodes[end + 1]) && isSlot(nodes[end + 2])) end += 2;
    list.push(end > i ? nodes.slice(i, end + 1) : nodes[i]);
    i = end;
  }
  return list;
}

/** A whole number as a subscript: x₁₂. */
export const subscript = (value) => [...String(value)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]).join("");
