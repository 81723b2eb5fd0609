"""A live class in browsers: the teacher switches, every page follows or explores."""

import json
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from conftest import OPTIONS, PATIENCE, PHONE, serving
from helpers.class_browser import Somebody

START = {
    "view": "lesson",
    "step": 4,
    "depth": 3,
    "residual": True,
    "token": 3,
    "compare": False,
    "experiment": "",
    "lab": "",
}


@dataclass(frozen=True)
class Links:
    student: str
    teacher: str


@pytest.fixture(scope="module")
def links():
    command = ("residual-stream", "serve", "--class", "--room", "demo", "--port", "0")
    with serving(*command) as served:
        said = ""
        while "teacher:" not in said:
            said += served.process.stdout.readline()
        student = re.search(r"students: +(\S+)", said)[1]
        yield Links(student, re.search(r"teacher: +(\S+)", said)[1])


@pytest.fixture(scope="module")
def browsers(browser):
    made: dict[str, Somebody] = {}

    def one(name: str, options) -> Somebody:
        key = name + json.dumps(options, sort_keys=True)
        if key not in made:
            context = browser.new_context(**{**OPTIONS, **options})
            context.set_default_timeout(PATIENCE)
            made[key] = Somebody(context.new_page())
        return made[key]

    return one


@pytest.fixture
def join(browsers, links):
    """join("teacher") or join(any other name): in, and greeted by the server.

    A teacher or student that asks for nothing special stays in the class for the next
    test, where it starts anew; all others leave.
    """
    used: list[Somebody] = []

    def enter(name="student", query="", until="text", **options) -> Somebody:
        one = browsers(name, options)
        used.append(one)
        plain = (query, until, options) == ("", "text", {})
        if plain and one.is_as_it_came():
            for teacher in used[:1]:
                one.sees(**teacher.shows(START))
        else:
            link = links.teacher if name.startswith("teacher") else links.student
            head, _, key = link.partition("#")
            one.open(f"{head}{query}{key and '#'}{key}", until)
            if until != "nothing":
                one.greeted()
            if plain and name in ("teacher", "student"):
                one.stays()
        if name == "teacher":
            one.put(**START)
        return one

    yield enter
    for one in used:
        close = one.page.get_by_role("button", name="Close the vote")
        if close.count() and close.is_visible():
            close.click()
            expect(close).to_be_hidden()
        if not one.is_as_it_came():
            one.leave()
    faults = [fault for one in used for fault in one.faults]
    for one in used:
        one.faults.clear()
    assert not faults, "\n".join(faults)


# ------------------------------------------------------------------------- following

CHANGES = (
    {"step": 9},
    {"depth": 6, "step": 20},
    {"residual": False},
    {"token": 2},
    {"compare": True},
    {"view": "wirings"},
    {"view": "lab", "lab": "depth*12_residual*off"},
    {"view": "experiments", "experiment": "F1"},
    {"view": "lesson", "experiment": "", "lab": ""},
)


def test_every_page_follows_what_the_teacher_does(join):
    teacher, one, two = join("teacher"), join(), join("another", viewport=PHONE)
    for change in CHANGES:
        teacher.put(**change)
        one.sees(**change)
        two.sees(**change)
    teacher.page.locator("[data-control=back]").dispatch_event("click")
    one.sees(step=19)
    title = teacher.page.locator(".step-title").inner_text()
    expect(two.page.locator(".step-title")).to_have_text(title)
    said = one.page.locator("[aria-live]")
    expect(said).to_have_text(re.compile("^Step 19 of 38: "))


def test_language_theme_and_size_are_each_pages_own(join):
    teacher, student = join("teacher"), join()
    student.put(language="ja", theme="dark", projector=True)
    expect(student.line).to_have_text("先生の画面に合わせています")
    teacher.put(language="en", projector=True, step=5)
    student.sees(step=5, language="ja", projector=True)
    teacher.put(projector=False)


