// The pictures of an experiment: each a figure with its title and its numbers as a table.

import { h, s } from "../elements/dom.js";
import { number } from "../store/table.js";
import { legend, markAt, pictureForm, roundRange, scaleBetween, spread, textWidth, tickForm, TONES } from "./parts.js";

// Pictures that are tables: vectors with a small bar behind each number, plain numbers,
// and the numbers of a chart for those who can't see it.

/** Rows of numbers, the row's name above them; with bars if they are vectors. */
function valuesTable(picture, words) {
  const language = words.language;
  const bars = picture.kind === "vectors";
  const heads = picture.columns.map((column) => h("th", { scope: "col" }, column[language]));
  const bodies = picture.rows.map((row) => valuesBody(row, picture, language, bars));
  return h(
    "table",
    { class: "charts-values" },
    h("caption", { class: "visually-hidden" }, `${picture.title[language]}: ${picture.y[language]}`),
    h("thead", {}, h("tr", {}, ...heads)),
    ...bodies,
  );
}

function valuesBody(row, picture, language, bars) {
  const key = bars ? h("span", { class: `charts-key is-${row.tone}`, "aria-hidden": "true" }) : null;
  const name = h("th", { scope: "rowgroup", colspan: picture.columns.length }, key, row.label[language]);
  const cells = row.values.map((value) =>
    h("td", {}, h("span", { class: "charts-number" }, pictureForm(picture)(value)), bars ? valueBar(value, picture, row.tone) : null),
  );
  return h("tbody", {}, h("tr", {}, name), h("tr", {}, ...cells));
}

/** A bar on its sign's side of zero; a sliver at least where the number is not shown as zero. */
function valueBar(value, { range: [low, high], decimals }, tone) {
  const size = high - low || 1;
  const zero = -low / size;
  const percentOf = (share) => `${(100 * share).toFixed(2)}%`;
  const foot = value < 0 ? `right: ${percentOf(1 - zero)}` : `left: ${percentOf(zero)}`;
  const empty = /^[−0.]*$/.test(number(value, decimals)) ? " is-empty" : "";
  const bar = h("span", { class: `charts-bar${empty}`, style: `${foot}; width: ${percentOf(Math.abs(value) / size)}; background: ${TONES[tone]}` });
  const line = h("span", { class: "charts-bar-zero", style: `left: ${percentOf(zero)}` });
  return h("span", { class: "charts-track", "aria-hidden": "true" }, bar, line);
}

/** All numbers of a chart, a line a depth or group, with two decimals at least. */
function numbersTable(picture, words) {
  const language = words.language;
  const shown = pictureForm({ ...picture, decimals: Math.max(2, picture.decimals) });
  const byDepth = picture.kind === "lines";
  const corner = byDepth ? words.say("experiments_block") : words.say("experiments_what");
  const heads = picture.rows.map((row) => h("th", { scope: "col" }, row.label[language]));
  const lines = picture.columns.map((column, i) =>
    h("tr", {}, h("th", { scope: "row" }, byDepth ? String(column) : column[language]), ...picture.rows.map((row) => h("td", {}, shown(row.values[i])))),
  );
  return h(
    "div",
    { class: "charts-scroll", tabindex: 0, role: "region", "aria-label": picture.title[language] },
    h("table", { class: "charts-numbers" }, h("caption", {}, picture.y[language]), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, corner), ...heads)), h("tbody", {}, ...lines)),
  );
}

// Grouped bars: a group a column, a bar a row, each with its number.

