// The depth map: x₀'s ribbon and the corrections on it, block by block. The picture is
// Bokeh's; words, buttons and the table of its values are HTML and do not wait for it.

import { h, setHidden, setText } from "../elements/dom.js";
import { SWITCHING } from "../elements/motion.js";
import { blocksDone, stepAt } from "../store/steps.js";
import { number } from "../store/table.js";
import { mapBars, mapDress, MapFigure, mapLayout, mapRibbon, mapTexts, markerAt } from "./figure.js";
import { fillMapTexts, mapParts, placeMapParts, showMapTip } from "./parts.js";

/**
 * @param residual  null follows the state's switch; true or false fixes the map to it
 * @param item      the figure, as Python's depth_map_item returns it
 * @param onBlock   (block) is called when a reader picks a block
 * @returns {element, update, embed, miss, recolour, ready, remove}
 *          embed: call it once Bokeh is there; a map that is hidden waits until it is seen
 *          miss: call it if Bokeh will not come
 *          recolour: call it after a change of theme
 *          ready: a promise, kept when the figure is drawn
 */
function createDepthMap(context, { residual = null, item, onBlock }) {
  const { table, words } = context;
  const pen = document.createElement("canvas").getContext("2d");
  const parts = mapParts(table.maxDepth, residual !== null, { blockAt, pick, onBlock });
  const isOn = () => residual ?? state.residual;
  let state = null;
  let size = null; // of the slot, in CSS px; null while it is hidden
  let dress = null; // colours and type
  let layout = null; // where everything stands
  let off = 0; // how far the switch has gone: 0 residual on, 1 off
  let figure = null;
  let drawn = ""; // what the figure shows
  let filled = ""; // what the texts say
  let pointed = null; // a block
  let run = 0; // of the motion

  function update(next, previous = null, { motion = false } = {}) {
    const flipped = residual === null && previous !== null && previous.residual !== next.residual;
    state = next;
    arrange();
    const goal = isOn() ? 0 : 1;
    const start = off;
    const own = ++run;
    if (motion && flipped && figure !== null && layout !== null) {
      context.motion.play((share) => own === run && draw(start + (goal - start) * share), { delay: SWITCHING });
    } else {
      draw(goal);
    }
  }

  /** All texts, and the page's own elements under the columns of the frame. */
  function arrange() {
    const { token, depth, step } = state;
    const texts = [words.language, token, depth, isOn()].join();
    if (texts !== filled) fillMapTexts(parts, context, state, isOn());
    filled = texts;
    if (size === null) return;
    layout = mapLayout(table, state, { ...size, rem: dress.rem, size: dress.size, entrance: entranceWidth() });
    const at = stepAt(step, depth);
    placeMapParts(parts, layout, at.block, markerAt(at, layout));
    showMapTip(parts, layout, pointed);
  }

  function measure(text, style = "normal") {
    pen.font = `${style} ${dress.size}px ${dress.font}`;
    return Math.max(...text.split("\n").map((line) => pen.measureText(line).width));
  }

  /** The ribbon's word and length, in two lines where one would take a fifth of the map. */
  function ribbonText(token) {
    const both = [words.say("ribbon"), number(table.word(true, token).x0_length)];
    return both.join(measure(both.join(" "), "bold") > 0.2 * size.width ? "\n" : " ");
  }

  /** Room for the ribbon's text, the same for all words, and for the axis' name. */
  function entranceWidth() {
    const ribbons = table.tokens.map((_, token) => measure(ribbonText(token), "bold"));
    const widest = Math.max(...ribbons, measure(words.say("map_block")));
    return Math.min(widest + 0.5 * dress.rem, 0.4 * size.width);
  }

  function draw(share) {
    off = share;
    if (layout === null) return;
    const { token, depth, step } = state;
    const frame = [token, depth, words.language, layout.width, layout.height].join();
    const done = blocksDone(step, depth);
    const now = `${frame} ${share} ${done}`;
    if (drawn === now) return;
    const bars = mapBars(table, token, layout, share);
    const ribbon = mapRibbon(table.word(true, token).x0_length, layout, share);
    noteGeometry(bars, ribbon);
    if (figure === null) return;
    if (!drawn.startsWith(`${frame} `)) figure.scale(layout);
    drawn = now;
    figure.draw(bars, ribbon, share, done);
    figure.write(mapTexts({ ...content(), done }, bars, layout, measure));
  }

  /** What is written on the map; while it moves, only what does not change. */
  function content() {
    const { token, depth } = state;
    const word = off > 0 && off < 1 ? null : words.say(off ? "latest" : "so_far");
    const { x0_length: x0, bars } = table.word(!off, token);
    return { ribbon: ribbonText(token), word, lengths: bars.slice(0, depth), x0, off, colours: dress.colours };
  }

  /** For tests: where the figure's parts stand, in CSS px from the stage's upper left. */
  function noteGeometry(bars, { xs, ys }) {
    const { unit, base, slot, entrance, width, height, top } = layout;
    const ribbon = { left: xs[0], right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
    const geometry = { width, height, entrance, slot, unit, base, top, off, ribbon, bars };
    parts.stage.dataset.geometry = JSON.stringify(geometry, (_, value) => (typeof value === "number" ? Number(value.toFixed(3)) : value));
  }

  function blockAt(event) {
    if (layout === null) return null;
    const x = event.clientX - parts.stage.getBoundingClientRect().left;
    const block = Math.floor((x - layout.entrance) / layout.slot) + 1;
    return block >= 1 && block <= layout.depth ? block : null;
  }

  function pick(block) {
    pointed = block;
    if (layout !== null) showMapTip(parts, layout, pointed);
  }

  function recolour() {
    if (size === null) return;
    dress = mapDress(parts.probe);
    figure?.dress(dress);
    drawn = "";
    if (state === null) return;
    arrange();
    draw(off);
  }

  const observer = new ResizeObserver(([{ contentRect }]) => {
    const { width, height } = contentRect;
    size = width > 0 && height > 0 ? { width, height } : null;
    layout = null;
    recolour();
    if (globalThis.Bokeh) embed();
  });
  observer.observe(parts.slot);

  let views = null;
  let keep = null;
  const ready = new Promise((resolve) => (keep = resolve));

  async function embed() {
    if (views !== null || size === null || !globalThis.Bokeh) return;
    views = globalThis.Bokeh.embed.embed_item(item, parts.slot);
    const [{ model }] = await views;
    figure = new MapFigure(model);
    recolour();
    await nextMapFrame();
    parts.loading.hidden = true;
    parts.slot.classList.remove("is-waiting");
    keep();
  }

  function miss() {
    parts.waiting = "missing_map";
    filled = "";
    if (state !== null) arrange();
  }

  /** Take the element off the page and end the figure, so that nothing of it stays. */
  async function remove() {
    observer.disconnect();
    parts.element.remove();
    if (views === null) return;
    const shown = await views;
    const [{ model }] = shown;
    const { documents } = globalThis.Bokeh;
    documents.splice(documents.indexOf(model.document), 1);
    figure = null;
    shown.clear();
  }

  return { element: parts.element, update, embed, miss, recolour, ready, remove };
}

/** The next time the browser paints; soon, if it does not. */
const nextMapFrame = () => new Promise((resolve) => requestAnimationFrame(resolve) && setTimeout(resolve, 100));

// The depth maps of the page: one, or in compare mode two side by side.

/** The depth map of the state, or in compare mode one with and one without the residual. */
export function createMaps(context, onBlock) {
  const items = context.data.depth_maps;
  const single = createDepthMap(context, { residual: null, item: items[0], onBlock });
  const pair = []; // made when it is first shown
  const heading = h("h2", {});
  const both = h("div", { class: "maps-pair" });
  const element = h("section", { class: "maps", id: "map" }, heading, single.element, both);
  const all = () => [single, ...pair];
  let isMissed = false;

  /** Bokeh could not be loaded: say so where its pictures would be. */
  function miss() {
    isMissed = true;
    for (const map of all()) map.miss();
  }

  function update(state, previous, options) {
    setHidden(element, state.hide.includes("map"));
    element.setAttribute("aria-label", context.words.say("depth_map"));
    setText(heading, context.words.say("depth_map"));
    setHidden(single.element, state.compare);
    setHidden(both, !state.compare);
    if (state.compare && pair.length === 0) {
      pair.push(...[true, false].map((residual, i) => createDepthMap(context, { residual, item: items[i + 1], onBlock })));
      both.append(...pair.map((map) => map.element));
      if (isMissed) miss();
    }
    for (const map of state.compare ? pair : [single]) map.update(state, previous, options);
    if (previous && previous.theme !== state.theme) all().forEach((map) => map.recolour());
  }

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const recolour = () => all().forEach((map) => map.recolour());
  dark.addEventListener("change", recolour);
  return {
    element,
    update,
    miss,
    embed: () => Promise.all(all().map((map) => map.embed())),
    remove() {
      dark.removeEventListener("change", recolour);
      all().forEach((map) => map.remove());
    },
  };
}
