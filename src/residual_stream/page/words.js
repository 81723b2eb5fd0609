// Texts in the reader's language. Everything is text or a tree of allowed tags.

import { h } from "./dom.js";

const STOPS = /^[.,;:!?)\]”’。、，；：！？）」』]+/;
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
  return withTheirStops(nodes.map((node) => {
    if (typeof node === "string") return document.createTextNode(node);
    if (node[0] === "slot") return h("span", { class: "figure" }, fills[node[1]] ?? "");
    const [tag, attributes, ...children] = node;
    if (!TAGS.has(tag)) throw new Error(`prose holds <${tag}>`);
    const inner = prose(children, fills, onLink);
    return tag === "a" ? onLink(attributes.href, inner) : h(tag, {}, ...inner);
  }));
}

/** A button in a sentence keeps the stop that follows it: browsers would begin a line with it. */
function withTheirStops(nodes) {
  return nodes.map((node, i) => {
    const next = nodes[i + 1];
    const stop = node instanceof HTMLButtonElement && next instanceof Text ? next.data.match(STOPS)?.[0] : undefined;
    if (stop === undefined) return node;
    next.data = next.data.slice(stop.length);
    return h("span", { class: "with-its-stop" }, node, stop);
  });
}

/** A whole number as a subscript: x₁₂. */
export const subscript = (value) => [...String(value)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]).join("");