def test_who_comes_late_starts_where_the_class_is(join):
    """The first picture too: it does not wait for the channel."""
    join("teacher").put(step=7, residual=False)
    late = join("late", until="nothing")
    late.page.route_web_socket(re.compile("/socket$"), lambda _: None)
    late.page.reload(wait_until="commit")
    late.wait("text")
    assert late.state()["step"] == 7
    assert late.state()["residual"] is False
    expect(late.page.locator(".step-count")).to_have_text("Step 7 of 20")
    late.page.unroute_all()


def test_a_student_lets_go_and_comes_back(join):
    teacher, one, two = join("teacher"), join(), join("another")
    expect(teacher.line).to_have_text(re.compile("^Teacher: 2 following · 0 exploring"))
    one.bar("Explore on your own").click()
    two.press("Next")  # a control does it too, and does what it says
    for student in (one, two):
        expect(student.line).to_have_text("Exploring on your own")
    expect(teacher.line).to_have_text(re.compile("^Teacher: 0 following · 2 exploring"))
    said = two.page.locator("[aria-live]")
    expect(said).to_have_text(re.compile(r"^Step 5 of 20: .+Exploring on your own$"))
    teacher.put(step=10)
    teacher.sees(step=10)
    one.reload()  # who explores goes on exploring
    expect(one.line).to_have_text("Exploring on your own")
    assert [one.state()["step"], two.state()["step"]] == [4, 5]
    for student in (one, two):
        student.bar("Return to the class").click()
        student.sees(step=10)
        expect(student.line).to_have_text("Following the class")


def test_by_keyboard_alone(join):
    teacher, student = join("teacher"), join()
    student.page.keyboard.press("ArrowRight")
    expect(student.line).to_have_text("Exploring on your own")
    student.sees(step=5)
    student.bar("Return to the class").focus()
    student.page.keyboard.press("Enter")
    student.sees(step=4)
    # the same button, so that the focus stays
    expect(student.bar("Explore on your own")).to_be_focused()
    teacher.page.keyboard.press("r")
    student.sees(residual=False)


def test_the_view_for_teachers_is_the_teachers_alone(join):
    teacher, student = join("teacher"), join("student", "?view=links")
    student.sees(view="lesson")
    teacher.page.get_by_role("link", name="For teachers").click()
    expect(teacher.region("Places for your class")).to_be_visible()
    teacher.put(step=6)  # goes out from there, and does not pull the teacher back
    student.sees(step=6, view="lesson")
    teacher.sees(view="links")
    expect(teacher.page).to_have_url(re.compile("view=links"))  # it follows soon
    teacher.reload()
    teacher.sees(view="links", step=6)
    edit = "location.hash = 'view=links&step=2'"
    student.page.evaluate(edit)
    student.sees(view="lesson", step=2)
    expect(student.line).to_have_text("Exploring on your own")
    student.reload()
    student.sees(view="lesson", step=2)


PLACES = {
    "F2": {"view": "experiments", "experiment": "F2", "step": 4},
    "Before the first add": {"view": "lesson", "step": 3, "depth": 3},
    "Residual off at depth 6": {"step": 38, "depth": 6, "residual": False},
}


def test_the_teacher_shows_the_class_a_place(join):
    teacher, student = join("teacher"), join()
    for name, place in PLACES.items():
        teacher.put(**START | {"lab": "depth*12_residual*off", "step": 4})
        student.sees(view="lesson", step=4)
        teacher.put(view="links")
        places = teacher.region("Places for your class")
        places.get_by_role("button", name=re.compile(f"^{name}")).click()
        said = places.locator(".links-said").inner_text()
        assert said.startswith("The class will see ")
        assert (name if "F" in name else f"step {place['step']} of ") in said
        expect(teacher.page.locator("[aria-live]")).to_have_text(said)
        student.sees(step=4, view="lesson")  # it was only chosen yet
        teacher.button("Show it to the class").click()
        for page in (teacher, student):
            page.sees(**place, lab="depth*12_residual*off")
        expect(teacher.page.locator("main")).to_be_focused()
        expect(places).to_be_hidden()


def test_who_comes_is_shown_and_not_said_and_a_vote_is_said(join):
    teacher, first = join("teacher"), join()
    expect(teacher.line).to_contain_text("1 following")
    teacher.put(view="experiments", experiment="F1")
    first.sees(experiment="F1")
    said = teacher.page.locator("[aria-live]")
    before = said.text_content()
    assert before
    join("another")
    expect(teacher.line).to_contain_text("2 following")
    assert said.text_content() == before
    teacher.button("Open a vote").dispatch_event("click")
    expect(first.page.locator("[aria-live]")).to_contain_text("The class is voting")


