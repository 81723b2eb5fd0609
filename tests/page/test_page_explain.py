"""Every number tells how it was worked out: by pointer, focus and finger."""

import re

import pytest
from playwright.sync_api import expect

from residual_stream import explain, run
from residual_stream.model.arithmetic import FORMS, number

UNTIL = "text"
# the steps whose matrices hold every kind of number, in blocks 1 and 2
INSIDE = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]

# Opens each number that is asked for and reads its panel.
READ = """async ({steps, each, residual}) => {
  const {root, store, settle} = await ResidualStream.page;
  const inside = root.querySelector(".inside");
  const opened = new Promise((resolve) => inside.addEventListener("toggle", resolve));
  inside.open = true;
  await opened;
  const panel = root.querySelector(".float");
  const text = (name) => panel.querySelector(name).textContent;
  return steps.flatMap((step) => {
    store.set({step, residual}, "test");
    settle();
    const numbers = [...root.querySelectorAll(".inside .number[data-name]")];
    return numbers.filter((_, i) => i % each === step % each).map((one) => {
      one.click();
      return {...one.dataset, shown: one.textContent, head: text(".float-head"),
        formula: text(".float-formula"), sum: text(".float-sum")};
    });
  });
}"""


@pytest.mark.parametrize("residual", [True, False])
def test_the_arithmetic_is_python_s_for_numbers_of_every_kind(
    page_at, example, residual
):
    """The same terms in the same form, to the letter, and the stored result."""
    lesson = page_at()
    asked = {"steps": INSIDE, "each": 5, "residual": residual}
    read = lesson.page.evaluate(READ, asked)
    trace = run(example, 3, residual)
    kinds = set()
    for one in read:
        index = tuple(int(i) for i in one["index"].split(","))
        worked = explain(trace, one["name"], index)
        result = number(trace[one["name"]][index])
        kinds.add(worked.operation)
        given = worked.operation == "given"
        assert one["sum"] == (result if given else f"{worked.text} = {result}")
        assert one["head"].startswith(one["name"])
        assert trace.entries[one["name"]].formula in one["formula"]
        assert one["shown"] == number(trace[one["name"]][index], 1)
    assert kinds == set(FORMS) - {"distance from the mean"}  # no layer norm here
    assert len(read) > 130


def panel(lesson):
    return lesson.page.get_by_role("dialog", name="How this number is worked out")


def test_under_the_pointer_it_opens_and_goes_away_again(page_at, trace):
    lesson = page_at("?step=4")
    numbers = lesson.page.locator("#step .number")
    numbers.nth(0).hover()
    worked = explain(trace, "blocks.0.resid_mid", (3, 0))
    expect(panel(lesson)).to_contain_text(f"{worked.text} = {number(worked.result)}")
    expect(panel(lesson).get_by_role("button")).to_have_count(0)
    numbers.nth(2).hover()
    expect(panel(lesson)).to_contain_text("function word")
    lesson.page.mouse.move(2, 2)
    expect(panel(lesson)).to_be_hidden()


