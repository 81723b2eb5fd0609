"""The page for everybody: screen readers, keyboards, small screens, calm eyes."""

import re
from itertools import pairwise, product

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from conftest import PHONE

UNTIL = "drawn"
START = {"view": "lesson", "step": 1, "depth": 3, "token": 3, "residual": True}
START |= {"language": "en", "compare": False, "projector": False}
VIEWS = {
    "a step": {"step": 4},
    "Japanese": {"step": 6, "language": "ja"},
    "residual off": {"step": 7, "residual": False, "depth": 6},
    "projector": {"step": 3, "projector": True},
    "comparing": {"step": 4, "compare": True},
    "the sum": {"step": 38, "depth": 6},
    "experiments": {"view": "experiments"},
    "wirings": {"view": "wirings"},
    "lab": {"view": "lab"},
    "links": {"view": "links"},
}
# what makes each of these views, once it is there
THERE = {
    "experiments": ".experiments-open",
    "wirings": ".wirings-card",
    "lab": ".lab-pattern .number",
    "links": ".links-experiments button",
}
DARK = {
    "a step": {"step": 4},
    "Japanese, off": {"step": 3, "language": "ja", "residual": False},
    "links, Japanese": {"view": "links", "language": "ja"},
}
PHONE_STEP = {"a step": {"step": 4}}
# a policy without unsafe-eval keeps axe out, so these pages go without the policy
AXE = {"bypass_csp": True}
LOOKS = {
    "light": (VIEWS, {}),
    "dark": (DARK, {"color_scheme": "dark"}),
    "phone": (PHONE_STEP, {"viewport": PHONE}),
}


@pytest.mark.parametrize(("views", "options"), LOOKS.values(), ids=LOOKS)
def test_axe_finds_nothing(page_at, views, options):
    """Of no impact, and nothing is left out: what the libraries make counts too."""
    lesson = page_at(until="linked", **AXE, **options)
    seen = set()
    for name, state in views.items():
        lesson.put(**START | state)
        lesson.wait("drawn")
        if there := THERE.get(state.get("view")):
            lesson.page.locator(there).first.wait_for()
        # the same reading matter stands below each state: looked at once a language
        language = state.get("language", "en")
        clean(lesson, name, {"exclude": ["#reading"]} if language in seen else None)
        if "view" not in state:
            seen.add(language)


def test_axe_finds_nothing_in_a_bad_link_s_notice(page_at):
    clean(page_at("?step=0&token=sea", **AXE))


def test_axe_finds_nothing_with_everything_open(page_at):
    lesson = page_at("?step=6", **AXE)
    lesson.page.evaluate(
        "document.querySelectorAll('details').forEach((one) => (one.open = true))"
    )
    clean(lesson)
    lesson.page.locator("#step .number").first.click()
    clean(lesson, part=".float")
    lesson.page.keyboard.press("Escape")
    lesson.button("Help").click()
    clean(lesson, part="dialog[open]")


def clean(lesson, name: str = "", part: str | dict | None = None) -> None:
    options = {"resultTypes": ["violations"]}
    found = Axe().run(lesson.page, part, options).response["violations"]
    said = [
        f"{one['impact']} {one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}"
        for one in found
    ]
    assert not said, "\n".join([name, *said])


def test_landmarks_and_headings(page_at):
    lesson = page_at("?step=4", until="text")
    page = lesson.page
    for role in ("banner", "main"):
        expect(page.get_by_role(role)).to_have_count(1)
    for name in ("Step", "Block", "Depth map", "Sum", "Reading", "Controls"):
        expect(lesson.region(name)).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_text("Residual Stream")
    levels = page.evaluate("""() => [...document.querySelectorAll("h1, h2, h3, h4")]
        .filter((one) => one.checkVisibility()).map((one) => Number(one.tagName[1]))""")
    assert levels[0] == levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    skip = page.get_by_role("link", name="Skip to the lesson")
    page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(lesson.region("Step")).to_be_focused()


SAYS = {
    "step": ({"step": 7}, r"^Step 7 of 20: Add the FFN’s correction\. .+\.$"),
    "residual": ({"residual": False}, r"^Residual off: only the latest output is kept"),
    "depth": ({"depth": 5}, r"^The depth is now 5\.$"),
    "token": ({"token": 2}, r"^Now following “river”\.$"),
    "language": ({"language": "ja"}, r"^日本語で表示しています。$"),
}


# what a screen reader speaks by itself: so declared, or by an element's own role
SPEAKS = "[aria-live], [role=status], [role=alert], [role=log], [role=timer], output"


