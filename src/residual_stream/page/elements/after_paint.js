// What was asked for comes first: the parts below the step and its picture follow in the
// next moment, once the browser has painted, and are told of no more than the last state.

/**
 * Several views as one that follows after the paint.
 *
 * @returns {update(state, previous, options), settle(), remove()}; settle: follow at once
 */
export function createLater(views) {
  let owed = null; // {state, previous, options}

  function update(state, previous, options) {
    const isPlanned = owed !== null;
    owed = { state, previous: isPlanned ? owed.previous : previous, options };
    if (!isPlanned) afterPaint(settle);
  }

  function settle() {
    if (owed === null) return;
    const { state, previous, options } = owed;
    owed = null;
    for (const view of views) view.update(state, previous, options);
  }

  addEventListener("beforeprint", settle);
  function remove() {
    owed = null;
    removeEventListener("beforeprint", settle);
  }
  return { update, settle, remove };
}

/** Once the browser has painted; soon, if it does not paint (a page in the background). */
export function afterPaint(callback) {
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    callback();
  };
  requestAnimationFrame(() => setTimeout(once));
  setTimeout(once, 200);
}
