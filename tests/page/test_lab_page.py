"""The lab in a browser: what a reader sets, Python computes, and every view follows."""

import random
import re

import pytest
from playwright.sync_api import expect

from residual_stream import run
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import load_lesson
from residual_stream.model.arithmetic import number, percent
from residual_stream.page.publication import Publication
from residual_stream.publish.offline_file import offline_page
from residual_stream.table.lab import answer

LESSON = load_lesson(lesson_folder(DEFAULT_LESSON))
WORDS = LESSON.named.tokens

# the form as the settings that it stands for, read off its controls
FORM = """() => {
  const root = document.querySelector(".lab");
  const box = (name) => [...root.querySelectorAll(".lab-checks label")]
    [["residual", "attention", "ffn", "positions"].indexOf(name)].firstChild.checked;
  const items = [...root.querySelectorAll(".lab-words > li:not([hidden])")];
  const [norm, weights] = [...root.querySelectorAll(".lab-selects select")];
  const [seed, amount] = [...root.querySelectorAll(".lab-seed input")];
  const varied = !seed.closest(".lab-seed").hidden;
  const value = (name) => Number(root.querySelector(`[data-control=${name}]`).value);
  return {
    words: items.map((item) => item.querySelector("select").value),
    vectors: items.map((item) => item.querySelector(".lab-vector button").hidden ? null
      : [...item.querySelectorAll(".lab-vector input")].map((one) => +one.value)),
    follow: items.findIndex((item) => item.querySelector("[type=radio]").checked),
    depth: value("lab-depth"), block: value("lab-block"),
    norm: norm.value, weights: weights.value,
    varied: varied ? {seed: Number(seed.value), amount: Number(amount.value)} : null,
    residual: box("residual"), attention: box("attention"), ffn: box("ffn"),
    positions: box("positions"),
  };
}"""

# every view's own words and numbers
SHOWN = """async () => {
  const root = document.querySelector(".lab");
  const views = root.querySelector(".lab-views");
  const end = performance.now() + 10000;
  const isBusy = () => views.hidden || views.getAttribute("aria-busy") === "true";
  while (isBusy() && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const texts = (selector) => [...views.querySelectorAll(selector)]
    .filter((one) => one.checkVisibility()).map((one) => one.textContent.trim());
  return {
    busy: isBusy(),
    status: root.querySelector(".lab-status").textContent,
    bad: root.querySelector(".lab-status").classList.contains("is-bad"),
    ribbon: texts(".lab-ribbon")[0],
    lengths: texts(".lab-length").filter(Boolean),
    ends: texts(".lab-panel-ends span[data-numbers]"),
    pattern: texts(".lab-pattern td .number"),
    x0: [...root.querySelectorAll(".lab-words > li:not([hidden]) .lab-x0")].map((row) =>
      [...row.querySelectorAll(".number")].map((one) => one.textContent)),
    sum: [...views.querySelectorAll(".lab-sum tbody tr")].map((row) =>
      [...row.querySelectorAll(".number")].map((one) => one.textContent)),
    faults: [...views.querySelectorAll("[data-name]")].filter((one) =>
      one.textContent === "").length,
  };
}"""


def signed(value: float) -> str:
    text = number(value, 1)
    return text if text.startswith("−") else f"+{text}"


def expected(settings: dict) -> dict | None:
    """What the views must show for settings, worked out here; None if it is refused."""
    model = answer(LESSON, settings)
    if "error" in model:
        return None
    word, follow, depth = model["word"], settings["follow"], settings["depth"]
    states = [state[follow] for state in model["states"]]
    lengths = [number(bar, 1) for bar in word["bars"]]
    length = number(model["lengths"][-1][follow], 1)
    said = f"At depth {depth}, “{settings['words'][follow]}” has the length {length}"
    errors = word["sum_errors"]
    tail = "." if errors is None else f"; sum error {number(errors[-1], 1)}."
    name = f"blocks.{settings['block'] - 1}.attn.pattern"
    pattern = [e["value"] for e in model["entries"] if e["name"] == name]
    return {
        "busy": False,
        "status": said + tail,
        "bad": False,
        "ribbon": f"x₀ {number(word['x0_length'], 1)}",
        "lengths": lengths if depth <= 16 else lengths[-1:],
        "ends": [
            f"{number(first, 1)} → {number(last, 1)}"
            for first, last in zip(states[0], states[-1], strict=True)
        ],
        "pattern": [
            percent(share) for row in (pattern[0] if pattern else []) for share in row
        ],
        "x0": [[number(value, 2) for value in row] for row in model["states"][0]],
        "sum": [
            [number(value, 1) for value in states[0]],
            *([signed(value) for value in delta] for delta in word["deltas"]),
            [number(value, 1) for value in states[-1]],
        ],
        "faults": 0,
    }


