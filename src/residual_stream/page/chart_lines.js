// Lines by depth: one a row, named at their ends where there is room.

import { legend, markAt, roundRange, scaleBetween, spread, textWidth, TONES } from "./chart_parts.js";
import { s } from "./dom.js";
import { number } from "./table.js";

const NARROW = 27;
const MANY_POINTS = 13;

/** The elements of a line chart, `size.width` pixels wide: perhaps a legend, and the SVG. */
export function drawLines(picture, words, size) {
  const { em } = size;
  const language = words.language;
  const named = size.width >= NARROW * em;
  const { range, ticks } = roundRange(picture.range);
  const ends = picture.rows.map((row) => {
    const value = number(row.values.at(-1), picture.decimals);
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
