// The wiring of a block, drawn from the inputs that the trace itself names for each value:
// the picture cannot say anything else than the computation did.

import { h, setAttributes, setHidden, setText } from "../elements/dom.js";
import { setting } from "../store/table.js";
import { deltaSymbol, stateSymbol } from "./vector_bars.js";

const WIRING_KINDS = { resid: "stream", ln: "norm", attn: "attention", mlp: "ffn" };
const isSublayer = (kind) => kind === "attention" || kind === "ffn";
// the room before a node, in relative units; "under": on a phone a sublayer stands under its norm
const WIRING_WIDE = { stream: 40, add: 92, norm: 66, attention: 144, ffn: 96, other: 80 };
const WIRING_NARROW = { stream: 19, add: 61, norm: 50, attention: 50, ffn: 50, other: 50, under: true };
const WIRING_SMALL = { stream: 14, add: 30, norm: 16, attention: 16, ffn: 16, other: 16 };

/**
 * One block as a graph: {nodes: [{id, kind, entries}], edges: [{from, to, entry}]}, in the
 * order of computation. A state of the stream made from two sources gets a node "add" before it.
 *
 * @param entries  a Map or list of a run's entries
 * kind: "in" (what comes from outside), "stream", "norm", "attention", "ffn", "add", "other".
 */
export function blockGraph(entries, layer) {
  const prefix = `blocks.${layer}.`;
  const own = [...entries.values()].filter((entry) => entry.name.startsWith(prefix));
  const groups = new Map(own.map((entry) => [entry.name, wiringGroup(entry, prefix)]));
  const graph = { nodes: [], edges: [] };
  for (const entry of own) wiringInclude(graph, entry, groups);
  return graph;
}

/** Which part of the block a value belongs to: "attn.q" and "attn_out" to attention. */
function wiringGroup({ name, kind: operation }, prefix) {
  const own = name.slice(prefix.length);
  const first = own.split(".")[0];
  const kind = WIRING_KINDS[first.match(/^[a-z]+/)?.[0]] ?? "other";
  if (kind !== "stream" && operation === "sum" && own === first) return { id: own, kind: "add" };
  return { id: kind === "stream" ? own : isSublayer(kind) ? kind : first, kind };
}

function wiringInclude({ nodes, edges }, entry, groups) {
  const own = groups.get(entry.name);
  const names = entry.inputs.filter((name) => !name.startsWith("weights."));
  const inputs = names.map((name) => ({ name, ...(groups.get(name) ?? { id: "in", kind: "in" }) }));
  const sources = inputs.filter(({ id }, i) => id !== own.id && inputs.findIndex((one) => one.id === id) === i);
  const isSum = own.kind === "stream" && sources.length > 1;
  const target = isSum ? `add:${own.id}` : own.id;
  const edge = (from, to, name) => edges.some((one) => one.from === from && one.to === to) || edges.push({ from, to, entry: name });
  const node = (id, kind, name) => {
    const known = nodes.find((one) => one.id === id);
    if (!known) nodes.push({ id, kind, entries: [name] });
    else if (!known.entries.includes(name)) known.entries.push(name);
  };
  for (const { id, kind, name } of sources) if (kind === "in") node(id, kind, name);
  if (isSum) node(target, "add", entry.name);
  node(own.id, own.kind, entry.name);
  for (const { id, name } of sources) edge(id, target, name);
  if (isSum) edge(target, own.id, entry.name);
}