# how far the middles of the named blocks' bars and of their names are apart
APART = """() => {
  const middle = (one) => {
    const {left, right} = one.getBoundingClientRect();
    return (left + right) / 2;
  };
  const bars = [...document.querySelectorAll(".lab-bar")];
  return [...document.querySelectorAll(".lab-axis span")]
    .map((name, i) => Math.abs(middle(name) - middle(bars.at(-i))));
}"""


@pytest.fixture
def lab(page_at):
    return page_at("?view=lab&lang=en")


def test_it_opens_with_the_lessons_own_model(lab):
    settings = lab.page.evaluate(FORM)
    assert settings["words"] == list(WORDS)
    assert settings["vectors"] == [None] * len(WORDS)
    assert lab.page.evaluate(SHOWN) == expected(settings)
    assert "lab=" not in lab.page.url
    for language in ("en", "ja"):  # a block's name stands under its bar
        lab.put(language=language)
        assert max(lab.page.evaluate(APART)) < 2


class Reader:
    """Somebody who tries the lab's controls, one after another, by chance."""

    def __init__(self, lab, seed: int) -> None:
        self.page = lab.page
        self.chance = random.Random(seed)  # noqa: S311  # the same each time

    def act(self) -> str:
        """One action with a control; its name."""
        acts = (
            self.depth, self.block, self.box, self.norm, self.weights, self.word,
            self.vector, self.own, self.follow, self.move, self.remove, self.add,
            self.varied, self.reset,
        )  # fmt: skip
        odds = (4, 3, 4, 2, 2, 3, 4, 1, 2, 2, 2, 3, 2, 1)
        (act,) = self.chance.choices(acts, odds)
        act()
        return act.__name__

    def one_of(self, selector: str):
        found = self.page.locator(f".lab {selector}").filter(visible=True)
        return found.nth(self.chance.randrange(found.count()))

    def press(self, selector: str) -> None:
        """A button, even one that says that it does nothing now."""
        self.one_of(selector).dispatch_event("click")

    def slide(self, name: str, most: int) -> None:
        self.one_of(f"[data-control={name}]").fill(str(self.chance.randint(1, most)))

    def depth(self) -> None:
        self.slide("lab-depth", self.chance.choice([6, 12, 12, 96]))

    def block(self) -> None:
        slider = self.page.locator("[data-control=lab-block]")
        self.slide("lab-block", int(slider.get_attribute("max")))

    def box(self) -> None:
        self.one_of(".lab-checks input").click()

    def norm(self) -> None:
        name = self.chance.choice(["rms", "layer", "none"])
        self.page.locator(".lab-selects select").first.select_option(name)

    def weights(self) -> None:
        name = self.chance.choice(["lesson", "cancelling"])
        self.page.locator(".lab-selects select").last.select_option(name)

    def word(self) -> None:
        self.one_of(".lab-words select").select_option(self.chance.choice(WORDS))

    def vector(self) -> None:
        self.page.evaluate(
            "document.querySelectorAll('.lab-vector').forEach((one) => one.open = true)"
        )
        value = self.chance.choice([0, -1, 0.25, 3, round(self.chance.gauss(0, 2), 4)])
        self.one_of(".lab-vector input").fill(str(value))

    def own(self) -> None:
        buttons = self.page.locator(".lab-vector button").filter(visible=True)
        if buttons.count():
            buttons.first.click()

    def follow(self) -> None:
        self.one_of(".lab-words [type=radio]").click()

    def move(self) -> None:
        way = self.chance.choice(["up", "down"])
        self.press(f"[data-control={way}]")

    def remove(self) -> None:
        self.press("[data-control=remove]")

    def add(self) -> None:
        self.press(".lab-words + button")

    def varied(self) -> None:
        box = self.page.locator(".lab-seed").locator("xpath=preceding-sibling::label")
        box.locator("input").click()

    def reset(self) -> None:
        self.one_of("[data-control=lab-reset]").click()


