"""The exported file: its state after "#", within a sandbox, and every number of it."""

import html
import re
from itertools import product
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect
from test_page_walk import WORDS, shown, told

from residual_stream import run
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.model.arithmetic import number
from residual_stream.page.publication import publish

UNTIL = "text"
START = {"step": "1", "depth": "3", "residual": "on", "token": "bank", "lang": "en"}
DEPTHS = range(1, 13)


@pytest.fixture
def file_at(page_at, offline_file):
    """Open the file with something behind its name, without a network."""

    def open_file(behind: str = "", **options):
        return page_at(behind, at=offline_file.as_uri(), offline=True, **options)

    return open_file


def after_hash(url: str) -> dict[str, str]:
    assert urlsplit(url).query == ""
    return dict(parse_qsl(urlsplit(url).fragment))


def faults(lesson) -> list[str]:
    notice = lesson.page.get_by_role("alert")
    return notice.locator("li").all_inner_texts() if notice.is_visible() else []


# ----------------------------------------------------------------- a link to a state


def test_what_stands_after_the_hash_sets_the_page_and_stays_there(file_at):
    written = "#step=7&depth=4&residual=off&token=river&lang=ja&compare=1&hide=sum,map"
    lesson = file_at(written)
    assert faults(lesson) == []
    state = lesson.state()
    assert (state["step"], state["depth"], state["residual"]) == (7, 4, False)
    assert (state["token"], state["language"]) == ("river", "ja")
    assert (state["compare"], state["hide"]) == (True, ["sum", "map"])
    assert lesson.page.url.endswith("lesson.html" + written)


def test_the_state_goes_after_the_hash_and_leaves_no_trail(file_at):
    lesson = file_at()
    before = lesson.page.evaluate("history.length")
    assert after_hash(lesson.page.url) == START
    lesson.put(step=5, token=0)
    expect(lesson.page).to_have_url(re.compile(r"lesson\.html#step=5&.*&token=by&"))
    assert lesson.page.evaluate("history.length") == before


def test_a_query_is_read_and_moves_after_the_hash(file_at):
    lesson = file_at("?step=4&depth=6&token=river")
    wanted = START | {"step": "4", "depth": "6", "token": "river"}
    assert after_hash(lesson.page.url) == wanted


@pytest.mark.parametrize("kind", ["a file", "served"])
def test_a_state_after_the_hash_wins_over_the_query(file_at, page_at, kind):
    """It is a whole state: what it does not name is not taken from the query."""
    address = "?step=2&depth=6&compare=1#token=the&step=9"
    lesson = (file_at if kind == "a file" else page_at)(address)
    state = lesson.state()
    assert (state["step"], state["depth"], state["token"]) == (9, 3, "the")
    assert state["compare"] is False
    parts = urlsplit(lesson.page.url)
    where, empty = parts.fragment, parts.query
    if kind == "served":
        where, empty = empty, where
    assert dict(parse_qsl(where)) == START | {"step": "9", "token": "the"}
    assert empty == ""


@pytest.mark.parametrize("behind", ["#step", "#there", "#utm=1", "#"])
def test_another_name_after_the_hash_is_no_state(page_at, behind):
    lesson = page_at(f"?step=6{behind}")
    assert faults(lesson) == []
    assert lesson.state()["step"] == 6
    assert urlsplit(lesson.page.url).fragment == behind[1:]


def test_an_address_that_is_edited_by_hand_sets_the_page(file_at):
    lesson = file_at("#step=4&depth=6&compare=1&lang=ja")
    home = lesson.page.url.partition("#")[0]
    lesson.page.evaluate("globalThis.same = true")
    lesson.page.goto(f"{home}#step=20&residual=off")
    expect(lesson.region("Step")).to_contain_text("Step 20 of 20")
    edited = lesson.state()
    wanted = START | {"step": "20", "residual": "off"}
    assert after_hash(lesson.page.url) == wanted
    lesson.page.goto(f"{home}#view=lab")
    expect(lesson.page.locator(".lab-offline")).to_be_visible()
    assert lesson.page.evaluate("same")  # no page was loaded anew
    assert file_at("#step=20&residual=off").state() == edited  # and a load gives it too


def test_back_in_the_history_takes_a_hand_s_edit_back(file_at):
    lesson = file_at("#step=4")
    lesson.page.goto(lesson.page.url.replace("step=4", "step=9"))
    expect(lesson.region("Step")).to_contain_text("Step 9 of 20")
    lesson.page.go_back()
    expect(lesson.region("Step")).to_contain_text("Step 4 of 20")


BAD = "step=²&depth=99&residual=ON&token=<img src=x>&lang=fr&compare=2&hide=all"


def test_bad_values_give_the_same_lines_as_in_a_query(file_at, page_at):
    told_by_query = faults(page_at(f"?{BAD}"))
    assert len(told_by_query) == 7
    lesson = file_at(f"#{BAD}")
    assert faults(lesson) == told_by_query
    assert after_hash(lesson.page.url) == START


def test_a_bad_edit_is_told_and_a_good_one_takes_the_line_away(file_at):
    lesson = file_at("#step=2")
    home = lesson.page.url.partition("#")[0]
    line = lesson.page.get_by_role("alert")
    expect(line).to_be_hidden()
    lesson.page.goto(f"{home}#step=21&token=river")
    expect(line.locator("li")).to_have_count(1)
    expect(line).to_contain_text("step=21 in the link cannot be used")
    state = lesson.state()
    assert (state["step"], state["token"]) == (1, "river")
    assert after_hash(lesson.page.url) == START | {"token": "river"}
    lesson.put(language="ja")
    expect(line).to_contain_text("リンクのstep=21は使えません")
    line.get_by_role("button").click()
    expect(line).to_be_hidden()
    lesson.page.goto(f"{home}#depth=0")
    expect(line.locator("li")).to_have_count(1)
    lesson.page.goto(f"{home}#depth=5")
    expect(line).to_be_hidden()
    assert lesson.state()["depth"] == 5


