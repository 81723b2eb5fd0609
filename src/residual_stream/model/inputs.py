"""What a run starts from and how it is set, checked where the run starts."""

import math
import operator
from collections.abc import Mapping, Sized
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from residual_stream.model.entry import Axes
from residual_stream.model.ops.operation import Array, numbers

WEIGHT_AXES: Mapping[str, Axes] = {
    "W_Q": ("d_model", "d_head"),
    "W_K": ("d_model", "d_head"),
    "W_V": ("d_model", "d_head"),
    "W_O": ("d_head", "d_model"),
    "W_in": ("d_model", "d_mlp"),
    "b_in": ("d_mlp",),
    "W_out": ("d_mlp", "d_model"),
    "b_out": ("d_model",),
}
MAX_DEPTH = 96

Norm = Literal["rms", "layer", "none"]
TRUTHS = (bool, np.bool_)


# ---------------------------------------------------------------- how a run is set


def whole(name: str, value: Any, lowest: int, highest: int | None = None) -> int:
    """A whole number in a range, NumPy's too; truth values are none.

    raises  ValueError with the name, what was found and the range.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = lowest - 1
    # operator.index takes True for 1
    if isinstance(value, TRUTHS):
        number = lowest - 1
    if number < lowest or (highest is not None and number > highest):
        upto = "up" if highest is None else f"to {highest}"
        raise ValueError(
            f"{name} is {shown(value)}; it must be a whole number from {lowest} {upto}"
        )
    return number


def place(name: str, value: Any, n: int) -> int:
    """A place among `n`, from 0; none is counted from the end.

    raises  IndexError with the name, what was found and the range.
    """
    try:
        return whole(name, value, 0, n - 1)
    except ValueError as error:
        raise IndexError(str(error)) from None


def truth(name: str, value: Any) -> bool:
    """True or False, NumPy's too; nothing that only counts as one.

    raises  ValueError with the name and what was found.
    """
    if not isinstance(value, TRUTHS):
        raise ValueError(f"{name} is {shown(value)}; it must be True or False")
    return bool(value)


def one_of(name: str, value: Any, known: tuple[str, ...]) -> None:
    """One of some words.

    raises  ValueError with the name, what was found and the words.
    """
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} is {shown(value)}; use one of {', '.join(known)}")


def shown(value: Any) -> str:
    """A value as an error names it, on one line that is not long."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer of more digits than Python prints
        text = "a number without end"
    return text if len(text) <= 40 else text[:39] + "…"


# --------------------------------------------------------------- what it starts from


@dataclass(frozen=True)
class Example:
    """What a run starts from: the words, their vectors and the weights.

    Lists are taken for arrays. A run checks it, not the making of it.

    tokens:     the words of the sentence, in order.
    axes:       the name of each dimension of the stream.
    embed:      [pos, d_model], each word's own vector.
    pos_embed:  [pos, d_model], the vector of each place in the sentence.
    weights:    one block's parameters by name, shared by all blocks; rows multiply
                from the left (`x @ W_Q`). `WEIGHT_AXES` has their names and axes.
    """

    tokens: tuple[str, ...]
    axes: tuple[str, ...]
    embed: Array
    pos_embed: Array
    weights: Mapping[str, Array]
    # the arrays that were found to fit
    _fit: tuple[Any, ...] = field(default=(), init=False, repr=False, compare=False)


@dataclass(frozen=True)
class Parts:
    """Which parts the model has; the lesson's has them all.

    norm:       "rms", "layer" or "none".
    attention, ffn, positions:  False leaves that part out.
    raises      ValueError for anything else.
    """

    norm: Norm = "rms"
    attention: bool = True
    ffn: bool = True
    positions: bool = True

    def __post_init__(self) -> None:
        one_of("norm", self.norm, get_args(Norm))
        for name in ("attention", "ffn", "positions"):
            truth(name, getattr(self, name))


ALL_PARTS = Parts()


def parts_of_model(value: Any) -> Parts:
    """A `Parts`.

    raises  ValueError for anything else.
    """
    if not isinstance(value, Parts):
        raise ValueError(f"parts is {shown(value)}; it must be made by Parts(…)")
    return value


