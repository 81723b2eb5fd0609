"""The scene: what its bars show, and two of them side by side."""

from itertools import product

import pytest

UNTIL = "text"

# each row's bars that are seen, with their edges
BARS = """() => {
  const seen = [...document.querySelectorAll("#block .scene-bar")]
    .filter((one) => one.checkVisibility({visibilityProperty: true}));
  const of = (name) => seen.filter((one) => one.matches(`.is-${name}`)).map((one) => {
    const {left, right, top, bottom} = one.getBoundingClientRect();
    return {left, right, top, bottom, width: right - left};
  });
  const key = [...document.querySelectorAll("#block .scene-key-item")]
    .filter((one) => one.checkVisibility()).map((one) => one.textContent);
  const loop = document.querySelector("#block .scene-arc:last-child");
  const [arc, word] = [loop, document.querySelector("#block .is-followed .scene-word")]
    .map((one) => one.getBoundingClientRect());
  return {delta: of("delta"), input: of("input"), end: of("end"), first: of("first"),
    key, over: [arc.left - word.left, word.right - arc.right]};
}"""


def test_the_smallest_correction_and_the_ends_of_the_bars_are_seen(page_at):
    lesson = page_at("?step=37&depth=6&residual=off&lang=en")
    seen = lesson.page.evaluate(BARS)
    assert min(bar["width"] for bar in seen["delta"]) >= 4
    # x₀'s mark above and the new state's below leave the bar's middle free
    rows = zip(seen["input"], seen["delta"], seen["end"], strict=True)
    for before, bar, after in rows:
        assert before["bottom"] < (bar["top"] + bar["bottom"]) / 2 < after["top"]
    assert seen["key"] == ["old state", "x₀", "Δ₁₂ FFN", "new state"]
    for step, ends in ((37, 4), (38, 4), (36, 0)):
        lesson.put(step=step, residual=True)
        seen = lesson.page.evaluate(BARS)
        assert seen["input"] == []  # x₀'s own bar ends there
        assert len(seen["end"]) == ends, step
        assert ("new state" in seen["key"]) == (ends > 0), step
        assert all(bar["width"] >= 4 for bar in seen["delta"]), step
    lesson.put(step=3, depth=3)
    assert min(lesson.page.evaluate(BARS)["over"]) >= 0  # the word's arc to itself


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
