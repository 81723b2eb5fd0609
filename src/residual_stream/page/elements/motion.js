// Motion: from where it was to where it goes, for one change at a time; none if unwanted.

const QUERY = "(prefers-reduced-motion: reduce)";

const reducedMotion = () => globalThis.matchMedia?.(QUERY).matches ?? false;

export const SWITCHING = 120; // ms between the switch's words and what moves with it

/** What several views play for one change; the next change stops it, in its last picture. */
export function createMotion() {
  let moving = [];

  function stop() {
    const ended = moving;
    moving = [];
    ended.forEach((end) => end());
  }

  /** Draw from 0 to 1 in `duration` ms after `delay` ms. `draw(1)` always comes last. */
  function play(draw, { delay = 0, duration = 260 } = {}) {
    if (reducedMotion() || document.hidden) {
      draw(1);
      return;
    }
    moving.push(animate(draw, { delay, duration }, (end) => (moving = moving.filter((other) => other !== end))));
  }

  return { play, stop };
}

/** Run one motion; returns what ends it. */
function animate(draw, { delay, duration }, leave) {
  let frame = 0;
  let start = null;
  const end = () => {
    cancelAnimationFrame(frame);
    draw(1);
  };
  const tick = (now) => {
    start ??= now + delay;
    const share = Math.min(1, Math.max(0, (now - start) / duration));
    if (share === 1) {
      leave(end);
      draw(1);
      return;
    }
    draw(ease(share));
    frame = requestAnimationFrame(tick);
  };
  draw(0);
  frame = requestAnimationFrame(tick);
  return end;
}

const ease = (share) => (share < 0.5 ? 2 * share * share : 1 - (2 - 2 * share) ** 2 / 2);
