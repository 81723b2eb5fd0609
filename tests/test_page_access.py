"""The page for everybody: screen readers, keyboards, small screens, calm eyes."""

import re
from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

VIEWS = {
    "a step": ("?step=4", {}),
    "the sum": ("?step=20&depth=12", {}),
    "residual off": ("?step=7&residual=off&depth=6", {}),
    "comparing": ("?step=4&compare=1", {}),
    "projector": ("?step=3&projector=1", {}),
    "Japanese": ("?step=6&lang=ja", {}),
    "dark": ("?step=4", {"color_scheme": "dark"}),
    "dark, Japanese, off": ("?step=3&lang=ja&residual=off", {"color_scheme": "dark"}),
    "phone": ("?step=4", {"viewport": {"width": 390, "height": 844}}),
    "bad link": ("?step=0&token=sea", {}),
    "experiments": ("?view=experiments", {}),
    "wirings": ("?view=wirings", {}),
    "lab": ("?view=lab", {}),
    "links": ("?view=links", {}),
    "links, dark, Japanese": ("?view=links&lang=ja", {"color_scheme": "dark"}),
}
# a policy without unsafe-eval keeps axe out, so these pages go without the policy
AXE = {"bypass_csp": True}


@pytest.mark.parametrize(("query", "options"), VIEWS.values(), ids=VIEWS)
def test_axe_finds_nothing(page_at, query, options):
    """Of no impact, and nothing is left out: what the libraries make counts too."""
    lesson = page_at(query, **AXE, **options)
    clean(lesson)


def test_axe_finds_nothing_with_everything_open(page_at):
    lesson = page_at("?step=6", **AXE)
    lesson.page.evaluate(
        "document.querySelectorAll('details').forEach((one) => (one.open = true))"
    )
    clean(lesson)
    lesson.page.locator("#step .number").first.click()
    clean(lesson)
    lesson.page.keyboard.press("Escape")
    lesson.button("Help").click()
    clean(lesson)


def clean(lesson) -> None:
    options = {"resultTypes": ["violations"]}
    found = Axe().run(lesson.page, options=options).response["violations"]
    said = [
        f"{one['impact']} {one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}"
        for one in found
    ]
    assert not said, "\n".join(said)


def test_landmarks_and_headings(page_at):
    lesson = page_at("?step=4")
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


@pytest.mark.parametrize(("change", "sentence"), SAYS.values(), ids=SAYS)
def test_one_polite_region_says_each_change_in_a_sentence(page_at, change, sentence):
    lesson = page_at("?step=4")
    live = lesson.page.locator("[aria-live]")
    expect(live).to_have_count(1)
    expect(live).to_have_attribute("aria-live", "polite")
    expect(live).to_have_text("")
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
    lesson = page_at()
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


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("width", [320, 640])
def test_nothing_scrolls_sideways(page_at, width, language):
    """At 320 px, and at 1280 px with 200 % zoom, which is 640 px wide."""
    lesson = page_at(f"?lang={language}", viewport={"width": width, "height": 700})
    lesson.page.evaluate(
        "document.querySelectorAll('details').forEach((one) => (one.open = true))"
    )
    for change in (
        {"step": 1},
        {"step": 3},
        {"step": 4, "residual": False},
        {"step": 6, "residual": True, "depth": 12},
        {"step": 74, "compare": True},
        {"step": 4, "projector": True},
    ):
        lesson.put(**change)
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
        assert wide == [0], change


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_targets_are_large_enough_for_a_finger(page_at, width):
    """24 px at least each way; links within a sentence are exempt (WCAG 2.5.8)."""
    lesson = page_at("?step=4&depth=6", viewport={"width": width, "height": 844})
    small = lesson.page.evaluate("""() => [...document.querySelectorAll(
        "button, input, select, summary, nav a, .number[role=button]")]
      .filter((one) => one.checkVisibility({visibilityProperty: true})
        && !one.closest("p, li:not(nav li), dd, [inert]"))
      .map((one) => [one, (one.closest("label") ?? one).getBoundingClientRect()])
      .filter(([, {width, height}]) => width < 24 || height < 24)
      .map(([one, {width, height}]) =>
        `${one.className} ${one.textContent}: ${width} × ${height}`)
      .slice(0, 5)""")
    assert small == []


@pytest.mark.parametrize("language", ["en", "ja"])
def test_next_back_and_the_switch_stay_in_reach_on_a_phone(page_at, ui, language):
    options = {"viewport": {"width": 390, "height": 844}}
    lesson = page_at(f"?step=4&lang={language}", **options)
    for top in (0, 800, 100_000):
        lesson.page.evaluate("top => scrollTo(0, top)", top)
        for key in ("next", "back"):
            button = lesson.button(ui[key][language])
            expect(button).to_be_in_viewport(ratio=1)
        switch = lesson.page.get_by_role("switch")
        expect(switch).to_be_in_viewport(ratio=1)


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


MOVES = """async ([name, wait]) => {
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
  const start = performance.now();
  let changes = 0;
  let last = first.bars;
  while (performance.now() - start < wait) {
    await new Promise(requestAnimationFrame);
    if (text() !== first.text) throw new Error("the text changed in the motion");
    if (bars() !== last) changes += 1;
    last = bars();
  }
  return {textAtOnce: first.text !== before.text, changes, last,
    picture: first.bars !== last};
}"""


@pytest.mark.parametrize(
    ("query", "control"),
    [("?step=3", "next"), ("?step=5", "next"), ("?step=4", "residual")],
)
def test_the_text_changes_first_and_the_motion_ends_in_the_calm_picture(
    page_at, query, control
):
    moving = page_at(query, reduced_motion="no-preference")
    seen = moving.page.evaluate(MOVES, [control, 1200])
    assert seen["textAtOnce"]
    assert seen["picture"]
    assert seen["changes"] >= 2  # it moved, frame by frame, and did not jump
    calm = page_at(query).page.evaluate(MOVES, [control, 200])
    assert calm["changes"] == 0
    assert seen["last"] == calm["last"]


def test_a_quick_reader_is_not_held_up_by_motion(page_at):
    """Three presses in a row: the page is at the third at once."""
    lesson = page_at("?step=3", reduced_motion="no-preference")
    calm = page_at("?step=6")
    steps = lesson.page.evaluate("""() => {
      const next = document.querySelector("[data-control=next]");
      for (let i = 0; i < 3; i++) next.click();
      return document.querySelector(".step-count").textContent;
    }""")
    assert steps == "Step 6 of 20"
    bars = """() =>
        [...document.querySelectorAll("#block .scene:not([hidden]) .scene-bar")]
        .map((bar) => bar.getAttribute("style"))"""
    last = calm.page.evaluate(bars)
    settled = lesson.page.evaluate(f"""async () => {{
      await new Promise((resolve) => setTimeout(resolve, 900));
      return ({bars})();
    }}""")
    assert settled == last
