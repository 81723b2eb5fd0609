"""The wirings side by side in a browser: the numbers are those of Python's own runs."""

import pytest
from playwright.sync_api import expect

from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import load_lesson
from residual_stream.model.arithmetic import number
from residual_stream.model.wirings import WIRINGS, run_wiring
from residual_stream.table.model import model_table
from residual_stream.table.wirings import wirings_data

LESSON = load_lesson(lesson_folder(DEFAULT_LESSON))
WORDS = LESSON.named.tokens
NAMES = model_table(LESSON.named, 1)["names"]
DATA = {one["id"]: one for one in wirings_data(LESSON)["wirings"]}

CARDS = """() => Object.fromEntries(
  [...document.querySelectorAll(".wirings-card")].map((card) => {
    const text = (one) => card.querySelector(one).textContent;
    const seen = (one) => card.querySelector(one).checkVisibility();
    const texts = (one, inside = card) => [...inside.querySelectorAll(one)]
      .map((each) => each.textContent);
    return [card.className.replace("wirings-card is-", ""), {
      states: [...card.querySelectorAll("tbody tr")]
        .map((row) => texts(".number", row)),
      chosen: texts("thead .is-chosen"),
      error: text(".wirings-error"),
      difference: seen(".wirings-difference")
        ? [text(".wirings-name"), ...texts(".wirings-values .number")] : null,
      ribbon: card.querySelectorAll(".wirings-wire.is-x0").length,
    }];
  }))"""


@pytest.fixture
def wirings(page_at):
    lesson = page_at("?view=wirings&lang=en", until="text")
    expect(lesson.page.locator(".wirings-card")).to_have_count(len(WIRINGS))
    return lesson


def choose(lesson, token: int, block: int) -> None:
    for select, value in zip(
        lesson.page.locator(".wirings .settings select").all(),
        (str(token), str(block)),
        strict=True,
    ):
        select.select_option(value)


@pytest.mark.parametrize("token", range(len(WORDS)), ids=WORDS)
def test_each_number_is_of_the_wirings_own_run(wirings, token):
    for block in (1, 2, 3):
        choose(wirings, token, block)
        cards = wirings.page.evaluate(CARDS)
        assert list(cards) == list(WIRINGS)
        for name, card in cards.items():
            trace, of_word = run_wiring(LESSON.named.example, name, 3), DATA[name]
            states = [trace[state][token] for state in of_word["states"]]
            assert card["states"] == [
                [number(state[axis], 1) for state in states] for axis in range(4)
            ]
            assert card["chosen"] == ["x" + "₀₁₂₃"[block]]
            error = of_word["words"][token]["sum_errors"][block - 1]
            assert card["error"] == f"Sum error after block {block}: {number(error, 2)}"
            found = of_word["words"][token]["first_difference"]
            if found is None:
                assert card["difference"] is None
                continue
            axis = trace.entries[found["name"]].axes[-1]
            labels = [name["en"] for name in NAMES[axis]] if axis in NAMES else WORDS
            where, here, there = card["difference"]
            assert where == f"{found['name']}: {labels[found['index'][-1]]}"
            assert here == number(found["here"], 2)
            assert there == number(found["pre_norm"], 2)


def test_only_pre_norm_is_drawn_as_a_ribbon_and_the_others_say_why(wirings):
    note = wirings.page.locator(".wirings-note")
    expect(note).to_contain_text("The sum error is the largest difference, on any axis")
    """B6: in post-norm each norm divides x₀'s share too, so no ribbon is drawn."""
    cards = wirings.page.evaluate(CARDS)
    assert cards["pre_norm"]["ribbon"] > 0
    assert {name for name in WIRINGS if cards[name]["ribbon"]} == {"pre_norm"}
    for name in ("post_norm", "skip_after_norm", "add_inside"):
        card = wirings.page.locator(f".wirings-card.is-{name}")
        expect(card.locator(".wirings-sum")).to_contain_text("no ribbon")


