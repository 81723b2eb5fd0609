// Explain any number: under the pointer or the focus, and each of its terms in turn.

import { h } from "../elements/dom.js";
import { number } from "../store/table.js";

// The worked arithmetic of one number, in words: which cells, in which form. The
// numbers are the table's own; only their arrangement is made here.

const DECIMALS = 2;
const plain = (value) => number(value, DECIMALS);
const bracketed = (value) => (plain(value).startsWith("−") ? `(${plain(value)})` : plain(value));

/**
 * The arithmetic as a list of texts and terms ({term, text}); a page makes the terms
 * into something that can be opened.
 */
function arithmetic(kind, groups, index) {
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

const KIND_WORDS = {
  given: "op_given",
  copy: "op_copy",
  sum: "op_sum",
  "sum of products": "op_products",
  "scaled sum of products": "op_scaled_products",
  "root mean square": "op_rms",
  quotient: "op_quotient",
  "distance from the mean": "op_distance",
  softmax: "op_softmax",
  "larger of 0 and": "op_relu",
};
const ARROWS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Watch a root for `.number` elements; `float` shows the arithmetic of each. */
export function createExplain(root, context, float) {
  const { words } = context;
  const trail = [];

  const placeOf = (element) => ({
    table: tableOf(element, root) ?? context.table,
    name: element.dataset.name,
    index: element.dataset.index.split(",").map(Number),
    residual: element.dataset.residual === "on",
  });

  function openNumber(element, pin) {
    trail.length = 0;
    show(element, placeOf(element), pin);
  }

  function show(anchor, place, pin) {
    const content = panel(context, place, {
      pin,
      back: trail.length ? () => show(anchor, trail.pop(), true) : null,
      open: (term) => {
        trail.push(place);
        show(anchor, { ...place, ...term }, true);
      },
      close: () => float.close({ giveBack: true }),
    });
    float.open(anchor, content, { label: words.say("explain_title"), pin });
    if (pin) float.element.focus({ preventScroll: true });
  }

  const numberAt = (event) => {
    const at = event.composedPath()[0];
    return at instanceof Element ? at.closest(".number[data-name]") : null;
  };
  const listeners = {
    pointerover: (event) => {
      const element = numberAt(event);
      if (event.pointerType !== "touch" && element && !float.isPinned()) openNumber(element, false);
    },
    pointerout: (event) => {
      if (numberAt(event) && !float.isPinned() && float.anchor()?.matches(".number")) float.close();
    },
    focusin: (event) => {
      const element = numberAt(event);
      if (element?.matches(":focus-visible") && !float.isPinned() && !float.isGivingBack()) openNumber(element, false);
    },
    focusout: (event) => {
      if (numberAt(event) && !float.isPinned()) float.close();
    },
    click: (event) => {
      const element = numberAt(event);
      if (element) openNumber(element, true);
    },
    keydown: (event) => {
      const element = numberAt(event);
      if (!element) return;
      if (event.key === "Enter" || event.key === " ") openNumber(element, true);
      else if (event.key in ARROWS) rove(element, ARROWS[event.key]);
      else return;
      event.preventDefault();
    },
  };
  for (const [name, listener] of Object.entries(listeners)) root.addEventListener(name, listener);

  return {
    /** One tab stop a group of numbers; the arrow keys go on from there. */
    update: () => prepareNumbers(root),
    remove() {
      for (const [name, listener] of Object.entries(listeners)) root.removeEventListener(name, listener);
    },
  };
}

/** The table that a number belongs to: a view with runs of its own says so. */
function tableOf(element, root) {
  for (let at = element; at && at !== root; at = at.parentElement) {
    if (at.lessonTable) return at.lessonTable;
  }
  return null;
}

function prepareNumbers(root) {
  for (const group of root.querySelectorAll("[data-numbers]")) {
    if (!group.querySelector('.number[tabindex="0"]')) {
      const first = group.querySelector(".number[data-name]");
      if (first) first.tabIndex = 0;
    }
  }
}

function rove(element, change) {
  const group = element.closest("[data-numbers]");
  if (!group) return;
  const all = [...group.querySelectorAll(".number[data-name]")].filter((one) => one.textContent);
  const next = all[all.indexOf(element) + change];
  if (!next) return;
  element.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** The panel's content: what number it is, how it was worked out, the way on and back. */
function panel(context, { table, name, index, residual }, { pin, back, open, close }) {
  const { words } = context;
  const weight = name.startsWith("weights.");
  const entry = weight ? { kind: "given", formula: words.say("explain_weight") } : table.entry(residual, name);
  const parts = arithmetic(entry.kind, table.origins(residual, name, index), index);
  const result = number(table.cell(residual, name, index), 2);
  const term = ({ term, text }) =>
    pin ? h("button", { type: "button", class: "term", title: placeText(context, { table, residual, ...term }), click: () => open(term) }, text) : h("span", { class: "term" }, text);
  const sum = parts.map((part) => (typeof part === "string" ? part : term(part)));
  return [
    h("p", { class: "float-head" }, h("code", {}, name), " ", placeText(context, { table, residual, name, index }, false)),
    h("p", { class: "float-formula" }, `${words.say(KIND_WORDS[entry.kind])}: ${entry.formula}`),
    h("p", { class: "float-sum" }, ...(sum.length ? [...sum, " = "] : []), h("strong", {}, result)),
    pin ? foot(words, back, close) : null,
  ].filter(Boolean);
}

function foot(words, back, close) {
  const button = (key, click) => h("button", { type: "button", class: "button button-small", click }, words.say(key));
  return h("p", { class: "float-foot" }, ...(back ? [button("explain_back", back)] : []), button("explain_close", close));
}

function placeText({ words }, { table, residual, name, index }, withName = true) {
  const axes = table.axes(residual, name);
  const labels = index.map((i, place) => table.labels(axes[place], words.language)[i] ?? i + 1);
  const place = labels.join(" → ");
  return withName ? `${name}: ${place}` : place;
}
