// Where the parts of one block stand in a wiring's picture, worked out from the inputs that
// the trace names: rows in the order of computation, the stream in lane 0, branches beside it.

import { blockGraph } from "./wiring.js";

const WIRINGS_ROW = 44; // units; 16 are 1 rem
export const WIRINGS_LANES = [64, 176, 256];
export const WIRINGS_WIDTH = 280;
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
export function wiringsPlan(entries, layer) {
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