def test_under_the_focus_it_opens_and_the_arrow_keys_rove(page_at):
    """One tab stop for a group of numbers; the arrow keys go on from there."""
    lesson = page_at("?step=4")
    page = lesson.page
    numbers = page.locator("#step .number")
    assert page.locator("#step .number[tabindex='0']").count() == 1
    page.locator("#step").focus()
    page.keyboard.press("Tab")
    expect(numbers.nth(0)).to_be_focused()
    expect(panel(lesson)).to_contain_text("geography")
    for key, place in [
        ("ArrowRight", 1),
        ("ArrowDown", 2),
        ("ArrowLeft", 1),
        ("ArrowUp", 0),
        ("ArrowUp", 0),
        ("ArrowRight", 1),
    ]:
        page.keyboard.press(key)
        expect(numbers.nth(place)).to_be_focused()
        expect(numbers.nth(place)).to_have_attribute("tabindex", "0")
        assert page.locator("#step .number[tabindex='0']").count() == 1
    expect(panel(lesson)).to_contain_text("finance")
    assert lesson.state()["step"] == 4
    page.keyboard.press("Escape")
    expect(panel(lesson)).to_be_hidden()
    expect(numbers.nth(1)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(numbers.nth(1)).to_be_focused()
    page.keyboard.press("Tab")
    expect(panel(lesson)).to_be_hidden()


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_terms_open_in_turn_down_to_a_weight_and_back(page_at, example, key):
    lesson = page_at("?step=4")
    page = lesson.page
    number_ = page.locator("#step .number").first
    number_.focus()
    page.keyboard.press(key)
    expect(panel(lesson)).to_be_focused()
    trace = run(example, 3)
    names = ["blocks.0.resid_mid"]
    while (terms := panel(lesson).locator(".term")).count():
        names.append(terms.last.get_attribute("title").partition(":")[0])
        terms.last.focus()
        page.keyboard.press(key)
        expect(panel(lesson).locator(".float-head code")).to_have_text(names[-1])
    assert names == ["blocks.0.resid_mid", "blocks.0.attn_out", "weights.W_O"]
    expect(panel(lesson)).to_contain_text("a weight set by hand")
    for name in reversed(names[:-1]):
        index = panel(lesson).get_by_role("button", name="Back to the number before")
        index.focus()
        page.keyboard.press(key)
        expect(panel(lesson).locator(".float-head code")).to_have_text(name)
        sum_ = panel(lesson).locator(".float-sum")
        expect(sum_).to_contain_text(explain(trace, name, (3, 0)).text)
    back = panel(lesson).get_by_role("button", name="Back to the number before")
    expect(back).to_have_count(0)
    page.keyboard.press("Escape")
    expect(panel(lesson)).to_be_hidden()
    expect(number_).to_be_focused()
    assert lesson.state()["step"] == 4


def test_a_click_keeps_it_open_until_it_is_closed(page_at):
    lesson = page_at("?step=4")
    number_ = lesson.page.locator("#block .scene-cell .number").first
    number_.click()
    lesson.page.mouse.move(5, 5)
    expect(panel(lesson)).to_contain_text("blocks.0.resid_pre")
    lesson.page.locator("#step .number").nth(1).hover()
    expect(panel(lesson)).to_contain_text("blocks.0.resid_pre")
    panel(lesson).get_by_role("button", name="Close").click()
    expect(panel(lesson)).to_be_hidden()
    number_.click()
    lesson.page.locator("h1").click()
    expect(panel(lesson)).to_be_hidden()
    number_.click()
    lesson.page.mouse.move(5, 5)
    lesson.put(step=5)
    expect(panel(lesson)).to_be_hidden()


def test_a_finger_opens_it_and_a_touch_beside_it_closes_it(page_at):
    lesson = page_at("?step=4", has_touch=True, viewport={"width": 390, "height": 844})
    lesson.page.locator(".scene-cell.is-new .number").nth(3).tap()
    expect(panel(lesson)).to_contain_text("identity")
    expect(panel(lesson)).to_be_in_viewport(ratio=1)
    panel(lesson).locator(".term").first.tap()
    expect(panel(lesson)).to_contain_text("blocks.0.resid_pre")
    lesson.page.touchscreen.tap(5, 5)
    expect(panel(lesson)).to_be_hidden()


def test_the_panel_stays_within_the_page_for_every_number_on_screen(page_at):
    lesson = page_at("?step=7", viewport={"width": 390, "height": 844})
    outside = lesson.page.evaluate("""() => {
      const panel = document.querySelector(".float");
      const numbers = [...document.querySelectorAll(".number[data-name]")]
        .filter((one) => one.checkVisibility());
      return numbers.filter((one) => {
        one.scrollIntoView({block: "center"});
        one.click();
        const {left, right, top} = panel.getBoundingClientRect();
        return left < 0 || right > document.documentElement.clientWidth || top < 0;
      }).map((one) => one.dataset.name);
    }""")
    assert outside == []


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_glossary_term_in_the_text_opens_its_note(page_at, language):
    lesson = page_at(f"?lang={language}")
    opened = lesson.page.evaluate("""() => {
      const panel = document.querySelector(".float");
      return [...document.querySelectorAll(".glossary-link")]
        .filter((link) => !link.closest("[inert]")).map((link) => {
        link.click();
        const open = [panel.hidden, panel.getAttribute("aria-label")];
        return [...open, panel.textContent, link.textContent];
      });
    }""")
    assert len(opened) > 5
    for hidden, name, note, _ in opened:
        assert not hidden
        assert note.startswith(name)
        assert len(note) > 20
        assert not re.search(r"undefined|null|\{", note)
    lesson.page.keyboard.press("Escape")
    expect(lesson.page.locator(".float")).to_be_hidden()
    term = lesson.page.locator("#step").get_by_role("button").first
    for key in ("Enter", "Space"):
        term.focus()
        lesson.page.keyboard.press(key)
        expect(lesson.page.locator(".float")).to_be_focused()
        lesson.page.keyboard.press("Escape")
        expect(term).to_be_focused()
    assert lesson.state()["step"] == 1
