// The table that Python computed: lookups only, no arithmetic of the model.

/** A number as the lesson writes it: a real minus sign, and no minus zero. */
export function number(value, decimals = 1) {
  if (!Number.isFinite(value)) return String(value).replace("-", "−");
  const text = value.toFixed(decimals);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** A share of one in per cent, without decimals; more than nothing is not 0 %, less than all not 100 %. */
export function percent(value) {
  if (value > 0 && value < 0.005) return "< 0.5 %";
  if (value > 0.995 && value < 1) return "> 99.5 %";
  return `${number(100 * value, 0)} %`;
}

export const setting = (residual) => (residual ? "on" : "off");

export class Table {
  constructor(model) {
    this.model = model;
    this.tokens = model.tokens;
    this.maxDepth = model.max_depth;
    this.entries = {};
    for (const [name, run] of Object.entries(model.runs)) {
      this.entries[name] = new Map(run.entries.map((entry) => [entry.name, entry]));
    }
  }

  /** The entry of one value: name, axes, value, formula, kind, pattern, inputs, source. */
  entry(residual, name) {
    return this.entries[setting(residual)].get(name) ?? null;
  }

  /** An entry's row for one word: a list of numbers, or one number for a scale. */
  row(residual, name, token) {
    return this.entry(residual, name).value[token];
  }

  /** What the page knows of a word over all blocks: lengths, bars, sums. */
  word(residual, token) {
    return this.model.runs[setting(residual)].words[token];
  }

  /** One cell of an entry or a weight ("weights.W_Q"). */
  cell(residual, name, index) {
    const holder = name.startsWith("weights.") ? this.model.weights[name] : this.entry(residual, name);
    return index.reduce((part, i) => part[i], holder.value);
  }

  /** The labels along an axis, in a language: words for positions, names for the rest. */
  labels(axis, language) {
    const names = this.model.names[axis];
    return names ? names.map((name) => name[language]) : this.tokens;
  }

  /** The axes of an entry or a weight. */
  axes(residual, name) {
    return name.startsWith("weights.") ? this.model.weights[name].axes : this.entry(residual, name).axes;
  }

  /**
   * The cells that one number was made from, in groups, read off the index pattern:
   * in "pos i, i j, j -> pos j" the letters behind the arrow are fixed, the others run.
   */
  origins(residual, name, index) {
    const entry = this.entry(residual, name);
    if (!entry || entry.inputs.length === 0) return [];
    const [sources, target] = entry.pattern.split(" -> ");
    const fixed = Object.fromEntries(target.split(" ").map((letter, i) => [letter, index[i]]));
    const letters = sources.split(", ").map((source) => source.split(" "));
    const inputs = entry.inputs.map((input, i) => ({ input, letters: letters[i] }));
    const running = this.runningLetters(residual, inputs, fixed);
    const term = ({ input, letters }, place) => {
      const at = letters.map((letter) => place[letter]);
      return { name: input, index: at, value: this.cell(residual, input, at) };
    };
    const runs = (pair) => pair.letters.some((letter) => letter in running);
    const groups = Object.keys(running).length
      ? places(running).map((place) => inputs.filter(runs).map((pair) => term(pair, { ...fixed, ...place })))
      : [];
    return [...groups, ...inputs.filter((pair) => !runs(pair)).map((pair) => [term(pair, fixed)])];
  }

  runningLetters(residual, inputs, fixed) {
    const running = {};
    for (const { input, letters } of inputs) {
      const value = input.startsWith("weights.") ? this.model.weights[input].value : this.entry(residual, input).value;
      let size = value;
      for (const letter of letters) {
        if (!(letter in fixed)) running[letter] = size.length;
        size = size[0];
      }
    }
    return running;
  }
}

function places(running) {
  return Object.entries(running).reduce(
    (all, [letter, size]) =>
      all.flatMap((place) => Array.from({ length: size }, (_, i) => ({ ...place, [letter]: i }))),
    [{}],
  );
}
