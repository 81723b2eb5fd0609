// The lab's numbers as a table: the same lookups as the lesson's, on the newest answer.

import { Table } from "../store/table.js";

/** A Table whose run is replaced by each answer; there is one run, "on" and "off" are it. */
export class LabTable extends Table {
  constructor({ model }) {
    super({ ...model, runs: { on: { entries: [], words: [] } } });
  }

  /** Take over an answer of Python's `lab.compute`. */
  take(answer, describe) {
    this.answer = answer;
    this.tokens = answer.settings.words;
    this.maxDepth = answer.settings.depth;
    this.model = { ...this.model, weights: answer.weights };
    const known = new Map(answer.entries.map((entry) => [entry.name, entry]));
    this.entries = { on: known, off: known };
    this.describe = describe;
    this.addStates(known);
    this.addDeltas(known);
  }

  /** States and corrections of the blocks that are not looked into: values without origin. */
  addStates(known) {
    const axes = ["pos", "d_model"];
    this.answer.states.forEach((value, k) => this.addOutside(known, labStateName(k), axes, value, k));
  }

  addDeltas(known) {
    const { corrections, deltas } = this.answer.word;
    const { follow } = this.answer.settings;
    corrections.forEach((name, i) => {
      const block = Number(name.split(".")[1]) + 1;
      this.addOutside(known, name, ["pos", "d_model"], { [follow]: deltas[i] }, block);
    });
  }

  addOutside(known, name, axes, value, block) {
    if (known.has(name)) return;
    const table = this;
    known.set(name, { name, axes, value, kind: "given", pattern: "", inputs: [], get formula() { return table.describe(block); } });
  }
}

/** The entry of the stream after k blocks; before the first, x₀. */
export const labStateName = (k) => (k === 0 ? "blocks.0.resid_pre" : `blocks.${k - 1}.resid_post`);
