"""The derivative of each kind of operation, input by input."""

from collections.abc import Callable

import numpy as np

from residual_stream import ops
from residual_stream.ops import Array
from residual_stream.trace import Entry

# an entry, which of its inputs moves, that input's tangents -> the entry's tangents
Rule = Callable[[Entry, int, Array], Array]


def _sum_of_products(entry: Entry, place: int, t: Array) -> Array:
    if place == 2:  # the bias, the same for each row
        return np.broadcast_to(t[:, None], (len(t), *entry.value.shape))
    left, right = (origin.value for origin in entry.origins[:2])
    return t @ right if place == 0 else left @ t


def _scaled_sum_of_products(entry: Entry, place: int, t: Array) -> Array:
    q, k = (origin.value for origin in entry.origins[:2])
    if place < 2:
        t = ops.attention_scores(t, k) if place == 0 else ops.attention_scores(q, t)
    else:  # a mask may be the same for all queries: [t, key] is [t, 1, key]
        ones = (1,) * (1 + entry.value.ndim - t.ndim)
        t = t.reshape(len(t), *ones, *t.shape[1:])
    # a closed place is −∞ whatever q and k do
    return np.where(np.isneginf(entry.value), 0.0, t)


def _root_mean_square(entry: Entry, _: int, t: Array) -> Array:
    # d scale = mean(x dx) / scale, divided first so that x dx can't overflow
    ratio = entry.origins[0].value / entry.value[..., None]
    moved: Array = np.add.reduce(ratio * t, axis=-1) / t.shape[-1]
    return moved


def _quotient(entry: Entry, place: int, t: Array) -> Array:
    scale = entry.origins[1].value[..., None]
    return t / scale if place == 0 else -entry.value * (t[..., None] / scale)


def _softmax(entry: Entry, _: int, t: Array) -> Array:
    # d p_j = p_j (d s_j − Σ_k p_k d s_k): 0 in a row that looks at nothing, where p = 0
    share = entry.value
    moved: Array = share * (t - np.add.reduce(share * t, axis=-1, keepdims=True))
    return moved


RULES: dict[str, Rule] = {
    "copy": lambda _entry, _place, t: t,
    "sum": lambda _entry, _place, t: t,
    "sum of products": _sum_of_products,
    "scaled sum of products": _scaled_sum_of_products,
    "root mean square": _root_mean_square,
    "distance from the mean": lambda _entry, _place, t: ops.centre(t),
    "quotient": _quotient,
    "softmax": _softmax,
    # 0 where the input is exactly 0: a corner has no derivative; PyTorch takes 0 too
    "larger of 0 and": lambda entry, _, t: np.where(entry.origins[0].value > 0, t, 0.0),
}