def expect_example(value: Any) -> None:
    """Anything else is refused with a ValueError."""
    if not isinstance(value, Example):
        raise ValueError(f"example is {shown(value)}; it must be made by Example(…)")


def check_example(example: Example) -> None:
    """All that a run needs is there, fits together and is finite.

    Which arrays fit is kept with the example, so that another run takes no time for it.
    raises  ValueError, one line: what, the shapes, the cure.
    """
    expect_example(example)
    weights = example.weights
    if not isinstance(weights, Mapping):
        raise ValueError(f"weights is {shown(weights)}; it must name each array")
    given = (example.embed, example.pos_embed, *map(weights.get, WEIGHT_AXES))
    if example._fit and all(map(operator.is_, example._fit, given)):
        return
    check_words(example)
    check_weights(example.embed, weights)
    if all(isinstance(array, np.ndarray) for array in given):  # a list may grow
        object.__setattr__(example, "_fit", given)


def check_outcome(example: Example, last: Array) -> None:
    """A last state that is not finite is not the example's fault.

    It is if somebody has written to the arrays since they were checked.
    raises  ValueError, one line: what, where, the cure.
    """
    if not math.isfinite(np.vdot(last, last)):
        check_words(example)
        check_weights(example.embed, example.weights)


def check_words(example: Example) -> None:
    """Every word has a finite vector, and every place, all equally wide.

    raises  ValueError, one line: what, the shapes, the cure.
    """
    embed, places = _finite("embed", example.embed), example.pos_embed
    for name in ("tokens", "axes"):
        names = getattr(example, name)
        if not isinstance(names, Sized):
            raise ValueError(f"{name} is {shown(names)}; it must name each of its own")
    n_tokens, n_axes = len(example.tokens), len(example.axes)
    if embed.shape != (n_tokens, n_axes) or not embed.size:
        raise ValueError(
            f"embed has shape {list(embed.shape)} for {n_tokens} tokens and {n_axes} "
            "axes; give each token a row and each axis a column, at least one of each"
        )
    places = _finite("pos_embed", places)
    if places.shape != embed.shape:
        raise ValueError(
            f"embed has shape {list(embed.shape)} and pos_embed {list(places.shape)}; "
            "give each place a vector as wide as a word's"
        )


def check_weights(embed: Array, weights: Mapping[str, Array], at: str = "") -> None:
    """All of a block's weights are there, finite, and fit the stream and each other.

    embed:   [pos, d_model], checked before.
    at:      which block's, e.g. "blocks.0."; "" for those that all share.
    raises   ValueError, one line: what, the shapes, the cure.
    """
    # by axis: its length, where it is first met, and the shape there
    sizes: dict[str, tuple[int, str, tuple[int, ...]]] = {}
    stream = np.shape(embed)
    sizes["d_model"] = (stream[-1], "embed", stream)
    for name, axes in WEIGHT_AXES.items():
        where = f"weights.{at}{name}"
        if name not in weights:
            needed = ", ".join(WEIGHT_AXES)
            raise ValueError(f"{where} is missing; a block needs {needed}")
        shape = _finite(where, weights[name]).shape
        if len(shape) != len(axes) or 0 in shape:
            raise ValueError(
                f"{where}: it has shape {list(shape)}, needs [{', '.join(axes)}], each "
                "at least 1"
            )
        for axis, size in zip(axes, shape, strict=True):
            first = sizes.setdefault(axis, (size, where, shape))
            if size != first[0]:
                raise ValueError(
                    f"{first[1]} has shape {list(first[2])} and {where} {list(shape)}; "
                    f"{name} is [{', '.join(axes)}], and {axis} is {first[0]}"
                )


def _finite(where: str, value: Any) -> Array:
    array = numbers(where, value)
    # squares add up to a finite number only if all are finite: in one pass, and far
    # faster; where huge numbers make them overflow, each number is looked at
    if not math.isfinite(np.vdot(array, array)) and not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ValueError(
            f"{where} holds {array[tuple(place)]} at {place}; give finite numbers"
        )
    return array
