// A wiring's picture: one block, from top to bottom, with the first differing part marked.

import { s, setAttributes, setText } from "../elements/dom.js";
import { subscript } from "../elements/words.js";
import { stateSymbol } from "../scene/vector_bars.js";
import { blockGraph } from "../scene/wiring.js";

// Where the parts of one block stand in a wiring's picture, worked out from the inputs that
// the trace names: rows in the order of computation, the stream in lane 0, branches beside it.

const WIRINGS_ROW = 44; // units; 16 are 1 rem
const WIRINGS_LANES = [64, 176, 256];
const WIRINGS_WIDTH = 280;
const WIRINGS_FORK = 19; // how far below a part its branch leaves
const WIRINGS_TOP = 22;
const WIRINGS_BEND = 9;
const WIRINGS_HALF = { norm: 14, attention: 14, ffn: 14, add: 11, stream: 6 };

/**
 * One block as a picture: {nodes: [{id, kind, entries, x, y}], wires: [{path, kind, writes}], end}.
 *
 * entries:  a list of a run's entries
 * kind of a wire: "spine" (along the stream), "branch" (into a sublayer), "delta" (what a
 * sublayer writes), "again" (a second way of x into the same update).
 */
function wiringsPlan(entries, layer) {
  const graph = wiringsMerged(blockGraph(entries.map(wiringsReturned), layer));
  let row = -1;
  const nodes = graph.nodes.map((node, i) => {
    const lane = wiringsLane(graph, node);
    // the caller's add stands beside the one inside the sublayer
    const beside = node.kind === "add" && lane === 0 && graph.nodes[i - 1].kind === "add";
    row += beside ? 0 : 1;
    return { ...node, lane, x: WIRINGS_LANES[lane], y: WIRINGS_TOP + row * WIRINGS_ROW };
  });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const wires = graph.edges.map(({ from, to }) => wiringsWire(byId.get(from), byId.get(to)));
  const last = nodes.filter(({ lane }) => lane === 0).at(-1);
  const end = { x: last.x, y: WIRINGS_TOP + (row + 1) * WIRINGS_ROW - 8 };
  const way = { kind: "spine", writes: last.kind === "add", from: last, path: `M${last.x} ${last.y}V${end.y - 6}` };
  return { nodes, wires: [...wires, way], end, height: end.y + 24 };
}

/** What a sublayer returns with x in it is a sum of its own: it is drawn as one. */
function wiringsReturned(entry) {
  const named = (name) => name.replace(/\.(\w+_returned)$/, ".resid_$1");
  return { ...entry, name: named(entry.name), inputs: entry.inputs.map(named) };
}

/** Without what comes from outside, and with each add and the state that it makes as one. */
function wiringsMerged({ nodes, edges }) {
  const sums = new Set(nodes.filter(({ kind }) => kind === "add").map(({ id }) => id.slice(4)));
  const merged = (id) => (sums.has(id) ? `add:${id}` : id);
  return {
    nodes: nodes.filter(({ id, kind }) => kind !== "in" && !sums.has(id)),
    edges: edges
      .filter(({ from }) => from !== "in")
      .map(({ from, to }) => ({ from: merged(from), to: merged(to) }))
      .filter(({ from, to }) => from !== to),
  };
}

const wiringsIsSublayer = (kind) => kind === "attention" || kind === "ffn";

function wiringsLane({ nodes, edges }, { id, kind }) {
  if (wiringsIsSublayer(kind) || id.endsWith("_returned")) return 1;
  if (kind !== "norm") return 0;
  const readers = edges.filter(({ from }) => from === id).map(({ to }) => nodes.find((node) => node.id === to));
  return readers.length > 0 && readers.every((node) => wiringsIsSublayer(node.kind)) ? 1 : 0;
}

/** One wire, from the lower edge of a part to the edge of the next. */
function wiringsWire(from, to) {
  const writes = from.kind === "add" || from.kind === "norm";
  const wire = (kind, path) => ({ kind, path, writes, from, to });
  const [top, half] = [to.y - WIRINGS_HALF[to.kind], WIRINGS_HALF[from.kind]];
  if (from.lane === 0 && to.lane === 0) return wire("spine", `M${from.x} ${from.y}V${to.y}`);
  if (from.y === to.y) return wire("delta", `M${from.x - half} ${from.y}H${to.x + 15}`);
  if (from.lane === 0 && to.kind === "add") {
    const side = WIRINGS_LANES[2];
    const [fork, bend] = [from.y + WIRINGS_FORK - 5, WIRINGS_BEND];
    const down = `M${from.x} ${fork}H${side - bend}q${bend} 0 ${bend} ${bend}V${to.y - bend}q0 ${bend} ${-bend} ${bend}`;
    return wire("again", `${down}H${to.x + 15}`);
  }
  if (from.lane === 0) return wire("branch", `M${from.x} ${from.y + WIRINGS_FORK}H${to.x - WIRINGS_BEND}q${WIRINGS_BEND} 0 ${WIRINGS_BEND} ${WIRINGS_BEND}V${top - 4}`);
  if (to.lane === 1) return wire(to.kind === "add" ? "delta" : "branch", `M${from.x} ${from.y + half}V${top - 4}`);
  const corner = `q0 ${WIRINGS_BEND} ${-WIRINGS_BEND} ${WIRINGS_BEND}`;
  return wire("delta", `M${from.x} ${from.y + half}V${to.y - WIRINGS_BEND}${corner}H${to.x + 15}`);
}

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
