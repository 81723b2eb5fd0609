"""The walk on the page: every step says and shows what the trace holds."""

import re
from pathlib import Path

import pytest

from conftest import PHONE
from residual_stream import run
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.prose import Section
from residual_stream.model import block
from residual_stream.model.arithmetic import number, percent
from residual_stream.page.publication import Publication, publish
from residual_stream.table.questions import plain

UNTIL = "drawn"
PARTS = ("ln1.normalized", "attn_out", "resid_mid", "ln2.normalized", "mlp_out")
SOURCE = Path(block.__file__).read_text(encoding="utf-8").splitlines()
WORDS = ("by", "the", "river", "bank")

# everything that a step shows, for each state asked for, in one call
COLLECT = """async (states) => {
  const {root, store, settle} = await ResidualStream.page;
  const [step, block] = ["#step", "#block .scene"].map((id) => root.querySelector(id));
  const text = (within, name) => within.querySelector(name).textContent;
  const numbers = (within) => [...within.querySelectorAll(".number[data-name]")]
    .filter((one) => one.textContent)
    .map((one) => ({...one.dataset, text: one.textContent}));
  return states.map((state) => {
    store.set(state, "test");
    settle();
    return {
      count: text(step, ".step-count"),
      title: text(step, ".step-title"),
      text: text(step, ".step-text"),
      formula: step.querySelector(".step-formula").innerHTML,
      numbers: numbers(step),
      scene: numbers(block),
      code: text(step, ".code code"),
      place: text(step, ".code-place"),
    };
  });
}"""

# what can be seen and heard of a state, once the page has seen its sizes: each part's
# text, place, look and aria-…
SNAPSHOT = """async () => {
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  const parts = "#step, #block, #map, #sum, .chapters, .dock, .settings";
  const regions = [...document.querySelectorAll(parts)];
  const seen = {opacityProperty: true, visibilityProperty: true};
  const told = /^(aria-|class$|data-geometry$|d$|style$)/;
  return regions.flatMap((region) => [region, ...region.querySelectorAll("*")])
    .filter((part) => part.checkVisibility(seen))
    .map((part) => {
      const {x, y, width, height} = part.getBoundingClientRect();
      const place = [x, y + scrollY, width, height].map((value) => value.toFixed(1));
      const own = [...part.childNodes].filter((node) => node.nodeType === 3);
      const said = [...part.attributes].filter(({name}) => told.test(name));
      return [part.tagName, ...place, ...own.map((node) => node.data),
        ...said.map(({name, value}) => `${name}=${value}`)].join(" ");
    });
}"""


@pytest.fixture(scope="module")
def publication() -> Publication:
    return publish(lesson_folder(DEFAULT_LESSON))


def shown(step: int, depth: int) -> str:
    """The trace entry that a step is about, counted by hand."""
    if step == 1:
        return "blocks.0.resid_pre"
    layer, part = divmod(min(step, 1 + 6 * depth) - 2, 6)
    return f"blocks.{layer}.{(*PARTS, 'resid_post')[part]}"


def told(publication: Publication, language, *, step, depth, residual, token):
    """What the lesson's files say at a step: the title and the text."""
    word = publication.data["fills"]["steps"][residual][token]
    last = step == 2 + 6 * depth
    place, *fills = word["sums"][depth - 1] if last else word["steps"][step - 1]
    section: Section = publication.lesson.prose[language][
        [
            index
            for index, one in enumerate(publication.lesson.prose[language])
            if one.kind == "step"
        ][place]
    ]
    return plain(section.title, fills), plain(section.nodes, fills)


def check_step(seen, publication, trace, language, **place) -> None:
    step, depth, token = place["step"], place["depth"], place["token"]
    assert (seen["title"], seen["text"]) == told(publication, language, **place)
    assert re.findall(r"\d+", seen["count"]) == [str(step), str(2 + 6 * depth)]
    name = shown(step, depth)
    values = [number(value, 1) for value in trace[name][token]]
    assert [one["text"] for one in seen["numbers"]] == values
    assert {one["name"] for one in seen["numbers"]} == {name}
    check_formula(seen["formula"], step, depth, place["residual"])
    for one in seen["scene"]:
        check_number(one, trace, place["residual"])
    check_code(seen, trace.entries[name].place)


def check_formula(formula, step, depth, residual) -> None:
    """One mark, on what this step does; without the residual no `x +`."""
    mark = re.fullmatch(r"[^<]*<mark>([^<]+)</mark>[^<]*", formula)[1]
    whole = re.sub("<[^>]*>", "", formula)
    if step == 1:
        assert mark == "x₀ = embed(tokens) + positions"
    elif step == 2 + 6 * depth:
        low = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
        n, all_of_them = (str(count).translate(low) for count in (depth, 2 * depth))
        kept = f"x₀ + Δ₁ + Δ₂ + … + Δ{all_of_them}"
        last = f"Δ{all_of_them}"
        assert mark == f"x{n} = {kept if residual == 'on' else last}"
    else:
        f = "attention" if (step - 2) % 6 < 3 else "FFN"
        plus = "x + " if residual == "on" else ""
        assert whole == f"x ← {plus}{f}(norm(x))"
        marks = ("norm(x)", f"{f}(norm(x))", f"x ← {plus}".strip())
        assert mark == marks[(step - 2) % 3]


