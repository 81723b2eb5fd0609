// The drawn part of the depth map: where everything stands, and the Bokeh figure
// (made in depth_map.py) that is fed with it.

import { number } from "../store/table.js";

const MAP_EDGE = 1; // room for the ribbon's tip, in rem
const MAP_BAR = 0.6; // a bar's share of its block's column
const MAP_WIDEST_BAR = 4.5; // in rem
const MAP_NOTCHES = 6; // of the cut
const MAP_SHALLOW = 5.6; // lines of type: a lower frame writes numbers only
const MAP_COLOURS = ["--slate", "--green", "--red", "--muted", "--paper", "--line"];
const MAP_TO_COME = 0.35; // how strong a bar is, within its outline, of a block that has not ended

/**
 * Where everything stands, in CSS px from the frame's upper left corner.
 *
 * top:    the length that the frame's height stands for, the same for residual on and
 *         off: the highest stack of x₀ and all corrections down to the depth shown.
 * unit:   px for a length of 1; base: y of the zero line.
 * slot:   a block's column; entrance: what lies before the first, edge: behind the last.
 * shallow: there is room for one line of text over the highest stack, not for two.
 */
export function mapLayout(table, { token, depth }, { width, height, rem, size, entrance }) {
  const on = table.word(true, token);
  const off = table.word(false, token);
  const stacks = on.bars.slice(0, depth).map((length) => on.x0_length + length);
  const top = Math.max(on.x0_length, ...stacks, ...off.bars.slice(0, depth)) || 1;
  const edge = MAP_EDGE * rem;
  const slot = (width - entrance - edge) / depth;
  const base = height - 2;
  const bar = Math.min(MAP_BAR * slot, MAP_WIDEST_BAR * rem);
  const line = 1.2 * size;
  const shallow = height < MAP_SHALLOW * size;
  const unit = (base - (shallow ? 1 : 2) * line - 0.5 * rem) / top; // the lines of text fit above the highest stack
  const centre = (block) => entrance + (block - 0.5) * slot;
  return { width, height, rem, entrance, edge, slot, base, bar, line, unit, top, depth, centre, shallow };
}

/** Where a step stands on the way from the entrance to the right-hand edge. */
export function markerAt(at, layout) {
  const stop = (block) => (block === 0 ? layout.entrance / 2 : layout.centre(block));
  if (at.part === "input") return stop(0);
  if (at.part === "sum") return layout.width - layout.edge;
  const parts = ["norm", "write", "add"];
  const share = (1 + parts.indexOf(at.part) + (at.sublayer === "ffn" ? 3 : 0)) / 6;
  return stop(at.block - 1) * (1 - share) + stop(at.block) * share;
}

/** The bars in px: standing on the ribbon (off = 0), on the zero line (off = 1), between. */
export function mapBars(table, token, layout, off) {
  const on = table.word(true, token);
  const latest = table.word(false, token);
  const between = (a, b) => a * (1 - off) + b * off;
  return Array.from({ length: layout.depth }, (_, i) => {
    const foot = between(on.x0_length, 0);
    const length = between(on.bars[i], latest.bars[i]);
    const left = Math.round(layout.centre(i + 1) - layout.bar / 2); // whole px are sharp
    return {
      left,
      right: left + Math.round(layout.bar),
      bottom: layout.base - layout.unit * foot,
      top: layout.base - layout.unit * (foot + length),
    };
  });
}

/** x₀'s ribbon: to an arrow's tip at the right-hand edge, or cut off at the entrance. */
export function mapRibbon(x0, layout, off) {
  const { width, entrance, edge, base, unit } = layout;
  const tip = Math.min(edge, 0.6 * layout.rem);
  const end = (width - 2 - tip) * (1 - off) + 0.75 * entrance * off;
  const xs = [1]; // Bokeh never clears the first half px of its canvas
  const ys = [base];
  for (let i = 0; i <= MAP_NOTCHES; i++) {
    const share = i / MAP_NOTCHES;
    const arrow = tip * (1 - Math.abs(2 * share - 1));
    const cut = (i % 2) * 0.4 * layout.rem;
    xs.push(end + arrow * (1 - off) + cut * off);
    ys.push(base - share * x0 * unit);
  }
  return { xs: [...xs, 1], ys: [...ys, base - x0 * unit] };
}