/** The elements of a bar chart, `width` pixels wide: a legend and the SVG. `name` is the picture's alone in its page. */
function drawBars(picture, words, { em, width, name }) {
  const language = words.language;
  const { range, ticks } = roundRange(picture.range, { form: tickForm(picture) });
  const frame = { left: em * 2.4, right: width, top: em * 2.6, bottom: em * 12, height: em * 14 };
  const y = scaleBetween(range, [frame.bottom, frame.top]);
  const patterns = picture.rows.map((row, place) => hatchOf(row, `${name}-bar-${place}`, place));
  const group = (frame.right - frame.left) / picture.columns.length;
  const bar = Math.min(em * 3, (group * 0.82) / picture.rows.length);
  const bars = picture.columns.flatMap((_, i) => {
    const first = frame.left + group * (i + 0.5) - (bar * picture.rows.length) / 2;
    return picture.rows.map((row, place) => ({ row, place, value: row.values[i], left: first + place * bar }));
  });
  const svg = s(
    "svg",
    { class: "charts-svg", width, height: frame.height, viewBox: `0 0 ${width} ${frame.height}`, role: "img", "aria-label": picture.title[language] },
    s("defs", {}, ...patterns.map((pattern) => pattern.element)),
    s("text", { class: "charts-axis", x: 0, y: em * 0.9 }, picture.y[language]),
    ...ticks.flatMap(({ value, text }) => [
      s("line", { class: value === 0 ? "charts-zero" : "charts-grid", x1: frame.left, x2: frame.right, y1: y(value), y2: y(value) }),
      s("text", { class: "charts-tick", x: frame.left - em * 0.4, y: y(value), "text-anchor": "end", "dominant-baseline": "central" }, text),
    ]),
    ...picture.columns.map((column, i) =>
      s("text", { class: "charts-tick", x: frame.left + group * (i + 0.5), y: frame.bottom + em * 1.4, "text-anchor": "middle" }, column[language]),
    ),
    ...bars.map(({ row, value, left, place }) => barRect(row, value, left, bar, y, patterns[place].fill)),
    // after all bars, so that none covers a number
    ...bars.map(({ value, left }) => s("text", { class: "charts-value", x: left + bar / 2, y: y(Math.max(value, 0)) - em * 0.35, "text-anchor": "middle" }, pictureForm(picture)(value))),
  );
  return [legend(picture.rows, language, (row, place) => barSample(row, hatchOf(row, `${name}-key-${place}`, place))), svg];
}

function barRect(row, value, left, width, y, fill) {
  const [from, to] = [y(Math.max(value, 0)), y(Math.min(value, 0))];
  return s("rect", { x: left + width * 0.06, y: from, width: width * 0.88, height: Math.max(to - from, 1), style: `fill: ${fill}; stroke: ${TONES[row.tone]}` });
}