def test_one_polite_region_says_each_change_in_a_sentence(page_at):
    lesson = page_at("?step=4", until="text")
    live = lesson.page.locator(f":is({SPEAKS}):not(.notice[hidden])")
    expect(live).to_have_attribute("aria-live", "polite")
    expect(live).to_have_text("")
    for view, there in THERE.items():
        lesson.put(view=view)
        lesson.page.locator(there).first.wait_for()
        expect(live).to_have_count(1)
    lesson.put(view="lesson")
    for change, sentence in SAYS.values():
        lesson.put(**change)
        expect(live).to_have_text(re.compile(sentence))
        assert "undefined" not in live.text_content()


# -------------------------------------------------------------------- by keyboard


STOPS = """() => {
  const at = document.activeElement;
  const style = getComputedStyle(at);
  const name = at.getAttribute("aria-label") || at.textContent || at.tagName;
  const {width, height} = at.getBoundingClientRect();
  const ringed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  return {name: name.trim().slice(0, 60), role: at.getAttribute("role") || at.tagName,
    seen: width > 0 && height > 0, ringed: ringed || style.boxShadow !== "none",
    body: at === document.body};
}"""


def test_everything_is_reached_by_tab_in_order_with_a_visible_focus(page_at):
    lesson = page_at("?step=4")
    wanted = lesson.page.evaluate("""() => [...document.querySelectorAll(
        "button, a[href], input, select, summary, [tabindex='0']")]
      .filter((one) => one.checkVisibility({visibilityProperty: true})
        && one.tabIndex >= 0 && !one.closest("[inert]"))
      .map((one) => (one.getAttribute("aria-label") || one.textContent || one.tagName)
        .trim().slice(0, 60))""")
    stops = []
    for _ in range(len(wanted) + 5):
        lesson.page.keyboard.press("Tab")
        stop = lesson.page.evaluate(STOPS)
        if stop["body"]:
            break
        stops.append(stop)
    assert [stop for stop in stops if not stop["seen"]] == []
    assert [stop for stop in stops if not stop["ringed"]] == []
    assert sorted(stop["name"] for stop in stops) == sorted(wanted)


def test_a_whole_lesson_by_keyboard_alone(page_at):
    """From the skip link to the sum, the switch, the depth and one number."""
    lesson = page_at(until="text")
    keys = lesson.page.keyboard
    keys.press("Tab")
    keys.press("Enter")
    for _ in range(19):
        keys.press("ArrowRight")
    keys.press("r")
    expect(lesson.region("Step")).to_contain_text("Step 20 of 20")
    for _ in range(12):
        keys.press("Tab")
        if lesson.page.evaluate("document.activeElement.matches('#step .number')"):
            break
    keys.press("Enter")
    expect(lesson.page.locator(".float strong")).to_be_visible()
    keys.press("Escape")
    keys.press("]")
    assert lesson.state()["depth"] == 4
    assert lesson.state()["residual"] is False


# ------------------------------------------------------------------ small screens


@pytest.mark.parametrize("width", [320, 640])
def test_nothing_scrolls_sideways(page_at, width):
    """At 320 px, and at 1280 px with 200 % zoom, which is 640 px wide."""
    lesson = page_at("?lang=en", viewport={"width": width, "height": 700})
    lesson.page.evaluate(
        "document.querySelectorAll('details').forEach((one) => (one.open = true))"
    )
    changes = (
        {"step": 1},
        {"step": 3},
        {"step": 4, "residual": False},
        {"step": 6, "residual": True, "depth": 12},
        {"step": 74, "compare": True},
        {"step": 4, "projector": True},
    )
    for language, change in product(("en", "ja"), changes):
        lesson.put(**START | {"language": language} | change)
        wide = lesson.page.evaluate("""() => {
          const root = document.scrollingElement;
          const out = [...document.querySelectorAll("body *")].filter((one) =>
            one.checkVisibility() && !one.closest(".matrix-scroll, .chapters, pre")
            && getComputedStyle(one).position !== "fixed"
            && one.getBoundingClientRect().right > root.clientWidth + 1
            && !one.closest(".visually-hidden, .skip, svg"));
          return [root.scrollWidth - root.clientWidth,
            ...out.slice(0, 3).map((one) => one.outerHTML.slice(0, 120))];
        }""")
        assert wide == [0], (language, change)


