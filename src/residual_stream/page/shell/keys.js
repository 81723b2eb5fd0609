// Keys: one listener; none while somebody types, chooses or composes Japanese, and none
// that a control has a meaning of its own for.

const BOXES = "input[type=checkbox]";
const SLIDERS = "input[type=range]";
const FIELDS = `input:not(${BOXES}, ${SLIDERS}), select, textarea, [contenteditable], [role=slider], [role=textbox]`;
const PRESSABLE = `button, summary, a[href], [role=button], [role=switch], ${BOXES}`;
const SLIDES = ["ArrowRight", "ArrowLeft", "Home", " "];

/** Listen on `target`; `actions` has next, back, start, residual, depth(change), projector, help. */
export function listenToKeys(target, actions) {
  function pressed(event) {
    if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = event.composedPath()[0];
    if (at instanceof Element && at.closest(FIELDS)) return;
    if (at instanceof Element && at.closest("dialog[open]")) return;
    // Space presses what has the focus
    if (event.key === " " && at instanceof Element && at.closest(PRESSABLE)) return;
    if (SLIDES.includes(event.key) && at instanceof Element && at.closest(SLIDERS)) return;
    const action = {
      ArrowRight: actions.next,
      " ": actions.next,
      ArrowLeft: actions.back,
      Home: actions.start,
      r: actions.residual,
      R: actions.residual,
      "[": () => actions.depth(-1),
      "]": () => actions.depth(+1),
      p: actions.projector,
      P: actions.projector,
      "?": actions.help,
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  target.addEventListener("keydown", pressed);
  return () => target.removeEventListener("keydown", pressed);
}
