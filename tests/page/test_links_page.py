"""Links for a class: each leads to the place it names, and says so in a sentence."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
import segno
from playwright.sync_api import expect

from conftest import PHONE, START
from residual_stream.lesson.experiments.experiment import experiments_data
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import load_lesson
from residual_stream.page.publication import Publication
from residual_stream.page.qr import LONGEST
from residual_stream.page.state import HIDEABLE, step_count
from residual_stream.publish.offline_file import offline_page

UNTIL = "text"
LESSON = load_lesson(lesson_folder(DEFAULT_LESSON))
EXPERIMENTS = experiments_data(LESSON)["experiments"]
QUIET = 4  # modules
HOME = "http://lesson.example/"


# the picture's path as a square of 0 and 1 with its quiet zone, once it is the link's
CODE = """async () => {
  const picture = document.querySelector(".links-code");
  const link = document.querySelector("[data-control=links-link]").value;
  const end = performance.now() + 10000;
  const isOld = () => picture.hasAttribute("hidden") || picture.dataset.text !== link
    || picture.classList.contains("is-waiting");
  while (isOld() && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  if (isOld()) throw new Error("no code of this link");
  const side = picture.viewBox.baseVal.width;
  const square = Array.from({length: side}, () => Array(side).fill(0));
  const path = picture.querySelector("path").getAttribute("d");
  for (const [, x, y, width] of path.matchAll(/M(\\d+) (\\d+)h(\\d+)v1h-\\3z/g)) {
    for (let i = 0; i < Number(width); i++) square[y][Number(x) + i] += 1;
  }
  const left = path.replaceAll(/M\\d+ \\d+h(\\d+)v1h-\\1z/g, "");
  if (left !== "") throw new Error(`not drawn: ${left}`);
  return square;
}"""


class Builder:
    """The view as a teacher uses it: by the names of its controls."""

    def __init__(self, lesson, ui, language="en") -> None:
        self.lesson, self.page = lesson, lesson.page
        self.say = lambda key: ui[key][language]
        self.view = lesson.region(self.say("links_title"))
        self.page.locator(".links-experiments button").last.wait_for()

    @property
    def link(self) -> str:
        return self.view.get_by_label(self.say("links_link"), exact=True).input_value()

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.link).query))

    @property
    def said(self) -> str:
        return self.view.locator(".links-said").text_content()

    def group(self, key: str):
        return self.view.get_by_role("group", name=self.say(key), exact=True)

    def preset(self, name: str) -> None:
        self.view.get_by_role("button", name=name, exact=True).click()

    def choose(self, label: str, option) -> None:
        select = self.view.get_by_role("combobox", name=label, exact=True)
        select.select_option(option)

    def check(self, group: str, label: str) -> None:
        box = self.group(group).get_by_role("checkbox", name=label, exact=True)
        box.click()


@pytest.fixture
def builder(page_at, ui):
    return Builder(page_at("?view=links&lang=en"), ui)


def leads_to(page_at, builder, **differences) -> None:
    """The link, opened, is a page in just this state, without a complaint."""
    query = "?" + urlsplit(builder.link).query
    opened = page_at(query, viewport={"width": 1100, "height": 800})
    assert opened.state() == START | differences
    expect(opened.page.get_by_role("alert")).to_be_hidden()


# ------------------------------------------------------------------------ the presets

PLACES = {
    "Before the first add": {"step": 3},
    "After block 1": {"step": 7},
    "Residual off at depth 6": {"step": 38, "depth": 6, "residual": False},
}


@pytest.mark.parametrize("name", PLACES)
def test_a_preset_leads_to_the_place_that_it_names(builder, page_at, name):
    builder.choose("Depth", "9")
    builder.choose("Residual", "off")
    builder.check("links_opens", "Compare on and off")
    builder.preset(name)
    leads_to(page_at, builder, **PLACES[name])


def test_before_the_first_add_one_step_is_missing(builder, page_at, ui):
    """What is named is what the lesson's own text says there."""
    builder.preset("Before the first add")
    opened = page_at("?" + urlsplit(builder.link).query, viewport=PHONE)
    title = opened.region("Step").get_by_role("heading")
    expect(title).to_have_text("Attention reads the sentence")
    opened.button("Next").click()
    expect(title).to_have_text("Add attention’s correction")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_each_experiment_is_a_preset_by_its_name(page_at, ui, language):
    builder = Builder(page_at(f"?view=links&lang={language}"), ui, language)
    names = builder.page.locator(".links-experiments button").all_inner_texts()
    assert [name.split()[0] for name in names] == [one["id"] for one in EXPERIMENTS]
    titles = []
    for experiment in EXPERIMENTS:
        (name,) = [name for name in names if name.split()[0] == experiment["id"]]
        builder.preset(" ".join(name.split()))
        assert builder.query["view"] == "experiments"
        assert builder.query["experiment"] == experiment["id"]
        title = name.split(maxsplit=1)[1]
        assert title in builder.said
        titles.append((builder.link, title))
    for link, title in titles[::3]:
        opened = page_at("?" + urlsplit(link).query + f"&lang={language}").page
        expect(opened.locator(".experiments-title")).to_contain_text(title)


def test_where_the_lesson_stands_is_where_it_starts_and_a_preset(page_at, ui):
    lesson = page_at("?step=12&depth=4&residual=off&token=river&compare=1&lang=en")
    lesson.page.get_by_role("link", name="For teachers").click()
    builder = Builder(lesson, ui)
    expect(builder.view.locator(".links-lesson strong")).to_have_text("Residual Stream")
    place = {"step": "12", "depth": "4", "residual": "off", "token": "river"}
    place |= {"compare": "1"}
    assert builder.query == place
    lesson.put(view="lesson", step=5, depth=2, compare=False)
    lesson.put(view="links")
    assert builder.query == place  # it keeps its own settings
    builder.preset("Where the lesson stands now")
    place = {"step": "5", "depth": "2", "residual": "off", "token": "river"}
    assert builder.query == place


# ------------------------------------------------------------------ every control

CHANGES = {
    "Show": ("experiments", {"view": "experiments"}),
    "Step": ("17", {"step": "17"}),
    "Depth": ("12", {"depth": "12"}),
    "Residual": ("off", {"residual": "off"}),
    "Token": ("2", {"token": "river"}),
    "Language": ("ja", {"lang": "ja"}),
}
FIRST = {"step": "1", "depth": "3", "residual": "on", "token": "bank"}


@pytest.mark.parametrize("label", CHANGES)
def test_every_select_is_in_the_link(builder, label):
    value, written = CHANGES[label]
    assert builder.query == FIRST
    before = builder.said
    builder.choose(label, value)
    assert builder.query == FIRST | written
    # the depth is seen in how many steps there are
    assert builder.said != before
    announced = builder.page.locator("[aria-live]").text_content()
    assert announced == builder.said


def test_every_box_is_in_the_link_and_in_the_sentence(builder, ui):
    for name, label in [("compare", "Compare on and off"), ("projector", "Projector")]:
        builder.check("links_opens", label)
        assert builder.query == FIRST | {name: "1"}
        builder.check("links_opens", label)
    said = builder.said
    for part in HIDEABLE:
        label = ui[{"sum": "sum_region", "map": "depth_map"}.get(part, part)]["en"]
        builder.check("links_hide", label)
        assert builder.query == FIRST | {"hide": part}
        assert ui[f"links_the_{part}"]["en"] in builder.said
        builder.check("links_hide", label)
    assert (builder.query, builder.said) == (FIRST, said)


def test_all_controls_together_lead_to_their_state(builder, page_at, ui):
    builder.choose("Depth", "5")
    builder.choose("Step", "20 · A copy for attention (block 4)")
    builder.choose("Token", "the")
    builder.choose("Language", "日本語")
    builder.check("links_opens", "Projector")
    builder.check("links_opens", "Compare on and off")
    for label in ("Reading", "Token", "Sum"):
        builder.check("links_hide", label)
    assert builder.link.endswith("&hide=token,sum,reading")
    assert builder.said == (
        "Students see step 20 of 32, “A copy for attention”, for “the” with the "
        "residual on, in Japanese, with on and off side by side, in projector view "
        "(step, picture and depth map only); they can’t change the token and don’t "
        "see the sum or the reading."
    )
    leads_to(
        page_at,
        builder,
        step=20,
        depth=5,
        token="the",  # noqa: S106
        language="ja",
        compare=True,
        projector=True,
        hide=["token", "sum", "reading"],
    )


def test_the_steps_are_those_of_the_depth_each_with_its_name(builder):
    options = builder.view.get_by_role("combobox", name="Step").locator("option")
    for depth in (3, 12, 1):
        builder.choose("Depth", str(depth))
        names = options.all_text_contents()
        assert len(names) == step_count(depth)
        assert names[0] == "1 · The draft x₀"
        assert names[-1] == f"{len(names)} · The sum"
        assert names[3] == "4 · Add attention’s correction (block 1)"
    builder.choose("Residual", "off")
    assert options.all_text_contents()[3] == "4 · The draft is thrown away (block 1)"


def test_a_smaller_depth_takes_the_step_with_it(builder):
    builder.choose("Step", "15")
    builder.choose("Depth", "1")
    assert builder.query == FIRST | {"step": "8", "depth": "1"}


def test_without_a_language_the_reader_s_own_is_taken(builder, page_at):
    assert "lang" not in builder.query
    query = "?" + urlsplit(builder.link).query
    assert page_at(query, locale="ja-JP").state()["language"] == "ja"
    assert page_at(query, viewport=PHONE).state()["language"] == "en"


def test_the_page_keeps_its_own_state_and_address(builder):
    state = builder.lesson.state()
    before = builder.page.url
    builder.preset("Residual off at depth 6")
    builder.check("links_hide", "Residual")
    builder.page.wait_for_timeout(300)
    assert builder.lesson.state() == state
    assert builder.page.url == before
    assert dict(parse_qsl(urlsplit(before).query))["view"] == "links"


def test_links_in_the_reading_are_spoken_of_while_they_can_change_what_is_hidden(
    builder,
):
    note = builder.group("links_hide").locator("p")
    expect(note).to_have_text("")
    builder.check("links_hide", "Depth")
    expect(note).to_contain_text("Links in the reading can still change these.")
    builder.check("links_hide", "Reading")
    expect(note).to_have_text("")


# ------------------------------------------------------------------ copy, open, code


def test_copy_and_open_have_the_link(page_at, ui):
    allowed = {"permissions": ["clipboard-read", "clipboard-write"]}
    builder = Builder(page_at("?view=links&lang=en", **allowed), ui)
    builder.preset("After block 1")
    builder.view.get_by_role("button", name="Copy", exact=True).click()
    expect(builder.view.locator(".copy-said")).to_have_text("Link copied.")
    assert builder.page.evaluate("navigator.clipboard.readText()") == builder.link
    to = builder.view.get_by_role("link", name="Open in a new tab")
    assert to.evaluate("one => one.href") == builder.link
    with builder.page.expect_popup() as opened:
        to.click()
    expect(opened.value.get_by_role("region", name="Step", exact=True)).to_contain_text(
        "Step 7 of 20"
    )
    opened.value.close()


def test_the_code_is_the_link_s(builder):
    """Each module is where an encoder puts it, with four modules of white around."""
    builder.lesson.wait("linked")
    for act in (
        lambda: None,
        lambda: builder.preset("Residual off at depth 6"),
        lambda: builder.choose("Language", "ja"),
        lambda: builder.check("links_hide", "Depth"),
    ):
        act()
        square = builder.page.evaluate(CODE)
        code = segno.make_qr(builder.link, error="m")
        assert square == [list(row) for row in code.matrix_iter(border=QUIET)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_code_is_dark_on_white_in_every_theme(page_at, ui, theme):
    lesson = page_at("?view=links&lang=en", until="linked", color_scheme=theme)
    lesson.page.evaluate(CODE)
    picture = lesson.page.get_by_role("img", name="QR code of this link")
    expect(picture).to_have_count(1)
    colours = picture.evaluate("""(picture) => [...picture.children]
        .map((one) => [one.tagName, getComputedStyle(one).fill])""")
    assert colours == [["rect", "rgb(255, 255, 255)"], ["path", "rgb(0, 0, 0)"]]
    edge = picture.evaluate("""(picture) => {
      const [white, dark] = [...picture.children].map((one) => one.getBBox());
      return [dark.x - white.x, dark.y - white.y, white.width - dark.width];
    }""")
    assert edge == [QUIET, QUIET, 2 * QUIET]


def test_an_older_answer_never_takes_the_place_of_a_newer(builder):
    """A slow server: one question is under way, and only the newest waits."""
    builder.lesson.wait("linked")
    builder.page.evaluate(CODE)
    builder.page.evaluate("""async () => {
      const {asking} = await ResidualStream.page;
      globalThis.asked = [];
      asking.use((message) => asked.push(message));
    }""")
    for step in ("2", "3", "4"):
        builder.choose("Step", step)
    builder.page.wait_for_timeout(50)
    asked = builder.page.evaluate("asked")
    assert [urlsplit(one["payload"]["text"]).query[:6] for one in asked] == ["step=2"]
    answer = """async ([i, size]) => {
      const {asking} = await ResidualStream.page;
      asking.answer(asked[i].id, {size, dark: [[0, 0, size]]});
      await new Promise((resolve) => setTimeout(resolve, 50));
      const picture = document.querySelector(".links-code");
      return [picture.classList.contains("is-waiting"), picture.dataset.text,
        picture.viewBox.baseVal.width];
    }"""
    waiting, text, _ = builder.page.evaluate(answer, [0, 21])
    assert waiting
    assert "step=1&" in text  # what stood there before, faded: not step 2's
    asked = builder.page.evaluate("asked")
    assert [one["payload"]["text"] for one in asked[1:]] == [builder.link]
    assert builder.page.evaluate(answer, [1, 25]) == [False, builder.link, 33]
    assert builder.page.evaluate(answer, [0, 21]) == [False, builder.link, 33]


def test_a_link_too_long_for_a_code_gets_a_line_and_still_works(builder):
    builder.lesson.wait("linked")
    builder.page.evaluate(CODE)
    long = "/" + "x" * LONGEST
    builder.page.evaluate("path => history.replaceState(null, '', path)", long)
    builder.choose("Step", "2")
    expect(builder.view.locator(".links-code-place p")).to_have_text(
        "This link is too long for a QR code."
    )
    expect(builder.view.locator(".links-code")).to_be_hidden()
    assert "step=2" in builder.link


BAD = [None, 7, "text", [], {}, {"text": 7}, {"text": ""}, {"text": "a" * 1201}]


def test_bad_questions_leave_the_session_alone(builder):
    builder.lesson.wait("linked")
    answers = builder.page.evaluate(
        """async (payloads) => {
          const {asking} = await ResidualStream.page;
          return Promise.all(payloads.map((payload) => asking.ask("qr", payload)));
        }""",
        BAD,
    )
    assert {tuple(answer) for answer in answers} == {("error",)}
    builder.preset("After block 1")
    assert len(builder.page.evaluate(CODE)) > 2 * QUIET


# -------------------------------------------------------- where the page itself stands


def test_this_computer_s_own_name_gets_a_line_that_says_what_to_do(page_at, ui):
    lesson = page_at("?view=links&lang=en")
    hint = lesson.page.locator(".links-result > .links-quiet")
    expect(hint).to_contain_text(f"Students can’t reach {urlsplit(lesson.home).netloc}")
    assert hint.locator("code").all_inner_texts() == [
        "--address",
        "--allow-websocket-origin",
    ]


def test_without_a_server_all_works_but_the_code(page_at, ui, tmp_path):
    file = tmp_path / "lesson.html"
    file.write_bytes(offline_page(Publication(LESSON), "en"))
    lesson = page_at("?view=links", at=file.as_uri(), offline=True)
    builder = Builder(lesson, ui)
    line = lesson.page.locator(".links-code-place p")
    expect(line).to_have_text("The QR code needs the server.")
    expect(builder.view.locator(".links-code")).to_be_hidden()
    expect(builder.view).to_contain_text("This page is a file")
    expect(builder.view).to_contain_text("in English; nothing is hidden.")
    builder.preset("Residual off at depth 6")
    assert builder.link.startswith(file.as_uri() + "#step=38&depth=6&residual=off")
    lesson.put(language="ja")
    expect(line).to_have_text(ui["links_code_offline"]["ja"])
    link = builder.page.locator("[data-control=links-link]").input_value()
    opened = page_at("#" + urlsplit(link).fragment, at=file.as_uri(), offline=True)
    wanted = {"step": 38, "depth": 6, "residual": False}
    assert opened.state() == START | wanted


def test_a_name_that_students_can_reach_gets_no_line(page_at, pages, ui):
    page = pages(service_workers="block").page
    content = offline_page(Publication(LESSON), "en")
    page.route(HOME + "**", lambda route: route.fulfill(body=content))
    lesson = page_at("?view=links#there", at=HOME, service_workers="block")
    builder = Builder(lesson, ui)
    assert builder.link.startswith(HOME + "?step=1&")
    assert "#" not in builder.link
    expect(builder.view.locator(".links-result > .links-quiet")).to_be_hidden()
    page.unroute(HOME + "**")


def test_within_another_page_it_says_that_such_links_are_not_read_there(page_at):
    lesson = page_at()
    text = lesson.page.evaluate("""async () => {
      const {source} = document.getElementById("residual-stream-lesson").dataset;
      const data = await (await fetch(source)).json();
      data.extra = {experiments: {experiments: []}};
      const host = document.createElement("div");
      document.body.append(host);
      const options = {address: false, server: false, language: "en"};
      const page = ResidualStream.createPage(host, data,
        {...options, state: {view: "links"}});
      const text = host.querySelector(".links").innerText;
      page.remove();
      host.remove();
      return text;
    }""")
    assert "The lesson stands inside another page" in text
    assert "Students can’t reach" not in text


def test_experiments_that_do_not_come_can_be_asked_for_again(page_at, ui):
    # a server that comes later would have them asked for again by itself
    lesson = page_at("?lang=en", until="linked")
    lesson.forgiven = ("failed request", "ERR_FAILED")
    lesson.page.route("**/experiments.*.json", lambda route: route.abort())
    lesson.put(view="links")
    again = lesson.button("Try again")
    expect(again).to_be_visible()
    lesson.page.locator(".links-preset").first.click()
    expect(lesson.page.locator(".links-said")).to_contain_text("step 3 of 20")
    lesson.page.unroute("**/experiments.*.json")
    again.click()
    Builder(lesson, ui)
    expect(again).to_be_hidden()


def test_in_projector_view_the_class_is_not_shown_the_way_here(page_at):
    lesson = page_at("?projector=1&lang=en")
    way = lesson.page.get_by_role("link", name="For teachers")
    expect(way).to_be_hidden()
    lesson.put(view="lab")
    expect(way).to_be_hidden()
    expect(lesson.page.get_by_role("link", name="Lab")).to_be_visible()
    lesson.put(view="lesson", projector=False)
    expect(way).to_be_visible()
    lesson.put(view="links", projector=True)
    expect(way).to_be_visible()
    expect(lesson.page.get_by_role("group", name="What it hides")).to_be_visible()
    boxes = lesson.page.locator(".links input[type=checkbox]")
    assert boxes.evaluate_all("all => all.every((one) => one.checkVisibility())")


# --------------------------------------------------------------- what a link hides


def test_what_a_link_hides_is_gone_for_keys_and_screen_readers_too(
    builder, page_at, ui
):
    for part in HIDEABLE:
        label = ui[{"sum": "sum_region", "map": "depth_map"}.get(part, part)]["en"]
        builder.check("links_hide", label)
    query = "?" + urlsplit(builder.link).query.replace("step=1&", "step=4&")
    opened = page_at(query, viewport={"width": 1100, "height": 800})
    page, before = opened.page, opened.state()
    assert before == START | {"step": 4, "hide": list(HIDEABLE)}

    gone = {"Residual", "Depth", "Token", "Language", "Compare on and off"}
    gone |= {"Sum", "Depth map", "Reading"}
    session = page.context.new_cdp_session(page)
    tree = session.send("Accessibility.getFullAXTree")["nodes"]
    parts = ("switch", "slider", "combobox", "checkbox", "region")
    named = {
        node["name"]["value"]
        for node in tree
        if not node["ignored"] and node["role"]["value"] in parts
    }
    session.detach()
    assert {"Step", "Block", "Theme"} <= named
    assert named & gone == set()

    stops = []
    for _ in range(80):
        page.keyboard.press("Tab")
        stop = page.evaluate("""() => {
          const at = document.activeElement;
          const name = at.getAttribute("aria-label") || at.textContent.trim();
          // the walk's parts are the walk's: its last has the name of the sum
          const place = at.closest("nav, section")?.getAttribute("aria-label");
          return at === document.body ? null : [place, name];
        }""")
        if stop is None:
            break
        stops.append(stop)
    else:
        pytest.fail("the page has no end")
    assert {"Next", "Theme", "Help"} <= {name for _, name in stops}
    walk = ["Parts of the walk", "Sum"]
    assert [stop for stop in stops if gone & set(stop) and stop != walk] == []

    for key in ("r", "R", "[", "]"):
        page.keyboard.press(key)
    assert opened.state() == before
    page.keyboard.press("ArrowRight")
    assert opened.state() == before | {"step": 5}


def test_a_hidden_token_is_hidden_beside_the_wirings_too(page_at):
    lesson = page_at("?view=wirings&lang=en&hide=token")
    page = lesson.page
    expect(page.get_by_role("combobox", name="Block shown")).to_be_visible()
    expect(page.get_by_role("combobox", name="Token")).to_be_hidden()
    lesson.put(hide=[])
    expect(page.get_by_role("combobox", name="Token")).to_be_visible()


# ---------------------------------------------------------------- for every teacher


def test_by_keyboard_alone(page_at, ui):
    """From the nav to a preset, a step, a hidden part, and the link's copy."""
    allowed = {"permissions": ["clipboard-read", "clipboard-write"]}
    lesson = page_at("?lang=en", **allowed)
    page, keys = lesson.page, lesson.page.keyboard

    def tab_to(selector: str) -> None:
        for _ in range(60):
            keys.press("Tab")
            at = "selector => document.activeElement.matches(selector)"
            if page.evaluate(at, selector):
                return
        pytest.fail(f"Tab does not reach {selector}")

    tab_to("a[href*='view=links']")
    keys.press("Enter")
    builder = Builder(lesson, ui)
    tab_to(".links-preset")
    keys.press("Enter")
    assert builder.query == FIRST | {"step": "3"}
    tab_to("select")  # what is shown
    keys.press("Tab")
    keys.press("ArrowDown")
    assert builder.query == FIRST | {"step": "4"}
    tab_to("[data-control=links-depth]")
    keys.press("Space")
    assert builder.query == FIRST | {"step": "4", "hide": "depth"}
    tab_to("[data-control=links-link]")
    tab_to("[data-control=links-copy]")
    keys.press("Enter")
    expect(builder.view.locator(".copy-said")).to_have_text("Link copied.")
    assert page.evaluate("navigator.clipboard.readText()") == builder.link
    tab_to("[data-control=links-open]")
    for key in ("r", "]", "ArrowRight", "Home"):  # the lesson's keys are the lesson's
        keys.press(key)
    assert lesson.state() == START | {"view": "links"}


SENTENCES = {
    "ja": "生徒の画面は、ステップ7／20「FFNの修正を足す」、トークンは「bank」、"
    "残差はオン、言語は生徒のブラウザーに合わせた設定で始まり、"
    "深さは変えられず、合計は表示されません。",
    "en": "Students see step 7 of 20, “Add the FFN’s correction”, for “bank” with the "
    "residual on, in their own language; they can’t change the depth and don’t see "
    "the sum.",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_the_sentence_is_in_the_page_s_language(page_at, ui, language):
    builder = Builder(page_at(f"?view=links&lang={language}"), ui, language)
    builder.preset(builder.say("links_preset_block_1"))
    builder.check("links_hide", builder.say("depth"))
    builder.check("links_hide", builder.say("sum_region"))
    assert builder.said == SENTENCES[language]
    link = builder.link
    other = {"ja": "en", "en": "ja"}[language]
    builder.lesson.put(language=other)
    assert builder.page.locator(".links-said").text_content() == SENTENCES[other]
    assert builder.page.locator("[data-control=links-link]").input_value() == link


def test_in_japanese_nothing_is_left_in_english(page_at, ui):
    lesson = page_at("?view=links&lang=ja", locale="ja-JP", until="linked")
    Builder(lesson, ui, "ja")
    lesson.page.evaluate(CODE)
    texts = lesson.texts(".links :is(h2, h3, p, legend, span, button, a, option)")
    kept = {
        "bank",
        "by",
        "the",
        "river",
        "English",
        *(one["id"] for one in EXPERIMENTS),
    }
    english = [t for t in texts if re.fullmatch(r"[A-Za-z .’]+", t) and t not in kept]
    assert english == []


WIDER = """() => {
  const root = document.scrollingElement;
  const out = [...document.querySelectorAll(".links *")].filter((one) =>
    one.checkVisibility() && !one.closest(".visually-hidden, option")
    && one.getBoundingClientRect().right > root.clientWidth + 1);
  return [root.scrollWidth - root.clientWidth,
    ...out.map((one) => one.outerHTML.slice(0, 120))];
}"""


@pytest.mark.parametrize("width", [320, 390, 640, 1280])
def test_it_is_never_wider_than_its_page(page_at, ui, width):
    options = {"viewport": {"width": width, "height": 844}}
    lesson = page_at("?view=links&lang=en", until="linked", **options)
    builder = Builder(lesson, ui)
    for part in HIDEABLE:
        lesson.page.locator(f".links-fieldset [data-control=links-{part}]").last.click()
    assert len(builder.query["hide"].split(",")) == len(HIDEABLE)
    for language in ("en", "ja"):
        lesson.put(language=language)
        lesson.page.evaluate(CODE)
        assert lesson.page.evaluate(WIDER) == [0], language


@pytest.mark.parametrize("width", [320, 1280])
def test_its_targets_are_large_enough_for_a_finger(page_at, ui, width):
    options = {"viewport": {"width": width, "height": 844}}
    lesson = page_at("?view=links&lang=en", **options)
    Builder(lesson, ui)
    small = lesson.page.evaluate("""() => [...document.querySelectorAll(
        ".links :is(button, a, select, input, textarea), nav a")]
      .map((one) => [one, (one.closest("label") ?? one).getBoundingClientRect()])
      .filter(([, {width, height}]) => width > 0 && (width < 24 || height < 24))
      .map(([one]) => one.outerHTML.slice(0, 100))""")
    assert small == []