def test_in_a_class_the_list_of_places_has_no_link_and_nothing_of_a_pages_own(join):
    teacher = join("teacher", viewport=PHONE)
    teacher.put(view="links")
    places = teacher.region("Places for your class")
    places.get_by_label("Compare on and off").check()
    expect(places.locator(".links-said")).to_have_text(
        re.compile("^The class will see step .*, with on and off side by side.$")
    )
    places.locator(".links-experiments button").last.wait_for()
    labels = places.locator("label:visible").all_inner_texts()
    assert [label.split("\n")[0] for label in labels] == [
        *("Show", "Step", "Depth", "Residual", "Token", "Compare on and off")
    ]
    expect(places.locator("a, textarea, svg")).to_have_count(0)
    assert teacher.page.evaluate("document.documentElement.scrollWidth") == 390


def test_an_address_edited_by_hand_is_a_change_like_any_other(join):
    teacher, student = join("teacher"), join()
    teacher.page.evaluate("location.hash = 'step=9&depth=5'")
    student.sees(step=9, depth=5)


# ---------------------------------------------------------- a teacher at an address

GUIDE = "?step=38&depth=6&residual=off&token=bank&projector=1"
DEEP = {"step": 38, "depth": 6, "residual": False, "projector": True}


def test_a_teacher_who_goes_to_an_address_takes_the_class_along(join, links):
    _, student = join("teacher"), join()
    going = join("teacher going", until="nothing")
    going.wait("text")
    going.page.goto(links.student + GUIDE, wait_until="commit")
    going.wait("text")
    assert going.state().items() >= DEEP.items()  # the first picture
    student.sees(step=38, depth=6, residual=False, projector=False)
    going.greeted()
    going.sees(**DEEP)


def test_a_page_that_is_loaded_again_leads_nowhere(join):
    """Its address follows its state, and may be old by then."""
    other, student = join("teacher"), join()
    again = join("teacher again", "?step=5&depth=2")
    student.sees(step=5, depth=2)
    again.page.wait_for_timeout(300)
    assert "step=5" in again.page.url
    again.page.route_web_socket(re.compile("/socket$"), lambda _: None)
    other.put(step=6, depth=4)
    other.sees(step=6, depth=4)
    student.sees(step=6)
    again.page.reload(wait_until="commit")
    again.wait("text")
    assert again.state()["step"] == 6  # the first picture, before the channel
    student.sees(step=6, depth=4)


def test_with_the_key_in_it_too(join, links):
    student = join()
    head, _, key = links.teacher.partition("#")
    join("teacher two", "?step=7&depth=2")
    student.sees(step=7, depth=2, residual=True)
    three = join("teacher three", until="nothing")
    three.leave()  # or it would be the same document, still on its way
    three.page.goto(f"{head}#step=8&{key}", wait_until="commit")
    three.wait("text")
    student.sees(step=8, depth=3)
    assert key not in three.page.url


@pytest.mark.parametrize("query", ["", "?lang=en&projector=1", "?step=999"])
def test_without_a_place_in_the_address_a_teacher_joins_the_class(join, query):
    join("teacher").put(step=10, depth=2)
    late = join("teacher two", query)
    late.sees(step=10, depth=2)
    join().sees(step=10, depth=2)


def test_a_student_goes_nowhere_by_an_address(join):
    teacher, student = join("teacher"), join("student", GUIDE)
    student.sees(step=4, depth=3, residual=True)
    expect(student.line).to_have_text("Following the class")
    teacher.sees(step=4)


def test_nor_does_somebody_with_a_wrong_key(join):
    teacher, student = join("teacher"), join("student", "?view=links&step=9#key=wrong")
    student.sees(step=4, view="lesson")
    expect(student.line).to_have_text("Following the class")
    teacher.sees(step=4)


# ------------------------------------------------------------------- what comes ahead

VIEWS = ("experiments", "wirings", "lab")


