// The worked arithmetic of one number, in words: which cells, in which form. The
// numbers are the table's own; only their arrangement is made here.

import { number } from "./table.js";

const DECIMALS = 2;
const plain = (value) => number(value, DECIMALS);
const bracketed = (value) => (plain(value).startsWith("−") ? `(${plain(value)})` : plain(value));

/**
 * The arithmetic as a list of texts and terms ({term, text}); a page makes the terms
 * into something that can be opened.
 */
export function arithmetic(kind, groups, index) {
  return FORMS[kind](groups, index.at(-1));
}

const show = (term, text = plain(term.value)) => ({ term, text });

/** Summands with their signs: "0.30 − 0.20 + 0.10". */
function joined(summands) {
  return summands.flatMap((summand, i) => {
    if (i === 0) return summand;
    const [first, ...rest] = summand;
    if (first.text.startsWith("−")) return [" − ", { ...first, text: first.text.slice(1) }, ...rest];
    return [" + ", first, ...rest];
  });
}

const product = (group) =>
  group.flatMap((term, i) => (i === 0 ? [show(term)] : [" · ", show(term, bracketed(term.value))]));

function scaledProducts(groups) {
  const compared = groups.filter((group) => group.length === 2);
  const masks = groups.filter((group) => group.length === 1);
  return ["(", ...joined(compared.map(product)), `) / √${compared.length}`, ...masks.flatMap(([mask]) => [" + ", show(mask)])];
}

function rootMeanSquare(groups) {
  const squares = groups.map(([term]) => [show(term, bracketed(term.value)), "²"]);
  return ["√((", ...squares.flatMap((square, i) => (i ? [" + ", ...square] : square)), `) / ${groups.length} + ε)`];
}

function softmax(groups, place) {
  const scores = groups.map(([term]) => term);
  const highest = scores.reduce((best, term) => (term.value > best.value ? term : best));
  const power = (term) => ["exp(", show(term), " − ", show(highest, bracketed(highest.value)), ")"];
  const powers = scores.flatMap((term, i) => (i ? [" + ", ...power(term)] : power(term)));
  return [...power(scores[place]), " / (", ...powers, ")"];
}

function distanceFromTheMean(groups, place) {
  const values = groups.map(([term]) => [show(term)]);
  return [show(groups[place][0]), " − (", ...joined(values), `) / ${groups.length}`];
}

const FORMS = {
  given: () => [],
  copy: ([[term]]) => [show(term)],
  sum: (groups) => joined(groups.map(([term]) => [show(term)])),
  "sum of products": (groups) => joined(groups.map(product)),
  "scaled sum of products": scaledProducts,
  "root mean square": rootMeanSquare,
  quotient: ([[x], [scale]]) => [show(x), " / ", show(scale)],
  "distance from the mean": distanceFromTheMean,
  softmax,
  "larger of 0 and": ([[term]]) => ["max(0, ", show(term), ")"],
};
