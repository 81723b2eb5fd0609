"""The scene: what its bars show, and two of them side by side."""

from itertools import product

import pytest

UNTIL = "text"

# in a comparison: the vectors' lower edge, their heads and keys, what overlaps
SIDES = """() => {
  const seen = (part) => [...document.querySelectorAll(`.compare ${part}`)]
    .filter((one) => one.checkVisibility());
  const box = (one) => one.getBoundingClientRect();
  const heights = (part) => seen(part).map((one) => Math.round(box(one).height));
  const texts = seen(".scene-drawing .scene-piece").filter((one) => one.textContent)
    .map((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      const pill = parseFloat(getComputedStyle(one).borderRadius) > 0;
      return [one.textContent, pill ? box(one) : range.getBoundingClientRect()];
    });
  const {fontSize} = getComputedStyle(seen(".scene-picture")[0]);
  const leading = 0.3 * parseFloat(fontSize);
  const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1
    || a.bottom <= b.top + leading || b.bottom <= a.top + leading;
  const over = texts.flatMap(([text, one], i) => texts.slice(i + 1)
    .filter(([, other]) => !apart(one, other)).map(([other]) => [text, other]));
  const marked = seen(".is-marked .scene-axis").map((one) => {
    const row = one.closest(".is-marked");
    return box(one).left - box(row).left;
  });
  return {bottom: Math.max(...seen(".scene-vector").map((one) => box(one).bottom)),
    dock: box(document.querySelector(".dock")).top, heads: heights(".is-head"),
    keys: seen(".scene-key").map((one) => {
      return box(one).bottom - box(one.parentElement).bottom;
    }), over, marked};
}"""


@pytest.mark.parametrize(
    ("width", "height", "projector"), [(1280, 800, 0), (1920, 1080, 1)]
)
def test_both_sides_stand_on_one_screen_and_nothing_overlaps(
    page_at, width, height, projector
):
    """Down to the row of the word's identity, which is lost without the residual."""
    screen = {"width": width, "height": height}
    query = f"?compare=1&projector={projector}"
    lesson = page_at(query, viewport=screen)
    for language, depth, step in product(("ja", "en"), (3, 6), (3, 4, 9, 19)):
        lesson.put(language=language, depth=depth, step=step)
        seen = lesson.page.evaluate(SIDES)
        assert seen["bottom"] <= seen["dock"], (language, depth, step)
        assert seen["over"] == [], (language, depth, step)
        assert len(set(seen["heads"])) == 1
        assert max(seen["keys"]) <= 1
        assert all(room > 4 for room in seen["marked"])
        assert len(seen["marked"]) == (2 if step == 4 else 0)
