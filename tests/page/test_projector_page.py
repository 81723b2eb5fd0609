"""On a projector: large type, and sentence, scene and depth map on one screen."""

from itertools import product

import pytest
from playwright.sync_api import expect

UNTIL = "drawn"
SCREEN = {"width": 1920, "height": 1080}

# every text that is seen, with the size of its type in px
SIZES = """() => [...document.querySelectorAll(".residual-stream *")]
  .filter((one) => one.checkVisibility({visibilityProperty: true})
    && !one.closest(".visually-hidden, .skip, svg")
    && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  .map((one) => [one.textContent.trim().slice(0, 30),
    parseFloat(getComputedStyle(one).fontSize)])"""

# the same of what is written in pictures, which may be drawn larger than they are
IN_PICTURES = """() => [...document.querySelectorAll(".residual-stream svg text")]
  .filter((one) => one.checkVisibility({visibilityProperty: true})
    && !one.closest(".visually-hidden") && one.textContent.trim())
  .map((one) => [one.textContent.trim().slice(0, 30),
    parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a])"""

PARTS = ["#step", "#block", "#map", ".depth-map-blocks", ".dock"]
PLACES = """(parts) => parts.map((one) => {
  const {top, bottom} = document.querySelector(one).getBoundingClientRect();
  return [Math.round(top), Math.round(bottom)];
})"""

START = {"view": "lesson", "residual": True, "compare": False, "projector": True}
STATES = {
    "attention": {"step": 3, "depth": 6, "language": "ja"},
    "add": {"step": 7, "depth": 3, "language": "en"},
    "residual off": {"step": 38, "depth": 6, "residual": False, "language": "en"},
    "deep": {"step": 74, "depth": 12, "language": "ja"},
}

# in the comparison: depth and step of arcs, of what the FFN reads, an add and the sum
PAIRS = [(3, 3), (3, 6), (6, 37), (12, 74)]
SCROLLS = "document.documentElement.scrollHeight"


@pytest.mark.parametrize("screen", [SCREEN, {"width": 1280, "height": 720}], ids=str)
def test_sentence_scene_and_map_stand_on_one_screen(page_at, screen):
    lesson = page_at("?projector=1", viewport=screen)
    for name, state in STATES.items():
        lesson.put(**START | state)
        _, (_, scene), (top, bottom), (_, numbers), (dock, end) = lesson.page.evaluate(
            PLACES, PARTS
        )
        assert scene <= top < bottom, name
        assert numbers <= dock, name  # the blocks' numbers are above the controls
        assert end <= screen["height"], name
        assert lesson.page.evaluate(SCROLLS) <= screen["height"] + 1, name
        # the depth map still has a height to speak of
        height = lesson.page.locator(".depth-map-stage").bounding_box()["height"]
        assert height > 0.13 * screen["height"], name
    # two maps below two scenes, with arcs and without, and where they stood before
    tops = set()
    for language, (depth, step) in product(("ja", "en"), PAIRS):
        place = {"language": language, "depth": depth, "step": step}
        lesson.put(**START | {"compare": True, "residual": True} | place)
        maps = lesson.page.locator(".maps-pair .depth-map-blocks")
        ends = [box["y"] + box["height"] for box in map(box_of, maps.all())]
        assert len(ends) == 2
        assert max(ends) <= box_of(lesson.page.locator(".dock"))["y"] + 1, place
        assert lesson.page.evaluate(SCROLLS) <= screen["height"] + 1, place
        tops.add(round(min(ends)))
    assert len(tops) == 1, tops


def box_of(part):
    return part.bounding_box()


# what the head offers, where it ends and the arcs begin, and the step and the map meet
HEAD = """() => {
  const box = (part) => document.querySelector(part).getBoundingClientRect();
  const offered = [...document.querySelectorAll(".masthead :is(a, button, select)")]
    .filter((one) => one.checkVisibility())
    .map((one) => one.getAttribute("aria-label") ?? one.textContent);
  const text = document.querySelector(".step-text");
  const size = parseFloat(getComputedStyle(text).fontSize);
  return {offered, size, apart: box(".scene-arcs").top - box(".masthead").bottom,
    left: box("#map").top - box("#step").bottom};
}"""


def test_the_sentence_is_large_and_little_else_is_left(page_at):
    lesson = page_at("?projector=1", until="text", viewport=SCREEN)
    for language, step in product(("en", "ja"), range(1, 21)):
        lesson.put(**START | {"language": language, "step": step, "depth": 3})
        seen = lesson.page.evaluate(HEAD)
        assert seen["size"] >= 1.25 * 24
        assert seen["left"] > 0, (language, step)
        assert seen["apart"] > 0
        assert len(seen["offered"]) == 2, seen["offered"]  # language, and the way out
    lesson.put(view="experiments", language="en")
    assert "Lesson" in lesson.page.evaluate(HEAD)["offered"]


ELSEWHERE = {
    "compare": ({"step": 9, "compare": True, "language": "en"}, ".compare-sides"),
    "experiment": ({"view": "experiments", "experiment": "F3"}, ".experiments-title"),
    "list": ({"view": "experiments", "language": "ja"}, ".experiments-open"),
    "lab": ({"view": "lab", "language": "en"}, ".lab-pattern .number"),
    "wirings": ({"view": "wirings", "language": "ja"}, ".wirings-card"),
}
EVERYWHERE = {n: (state, "#step") for n, state in STATES.items()} | ELSEWHERE


def test_no_type_is_smaller_than_24_px(page_at):
    lesson = page_at("?projector=1&lang=en", until="linked", viewport=SCREEN)
    for name, (state, there) in EVERYWHERE.items():
        lesson.put(**START | {"experiment": ""} | state)
        lesson.page.locator(there).first.wait_for()
        lesson.wait("drawn")
        sizes = lesson.page.evaluate(SIZES)
        assert len(sizes) > 15, name
        sizes += lesson.page.evaluate(IN_PICTURES)
        assert [pair for pair in sizes if pair[1] < 24] == [], name
        # what Bokeh writes is in the map's own type
        texts = lesson.page.evaluate("""() => Bokeh.documents.flatMap((one) =>
          [...one._all_models.values()].filter((model) => model.name === "texts")
            .map((model) => model.glyph.text_font_size.value))""")
        assert all(float(size.removesuffix("px")) >= 24 for size in texts), name


def test_a_key_and_a_button_switch_it_and_the_link_keeps_it(page_at):
    lesson = page_at("?step=4", viewport=SCREEN)
    page = lesson.page
    sum_ = page.locator("#sum")
    page.keyboard.press("p")
    expect(sum_).to_be_hidden()
    assert lesson.state()["projector"]
    page.wait_for_timeout(300)
    assert "projector=1" in page.url
    page.keyboard.press("Shift+P")
    expect(sum_).to_be_visible()
    page.get_by_role("button", name="Projector").click()
    expect(sum_).to_be_hidden()
    page.get_by_role("button", name="Leave projector view").click()
    expect(sum_).to_be_visible()
