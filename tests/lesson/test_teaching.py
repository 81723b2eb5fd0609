"""The teacher's guide: both languages alike, every link usable, every number computed.

A number in the guide is any digits outside `code`. `NUMBERS` says, for each section and
in order, what computes it; a number that nothing computes fails.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl

import numpy as np
import pytest
from playwright.sync_api import expect

from residual_stream.lesson.experiments.experiment import fill, load_experiments
from residual_stream.lesson.files import LANGUAGES
from residual_stream.lesson.fills import Place
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import load_lesson
from residual_stream.model.ledger import distances
from residual_stream.table.texts import traces

UNTIL = "text"
FOLDER = lesson_folder(DEFAULT_LESSON)
README = FOLDER.parents[1] / "README.md"

CODE = re.compile(r"`([^`]+)`")
NUMBER = re.compile(r"(?<![A-Za-z0-9.])−?\d+(?:\.\d+)?(?: %)?")
OPTION = re.compile(r"- \*\*([a-d])\*\*")


@dataclass(frozen=True)
class Part:
    """A heading of the guide and what stands under it, up to the next heading."""

    level: int
    title: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join((self.title, *self.lines))

    @property
    def shape(self) -> list[str]:
        """What kind of line each line is: an item, a row, a paragraph."""
        return [line[0] if line[0] in "-|" else "p" for line in self.lines]

    @property
    def queries(self) -> list[str]:
        return [code for code in CODE.findall(self.text) if code.startswith("?")]

    @property
    def numbers(self) -> list[str]:
        return NUMBER.findall(re.sub(r"\]\([^)]*\)", "]", CODE.sub("", self.text)))

    @property
    def experiment(self) -> str:
        found = re.match(r"([FG][1-9])[:：]", self.title)
        return found[1] if found else ""


def read(language: str) -> list[Part]:
    text = (FOLDER / f"teaching.{language}.md").read_text(encoding="utf-8")
    pieces = re.split(r"^(#+) (.+)$", text, flags=re.MULTILINE)
    assert pieces[0] == ""  # the guide starts with its title
    return [
        Part(len(mark), title, tuple(line for line in body.split("\n") if line))
        for mark, title, body in zip(*[iter(pieces[1:])] * 3, strict=True)
    ]


GUIDE = {language: read(language) for language in LANGUAGES}
NAMES = [part.title for part in GUIDE["en"]]
QUERIES = sorted({query for part in GUIDE["en"] for query in part.queries})
in_both = pytest.mark.parametrize("language", LANGUAGES)


def state_of(query: str) -> dict[str, str]:
    return dict(parse_qsl(query[1:], strict_parsing=True))


# ------------------------------------------------------------------- the two languages


def test_both_have_the_same_sections():
    ja, en = (GUIDE[language] for language in ("ja", "en"))
    assert [part.level for part in ja] == [part.level for part in en]
    assert [part.experiment for part in ja] == [part.experiment for part in en]
    for mine, theirs in zip(ja, en, strict=True):
        assert mine.shape == theirs.shape, theirs.title


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_both_have_the_same_links_codes_and_numbers_line_by_line(place):
    ja, en = GUIDE["ja"][place], GUIDE["en"][place]
    for mine, theirs in zip(ja.text.split("\n"), en.text.split("\n"), strict=True):
        assert CODE.findall(mine) == CODE.findall(theirs)
        one, other = (Part(1, line, ()).numbers for line in (mine, theirs))
        assert one == other


@in_both
def test_every_line_is_in_its_own_language(language):
    for part in GUIDE[language]:
        for line in (part.title, *part.lines):
            plain = re.sub(r"\[[^\]]*\]\([^)]*\)", "", CODE.sub("", line))
            has_kana = bool(re.search(r"[ぁ-んァ-ヶ一-龠]", plain))
            if re.search(r"[A-Za-zぁ-ん]{4}", plain):
                assert has_kana is (language == "ja"), line


def test_the_readme_and_the_guides_lead_to_each_other():
    text = README.read_text(encoding="utf-8")
    for language in LANGUAGES:
        name = f"teaching.{language}.md"
        assert f"](lessons/{DEFAULT_LESSON}/{name})" in text
        other = next(lang for lang in LANGUAGES if lang != language)
        assert f"]({name})" in GUIDE[other][0].text


# --------------------------------------------------------------------------- the links


@pytest.mark.parametrize("query", QUERIES)
def test_the_page_takes_every_link_as_it_stands(query, page_at):
    lesson = page_at(query)
    wanted = state_of(query)
    state = lesson.state()
    state["residual"] = "on" if state["residual"] else "off"
    for key, value in wanted.items():
        if key == "hide":
            assert ",".join(state["hide"]) == value
        elif key == "experiment":
            opened = lesson.page.locator(".experiments-which")
            expect(opened).to_have_text(f"Experiment {value}")
        elif key in ("projector", "compare"):
            assert state[key] is (value == "1")
        else:
            assert str(state[key]) == value
    expect(lesson.page.get_by_role("alert")).to_have_count(0)


def test_the_star_has_its_links():
    """Residual off at depth 6, on the projector."""
    star = next(part for part in GUIDE["en"] if part.title.startswith("The star"))
    (query,) = star.queries
    assert state_of(query)["depth"] == "6"
    assert state_of(query)["projector"] == "1"


# ---------------------------------------------------------------------------- the plan


def plan() -> list[list[str]]:
    part = next(part for part in GUIDE["en"] if part.title == "The plan")
    rows = [line.strip("| ").split(" | ") for line in part.lines if line[0] == "|"]
    return rows[2:]


def test_the_minutes_follow_one_another_up_to_the_hours_end():
    times = [tuple(map(int, minutes.split("–"))) for minutes, _, _ in plan()]
    assert times[0][0] == 0
    assert all(start < end for start, end in times)
    assert [end for _, end in times[:-1]] == [start for start, _ in times[1:]]
    assert times[-1][1] == 50


def test_every_moment_of_the_plan_is_told_in_order():
    titles = [part.title for part in GUIDE["en"] if part.level == 3]
    for (_, moment, screen), title in zip(plan(), titles, strict=False):
        assert title.startswith(moment.split(":")[0])
        told = next(part for part in GUIDE["en"] if part.title == title)
        assert screen.strip("`") == told.queries[0]


@in_both
def test_every_moment_has_a_screen_a_line_to_say_a_question_and_an_answer(language):
    words = {
        "en": ("Screen:", "Say:", "Ask", "Expect:"),
        "ja": ("画面：", "説明：", "発問", "予想される答え："),
    }[language]
    moments = [p for p in GUIDE[language] if p.level == 3 and not p.experiment]
    assert len(moments) == len(plan())
    for part in moments:
        for word in words:
            assert any(line.startswith(f"- {word}") for line in part.lines), part.title


# --------------------------------------------------------------------- the experiments


@in_both
def test_every_wrong_option_of_every_experiment_is_explained(language, experiments):
    told = {part.experiment: part for part in GUIDE[language] if part.experiment}
    assert list(told) == list(experiments)
    for name, experiment in experiments.items():
        part = told[name]
        options = [m[1] for line in part.lines if (m := OPTION.match(line))]
        wrong = set(experiment.plan.options) - {experiment.plan.right}
        assert options == sorted(wrong), name
        assert re.search(r"\*\*([a-d])\*\*[)）]$", part.lines[0])[1] == (
            experiment.plan.right
        )
        assert state_of(part.queries[0]) == {"view": "experiments", "experiment": name}


# ------------------------------------------------------------------------- the numbers


class Source:
    """Where the guide's numbers come from."""

    def __init__(self) -> None:
        self.lesson = load_lesson(FOLDER)
        self.experiments = {e.plan.id: e for e in load_experiments(self.lesson)}

    @cached_property
    def place(self) -> Place:
        named, depth = self.lesson.named, self.lesson.max_depth
        return Place(named, traces(self.lesson, depth), "on", named.focus, 0)

    def value(self, what: "str | Callable[[Source, Part], object]", part: Part) -> str:
        if callable(what):
            return str(what(self, part))
        if part.experiment:
            return fill(what, self.experiments[part.experiment].runs)
        return self.place.fill(what)


