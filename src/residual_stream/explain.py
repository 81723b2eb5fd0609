"""The worked arithmetic of one number: operation, terms, result.

It is worked out again, in plain Python, from the cells that the operation's index
pattern names, so that it can be checked against the stored value.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import product

from residual_stream.ops import EPS
from residual_stream.trace import Entry, Trace

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

    def __str__(self) -> str:
        place = ", ".join(str(i) for i in self.index)
        return f"{self.name}[{place}] = {self.text} = {number(self.result)}"


def explain(trace: Trace, name: str, index: Index) -> Arithmetic:
    """Work out one number of a trace again, and show how.

    name:     an entry, e.g. "blocks.0.attn.pattern".
    index:    its place there, one whole number an axis, from 0.
    returns   an `Arithmetic`; its result is the stored value up to rounding (1e-12).
    raises    KeyError for an unknown name, IndexError for a place outside it.
    """
    trace[name]  # a missing value is named there
    entry = trace.entries[name]
    shape = entry.value.shape
    if len(index) != len(shape) or any(
        not 0 <= i < n for i, n in zip(index, shape, strict=True)
    ):
        raise IndexError(f"{name} has shape {list(shape)}, so no place {list(index)}")
    groups = cells(entry, index)
    kind = entry.operation.kind
    result, text = FORMS[kind](groups, index[-1])
    return Arithmetic(name, index, kind, groups, text, result)


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
        (origin, letters.split())
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


def _term(origin: Entry, letters: list[str], place: dict[str, int]) -> Term:
    index = tuple(place[letter] for letter in letters)
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