def test_copy_link_copies_the_state_after_the_hash(file_at):
    lesson = file_at("#step=7&residual=off")
    lesson.page.evaluate("""() => Object.defineProperty(navigator, "clipboard", {
      value: {writeText: async (text) => void (globalThis.copied = text)},
    })""")
    lesson.button("Copy link").click()
    expect(lesson.page.locator(".copy-said")).not_to_be_empty()
    copied = lesson.page.evaluate("copied")
    assert after_hash(copied) == START | {"step": "7", "residual": "off"}
    assert copied == lesson.page.url


# ------------------------------------------------------------------------ a sandbox

FRAME = '<!doctype html><title>host</title><iframe sandbox="allow-scripts" {}></iframe>'
EVERY_VIEW = """async () => {
  const page = await ResidualStream.page;
  for (const view of ["experiments", "wirings", "lab", "lesson"]) {
    page.store.set({view});
    page.settle();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  page.store.set({compare: true, theme: "dark"});
  page.store.set({compare: false, residual: false});
  page.settle();
  return origin;
}"""


@pytest.mark.parametrize("kind", ["src", "srcdoc"])
def test_a_sandboxed_frame_holds_the_whole_lesson(
    page_at, offline_file, tmp_path, kind
):
    """It has no storage, no history and no origin; the fixture hears the console."""
    source = {
        "src": f"{offline_file.as_uri()}#step=7&amp;depth=4&amp;token=river",
        "srcdoc": html.escape(offline_file.read_text("utf-8")),
    }
    size = f'width="1200" height="800" {kind}="{source[kind]}"'
    (tmp_path / "host.html").write_text(FRAME.format(size), "utf-8")
    at = (tmp_path / "host.html").as_uri()
    lesson = page_at(at=at, until="nothing", offline=True)
    inside = lesson.page.frame_locator("iframe")
    step = inside.get_by_role("region", name="Step", exact=True)
    begun = {"src": "Step 7 of 26", "srcdoc": "Step 1 of 20"}
    expect(step).to_contain_text(begun[kind])
    inside.get_by_role("button", name="Next", exact=True).click()
    expect(step).not_to_contain_text(begun[kind])
    drawn = inside.locator(".depth-map-slot:not(.is-waiting) canvas")
    expect(drawn.first).to_be_visible()
    assert lesson.page.frames[1].evaluate(EVERY_VIEW) == "null"
    expect(inside.get_by_role("switch", name="Residual")).not_to_be_checked()
    inside.get_by_role("button", name="Copy link").click()
    link = inside.get_by_role("textbox", name="Copy link").input_value()
    at_step = {"step": "8", "depth": "4", "token": "river"}
    wanted = START | (at_step if kind == "src" else {"step": "2"})
    # a frame that holds a text has no address: what can stand behind one is given
    given = after_hash(link) if kind == "src" else dict(parse_qsl(link[1:]))
    assert given == wanted | {"residual": "off"}


# ------------------------------------------------------------------- every number

# each step of a walk: its number, its words, its numbers and the sum's last row, which
# is the same from the first step to the last
EVERY_STEP = """async (state) => {
  const {root, store, settle} = await ResidualStream.page;
  const text = (name) => root.querySelector(name).textContent;
  const numbers = (name) => [...root.querySelectorAll(`${name} .number`)]
    .map(({dataset, textContent}) =>
      [dataset.residual, dataset.name, dataset.index, textContent].join(" "));
  const seen = [];
  const last = 2 + 6 * state.depth;
  for (let step = 1; step <= last; step++) {
    store.set({...state, step}, "test");
    if (step === 1 || step === last) settle();
    seen.push([text(".step-count"), text(".step-title"), text(".step-text"),
      numbers("#step"), numbers("#sum .is-total")]);
  }
  return seen;
}"""


def numbers(trace, residual, name, token) -> list[str]:
    """A row of the trace as the page shows it, each number with its place."""
    return [
        f"{residual} {name} {token},{axis} {number(value, 1)}"
        for axis, value in enumerate(trace[name][token])
    ]


def test_every_state_of_the_file_shows_the_trace_s_numbers(file_at, example):
    """3,936 states: 12 depths, residual on and off, four words, each step."""
    publication = publish(lesson_folder(DEFAULT_LESSON))
    lesson = file_at()
    count = 0
    for depth, residual in product(DEPTHS, ("on", "off")):
        trace = run(example, depth, residual == "on")
        last = f"blocks.{depth - 1}.resid_post"
        for token in range(len(WORDS)):
            place = {"depth": depth, "token": token}
            state = place | {"residual": residual == "on"}
            for step, seen in enumerate(lesson.page.evaluate(EVERY_STEP, state), 1):
                name = shown(step, depth)
                at = {"step": step, "residual": residual}
                title, text = told(publication, "en", **place, **at)
                assert seen == [
                    f"Step {step} of {2 + 6 * depth}",
                    title,
                    text,
                    numbers(trace, residual, name, token),
                    numbers(trace, residual, last, token),
                ], (place, at)
                count += 1
    assert count == 2 * len(WORDS) * sum(2 + 6 * depth for depth in DEPTHS) == 3936
