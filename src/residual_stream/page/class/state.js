// What of the page's state a class shares, and how what comes from the class is read: as
// strictly as an address, by the same rules.

import { readAddress } from "../store/address.js";

export const CLASS_KEYS = ["view", "step", "depth", "residual", "token", "compare", "experiment", "lab"];
const CLASS_NOT_SHARED = "links"; // the teacher's own view

/** The shared part of a state; `view` is the last that can be shared. */
export function classState(state, view, { tokens }) {
  const shared = Object.fromEntries(CLASS_KEYS.map((key) => [key, state[key]]));
  return { ...shared, view, token: tokens[state.token] };
}

export const isClassView = (view) => view !== CLASS_NOT_SHARED;

/**
 * What a page of the class starts with in place of what its address says, and whether it
 * leads there: a teacher who goes to an address with a state takes the class along.
 *
 * @param room       the page's class; `leads` is noted there
 * @param addressed  the usable part of the address
 */
export function startInClass(room, addressed, context) {
  const { view, ...place } = addressed;
  const hasPlace = (view !== undefined && isClassView(view)) || CLASS_KEYS.some((key) => key in place);
  room.leads = room.key !== null && hasPlace && wasGoneTo();
  const isWithClass = room.key !== null || room.following;
  const now = room.state !== null && isWithClass && !room.leads ? readClassState(room.state, context) : {};
  return view === CLASS_NOT_SHARED ? { ...now, view: room.key === null ? (now.view ?? "lesson") : view } : now;
}

/** Whether somebody chose this address; a page that is loaded again has its last state there. */
const wasGoneTo = () => performance.getEntriesByType("navigation")[0]?.type === "navigate";

/** A student's page has no view for teachers; `current` is the state until now. */
export function keepToClass(room, state, current) {
  if (isClassView(state.view) || room.key !== null) return state;
  return { ...state, view: isClassView(current.view) ? current.view : "lesson" };
}

/** What can be used of a state that came from the class; the rest stays as it is here. */
export function readClassState(shared, { table, lesson, defaults }) {
  const said = { ...shared, residual: shared.residual ? "on" : "off", compare: shared.compare ? "1" : "0" };
  const given = CLASS_KEYS.filter((key) => key in shared && said[key] !== "");
  const query = new URLSearchParams(given.map((key) => [key, said[key]]));
  const { state } = readAddress(query, { table, lesson, defaults });
  if (!isClassView(state.view)) delete state.view;
  // "" says something too: no experiment is open, the lab has the lesson's own model
  for (const key of ["experiment", "lab"]) if (shared[key] === "") state[key] = "";
  return state;
}