def check_number(one, trace, residual) -> None:
    """A number on screen is the trace's at the place it names, rounded."""
    value = trace[one["name"]][tuple(map(int, one["index"].split(",")))]
    assert one["residual"] == residual
    if one["text"].endswith(" %"):
        assert one["text"] == percent(value)
    else:
        decimals = len(one["text"].partition(".")[2])
        assert decimals in (1, 2)
        assert one["text"].removeprefix("+") == number(value, decimals)


def check_code(seen, place) -> None:
    """The line is in block.py, at the place it names."""
    assert seen["place"] == place
    file, _, line_no = place.partition(":")
    assert file == "block.py"
    lines = SOURCE[int(line_no) - 1 :]
    assert squeezed("".join(lines)).startswith(squeezed(seen["code"]))
    assert seen["code"]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def walk(lesson, steps, **state):
    states = [state | {"step": step} for step in steps]
    return lesson.page.evaluate(COLLECT, states)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_each_of_the_20_steps_says_and_shows_what_the_trace_holds(
    page_at, publication, trace, bank, ui, language
):
    """C2–C7, by pressing Next nineteen times."""
    lesson = page_at(f"?lang={language}", until="text")
    for step in range(1, 21):
        (seen,) = lesson.page.evaluate(COLLECT, [{}])
        place = {"step": step, "depth": 3, "residual": "on", "token": bank}
        check_step(seen, publication, trace, language, **place)
        lesson.press(ui["next"][language])
    assert lesson.state()["step"] == 20


PUBLISHED = {
    1: ("x₀", ["0.3", "0.3", "0.0", "1.0"]),
    3: ("Δ of block 1's attention", ["0.7", "−0.3", "−0.2", "0.0"]),
    4: ("after it", ["1.0", "0.0", "−0.2", "1.0"]),
    6: ("Δ of block 1's FFN", ["0.3", "−0.1", "−0.2", "0.2"]),
    7: ("after block 1", ["1.3", "−0.1", "−0.4", "1.2"]),
    13: ("after block 2", ["2.3", "−0.6", "−0.6", "1.4"]),
    19: ("after block 3", ["3.4", "−1.2", "−0.8", "1.5"]),
    20: ("the sum", ["3.4", "−1.2", "−0.8", "1.5"]),
}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_published_values_stand_on_the_page(page_at, language):
    """C2–C6, in the step's region and in the scene's."""
    lesson = page_at(f"?lang={language}", until="text")
    seen = dict(zip(PUBLISHED, walk(lesson, PUBLISHED), strict=True))
    for step, (what, values) in PUBLISHED.items():
        assert [one["text"] for one in seen[step]["numbers"]] == values, what
        texts = [
            one["text"].removeprefix("+")
            for one in seen[step]["scene"]
            if one["name"] == shown(step, 3)
        ]
        assert [number(float(t.replace("−", "-")), 1) for t in texts] == values, what


def test_the_scene_shows_what_goes_into_an_add_and_what_comes_out(page_at):
    lesson = page_at(until="text")
    adds = [step for step in range(2, 20) if (step - 2) % 3 == 2]
    for step, seen in zip(adds, walk(lesson, adds), strict=True):
        before, delta, after = (
            [one["text"] for one in seen["scene"] if one["name"] == name]
            for name in (
                shown(step - 3, 3) if step > 4 else "blocks.0.resid_pre",
                shown(step - 1, 3),
                shown(step, 3),
            )
        )
        if not before:  # a block's first add starts from its own resid_pre
            name = f"blocks.{(step - 2) // 6}.resid_pre"
            before = [one["text"] for one in seen["scene"] if one["name"] == name]
        for old, change, new in zip(before, delta, after, strict=True):
            summed = sum(float(t.replace("−", "-")) for t in (old, change))
            assert summed == pytest.approx(float(new.replace("−", "-")), abs=0.011)


@pytest.mark.parametrize(
    ("depth", "residual", "token"),
    [
        (6, "off", "bank"),
        (12, "on", "bank"),
        (12, "off", "bank"),
        *((3, "on", word) for word in WORDS[:3]),
        *((3, "off", word) for word in WORDS),
        (1, "on", "bank"),
    ],
)
def test_every_other_walk_is_right_at_each_step(
    page_at, publication, example, depth, residual, token
):
    """D1–D4, and each word's own walk."""
    lesson = page_at(f"?depth={depth}&residual={residual}&token={token}", until="text")
    trace = run(example, depth, residual == "on")
    steps = range(1, 3 + 6 * depth)
    for language in ("en", "ja"):
        for step, seen in zip(
            steps, walk(lesson, steps, language=language), strict=True
        ):
            place = {"residual": residual, "token": WORDS.index(token)}
            place |= {"step": step, "depth": depth}
            check_step(seen, publication, trace, language, **place)


# ------------------------------------------------------- the same state, the same page


