// The pictures of an experiment: each a figure with its title and its numbers as a table.

import { drawBars } from "./chart_bars.js";
import { drawLines } from "./chart_lines.js";
import { numbersTable, valuesTable } from "./chart_tables.js";
import { h } from "./dom.js";

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
