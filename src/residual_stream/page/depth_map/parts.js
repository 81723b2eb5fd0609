// The depth map's HTML: title and key, the frame with its buttons, the table of values.

import { h, setAttributes, setHidden, setText } from "../elements/dom.js";
import { number } from "../store/table.js";

const MAP_TARGET = 1.5; // the least width of a block's button, in rem

/**
 * All elements, made once for the deepest walk; blocks beyond the depth are hidden.
 *
 * blockAt: (event) -> the block under a pointer, or null; pick: (block or null) is called
 * when a block is pointed at or focused; onBlock: (block) when it is chosen.
 */
export function mapParts(maxDepth, isFixed, { blockAt, pick, onBlock }) {
  const parts = { ...mapKey(isFixed), ...mapFrame(), ...mapTable(maxDepth) };
  parts.axis = h("span", { class: "depth-map-axis", "aria-hidden": "true" });
  const hover = (event, block) => pick(event.pointerType === "touch" ? null : block);
  const leave = () => pick(null);
  parts.buttons = Array.from({ length: maxDepth }, (_, i) => {
    const block = i + 1;
    const press = { click: () => onBlock(block), pointerenter: (event) => hover(event, block), pointerleave: leave, blur: leave };
    const focus = ({ target }) => target.matches(":focus-visible") && pick(block);
    return h("button", { type: "button", ...press, focus }, String(block));
  });
  parts.blocks = h("div", { class: "depth-map-blocks" }, parts.axis, ...parts.buttons);
  const choose = (block) => block !== null && onBlock(block);
  const point = { pointermove: (event) => hover(event, blockAt(event)), pointerleave: leave };
  setAttributes(parts.stage, { ...point, click: (event) => choose(blockAt(event)) });
  const { head, stage, way, blocks, caption, details, values, probe } = parts;
  const inner = [head, stage, way, blocks, caption, details, values, probe];
  parts.element = h("div", { class: "depth-map", role: isFixed ? "group" : null }, ...inner);
  parts.element.addEventListener("keydown", ({ key }) => key === "Escape" && pick(null));
  return parts;
}

/** A title if there are two maps, and a swatch with a word for each thing on the map. */
function mapKey(isFixed) {
  const item = (name) => {
    const word = h("span");
    return { word, entry: h("li", {}, h("span", { class: `depth-map-swatch is-${name}` }), word) };
  };
  const [x0, soFar, latest] = ["x0", "so-far", "latest"].map(item);
  const title = h("p", { class: "depth-map-title", hidden: !isFixed });
  const key = h("ul", { class: "depth-map-key" }, x0.entry, soFar.entry, latest.entry);
  const captions = { on: h("span"), off: h("span") };
  return {
    title,
    key: { x0, soFar, latest },
    head: h("div", { class: "depth-map-head" }, title, key),
    captions,
    caption: h("p", { class: "depth-map-caption" }, captions.on, captions.off),
  };
}

/** The frame that Bokeh fills, what lies over and under it, and the marker's way. */
function mapFrame() {
  const band = h("div", { class: "depth-map-band", hidden: true });
  const slot = h("div", { class: "depth-map-slot is-waiting", inert: true, "aria-hidden": "true" });
  const loading = h("p", { class: "depth-map-loading" });
  const tipLines = [h("strong"), h("span"), h("span")];
  const tip = h("div", { class: "depth-map-tip", "aria-hidden": "true", hidden: true }, ...tipLines);
  const markerText = h("span");
  const marker = h("div", { class: "depth-map-marker" }, markerText);
  return {
    band, slot, loading, tip, tipLines, markerText, marker,
    stage: h("div", { class: "depth-map-stage" }, band, slot, loading, tip),
    way: h("div", { class: "depth-map-way", "aria-hidden": "true" }, marker),
    waiting: "loading_map",
    probe: h("i", { class: "depth-map-probe" }),
  };
}

