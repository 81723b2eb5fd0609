"""All states of a lesson as one table for the browser, computed once.

The browser only looks numbers up in it: every depth is the first part of the
deepest run, so two runs (residual on and off) hold every state of the page.
"""

from collections.abc import Mapping
from typing import Any

from residual_stream.lesson.example import NamedExample
from residual_stream.model.block import run
from residual_stream.model.ledger import depth_map, ledger, sum_errors
from residual_stream.model.trace import Entry, Trace

MAX_DEPTH = 12

Table = dict[str, Any]


def model_table(
    named: NamedExample,
    depth: int = MAX_DEPTH,
    runs: Mapping[str, Trace] | None = None,
) -> Table:
    """Every number of the lesson's model that a page can show.

    depth:    the deepest that the page goes, in blocks.
    runs:     that deep, "on" and "off", where they are computed already.
    returns   plain data, ready for JSON: the words and the names of all axes, the
              weights, and a run for "on" and for "off".
    """
    traces = runs or {
        "on": run(named.example, depth),
        "off": run(named.example, depth, False),
    }
    return {
        "tokens": list(named.tokens),
        "focus": named.focus,
        "max_depth": depth,
        "names": {
            "d_model": list(named.axes),
            "d_head": list(named.head),
            "d_mlp": list(named.hidden),
        },
        "weights": {
            name: {"axes": list(entry.axes), "value": entry.value.tolist()}
            for name, entry in traces["on"].weights.items()
        },
        "runs": {
            setting: run_table(trace, len(named.tokens))
            for setting, trace in traces.items()
        },
    }


def run_table(trace: Trace, n_tokens: int) -> Table:
    """One run: every entry with its origin, and each word's account."""
    return {
        "entries": [entry_row(entry) for entry in trace.entries.values()],
        "words": [word_row(trace, token_no) for token_no in range(n_tokens)],
    }


def entry_row(entry: Entry) -> Table:
    """A value with what a page needs to show where it comes from.

    inputs:  names of entries and weights, in the order of the operation's pattern.
    """
    return {
        "name": entry.name,
        "axes": list(entry.axes),
        "value": entry.value.tolist(),
        "formula": entry.formula,
        "kind": entry.operation.kind,
        "pattern": entry.operation.pattern,
        "inputs": [origin.name for origin in entry.origins],
        "source": entry.source,
        "place": entry.place,
    }


def word_row(trace: Trace, token_no: int) -> Table:
    """One word's account: its depth map, its corrections by name and their sums.

    running, sum_errors:  None with residual off, where nothing is summed.
    """
    drawn = depth_map(trace, token_no)
    account = ledger(trace, token_no)
    errors = sum_errors(trace, token_no)
    return {
        "x0_length": drawn.x0_length,
        "bars": [bar.length for bar in drawn.bars],
        "corrections": [correction.name for correction in account.corrections],
        "running": None if account.running is None else account.running.tolist(),
        "sum_errors": None if errors is None else errors.tolist(),
    }
