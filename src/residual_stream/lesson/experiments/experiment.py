"""Predict, run, see: a lesson's experiments, checked against their own computation.

`experiments/F1.toml` says what is run, what is shown and which prediction is right,
with the claim that makes it so; `experiments/ja.md` and `en.md` hold the prose. An
experiment whose right answer has stopped being true, or whose wrong one has become
true, is an error.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from residual_stream.lesson.experiments.file import ExperimentPlan, read_experiment
from residual_stream.lesson.experiments.pictures import drawn
from residual_stream.lesson.experiments.runs import Runs
from residual_stream.lesson.expressions import ExpressionError, evaluate, failing
from residual_stream.lesson.files import LANGUAGES, LessonError
from residual_stream.lesson.fills import FillError, Place
from residual_stream.lesson.lesson import Lesson, check_parity, check_terms
from residual_stream.lesson.prose import Section, read_prose
from residual_stream.model.arithmetic import number, percent

_EXPRESSION = re.compile(r"(?P<text>.*?[(\[].*?)(?: \| (?P<format>%|[0-9]))?")
_PATH = re.compile(r"(?:(?:top|top_value|length|moved) )?(?P<run>[a-z][a-z0-9_]*)\..+")


def fill(placeholder: str, runs: Runs) -> str:
    """The text for one placeholder, in one of two forms.

    An expression, `{{off.x[6].bank.identity | 2}}`, `{{length(off.x[6].bank)}}`; or the
    lesson's own form with a run's name, `{{off.blocks.5.resid_post.identity}}`, about
    the word that the lesson follows.

    raises  FillError if it does not say anything that is known here.
    """
    expression = _EXPRESSION.fullmatch(placeholder)
    if expression is not None:
        return _worked_out(expression["text"], expression["format"] or "1", runs)
    match = _PATH.fullmatch(placeholder)
    run = runs.by_name.get(match["run"]) if match else None
    if match is None or run is None:
        raise FillError(
            f"{{{{{placeholder}}}}} names no run; there are {', '.join(runs.by_name)}"
        )
    named, traces = run.named, {match["run"]: run.trace}
    return Place(named, traces, match["run"], named.focus, 0).fill(placeholder)


def _worked_out(text: str, form: str, runs: Runs) -> str:
    try:
        value = evaluate(text, runs.look_up)
    except ExpressionError as error:
        raise FillError(f"{{{{{text}}}}}: {error}") from None
    if isinstance(value, bool | np.ndarray):
        raise FillError(f"{{{{{text}}}}} is no number")
    return percent(value) if form == "%" else number(value, int(form))


FOLDER = "experiments"


@dataclass(frozen=True)
class Experiment:
    """One experiment: its plan, its prose, its runs."""

    lesson: Lesson
    plan: ExperimentPlan
    sections: dict[str, dict[str, Section]]

    @cached_property
    def runs(self) -> Runs:
        """Everything it runs, computed when it is first asked for."""
        named = self.lesson.named
        return Runs({n: plan.computed(named) for n, plan in self.plan.runs.items()})

    def check(self) -> int:
        """The right option is true and every claim of a wrong one is not.

        returns  how many claims were tested.
        raises   LessonError with file, key, what it found and what it needs.
        """
        plan = self.plan
        try:
            broken = failing(plan.condition, self.runs.look_up)
        except ExpressionError as error:
            raise plan.mistake("condition", error) from None
        if broken:
            raise plan.mistake(
                "condition",
                f"found {broken} to be false, needs it true, as option {plan.right} "
                f"says; {plan.id} or the weights have to change",
            )
        for option, claim in plan.wrong.items():
            self._refute(option, claim)
        return 1 + len(plan.wrong)

    def _refute(self, option: str, claim: str) -> None:
        try:
            value = evaluate(claim, self.runs.look_up)
        except ExpressionError as error:
            raise self.plan.mistake(f"wrong.{option}", error) from None
        if value is not False:
            raise self.plan.mistake(
                f"wrong.{option}",
                f"found it to be {value}, needs a claim that is false; option {option} "
                f"of {self.plan.id} would be right too",
            )

    @property
    def pieces(self) -> tuple[str, ...]:
        """The names of its pieces of prose, in order."""
        return pieces(self.plan)

    def data(self) -> dict[str, Any]:
        """All that a page shows of it, as plain data.

        raises  LessonError for a placeholder or a picture that says nothing.
        """
        try:
            pictures = drawn(self.plan.pictures, self.runs)
        except ExpressionError as error:
            raise LessonError(f"{self.plan.path}: {error}") from None
        return {
            "id": self.plan.id,
            "options": list(self.plan.options),
            "right": self.plan.right,
            "prose": {lang: self._prose(lang) for lang in LANGUAGES},
            "fills": {piece: self._fills(piece) for piece in self.pieces},
            "pictures": pictures,
        }

    def _prose(self, language: str) -> dict[str, Any]:
        texts = self.sections[language]
        return {p: {"title": texts[p].title, "nodes": texts[p].nodes} for p in texts}

    def _fills(self, piece: str) -> list[str]:
        section = self.sections["en"][piece]
        try:
            return [fill(asked, self.runs) for asked in section.placeholders]
        except FillError as error:
            path = self.lesson.folder / FOLDER / "en.md"
            raise LessonError(
                f"{path}:{section.line_no}: {section.heading}: {error}"
            ) from None


def pieces(plan: ExperimentPlan) -> tuple[str, ...]:
    """What prose it needs: a question, options, an answer to each, limits."""
    options = [f"option-{option}" for option in plan.options]
    answers = [f"answer-{option}" for option in plan.options]
    return ("question", *options, *answers, "limits")


def experiment_ids(lesson: Lesson) -> tuple[str, ...]:
    """What a lesson's experiments are called, in their order; none without a folder.

    raises  LessonError for a folder that is none or cannot be read.
    """
    return tuple(path.stem for path in _files(lesson.folder / FOLDER))


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise LessonError(f"{folder}: is a file; a lesson needs a folder") from None
    except OSError as error:
        raise LessonError(f"{folder}: {error.strerror}; make it readable") from None


def load_experiments(lesson: Lesson) -> tuple[Experiment, ...]:
    """Read a lesson's experiments, in the order of their names; none without a folder.

    raises  LessonError, one line: file, key or line, what it found, what it needs.
    """
    folder = lesson.folder / FOLDER
    files = _files(folder)
    if not folder.exists():
        return ()
    plans = [read_experiment(path, lesson.named) for path in files]
    prose = {lang: read_prose(folder / f"{lang}.md") for lang in LANGUAGES}
    told = replace(lesson, folder=folder, prose=prose)
    check_parity(told)
    check_terms(told)
    _check_ids(told, plans)
    return tuple(
        Experiment(lesson, plan, {lang: _texts(told, lang, plan) for lang in LANGUAGES})
        for plan in plans
    )


def _check_ids(told: Lesson, plans: list[ExperimentPlan]) -> None:
    needed = [f"{plan.id}-{piece}" for plan in plans for piece in pieces(plan)]
    found = [s.id for s in told.prose["en"]]
    for there, wanted in _differences(found, needed):
        raise LessonError(
            f"{told.folder / 'en.md'}: found {there}, needs '## experiment {wanted}: "
            "TITLE' there, as the experiments' files say"
        )


def _differences(found: list[str], needed: list[str]) -> Iterator[tuple[str, str]]:
    for place in range(max(len(found), len(needed))):
        there = found[place] if place < len(found) else "no further section"
        wanted = needed[place] if place < len(needed) else "nothing"
        if there != wanted:
            yield there, wanted


def _texts(told: Lesson, language: str, plan: ExperimentPlan) -> dict[str, Section]:
    by_id = {section.id: section for section in told.prose[language]}
    return {piece: by_id[f"{plan.id}-{piece}"] for piece in pieces(plan)}


def check_experiments(lesson: Lesson) -> int:
    """Run every experiment, test every claim, fill every text and picture.

    returns  how many claims were tested.
    raises   LessonError, one line, that names the experiment's file.
    """
    claims = 0
    for experiment in load_experiments(lesson):
        claims += experiment.check()
        experiment.data()
    return claims


def experiments_data(lesson: Lesson) -> dict[str, Any]:
    """The experiments as plain data for the browser: `{"experiments": […]}`.

    raises  LessonError as `check_experiments`.
    """
    loaded = load_experiments(lesson)
    for experiment in loaded:
        experiment.check()
    return {"experiments": [experiment.data() for experiment in loaded]}
