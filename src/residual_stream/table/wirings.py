"""The four wirings on a lesson's own numbers, as plain data for the browser."""

from typing import Any

import numpy as np

from residual_stream.lesson.lesson import Lesson
from residual_stream.model.ledger import ledger
from residual_stream.model.ops import Array
from residual_stream.model.trace import Trace
from residual_stream.model.wirings import WIRINGS, Wiring, first_difference, run_wiring
from residual_stream.table.model import Table, entry_row

DEPTH = 3


def wirings_data(lesson: Lesson) -> dict[str, Any]:
    """Pre-norm, post-norm and two mistakes, `DEPTH` blocks deep.

    A shallower run is the first part of a deeper one, so all depths are in it. The
    weights are the lesson's, as `table.model_table` has them.
    """
    example = lesson.named.example
    traces = {wiring: run_wiring(example, wiring, DEPTH) for wiring in WIRINGS}
    right = traces["pre_norm"]
    return {
        "depth": DEPTH,
        # what the pictures' bars are drawn to: the lesson's own wiring
        "largest": float(max(abs(right[n]).max() for n in state_names("pre_norm"))),
        "wirings": [_wiring(name, trace, right) for name, trace in traces.items()],
    }


def state_names(wiring: Wiring, depth: int = DEPTH) -> list[str]:
    """The entry of the stream before the first block and after each.

    In post-norm that is what the second norm hands on, see `wirings.post_norm`.
    """
    last = "ln2.normalized" if wiring == "post_norm" else "resid_post"
    return ["blocks.0.resid_pre", *(f"blocks.{k}.{last}" for k in range(depth))]


def _wiring(name: Wiring, trace: Trace, right: Trace) -> Table:
    states = state_names(name)
    words = range(len(trace["embed"]))
    return {
        "id": name,
        "entries": [entry_row(entry) for entry in trace.entries.values()],
        "states": states,
        "words": [
            {
                "sum_errors": sum_errors(trace, states, token_no).tolist(),
                "first_difference": _difference(right, trace, token_no),
            }
            for token_no in words
        ],
    }


def sum_errors(trace: Trace, states: list[str], token_no: int) -> Array:
    """How far a word's state is from x₀ plus all corrections as they were written.

    states:   the entries of the stream by depth, from the input on.
    returns   [depth], after each block the largest |x_k − (x₀ + ΣΔ)| of any component.
    """
    account = ledger(trace, token_no)
    written = np.array([c.delta for c in account.corrections])
    # two corrections a block, summed first: the check is not the stream once more
    totals = account.x0 + np.cumsum(written, axis=0)[1::2]
    reached = np.array([trace[name][token_no] for name in states[1:]])
    errors: Array = np.abs(reached - totals).max(axis=-1)
    return errors


def _difference(right: Trace, trace: Trace, token_no: int) -> Table | None:
    if trace is right:
        return None
    found = first_difference(right, trace, token_no)
    if found is None:
        return None
    return {
        "name": found.name,
        "index": list(found.index),
        "pre_norm": found.first,
        "here": found.second,
    }
