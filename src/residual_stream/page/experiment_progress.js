// Which experiments a learner has run, and what was predicted first. Kept in this
// browser only.

const PROGRESS_KEY = "residual-stream.progress";

/** What was predicted first, by experiment: of one lesson, by its id. */
export function createProgress(lessonId) {
  const kept = readProgress();
  let mine = kept[lessonId] ?? {};

  function keep() {
    try {
      localStorage.setItem(PROGRESS_KEY, JSON.stringify({ ...readProgress(), [lessonId]: mine }));
    } catch {
      // a page without storage keeps the record for this visit
    }
  }

  return {
    first: (id) => mine[id] ?? null,
    count: (ids) => ids.filter((id) => id in mine).length,
    note(id, option) {
      if (id in mine) return;
      mine = { ...mine, [id]: option };
      keep();
    },
    reset() {
      mine = {};
      keep();
    },
  };
}

function readProgress() {
  try {
    const kept = JSON.parse(localStorage.getItem(PROGRESS_KEY));
    if (kept === null || typeof kept !== "object") return {};
    return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== null && typeof value === "object"));
  } catch {
    return {};
  }
}
