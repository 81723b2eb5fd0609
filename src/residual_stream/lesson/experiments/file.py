"""Reading an experiment's file: runs, options, claims and pictures."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from residual_stream.lesson.example import NamedExample
from residual_stream.lesson.experiments.pictures import PicturePlan, read_picture
from residual_stream.lesson.experiments.runs import RunPlan
from residual_stream.lesson.files import LessonError, LessonFile
from residual_stream.lesson.lesson import MAX_PAGE_DEPTH as MAX_DEPTH
from residual_stream.model.block import WEIGHT_AXES, Norm
from residual_stream.model.ops import Array

KEYS = ("options", "right", "condition", "wrong", "runs", "pictures")
PARTS = ("attention", "ffn", "positions")
RUN_KEYS = ("depth", "residual", "norm", *PARTS, "vary", "order", "embed", "weights")
FOUR = ("a", "b", "c", "d")


@dataclass(frozen=True)
class ExperimentPlan:
    """One experiment as its file states it."""

    id: str
    path: Path
    options: tuple[str, ...]
    right: str
    condition: str
    wrong: Mapping[str, str]
    runs: Mapping[str, RunPlan]
    pictures: tuple[PicturePlan, ...]

    def mistake(self, key: str, what: object) -> LessonError:
        """The error for a key of its file."""
        return LessonError(f"{self.path}: {key}: {what}")


def read_experiment(path: Path, named: NamedExample) -> ExperimentPlan:
    """Read and check the form of an experiment's file.

    raises  LessonError, one line: file, key, what it found, what it needs.
    """
    file = LessonFile(path)
    file.expect_only("", KEYS)
    options = file.texts("options")
    if not 2 <= len(options) <= 4 or options != FOUR[: len(options)]:
        raise file.wrong("options", list(options), "a and b, then perhaps c and d")
    right = file.text("right")
    if right not in options:
        raise file.wrong("right", right, f"one of {', '.join(options)}")
    others = tuple(option for option in options if option != right)
    file.expect_only("wrong", others)
    names = file.keys("runs")
    for name in names:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in ("k", "range"):
            raise file.wrong("runs", name, "names of small letters, digits and _")
    return ExperimentPlan(
        path.stem,
        path,
        options,
        right,
        file.text("condition"),
        {option: file.text(f"wrong.{option}") for option in file.keys("wrong")},
        {name: _run(file, f"runs.{name}", named) for name in names},
        tuple(
            read_picture(file, n, named) for n in range(len(file.tables("pictures")))
        ),
    )


# ----------------------------------------------------------------------------- runs


def _run(file: LessonFile, key: str, named: NamedExample) -> RunPlan:
    file.expect_only(key, RUN_KEYS)
    given: dict[str, Any] = {"depth": file.whole(f"{key}.depth", 1, MAX_DEPTH)}
    chosen: dict[str, tuple[Any, ...]] = {
        "residual": ("on", "off"),
        "norm": get_args(Norm),
        **dict.fromkeys(PARTS, (True, False)),
    }
    there = file.keys(key)
    for name in (name for name in chosen if name in there):
        value = file.value(f"{key}.{name}", "a choice")
        if not any(type(value) is type(c) and value == c for c in chosen[name]):
            needed = " or ".join(str(c).lower() for c in chosen[name])
            raise file.wrong(f"{key}.{name}", value, needed)
        given[name] = value == "on" if name == "residual" else value
    if "vary" in there:
        if set(there) - {"depth", "residual", "vary", "weights"}:
            raise file.wrong(
                f"{key}.vary", list(there), "only depth, residual, weights"
            )
        file.expect_only(f"{key}.vary", ("seed", "amount"))
        given["seed"] = file.whole(f"{key}.vary.seed", 0, 10**6)
        given["amount"] = _amount(file, f"{key}.vary.amount")
    if "order" in there:
        given["order"] = order = file.texts(f"{key}.order")
        if sorted(order) != sorted(named.tokens):
            raise file.wrong(
                f"{key}.order", list(order), "the lesson's words, each once"
            )
    if "embed" in there:
        file.expect_only(f"{key}.embed", named.tokens)
        words, shape = file.keys(f"{key}.embed"), (len(named.axes),)
        given["vectors"] = {w: file.numbers(f"{key}.embed.{w}", shape) for w in words}
    if "weights" in there:
        given["weights"] = _weights(file, f"{key}.weights", named)
    return RunPlan(**given)


def _amount(file: LessonFile, key: str) -> float:
    amount = float(file.numbers(key, ()))
    if not 0 <= amount <= 1:
        raise file.wrong(key, amount, "a number from 0 to 1")
    return amount


def _weights(file: LessonFile, key: str, named: NamedExample) -> dict[str, Array]:
    name = file.text(key)
    if name == "lesson":
        return {}
    path = file.path.parent.parent / f"weights-{name}.toml"
    if not re.fullmatch(r"[a-z]+", name) or not path.is_file():
        raise file.wrong(key, name, "lesson, or NAME for a file weights-NAME.toml")
    return read_weights(path, named)


def read_weights(path: Path, named: NamedExample) -> dict[str, Array]:
    """The weights that stand in place of the example's.

    raises  LessonError, one line, for an unknown name or another shape.
    """
    file = LessonFile(path)
    file.expect_only("", ("weights",))
    file.expect_only("weights", tuple(WEIGHT_AXES))
    shapes = {name: value.shape for name, value in named.example.weights.items()}
    names = file.keys("weights")
    return {name: file.numbers(f"weights.{name}", shapes[name]) for name in names}