@pytest.fixture(scope="module")
def source() -> Source:
    return Source()


@pytest.fixture(scope="module")
def experiments(source):
    return source.experiments


def depth(_: Source, part: Part) -> str:
    """How deep the part's first screen is."""
    return state_of(part.queries[0])["depth"]


def blocks(source: Source, part: Part) -> int:
    """How deep the runs of the part's experiment are."""
    runs = source.experiments[part.experiment].plan.runs.values()
    (deep,) = {run.depth for run in runs}
    return deep


def alike(source: Source, _: Part) -> int:
    """After which block all words have the same numbers, with the residual off."""
    off = source.place.traces["off"]
    apart = distances(off).max(axis=(1, 2))
    return int(np.flatnonzero(apart > 1e-9)[-1]) + 1


def minutes(_: Source, part: Part) -> str:
    return plan()[-1][0].partition("–")[2]


def axes(source: Source, _: Part) -> int:
    return len(source.lesson.named.axes)


def measured(value: str) -> Callable[[Source, Part], str]:
    """A number measured on trained models: the lesson's own text is its source."""

    def quoted(source: Source, _: Part) -> str:
        for language in LANGUAGES:
            told = {s.id: s for s in source.lesson.sections("reading", language)}
            assert value in str(told["proportions"].nodes)
        return value

    return quoted


