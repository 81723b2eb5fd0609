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