def asked(lesson) -> list[int]:
    """How often each view's data was asked for."""
    count = lambda name: sum(f"/{name}." in url for url in lesson.requests)  # noqa: E731
    return [count(view) for view in VIEWS]


def test_the_data_of_the_views_is_there_before_the_class_opens_them(join):
    teacher, student = join("teacher"), join("early", until="nothing")
    student.page.add_init_script("Math.random = () => 0.9")  # late, by chance
    student.page.clock.install()
    student.reload()
    assert asked(student) == [0, 0, 0]
    with student.page.expect_response(re.compile(r"/lab\.")):
        student.page.clock.fast_forward(8000)
    for view in VIEWS:
        teacher.put(view=view)
        student.sees(view=view)
        expect(student.page.locator(f".{view} h3").first).to_be_visible()
    assert asked(student) == [1, 1, 1]


def test_without_a_class_nothing_comes_ahead(page_at, links):
    home = urlsplit(links.student)
    lesson = page_at(at=f"{home.scheme}://{home.netloc}/", until="nothing")
    lesson.page.clock.install()
    lesson.page.reload(wait_until="commit")
    lesson.wait("text")
    lesson.page.clock.fast_forward(9000)
    lesson.wait("linked")
    assert asked(lesson) == [0, 0, 0]


def test_two_tabs_of_a_teacher_end_at_the_same_place(join):
    one, two, student = join("teacher"), join("teacher two"), join()
    for change in range(8):
        (one, two)[change % 2].put(step=5 + change, residual=change % 3 == 0)
    last = one.state()["step"]
    for page in (one, two, student):
        page.page.wait_for_timeout(150)
    states = [page.state() for page in (one, two, student)]
    assert states[0] == states[1] == states[2]
    assert states[0]["step"] in (11, 12), last


def test_a_page_without_a_class_has_nothing_of_it(page_at, links):
    home = urlsplit(links.student)
    lesson = page_at(at=f"{home.scheme}://{home.netloc}/", until="text")
    expect(lesson.page.locator("[class^=class-]")).to_have_count(0)
    assert not any("/class/" in url for url in lesson.requests)


# ----------------------------------------------------------------------- who is who

COPY = """() => {
  navigator.clipboard.writeText = async (text) => { globalThis.copied = text; };
}"""


def test_the_key_is_nowhere_to_be_seen_and_a_reload_keeps_the_teacher(join, links):
    teacher = join("teacher", "?lang=en")
    page, key = teacher.page, links.teacher.partition("#key=")[2]
    assert len(key) > 20
    page.wait_for_timeout(300)
    page.evaluate(COPY)
    teacher.press("Copy link")
    expect(page.locator(".copy-said").first).to_have_text("Link copied.")
    for text in (page.url, page.evaluate("copied"), page.content()):
        assert key not in text
    assert "#" not in page.url
    assert page.evaluate("copied") == page.url
    teacher.reload()
    expect(teacher.line).to_have_text(re.compile("^Teacher"))


def test_the_teachers_link_makes_a_teacher_of_a_page_that_is_open(join, links):
    student = join()
    expect(student.page.get_by_role("link", name="For teachers")).to_be_hidden()
    student.page.evaluate("hash => (location.hash = hash)", urlsplit(links.teacher)[4])
    expect(student.line).to_have_text(re.compile("^Teacher"))
    expect(student.page.get_by_role("link", name="For teachers")).to_be_visible()
    assert "key" not in student.page.url


def test_a_wrong_key_opens_a_students_page_and_says_so(join, ui):
    student = join("student", "#key=wrong")
    notice = student.page.locator(".class-notice")
    expect(notice).to_contain_text(ui["class_key_wrong"]["en"])
    expect(student.line).to_have_text("Following the class")
    expect(student.bar("Invite")).to_be_hidden()
    assert "wrong" not in student.page.url
    student.bar("Close").click()
    expect(notice).to_be_hidden()
    student.reload()
    expect(notice).to_be_hidden()