/** Where each node stands: x (and where a branch joins before it) in %, and its lane, 0 the spine. */
function wiringPlaces(graph, gaps) {
  const places = new Map();
  let x = 0;
  let above = null;
  for (const { id, kind } of graph.nodes) {
    const under = gaps.under && isSublayer(kind) && above?.kind === "norm" && above.lane === 1;
    const joins = kind === "stream" && graph.edges.some(({ from, to }) => to === id && places.get(from)?.lane > 0);
    const join = joins ? (x += gaps.add) : null;
    const lane = under ? 2 : kind === "add" && !id.startsWith("add:") ? above.lane : wiringLane(graph, id, kind);
    if (kind !== "in" && !under) x += gaps[kind === "norm" && lane === 1 && isSublayer(above.kind) ? "add" : kind];
    above = { kind, x, join, lane };
    places.set(id, above);
  }
  const share = (length) => Number(((100 * length) / (x + gaps[above.kind] / 2 + 14)).toFixed(2));
  return new Map([...places].map(([id, place]) => [id, { ...place, x: share(place.x), join: place.join && share(place.join) }]));
}

/** A norm stands on the spine, unless only sublayers read it or it reads one. */
function wiringLane({ nodes, edges }, id, kind) {
  if (kind !== "norm") return isSublayer(kind) ? 1 : 0;
  const at = (end, other) => edges.filter((edge) => edge[end] === id).map((edge) => nodes.find((node) => node.id === edge[other]));
  const readers = at("from", "to");
  return at("to", "from").some((node) => isSublayer(node.kind)) || (readers.length > 0 && readers.every((node) => isSublayer(node.kind))) ? 1 : 0;
}

/** The pieces of a block's picture: {kind, turns, from, a, b}; turns and from are numbers of nodes, a and b places. */
function wiringPieces(graph, wideGaps, narrowGaps) {
  const wide = wiringPlaces(graph, wideGaps);
  const narrow = wiringPlaces(graph, narrowGaps);
  const place = (id, key, lane) => ({ x: wide.get(id)[key], n: narrow.get(id)[key], y: lane(wide.get(id)), m: lane(narrow.get(id)) });
  const map = {
    at: (id) => place(id, "x", ({ lane }) => lane),
    join: (id) => (wide.get(id).join === null ? null : place(id, "join", () => 0)),
    turn: (id) => graph.nodes.findIndex((node) => node.id === id),
    spine: graph.nodes.map(({ id }) => id).filter((id) => wide.get(id).lane === 0),
  };
  const last = map.spine.at(-1);
  const end = { kind: "end", turns: [map.turn(last)], from: map.turn(last), a: map.at(last), b: { x: 100, n: 100, y: 0, m: 0 } };
  const cuts = map.spine.filter(map.join).map((id) => {
    const before = map.spine[map.spine.indexOf(id) - 1];
    return { kind: "cut", turns: [map.turn(id)], from: map.turn(before), a: map.at(before), b: map.join(id) };
  });
  const nodes = graph.nodes.map(({ id, kind }, turn) => ({ kind, id, turns: [turn], from: turn, a: map.at(id), b: map.at(id) }));
  return [...graph.edges.flatMap((edge) => wiringWay(edge, graph, map)), ...cuts, end, ...nodes.filter(({ kind }) => kind !== "in")];
}

/** An edge as pieces: along a lane, down to a branch, or up from it; a correction has its name beside it. */
function wiringWay({ from, to, entry }, { nodes }, { at, join, turn, spine }) {
  const [a, b, corner] = [at(from), at(to), join(to)];
  const writes = isSublayer(nodes[turn(from)].kind);
  const piece = (kind, start, end, turns = [turn(to)]) => ({ kind, turns, from: turn(from), a: start, b: end, entry });
  const delta = writes ? [piece("delta", a, corner ?? b, [turn(from)])] : [];
  const passes = nodes.some(({ id }) => at(id).y > 0 && at(id).x > a.x && at(id).x < b.x);
  if (a.y === 0 && b.y > 0 && passes) return [piece("drop", { ...a, x: b.x, n: b.n }, b)];
  if (b.y > 0) return [piece(b.m >= a.m ? "drop" : "rise", a, b), ...delta];
  const isNext = spine.indexOf(to) - spine.indexOf(from) === 1;
  if (a.y === 0) return [piece(!isNext ? "over" : nodes[turn(to)].kind === "add" ? "skip" : "line", a, b)];
  const rise = piece("rise", a, corner ?? b, writes ? [turn(from), turn(to)] : undefined);
  return [rise, ...delta, ...(corner ? [{ ...piece("line", corner, b), from: turn(to) }] : [])];
}

