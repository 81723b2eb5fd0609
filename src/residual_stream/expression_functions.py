"""The functions that an expression may call: each checks what it is given."""

from collections.abc import Callable, Mapping

import numpy as np

from residual_stream.ops import Array

Value = float | bool | Array
Function = Callable[[list[Value], str], Value]


class ExpressionError(ValueError):
    """A text that says nothing here: what it found and what it needs."""


def _vectors(count: int) -> Callable[[Callable[..., float]], Function]:
    def mark(function: Callable[..., float]) -> Function:
        def checked(arguments: list[Value], said: str) -> Value:
            shapes = [a.shape for a in arguments if isinstance(a, np.ndarray)]
            if not len(arguments) == len(shapes) == count or len(set(shapes)) > 1:
                needed = "one vector" if count == 1 else "two vectors of one length"
                raise ExpressionError(f"found {said}, needs {needed}")
            return float(function(*arguments))

        return checked

    return mark


@_vectors(1)
def _length(v: Array) -> float:
    return float(np.linalg.norm(v))


@_vectors(2)
def _distance(v: Array, w: Array) -> float:
    return float(np.linalg.norm(v - w))


@_vectors(2)
def _cosine(v: Array, w: Array) -> float:
    lengths = float(np.linalg.norm(v) * np.linalg.norm(w))
    return float(v @ w) / lengths if lengths else 0.0


def _of_numbers(function: Callable[[Array], float]) -> Function:
    def checked(arguments: list[Value], said: str) -> Value:
        if not arguments or any(isinstance(a, bool) for a in arguments):
            raise ExpressionError(f"found {said}, needs numbers or a vector")
        return float(function(np.concatenate([np.atleast_1d(a) for a in arguments])))

    return checked


def _of_truths(function: Callable[[list[Value]], bool]) -> Function:
    def checked(arguments: list[Value], said: str) -> Value:
        if not arguments or not all(isinstance(a, bool) for a in arguments):
            raise ExpressionError(f"found {said}, needs comparisons")
        return function(arguments)

    return checked


def _sum(arguments: list[Value], said: str) -> Value:
    shapes = {np.shape(a) for a in arguments}
    if len(shapes) != 1 or any(isinstance(a, bool) for a in arguments):
        raise ExpressionError(f"found {said}, needs numbers or vectors of one length")
    total: Value = np.sum(np.array(arguments), axis=0)
    return total if isinstance(total, np.ndarray) else float(total)


def _abs(arguments: list[Value], said: str) -> Value:
    if len(arguments) != 1 or isinstance(arguments[0], bool | np.ndarray):
        raise ExpressionError(f"found {said}, needs one number")
    return abs(arguments[0])


FUNCTIONS: Mapping[str, Function] = {
    "abs": _abs,
    "all": _of_truths(all),
    "any": _of_truths(any),
    "cosine": _cosine,
    "distance": _distance,
    "largest": _of_numbers(np.max),
    "length": _length,
    "smallest": _of_numbers(np.min),
    "sum": _sum,
}
