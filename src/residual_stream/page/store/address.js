// The state in the address bar: each key read alone, nothing trusted, nothing lost.

import { LAB_LONGEST, readLab } from "./lab_text.js";
import { stepCount } from "./steps.js";

const LONGEST = 60;
const KEYS = ["view", "step", "depth", "residual", "token", "lang", "compare", "projector", "hide", "experiment", "lab"];
const STATE_AFTER_HASH = new RegExp(`[#&](${KEYS.join("|")})=`);
export const HIDEABLE = ["residual", "depth", "token", "language", "compare", "sum", "map", "reading"];
export const VIEWS = ["lesson", "experiments", "wirings", "lab", "links"];
const FLAGS = { 0: false, 1: true };
const SWITCH = { on: true, off: false };

/** The part of an address that holds the state: after "#" if one stands there, else the query. */
export const stateText = ({ search, hash }) => (STATE_AFTER_HASH.test(hash) ? hash.slice(1) : search);

/**
 * Read a query string. Returns {state, faults}: the keys that were usable, and a fault
 * {key, value, needed, allowed} for each that was not; its default stays.
 */
export function readAddress(query, { table, lesson, defaults }) {
  const parameters = new URLSearchParams(query);
  const state = {};
  const faults = [];
  const read = (key, name, needed, allowed, parse, longest = LONGEST) => {
    const values = parameters.getAll(key);
    if (values.length === 0) return;
    const parsed = values.length === 1 && values[0].length <= longest ? parse(values[0]) : undefined;
    if (parsed === undefined) faults.push({ key, value: shorten(values.join(" ")), needed, allowed });
    else state[name] = parsed;
  };
  const choice = (options) => (text) => (Object.hasOwn(options, text) ? options[text] : undefined);

  const views = Object.fromEntries(VIEWS.map((view) => [view, view]));
  read("view", "view", "needed_view", VIEWS.join(", "), choice(views));
  read("depth", "depth", "needed_depth", table.maxDepth, whole(1, table.maxDepth));
  const last = stepCount(state.depth ?? defaults.depth);
  read("step", "step", "needed_step", last, whole(1, last));
  read("residual", "residual", "needed_switch", "", choice(SWITCH));
  const placeOf = (text) => (table.tokens.includes(text) ? table.tokens.indexOf(text) : undefined);
  read("token", "token", "needed_token", table.tokens.join(", "), placeOf);
  read("lang", "language", "needed_language", "", choice({ ja: "ja", en: "en" }));
  read("compare", "compare", "needed_flag", "", choice(FLAGS));
  read("projector", "projector", "needed_flag", "", choice(FLAGS));
  read("hide", "hide", "needed_hide", HIDEABLE.join(", "), (text) => {
    const parts = text.split(",");
    return parts.every((part) => HIDEABLE.includes(part)) ? [...new Set(parts)] : undefined;
  });
  const { experiments, lab_weights: weights } = lesson;
  read("experiment", "experiment", experiments.length ? "needed_experiment" : "needed_no_experiment", experiments.join(", "), (text) => experiments.find((id) => id === text));
  read("lab", "lab", "needed_lab", "", (text) => (readLab(text, table, weights) ? text : undefined), LAB_LONGEST);
  return { state, faults };
}

const whole = (lowest, highest) => (text) => {
  if (!/^[0-9]{1,4}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= lowest && value <= highest ? value : undefined;
};

const shorten = (text) => (text.length > 24 ? `${text.slice(0, 24)}…` : text);

/** The query string that stands for a state; a language of null is left to the reader. */
function writeAddress(state, table) {
  const parameters = new URLSearchParams({
    step: state.step,
    depth: state.depth,
    residual: state.residual ? "on" : "off",
    token: table.tokens[state.token],
  });
  if (state.language !== null) parameters.set("lang", state.language);
  if (state.view !== "lesson") parameters.set("view", state.view);
  if (state.experiment) parameters.set("experiment", state.experiment);
  if (state.lab) parameters.set("lab", state.lab);
  if (state.compare) parameters.set("compare", "1");
  if (state.projector) parameters.set("projector", "1");
  const query = `?${parameters}`;
  return state.hide.length ? `${query}&hide=${state.hide.join(",")}` : query;
}

/** The page's address with a state: in the query on the web, elsewhere (a file) after "#". */
export function addressOf(state, table) {
  const address = new URL(location.href);
  const text = writeAddress(state, table);
  const isWeb = address.protocol.startsWith("http");
  address.search = isWeb ? text : "";
  if (!isWeb) address.hash = text.slice(1);
  else if (STATE_AFTER_HASH.test(address.hash)) address.hash = ""; // or it would win over the query
  return address.href;
}

/** Set the page when the part after "#" is edited by hand; onFaults is told what was not usable. */
export function followAddress({ store, table, lesson, defaults, address }, onFaults) {
  const { theme, connected, ...addressed } = defaults; // these two are in no address
  const read = () => {
    if (!STATE_AFTER_HASH.test(location.hash)) return;
    const { state, faults } = readAddress(stateText(location), { table, lesson, defaults });
    store.set({ ...addressed, ...state }, "address");
    address.write();
    onFaults(faults);
  };
  addEventListener("hashchange", read);
  return () => removeEventListener("hashchange", read);
}

/** Keep the address bar at the state; browsers refuse too many changes a second. */
export function createAddressBar(store, table) {
  const PAUSE = 250;
  let written = 0;
  let timer = 0;

  function write() {
    clearTimeout(timer);
    timer = 0;
    written = performance.now();
    try {
      history.replaceState(history.state, "", addressOf(store.get(), table));
    } catch {
      // a sandboxed frame has no address of its own
    }
  }

  const leave = store.subscribe(() => {
    if (performance.now() - written > PAUSE) write();
    else if (!timer) timer = setTimeout(write, PAUSE);
  });
  return {
    write,
    // a frame without an address gives what can stand behind one
    link: () => (location.protocol === "about:" ? writeAddress(store.get(), table) : addressOf(store.get(), table)),
    remove: () => {
      clearTimeout(timer);
      leave();
    },
  };
}