X0, MID, POST = (
    "on.blocks.0.resid_pre",
    "on.blocks.0.resid_mid",
    "on.blocks.0.resid_post",
)
CUT = "off.blocks.5.resid_post"
MISSED = "distance(river{0}.blocks[0].mlp_out.bank, money{0}.blocks[0].mlp_out.bank)"
ALL = (
    "sum(other.blocks[k].attn_out.bank{0} + other.blocks[k].mlp_out.bank{0} "
    "for k in range(3))"
)

NUMBERS = {
    "Teaching this lesson in 50 minutes": [minutes],
    "The draft": [f"{X0}.geography", f"{X0}.finance", f"{X0}.identity"],
    "Attention writes, the stream adds": [
        "on.blocks.0.attn.pattern.river | %",
        "on.blocks.0.attn_out.geography",
        "on.blocks.0.attn_out.finance",
        "off.blocks.0.resid_mid.geography",  # what the quick answer describes
        f"{MID}.geography",
        f"{MID}.finance",
    ],
    "The FFN reads a single word": [
        "on.blocks.0.mlp.post.riverbank",
        "on.blocks.0.mlp.post.moneybank",
        "on.blocks.0.mlp_out.geography",
        "on.blocks.0.mlp_out.identity",
    ],
    "The sum": [
        f"{X0}.geography",
        f"{POST}.geography",
        "on.blocks.1.resid_post.geography",
        "on.blocks.2.resid_post.geography",
        f"{X0}.finance",
        "on.blocks.2.resid_post.finance",
    ],
    "The star: residual off at depth 6": [
        depth,
        "length on.blocks.5.resid_post",
        f"length {CUT}",
        "on.blocks.5.resid_post.identity",
        f"{CUT}.identity",
    ],
    "A single block": [
        depth,
        f"{POST}.geography",
        "off.blocks.0.resid_post.geography",
        f"{POST}.identity",
        "off.blocks.0.resid_post.identity",
    ],
    "What has not been shown": [f"{CUT}.identity", alike],
    "F1: few blocks and many": [
        "distance(on.x[1].bank, off.x[1].bank)",
        blocks,
        "distance(on.x[6].bank, off.x[6].bank)",
    ],
    "F2: who sees the new word": [MISSED.format("_alone"), MISSED.format("")],
    "F3: length and identity": [
        blocks,
        "length(off.x[12].bank)",
        "off.x[12].bank.identity | 2",
    ],
    "F4: weights of its own for each block": [
        blocks,
        "distance(own_on.x[6].bank, shared_on.x[6].bank)",
    ],
    "F5: the order of the words": [
        "distance(free.x[3].bank, free_moved.x[3].bank)",
        "distance(placed.x[3].bank, placed_moved.x[3].bank)",
    ],
    "G1: added, so protected": [
        "(other.x[0].bank.identity) | 3",
        f"{ALL.format('.identity')} | 3",
        "(other.x[3].bank.identity) | 3",
        f"length(other.x[3].bank - {ALL.format('')}) | 2",
    ],
    "G2: a block is attention": [
        "distance(whole.x[6].bank, no_ffn.x[6].bank)",
        "(no_attention.x[6].bank.geography)",
        "(no_attention.x[6].bank.finance)",
    ],
    "G3: the derivative": [
        "smallest(lesson.stretch.stream[12]) | 2",
        "smallest(other.stretch.stream[12]) | 2",
        "largest(off.stretch.stream[12]) | 2",
        blocks,
    ],
    "G4: norm and residual": [
        "(norm_only.x[6].bank.identity)",
        "length(residual_only.x[6].bank)",
        "length(both.x[6].bank)",
    ],
    "G5: more layers": [
        "(on.blocks[0].attn.pattern.bank.river) | %",
        "(on.blocks[23].attn.pattern.bank.river) | %",
        blocks,
        "distance(on.x[23].bank, on.x[24].bank)",
    ],
    "What the lesson does not show": [axes, measured("0.013"), measured("0.0008")],
}


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_every_number_is_computed(place, source):
    part = GUIDE["en"][place]
    if part.title == "The plan":
        return check_only_minutes(part)
    computed = [source.value(what, part) for what in NUMBERS.get(part.title, ())]
    assert part.numbers == computed


def check_only_minutes(part: Part) -> None:
    """Its minutes have a test of their own; it holds no other number."""
    told = [number for row in plan() for number in row[0].split("–")]
    assert part.numbers == told


def test_every_computation_belongs_to_a_section():
    assert set(NUMBERS) <= set(NAMES)


def test_a_number_that_nothing_computes_is_found():
    part = Part(
        3, "One", ("- at 2.5 and −3, `?step=4`, x₀, G5, 94 % and [six](six-6.md)",)
    )
    assert part.numbers == ["2.5", "−3", "94 %"]
