// Asking the server for the lab: after a short rest, one question at a time, and only the
// answer to the newest question is shown.

const LAB_REST = 150; // ms
const LAB_LOOK_AGAIN = 1500;

/**
 * @param show   (answer, settings) for the answer to the newest question
 * @param away   () when there is no server to ask
 * @returns {want(settings, {now}), again: ask at once, a server has come, stop}
 */
export function createLabAsking({ ask, hasServer }, { show, away }) {
  let wanted = null; // the newest settings without an answer
  let asked = null; // what the server is working on
  let timer = 0;

  function want(settings, { now = false } = {}) {
    wanted = settings;
    later(now ? 0 : LAB_REST);
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
      later(LAB_LOOK_AGAIN); // it may still come
      return;
    }
    const mine = (asked = wanted);
    try {
      const answer = await ask("lab", mine);
      asked = null;
      if (wanted === mine) {
        wanted = null;
        show(answer, mine);
        return;
      }
      later(0);
    } catch {
      asked = null;
      away();
      later(LAB_LOOK_AGAIN);
    }
  }

  function stop() {
    clearTimeout(timer);
    wanted = null;
  }
  return { want, again: () => later(0), stop };
}