# the lines of each axis' name beside its words, and how wide each state's column is
COLUMNS = """() => {
  const rows = document.querySelectorAll(".wirings-states tbody th");
  const names = [...rows].map((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return [range.getClientRects().length, one.textContent.split(" ").length];
  });
  const widths = [...document.querySelectorAll(".wirings-states thead th")]
    .map((one) => one.getBoundingClientRect().width);
  return {names, apart: Math.max(...widths) - Math.min(...widths)};
}"""


def test_no_axis_name_breaks_within_a_word_and_all_bars_share_one_scale(wirings):
    large = {"width": 1920, "height": 1080}
    for screen in (
        {"width": 1280, "height": 800},
        {"width": 320, "height": 640},
        large,
    ):
        wirings.page.set_viewport_size(screen)
        wirings.put(projector=screen is large, language="en")
        seen = wirings.page.evaluate(COLUMNS)
        assert len(seen["names"]) == 16
        assert all(lines <= words for lines, words in seen["names"]), screen
        assert seen["apart"] < 1, screen


def test_the_picture_marks_the_place_of_the_first_number_that_differs(wirings):
    for block, marked in ((1, 1), (2, 0)):
        choose(wirings, WORDS.index("bank"), block)
        for name in ("post_norm", "skip_after_norm", "add_inside"):
            card = wirings.page.locator(f".wirings-card.is-{name}")
            expect(card.locator(".wirings-picture .is-marked")).to_have_count(marked)
            picture = card.get_by_role("img")
            title = card.get_by_role("heading").inner_text()
            expect(picture).to_have_accessible_name(
                f"{title}: how block {block} is wired"
            )


def test_a_number_is_explained_by_its_own_wiring_and_beside_it_by_pre_norm(wirings):
    card = wirings.page.locator(".wirings-card.is-add_inside")
    note = wirings.page.locator(".float")
    found = DATA["add_inside"]["words"][WORDS.index("bank")]["first_difference"]
    for number_, key in zip(
        card.locator(".wirings-values .number").all(), ("here", "pre_norm"), strict=True
    ):
        number_.click()
        expect(note.locator(".float-head code")).to_have_text(found["name"])
        expect(note.locator(".float-sum strong")).to_have_text(number(found[key], 2))
        wirings.page.keyboard.press("Escape")


def test_the_word_is_the_lessons_and_stays_on_the_way_back(wirings):
    choose(wirings, WORDS.index("river"), 2)
    wirings.page.get_by_role("link", name="Lesson", exact=True).click()
    state = wirings.state()
    assert (state["view"], state["token"]) == ("lesson", "river")
    wirings.page.get_by_role("link", name="Wirings").click()
    selects = wirings.page.locator(".wirings .settings select")
    expect(selects.first).to_have_value(str(WORDS.index("river")))
    expect(selects.last).to_have_value("2")


def test_if_it_cannot_be_loaded_a_line_says_so_and_the_next_showing_tries(
    page_at, pages
):
    page = pages(color_scheme="light").page
    page.route("**/wirings.*.json", lambda route: route.abort())
    lesson = page_at(until="text", color_scheme="light")
    lesson.forgiven = ("ERR_FAILED",)
    lesson.put(view="wirings")
    line = page.locator(".wirings-line")
    expect(line).to_be_visible()
    expect(line).not_to_have_text("")
    page.unroute("**/wirings.*.json")
    lesson.put(view="lesson")
    lesson.put(view="wirings")
    expect(page.locator(".wirings-card")).to_have_count(len(WIRINGS))
    expect(line).to_be_hidden()


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_they_are_never_wider_than_their_page(page_at, width):
    lesson = page_at(
        "?view=wirings&lang=en",
        until="text",
        viewport={"width": width, "height": 844},
    )
    expect(lesson.page.locator(".wirings-card")).to_have_count(len(WIRINGS))
    for language in ("en", "ja"):
        lesson.put(language=language)
        assert lesson.page.evaluate("document.documentElement.scrollWidth") <= width
