// What of the page's state a class shares, and how what comes from the class is read: as
// strictly as an address, by the same rules.

import { readAddress } from "./address.js";

export const CLASS_KEYS = ["view", "step", "depth", "residual", "token", "compare", "experiment", "lab"];
const CLASS_NOT_SHARED = "links"; // the teacher's own view

/** The shared part of a state; `view` is the last that can be shared. */
export function classState(state, view, { tokens }) {
  const shared = Object.fromEntries(CLASS_KEYS.map((key) => [key, state[key]]));
  return { ...shared, view, token: tokens[state.token] };
}

export const isClassView = (view) => view !== CLASS_NOT_SHARED;

/** What can be used of a state that came from the class; the rest stays as it is here. */
export function readClassState(shared, { table, defaults }) {
  const said = { ...shared, residual: shared.residual ? "on" : "off", compare: shared.compare ? "1" : "0" };
  const given = CLASS_KEYS.filter((key) => key in shared && said[key] !== "");
  const query = new URLSearchParams(given.map((key) => [key, said[key]]));
  const { state } = readAddress(query, { table, defaults });
  if (!isClassView(state.view)) delete state.view;
  // "" says something too: no experiment is open, the lab has the lesson's own model
  for (const key of ["experiment", "lab"]) if (shared[key] === "") state[key] = "";
  return state;
}