/** Solid for the first row, striped for the others: told apart without their colour. */
function hatchOf(row, id, place) {
  if (place === 0) return { element: null, fill: TONES[row.tone] };
  const element = s(
    "pattern",
    { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("rect", { width: 6, height: 6, style: "fill: var(--paper)" }),
    s("rect", { width: 2.2, height: 6, style: `fill: ${TONES[row.tone]}` }),
  );
  return { element, fill: `url(#${id})` };
}

function barSample(row, { element, fill }) {
  return s(
    "svg",
    { class: "charts-sample", width: 18, height: 14, viewBox: "0 0 18 14" },
    s("defs", {}, element),
    s("rect", { x: 1, y: 1, width: 16, height: 12, style: `fill: ${fill}; stroke: ${TONES[row.tone]}` }),
  );
}

// Lines by depth: one a row, named at their ends where there is room.

const NARROW = 27;
const MANY_POINTS = 13;

/** The elements of a line chart, `size.width` pixels wide: perhaps a legend, and the SVG. */
function drawLines(picture, words, size) {
  const { em } = size;
  const language = words.language;
  const named = size.width >= NARROW * em;
  const { range, ticks } = roundRange(picture.range, { form: tickForm(picture) });
  const ends = picture.rows.map((row) => {
    const value = pictureForm(picture)(row.values.at(-1));
    return named ? `${row.label[language]} ${value}` : value;
  });
  const frame = {
    left: em * (1.1 + Math.max(...ticks.map((tick) => textWidth(tick.text))) * 0.9),
    right: size.width - em * 1.1 - Math.max(...ends.map(size.nameWidth)),
    top: em * 1.9,
    bottom: em * (named ? 14 : 13),
    height: em * (named ? 17.2 : 16.2),
  };
  const columns = picture.columns;
  const x = scaleBetween([columns[0], columns.at(-1)], [frame.left, frame.right]);
  const y = scaleBetween(range, [frame.bottom, frame.top]);
  const svg = s(
    "svg",
    { class: "charts-svg", width: size.width, height: frame.height, viewBox: `0 0 ${size.width} ${frame.height}`, role: "img", "aria-label": picture.title[language] },
    ...lineAxes(picture, words, { frame, em, x, y, ticks, width: size.width }),
    ...picture.rows.map((row, place) => lineOf(row, place, columns, { x, y, em })),
    ...lineNames(picture, ends, { frame, em, y }),
  );
  return named || picture.rows.length === 1 ? [svg] : [legend(picture.rows, language, lineSample), svg];
}

function lineAxes(picture, words, { frame, em, x, y, ticks, width }) {
  const grid = ticks.flatMap(({ value, text }) => [
    s("line", { class: value === 0 ? "charts-zero" : "charts-grid", x1: frame.left, x2: frame.right, y1: y(value), y2: y(value) }),
    s("text", { class: "charts-tick", x: frame.left - em * 0.6, y: y(value), "text-anchor": "end", "dominant-baseline": "central" }, text),
  ]);
  const { columns } = picture;
  const every = columns.length > MANY_POINTS ? 4 : (frame.right - frame.left) / columns.length < em * 1.5 ? 2 : 1;
  const numbers = columns
    .filter((k) => k % every === 0 || k === columns[0])
    .map((k) => s("text", { class: "charts-tick", x: x(k), y: frame.bottom + em * 1.2, "text-anchor": "middle" }, String(k)));
  const below = words.say(columns[0] === 0 ? "experiments_passed" : "experiments_block");
  // centred under the lines, but never beyond the picture's edge
  const half = (textWidth(below) * em * 0.88) / 2;
  const middle = Math.max(half, Math.min((frame.left + frame.right) / 2, width - half));
  return [
    ...grid,
    ...numbers,
    s("text", { class: "charts-axis", x: 0, y: em * 0.9 }, picture.y[words.language]),
    s("text", { class: "charts-axis", x: middle, y: frame.bottom + em * 2.7, "text-anchor": "middle" }, below),
  ];
}

function lineOf(row, place, columns, { x, y, em }) {
  const points = row.values.map((value, i) => [x(columns[i]), y(value)]);
  const path = points.map(([left, top], i) => `${i ? "L" : "M"}${left.toFixed(1)} ${top.toFixed(1)}`).join("");
  const marked = columns.length > MANY_POINTS ? points.slice(-1) : points;
  return s(
    "g",
    {},
    s("path", { class: row.dashed ? "charts-line is-dashed" : "charts-line", d: path, style: `stroke: ${TONES[row.tone]}` }),
    ...marked.map(([left, top]) => markAt(row, place, left, top, em * 0.22)),
  );
}

function lineNames(picture, ends, { frame, em, y }) {
  const places = picture.rows.map((row) => y(row.values.at(-1)));
  const apart = spread(places, em * 1.15, [frame.top, frame.bottom]);
  return picture.rows.flatMap((row, i) => [
    s("line", { class: "charts-leader", x1: frame.right + em * 0.35, y1: places[i], x2: frame.right + em * 0.85, y2: apart[i] }),
    s("text", { class: "charts-name", x: frame.right + em, y: apart[i], "dominant-baseline": "central", style: `fill: ${TONES[row.tone]}` }, ends[i]),
  ]);
}

function lineSample(row, place) {
  return s(
    "svg",
    { class: "charts-sample", width: 34, height: 14, viewBox: "0 0 34 14" },
    s("path", { class: row.dashed ? "charts-line is-dashed" : "charts-line", d: "M1 7H33", style: `stroke: ${TONES[row.tone]}` }),
    markAt(row, place, 17, 7, 3.5),
  );
}

const DRAWN = { lines: drawLines, bars: drawBars };

/** A figure for a picture that Python worked out: {kind, title, y, columns, rows, range}; `name` is its alone in the page. */
export function createPicture(picture, words, name) {
  const title = h("figcaption", { class: "charts-title" }, picture.title[words.language]);
  if (!(picture.kind in DRAWN)) {
    return h("figure", { class: `charts charts-${picture.kind}` }, title, valuesTable(picture, words));
  }
  const canvas = h("div", { class: "charts-canvas" });
  const details = h("details", { class: "charts-details" }, h("summary", {}, words.say("experiments_numbers")), numbersTable(picture, words));
  const element = h("figure", { class: `charts charts-${picture.kind}` }, title, canvas, details);
  redrawOnResize(canvas, (size) => DRAWN[picture.kind](picture, words, { ...size, name }));
  return element;
}

/** How wide a text is, in px, in the type that lines are named in: a projector's is larger. */
function nameMeasure(canvas) {
  const sample = h("span", { class: "charts-name" });
  canvas.append(sample);
  const pen = document.createElement("canvas").getContext("2d");
  const { fontWeight, fontSize, fontFamily } = getComputedStyle(sample);
  pen.font = `${fontWeight} ${fontSize} ${fontFamily}`;
  return (text) => pen.measureText(text).width;
}

/** Draw in the width there is, in units of the text's size, and again when they change. */
function redrawOnResize(canvas, draw) {
  let last = "";
  const observer = new ResizeObserver(() => {
    if (!canvas.isConnected) return;
    const em = parseFloat(getComputedStyle(canvas).fontSize);
    const width = Math.floor(canvas.clientWidth);
    if (width === 0 || last === `${width} ${em}`) return;
    last = `${width} ${em}`;
    canvas.replaceChildren(...draw({ width, em, nameWidth: nameMeasure(canvas) }));
  });
  // the first call comes before the first paint
  observer.observe(canvas);
}
