// Everything that follows the lab's newest answer, in the order in which it is read.

import { h } from "./dom.js";
import { createLabBlock } from "./lab_block.js";
import { createLabPanels, labRange } from "./lab_lines.js";
import { createLabMap } from "./lab_map.js";
import { createLabStates, createLabSum } from "./lab_sum.js";
import { labStateName } from "./lab_table.js";
import { number, percent } from "./table.js";

/** {element, update(answer)}; onBlock: (block) when a reader wants to look into another. */
export function createLabViews(context, table, onBlock) {
  const { words } = context;
  const map = createLabMap(context, onBlock);
  const lines = createLabPanels();
  const states = createLabStates(context, table);
  const looks = createLabPanels();
  const block = createLabBlock(context, table, onBlock);
  const sum = createLabSum(context, table);
  const parts = [map, lines, states, block, looks, sum];
  const element = h("div", { class: "lab-views", hidden: true }, ...parts.map((part) => part.element));
  element.lessonTable = table;

  function update(answer) {
    element.hidden = false;
    for (const view of [map, states, block, sum]) view.update(answer);
    lines.update(labStateLines(words, table, answer));
    looks.element.hidden = answer.looks === null || answer.settings.depth === 1;
    if (!looks.element.hidden) looks.update(labLookLines(words, answer));
    context.prepareNumbers();
  }
  return { element, update };
}

/** The length and each axis of all words by depth. */
function labStateLines(words, table, { settings, states, lengths }) {
  const { words: list, follow, depth } = settings;
  const axes = table.labels("d_model", words.language);
  const by = (pick) => list.map((_, word) => states.map((_state, k) => pick(k, word)));
  const length = { title: words.say("map_length"), lines: by((k, word) => lengths[k][word]), bold: follow, cells: null };
  const panels = axes.map((title, axis) => {
    const ends = [0, depth].map((k) => [labStateName(k), [follow, axis]]);
    return { title, lines: by((k, word) => states[k][word][axis]), bold: follow, cells: { table, ends } };
  });
  const all = [length, ...panels];
  const range = labRange(all.flatMap(({ lines }) => lines.flat()));
  const said = { token: list[follow], low: number(range[0]), high: number(range[1]) };
  const text = words.say(list.length > 1 ? "lab_lines_note" : "lab_lines_alone", said);
  return { title: words.say("lab_lines", said), text, list: all, range };
}

/** The share with which the followed word looks at each word, block by block. */
function labLookLines(words, { settings, looks }) {
  const { words: list, follow } = settings;
  const panels = list.map((title, key) => ({ title, lines: [looks.map((row) => row[key])], bold: 0, cells: null }));
  return { title: words.say("looks_where", { token: list[follow] }), text: words.say("lab_looks_note"), list: panels, range: [0, 1], form: percent };
}
