// A class opens a view all in one moment. Its pages have the view's data by then, each
// fetched at a moment of its own, and after the first picture.

const AHEAD_NAMES = ["experiments", "wirings", "lab"]; // what is soonest needed comes first
const AHEAD_EARLIEST = 2000;
const AHEAD_LATEST = 8000;

/** Load them one after another, later; returns the way out. */
export function loadAhead(load) {
  const all = async () => {
    try {
      for (const name of AHEAD_NAMES) await load(name);
    } catch {
      // the view that needs it asks again, and says so if it still does not come
    }
  };
  const timer = setTimeout(all, AHEAD_EARLIEST + Math.random() * (AHEAD_LATEST - AHEAD_EARLIEST));
  return () => clearTimeout(timer);
}
