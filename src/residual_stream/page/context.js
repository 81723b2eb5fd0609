// What the views share: the table, the texts, the store, the address and the server.

import { keepToClass, startInClass } from "./class/state.js";
import { createMotion } from "./elements/motion.js";
import { Words } from "./elements/words.js";
import { THEMES } from "./shell/masthead.js";
import { createAddressBar, readAddress, stateText } from "./store/address.js";
import { createAsking } from "./store/server_link.js";
import { agree } from "./store/steps.js";
import { createStore } from "./store/store.js";
import { Table } from "./store/table.js";

export const THEME_KEY = "residual-stream.theme";

/** What every view gets: the table, the texts, the state and how to change them. */
export function createContext(data, options) {
  const table = new Table(data.model);
  const { lesson } = data;
  const defaults = {
    view: "lesson",
    step: 1,
    depth: Math.min(3, data.model.max_depth),
    residual: true,
    token: data.model.focus,
    language: options.language,
    compare: false,
    projector: false,
    hide: [],
    experiment: "",
    lab: "",
    connected: options.server ? null : false, // null: a server is expected
    theme: storedTheme(),
    ...options.state,
  };
  const read = options.address ? readAddress(stateText(location), { table, lesson, defaults }) : { state: {}, faults: [] };
  const room = options.room ?? null; // the class this page is in
  const shown = room ? startInClass(room, read.state, { table, lesson, defaults }) : {};
  const store = createStore({ ...defaults, ...read.state, ...shown }, (wanted, current, change) => {
    const state = agree(table.maxDepth, wanted, current, change);
    return room ? keepToClass(room, state, current) : state;
  });
  const words = new Words(data.ui);
  words.language = store.get().language;
  const context = { data, table, words, store, lesson, motion: createMotion(), faults: read.faults, defaults, leave: [] };
  context.room = room;
  context.hasAddress = Boolean(options.address); // else the page around has its own
  context.home = options.home ?? ""; // the list that this page's lesson is in
  context.servedLanguage = options.servedLanguage ?? ""; // the same for all readers; "" asks their browsers
  context.asking = createAsking();
  context.ask = context.asking.ask;
  context.hasServer = context.asking.hasServer;
  context.load = createLoader(data);
  context.address = createAddressBar(options.address ? store : { ...store, subscribe: () => () => {} }, table);
  return context;
}

/** Load what only some views need, once: from the page itself or from beside it. */
function createLoader(data) {
  const loaded = new Map();
  return (name) => {
    if (!loaded.has(name)) {
      const there = data.extra?.[name];
      const coming = there ? Promise.resolve(there) : fetch(data.sources[name]).then((answer) => answer.json());
      coming.catch(() => loaded.delete(name)); // so that it can be tried again
      loaded.set(name, coming);
    }
    return loaded.get(name);
  };
}

function storedTheme() {
  try {
    const theme = localStorage.getItem(THEME_KEY);
    return THEMES.includes(theme) ? theme : "system";
  } catch {
    return "system";
  }
}