def test_the_invitation_is_the_students_link_large_and_as_a_code(join, links):
    teacher = join("teacher", "?lang=en")
    teacher.bar("Invite").click()
    dialog = teacher.page.get_by_role("dialog", name="Join this class")
    expect(dialog.locator(".class-invite-link")).to_have_text(links.student)
    code = dialog.get_by_role("img", name="QR code of this link")
    expect(code).to_have_attribute("data-text", links.student)
    assert code.bounding_box()["width"] > 300
    teacher.page.keyboard.press("ArrowRight")  # no key of the page's works there
    teacher.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(teacher.bar("Invite")).to_be_focused()
    assert teacher.state()["step"] == 4


# ---------------------------------------------------------------------------- votes


def ask(teacher, experiment="F1") -> None:
    teacher.put(view="experiments", experiment=experiment)
    teacher.button("Open a vote").click()
    expect(teacher.button("Reveal and run")).to_be_visible()


def test_a_vote_is_hidden_until_it_is_revealed(join, ui):
    say = lambda key: ui[key]["en"]  # noqa: E731
    teacher, one, two, other = join("teacher"), join(), join("another"), join("third")
    other.bar("Explore on your own").click()
    ask(teacher)
    for student in (one, two):
        said = student.page.locator(".class-vote-said")
        expect(said).to_have_text(say("class_vote_choose"))
        expect(student.button("Run")).to_be_hidden()
        expect(student.button("Open a vote")).to_be_hidden()
    expect(other.page.locator(".class-vote-line")).to_contain_text("experiment F1")
    other.bar("Go to the vote").click()
    expect(other.button("Run")).to_be_hidden()

    one.vote("a")
    one.vote("b")
    expect(one.page.locator(".class-vote-said")).to_have_text(say("class_vote_yours"))
    other.vote("a")
    expect(teacher.page.locator(".class-vote-said")).to_have_text(
        re.compile(r"^2 of \d+ voted$")
    )
    assert teacher.bars() == one.bars() == []
    teacher.button("Show the votes").click()
    assert teacher.bars() == ["1 vote (50 %)", "1 vote (50 %)", "0 votes (0 %)"]
    assert one.bars() == []
    teacher.button("Hide the votes").click()

    teacher.button("Reveal and run").click()
    answer = teacher.page.locator(".experiments-answer h3")
    expect(answer).to_be_focused()
    for page in (teacher, one, two, other):
        expect(page.page.locator("figure.charts").first).to_be_attached()
        assert page.bars() == ["1 vote (50 %)", "1 vote (50 %)", "0 votes (0 %)"]
    verdicts = ("✓ As predicted", say("class_vote_none"), "≠ Not as predicted")
    for student, verdict in zip((one, two, other), verdicts, strict=True):
        expect(student.page.locator(".experiments-verdict")).to_have_text(verdict)
    expect(two.page.locator("input[type=radio]:checked")).to_have_count(0)
    with teacher.page.expect_download() as download:
        teacher.button("Votes as CSV").click()
    rows = download.value.path().read_text("utf-8-sig").splitlines()
    assert [row.split(",")[5] for row in rows[-3:]] == ["1", "1", "0"]

    teacher.button("Close the vote").click()
    expect(teacher.button("Open a vote")).to_be_focused()
    expect(one.page.locator(".class-votes-text").first).to_be_hidden()
    expect(one.page.locator(".experiments-verdict")).to_have_text(verdicts[0])


def test_who_knows_the_answer_votes_before_it_is_seen_again(join):
    teacher, student = join("teacher"), join()
    teacher.put(view="experiments", experiment="F2")
    student.vote("a")
    student.button("Run").click()
    expect(student.page.locator(".experiments-verdict")).to_be_visible()
    teacher.button("Open a vote").click()
    expect(student.page.locator(".experiments-verdict")).to_be_hidden()
    expect(student.page.locator("figure.charts")).to_have_count(0)
    expect(student.page.locator("input[type=radio]:checked")).to_have_count(0)
    student.vote("c")
    teacher_said = teacher.page.locator(".class-vote-said")
    expect(teacher_said).to_have_text(re.compile("^1 of"))
    student.reload()
    expect(student.page.locator("input[value=c]")).to_be_checked()
    teacher.page.get_by_role("link", name="Lesson", exact=True).click()
    teacher.bar("Go to the vote").click()  # it stays open meanwhile
    expect(teacher_said).to_have_text(re.compile("^1 of"))


