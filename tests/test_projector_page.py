"""On a projector: large type, and sentence, scene and depth map on one screen."""

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

PARTS = ["#step", "#block", "#map", ".depth-map-blocks", ".dock"]
PLACES = """(parts) => parts.map((one) => {
  const {top, bottom} = document.querySelector(one).getBoundingClientRect();
  return [Math.round(top), Math.round(bottom)];
})"""

STATES = {
    "attention": "?step=3&depth=6&lang=ja",
    "add": "?step=7&depth=3&lang=en",
    "residual off": "?step=38&depth=6&residual=off&lang=en",
    "deep": "?step=74&depth=12&lang=ja",
}


@pytest.mark.parametrize("query", STATES.values(), ids=STATES)
@pytest.mark.parametrize("screen", [SCREEN, {"width": 1280, "height": 720}], ids=str)
def test_sentence_scene_and_map_stand_on_one_screen(page_at, query, screen):
    lesson = page_at(f"{query}&projector=1", viewport=screen)
    _, (_, scene), (top, bottom), (_, numbers), (dock, end) = lesson.page.evaluate(
        PLACES, PARTS
    )
    assert scene <= top < bottom
    assert numbers <= dock  # the blocks' numbers are above the controls
    assert end <= screen["height"]
    scrolls = "document.documentElement.scrollHeight"
    assert lesson.page.evaluate(scrolls) <= screen["height"] + 1
    # the depth map still has a height to speak of
    height = lesson.page.locator(".depth-map-stage").bounding_box()["height"]
    assert height > 0.13 * screen["height"]


EVERYWHERE = STATES | {
    "compare": "?step=9&compare=1",
    "experiment": "?view=experiments&experiment=F3",
    "list": "?view=experiments&lang=ja",
    "lab": "?view=lab",
}


@pytest.mark.parametrize("query", EVERYWHERE.values(), ids=EVERYWHERE)
def test_no_type_is_smaller_than_24_px(page_at, query):
    lesson = page_at(f"{query}&projector=1", viewport=SCREEN)
    lesson.page.locator("main").get_by_role("button").nth(1).wait_for()
    sizes = lesson.page.evaluate(SIZES)
    assert len(sizes) > 15
    assert [pair for pair in sizes if pair[1] < 24] == []
    # what Bokeh writes is in the map's own type
    texts = lesson.page.evaluate("""() => Bokeh.documents.flatMap((one) =>
      [...one._all_models.values()].filter((model) => model.name === "texts")
        .map((model) => model.glyph.text_font_size.value))""")
    assert all(float(size.removesuffix("px")) >= 24 for size in texts)


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
