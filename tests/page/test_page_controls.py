"""Every control and key of the page, and the state that Python sees of them."""

import asyncio
import re
import threading
import time
from concurrent.futures import Future

import pytest
from panel.io.state import state as panel_state
from playwright.sync_api import expect

from conftest import START
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.page.component import StateLink
from residual_stream.page.publication import publish
from residual_stream.serve import server

UNTIL = "text"
RIVER = {"token": "river"}
DEEP_LAB = "residual*off_depth*12"


class Classroom:
    """The lesson served from this process: a test holds each learner's state."""

    def __init__(self) -> None:
        self.links: list[StateLink] = []
        self.messages: list[dict] = []
        serving = server.Serving(port=0)
        port = server.free_port(serving)
        self.url = server.url(serving, port)
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(serving, port))
        self._thread.start()
        assert self._started.wait(30)

    def _run(self, serving: server.Serving, port: int) -> None:
        asyncio.set_event_loop(loop := asyncio.new_event_loop())
        publication = publish(lesson_folder(DEFAULT_LESSON))
        self._server = server.serve(publication, serving, port)
        self._server.start()
        self._started.set()
        self._server.io_loop.start()
        loop.close()

    def stop(self) -> None:
        def end() -> None:
            self._server.stop()
            self._server.io_loop.stop()

        self._server.io_loop.add_callback(end)
        self._thread.join(20)
        assert not self._thread.is_alive()

    @property
    def state(self):
        """The state of whoever came last."""
        return self.links[-1].state

    def set(self, **values) -> None:
        """Change it from Python, as code in the server does."""
        self.call(self.state.param.update, **values)

    def call(self, function, *args, **kwargs) -> None:
        """Run it in the last learner's session; what it raises is raised here."""
        done: Future = Future()

        def run() -> None:
            try:
                done.set_result(function(*args, **kwargs))
            except Exception as error:
                done.set_exception(error)

        (document,) = {panel_state._views[ref][2] for ref in self.links[-1]._models}
        self._server.io_loop.add_callback(document.add_next_tick_callback, run)
        done.result(10)


@pytest.fixture(scope="module")
def classroom():
    patch = pytest.MonkeyPatch()
    opened, told = server.open_session, StateLink._handle_msg

    def keep(*args):
        room.links.append(opened(*args))
        return room.links[-1]

    def count(link, message):
        room.messages.append(message)
        told(link, message)

    patch.setattr(server, "open_session", keep)
    patch.setattr(StateLink, "_handle_msg", count)
    room = Classroom()
    yield room
    room.stop()
    patch.undo()


@pytest.fixture
def learner(page_at, classroom):
    """Opens the classroom's page; what it says at the start is not counted."""

    def come(query="", **options):
        before = len(classroom.messages)
        lesson = page_at(query, at=classroom.url, until="linked", **options)
        soon(lambda: len(classroom.messages) > before)
        classroom.messages.clear()
        return lesson

    return come


def soon(check, patience=10.0) -> None:
    """Wait until it is so."""
    end = time.monotonic() + patience
    while not (now := check()) and time.monotonic() < end:
        time.sleep(0.01)
    assert now


def address_of(state) -> str:
    words = {"residual": "on" if state["residual"] else "off"}
    query = f"?step={state['step']}&depth={state['depth']}&residual={words['residual']}"
    query += f"&token={state['token']}&lang={state['language']}"
    if state["view"] != "lesson":
        query += f"&view={state['view']}"
    query += "".join(f"&{k}={state[k]}" for k in ("experiment", "lab") if state[k])
    query += "&compare=1" * state["compare"] + "&projector=1" * state["projector"]
    return query + (f"&hide={','.join(state['hide'])}" if state["hide"] else "")


def agree(lesson, classroom, **differences) -> None:
    """Page, address bar and Python all hold the start with these differences."""
    wanted = START | differences
    assert lesson.state() == wanted
    expect(lesson.page).to_have_url(re.compile(re.escape(address_of(wanted)) + "$"))
    soon(lambda: classroom.state.as_dict() == wanted)
    shows(lesson, wanted)