SMALL = """() => [...document.querySelectorAll(
        "button, input, select, summary, nav a, .number[role=button]")]
      .filter((one) => one.checkVisibility({visibilityProperty: true})
        && !one.closest("p, li:not(nav li), dd, [inert]"))
      .map((one) => [one, (one.closest("label") ?? one).getBoundingClientRect()])
      .filter(([, {width, height}]) => width < 24 || height < 24)
      .map(([one, {width, height}]) =>
        `${one.className} ${one.textContent}: ${width} × ${height}`)
      .slice(0, 5)"""


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_targets_are_large_enough_for_a_finger(page_at, width):
    """24 px at least each way; links within a sentence are exempt (WCAG 2.5.8)."""
    lesson = page_at("?step=4&depth=6", viewport={"width": width, "height": 844})
    assert lesson.page.evaluate(SMALL) == []


@pytest.mark.parametrize("language", ["en", "ja"])
def test_next_back_and_the_switch_stay_in_reach_on_a_phone(page_at, ui, language):
    lesson = page_at(f"?step=4&lang={language}", until="text", viewport=PHONE)
    for top in (0, 800, 100_000):
        lesson.page.evaluate("top => scrollTo(0, top)", top)
        for key in ("next", "back"):
            button = lesson.button(ui[key][language])
            expect(button).to_be_in_viewport(ratio=1)
        switch = lesson.page.get_by_role("switch")
        expect(switch).to_be_in_viewport(ratio=1)
    # with the other settings, below the picture
    lesson.button(ui["start_over"][language]).click()
    assert lesson.state()["step"] == 1


def test_on_a_phone_a_menu_holds_what_the_head_has_no_room_for(page_at):
    """By keyboard alone; language and link stay in sight, in one line."""
    lesson = page_at("?step=4", until="text", viewport=PHONE)
    head = lesson.page.get_by_role("banner")
    expect(head.get_by_role("combobox", name="Language")).to_be_visible()
    expect(lesson.button("Copy link")).to_be_visible()
    assert head.bounding_box()["height"] < 48
    lab = head.get_by_role("link", name="Lab", exact=True)
    expect(lab).to_be_hidden()
    menu = head.locator("summary", has_text="Menu")
    menu.focus()
    keys = lesson.page.keyboard
    keys.press("Enter")
    for name in ("Lesson", "Experiments", "Wirings", "Lab", "For teachers"):
        keys.press("Tab")
        expect(head.get_by_role("link", name=name, exact=True)).to_be_focused()
    keys.press("Tab")
    expect(head.get_by_role("combobox", name="Theme")).to_be_focused()
    keys.press("Escape")
    expect(menu).to_be_focused()
    expect(lab).to_be_hidden()
    keys.press("Space")
    lab.click()
    expect(lab).to_be_hidden()
    assert lesson.state()["view"] == "lab"
    lesson.page.set_viewport_size({"width": 1280, "height": 800})
    expect(lab).to_have_attribute("aria-current", "page")
    expect(lab).to_be_visible()
    lesson.page.set_viewport_size(PHONE)
    expect(lab).to_be_hidden()


def test_the_line_of_chapters_shows_that_it_goes_on(page_at):
    """On a phone: an edge that hides more fades, and the next is half seen."""
    lesson = page_at("?step=1", until="text", viewport=PHONE)
    line = lesson.page.locator(".chapters")
    for step, more in ((1, "right"), (2, "right"), (5, "left right"), (20, "left")):
        lesson.put(step=step)
        expect(line).to_have_attribute("data-more", more)
        hidden = lesson.page.evaluate("""() => {
          const list = document.querySelector(".chapters-list");
          const edge = list.getBoundingClientRect().right;
          const here = list.querySelector("[aria-current]").parentElement;
          const next = here.nextElementSibling?.getBoundingClientRect();
          return [here.getBoundingClientRect().right > edge,
            Boolean(next) && next.left > edge - 40];
        }""")
        assert hidden == [False, False], step


# ------------------------------------------------------------------------- motion


def test_reduced_motion_means_none(page_at):
    lesson = page_at("?step=3")
    frames = lesson.page.evaluate("""async () => {
      const {settle} = await ResidualStream.page;
      const look = () => document.querySelector(".scene").outerHTML
        + document.querySelector(".depth-map-stage").dataset.geometry;
      const running = () => document.getAnimations()
        .filter((one) => one.playState === "running").length;
      const seen = [];
      for (const name of ["next", "residual", "residual", "next", "back"]) {
        document.querySelector(`[data-control=${name}]`).click();
        settle();
        const at_once = look();
        for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame);
        seen.push([running(), look() === at_once]);
      }
      return seen;
    }""")
    assert frames == [[0, True]] * 5


# the page's frames come when the test says so, 50 ms apart, however slow the machine
BY_HAND = """() => {
  const waiting = new Map();
  let count = 0;
  let now = 0;
  globalThis.requestAnimationFrame = (draw) => {
    waiting.set(++count, draw);
    return count;
  };
  globalThis.cancelAnimationFrame = (which) => waiting.delete(which);
  globalThis.nextFrame = () => {
    const due = [...waiting.values()];
    waiting.clear();
    due.forEach((draw) => draw(now));
    now += 50;
  };
}"""
FRAMES = 24

