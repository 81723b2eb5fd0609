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
