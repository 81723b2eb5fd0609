// What the charts share: scales, ticks, the width of a text, marks and legends.

import { h, s } from "../elements/dom.js";
import { number, percent } from "../store/table.js";

export const TONES = { x0: "var(--slate)", on: "var(--green)", off: "var(--red)", ink: "var(--ink)" };

/** How a picture writes its numbers: shares in per cent, all others with the decimals that it asks for. */
export const pictureForm = (picture) => (value) => (picture.percent ? percent(value) : number(value, picture.decimals));

/** How it writes the round numbers of its axis. */
export const tickForm = (picture) => (picture.percent ? (value, decimals) => `${number(100 * value, Math.max(0, decimals - 2))} %` : number);

/** From a value to a place, both ends given. */
export function scaleBetween([low, high], [from, to]) {
  const size = high - low || 1;
  return (value) => from + ((value - low) / size) * (to - from);
}

/** A range widened to round numbers, unless one is near, and those as {value, text}. */
export function roundRange([low, high], { wanted = 5, form = number } = {}) {
  const rough = (high - low || 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough * 0.999);
  const first = Math.floor(low / step + 0.25);
  const last = Math.max(first + 1, Math.ceil(high / step - 0.25));
  const decimals = Math.max(0, -Math.floor(Math.log10(step)));
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => {
    const value = (first + i) * step;
    return { value, text: form(value, decimals) };
  });
  return { range: [Math.min(low, first * step), Math.max(high, last * step)], ticks };
}

/** About how wide a text is, in units of its own size. */
export const textWidth = (text) => [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) > 0x2e80 ? 1 : 0.54), 0);

/** Places pushed apart so that labels of one height do not overlap. */
export function spread(places, gap, [top, bottom]) {
  const order = places.map((_, i) => i).sort((a, b) => places[a] - places[b]);
  const spreadOut = [...places];
  for (let i = 1; i < order.length; i++) {
    spreadOut[order[i]] = Math.max(spreadOut[order[i]], spreadOut[order[i - 1]] + gap);
  }
  const over = Math.max(0, spreadOut[order.at(-1)] - bottom);
  if (over > 0) spreadOut[order.at(-1)] = bottom;
  for (let i = order.length - 2; i >= 0; i--) {
    spreadOut[order[i]] = Math.max(top, Math.min(spreadOut[order[i]], spreadOut[order[i + 1]] - gap));
  }
  return spreadOut;
}

const MARKS = [
  (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  (r) => `M${-r} ${-r}H${r}V${r}H${-r}Z`,
  (r) => `M0 ${-1.35 * r}L${1.35 * r} 0L0 ${1.35 * r}L${-1.35 * r} 0Z`,
  (r) => `M0 ${-1.3 * r}L${1.25 * r} ${r}H${-1.25 * r}Z`,
  (r) => `M0 ${1.3 * r}L${1.25 * r} ${-r}H${-1.25 * r}Z`,
];

/** A mark whose shape tells the rows of a picture apart without their colour. */
export function markAt(row, place, x, y, radius) {
  const hollow = row.dashed;
  return s("path", {
    d: MARKS[place % MARKS.length](radius),
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
    class: "charts-mark",
    style: `fill: ${hollow ? "var(--paper)" : TONES[row.tone]}; stroke: ${TONES[row.tone]}`,
  });
}

/** Names of the rows with their looks, above a picture. */
export function legend(rows, language, sample) {
  const item = (row, place) => h("li", {}, sample(row, place), h("span", {}, row.label[language]));
  return h("ul", { class: "charts-legend", "aria-hidden": "true" }, ...rows.map(item));
}