MOVES = """async ([name, frames]) => {
  const {settle} = await ResidualStream.page;
  const element = (one) => document.querySelector(one);
  const shown = "#block .scene:not([hidden]) .scene-bar";
  const bars = () => [...document.querySelectorAll(shown)]
    .map((bar) => bar.getAttribute("style")).join()
    + element(".scene-picture").getAttribute("style")
    + element(".scene-arcs").innerHTML + element(".depth-map-stage").dataset.geometry;
  const text = () => element("#step").innerText;
  const before = {text: text(), bars: bars()};
  element(`[data-control=${name}]`).click();
  settle();
  const first = {text: text(), bars: bars()};
  let changes = 0;
  let last = first.bars;
  for (let i = 0; i < frames; i++) {
    nextFrame();
    if (text() !== first.text) throw new Error("the text changed in the motion");
    if (bars() !== last) changes += 1;
    last = bars();
  }
  return {textAtOnce: first.text !== before.text, changes, last,
    picture: first.bars !== last};
}"""


def moved(page_at, query, control, **options):
    """What a press sets in motion, frame by frame."""
    page = page_at(query, **options).page
    page.evaluate(BY_HAND)
    return page.evaluate(MOVES, [control, FRAMES])


@pytest.mark.parametrize(
    ("query", "control"),
    [("?step=3", "next"), ("?step=5", "next"), ("?step=4", "residual")],
)
def test_the_text_changes_first_and_the_motion_ends_in_the_calm_picture(
    page_at, query, control
):
    seen = moved(page_at, query, control, reduced_motion="no-preference")
    assert seen["textAtOnce"]
    assert seen["picture"]
    assert seen["changes"] >= 4  # it moved, frame by frame, and did not jump
    calm = moved(page_at, query, control)
    assert calm["changes"] == 0
    assert seen["last"] == calm["last"]


def test_a_quick_reader_is_not_held_up_by_motion(page_at):
    """Three presses in a row: the page is at the third at once."""
    lesson = page_at("?step=3", until="text", reduced_motion="no-preference")
    lesson.page.evaluate(BY_HAND)
    steps = lesson.page.evaluate("""() => {
      const next = document.querySelector("[data-control=next]");
      for (let i = 0; i < 3; i++) next.click();
      return document.querySelector(".step-count").textContent;
    }""")
    assert steps == "Step 6 of 20"
    bars = """(frames) => {
      for (let i = 0; i < frames; i++) nextFrame();
      return [...document.querySelectorAll("#block .scene:not([hidden]) .scene-bar")]
        .map((bar) => bar.getAttribute("style"));
    }"""
    ended = lesson.page.evaluate(bars, FRAMES)
    calm = page_at("?step=6", until="text")
    assert ended == calm.page.evaluate(bars, 0)


# ------------------------------------------------ colours that a reader has forced

FORCED = """() => {
  const root = document.querySelector(".residual-stream");
  const probe = document.createElement("i");
  root.append(probe);
  const resolved = (colour) => {
    probe.style.color = colour;
    return getComputedStyle(probe).color;
  };
  const ground = (selector) =>
    getComputedStyle(root.querySelector(selector)).backgroundColor;
  const names = ["Canvas", "CanvasText", "Highlight", "LinkText", "GrayText"];
  const result = {
    system: names.map(resolved),
    page: getComputedStyle(root).backgroundColor,
    knob: ground(".switch-knob"),
    track: ground(".switch-track"),
    picture: ground(".depth-map-swatch"),
    variables: [...document.styleSheets]
      .flatMap((sheet) => [...sheet.cssRules])
      .filter((rule) => rule.selectorText?.startsWith(":root,"))
      .flatMap((rule) => [...rule.style].filter((name) => name.startsWith("--")))
      .map((name) => resolved(`var(${name})`)),
  };
  probe.remove();
  return result;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("residual", ["on", "off"])
def test_with_forced_colours_every_colour_is_one_of_the_readers(
    page_at, scheme, residual
):
    lesson = page_at(
        f"?step=4&residual={residual}", forced_colors="active", color_scheme=scheme
    )
    seen = lesson.page.evaluate(FORCED)
    canvas = seen["system"][0]
    assert len(seen["variables"]) > 10
    assert set(seen["variables"]) <= set(seen["system"])
    assert seen["page"] == seen["track"] == canvas
    assert canvas not in (seen["knob"], seen["picture"])
