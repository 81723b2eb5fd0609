"""The worked arithmetic of one number: operation, terms, result.

It is worked out again, in plain Python, from the cells that the operation's index
pattern names, so that it can be checked against the stored value.
"""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import chain, product
from typing import Any

import numpy as np

from residual_stream.model.entry import Entry
from residual_stream.model.ops import EPS

Index = tuple[int, ...]


@dataclass(frozen=True)
class Term:
    """One number that went in: where it stands and what it is.

    name:   the trace entry or weight it comes from, e.g. "weights.W_Q".
    index:  its place there.
    value:  the number.
    """

    name: str
    index: Index
    value: float


@dataclass(frozen=True)
class Arithmetic:
    """How one number was worked out.

    name, index:  which number.
    operation:    e.g. "sum of products"; `FORMS` lists them all.
    groups:       the terms, grouped as the operation takes them: the factors of one
                  product, the summands of a sum, the scores of one softmax row.
    text:         the arithmetic with its numbers, ready to read.
    result:       what it comes to.
    """

    name: str
    index: Index
    operation: str
    groups: tuple[tuple[Term, ...], ...]
    text: str
    result: float

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms one after the other, whatever their groups."""
        return tuple(chain.from_iterable(self.groups))

    def __str__(self) -> str:
        place = ", ".join(str(i) for i in self.index)
        return f"{self.name}[{place}] = {self.text} = {number(self.result)}"


def worked_out(entry: Entry, index: Index) -> Arithmetic:
    """Work out one number of an entry again; see `Trace.explain`.

    raises  IndexError for a place outside the value.
    """
    shape = entry.value.shape
    if not _is_place(index, shape):
        raise IndexError(
            f"{entry.name} has shape {list(shape)}, so no place {_shown(index)}; give "
            f"{len(shape)} whole numbers, each from 0 and below the axis' length"
        )
    index = tuple(map(operator.index, index))
    groups = cells(entry, index)
    kind = entry.operation.kind
    result, text = FORMS[kind](groups, index[-1])
    return Arithmetic(entry.name, index, kind, groups, text, result)


def _is_place(index: Any, shape: tuple[int, ...]) -> bool:
    if not isinstance(index, Sequence | np.ndarray) or np.shape(index) != (len(shape),):
        return False
    return all(
        isinstance(i, int | np.integer) and not isinstance(i, bool) and 0 <= i < n
        for i, n in zip(index, shape, strict=True)
    )


def _shown(index: Any) -> str:
    return " ".join(str(list(index) if isinstance(index, tuple) else index).split())


def cells(entry: Entry, index: Index) -> tuple[tuple[Term, ...], ...]:
    """The cells that one number of an entry was made from, in groups.

    In the pattern "pos i, i j, j -> pos j" the index fixes pos and j, and i runs:
    one group for every i, of a cell from each input that i occurs in. An input
    without a running letter, here the bias, is a group of its own.
    """
    if not entry.origins:
        return ((Term(entry.name, index, float(entry.value[index])),),)
    sources, target = entry.operation.pattern.split(" -> ")
    fixed = dict(zip(target.split(), index, strict=True))
    # an input that may be left out comes last, so the patterns may be more
    inputs = [
        (origin, _own_axes(origin, letters.split()))
        for origin, letters in zip(entry.origins, sources.split(", "), strict=False)
    ]
    running = {
        letter: size
        for origin, letters in inputs
        for letter, size in zip(letters, origin.value.shape, strict=True)
        if letter not in fixed
    }
    multiplied = [pair for pair in inputs if running.keys() & set(pair[1])]
    groups = [
        tuple(
            _term(origin, letters, fixed | dict(zip(running, place, strict=True)))
            for origin, letters in multiplied
        )
        for place in (product(*map(range, running.values())) if running else ())
    ]
    alone = [(_term(*pair, fixed),) for pair in inputs if pair not in multiplied]
    return (*groups, *alone)


def _own_axes(origin: Entry, letters: list[str]) -> list[str]:
    # a mask may lack the first axes, and then it is the same for all of them
    return letters[max(0, len(letters) - origin.value.ndim) :]


def _term(origin: Entry, letters: list[str], place: dict[str, int]) -> Term:
    shape = origin.value.shape
    # a mask's axis of length 1 serves every place
    index = tuple(min(place[one], n - 1) for one, n in zip(letters, shape, strict=True))
    return Term(origin.name, index, origin.value[index].item())


# ------------------------------------------------------ the arithmetic of each kind

Groups = tuple[tuple[Term, ...], ...]
Form = Callable[[Groups, int], tuple[float, str]]


ALL_DIGITS = Context(prec=400)  # the largest float has 309 before the point


def number(value: float, decimals: int = 2) -> str:
    """A number as the lesson writes it: a real minus sign, and no minus zero.

    A tie is rounded away from zero, as people and browsers do it: 0.25 is 0.3.
    """
    if not math.isfinite(value):
        return str(value).replace("-", "−")
    places = Decimal(1).scaleb(-decimals)
    rounded = Decimal(value).quantize(places, ROUND_HALF_UP, ALL_DIGITS)
    return f"{abs(rounded) if rounded == 0 else rounded:f}".replace("-", "−")


def percent(value: float) -> str:
    """A share of one in per cent, as the lesson writes it, without decimals.

    What is more than nothing is not written as 0 %, nor less than all as 100 %.
    """
    if 0 < value < 0.005:
        return "< 0.5 %"
    if 0.995 < value < 1:
        return "> 99.5 %"
    return f"{number(100 * value, 0)} %"


def _single(groups: Groups, _: int) -> tuple[float, str]:
    value = groups[0][0].value
    return value, number(value)


def _sum(groups: Groups, _: int) -> tuple[float, str]:
    values = [term.value for (term,) in groups]
    return sum(values), _joined([number(value) for value in values])


def _sum_of_products(groups: Groups, _: int) -> tuple[float, str]:
    factors = [[term.value for term in group] for group in groups]
    texts = [
        " · ".join([number(first), *map(_bracketed, rest)]) for first, *rest in factors
    ]
    return sum(math.prod(group) for group in factors), _joined(texts)


def _scaled_sum_of_products(groups: Groups, _: int) -> tuple[float, str]:
    d_head = sum(len(group) == 2 for group in groups)
    compared, text = _sum_of_products(groups[:d_head], 0)
    masks = [_added(term.value) for (term,) in groups[d_head:]]
    added = "".join(f" + {number(mask)}" for mask in masks)
    return compared / math.sqrt(d_head) + sum(masks), f"({text}) / √{d_head}{added}"


def _added(mask: float) -> float:
    """What a place of the mask adds; booleans open or close it."""
    return (0.0 if mask else -math.inf) if isinstance(mask, bool) else mask


def _root_mean_square(groups: Groups, _: int) -> tuple[float, str]:
    values = [term.value for (term,) in groups]
    mean = sum(value * value for value in values) / len(values)
    squares = _joined([f"{_bracketed(value)}²" for value in values])
    return math.sqrt(mean + EPS), f"√(({squares}) / {len(values)} + ε)"


def _quotient(groups: Groups, _: int) -> tuple[float, str]:
    (x,), (scale,) = groups
    return x.value / scale.value, f"{number(x.value)} / {number(scale.value)}"


def _distance_from_the_mean(groups: Groups, place: int) -> tuple[float, str]:
    values = [term.value for (term,) in groups]
    summands = _joined([number(value) for value in values])
    text = f"{number(values[place])} − ({summands}) / {len(values)}"
    return values[place] - sum(values) / len(values), text


def _softmax(groups: Groups, place: int) -> tuple[float, str]:
    scores = [term.value for (term,) in groups]
    highest = max(scores)
    if highest == -math.inf:
        return 0.0, "0: every key is masked"
    weights = [math.exp(score - highest) for score in scores]
    texts = [f"exp({number(score)} − {_bracketed(highest)})" for score in scores]
    return weights[place] / sum(weights), f"{texts[place]} / ({' + '.join(texts)})"


def _relu(groups: Groups, _: int) -> tuple[float, str]:
    value = groups[0][0].value
    return max(0.0, value), f"max(0, {number(value)})"


def _bracketed(value: float) -> str:
    text = number(value)
    return f"({text})" if text.startswith("−") else text


def _joined(summands: list[str]) -> str:
    return " + ".join(summands).replace("+ −", "− ")


FORMS: dict[str, Form] = {
    "given": _single,
    "copy": _single,
    "sum": _sum,
    "sum of products": _sum_of_products,
    "scaled sum of products": _scaled_sum_of_products,
    "root mean square": _root_mean_square,
    "quotient": _quotient,
    "distance from the mean": _distance_from_the_mean,
    "softmax": _softmax,
    "larger of 0 and": _relu,
}