def shows(lesson, state) -> None:
    """The controls and the text say the same."""
    page, ja = lesson.page, state["language"] == "ja"
    steps = 2 + 6 * state["depth"]
    count = (
        f"ステップ{state['step']}／{steps}"
        if ja
        else f"Step {state['step']} of {steps}"
    )
    assert lesson.texts(".step-count") == [count]
    switch = page.get_by_role("switch", name="残差" if ja else "Residual")
    expect(switch).to_have_attribute("aria-checked", str(state["residual"]).lower())
    slider = page.get_by_role("slider", name="深さ" if ja else "Depth")
    expect(slider).to_have_value(str(state["depth"]))
    token = page.get_by_role("combobox", name="トークン" if ja else "Token")
    expect(token.locator("option:checked")).to_have_text(state["token"])
    language = page.get_by_role("combobox", name="言語" if ja else "Language")
    expect(language).to_have_value(state["language"])
    expect(page.locator("html")).to_have_attribute("lang", state["language"])


# --------------------------------------------------------------------- the buttons


def test_next_back_and_start_over(learner, classroom):
    lesson = learner()
    for name, step in [
        ("Next", 2),
        ("Next", 3),
        ("Next", 4),
        ("Back", 3),
        ("Next", 4),
        ("Start over", 1),
    ]:
        lesson.button(name).click()
        expect(lesson.button(name)).to_be_focused()
        agree(lesson, classroom, step=step)


def test_next_and_back_stop_at_the_ends_and_keep_the_focus(learner, classroom):
    lesson = learner("?step=19")
    onward, back = lesson.button("Next"), lesson.button("Back")
    expect(back).to_be_enabled()
    onward.focus()
    for _ in range(3):
        lesson.page.keyboard.press("Enter")
    expect(onward).to_be_focused()
    expect(onward).to_have_attribute("aria-disabled", "true")
    agree(lesson, classroom, step=20)
    back.focus()
    lesson.put(step=2)
    for _ in range(3):
        lesson.page.keyboard.press("Space")
    expect(back).to_be_focused()
    expect(back).to_have_attribute("aria-disabled", "true")
    expect(onward).to_have_attribute("aria-disabled", "false")
    agree(lesson, classroom)


def test_the_switch(learner, classroom):
    lesson = learner("?step=4")
    switch = lesson.page.get_by_role("switch", name="Residual", exact=True)
    expect(switch).to_have_text(re.compile("on$"))
    for residual in (False, True, False):
        switch.click()
        expect(switch).to_be_checked(checked=residual)
        expect(switch).to_have_text(re.compile("on$" if residual else "off$"))
        agree(lesson, classroom, step=4, residual=residual)
    expect(switch).to_be_focused()


def test_depth_by_its_slider(learner, classroom):
    lesson = learner("?step=20")
    slider = lesson.page.get_by_role("slider", name="Depth", exact=True)
    expect(slider).to_have_attribute("aria-valuetext", "Blocks: 3")
    slider.fill("6")
    agree(lesson, classroom, step=38, depth=6)  # the sum stays the sum
    lesson.put(step=20)
    slider.focus()
    lesson.page.keyboard.press("ArrowLeft")
    agree(lesson, classroom, step=20, depth=5)
    lesson.page.keyboard.press("Home")
    agree(lesson, classroom, step=8, depth=1)  # the walk ends before step 20
    lesson.page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "Blocks: 12")
    expect(slider).to_be_focused()
    agree(lesson, classroom, step=74, depth=12)


def test_token_and_language_by_their_selects(learner, classroom):
    lesson = learner("?step=3")
    select = lesson.page.get_by_role("combobox", name="Token", exact=True)
    assert select.locator("option").all_inner_texts() == ["by", "the", "river", "bank"]
    select.select_option("river")
    agree(lesson, classroom, step=3, **RIVER)
    lesson.page.get_by_role("combobox", name="Language").select_option("ja")
    agree(lesson, classroom, step=3, language="ja", **RIVER)
    lesson.page.get_by_role("combobox", name="言語").select_option("en")
    agree(lesson, classroom, step=3, **RIVER)