@pytest.mark.parametrize("seed", [1, 2])
def test_every_view_follows_whatever_is_tried(lab, page_at, seed):
    """30 controls by chance: each time all that is shown is what Python computes."""
    reader = Reader(lab, seed)
    shown = lab.page.evaluate(SHOWN)
    done = []
    for _ in range(30):
        done.append(reader.act())
        settings = lab.page.evaluate(FORM)
        before, shown = shown, lab.page.evaluate(SHOWN)
        wanted = expected(settings)
        if wanted is None:  # numbers that grow too large: a line, and the last picture
            assert shown["bad"], done
            assert shown["status"].endswith("The pictures are of the settings before.")
            wanted = before | {"status": shown["status"], "bad": True}
        elif before["bad"]:
            assert not shown["bad"], done
        assert shown == wanted, (done, settings)
    # the address has all of it
    lab.page.wait_for_timeout(300)
    query = re.search(r"\?.*", lab.page.url)[0]
    again = page_at(query).page
    same = again.evaluate(SHOWN)
    if shown["bad"]:  # of refused settings there are no views
        assert same["status"] == shown["status"]
        settings["block"] = 1
    else:
        assert same == shown
    assert again.evaluate(FORM) == settings


def test_many_changes_at_once_end_with_the_last(lab):
    lab.page.evaluate("""() => {
      const slider = document.querySelector("[data-control=lab-depth]");
      for (let depth = 2; depth <= 40; depth++) {
        slider.value = depth;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
      }
    }""")
    assert lab.page.evaluate(SHOWN) == expected(lab.page.evaluate(FORM))
    assert lab.page.evaluate(FORM)["depth"] == 40


def test_an_answer_that_is_overtaken_is_never_shown(lab):
    """The answer to depth 5 is slow; meanwhile depth 9 is asked for."""
    said = lab.page.evaluate("""async () => {
      const {asking} = await ResidualStream.page;
      const {answer} = asking;
      const heard = [];
      asking.answer = (id, text) => {
        const slow = heard.length === 0 ? 600 : 0;
        heard.push(id);
        setTimeout(() => answer(id, text), slow);
      };
      const said = [];
      const status = document.querySelector(".lab-status");
      new MutationObserver(() => said.push(status.textContent))
        .observe(status, {childList: true, characterData: true, subtree: true});
      const slider = document.querySelector("[data-control=lab-depth]");
      for (const depth of [5, 9]) {
        slider.value = depth;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        await new Promise((resolve) => setTimeout(resolve, 400));
      }
      const end = performance.now() + 5000;
      while (performance.now() < end && (heard.length < 2 || said.length === 0)) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return said;
    }""")
    assert said == [expected(lab.page.evaluate(FORM))["status"]]
    assert lab.page.evaluate(SHOWN) == expected(lab.page.evaluate(FORM))


def test_a_mistake_in_drawing_an_answer_is_no_missing_server(lab):
    """It is heard of, and the answer is not asked for again and again."""
    with lab.page.expect_event("pageerror"):
        lab.page.evaluate("""async () => {
          const {asking} = await ResidualStream.page;
          const {answer} = asking;
          asking.answer = (id) => answer(id, {});
          const slider = document.querySelector("[data-control=lab-depth]");
          slider.value = 7;
          slider.dispatchEvent(new Event("input", {bubbles: true}));
        }""")
    lab.faults.clear()


TOO_LARGE = "?view=lab&lab=norm*none_depth*96_x4*1000*1000*1000*1000"


def test_numbers_without_sense_get_a_line_and_the_last_picture_stays(lab, page_at):
    good = lab.page.evaluate(SHOWN)
    bad = page_at(TOO_LARGE).page.evaluate(SHOWN)
    assert bad["status"] == (
        "In block 1 a number passes a million. Use fewer blocks, a norm or smaller "
        "vectors. The pictures are of the settings before."
    ) or bad["status"].startswith("In block ")
    assert bad == good | {"status": bad["status"], "bad": True}


@pytest.mark.parametrize("typed", ["", "1001", "-1e9"])
def test_a_field_without_a_usable_number_says_so_and_is_mended(lab, typed):
    good = lab.page.evaluate(SHOWN)
    lab.page.locator(".lab-vector summary").first.click()
    field = lab.page.get_by_label("Word 1, “by”: geography")
    field.fill(typed)
    expect(field).to_have_attribute("aria-invalid", "true")
    status = lab.page.locator(".lab-status")
    expect(status).to_have_text(
        "A field holds no usable number. Type one within its range."
    )
    assert lab.page.evaluate(SHOWN)["sum"] == good["sum"]
    field.blur()
    expect(field).to_have_value("0")
    expect(status).to_have_text(good["status"])
    assert lab.page.evaluate(SHOWN) == good


