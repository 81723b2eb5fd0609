"""The residual stream as an account: an opening x₀, every correction, what is left."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from residual_stream.model import inputs
from residual_stream.model.ops import Array
from residual_stream.model.trace import Trace

Sublayer = Literal["attention", "ffn"]
SUBLAYERS: tuple[tuple[Sublayer, str], ...] = (
    ("attention", "attn_out"),
    ("ffn", "mlp_out"),
)


@dataclass(frozen=True)
class Correction:
    """What one sublayer wrote for one word.

    block:     its number, from 1.
    sublayer:  "attention" or "ffn".
    name:      the trace entry it is a row of.
    delta:     [d_model]
    """

    block: int
    sublayer: Sublayer
    name: str
    delta: Array


@dataclass(frozen=True)
class Ledger:
    """One word's way through the blocks.

    x0:           [d_model], the input.
    corrections:  in the order they were written.
    running:      [1 + n_corrections, d_model]: x₀, x₀ + Δ₁, … as plain sums; None
                  with residual off, where nothing is summed.
    x_n:          [d_model], the last state in the trace.
    sum_error:    the largest |x_n − (x₀ + ΣΔ)| of any component; None as above.
    """

    x0: Array
    corrections: tuple[Correction, ...]
    running: Array | None
    x_n: Array
    sum_error: float | None


@dataclass(frozen=True)
class Bar:
    """One block's bar on the depth map.

    length:  Euclidean; of stream − x₀ with residual on, of the latest output off.
    """

    block: int
    length: float
    shows: Literal["all corrections so far", "latest output"]


@dataclass(frozen=True)
class DepthMap:
    """What the depth map draws for one word.

    x0_length:     Euclidean length of x₀, the ribbon's height.
    ribbon_until:  the block to which the ribbon runs: the last, or 0 if it is cut.
    bars:          one a block.
    """

    x0_length: float
    ribbon_until: int
    bars: tuple[Bar, ...]


def depth_of(trace: Trace) -> int:
    """How many blocks a trace holds."""
    return sum(name.endswith(".resid_post") for name in trace)


def is_residual(trace: Trace) -> bool:
    """Whether the old stream is among the terms of the new one.

    So it is in a model without any sublayer too: each block hands on what it gets.
    """
    for delta, updated in (("attn_out", "resid_mid"), ("mlp_out", "resid_post")):
        if f"blocks.0.{delta}" in trace:
            return len(trace.entries[f"blocks.0.{updated}"].inputs) == 2
    return True


def ledger(trace: Trace, token_no: int) -> Ledger:
    """Account for one word: the input, the corrections and what they come to.

    token_no:  its place in the sentence, from 0.
    raises     IndexError for a place outside the sentence.
    """
    token_no = _place(trace, token_no)
    x0 = trace["blocks.0.resid_pre"][token_no]
    depth = depth_of(trace)
    x_n = trace[f"blocks.{depth - 1}.resid_post"][token_no]
    corrections = tuple(
        Correction(layer + 1, sublayer, name, trace[name][token_no])
        for layer in range(depth)
        for sublayer, ending in SUBLAYERS
        if (name := f"blocks.{layer}.{ending}") in trace
    )
    errors = sum_errors(trace, token_no)
    if errors is None:
        return Ledger(x0, corrections, None, x_n, None)
    running = np.cumsum([x0, *(c.delta for c in corrections)], axis=0)
    return Ledger(x0, corrections, running, x_n, float(errors[-1]))


def sum_errors(trace: Trace, token_no: int) -> Array | None:
    """What is left of the claim x_k = x₀ + ΣΔ after each block.

    returns  [depth], the largest |x_k − (x₀ + ΣΔ)| of any component; None with
             residual off, where there is no such sum.
    raises   IndexError for a place outside the sentence.
    """
    token_no = _place(trace, token_no)
    if not is_residual(trace):
        return None
    x0, *states = _states(trace)[:, token_no]
    written = [
        sum((trace[n][token_no] for n in _written(trace, layer)), np.zeros_like(x0))
        for layer in range(len(states))
    ]
    # the corrections are summed first, so that the check is not the stream once more
    totals = x0 + np.cumsum(written, axis=0)
    errors: Array = np.abs(np.array(states) - totals).max(axis=-1)
    return errors


def _written(trace: Trace, layer: int) -> list[str]:
    names = [f"blocks.{layer}.{ending}" for _, ending in SUBLAYERS]
    return [name for name in names if name in trace]


def depth_map(trace: Trace, token_no: int) -> DepthMap:
    """The depth map's data for one word.

    token_no:  its place in the sentence, from 0.
    raises     IndexError for a place outside the sentence.
    """
    token_no = _place(trace, token_no)
    x0 = trace["blocks.0.resid_pre"][token_no]
    depth = depth_of(trace)
    residual = is_residual(trace)
    states = np.array(
        [trace[f"blocks.{layer}.resid_post"][token_no] for layer in range(depth)]
    )
    lengths = np.linalg.norm(states - x0 if residual else states, axis=-1)
    bars = tuple(
        Bar(
            layer + 1,
            float(length),
            "all corrections so far" if residual else "latest output",
        )
        for layer, length in enumerate(lengths)
    )
    return DepthMap(float(np.linalg.norm(x0)), depth if residual else 0, bars)


def _place(trace: Trace, token_no: int) -> int:
    return inputs.place("token_no", token_no, len(trace["blocks.0.resid_pre"]))


def distances(trace: Trace) -> Array:
    """How far each word is from each other word, by depth.

    returns  [1 + depth, pos, pos], Euclidean, in the stream's unit; depth 0 is x₀.
    """
    states = _states(trace)
    apart: Array = np.linalg.norm(states[:, :, None] - states[:, None, :], axis=-1)
    return apart


def cosines(trace: Trace) -> Array:
    """How alike the directions of each two words are, by depth.

    returns  [1 + depth, pos, pos], from −1 to 1; 0 where a vector has no length.
    """
    states = _states(trace)
    lengths = np.linalg.norm(states, axis=-1, keepdims=True)
    directions = np.divide(
        states, lengths, out=np.zeros_like(states), where=lengths > 0
    )
    alike: Array = directions @ directions.mT
    return alike


def _states(trace: Trace) -> Array:
    names = ["blocks.0.resid_pre"]
    names += [f"blocks.{layer}.resid_post" for layer in range(depth_of(trace))]
    return np.array([trace[name] for name in names])
