"""What a run computed, for programs: JSON and npz, in full precision."""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from unicodedata import east_asian_width

import numpy as np

from residual_stream.lesson.example import NamedExample
from residual_stream.model.arithmetic import number
from residual_stream.model.ledger import depth_map, depth_of, is_residual, ledger
from residual_stream.model.ops import Array
from residual_stream.model.trace import Trace


@dataclass(frozen=True)
class Report:
    """A computed lesson and the word whose way it shows.

    lesson:  the lesson's id.
    token:   the word's place in the sentence, from 0.
    """

    lesson: str
    named: NamedExample
    trace: Trace
    token: int

    @property
    def word(self) -> str:
        """The word that is followed."""
        return self.named.tokens[self.token]

    @property
    def residual(self) -> str:
        """The word on or off."""
        return "on" if is_residual(self.trace) else "off"


def as_json(report: Report, _decimals: int) -> bytes:
    """The run with every record, the ledger and the depth map, in full precision."""
    content = {
        "lesson": report.lesson,
        "tokens": list(report.named.tokens),
        "axes": list(report.named.example.axes),
        "depth": depth_of(report.trace),
        "residual": report.residual,
        "records": [
            {
                "name": entry.name,
                "dims": list(entry.axes),
                "inputs": list(entry.inputs),
                "weights": list(entry.weights),
                "formula": entry.formula,
                "place": entry.place,
                "source": entry.source,
                "value": entry.value.tolist(),
            }
            for entry in report.trace.entries.values()
        ],
        "ledger": _ledger(report),
        "depth_map": _depth_map(report),
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    return (text + "\n").encode()


def _ledger(report: Report) -> dict[str, Any]:
    account = ledger(report.trace, report.token)
    return {
        "token": report.word,
        "x0": account.x0.tolist(),
        "corrections": [
            {
                "block": correction.block,
                "sublayer": correction.sublayer,
                "delta": correction.delta.tolist(),
            }
            for correction in account.corrections
        ],
        "x_n": account.x_n.tolist(),
        "sum_error": account.sum_error,
    }


def _depth_map(report: Report) -> dict[str, Any]:
    drawn = depth_map(report.trace, report.token)
    return {
        "token": report.word,
        "x0_length": drawn.x0_length,
        "ribbon_until": drawn.ribbon_until,
        "bars": [
            {"block": bar.block, "length": bar.length, "shows": bar.shows}
            for bar in drawn.bars
        ],
    }


def as_npz(report: Report, _decimals: int) -> bytes:
    """One float64 array a name, the weights, and tokens and axes as strings."""
    arrays: dict[str, Any] = dict(report.trace)
    arrays |= {name: entry.value for name, entry in report.trace.weights.items()}
    arrays["tokens"] = np.array(report.named.tokens)
    arrays["axes"] = np.array(report.named.example.axes)
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


WIDTH = 80
LONGEST = 24  # columns of a label or a word; longer ones end in …


def as_table(report: Report, decimals: int) -> bytes:
    """Every stage of one word's way, in lines of at most 80 columns."""
    lines = [
        _shortened(f"{report.lesson}: {' '.join(report.named.tokens)}", WIDTH),
        f"token {_shortened(report.word)}, depth {depth_of(report.trace)}, "
        f"residual {report.residual}",
    ]
    for title, rows in _sections(report):
        lines += ["", title, *_aligned(rows, decimals)]
    return ("\n".join(map(_printable, lines)) + "\n").encode()


@dataclass(frozen=True)
class Row:
    """A named line of numbers, each under a label."""

    name: str
    labels: tuple[str, ...]
    values: Array

    def __post_init__(self) -> None:
        short = tuple(_shortened(label) for label in self.labels)
        object.__setattr__(self, "labels", short)


def _sections(report: Report) -> Iterator[tuple[str, list[Row]]]:
    stages: dict[str, list[Row]] = {}
    for name in report.trace:
        block = int(name.split(".")[1]) + 1 if name.startswith("blocks.") else 0
        title = f"Block {block}" if block else "Input"
        stages.setdefault(title, []).append(_stage(report, name))
    yield from stages.items()
    yield _account(report)
    yield _map(report)


def _stage(report: Report, name: str) -> Row:
    named, entry = report.named, report.trace.entries[name]
    labels = {
        "d_model": named.example.axes,
        "d_head": tuple(axis["id"] for axis in named.head),
        "d_mlp": tuple(axis["id"] for axis in named.hidden),
        "key_pos": named.tokens,
        "pos": ("",),
    }
    values = np.atleast_1d(entry.value[report.token])
    return Row(name, labels[entry.axes[-1]], values)


def _account(report: Report) -> tuple[str, list[Row]]:
    account = ledger(report.trace, report.token)
    axes = report.named.example.axes
    sign = " " if account.running is None else "+"
    rows = [Row("x0", axes, account.x0)]
    rows += [
        Row(f"{sign} block {c.block} {c.sublayer}", axes, c.delta)
        for c in account.corrections
    ]
    last = f"x{depth_of(report.trace)}"
    if account.sum_error is None:
        return f"What each sublayer wrote; {last} is the last of it, no sum", [
            *rows,
            Row(last, axes, account.x_n),
        ]
    return f"Sum (sum error {account.sum_error:.1e})", [
        *rows,
        Row(f"= {last}", axes, account.x_n),
    ]


def _map(report: Report) -> tuple[str, list[Row]]:
    drawn = depth_map(report.trace, report.token)
    until = (
        f"ribbon of x0 to block {drawn.ribbon_until}"
        if drawn.ribbon_until
        else "ribbon of x0 cut at the entrance"
    )
    rows = [Row("x0", ("length",), np.array([drawn.x0_length]))]
    rows += [
        Row(f"block {bar.block}", ("length",), np.array([bar.length]))
        for bar in drawn.bars
    ]
    return f"Depth map: {drawn.bars[0].shows}; {until}", rows


def _aligned(rows: list[Row], decimals: int) -> list[str]:
    names = max(_columns(row.name) for row in rows)
    texts = {id(row): _texts(row, decimals) for row in rows}
    lines: list[str] = []
    heading: tuple[str, ...] = ()
    for row in rows:
        alike = [texts[id(other)] for other in rows if other.labels == row.labels]
        width = 2 + max(_columns(text) for text in chain(row.labels, *alike))
        fit = max(1, (WIDTH - names) // width)
        for first in range(0, len(row.labels), fit):
            part = slice(first, first + fit)
            if any(row.labels) and (row.labels != heading or len(row.labels) > fit):
                lines.append(" " * names + _cells(row.labels[part], width))
            name = row.name if first == 0 else ""
            lines.append(_padded(name, names) + _cells(texts[id(row)][part], width))
        if any(row.labels):
            heading = row.labels
    return lines


def _texts(row: Row, decimals: int) -> list[str]:
    # a terminal's own minus, so that other programs can read the numbers
    return [number(value, decimals).replace("−", "-") for value in row.values]


def _cells(texts: Sequence[str], width: int) -> str:
    return "".join(" " * (width - _columns(text)) + text for text in texts)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _columns(text))


def _shortened(text: str, columns: int = LONGEST) -> str:
    if _columns(text) <= columns:
        return text
    while _columns(text) > columns - 1:
        text = text[:-1]
    return text + "…"


def _printable(line: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in line)


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes; Japanese letters take two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
