// A vote on an experiment's prediction: a student's line, a teacher's buttons, the bars.

import { h, setHidden, setText } from "../elements/dom.js";

// A student's vote: cast at once, changed at will, cast again where it may have been lost.

const BALLOT_PAUSE = 150; // ms; an arrow key held down goes through the options quickly

/**
 * @param room  the class's store: its keys poll, vote and isVoteSent
 * @param send  (message) -> whether it went
 */
export function createClassBallot({ get, set }, send) {
  let cast = null; // {poll, option}: what was voted here, not in another tab
  let timer = 0;

  const isOpen = (vote) => vote !== null && get().poll?.stage === "open" && get().poll.id === vote.poll;

  function post() {
    if (isOpen(cast)) set({ isVoteSent: send({ type: "vote", ...cast }) });
  }

  return {
    vote(option) {
      cast = { poll: get().poll.id, option };
      set({ vote: option });
      clearTimeout(timer);
      timer = setTimeout(post, BALLOT_PAUSE);
    },
    /** What the vote is when the room has the same poll as before, or another. */
    keep: (poll) => (poll !== null && poll.id === get().poll?.id ? {} : { vote: null, isVoteSent: true }),
    /** What the server has of this browser, at the start of a connection. */
    hear(vote) {
      if (!isOpen(cast)) set({ vote: vote ?? get().vote });
      else if (vote !== cast.option) post();
      else set({ isVoteSent: true });
    },
    refused() {
      if (!isOpen(cast)) return;
      cast = null;
      set({ vote: null });
    },
    stop: () => clearTimeout(timer),
  };
}

/**
 * The vote's part of an experiment's card.
 *
 * changed()  is called when something of it may have changed
 * @returns {element, said, isUnknown, isOpen(id), mine(id), counts(id), news(id), …, update(id)}
 */
export function createClassVote(context, changed) {
  const { classroom } = context;
  const controls = classVoteControls(context, changed);
  let handled = ""; // what of the vote the card shows already

  const pollOn = (id) => (classroom.get().poll?.experiment === id ? classroom.get().poll : null);
  const isOpen = (id) => pollOn(id)?.stage === "open";

  /** "open" or "revealed" the first time that it is so, else null. */
  function news(id) {
    const poll = pollOn(id);
    const now = poll ? `${poll.id} ${poll.stage}` : "";
    if (now === handled) return null;
    handled = now;
    return poll?.stage ?? null;
  }

  /** The votes by option, if they are to be seen here. */
  function counts(id) {
    if (pollOn(id) === null) return null;
    return pollOn(id).counts ?? (controls.isPeeking() ? (classroom.get().counts?.votes ?? null) : null);
  }

  classroom.subscribe((_room, _previous, { changed: keys }) => {
    if (["poll", "vote", "isVoteSent", "counts", "role", "connection"].some((key) => keys.includes(key))) changed();
    if (keys.includes("csv")) classVoteDownload(classroom.get().csv.text);
  });
  return {
    element: controls.element,
    said: controls.said,
    isUnknown: () => classroom.get().connection === "opening",
    isOpen,
    isTeacher: classroom.isTeacher,
    mine: (id) => (pollOn(id) ? classroom.get().vote : null),
    cast: classroom.vote,
    counts,
    news,
    again: () => (handled = ""),
    wasPressed: controls.wasPressed,
    update: (id) => controls.update(id, pollOn(id)),
  };
}

/** The line and, for a teacher, what can be done. */
function classVoteControls({ classroom, words, announce }, changed) {
  const line = h("p", { class: "class-vote-said", tabindex: -1 });
  const button = (click, kind = "") => h("button", { type: "button", class: `button ${kind}`, click });
  const trying = (act) => () => act() || announce(words.say("class_lost"));
  let id = null;
  let isPeeking = false;
  let isPressed = false;
  let hasVoted = false; // the class, on anything: there is something to save
  const open = button(trying(() => classroom.open(id)));
  const reveal = button(trying(() => (isPressed = classroom.reveal())), "button-main");
  const peek = button(() => {
    isPeeking = !isPeeking;
    changed();
  });
  const close = button(trying(classroom.close));
  const csv = button(trying(classroom.csv), "button-quiet");
  const acts = h("div", { class: "class-vote-acts" }, reveal, open, peek, close, csv);
  const element = h("div", { class: "class-vote" }, line, acts);

  function update(experiment, poll) {
    id = experiment;
    const isTeacher = classroom.isTeacher();
    const stage = poll?.stage ?? "none";
    hasVoted ||= poll !== null;
    if (stage !== "open") isPeeking = false;
    const hadFocus = element.contains(document.activeElement);
    setText(line, poll === null ? "" : classVoteSaid(words, poll, classroom.get()));
    setHidden(line, poll === null);
    element.classList.toggle("is-open", stage === "open");
    setHidden(acts, !isTeacher);
    const shown = { open: [reveal, peek, close], revealed: [close, csv], none: [open, ...(hasVoted ? [csv] : [])] }[stage];
    for (const one of acts.children) setHidden(one, !shown.includes(one));
    setText(open, words.say("class_vote_open"));
    setText(reveal, words.say("class_vote_reveal"));
    setText(peek, words.say(isPeeking ? "class_vote_hide" : "class_vote_show"));
    setText(close, words.say("class_vote_close"));
    setText(csv, words.say("class_vote_csv"));
    // a button that goes takes the focus with it
    if (hadFocus && document.activeElement !== line && !acts.contains(document.activeElement?.closest("button:not([hidden])"))) (poll ? line : open).focus();
  }

  const wasPressed = () => {
    const was = isPressed;
    isPressed = false;
    return was;
  };
  return { element, update, said: () => line.textContent, isPeeking: () => isPeeking, wasPressed };
}

function classVoteSaid(words, { stage, counts: shown, options }, { role, vote, isVoteSent, counts }) {
  const sum = (votes) => options.reduce((total, option) => total + (votes?.[option] ?? 0), 0);
  if (stage === "revealed") return words.say("class_vote_total", { count: sum(shown) });
  if (role === "teacher") {
    const count = sum(counts?.votes);
    const there = counts ? counts.following + counts.exploring + counts.quiet : 0;
    return words.say("class_vote_count", { count, total: Math.max(count, there) });
  }
  if (vote === null) return words.say("class_vote_choose");
  return words.say(isVoteSent ? "class_vote_yours" : "class_vote_unsent");
}

/** One option's bar, with its number and share as words. */
export function createVoteBar(words) {
  const fill = h("span", { class: "class-votes-fill" });
  const text = h("span", { class: "class-votes-text" });
  const element = h("span", { class: "class-votes", hidden: true }, h("span", { class: "class-votes-track", "aria-hidden": "true" }, fill), text);

  function update(option, votes) {
    setHidden(element, votes === null);
    if (votes === null) return;
    const count = votes[option] ?? 0;
    const total = Object.values(votes).reduce((sum, one) => sum + one, 0);
    const share = total ? count / total : 0;
    fill.style.width = `${100 * share}%`;
    setText(text, words.say(count === 1 ? "class_vote_one" : "class_vote_bar", { count, share: Math.round(100 * share) }));
  }

  return { element, update };
}

function classVoteDownload(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  h("a", { href: url, download: "votes.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