/** What is written on the map: x₀ at the entrance, a number on each bar, a word on that of the last block done. */
export function mapTexts({ ribbon, word, lengths, done, x0, off, colours }, bars, layout, measure) {
  const entry = { x: 1, y: layout.base - layout.unit * x0, align: "left", style: "bold" };
  const texts = [{ text: ribbon, ...entry, color: colours["--slate"] }];
  if (word === null) return texts;
  const numbers = lengths.map((length) => number(length));
  const room = numbers.every((text) => measure(text) + 6 <= layout.slot);
  const heights = bars.map(({ top }) => (room ? top - layout.line : top));
  const colour = (block) => colours[block > done ? "--muted" : off ? "--red" : "--green"];
  const put = (block, text, style, x, y) => texts.push({ text, style, color: colour(block), align: "center", x, y });
  // a text over a bar stays inside the frame and clear of all that it reaches over
  const over = (block, text, style, y) => {
    const half = measure(text, style) / 2;
    const middle = Math.max(half + 1, Math.min(layout.width - 1 - half, layout.centre(block)));
    const meets = (one) => one !== block && Math.abs(layout.centre(one) - middle) < half + 3 + layout.slot / 2;
    const highest = Math.min(y, ...heights.filter((_, i) => meets(i + 1)));
    put(block, text, style, middle, highest);
    return highest - layout.line;
  };
  const here = done || layout.depth; // without room for all numbers, one
  if (room) numbers.forEach((text, i) => i + 1 !== here && put(i + 1, text, "normal", layout.centre(i + 1), bars[i].top));
  const above = over(here, numbers[here - 1], "normal", bars[here - 1].top);
  if (done > 0 && !layout.shallow) over(here, word, "bold", Math.max(layout.line, above));
  return texts;
}

/** The figure's models by name, and the three ways to change what they show. */
export class MapFigure {
  constructor(plot) {
    this.plot = plot;
    const named = (name) => this.plot.renderers.find((renderer) => renderer.name === name);
    this.ribbon = named("ribbon");
    this.base = named("base");
    this.bars = { soFar: named("so_far"), latest: named("latest") };
    this.texts = named("texts");
  }

  /** The scales: blocks along x (block 1 at 1), lengths along y. */
  scale(layout) {
    const { width, height, entrance, slot, base, unit } = layout;
    const x = (px) => (px - entrance) / slot + 0.5;
    this.x = (values) => values.map(x);
    this.y = (values) => values.map((px) => (base - px) / unit);
    this.plot.x_range.setv({ start: x(0), end: x(width) });
    this.plot.y_range.setv({ start: (base - height) / unit, end: base / unit });
    this.base.data_source.data = { x: [x(1), x(width - 2)], y: [0, 0] };
  }

  /** Between the two settings red bars appear on the green ones, at the same place; blocks that have not ended are pale. */
  draw(bars, ribbon, off, done) {
    for (const [shown, seen, alpha] of [["soFar", off < 1 ? bars : [], 1], ["latest", off > 0 ? bars : [], off]]) {
      const column = (key) => seen.map((bar) => bar[key]);
      this.bars[shown].data_source.data = {
        left: this.x(column("left")),
        right: this.x(column("right")),
        bottom: this.y(column("bottom")),
        top: this.y(column("top")),
        alpha: seen.map((_, i) => (i < done ? alpha : MAP_TO_COME * alpha)),
        outline: seen.map(() => alpha),
      };
    }
    this.ribbon.data_source.data = { x: this.x(ribbon.xs), y: this.y(ribbon.ys) };
  }

  write(texts) {
    const column = (key) => texts.map((text) => text[key]);
    const names = ["text", "color", "align", "style"];
    const data = Object.fromEntries(names.map((name) => [name, column(name)]));
    this.texts.data_source.data = { ...data, x: this.x(column("x")), y: this.y(column("y")) };
  }

  /** The theme's colours and the page's type. */
  dress({ colours, font, size, rem }) {
    const paint = (name) => ({ fill_color: colours[name], line_color: colours[name] });
    const hatch = { hatch_color: colours["--paper"], hatch_scale: 0.4 * rem, hatch_weight: 1 };
    this.base.glyph.setv({ line_color: colours["--line"] });
    this.ribbon.glyph.setv(paint("--slate"));
    this.bars.soFar.glyph.setv({ ...paint("--green"), ...hatch });
    this.bars.latest.glyph.setv({ ...paint("--red"), ...hatch });
    this.texts.glyph.setv({ text_font: font, text_font_size: `${size}px` });
  }
}

/** The theme's colours and the page's type, as the browser resolves them for an element. */
export function mapDress(probe) {
  const style = getComputedStyle(probe);
  const size = parseFloat(style.fontSize);
  const resolve = (name) => {
    probe.style.color = `var(${name})`;
    return [name, style.color];
  };
  return { colours: Object.fromEntries(MAP_COLOURS.map(resolve)), font: style.fontFamily, size, rem: parseFloat(getComputedStyle(document.documentElement).fontSize) };
}