def test_a_page_in_another_language_says_so_to_everybody(page_at):
    """html lang, the title and every visible control's name follow."""
    lesson = page_at("?lang=ja", locale="ja-JP")
    expect(lesson.page.locator("html")).to_have_attribute("lang", "ja")
    names = lesson.texts(".dock button")
    assert not [name for name in names if re.fullmatch("[A-Za-z ]+", name)]


def test_the_browser_s_language_is_the_first(page_at):
    assert page_at("", locale="ja-JP").state()["language"] == "ja"
    assert page_at("?lang=en", locale="ja-JP").state()["language"] == "en"
    assert page_at("").state()["language"] == "en"


def test_chapters(learner, classroom):
    lesson = learner()
    steps = {
        "Block 1: FFN": 5,
        "Block 2": 8,
        "Sum": 20,
        "Block 3": 14,
        "Block 1: attention": 2,
        "Input": 1,
    }
    chapters = lesson.page.get_by_role("navigation", name="Parts of the walk")
    for name, step in steps.items():
        chapter = chapters.get_by_role("button", name=name, exact=True)
        chapter.click()
        expect(chapters.locator("[aria-current=step]")).to_have_text(name)
        agree(lesson, classroom, step=step)
    lesson.put(depth=12)
    assert chapters.get_by_role("button").count() == 15


