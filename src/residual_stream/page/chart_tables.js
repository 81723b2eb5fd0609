// Pictures that are tables: vectors with a small bar behind each number, plain numbers,
// and the numbers of a chart for those who can't see it.

import { TONES } from "./chart_parts.js";
import { h } from "./dom.js";
import { number } from "./table.js";

/** Rows of numbers, the row's name above them; with bars if they are vectors. */
export function valuesTable(picture, words) {
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
    h("td", {}, h("span", { class: "charts-number" }, number(value, picture.decimals)), bars ? valueBar(value, picture, row.tone) : null),
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

/** All numbers of a chart, a line a depth or group. */
export function numbersTable(picture, words) {
  const language = words.language;
  const byDepth = picture.kind === "lines";
  const corner = byDepth ? words.say("experiments_block") : words.say("experiments_what");
  const heads = picture.rows.map((row) => h("th", { scope: "col" }, row.label[language]));
  const lines = picture.columns.map((column, i) =>
    h("tr", {}, h("th", { scope: "row" }, byDepth ? String(column) : column[language]), ...picture.rows.map((row) => h("td", {}, number(row.values[i], 2)))),
  );
  return h(
    "div",
    { class: "charts-scroll", tabindex: 0, role: "region", "aria-label": picture.title[language] },
    h("table", { class: "charts-numbers" }, h("caption", {}, picture.y[language]), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, corner), ...heads)), h("tbody", {}, ...lines)),
  );
}