@pytest.mark.parametrize(
    "value",
    [
        "depth*97",
        "words*cat",
        "x9*1*1*1*1",
        "depth*3_depth*4",
        "<b>",
        "norm",
        "a" * 700,
    ],
)
def test_a_bad_address_opens_the_lessons_own_model_with_a_line(page_at, value):
    lesson = page_at("?view=lab&lab=" + value.replace("<", "%3C"))
    line = lesson.page.get_by_role("alert").locator("li")
    expect(line).to_have_count(1)
    expect(line).to_contain_text("lab=")
    assert lesson.page.evaluate(SHOWN) == expected(lesson.page.evaluate(FORM))


def test_a_moved_word_keeps_the_focus_and_the_one_that_is_followed(lab):
    lab.page.get_by_role("button", name="Move word 4, “bank”, up").focus()
    lab.page.keyboard.press("Enter")
    settings = lab.page.evaluate(FORM)
    assert settings["words"] == ["by", "the", "bank", "river"]
    assert settings["follow"] == 2
    focused = lab.page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "Move word 3, “bank”, up"
    lab.page.keyboard.press("Enter")
    assert lab.page.evaluate(FORM)["words"] == ["by", "bank", "the", "river"]
    assert lab.page.evaluate(SHOWN) == expected(lab.page.evaluate(FORM))


def test_its_numbers_tell_where_they_come_from(lab):
    lab.page.locator(".lab-pattern .number").last.click()
    note = lab.page.locator(".float")
    expect(note).to_contain_text("blocks.0.attn.pattern")
    share = run(LESSON.named.example, 3)["blocks.0.attn.pattern"][-1, -1]
    expect(note.locator(".float-sum strong")).to_have_text(number(share, 2))
    note.get_by_role("button").first.click()
    expect(note).to_contain_text("blocks.0.attn.scores")
    lab.page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    lab.page.locator(".lab-sum .number").first.focus()
    lab.page.keyboard.press("Enter")
    expect(note).to_contain_text("blocks.0.resid_pre")


def test_what_the_blocks_get_of_a_word_is_beside_its_vector(page_at):
    """x₀ of each word, whatever block is looked into, down to the sum that makes it."""
    lab = page_at("?view=lab&lang=en&lab=words*bank*river_x1*0.3*-2*0*1_block*2")
    assert lab.page.evaluate(SHOWN) == expected(lab.page.evaluate(FORM))
    key = lab.page.locator(".lab-map .depth-map-key li").last
    expect(key).to_have_text("▲the block looked into below")
    first = lab.page.locator(".lab-vector").first
    first.locator("summary").click()
    expect(first.locator(".lab-x0")).to_contain_text("x₀ of word 1, “bank”")
    first.locator(".lab-x0 .number").nth(1).click()
    note = lab.page.locator(".float")
    place = LESSON.named.example.pos_embed[0, 1]
    made = f"−2.00 + {number(place, 2)} = {number(place - 2, 2)}"
    expect(note.locator(".float-sum")).to_have_text(made)


def test_a_field_reached_by_key_is_seen_with_what_comes_of_it(lab):
    """The form scrolls on its own: no field stands at its edge, x₀ out of sight."""
    vector = lab.page.locator(".lab-vector").nth(len(WORDS) - 1)
    vector.locator("summary").press("Enter")
    lab.page.keyboard.press("Tab")
    expect(vector.locator("input").first).to_be_focused()
    form = lab.page.locator(".lab-form").bounding_box()
    line = vector.locator(".lab-x0").bounding_box()
    assert line["y"] + line["height"] <= form["y"] + form["height"]


def test_without_a_server_it_says_so_and_shows_the_lessons_model(page_at, tmp_path):
    file = tmp_path / "lesson.html"
    file.write_bytes(offline_page(Publication(LESSON), "en"))
    lesson = page_at("?view=lab", at=file.as_uri(), until="text", offline=True)
    page = lesson.page
    expect(page.locator(".lab-offline")).to_contain_text("The lab needs the server")
    page.locator(".lab-views").wait_for()
    settings = page.evaluate(FORM)
    assert page.evaluate(SHOWN) == expected(settings)
    page.locator("[data-control=lab-depth]").fill("9")
    expect(page.locator(".lab-offline")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_it_is_never_wider_than_its_page(page_at, width):
    query = "?view=lab&lang=en&lab=depth*96_words*by*bank*the*river*bank*by"
    lesson = page_at(query, viewport={"width": width, "height": 844})
    lesson.page.evaluate(SHOWN)
    lesson.page.evaluate(
        "document.querySelectorAll('.lab details').forEach((one) => one.open = true)"
    )
    for language in ("en", "ja"):
        lesson.put(language=language)
        assert lesson.page.evaluate("document.documentElement.scrollWidth") <= width