/** The same as a table: always there for screen readers, to be opened for all. */
function mapTable(maxDepth) {
  const columns = ["block", "length", "shows"].map(() => h("th", { scope: "col" }));
  const rows = Array.from({ length: 1 + maxDepth }, () => {
    const cells = [h("th", { scope: "row" }), h("td"), h("td")];
    return { row: h("tr", {}, ...cells), cells };
  });
  const tableCaption = h("caption");
  const body = h("tbody", {}, ...rows.map(({ row }) => row));
  const whole = h("table", {}, tableCaption, h("thead", {}, h("tr", {}, ...columns)), body);
  const summary = h("summary");
  return {
    columns, rows, tableCaption, summary,
    details: h("details", { class: "depth-map-details" }, summary),
    values: h("div", { class: "depth-map-values" }, whole),
  };
}

/** Every text, for a state; residual says what the map shows. */
export function fillMapTexts(parts, { table, words }, { token, depth }, residual) {
  const say = (key, values) => words.say(key, values);
  const word = table.word(residual, token);
  const title = say(residual ? "compare_on" : "compare_off");
  setText(parts.title, title);
  if (parts.element.hasAttribute("role")) setAttributes(parts.element, { "aria-label": title });
  setText(parts.key.x0.word, say("ribbon"));
  setText(parts.key.soFar.word, say("so_far"));
  setText(parts.key.latest.word, say("latest"));
  setText(parts.captions.on, say("depth_map_on_caption"));
  setText(parts.captions.off, say("depth_map_off_caption"));
  setText(parts.loading, say(parts.waiting));
  setText(parts.markerText, say("map_current"));
  setText(parts.axis, say("map_block"));
  setText(parts.tableCaption, say("map_table_caption"));
  setText(parts.summary, say("map_table_caption"));
  parts.element.classList.toggle("is-off", !residual);
  ["map_block", "map_length", "map_shows"].forEach((key, i) => setText(parts.columns[i], say(key)));
  parts.shows = say(residual ? "so_far" : "latest");
  const lengths = [word.x0_length, ...word.bars];
  parts.rows.forEach(({ row, cells }, block) => {
    setHidden(row, block > depth);
    setText(cells[0], block === 0 ? say("map_x0") : String(block));
    setText(cells[1], number(lengths[block], 2));
    setText(cells[2], block === 0 ? say("ribbon") : parts.shows);
  });
  parts.tipTexts = (block) => [
    say("map_hover_block", { block }),
    say("map_hover_length", { shows: parts.shows, length: number(lengths[block], 2) }),
    say("map_hover_length", { shows: say("ribbon"), length: number(lengths[0], 2) }),
  ];
  parts.buttons.forEach((button, i) => {
    setHidden(button, i >= depth);
    setAttributes(button, { "aria-label": say("map_hover_block", { block: i + 1 }) });
  });
}

/** Put buttons and marker under the frame's columns. */
export function placeMapParts(parts, layout, current, markerX) {
  const { rem, entrance, edge, slot, depth, width } = layout;
  const style = parts.element.style;
  style.setProperty("--map-entrance", `${entrance}px`);
  style.setProperty("--map-edge", `${edge}px`);
  style.setProperty("--map-slot", `${slot}px`);
  style.setProperty("--map-width", `${width}px`); // so that paper can make it fit
  const least = MAP_TARGET * rem;
  const tightest = (width - entrance - edge) / parts.buttons.length;
  parts.element.classList.toggle("is-narrow", tightest < least);
  parts.element.classList.toggle("is-staggered", slot < least);
  parts.buttons.forEach((button, i) => setAttributes(button, { "aria-current": i + 1 === current ? "step" : null }));
  parts.marker.style.transform = `translateX(${markerX}px)`;
  parts.marker.classList.toggle("is-left", markerX > width / 2);
}

/** The numbers of the block that is pointed at or focused; null for none. */
export function showMapTip(parts, layout, block) {
  const shown = block !== null && block <= layout.depth;
  for (const part of [parts.band, parts.tip]) setHidden(part, !shown);
  if (!shown) return;
  parts.tipTexts(block).forEach((text, i) => setText(parts.tipLines[i], text));
  const left = layout.centre(block) - layout.slot / 2;
  parts.band.style.transform = `translateX(${left}px)`;
  const beside = Math.min(layout.slot / 2, 6 * layout.rem) + 0.25 * layout.rem;
  const isLeft = layout.centre(block) > layout.width / 2;
  parts.tip.style.left = isLeft ? "auto" : `${layout.centre(block) + beside}px`;
  parts.tip.style.right = isLeft ? `${layout.width - layout.centre(block) + beside}px` : "auto";
}
