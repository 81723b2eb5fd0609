// The page's state: one object, changed in one place, told to every view.

/**
 * @param initial  a valid state
 * @param agree    (wanted, current, change) -> a valid state; keeps step and depth together
 */
export function createStore(initial, agree) {
  let state = Object.freeze({ ...initial });
  const listeners = new Set();

  return {
    get: () => state,

    /** Change some keys; origin says who did ("next", "key", "server" …). */
    set(change, origin = "control") {
      const next = Object.freeze(agree({ ...state, ...change }, state, change));
      const changed = Object.keys(next).filter((key) => !same(next[key], state[key]));
      if (changed.length === 0) return;
      const previous = state;
      state = next;
      for (const listener of [...listeners]) listener(state, previous, { origin, changed });
    },

    /** Be told of every change: (state, previous, {origin, changed}). Returns the way out. */
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function same(a, b) {
  return a === b || (Array.isArray(a) && Array.isArray(b) && a.join() === b.join());
}
