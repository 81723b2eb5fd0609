"""The operations of a Transformer block, as pure functions of NumPy arrays.

Every function returns a new array and changes nothing. The decorator above each
states the arithmetic of one cell as an index pattern: `"pos i, i j -> pos j"`
says that cell `[pos, j]` of the result is made of `[pos, i]` of the first input
and `[i, j]` of the second, for every `i`. Worked arithmetic, hover and derivatives
read that pattern, so that none of them can tell another story than the code.

Leading axes beyond those named (a batch, heads) are allowed everywhere.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from typing import Generic, ParamSpec

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Arguments = ParamSpec("Arguments")

EPS = 1e-6
LOWEST = np.finfo(np.float64).min
TINY = np.finfo(np.float64).tiny


@dataclass(eq=False)
class Operation(Generic[Arguments]):
    """A function of arrays that can say how one cell of its result is worked out.

    compute:  the function itself; calling the operation calls it.
    kind:     the arithmetic, e.g. "sum of products".
    pattern:  which cells of which input it takes, in the order of the arguments;
              an input that may be left out comes last.
    """

    compute: Callable[Arguments, Array]
    kind: str
    pattern: str

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Array:
        return self.compute(*args, **kwargs)


def operation(
    kind: str, pattern: str
) -> Callable[[Callable[Arguments, Array]], Operation[Arguments]]:
    """Make a function an `Operation`."""

    def mark(function: Callable[Arguments, Array]) -> Operation[Arguments]:
        marked = Operation(function, kind, pattern)
        update_wrapper(marked, function)
        return marked

    return mark


def _shape(array: Array) -> str:
    return "[" + ", ".join(str(size) for size in array.shape) + "]"


def _stacked_alike(a: Array, b: Array) -> bool:
    """Whether both are matrices, with leading axes that go together."""
    if a.ndim == b.ndim == 2:
        return True
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        return False
    return min(a.ndim, b.ndim) >= 2


def _product(a: Array, b: Array) -> Array:
    # dot() is matmul for two matrices too, and as in `project` with less ado
    product: Array = a.dot(b) if a.ndim == b.ndim == 2 else a @ b
    return product


def _mismatch(
    what: str, first: str, a: Array, second: str, b: Array, cure: str
) -> ValueError:
    return ValueError(
        f"{what}: {first} has shape {_shape(a)} and {second} {_shape(b)}; {cure}"
    )


# --------------------------------------------------------------------- the stream


@operation("given", "")
def given(value: Array) -> Array:
    """A value that the example's file states and nothing computes.

    value:   any shape
    returns  the same array.
    """
    return value


@operation("copy", "pos i -> pos i")
def carry(x: Array) -> Array:
    """Hand the stream on as it is.

        x' = x

    x:       [pos, d_model]
    returns  [pos, d_model], the same numbers.
    """
    return x


@operation("sum", "pos i, pos i -> pos i")
def add(x: Array, delta: Array) -> Array:
    """Add a correction to the residual stream.

        x' = x + delta

    x:       [pos, d_model]
    delta:   [pos, d_model]
    returns  [pos, d_model]
    raises   ValueError if the shapes differ, naming both.
    source   He et al. 2016, "Deep Residual Learning", eq. 1.
    """
    if x.shape != delta.shape:
        raise _mismatch(
            "add",
            "the stream",
            x,
            "the correction",
            delta,
            "a correction needs the shape of the stream it is added to",
        )
    return x + delta


# ------------------------------------------------------------------- normalisation


@operation("root mean square", "pos i -> pos")
def rms_scale(x: Array, eps: float = EPS) -> Array:
    """The number that RMSNorm divides a vector by.

        scale = sqrt(mean(x^2) + eps)

    x:       [pos, d_model]
    eps:     added inside the root, so that a zero vector does not divide by zero.
    returns  [pos], in the unit of x, always positive.
    source   Zhang & Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4.
    """
    scale: Array = np.sqrt(np.vecdot(x, x) / x.shape[-1] + eps)
    return scale


@operation("distance from the mean", "pos other -> pos i")
def centre(x: Array) -> Array:
    """Take each vector's mean off: the first half of LayerNorm.

        centred = x - mean(x)

    x:       [pos, d_model]
    returns  [pos, d_model], in the unit of x; each vector adds up to 0.
    source   Ba et al. 2016, "Layer Normalization", eq. 3.
    """
    centred: Array = x - x.mean(axis=-1, keepdims=True)
    return centred


@operation("quotient", "pos i, pos -> pos i")
def divide(x: Array, scale: Array) -> Array:
    """Divide each vector by its own scale: what a norm hands on.

        normalized = x / scale

    x:       [pos, d_model]
    scale:   [pos]
    returns  [pos, d_model], no unit; its mean square is near 1.
    raises   ValueError if there is not one scale a vector, naming both shapes.
    """
    if x.shape[:-1] != scale.shape:
        raise _mismatch(
            "divide",
            "the stream",
            x,
            "the scale",
            scale,
            "give one scale a vector: the stream's shape without its last axis",
        )
    return x / scale[..., None]


def rms_norm(x: Array, gain: Array | None = None, eps: float = EPS) -> Array:
    """RMSNorm in one call.

        x / sqrt(mean(x^2) + eps) * gain

    x:       [..., d_model]
    gain:    [d_model] or left out
    returns  [..., d_model], no unit.
    raises   ValueError if the gain is not as wide as x, naming both shapes.
    source   Zhang & Sennrich 2019, eq. 4.
    """
    return _gain_and_bias(divide(x, rms_scale(x, eps)), gain, None)


def layer_norm(
    x: Array, gain: Array | None = None, bias: Array | None = None, eps: float = EPS
) -> Array:
    """LayerNorm in one call.

        (x - mean(x)) / sqrt(var(x) + eps) * gain + bias     the biased variance

    x:       [..., d_model]
    gain:    [d_model] or left out
    bias:    [d_model] or left out
    returns  [..., d_model], no unit.
    raises   ValueError if gain or bias is not as wide as x, naming both shapes.
    source   Ba et al. 2016, eq. 4.
    """
    centred = centre(x)
    return _gain_and_bias(divide(centred, rms_scale(centred, eps)), gain, bias)


def _gain_and_bias(normalized: Array, gain: Array | None, bias: Array | None) -> Array:
    for what, vector in (("the gain", gain), ("the bias", bias)):
        if vector is not None and vector.shape != normalized.shape[-1:]:
            raise _mismatch(
                "norm",
                "the stream",
                normalized,
                what,
                vector,
                "it needs one number for each of the stream's last axis",
            )
    if gain is not None:
        normalized = normalized * gain
    return normalized if bias is None else normalized + bias


# ----------------------------------------------------------------------- attention


@operation("sum of products", "pos i, i j, j -> pos j")
def project(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """Multiply each vector by a matrix: q, k, v, the head's output, each FFN layer.

        y = x W (+ b)

    x:       [pos, d_in]
    weight:  [d_in, d_out]
    bias:    [d_out] or left out
    returns  [pos, d_out]
    raises   ValueError if x and weight disagree on d_in, or weight and bias on
             d_out, naming both shapes.
    """
    if weight.ndim != 2 or x.shape[-1:] != weight.shape[:1]:
        raise _mismatch(
            "project",
            "the input",
            x,
            "the weight",
            weight,
            "give a matrix with as many rows as the input's last axis is long",
        )
    # dot() is matmul here, with less ado for matrices as small as a lesson's
    y: Array = x.dot(weight)
    if bias is None:
        return y
    if bias.shape != weight.shape[1:]:
        raise _mismatch(
            "project",
            "the weight",
            weight,
            "the bias",
            bias,
            "give one bias for each of the weight's columns",
        )
    return y + bias


@operation("scaled sum of products", "query i, key i, query key -> query key")
def attention_scores(q: Array, k: Array, mask: Array | None = None) -> Array:
    """Compare every query with every key.

        scores = q k^T / sqrt(d_head) (+ mask)

    q:       [query_pos, d_head]
    k:       [key_pos, d_head]
    mask:    [query_pos, key_pos] or left out. Booleans: True may be looked at.
             Numbers are added; -inf closes a place.
    returns  [query_pos, key_pos], no unit; larger is a better match.
    raises   ValueError if q and k disagree on d_head, or the mask does not fit,
             naming both shapes.
    source   Vaswani et al. 2017, eq. 1.
    """
    if q.shape[-1] != k.shape[-1] or not _stacked_alike(q, k):
        raise _mismatch(
            "attention_scores",
            "q",
            q,
            "k",
            k,
            "both need the same last axis, d_head, and the same heads",
        )
    scores = _product(q, k.mT) / math.sqrt(q.shape[-1])
    return scores if mask is None else _masked(scores, mask)


def _masked(scores: Array, mask: Array) -> Array:
    if mask.shape[-2:] != scores.shape[-2:] or not _stacked_alike(mask, scores):
        raise _mismatch(
            "attention_scores",
            "the scores",
            scores,
            "the mask",
            mask,
            "the mask needs one row a query and one column a key",
        )
    if mask.dtype == np.bool_:
        return np.where(mask, scores, -np.inf)
    return scores + mask


def causal_mask(n_query: int, n_key: int) -> NDArray[np.bool_]:
    """Which keys each query may look at when no word sees a later one.

    The queries are the last `n_query` of `n_key` positions, as with a cache.

    returns  [query_pos, key_pos] of booleans, True may be looked at.
    """
    return np.tri(n_query, n_key, n_key - n_query, dtype=np.bool_)


@operation("softmax", "query other -> query key")
def softmax(scores: Array, axis: int = -1) -> Array:
    """Turn each row of scores into shares of one.

        pattern = exp(scores - max) / sum(exp(scores - max))

    scores:  [query_pos, key_pos]; the sum runs along `axis`, by default the keys.
    returns  [query_pos, key_pos], each row at least 0 and adding up to 1. A row in
             which every key is masked (-inf) gives zeros: it looks at nothing.
    source   Vaswani et al. 2017, eq. 1; zeros as in ONNX Attention.
    """
    # the maximum is taken off so that exp() cannot overflow; a row of -inf has none
    maximum = np.maximum.reduce(
        scores, axis=axis, dtype=np.float64, keepdims=True, initial=LOWEST
    )
    weights = np.exp(scores - maximum)
    # the best key gives exp(0) = 1, and TINY more is still 1; where every key is
    # masked, TINY keeps 0 from being divided by 0
    total = np.add.reduce(weights, axis=axis, keepdims=True, initial=TINY)
    shares: Array = weights / total
    return shares


@operation("sum of products", "query key, key i -> query i")
def mix(pattern: Array, v: Array) -> Array:
    """Mix the values of all words by the shares that each query gives them.

        z = pattern v

    pattern: [query_pos, key_pos]
    v:       [key_pos, d_head]
    returns  [query_pos, d_head]
    raises   ValueError if there is not one value a key, naming both shapes.
    source   Vaswani et al. 2017, eq. 1.
    """
    if pattern.shape[-1:] != v.shape[-2:-1] or not _stacked_alike(pattern, v):
        raise _mismatch(
            "mix",
            "the pattern",
            pattern,
            "v",
            v,
            "the pattern needs one column for each row of v, and the same heads",
        )
    return _product(pattern, v)


# ----------------------------------------------------------------------------- FFN


@operation("larger of 0 and", "pos i -> pos i")
def relu(pre: Array) -> Array:
    """Let positive numbers through and put 0 for the others.

        post = max(0, pre)

    pre:     [pos, d_mlp]
    returns  [pos, d_mlp], at least 0.
    source   Vaswani et al. 2017, eq. 2.
    """
    post: Array = np.maximum(pre, 0.0)
    return post
