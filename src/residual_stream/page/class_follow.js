// A page in a class: the teacher's goes ahead, a student's follows, until its student
// changes something. Then it explores, and can return. Nothing here draws.

import { createClassBallot } from "./class_ballot.js";
import { createClassChannel } from "./class_channel.js";
import { takeClassKey } from "./class_room.js";
import { CLASS_KEYS, classState, isClassView, readClassState } from "./class_state.js";
import { createClassSending } from "./class_teacher.js";
import { createStore } from "./store.js";

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