def test_compare_and_projector(learner, classroom):
    lesson = learner("?step=4")
    lesson.page.get_by_role("checkbox", name="Compare on and off").check()
    agree(lesson, classroom, step=4, compare=True)
    projector = lesson.button("Projector")
    projector.click()
    expect(lesson.button("Leave projector view")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(lesson.page.locator("#reading")).to_be_hidden()
    agree(lesson, classroom, step=4, compare=True, projector=True)
    lesson.page.get_by_role("checkbox", name="Compare on and off").uncheck()
    agree(lesson, classroom, step=4, compare=False, projector=True)
    lesson.button("Leave projector view").click()
    expect(lesson.page.locator("#reading")).to_be_visible()
    agree(lesson, classroom, step=4)


def test_the_theme_is_kept_for_the_next_visit(page_at):
    lesson = page_at("?step=2")
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    light = lesson.page.evaluate(paper)
    lesson.page.get_by_role("combobox", name="Theme").select_option("dark")
    dark = lesson.page.evaluate(paper)
    assert light != dark
    lesson.page.reload(wait_until="commit")
    lesson.wait("text")
    assert lesson.page.evaluate(paper) == dark
    assert "theme" not in lesson.page.url
    lesson.page.get_by_role("combobox", name="Theme").select_option("light")
    assert lesson.page.evaluate(paper) == light


def test_the_player_goes_on_and_stops_at_the_end_and_by_hand(page_at):
    lesson = page_at("?step=17")
    page = lesson.page
    page.clock.install()
    lesson.button("Play").click()
    pause = lesson.button("Pause")
    expect(pause).to_have_attribute("aria-pressed", "true")
    assert lesson.state()["step"] == 18
    page.clock.run_for(5000)
    assert lesson.state()["step"] == 19
    pause.click()
    page.clock.run_for(20_000)
    assert lesson.state()["step"] == 19
    lesson.button("Play").click()
    page.clock.run_for(10_000)
    assert lesson.state()["step"] == 20
    expect(lesson.button("Play")).to_have_attribute("aria-pressed", "false")
    lesson.button("Play").click()  # from the end it starts again
    assert lesson.state()["step"] == 1
    page.clock.run_for(5000)
    assert lesson.state()["step"] == 2
    lesson.button("Next").click()
    page.clock.run_for(20_000)
    assert lesson.state()["step"] == 3
    page.clock.resume()


def test_copy_link_copies_the_state(pages, page_at):
    allowed = {"permissions": ["clipboard-read", "clipboard-write"]}
    lesson = page_at("?step=4&residual=off&token=river", **allowed)
    lesson.put(step=5)
    lesson.button("Copy link").click()
    expect(lesson.page.locator(".copy-said")).to_have_text("Link copied.")
    link = lesson.page.evaluate("navigator.clipboard.readText()")
    expect(lesson.page).to_have_url(link)
    state = lesson.state()
    assert page_at(link.partition("?")[1] + link.partition("?")[2]).state() == state


def test_without_a_clipboard_the_link_is_shown_to_be_copied_by_hand(page_at):
    lesson = page_at("?step=4")
    lesson.page.evaluate("""() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
    }""")
    lesson.button("Copy link").click()
    field = lesson.page.locator(".copy-said input")
    expect(field).to_have_value(lesson.page.url)
    expect(field).to_be_focused()


def test_a_link_that_is_shown_again_stays_its_own_time(page_at):
    lesson = page_at("?step=4")
    clock, field = lesson.page.clock, lesson.page.locator(".copy-said input")
    lesson.page.evaluate("""() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
    }""")
    clock.install()
    for _ in range(2):
        lesson.button("Copy link").click()
        expect(field).to_be_focused()
        lesson.page.locator("h1").click()
        clock.run_for(5000)
    expect(field).to_be_visible()
    clock.run_for(5000)
    expect(field).to_have_count(0)
    clock.resume()


def test_the_help_opens_closes_and_gives_the_focus_back(page_at):
    lesson = page_at()
    page, dialog = lesson.page, lesson.page.get_by_role("dialog", name="Keyboard")
    lesson.button("Help").click()
    expect(dialog).to_be_visible()
    for key in ("→", "Space", "←", "Home", "R", "[", "]", "?", "Esc"):
        expect(dialog.locator("kbd", has_text=key).first).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("r")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(lesson.button("Help")).to_be_focused()
    assert lesson.state() == START  # no key went past the dialog
    page.keyboard.press("?")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


# ------------------------------------------------------------------------ the keys


KEYS = [
    ("ArrowRight", {"step": 8}),
    ("Space", {"step": 9}),
    ("ArrowLeft", {"step": 8}),
    ("r", {"step": 8, "residual": False}),
    ("R", {"step": 8, "residual": True}),
    ("]", {"step": 8, "depth": 4}),
    ("[", {"step": 8, "depth": 3}),
    ("Home", {"step": 1}),
    ("ArrowLeft", {"step": 1}),
    ("Control+ArrowRight", {"step": 1}),
    ("Alt+ArrowRight", {"step": 1}),
    ("Meta+r", {"step": 1}),
]


def test_each_key(learner, classroom):
    lesson = learner("?step=7")
    lesson.page.evaluate(
        "addEventListener('keydown', (e) => e.altKey && e.preventDefault())"
    )
    for key, state in KEYS:
        lesson.page.keyboard.press(key)
        agree(lesson, classroom, **state)
    assert lesson.page.evaluate("scrollY") == 0  # Space and Home did not scroll


def test_depth_keys_stop_at_the_ends(page_at):
    lesson = page_at("?depth=12")
    lesson.page.keyboard.press("]")
    assert lesson.state()["depth"] == 12
    lesson.put(depth=1)
    lesson.page.keyboard.press("[")
    assert lesson.state()["depth"] == 1


EVERY_KEY = ("ArrowRight", "Space", "ArrowLeft", "Home", "r", "[", "]", "?")


def test_keys_do_nothing_while_somebody_is_in_a_field(page_at):
    lesson = page_at("?step=7&depth=4")
    page = lesson.page
    fields = {
        "token": page.get_by_role("combobox", name="Token"),
        "theme": page.get_by_role("combobox", name="Theme"),
    }
    page.evaluate("""() => document.querySelector(".masthead").append(
        Object.assign(document.createElement("textarea"), {ariaLabel: "notes"}),
        Object.assign(document.createElement("p"),
            {contentEditable: "true", id: "pen"}))""")
    fields |= {"text": page.get_by_label("notes"), "editable": page.locator("#pen")}
    for name, field in fields.items():
        for key in EVERY_KEY:
            lesson.put(step=7, residual=True)
            field.evaluate("e => e.focus()")
            page.keyboard.press(key)
            state = lesson.state()
            assert (state["step"], state["residual"]) == (7, True), (name, key)
            expect(page.get_by_role("dialog", name="Keyboard")).to_be_hidden()


def test_a_slider_and_a_checkbox_keep_their_own_keys_and_no_others(page_at):
    lesson = page_at("?step=7&depth=4")
    page = lesson.page
    slider = page.get_by_role("slider", name="Depth")
    box = page.get_by_role("checkbox", name="Compare on and off")
    start = START | {"step": 7, "depth": 4}
    done = {"r": {"residual": False}, "R": {"residual": False}}
    done |= {"[": {"depth": 3}, "]": {"depth": 5}, "p": {"projector": True}}
    slides = {"ArrowRight": {"depth": 5}, "ArrowLeft": {"depth": 3}, "Space": {}}
    slides |= {"Home": {"step": 7, "depth": 1}}
    walks = {"ArrowRight": {"step": 8}, "ArrowLeft": {"step": 6}, "Home": {"step": 1}}
    presses = {"Space": {"compare": True}}
    for field, keys in ((slider, done | slides), (box, done | walks | presses)):
        for key, change in keys.items():
            lesson.put(**START | {"step": 7, "depth": 4, "token": 3})
            field.focus()
            page.keyboard.press(key)
            assert lesson.state() == start | change, key
        lesson.put(projector=False)
        field.focus()
        page.keyboard.press("?")
        help_ = page.get_by_role("dialog", name="Keyboard")
        expect(help_).to_be_visible()
        page.keyboard.press("Escape")
        expect(help_).to_be_hidden()


def test_keys_do_nothing_while_japanese_is_composed(page_at):
    lesson = page_at("?step=7")
    lesson.page.evaluate("""() =>
        [{isComposing: true, key: "r"}, {keyCode: 229, key: " "}]
        .forEach((init) => document.body.dispatchEvent(
            new KeyboardEvent("keydown", {...init, bubbles: true})))""")
    assert lesson.state() == START | {"step": 7}


def test_space_on_a_button_presses_it_once_and_nothing_else(page_at):
    lesson = page_at("?step=7")
    page = lesson.page
    presses = [
        (lesson.button("Next"), {"step": 8}),
        (lesson.button("Back"), {"step": 6}),
        (page.get_by_role("switch", name="Residual"), {"step": 7, "residual": False}),
        (lesson.button("Start over"), {"step": 1}),
        (lesson.button("Projector"), {"step": 7, "projector": True}),
    ]
    for button, state in presses:
        lesson.put(step=7, residual=True, projector=False)
        button.focus()
        page.keyboard.press("Space")
        assert lesson.state() == START | state
    lesson.put(step=7, projector=False)
    page.locator("#step summary").focus()
    page.keyboard.press("Space")
    expect(page.locator("#step details")).to_have_attribute("open", "")
    assert lesson.state()["step"] == 7


# ---------------------------------------------------- one state, seen from every side


def test_what_python_sets_is_on_the_page_at_once_and_comes_back_no_more(
    learner, classroom
):
    lesson = learner()
    for values in (
        {"step": 4},
        {"residual": False},
        {"depth": 6},
        {"step": 38},
        {"language": "ja", **RIVER},
        {"compare": True, "projector": True},
        {"hide": ["sum", "depth"]},
        {"view": "experiments", "experiment": "F3"},
        {"lab": DEEP_LAB},
    ):
        classroom.set(**values)
        soon(lambda values=values: lesson.state().items() >= values.items())
    wanted = START | {"step": 38, "depth": 6, "residual": False, "token": "river"}
    wanted |= {"language": "ja", "compare": True, "projector": True}
    wanted |= {"hide": ["sum", "depth"], "experiment": "F3"}
    wanted |= {"view": "experiments", "lab": DEEP_LAB}
    assert lesson.state() == wanted == classroom.state.as_dict()
    expect(lesson.page).to_have_url(re.compile(re.escape(address_of(wanted)) + "$"))
    assert classroom.messages == []  # neither side echoes


def test_a_depth_that_python_shortens_moves_the_step_on_both_sides(learner, classroom):
    lesson = learner("?step=19")
    classroom.set(depth=1)
    soon(lambda: lesson.state()["depth"] == 1)
    agree(lesson, classroom, step=8, depth=1)


def test_what_the_address_says_is_what_python_has(learner, classroom):
    query = "?step=10&depth=5&residual=off&token=the&lang=ja&compare=1&hide=map,sum"
    learner(f"{query}&experiment=G2&lab={DEEP_LAB}")
    wanted = {"step": 10, "depth": 5, "residual": False, "token": "the"}
    wanted |= {"language": "ja", "compare": True, "hide": ["map", "sum"]}
    wanted |= {"experiment": "G2", "lab": DEEP_LAB}
    soon(lambda: classroom.state.as_dict() == START | wanted)


def test_an_experiment_and_the_lab_are_python_s_too(learner, classroom):
    """Opened or set in the page, the address and Python say so; and the other way."""
    lesson = learner("?view=experiments")
    page = lesson.page
    page.locator(".experiments-open", has_text="G2").click()
    elsewhere(lesson, classroom, view="experiments", experiment="G2")
    classroom.set(experiment="F3")
    expect(page.locator(".experiments-title")).to_contain_text("Twelve blocks")
    elsewhere(lesson, classroom, view="experiments", experiment="F3")
    classroom.set(view="lab", experiment="")
    page.locator(".lab").get_by_role("checkbox", name="Residual").uncheck()
    elsewhere(lesson, classroom, view="lab", lab="residual*off")
    classroom.set(lab=DEEP_LAB)
    depth = page.locator(".lab").get_by_role("slider", name="Depth")
    expect(depth).to_have_value("12")
    elsewhere(lesson, classroom, view="lab", lab=DEEP_LAB)
    classroom.call(wrong_lab, classroom.state)
    elsewhere(lesson, classroom, view="lab", lab=DEEP_LAB)


def wrong_lab(state) -> None:
    for values in ({"lab": "depth*97"}, {"experiment": "Z9"}):
        with pytest.raises(ValueError, match=next(iter(values))):
            state.param.update(values)


def elsewhere(lesson, classroom, **differences) -> None:
    """Page, address and Python agree, whatever view is shown."""
    wanted = START | differences
    soon(lambda: lesson.state() == wanted == classroom.state.as_dict())
    expect(lesson.page).to_have_url(re.compile(re.escape(address_of(wanted)) + "$"))


def test_quick_changes_arrive_as_one_message(learner, classroom):
    lesson = learner()
    lesson.page.evaluate("""() => {
      const next = document.querySelector("[data-control=next]");
      for (let i = 0; i < 15; i++) next.click();
      document.querySelector("[data-control=residual]").click();
    }""")
    agree(lesson, classroom, step=16, residual=False)
    assert len(classroom.messages) == 1


def test_two_learners_do_not_share_a_state(learner, classroom):
    one = learner("?step=3")
    first = classroom.state
    other = learner("?step=9&residual=off", viewport={"width": 1000, "height": 800})
    assert classroom.state is not first
    classroom.set(**RIVER)
    soon(lambda: other.state().items() >= RIVER.items())
    one.page.keyboard.press("ArrowRight")
    soon(lambda: first.step == 4)
    assert one.state() == START | {"step": 4}
    assert first.as_dict() == START | {"step": 4}
    assert other.state()["step"] == classroom.state.step == 9


HOSTILE = [
    *(None, 7, "state", [], {}, {"state": 5}, {"type": "ask"}),
    {"type": "ask", "kind": "__class__", "id": 1},
    {"type": "ask", "kind": ["lab"], "id": 1},
    {"type": "state", "state": {"step": 10**9, "as_dict": 1}},
    {"type": "state", "state": {"token": "<script>", "depth": "3", "hide": ["all"]}},
]


def test_a_hostile_message_leaves_the_state_and_the_session_alone(learner, classroom):
    """What a browser can send by hand is refused, and the next change still arrives."""
    lesson = learner("?step=5")
    for message in HOSTILE:
        classroom.call(classroom.links[-1]._handle_msg, message)
    assert classroom.state.as_dict() == START | {"step": 5}
    lesson.page.keyboard.press("ArrowRight")
    agree(lesson, classroom, step=6)