@pytest.mark.parametrize("residual", ["on", "off"])
def test_walking_jumping_and_going_back_give_the_same_page(page_at, residual):
    lesson = page_at(f"?residual={residual}")
    snapshot = lambda: lesson.page.evaluate(SNAPSHOT)  # noqa: E731
    walked = [snapshot()]
    for _ in range(19):
        lesson.press("Next")
        walked.append(snapshot())
    assert len({str(page) for page in walked}) == 20
    for step in range(19, 0, -1):
        lesson.press("Back")
        assert snapshot() == walked[step - 1], f"Back to step {step}"
    for step in (20, 7, 13, 2, 4, 19, 1):
        lesson.put(step=step)
        assert snapshot() == walked[step - 1], f"a jump to step {step}"
    lesson.put(step=11)
    lesson.press("Start over")
    assert snapshot() == walked[0], "Start over"


def test_a_page_opened_at_a_step_is_the_page_that_was_walked_to(page_at):
    lesson = page_at("?step=6&depth=4&token=river&lang=ja")
    opened = lesson.page.evaluate(SNAPSHOT)
    lesson = page_at()
    lesson.put(language="ja", depth=4)
    lesson.put(step=26, residual=False)
    lesson.put(token=2, residual=True)
    lesson.put(step=6)
    assert lesson.page.evaluate(SNAPSHOT) == opened


def test_going_there_and_back_changes_nothing(page_at):
    """The switch, the depth, the word and the language, each there and back."""
    lesson = page_at("?step=12")
    before = lesson.page.evaluate(SNAPSHOT)
    for there, back in [
        ({"residual": False}, {"residual": True}),
        ({"depth": 12}, {"depth": 3}),
        ({"token": 0}, {"token": 3}),
        ({"language": "ja"}, {"language": "en"}),
        ({"compare": True}, {"compare": False}),
        ({"projector": True}, {"projector": False}),
    ]:
        lesson.put(**there)
        assert lesson.page.evaluate(SNAPSHOT) != before, there
        lesson.put(**back)
        assert lesson.page.evaluate(SNAPSHOT) == before, back


# where the wiring and the first two bars stand, and what the dock leaves of the screen
SCENES = """() => {
  const seen = (part) => [...document.querySelectorAll(part)]
    .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect());
  const edges = ({top, bottom}) => [Math.round(top), Math.round(bottom)];
  return {wiring: seen(".scene-picture").map(edges),
    bars: seen(".scene-plot").map(edges), dock: seen(".dock")[0].top};
}"""
STEPS = [(step, residual) for residual in (True, False) for step in range(1, 21)]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_on_a_phone_the_picture_stands_on_the_first_screen_and_keeps_its_place(
    page_at, language
):
    """The wiring and two bars of the vector, at a glance, whatever is told above."""
    lesson = page_at(f"?lang={language}", until="text", viewport=PHONE)
    places = set()
    for step, residual in STEPS:
        lesson.put(step=step, residual=residual)
        seen = lesson.page.evaluate(SCENES)
        places.add(str(seen))
        assert seen["wiring"][0][0] > 0
        assert seen["bars"][1][1] <= seen["dock"], (step, residual)
    assert len(places) == 1


def test_on_a_wide_screen_the_picture_keeps_its_place(page_at):
    lesson = page_at(until="text")
    places = []
    for step, residual in STEPS:
        lesson.put(step=step, residual=residual)
        places.append(lesson.page.evaluate(SCENES)["wiring"])
    assert places.count(places[0]) == len(places)


NARROW = """() => {
  const stop = /^[.,;:!?)”’。、，」）]/;
  const starts = [];
  for (const one of document.querySelectorAll(".step-text .equation")) {
    const lines = new Set([...one.getClientRects()].map(({top}) => Math.round(top)));
    starts.push([one.textContent, lines.size === 1]);
  }
  for (const text of [...document.querySelectorAll(".step-text, .reading")]) {
    for (const term of text.querySelectorAll(".glossary-link:not([inert] *)")) {
      const next = term.nextSibling;
      if (next?.nodeType !== 3 || !stop.test(next.data)) continue;
      const range = document.createRange();
      range.setStart(next, 0);
      range.setEnd(next, 1);
      const end = [...term.getClientRects()].at(-1);
      const together = range.getBoundingClientRect().left >= end.right - 1;
      starts.push([term.textContent, together]);
    }
  }
  return starts;
}"""


@pytest.mark.parametrize("language", ["en", "ja"])
def test_no_line_begins_with_the_stop_after_a_term_or_within_an_equation(
    page_at, language
):
    seen = []
    for width in (390, 360, 1280):
        lesson = page_at(
            f"?lang={language}", until="text", viewport={"width": width, "height": 844}
        )
        for step in (1, 2, 3, 4, 6, 7, 14):
            lesson.put(step=step)
            seen += lesson.page.evaluate(NARROW)
    assert {"0.3 + 0.7 = 1.0", "1.0 + 0.3 = 1.3"} < {text for text, _ in seen}
    assert [text for text, together in seen if not together] == []
