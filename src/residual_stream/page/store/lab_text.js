// The lab's settings as one short text for the address bar, and back. What is read is
// matched against an ASCII pattern and the lesson's own words; nothing else gets through.
//
//   words*by*river*bank_depth*12_residual*off_x3*0.3*0.3*0*1_seed*7*0.1_block*2

export const LAB_LONGEST = 600;
const LAB_PATTERN = /^[A-Za-z0-9*._-]+$/;
const LAB_NUMBER = /^-?[0-9]{1,4}(\.[0-9]{1,4})?$/;
export const LAB_LIMITS = { words: 8, depth: 96, vector: 1000, seed: 9999, amount: 1 };
const LAB_CHOICES = { norm: ["rms", "layer", "none"], weights: ["lesson", "cancelling"] };
const LAB_SWITCHES = ["residual", "attention", "ffn", "positions"];

/** The lesson's own model, as Python's `default_settings` has it. */
export function labDefault({ tokens, model }) {
  const words = tokens.slice(0, LAB_LIMITS.words);
  return {
    words,
    vectors: words.map(() => null),
    depth: 3,
    residual: true,
    norm: "rms",
    attention: true,
    ffn: true,
    positions: true,
    weights: "lesson",
    varied: null,
    follow: Math.min(model.focus, words.length - 1),
    block: 1,
  };
}

/** Whether two settings are the same model and view. */
export const labSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The settings as a text; "" for the lesson's own model. */
export function writeLab(settings, table) {
  const base = labDefault(table);
  const words = settings.words.map((word) => labWordText(word, table));
  const parts = [];
  if (settings.words.join() !== base.words.join()) parts.push(["words", ...words]);
  for (const name of LAB_SWITCHES) if (!settings[name]) parts.push([name, "off"]);
  for (const name of Object.keys(LAB_CHOICES)) if (settings[name] !== base[name]) parts.push([name, settings[name]]);
  if (settings.depth !== base.depth) parts.push(["depth", settings.depth]);
  if (settings.varied) parts.push(["seed", settings.varied.seed, settings.varied.amount]);
  settings.vectors.forEach((vector, at) => vector && parts.push([`x${at + 1}`, ...vector]));
  const followed = Math.min(base.follow, settings.words.length - 1);
  if (settings.follow !== followed) parts.push(["follow", settings.follow + 1]);
  if (settings.block !== base.block) parts.push(["block", settings.block]);
  return parts.map((part) => part.join("*")).join("_");
}

/**
 * The settings that a text stands for; undefined if it stands for none. What is taken is what
 * Python's `lab_text` takes.
 *
 * weights: the names of the weights that the lesson's lab has
 */
export function readLab(text, table, weights) {
  if (text === "") return labDefault(table);
  if (text.length > LAB_LONGEST || !LAB_PATTERN.test(text)) return undefined;
  const parts = new Map(text.split("_").map((part) => part.split("*")).map(([name, ...values]) => [name, values]));
  if (parts.size !== text.split("_").length) return undefined;
  const settings = labDefault(table);
  try {
    labReadWords(parts, settings, table);
    for (const [name, values] of parts) labReadPart(name, values, settings, table);
    labNeed(settings.block <= settings.depth && settings.follow < settings.words.length && weights.includes(settings.weights));
  } catch (error) {
    if (error instanceof LabFault) return undefined;
    throw error;
  }
  return settings;
}

class LabFault extends Error {}

function labNeed(good) {
  if (!good) throw new LabFault("lab");
}

/** The words come first: vectors and the followed word are counted along them. */
function labReadWords(parts, settings, table) {
  const values = parts.get("words");
  if (values === undefined) return;
  labNeed(values.length >= 1 && values.length <= LAB_LIMITS.words);
  settings.words = values.map((text) => labWord(text, table));
  settings.vectors = settings.words.map(() => null);
  settings.follow = Math.min(settings.follow, settings.words.length - 1);
  parts.delete("words");
}

function labReadPart(name, values, settings, table) {
  const [value] = values;
  const place = /^x([1-8])$/.exec(name)?.[1];
  const width = table.labels("d_model", "en").length;
  labNeed(values.length === (place ? width : name === "seed" ? 2 : 1));
  if (place) {
    labNeed(Number(place) <= settings.words.length);
    settings.vectors[Number(place) - 1] = values.map((text) => labNumber(text, -LAB_LIMITS.vector, LAB_LIMITS.vector));
  } else if (LAB_SWITCHES.includes(name)) {
    labNeed(value === "on" || value === "off");
    settings[name] = value === "on";
  } else if (Object.hasOwn(LAB_CHOICES, name)) {
    labNeed(LAB_CHOICES[name].includes(value));
    settings[name] = value;
  } else if (name === "seed") {
    settings.varied = { seed: labWhole(value, 0, LAB_LIMITS.seed), amount: labNumber(values[1], 0, LAB_LIMITS.amount) };
  } else if (name === "follow") {
    settings.follow = labWhole(value, 1, LAB_LIMITS.words) - 1;
  } else {
    labNeed(name === "depth" || name === "block");
    settings[name] = labWhole(value, 1, LAB_LIMITS.depth);
  }
}

function labNumber(text, lowest, highest) {
  labNeed(LAB_NUMBER.test(text) && Number(text) >= lowest && Number(text) <= highest);
  return Number(text) + 0; // no minus zero
}

function labWhole(text, lowest, highest) {
  labNeed(/^[0-9]{1,4}$/.test(text));
  return labNumber(text, lowest, highest);
}

/** A word as itself, or by its place in the lesson if it can't stand in the text. */
function labWordText(word, { tokens }) {
  return /^[A-Za-z-]+$/.test(word) ? word : String(tokens.indexOf(word) + 1);
}

function labWord(text, { tokens }) {
  const word = /^[0-9]{1,2}$/.test(text) ? tokens[Number(text) - 1] : tokens.find((one) => one === text);
  labNeed(word !== undefined);
  return word;
}
