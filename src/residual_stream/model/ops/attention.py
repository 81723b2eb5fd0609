"""Attention: scores, mask, shares, and the mix of values."""

import math

import numpy as np
from numpy.typing import NDArray

from residual_stream.model.ops.operation import (
    Array,
    mask_of,
    misfit,
    operation,
    too_flat,
)

LOWEST = np.finfo(np.float64).min
TINY = np.finfo(np.float64).tiny
MATRICES = "give matrices: the last two axes are words and numbers of the head"


@operation("scaled sum of products", "query i, key i, query key -> query key")
def attention_scores(q: Array, k: Array, mask: Array | None = None) -> Array:
    """Compare every query with every key.

        scores = q k^T / sqrt(d_head) (+ mask)

    q:       [query_pos, d_head]
    k:       [key_pos, d_head]
    mask:    [query_pos, key_pos] or left out. Booleans: True may be looked at.
             Floats are added; -inf closes a place. A mask of fewer axes, or of
             axes 1 long, serves all words and heads, e.g. [key_pos] for padding.
    returns  [query_pos, key_pos], no unit; larger is a better match.
    raises   ValueError if q and k disagree on d_head, or the mask does not fit,
             naming both shapes; for a mask of whole numbers.
    source   Vaswani et al. 2017, eq. 1.
    """
    # first the axes, or a vector would have no last one to compare
    if not _stacked_alike(q, k) or not q.shape[-1] == k.shape[-1] > 0:
        raise misfit("attention_scores", "q", q, "k", k, _apart(q, k))
    scores = _product(q, k.mT) / math.sqrt(q.shape[-1])
    return scores if mask is None else _masked(scores, mask)


def _apart(q: Array, k: Array) -> str:
    if min(q.ndim, k.ndim) < 2:
        return MATRICES
    if 0 in (q.shape[-1], k.shape[-1]):
        return "give the head at least one number a word, or nothing is compared"
    return "both need the same last axis, d_head, and the same heads"


def _masked(scores: Array, mask: Array | NDArray[np.bool_]) -> Array:
    mask = mask_of("attention_scores: mask", mask)
    try:
        fits = np.broadcast_shapes(mask.shape, scores.shape) == scores.shape
    except ValueError:
        fits = False
    if not fits:
        raise misfit(
            "attention_scores",
            "the scores",
            scores,
            "the mask",
            mask,
            "each axis of the mask, from the last, is as long as the scores' or 1",
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
    raises   ValueError for an axis that the scores do not have.
    source   Vaswani et al. 2017, eq. 1; zeros as in ONNX Attention.
    """
    if not -scores.ndim <= axis < scores.ndim:
        raise too_flat("softmax", "the scores", scores, f"they have no axis {axis}")
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
        raise misfit(
            "mix",
            "the pattern",
            pattern,
            "v",
            v,
            MATRICES
            if min(pattern.ndim, v.ndim) < 2
            else "the pattern needs one column for each row of v, and the same heads",
        )
    return _product(pattern, v)


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
