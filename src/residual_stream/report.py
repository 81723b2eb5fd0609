"""What a run computed, for programs: JSON and npz, in full precision."""

import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from residual_stream.example import NamedExample
from residual_stream.ledger import depth_map, depth_of, is_residual, ledger
from residual_stream.trace import Trace


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
