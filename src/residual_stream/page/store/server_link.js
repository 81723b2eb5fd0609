// The server's state follows the page's: told of a learner's change, coalesced, never
// waited for. If the server goes away, the lesson goes on and one quiet line says so.

import { h, setText } from "../elements/dom.js";

// Asking the server one question at a time: what is asked meanwhile waits, the newest
// takes the place of the one before, and only its answer is shown.

const LOOK_AGAIN = 1500; // ms

/**
 * @param kind   what is asked, as in Python's ANSWERS
 * @param rest   how long to wait for a further change, in ms
 * @param show   (answer, question) for the answer to the newest question
 * @param away   () when there is no server to ask
 * @returns {want(question, {now}), again: ask at once, a server has come, stop}
 */
export function createNewestAnswer({ ask, hasServer }, { kind, rest, show, away }) {
  let wanted = null; // the newest question without an answer
  let asked = null; // what the server is working on
  let timer = 0;

  function want(question, { now = false } = {}) {
    wanted = question;
    later(now ? 0 : rest);
  }

  function later(pause) {
    clearTimeout(timer);
    timer = setTimeout(send, pause);
  }

  async function send() {
    // while one is under way the newest waits, so that a slow server gets no queue
    if (asked !== null || wanted === null) return;
    if (!hasServer()) {
      away();
      later(LOOK_AGAIN); // it may still come
      return;
    }
    const mine = (asked = wanted);
    const answer = await ask(kind, mine).catch(() => null);
    asked = null;
    if (answer === null) {
      away();
      later(LOOK_AGAIN);
    } else if (wanted !== mine) later(0);
    else {
      wanted = null;
      show(answer, mine);
    }
  }

  function stop() {
    clearTimeout(timer);
    wanted = null;
  }
  return { want, again: () => later(0), stop };
}

const TELL_AFTER = 150;
const LOOK_EVERY = 3000;
const ANSWER_WITHIN = 20000;
const SHARED = ["view", "step", "depth", "residual", "token", "language", "compare", "projector", "hide", "experiment", "lab"];

/** What a page can ask the server's Python: nothing, until it is linked to one. */
export function createAsking() {
  const waiting = new Map();
  let send = null;
  let last = 0;

  function ask(kind, payload) {
    if (!send) return Promise.reject(new Error("no server"));
    last += 1;
    const id = last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => drop(id), ANSWER_WITHIN);
      waiting.set(id, { resolve, reject, timer });
      send({ type: "ask", id, kind, payload });
    });
  }

  function take(id) {
    const question = waiting.get(id);
    clearTimeout(question?.timer);
    waiting.delete(id);
    return question;
  }

  const drop = (id) => take(id)?.reject(new Error("no answer"));

  /** What waits gets no answer any more: who asked may ask again. */
  const giveUp = () => [...waiting.keys()].forEach(drop);

  return {
    ask,
    hasServer: () => send !== null,
    use(sender) {
      send = sender;
      if (sender === null) giveUp();
    },
    giveUp,
    answer: (id, answer) => take(id)?.resolve(answer),
  };
}

/** Tie a page's store to the Panel component's model. Returns the way out. */
export function linkToServer(model, { store, table, asking }) {
  let timer = 0;
  let untold = new Set(SHARED); // what the server has not been told yet: at first, all

  const tell = () => {
    const state = store.get();
    const values = { ...state, token: table.tokens[state.token] };
    model.send_msg({ type: "state", state: Object.fromEntries([...untold].map((key) => [key, values[key]])) });
    untold = new Set();
  };
  const leave = store.subscribe((_state, _previous, { origin, changed }) => {
    const shared = changed.filter((key) => SHARED.includes(key));
    if (origin === "server" || shared.length === 0) return;
    for (const key of shared) untold.add(key);
    clearTimeout(timer);
    timer = setTimeout(tell, TELL_AFTER);
  });
  model.on("msg:custom", (message) => {
    if (message.type === "answer") {
      asking.answer(message.id, JSON.parse(message.answer));
      return;
    }
    const { token, ...state } = message.state;
    store.set(token === undefined ? state : { ...state, token: table.tokens.indexOf(token) }, "server");
  });
  asking.use((message) => model.send_msg(message));
  store.set({ connected: true }, "server");
  tell();
  return () => {
    clearTimeout(timer);
    asking.use(null);
    store.set({ connected: false }, "server");
    leave();
  };
}

/** A file of the server's own that costs nothing to ask for. */
const probe = () => document.querySelector("script[src]")?.src ?? location.href;

/** The quiet line: shown while the server is away, with a way back when it returns. */
export function createServerLine({ words, store, announce }) {
  const text = h("span", {});
  const again = h("a", { class: "server-again", hidden: true });
  const element = h("p", { class: "server-line", hidden: true }, text, " ", again);
  let away = false;
  let back = false;
  let isRemoved = false;
  let timer = 0;

  function update() {
    setText(text, words.say(back ? "server_back" : "server_away"));
    setText(again, words.say("server_again"));
    again.setAttribute("href", location.href);
    again.hidden = !back;
    element.hidden = !away;
  }

  async function look() {
    try {
      back = (await fetch(probe(), { method: "HEAD", cache: "no-store" })).ok;
    } catch {
      back = false;
    }
    if (isRemoved) return;
    update();
    if (back) announce(text.textContent);
    else timer = setTimeout(look, LOOK_EVERY);
  }

  function lost() {
    if (away || isRemoved) return;
    away = true;
    update();
    announce(text.textContent);
    timer = setTimeout(look, LOOK_EVERY);
  }

  store.subscribe(() => away && update());
  function remove() {
    isRemoved = true;
    clearTimeout(timer);
  }
  return { element, update, lost, remove };
}
