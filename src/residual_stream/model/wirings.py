"""The same numbers run through four wirings, and with other weights in each block.

    pre_norm         x = x + f(norm(x))                the lesson's
    post_norm        x = norm(x + f(x))                the original of 2017
    skip_after_norm  n = norm(x);  x = n + f(n)        a well-known fault
    add_inside       x = x + (x + f(norm(x)))          another one

Only the adds and the norms move: attention, FFN and norm are `block.py`'s.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Literal

import numpy as np

from residual_stream.model import block, inputs, ops
from residual_stream.model.block import (
    ALL_PARTS,
    STREAM,
    WEIGHT_AXES,
    Example,
    Parameters,
    Parts,
)
from residual_stream.model.ops import Array
from residual_stream.model.trace import Entry, Recorder, Trace

Wiring = Literal["pre_norm", "post_norm", "skip_after_norm", "add_inside"]
Layer = Callable[[Entry, Parameters, Recorder], Entry]
Weights = Mapping[str, Array]


def run_wiring(example: Example, wiring: Wiring, depth: int = 3) -> Trace:
    """Run an example through blocks that are wired in one of four ways.

    wiring:  a key of `WIRINGS`; "pre_norm" gives exactly the values of `run`.
    returns  a Trace under `run`'s names; ln1 and ln2 are a block's norms in order.
    raises   ValueError for another wiring or a depth outside 1 to 96.
    """
    inputs.one_of("wiring", wiring, tuple(WIRINGS))
    depth = inputs.whole("depth", depth, 1, block.MAX_DEPTH)
    inputs.check_example(example)
    trace = Trace()
    w = {
        name: trace.weight(name, axes, example.weights[name])
        for name, axes in WEIGHT_AXES.items()
    }
    _stack(example, trace, [w] * depth, WIRINGS[wiring])
    inputs.check_outcome(example, trace[next(reversed(trace))])
    return trace


def run_layers(
    example: Example,
    layers_weights: Sequence[Weights],
    residual: bool = True,
    parts: Parts = ALL_PARTS,
) -> Trace:
    """Run an example with weights of its own for each block, as many as are given.

    layers_weights:  each block's parameters, in place of the example's one set.
    returns          a Trace under `run`'s names; weights are "weights.blocks.0.W_Q" …
    raises           ValueError for no block, more than 96, or shapes that do not fit.
    """
    inputs.whole("depth", len(layers_weights), 1, block.MAX_DEPTH)
    residual = inputs.truth("residual", residual)
    parts = inputs.parts_of_model(parts)
    inputs.expect_example(example)
    inputs.check_words(example)
    for layer, weights in enumerate(layers_weights):
        inputs.check_weights(example.embed, weights, f"blocks.{layer}.")
    trace = Trace()
    layers = [
        {
            name: trace.weight(f"blocks.{layer}.{name}", axes, weights[name])
            for name, axes in WEIGHT_AXES.items()
        }
        for layer, weights in enumerate(layers_weights)
    ]
    wired = partial(block.block, residual=residual, parts=parts)
    return _stack(example, trace, layers, wired, parts)


def _stack(
    example: Example,
    trace: Trace,
    layers: Sequence[Parameters],
    wired: Layer,
    parts: Parts = ALL_PARTS,
) -> Trace:
    x = block.embed(example, trace, parts)
    for layer, w in enumerate(layers):
        at = trace.at(f"blocks.{layer}.")
        if layer > 0:
            x = at("resid_pre", STREAM, "x", ops.carry, x)
        x = wired(x, w, at)
    return trace


def post_norm(x: Entry, w: Parameters, at: Recorder) -> Entry:
    """The block of 2017: x = norm(x + f(x)), twice.

    Each norm rescales all that came before, so the last state, ln2.normalized, is no
    plain sum of x₀ and corrections. As in TransformerLens' BERT, resid_mid and
    resid_post are the sums, ln1 and ln2 follow them; ln2.normalized is handed on.

    source  Vaswani et al. 2017, section 3.1; Xiong et al. 2020, table 1, Post-LN.
    """
    x = block.add_to_stream(x, block.attention(x, w, at), at, "resid_mid")
    x = block.norm(x, at, "ln1", ALL_PARTS)
    x = block.add_to_stream(x, block.ffn(x, w, at), at, "resid_post")
    return block.norm(x, at, "ln2", ALL_PARTS)


def skip_after_norm(x: Entry, w: Parameters, at: Recorder) -> Entry:
    """A fault: n = norm(x); x = n + f(n). The skip taps the stream after the norm.

    The stream is overwritten by its normalised copy: no path leads x₀ on as it was.

    source  pytorch/pytorch#61165, Howuhh/faster-trajectory-transformer#3.
    """
    n = block.norm(x, at, "ln1", ALL_PARTS)
    x = at("resid_mid", STREAM, "norm(x) + Δ", ops.add, n, block.attention(n, w, at))
    n = block.norm(x, at, "ln2", ALL_PARTS)
    return at("resid_post", STREAM, "norm(x) + Δ", ops.add, n, block.ffn(n, w, at))


def add_inside(x: Entry, w: Parameters, at: Recorder) -> Entry:
    """A fault: x = x + (x + f(norm(x))). Both the sublayer and its caller add x.

    The caller takes for Δ what a sublayer returns with x in it, here attn_returned and
    mlp_returned. Each time the stream doubles first, so beside x₀ each correction
    counts half as much as the one before.

    source  yunzeliu/MAP#3: there a whole block, here, with the lesson, each sublayer.
    """
    for norm, sublayer, short, updated in (
        ("ln1", block.attention, "attn", "resid_mid"),
        ("ln2", block.ffn, "mlp", "resid_post"),
    ):
        delta = sublayer(block.norm(x, at, norm, ALL_PARTS), w, at)
        returned = block.add_to_stream(x, delta, at, f"{short}_returned")
        x = at(updated, STREAM, "x + (x + Δ)", ops.add, x, returned)
    return x


WIRINGS: Mapping[Wiring, Layer] = {
    "pre_norm": partial(block.block, residual=True, parts=ALL_PARTS),
    "post_norm": post_norm,
    "skip_after_norm": skip_after_norm,
    "add_inside": add_inside,
}


@dataclass(frozen=True)
class Difference:
    """Where two traces part: the value, its place there, the number in each."""

    name: str
    index: tuple[int, ...]
    first: float
    second: float


def first_difference(a: Trace, b: Trace, token_no: int) -> Difference | None:
    """Where, in `a`'s order of computation, two runs first disagree about one word.

    Compared is the word's row (as a query, in scores and pattern) of each value that
    both hold under the same name with the same shape.

    token_no:  its place in the sentence, from 0.
    returns    the first number more than 1e-9 apart; None if there is none.
    raises     IndexError for a place outside the sentence.
    """
    token_no = inputs.place("token_no", token_no, len(a["blocks.0.resid_pre"]))
    for name in (name for name in a if name in b and a[name].shape == b[name].shape):
        same = np.isclose(a[name], b[name], rtol=0, atol=1e-9, equal_nan=True)
        if not same[token_no].all():
            index = (token_no, *map(int, np.argwhere(~same[token_no])[0]))
            return Difference(name, index, float(a[name][index]), float(b[name][index]))
    return None


def vary(
    example: Example, seed: int, amount: float = 0.1, depth: int = 3
) -> tuple[Weights, ...]:
    """Give each block weights of its own, near the example's.

        w' = w (1 + amount u) + amount v,    u and v from −1 to 1

    No weight moves by more than amount (1 + |w|). A deeper set starts with the same
    blocks as a shallower one, and every machine draws the same numbers.

    seed:     a whole number from 0.
    returns   for each of `depth` blocks its parameters, ready for `run_layers`.
    raises    ValueError for a seed or amount below 0, or a depth outside 1 to 96.
    """
    depth = inputs.whole("depth", depth, 1, block.MAX_DEPTH)
    seed = inputs.whole("seed", seed, 0)
    if not isinstance(amount, Real) or not 0 <= amount < np.inf:
        found = inputs.shown(amount)
        raise ValueError(f"amount is {found}; it must be 0 or more, and finite")
    inputs.check_example(example)
    # named, since what default_rng takes may change with NumPy
    rng = np.random.Generator(np.random.PCG64(seed))

    def varied(name: str) -> Array:
        weight = np.asarray(example.weights[name], np.float64)
        u, v = 2 * rng.random((2, *weight.shape)) - 1
        moved: Array = weight * (1 + amount * u) + amount * v
        return moved

    return tuple({name: varied(name) for name in WEIGHT_AXES} for _ in range(depth))
