"""The pictures of an experiment: read from its file, worked out as plain numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from residual_stream.lesson.example import NamedExample
from residual_stream.lesson.experiments.runs import Runs
from residual_stream.lesson.expressions import ExpressionError, Value, evaluate
from residual_stream.lesson.files import LANGUAGES, LessonFile
from residual_stream.lesson.lesson import MAX_PAGE_DEPTH as MAX_DEPTH

KEYS = (
    *("kind", "title", "y", "columns", "first", "last", "rows"),
    *("scale", "decimals", "percent"),
)
KINDS = ("lines", "bars", "vectors", "table")
TONES = ("x0", "on", "off", "ink")


Words = dict[str, str]


@dataclass(frozen=True)
class RowPlan:
    """One row of a picture: its name, its colour, what is worked out for it."""

    label: Words
    tone: str
    dashed: bool
    values: tuple[str, ...]


@dataclass(frozen=True)
class PicturePlan:
    """A picture before anything is computed.

    kind:     "lines" by depth, "bars", "vectors" along the stream's axes, "table".
    y:        what its numbers are.
    columns:  names, or the depths of "lines"; of "vectors" the stream's axes.
    scale:    pictures of one name share the range of their numbers.
    percent:  its numbers are shares of one, written in per cent.
    """

    key: str
    kind: str
    title: Words
    y: Words
    columns: tuple[Words | int, ...]
    rows: tuple[RowPlan, ...]
    scale: str
    decimals: int
    percent: bool


def read_picture(file: LessonFile, number: int, named: NamedExample) -> PicturePlan:
    """Read one picture of an experiment's file, by its place there.

    raises  LessonError, one line: file, key, what it found, what it needs.
    """
    key = f"pictures.{number}"
    file.expect_only(key, KEYS)
    kind, there = file.text(f"{key}.kind"), file.keys(key)
    if kind not in KINDS:
        raise file.wrong(f"{key}.kind", kind, f"one of {', '.join(KINDS)}")
    columns: tuple[Words | int, ...]
    if kind == "lines":
        first = file.whole(f"{key}.first", 0, 1)
        columns = tuple(range(first, file.whole(f"{key}.last", 2, MAX_DEPTH) + 1))
    elif kind == "vectors":
        columns = tuple({lang: a[lang] for lang in LANGUAGES} for a in named.axes)
    else:
        count = len(file.tables(f"{key}.columns"))
        columns = tuple(file.words(f"{key}.columns.{n}") for n in range(count))
    rows = range(len(file.tables(f"{key}.rows")))
    if not rows or not columns:
        raise file.wrong(key, kind, "at least one row and one column")
    return PicturePlan(
        key,
        kind,
        file.words(f"{key}.title"),
        file.words(f"{key}.y"),
        columns,
        tuple(_row(file, f"{key}.rows.{n}", kind, len(columns)) for n in rows),
        file.text(f"{key}.scale") if "scale" in there else key,
        file.whole(f"{key}.decimals", 0, 4) if "decimals" in there else 1,
        "percent" in there and file.value(f"{key}.percent", "true or false") is True,
    )


def _row(file: LessonFile, key: str, kind: str, n_columns: int) -> RowPlan:
    one = kind in ("lines", "vectors")
    holds = "value" if one else "values"
    file.expect_only(key, ("label", "tone", "dashed", holds))
    there = file.keys(key)
    tone = file.text(f"{key}.tone") if "tone" in there else "ink"
    if tone not in TONES:
        raise file.wrong(f"{key}.tone", tone, f"one of {', '.join(TONES)}")
    values = (file.text(f"{key}.value"),) if one else file.texts(f"{key}.values")
    if not one and len(values) != n_columns:
        raise file.wrong(f"{key}.values", list(values), f"{n_columns} of them")
    dashed = "dashed" in there and file.value(f"{key}.dashed", "true or false") is True
    return RowPlan(file.words(f"{key}.label"), tone, dashed, values)


# ------------------------------------------------------------------------- numbers


def drawn(pictures: Sequence[PicturePlan], runs: Runs) -> list[dict[str, Any]]:
    """Every number of an experiment's pictures, with the range that each needs.

    raises  ExpressionError that names the row's key and what is wrong there.
    """
    made = [_numbers(picture, runs) for picture in pictures]
    ranges: dict[str, list[float]] = {}
    for picture, data in zip(pictures, made, strict=True):
        numbers = [n for row in data["rows"] for n in row["values"]]
        # zero is in sight, so that a bar's or a line's height means its size
        ranges.setdefault(picture.scale, [0.0]).extend(numbers)
    for picture, data in zip(pictures, made, strict=True):
        shared = ranges[picture.scale]
        data["range"] = [min(shared), max(shared)]
    return made


def _numbers(picture: PicturePlan, runs: Runs) -> dict[str, Any]:
    rows = [
        {
            "label": row.label,
            "tone": row.tone,
            "dashed": row.dashed,
            "values": _values(f"{picture.key}.rows.{n}", picture, row, runs),
        }
        for n, row in enumerate(picture.rows)
    ]
    return {
        "kind": picture.kind,
        "title": picture.title,
        "y": picture.y,
        "columns": list(picture.columns),
        "rows": rows,
        "decimals": picture.decimals,
        "percent": picture.percent,
    }


def _values(key: str, picture: PicturePlan, row: RowPlan, runs: Runs) -> list[float]:
    try:
        if picture.kind == "vectors":
            vector = evaluate(row.values[0], runs.look_up)
            if np.shape(vector) != (len(picture.columns),):
                raise ExpressionError(f"found {row.values[0]!r}, needs a word's vector")
            return [float(number) for number in np.atleast_1d(vector)]
        if picture.kind == "lines":
            at = [evaluate(row.values[0], runs.look_up, k=k) for k in picture.columns]  # type: ignore[arg-type]
        else:
            at = [evaluate(text, runs.look_up) for text in row.values]
        return [_number(value) for value in at]
    except ExpressionError as error:
        raise ExpressionError(f"{key}: {error}") from None


def _number(value: Value) -> float:
    if isinstance(value, bool | np.ndarray):
        raise ExpressionError(f"found {value!r}, needs a number")
    return value
