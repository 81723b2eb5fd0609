// Grouped bars: a group a column, a bar a row, each with its number.

import { legend, roundRange, scaleBetween, TONES } from "./chart_parts.js";
import { s } from "./dom.js";
import { number } from "./table.js";

/** The elements of a bar chart, `width` pixels wide: a legend and the SVG. `name` is the picture's alone in its page. */
export function drawBars(picture, words, { em, width, name }) {
  const language = words.language;
  const { range, ticks } = roundRange(picture.range);
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
    ...bars.map(({ value, left }) => s("text", { class: "charts-value", x: left + bar / 2, y: y(Math.max(value, 0)) - em * 0.35, "text-anchor": "middle" }, number(value, picture.decimals))),
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
