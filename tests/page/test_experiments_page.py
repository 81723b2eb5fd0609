"""Predict, run, see: every experiment played in the page, in both languages."""

import re

import pytest
from playwright.sync_api import expect

from conftest import PHONE
from residual_stream.lesson.experiments.experiment import experiments_data
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import load_lesson
from residual_stream.table.questions import plain

UNTIL = "text"
IDS = [f"{group}{number}" for group in "FG" for number in range(1, 6)]
LANGUAGES = ("ja", "en")

# texts of pictures that stick out of the page
OUTSIDE = """width => [...document.querySelectorAll("figure.charts svg text")]
  .filter((text) => text.getBoundingClientRect().right > width + 1
    || text.getBoundingClientRect().left < -1)
  .map((text) => text.textContent)"""

# a vector's numbers, and how far their bars reach to the left and the right of zero
SIDES = """(figure) => [...figure.querySelectorAll("td")].map((cell) => {
  const box = (part) => cell.querySelector(part).getBoundingClientRect();
  const [bar, zero] = [box(".charts-bar"), box(".charts-bar-zero").left];
  return [cell.textContent, zero - bar.left, bar.right - zero];
})"""

# lines that begin within a word of kanji or of katakana
BROKEN = """() => {
  const within = /^(?:[\\u4e00-\\u9fff]{2}|[\\u30a1-\\u30ff]{2})$/;
  const walker = document.createTreeWalker(document.querySelector("main"), 4);
  const found = [];
  const range = document.createRange();
  const top = (node, i) => {
    range.setStart(node, i);
    range.setEnd(node, i + 1);
    return range.getBoundingClientRect().top;
  };
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent.closest("select, textarea, .visually-hidden")) continue;
    if (!parent.checkVisibility({visibilityProperty: true})) continue;
    for (let i = 1; i < node.length; i += 1) {
      if (!within.test(node.data.slice(i - 1, i + 1))) continue;
      if (top(node, i) < top(node, i - 1) + 5) continue;
      found.push(node.data.slice(i - 3, i + 3));
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def data():
    lesson = load_lesson(lesson_folder(DEFAULT_LESSON))
    return {e["id"]: e for e in experiments_data(lesson)["experiments"]}


def show(lesson, name):
    """From wherever the view is, through the list, to one experiment."""
    if lesson.page.locator(".experiments-back").count():
        lesson.page.locator(".experiments-back").click()
    lesson.page.locator(".experiments-open", has_text=name).click()


def opened(page_at, name, language="en"):
    lesson = page_at(f"?view=experiments&lang={language}")
    show(lesson, name)
    return lesson


def choose(lesson, option):
    lesson.page.check(f"input[type=radio][value={option}]")


def run(lesson):
    lesson.page.locator(".experiments-go button").click()


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_prediction_gets_its_own_answer(page_at, data, ui, language):
    lesson = page_at(f"?view=experiments&lang={language}")
    for name, experiment in data.items():
        show(lesson, name)
        for option in experiment["options"]:
            choose(lesson, option)
            run(lesson)
            piece = f"answer-{option}"
            told, fills = experiment["prose"][language][piece], experiment["fills"]
            answer = lesson.page.locator(".experiments-answer")
            assert answer.locator("h3").inner_text() == plain(
                told["title"], fills[piece]
            )
            shown = answer.locator(".experiments-text").text_content()
            assert shown == plain(told["nodes"], fills[piece])
            key = "right" if option == experiment["right"] else "wrong"
            verdict = answer.locator(".experiments-verdict").inner_text()
            assert verdict.endswith(ui[f"experiments_{key}"][language])
            figures = lesson.page.locator("figure.charts")
            assert figures.count() == len(experiment["pictures"])


def test_nothing_is_shown_before_a_prediction(page_at, ui):
    lesson = opened(page_at, "F1")
    button = lesson.page.locator(".experiments-go button")
    assert button.get_attribute("aria-disabled") == "true"
    button.press("Enter")
    assert lesson.page.locator("figure.charts").count() == 0
    assert lesson.page.evaluate("document.activeElement.type") == "radio"
    hint = lesson.page.locator(".experiments-hint").inner_text()
    assert hint == ui["experiments_choose_first"]["en"]


def test_an_experiment_can_be_played_with_the_keyboard_alone(page_at, data):
    lesson = opened(page_at, "F3")
    keyboard = lesson.page.keyboard
    lesson.page.locator("input[type=radio]").first.focus()
    for key in ("Space", "ArrowDown", "ArrowDown", "Tab", "Enter"):
        keyboard.press(key)
    focused = lesson.page.evaluate("document.activeElement.textContent")
    fills = data["F3"]["fills"]["answer-c"]
    assert focused == plain(data["F3"]["prose"]["en"]["answer-c"]["title"], fills)
    said = lesson.page.locator("[aria-live=polite]").text_content()
    assert said.startswith("As predicted. ")
    assert lesson.state()["step"] == 1  # the arrows moved the radios only


def test_the_first_prediction_is_kept_until_it_is_cleared(page_at, ui):
    lesson = opened(page_at, "G1")
    choose(lesson, "a")
    run(lesson)
    lesson.page.locator(".experiments-back").click()
    done = lesson.page.locator(".experiments-foot")
    assert "1 of 10" in done.inner_text()
    expect(lesson.page).not_to_have_url(re.compile("experiment="))  # it follows soon
    lesson.page.reload()
    lesson.wait_live()
    mark = lesson.page.locator(".experiments-done")
    expect(mark).to_have_text([f"✓ {ui['experiments_done']['en']}"])
    lesson.press(ui["experiments_reset"]["en"])
    expect(mark).to_have_count(0)
    assert "0 of 10" in done.inner_text()


def test_the_next_experiment_follows_and_the_last_leads_to_the_list(page_at):
    lesson = opened(page_at, "G4")
    choose(lesson, "b")
    run(lesson)
    lesson.page.locator(".experiments-next").click()
    assert lesson.texts(".experiments-which") == ["Experiment G5"]
    assert lesson.page.locator("figure.charts").count() == 0
    choose(lesson, "c")
    run(lesson)
    lesson.page.locator(".experiments-rest button").click()
    assert lesson.page.locator(".experiments-open").count() == 10


def test_a_change_of_language_keeps_prediction_and_answer(page_at, data):
    lesson = opened(page_at, "F2")
    choose(lesson, "b")
    run(lesson)
    lesson.put(language="ja")
    answer = lesson.page.locator(".experiments-answer h3").inner_text()
    assert answer == plain(data["F2"]["prose"]["ja"]["answer-b"]["title"], [])
    assert lesson.page.locator("input[value=b]").is_checked()


def test_pictures_have_words_on_their_axes_and_their_numbers_as_text(page_at, data):
    lesson = page_at("?view=experiments&lang=en")
    for name, experiment in data.items():
        show(lesson, name)
        choose(lesson, "a")
        run(lesson)
        figures = lesson.page.locator("figure.charts")
        for place, picture in enumerate(experiment["pictures"]):
            figure = figures.nth(place)
            cells = [c for c in figure.locator("td").all_text_contents() if c]
            assert len(cells) == len(picture["rows"]) * len(picture["columns"])
            if picture["kind"] in ("lines", "bars"):
                axis = figure.locator("svg .charts-axis").first.text_content()
                assert axis == picture["y"]["en"]
                label = figure.locator("svg.charts-svg").get_attribute("aria-label")
                assert label == picture["title"]["en"]
            elif picture["kind"] == "vectors":
                for text, left, right in figure.evaluate(SIDES):
                    assert (text[0] == "−", text.strip("−0.") != "") in {
                        (True, left > 2),
                        (False, right > 2),
                    }, (name, text)


SCREENS = {320: "lang=ja", 1280: "lang=ja", 1920: "lang=en&projector=1"}


@pytest.mark.parametrize("width", SCREENS)
def test_no_experiment_is_wider_than_its_page(page_at, width):
    viewport = {**PHONE, "width": width}
    lesson = page_at(f"?view=experiments&{SCREENS[width]}", viewport=viewport)
    for name in IDS:
        show(lesson, name)
        choose(lesson, "a")
        run(lesson)
        assert lesson.page.evaluate("document.documentElement.scrollWidth") <= width
        assert lesson.page.evaluate(OUTSIDE, width) == [], name


def test_on_a_phone_no_japanese_line_begins_within_a_word(page_at):
    lesson = page_at("?view=experiments&lang=ja", viewport=PHONE)
    seen = lesson.page.evaluate(BROKEN)
    for name in IDS:
        show(lesson, name)
        seen += lesson.page.evaluate(BROKEN)
    for view in ("wirings", "lab", "links"):
        lesson.put(view=view)
        lesson.page.locator(f".{view} h3").first.wait_for()
        seen += lesson.page.evaluate(BROKEN)
    assert seen == []
