"""What a reader can work out from the digits shown comes to the digits shown.

Sentences hold equations; pictures hold vectors, of which sums, differences and lengths
are quoted. A pocket calculator, fed with what stands on the page, finds the same.
"""

import math
import re
from decimal import Decimal
from itertools import combinations, permutations

import numpy as np
import pytest

from residual_stream.lesson.experiments.experiment import load_experiments
from residual_stream.lesson.expressions import evaluate
from residual_stream.lesson.files import LANGUAGES
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import load_lesson
from residual_stream.model.arithmetic import number
from residual_stream.table.questions import plain
from residual_stream.table.texts import ReadingTexts, StepTexts

FIGURE = r"−?\d+(?:\.\d+)?"
EQUATION = re.compile(
    rf"(?P<sum>{FIGURE}(?: ?[+−×÷·/] ?{FIGURE})+) ?= ?(?P<result>{FIGURE})"
)
OPERATION = {"×": "*", "·": "*", "÷": "/", "−": "-", "/": "/", "+": "+"}
every_language = pytest.mark.parametrize("language", LANGUAGES)


def value_of(text: str) -> float:
    return float(text.replace("−", "-"))


def comes_out(equation: re.Match[str]) -> bool:
    """Whether the left side, worked out from its digits, rounds to the right side."""
    tokens = re.findall(rf"[+×÷·/]|−(?!\d)|{FIGURE}", equation["sum"].replace(" ", ""))
    said = "".join(OPERATION.get(t, t.replace("−", "-")) for t in tokens)
    worked = evaluate(said, lambda _: math.nan)
    result = equation["result"]
    decimals = len(result.partition(".")[2])
    return number(round(worked, 9), decimals) == result


def assert_equations_come_out(text: str, where: object) -> int:
    equations = list(EQUATION.finditer(text))
    for equation in equations:
        assert comes_out(equation), (where, equation[0])
    return len(equations)


# ----------------------------------------------------------------------- sentences


@pytest.fixture(scope="module")
def lesson():
    return load_lesson(lesson_folder(DEFAULT_LESSON))


@every_language
def test_every_equation_of_the_walk_comes_out(lesson, language):
    sections = lesson.sections("step", language)
    every = StepTexts(lesson).every_state()
    n_equations = 0
    for setting, words in every.items():
        for token, word in enumerate(words):
            for place, (index, *fills) in enumerate([*word["steps"], *word["sums"]]):
                text = plain(sections[index].nodes, fills)
                where = (setting, token, place)
                n_equations += assert_equations_come_out(text, where)
    assert n_equations > 0


@every_language
def test_every_equation_of_the_reading_comes_out(lesson, language):
    kinds = ("lesson", "reading")
    sections = [s for s in lesson.prose[language] if s.kind in kinds]
    filled = ReadingTexts(lesson).every_section()
    for section, fills in zip(sections, filled, strict=True):
        assert_equations_come_out(plain(section.nodes, fills), section.id)


@every_language
def test_every_equation_of_the_guide_comes_out(lesson, language):
    text = (lesson.folder / f"teaching.{language}.md").read_text("utf-8")
    assert_equations_come_out(text, "the guide")


def test_an_equation_that_does_not_come_out_is_found():
    assert_equations_come_out("It is 0.3 + 0.7 = 1.0, and 1.00 ÷ 0.543 = 1.84.", "")
    for wrong in ("0.3 + 0.7 = 1.1", "1.0 ÷ 0.54 = 1.8", "1.0 − 0.3 + −0.2 = 0.9"):
        with pytest.raises(AssertionError):
            assert_equations_come_out(f"Here {wrong}.", "")


# ------------------------------------------------------------------------ pictures

EXPERIMENTS = [f"{group}{place}" for group in "FG" for place in range(1, 6)]
every_experiment = pytest.mark.parametrize("name", EXPERIMENTS)
EXPRESSION = re.compile(r"(?P<text>[^|]*)(?: \| (?P<form>%|\d))?")


@pytest.fixture(scope="module")
def experiments(lesson):
    """Each experiment with its data, drawn once."""
    return {one.plan.id: (one, one.data()) for one in load_experiments(lesson)}


def read_back(value: float, decimals: int) -> float:
    """A number as a reader has it: from its digits."""
    return value_of(number(value, decimals))


def vector_pictures(pictures):
    """Each picture of vectors: its title, the true rows, the rows as they are read."""
    for picture in pictures:
        if picture["kind"] == "vectors":
            rows = np.array([row["values"] for row in picture["rows"]])
            decimals = picture["decimals"]
            read = np.array([[read_back(v, decimals) for v in row] for row in rows])
            yield picture["title"]["en"], rows, read


def quoted(experiment, data):
    """Every number that a text or a chart quotes: its value and its decimals."""
    for section in experiment.sections["en"].values():
        for placeholder in section.placeholders:
            match = EXPRESSION.fullmatch(placeholder)
            if match["form"] != "%":
                value = evaluate(match["text"], experiment.runs.look_up)
                yield value, int(match["form"] or 1)
    for picture in data["pictures"]:
        if picture["kind"] in ("bars", "lines") and not picture["percent"]:
            numbers = (value for row in picture["rows"] for value in row["values"])
            yield from ((value, picture["decimals"]) for value in numbers)


@every_experiment
def test_every_equation_of_an_experiment_comes_out(experiments, name):
    _, data = experiments[name]
    for language in LANGUAGES:
        for piece, section in data["prose"][language].items():
            text = plain(section["nodes"], data["fills"][piece])
            assert_equations_come_out(text, (name, piece))


@every_experiment
def test_rows_that_add_up_do_so_in_the_digits_shown(experiments, name):
    for title, rows, read in vector_pictures(experiments[name][1]["pictures"]):
        for one, other, total in permutations(range(len(rows)), 3):
            if np.abs(rows[one] + rows[other] - rows[total]).max() < 1e-9:
                added = np.abs(read[one] + read[other] - read[total]).max()
                assert added < 1e-9, (title, one, other, total)


@every_experiment
def test_lengths_and_distances_can_be_worked_out_from_the_rows_shown(experiments, name):
    """A distance that is quoted is the one between the two rows as they stand there."""
    experiment, data = experiments[name]
    for title, rows, read in vector_pictures(data["pictures"]):
        pairs = [(rows[i], read[i]) for i in range(len(rows))]
        pairs += [
            (rows[i] - rows[j], read[i] - read[j])
            for i, j in combinations(range(len(rows)), 2)
        ]
        for value, decimals in quoted(experiment, data):
            for true, seen in pairs:
                if value and abs(np.linalg.norm(true) - value) < 1e-9:
                    found = number(float(np.linalg.norm(seen)), decimals)
                    assert found == number(value, decimals), (title, seen)


@every_experiment
def test_a_number_that_stands_twice_stands_there_alike(experiments, name):
    """The longer one, rounded to the digits of the shorter, is the shorter."""
    experiment, data = experiments[name]
    cells = [
        (value, picture["decimals"])
        for picture in data["pictures"]
        for row in picture["rows"]
        for value in row["values"]
        if not picture["percent"]
    ]
    for value, decimals in quoted(experiment, data):
        for cell, places in cells:
            if abs(cell - value) < 1e-9:
                few, many = sorted((decimals, places))
                longer = Decimal(number(value, many).replace("−", "-"))
                assert number(longer, few) == number(value, few), (value, few, many)
