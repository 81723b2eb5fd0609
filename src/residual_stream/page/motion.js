// Motion: one thing at a time, from where it was to where it goes; none if unwanted.

const QUERY = "(prefers-reduced-motion: reduce)";

export const reducedMotion = () => globalThis.matchMedia?.(QUERY).matches ?? false;

/** One motion at a time: `play` ends the one before it at once, in its last picture. */
export function createMotion() {
  let finish = null;

  function stop() {
    const last = finish;
    finish = null;
    last?.();
  }

  /** Draw from 0 to 1 in `duration` ms after `delay` ms. `draw(1)` always comes last. */
  function play(draw, { delay = 0, duration = 260 } = {}) {
    stop();
    if (reducedMotion() || document.hidden) {
      draw(1);
      return;
    }
    let frame = 0;
    let start = null;
    finish = () => {
      cancelAnimationFrame(frame);
      draw(1);
    };
    const own = finish;
    const tick = (now) => {
      start ??= now + delay;
      const share = Math.min(1, Math.max(0, (now - start) / duration));
      if (share < 1) {
        draw(ease(share));
        frame = requestAnimationFrame(tick);
      } else if (finish === own) {
        stop();
      }
    };
    draw(0);
    frame = requestAnimationFrame(tick);
  }

  return { play, stop };
}

const ease = (share) => (share < 0.5 ? 2 * share * share : 1 - (2 - 2 * share) ** 2 / 2);
