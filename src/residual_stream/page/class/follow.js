// A page in a class: the teacher's goes ahead, a student's follows, until its student
// changes something. Then it explores, and can return. Nothing here draws.

import { createStore } from "../store/store.js";
import { createClassChannel } from "./channel.js";
import { takeClassKey } from "./room.js";
import { CLASS_KEYS, classState, isClassView, readClassState } from "./state.js";
import { createClassBallot } from "./vote.js";

// A teacher's side: what they change is sent, the newest at most every 60 ms. Until the
// server has said that it is done, the page takes over nothing, so that it never jumps back.

const TEACHER_PAUSE = 60;
const TEACHER_AGAIN = 1000;

/**
 * @param state  () -> the state to send
 * @param send   (message) -> whether it went
 */
function createClassSending({ state, send }) {
  let sentAt = 0;
  let timer = 0;
  let last = 0; // number of the newest that was sent
  let isOwed = false; // there is something newer
  let isUnderWay = false; // the newest is not done yet
  let known = ""; // what the class has, as far as this page knows

  function change() {
    if (JSON.stringify(state()) === known && !isOwed) return; // e.g. to the teacher's own view
    isOwed = true;
    later(Math.max(0, sentAt + TEACHER_PAUSE - performance.now()));
  }

  function later(pause) {
    if (pause === 0) now();
    else if (timer === 0) timer = setTimeout(now, pause);
  }

  /** Send what is owed; without a connection it stays owed until there is one. */
  function now() {
    clearTimeout(timer);
    timer = 0;
    const mine = state();
    if (!send({ type: "set", n: last + 1, state: mine })) return;
    last += 1;
    sentAt = performance.now();
    known = JSON.stringify(mine);
    [isOwed, isUnderWay] = [false, true];
  }

  return {
    change,
    now,
    isWaiting: () => isOwed || isUnderWay,
    isOwed: () => isOwed,
    /** Whether the newest is done by this. */
    done(n) {
      if (n === last) isUnderWay = false;
      return n === last && !isOwed;
    },
    /** The class has this now: what came from it need not be sent back. */
    agreed: () => (known = JSON.stringify(state())),
    /** The connection is gone: what was not done may not have got there. */
    lost() {
      isOwed ||= isUnderWay;
      isUnderWay = false;
    },
    /** The server doesn't take it: the class stays where it is. */
    drop: () => (isUnderWay = false),
    /** The server had no time for it. */
    again() {
      if (!isUnderWay && !isOwed) return;
      [isOwed, isUnderWay] = [true, false];
      later(TEACHER_AGAIN);
    },
    stop: () => clearTimeout(timer),
  };
}

const FOLLOW_HERE_EVERY = 20000;
const FOLLOW_LOST_AFTER = 1200; // a connection that is back at once is not spoken of

/**
 * @param context  of the page
 * @param room     of `openClassRoom`
 * @returns a small store {get, subscribe} of role, following, connection, poll, vote …, and
 *          what can be done: letGo, comeBack, vote, open, reveal, close, csv
 */