# ------------------------------------------------------------------ for everybody


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_bar_is_one_screen_wide_in_both_languages(join, ui, language):
    say = lambda key: ui[key][language]  # noqa: E731
    teacher = join("teacher")
    options = {"viewport": {**PHONE, "width": 320}}
    student = join("narrow", f"?lang={language}", **options)
    wide = "document.documentElement.scrollWidth"
    expect(student.line).to_have_text(say("class_following"))
    student.button(say("class_let_go")).click()
    expect(student.line).to_have_text(say("class_exploring"))
    assert student.page.evaluate(wide) == 320
    ask(teacher)
    go = student.button(say("class_vote_go"))
    expect(go).to_be_in_viewport(ratio=1)
    expect(student.button(say("class_return"))).to_be_in_viewport(ratio=1)
    assert student.page.evaluate(wide) == 320
    go.click()
    student.vote("b")
    teacher.button("Reveal and run").click()
    expect(student.page.locator(".class-votes-text").first).to_be_visible()
    assert student.page.evaluate(wide) == 320


def test_the_bar_leaves_scene_and_map_on_a_projectors_screen(join):
    options = {"viewport": {"width": 1920, "height": 1080}}
    teacher = join("teacher large", "?projector=1", until="drawn", **options)
    teacher.put(**START | {"step": 37, "depth": 6, "residual": False})
    expect(teacher.line).to_be_visible()
    page = teacher.page
    assert page.evaluate("document.documentElement.scrollHeight") <= 1081
    numbers = page.locator(".depth-map-blocks").bounding_box()
    bar = page.locator(".class-bar").bounding_box()
    assert numbers["y"] + numbers["height"] <= bar["y"]
    sizes = page.evaluate("""() => [...document.querySelectorAll(".class-bar *")]
      .filter((one) => one.checkVisibility() && one.textContent.trim())
      .map((one) => parseFloat(getComputedStyle(one).fontSize))""")
    assert min(sizes) >= 24
    teacher.put(step=3, depth=3, residual=True, compare=True)  # two of each, and arcs
    assert page.evaluate("document.documentElement.scrollHeight") <= 1081
    for numbers in page.locator(".maps-pair .depth-map-blocks").all():
        box = numbers.bounding_box()
        assert (
            box["y"] + box["height"] <= page.locator(".class-bar").bounding_box()["y"]
        )


STORE_AWAY = json.dumps({"type": "store", "ok": False})


def store_goes_away(socket) -> None:
    """A stub between a page and its server, which tells of a store that is away."""
    server = socket.connect_to_server()
    socket.on_message(server.send)

    def hear(text: str) -> None:
        socket.send(text)
        if '"welcome"' in text:
            socket.send(STORE_AWAY)

    server.on_message(hear)


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_notice_stands_in_the_bars_own_line(join, ui, links, language):
    """So it covers nothing of the map, and on a phone no more than two lines."""
    join("teacher")
    options = {"viewport": {"width": 1280, "height": 800}}
    teacher = join(f"teacher {language}", **options)
    page = teacher.page
    page.route_web_socket(re.compile("/socket$"), store_goes_away)
    page.goto(f"{links.student}?lang={language}")
    teacher.wait("drawn")
    notice = page.locator(".class-notice")
    expect(notice).to_contain_text(ui["class_store_away"][language])
    numbers = page.locator(".depth-map-blocks").bounding_box()
    bar = page.locator(".class-bar").bounding_box()
    assert numbers["y"] + numbers["height"] <= bar["y"]
    page.set_viewport_size(PHONE)
    across = notice.bounding_box()
    assert (across["x"], across["width"]) == (0, PHONE["width"])
    assert across["height"] < 60
    notice.get_by_role("button").click()
    expect(notice).to_be_hidden()


def test_the_bar_is_not_printed(join):
    student = join()
    expect(student.line).to_be_visible()
    student.page.emulate_media(media="print")
    expect(student.line).to_be_hidden()
    student.page.emulate_media(media="screen")


