// The class that a page belongs to, and what this browser keeps of it. The teacher's key
// comes after "#" and leaves the address before anything is shown: a class sees that screen.

const CLASS_KEPT = "residual-stream.class.";
const CLASS_ID_BYTES = 16;
const CLASS_LONGEST_KEY = 200;

/** {room, url, state, id, key, following, keep(changes)} of the page's data-class; null without one. */
export function openClassRoom(text) {
  if (text === undefined) return null;
  const { room, socket, state } = JSON.parse(text);
  const memory = classMemory(CLASS_KEPT + room);
  const key = takeClassKey();
  if (key) memory.keep({ key });
  return { room, state, url: classSocket(socket), id: classBrowserId(CLASS_KEPT + room), ...memory.kept(), keep: memory.keep };
}

/** The key in the address, taken out of it; null if there is none. */
export function takeClassKey() {
  const parts = location.hash.slice(1).split("&");
  const found = parts.find((part) => part.startsWith("key="));
  if (found === undefined) return null;
  const rest = parts.filter((part) => part !== found).join("&");
  history.replaceState(history.state, "", location.pathname + location.search + (rest && `#${rest}`));
  const key = found.slice("key=".length);
  return key.length <= CLASS_LONGEST_KEY ? key : null;
}

/** The student's link: the page's own address, without a state and without a key. */
export const classLink = () => location.origin + location.pathname;

function classSocket(socket) {
  const url = new URL(socket, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  return url.href;
}

/** What a reload keeps: who is the teacher, who explores. Of this tab alone. */
function classMemory(name) {
  let kept = {};
  try {
    kept = JSON.parse(sessionStorage.getItem(name)) ?? {};
  } catch {
    // nothing is kept, or something that is not ours
  }
  const keep = (changes) => {
    kept = { ...kept, ...changes };
    try {
      sessionStorage.setItem(name, JSON.stringify(kept));
    } catch {
      // a page without storage keeps it until it is loaded again
    }
  };
  return { kept: () => pickClassMemory(kept), keep };
}

const pickClassMemory = ({ key, following }) => ({ key: typeof key === "string" ? key : null, following: following !== false });

/** A random name of this browser, the same for all its tabs: one vote a browser. */
function classBrowserId(name) {
  const fresh = classFreshId();
  try {
    const kept = localStorage.getItem(name);
    if (/^[\w-]{22}$/.test(kept)) return kept;
    localStorage.setItem(name, fresh);
  } catch {
    // a page without storage has a name of its own
  }
  return fresh;
}

// crypto.randomUUID exists in secure pages alone, and many a classroom has http
function classFreshId() {
  const bytes = crypto.getRandomValues(new Uint8Array(CLASS_ID_BYTES));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

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