/** The pieces as elements: {element, parts}. `small`, for the overview, leaves out what has no room there. */
function wiringDrawing(pieces, residual, small = false) {
  const first = pieces.find(({ kind }) => kind === "add" || kind === "cut");
  const firstUpdate = first ? Math.min(...first.turns) : Infinity;
  const shown = small ? pieces.filter(({ kind }) => !["stream", "norm", "delta"].includes(kind)) : pieces;
  const parts = shown.map((piece) => {
    const { kind, from, a, b } = piece;
    const style = `--x1:${a.x};--x2:${b.x};--n1:${a.n};--n2:${b.n};--y1:${a.y};--y2:${b.y};--m1:${a.m};--m2:${b.m}`;
    const name = `scene-piece scene-${kind}${from >= firstUpdate ? " has-updates" : ""}`;
    return { ...piece, name, element: h("span", { class: name, style }) };
  });
  const element = h("div", { class: `scene-drawing${residual ? "" : " is-off"}` }, ...parts.map((part) => part.element));
  return { element, parts };
}

const wiringGraph = (table, on, layer) => blockGraph(table.entries[setting(on)], layer);

/** A block of a run, small, without words. */
export function smallBlock(table, on, layer) {
  return wiringDrawing(wiringPieces(wiringGraph(table, on, layer), WIRING_SMALL, WIRING_SMALL), on, true).element;
}

/** What makes two blocks look the same: the same parts, tied in the same way, in the same run. */
const wiringShape = (on, { nodes, edges }) => JSON.stringify([on, nodes.map(({ id }) => id), edges.map(({ from, to }) => [from, to])]);

/** The part that the step speaks of, what this block has done already, and what is to come. */
function wiringShow({ element, parts }, nodes, facts) {
  const current = nodes.flatMap(({ entries }, i) => (entries.includes(facts.step.shows) ? [i] : []));
  element.classList.toggle("is-first", facts.step.layer === 0);
  for (const part of parts) {
    const now = part.turns.some((turn) => current.includes(turn));
    const time = now ? "is-now" : Math.min(...part.turns) < current[0] ? "is-done" : "is-later";
    setAttributes(part.element, { class: `${part.name} ${time}` });
    setText(part.element, wiringText(part, facts));
  }
}

function wiringText({ kind, id, entry }, { table, words, residual, step }) {
  if (kind === "stream") return stateSymbol(`blocks.${step.layer}.${id}`);
  if (kind === "delta") return deltaSymbol(table, residual, entry.replace(/\d+/, step.layer));
  if (["norm", "attention", "ffn", "cut"].includes(kind)) return words.say(kind);
  return { add: "+", other: id }[kind] ?? "";
}

/** The current block's wiring, drawn into `picture` when a block like it is first shown: {update(facts)}. */
export function createWiring({ table, words }, picture) {
  const graphs = new Map(); // by run and layer
  const drawings = new Map(); // by shape

  function graphOf({ residual, step: { layer } }) {
    const key = `${residual} ${layer}`;
    if (!graphs.has(key)) graphs.set(key, wiringGraph(table, residual, layer));
    return graphs.get(key);
  }

  function drawingOf(graph, { residual }) {
    const shape = wiringShape(residual, graph);
    if (!drawings.has(shape)) {
      const drawing = wiringDrawing(wiringPieces(graph, WIRING_WIDE, WIRING_NARROW), residual);
      picture.append(drawing.element);
      drawings.set(shape, drawing);
    }
    return drawings.get(shape);
  }

  function update(facts) {
    const graph = graphOf(facts);
    const shown = facts.step.part === "sum" ? null : drawingOf(graph, facts);
    for (const drawing of drawings.values()) setHidden(drawing.element, drawing !== shown);
    if (shown !== null) wiringShow(shown, graph.nodes, { ...facts, table, words });
  }
  return { update };
}