def test_axe_finds_nothing(join):
    options = {"bypass_csp": True}
    teacher = join("teacher")
    student = join("axe", **options)
    dark = join("teacher axe", "?lang=ja", color_scheme="dark", **options)
    student.bar("Explore on your own").click()
    ask(teacher)
    expect(student.page.locator(".class-vote-line")).to_be_visible()
    clean(student)
    student.bar("Go to the vote").click()
    student.vote("a")
    clean(student)
    teacher.button("Reveal and run").click()
    expect(dark.page.locator(".class-votes-text").first).to_be_visible()
    clean(dark)
    dark.button("生徒を招く").click()
    dark.page.get_by_role("img", name="このリンクのQRコード").wait_for()
    clean(dark)


def clean(lesson) -> None:
    options = {"resultTypes": ["violations"]}
    # the rest of the page is looked at without a class
    parts = [".class-foot", ".experiments", "dialog[open]"]
    found = Axe().run(lesson.page, parts, options).response["violations"]
    said = [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]
    assert not said, "\n".join(said)


MARKUP = "<img src=x onerror=alert(1)>"


def test_what_comes_from_the_channel_is_text_or_nothing(join):
    """A server that was taken over says what it likes: no markup, no broken page."""
    join("teacher")
    student = join("hostile", until="nothing")
    state = {**dict.fromkeys(START, MARKUP), "step": 1e9, "depth": {}, "residual": 0}
    poll = {"id": MARKUP, "experiment": MARKUP, "options": [], "stage": "open"}
    room = {"epoch": "e", "seq": 1, "state": state, "poll": {**poll, "counts": None}}

    def answer(socket, _):
        hello = {"role": "student", "vote": MARKUP, "refused": MARKUP, "room": room}
        for message in ({"type": MARKUP}, {"type": "welcome", **hello}):
            socket.send(json.dumps(message))

    def serve(socket):
        socket.on_message(lambda message: answer(socket, message))

    student.page.route_web_socket(re.compile("/socket$"), serve)
    student.reload()
    line = student.page.locator(".class-vote-line")
    expect(line).to_contain_text(f"A vote is open on experiment {MARKUP}")
    expect(student.page.locator("img[src=x]")).to_have_count(0)
    assert student.state()["view"] == "lesson"
    student.press("Next")
    expect(student.line).to_have_text("Exploring on your own")
    student.page.unroute_all()


def test_a_full_class_is_told_from_a_lost_one_whatever_came_before(join):
    """The server goes away, is full when it is back, and goes away again."""
    join("teacher")
    student = join("waiting")  # greeted, so that it asks no more
    away, full = 1011, 1013
    codes = [away, full]

    def serve(socket):
        code = codes.pop(0) if len(codes) > 1 else codes[0]
        socket.on_message(lambda _: socket.close(code=code))

    student.page.route_web_socket(re.compile("/socket$"), serve)
    student.page.clock.install()
    student.page.reload(wait_until="commit")
    expect(student.line).to_contain_text("The class is full")
    student.page.clock.run_for(1300)  # when the loss before it would have been told
    expect(student.line).to_contain_text("The class is full")
    codes[:] = [away]
    student.page.evaluate("dispatchEvent(new Event('online'))")
    expect(student.line).to_contain_text("Connection lost")
    student.page.unroute_all()
    student.page.clock.resume()


def test_what_a_server_says_first_holds_whatever_another_one_has_said(join):
    """A page whose server has died comes to one that knows less, and follows that."""
    join("teacher")
    student = join("moved")  # greeted, so that it asks no more
    servers = iter([(5, 8), (3, 2)])  # the number of the room, and its step

    def serve(socket):
        seq, step = next(servers)
        state = {**START, "token": "bank", "step": step}
        room = {"epoch": "e", "seq": seq, "state": state, "poll": None}
        hello = {"role": "student", "vote": None, "refused": None, "room": room}
        welcome = json.dumps({"type": "welcome", **hello})
        socket.on_message(lambda _: socket.send(welcome))

    student.page.route_web_socket(re.compile("/socket$"), serve)
    student.reload()
    student.sees(step=8)
    student.page.evaluate("dispatchEvent(new Event('online'))")
    student.sees(step=2)
    student.page.unroute_all()