export function createClassroom(context, room) {
  const { store, asking } = context;
  const own = createStore(followStart(room), (wanted) => wanted);
  const { get, set } = own;
  let newest = { epoch: null, seq: -1, state: room.state };
  let view = isClassView(store.get().view) ? store.get().view : "lesson"; // the last that is shared
  let lostTimer = 0;
  const channel = createClassChannel({ url: room.url, hello, hear, lost });
  const sending = createClassSending({ state: () => classState(store.get(), view, context.table), send: channel.send });
  const ballot = createClassBallot(own, channel.send);
  const isTeacher = () => get().role === "teacher";
  const here = () => ({ following: get().following, visible: !document.hidden });
  const tellHere = () => channel.send({ type: "here", ...here() });

  function hello() {
    return { type: "hello", id: room.id, ...here(), ...(room.key ? { key: room.key } : {}) };
  }

  const hears = {
    welcome,
    room: takeRoom,
    done({ n, epoch, seq }) {
      if (sending.done(n) && (newest.epoch !== epoch || newest.seq > seq)) adopt();
    },
    counts: ({ following, exploring, quiet, votes }) => set({ counts: { following, exploring, quiet, votes } }),
    csv: ({ text }) => set({ csv: { text } }),
    store: ({ ok }) => set({ isStoreAway: !ok }),
    answer: ({ id, answer }) => asking.answer(id, JSON.parse(answer)),
    refused: ({ what }) => refusals[what]?.(),
  };

  function hear(message) {
    if (Object.hasOwn(hears, message.type)) hears[message.type](message);
  }

  function welcome({ role, refused, room: now, vote }) {
    forgetLoss();
    const isRefused = refused === "key";
    if (isRefused) keepKey(null);
    set({ role, connection: "open", isKeyRefused: isRefused || (get().isKeyRefused && role === "student") });
    if (isTeacher() && room.leads) sending.change(); // where the teacher has gone, before the room is heard
    room.leads = false;
    asking.use(channel.send);
    store.set({ connected: true }, "class");
    newest = { ...newest, epoch: null }; // what this server says holds, whatever another one said
    takeRoom(now, { vote });
    ballot.hear(vote);
    // what was changed without a connection comes first: it is the teacher's newest
    if (isTeacher() && sending.isOwed()) sending.now();
  }

  /** The room has changed; `known` is what comes with it. */
  function takeRoom(now, known = {}) {
    if (now.epoch === newest.epoch && now.seq <= newest.seq) return;
    newest = now;
    const mine = ballot.keep(now.poll);
    set({ poll: now.poll, ...mine, ...("vote" in mine ? known : {}) });
    adopt();
  }

  /** The room as it is now, unless this page goes its own way or is ahead of it. */
  function adopt() {
    if (isTeacher() ? sending.isWaiting() : !get().following) return;
    if (newest.state === null) {
      if (isTeacher()) sending.now(); // a server that is new, or has forgotten, is told
      return;
    }
    const change = readClassState(newest.state, context);
    if (isTeacher() && !isClassView(store.get().view)) {
      view = change.view ?? view;
      delete change.view;
    }
    const was = store.get();
    store.set(change, "class");
    sending.agreed();
    const { view: now, experiment } = store.get();
    if (now !== was.view || experiment !== was.experiment) window.scrollTo(0, 0);
  }

  const refusals = {
    full() {
      forgetLoss();
      set({ connection: "full" });
    },
    set: sending.drop,
    vote: ballot.refused,
    store: sending.again,
    busy: asking.giveUp, // who has asked asks again
  };

  function lost({ isFull }) {
    sending.lost();
    asking.use(null);
    store.set({ connected: false }, "class");
    if (isFull) refusals.full();
    else lostTimer ||= setTimeout(() => set({ connection: "lost" }), FOLLOW_LOST_AFTER);
  }

  /** What was about to be said of a lost connection is not so any more. */
  function forgetLoss() {
    clearTimeout(lostTimer);
    lostTimer = 0;
  }

  function keepKey(key) {
    room.key = key;
    room.keep({ key });
  }

  function follow(following, origin) {
    if (isTeacher() || following === get().following) return;
    room.keep({ following });
    set({ following }, origin);
    tellHere();
    if (following) adopt();
  }

  const leave = store.subscribe((state, _previous, { origin, changed }) => {
    if (isClassView(state.view)) ({ view } = state);
    if (origin === "class" || !changed.some((key) => CLASS_KEYS.includes(key))) return;
    if (isTeacher()) sending.change();
    else follow(false, "control");
  });

  /** Somebody opens the teacher's link in the tab that has the class already. */
  function takeKey() {
    const key = takeClassKey();
    if (key === null) return;
    keepKey(key);
    channel.open();
  }

  const timer = setInterval(tellHere, FOLLOW_HERE_EVERY);
  addEventListener("hashchange", takeKey);
  document.addEventListener("visibilitychange", tellHere);

  function remove() {
    clearInterval(timer);
    forgetLoss();
    removeEventListener("hashchange", takeKey);
    document.removeEventListener("visibilitychange", tellHere);
    sending.stop();
    ballot.stop();
    leave();
    channel.remove();
  }

  const { open, send } = channel;
  const ofPoll = (type) => () => send({ type, poll: get().poll.id });
  return {
    get,
    subscribe: own.subscribe,
    isTeacher,
    start: open,
    letGo: () => follow(false, "button"),
    comeBack: () => follow(true, "button"),
    vote: ballot.vote,
    open: (experiment) => send({ type: "open", experiment }),
    reveal: ofPoll("reveal"),
    close: ofPoll("close"),
    csv: () => send({ type: "csv" }),
    remove,
  };
}

/** What is known of the class before the server has spoken. */
function followStart({ key, following }) {
  return {
    role: key ? "teacher" : "student",
    following,
    connection: "opening", // then "open", "lost" or "full"
    isKeyRefused: false,
    isStoreAway: false,
    poll: null,
    vote: null,
    isVoteSent: true,
    counts: null,
    csv: null,
  };
}
