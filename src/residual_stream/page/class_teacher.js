// A teacher's side: what they change is sent, the newest at most every 60 ms. Until the
// server has said that it is done, the page takes over nothing, so that it never jumps back.

const TEACHER_PAUSE = 60;
const TEACHER_AGAIN = 1000;

/**
 * @param state  () -> the state to send
 * @param send   (message) -> whether it went
 */
export function createClassSending({ state, send }) {
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
