// A wiring's picture: one block, from top to bottom, with the first differing part marked.

import { s, setAttributes, setText } from "./dom.js";
import { stateSymbol } from "./vector_bars.js";
import { subscript } from "./words.js";
import { WIRINGS_LANES, WIRINGS_WIDTH, wiringsPlan } from "./wirings_plan.js";

/**
 * @param name     of the wiring: ids in a page are unique by it
 * @param entries  a list of its run's entries
 * @param isSum    whether x₀ runs through as it was: then it is drawn as its ribbon
 * @returns {element, update(layer, mark or null, label)}; mark: the name of an entry
 */
export function createWiringsPicture({ words }, { id: name, entries }, isSum) {
  const id = `wirings-${name}`;
  const plan = wiringsPlan(entries, 0);
  const size = `0 0 ${WIRINGS_WIDTH} ${plan.height}`;
  const wires = plan.wires.flatMap((wire) => wiringsLines(wire, isSum));
  const nodes = plan.nodes.map(wiringsNode);
  const [input, output] = [s("text", { class: "wirings-state", "text-anchor": "end" }), s("text", { class: "wirings-state" })];
  const spine = WIRINGS_LANES[0];
  setAttributes(input, { x: spine - 14, y: 27 });
  setAttributes(output, { x: spine, y: plan.end.y + 16, "text-anchor": "middle" });
  const tip = s("path", { class: "wirings-tip", d: `M${spine - 7} ${plan.end.y - 9}h14l-7 10z` });
  const deltas = plan.wires.filter(({ kind }) => kind === "delta").map(wiringsDelta);
  const defs = s("defs", {}, ...["branch", "delta", "again"].map((kind) => wiringsArrow(id, kind)));
  const lines = wires.map(({ kind, element: line }) => {
    if (kind !== "spine") line.setAttribute("marker-end", `url(#${id}-${kind})`);
    return line;
  });
  const shapes = nodes.map((node) => node.element);
  const title = s("title", {});
  const element = s("svg", { class: "wirings-picture", viewBox: size, role: "img", "aria-labelledby": `${id}-title` }, title, defs, ...lines, tip, ...shapes, ...deltas, input, output);
  title.id = `${id}-title`;

  function update(layer, mark, label) {
    setText(title, label);
    setText(input, stateSymbol(`blocks.${layer}.resid_pre`));
    setText(output, `x${subscript(layer + 1)}`);
    element.classList.toggle("has-corrections", layer > 0);
    for (const { node, text, element: group } of nodes) {
      if (["norm", "attention", "ffn"].includes(node.kind)) setText(text, words.say(node.kind));
      group.classList.toggle("is-marked", mark !== null && node.entries.includes(mark));
    }
  }
  return { element, update };
}

/** A wire as lines; the stream of a plain sum shows x₀ and, beside it, the corrections. */
function wiringsLines({ kind, path, writes }, isSum) {
  const line = (name, shift = 0) => {
    const transform = shift ? `translate(${shift} 0)` : null;
    return { kind, element: s("path", { class: `wirings-wire is-${name}`, d: path, transform }) };
  };
  if (kind !== "spine" || !isSum) return [line(kind)];
  return [line("x0"), line(writes ? "so-far" : "so-far is-later", 5)];
}

function wiringsNode(node) {
  const { kind, x, y } = node;
  if (kind === "stream") return { node, element: s("g", {}, s("circle", { class: "wirings-dot", cx: x, cy: y, r: 6 })) };
  const text = s("text", { x, y: y + 5, "text-anchor": "middle" });
  if (kind === "add") setText(text, "+");
  const shape = kind === "add" ? s("circle", { cx: x, cy: y, r: 11 }) : s("rect", { x: x - 54, y: y - 14, width: 108, height: 28, rx: 13 });
  const flag = s("text", { class: "wirings-flag", x: kind === "add" ? x - 28 : x + 68, y: y + 6, "text-anchor": "middle" }, "≠");
  return { node, text, element: s("g", { class: `wirings-part is-${kind}` }, shape, text, flag) };
}

/** What is written: Δ, and after an add inside the sublayer x + Δ. */
function wiringsDelta({ from, to }) {
  const place = to.lane === 1 ? { x: to.x - 10, y: to.y - 17, "text-anchor": "end" } : { x: to.x + 56, y: to.y - 6, "text-anchor": "middle" };
  return s("text", { class: "wirings-delta", ...place }, from.kind === "add" ? "x + Δ" : "Δ");
}

function wiringsArrow(id, kind) {
  const shape = s("path", { class: `wirings-arrow is-${kind}`, d: "M0 0L7 4L0 8z" });
  return s("marker", { id: `${id}-${kind}`, viewBox: "0 0 7 8", refX: 3, refY: 4, markerWidth: 7, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, shape);
}
