"""What an operation is: a function of arrays that says what its numbers are made of.

Also what all operations share: how numbers are taken in, and the line that says which
shapes do not fit.
"""

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Arguments = ParamSpec("Arguments")

VECTORS = "give at least one vector: its last axis holds the numbers of one word"
REAL = "biuf"  # NumPy's kinds of real numbers, truth values with them


class Operation(Generic[Arguments]):
    """A function of arrays that can say how one cell of its result is worked out.

    Calling it takes anything that NumPy makes real numbers of (lists, integers,
    float32) and computes in float64.

    compute:  the function itself, for arrays of float64.
    kind:     the arithmetic, e.g. "sum of products".
    pattern:  which cells of which input it takes, in the order of the arguments;
              an input that may be left out comes last.
    """

    __name__: str

    def __init__(
        self, compute: Callable[Arguments, Array], kind: str, pattern: str
    ) -> None:
        self.compute = compute
        self.kind = kind
        self.pattern = pattern
        update_wrapper(self, compute)
        parameters = list(inspect.signature(compute).parameters.values())
        inputs = parameters[: 1 + pattern.partition(" -> ")[0].count(",")]
        # by name: whether the input may be left out
        self._inputs = {one.name: one.default is None for one in inputs}

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Array:
        """Compute, from whatever is made of real numbers.

        raises  ValueError for an input that is not, or shapes that do not fit.
        """
        first = [self._taken(*one) for one in zip(self._inputs, args, strict=False)]
        rest: Any = args[len(first) :]
        named: Any = {
            name: self._taken(name, value) if name in self._inputs else value
            for name, value in kwargs.items()
        }
        return self.compute(*first, *rest, **named)

    def _taken(self, name: str, value: Any) -> Any:
        if value is None and self._inputs[name]:
            return None
        where = f"{self.__name__}: {name}"
        return mask_of(where, value) if name == "mask" else numbers(where, value)


def operation(
    kind: str, pattern: str
) -> Callable[[Callable[Arguments, Array]], Operation[Arguments]]:
    """Make a function an `Operation`."""

    def mark(function: Callable[Arguments, Array]) -> Operation[Arguments]:
        return Operation(function, kind, pattern)

    return mark


# ------------------------------------------------------------------ taking numbers in


def numbers(where: str, value: Any) -> Array:
    """Anything that NumPy makes real numbers of, as float64; no copy if it is that.

    where:   what the line starts with if it is refused.
    raises   ValueError with where, what was found and the cure.
    """
    return _real(where, value).astype(np.float64, copy=False)


def mask_of(where: str, value: Any) -> Any:
    """A mask: truth values stay as they are, numbers are float64.

    raises  ValueError for whole numbers, which could mean either.
    """
    found = _real(where, value)
    if found.dtype.kind in "iu":
        raise ValueError(
            f"{where} holds whole numbers, {found.dtype}; give booleans (True may be "
            "looked at) or floats that are added (-inf closes a place)"
        )
    return values_of(where, found)


def values_of(where: str, value: Any) -> Any:
    """Real numbers as float64, truth values as they are.

    raises  ValueError for anything else.
    """
    found = _real(where, value)
    return found if found.dtype == np.bool_ else found.astype(np.float64, copy=False)


def _real(where: str, value: Any) -> NDArray[Any]:
    try:
        found = np.asarray(value)
    except (ValueError, TypeError):  # rows of different lengths
        raise ValueError(
            f"{where} is no array; give real numbers with rows of one length"
        ) from None
    if found.dtype.kind not in REAL:
        raise ValueError(f"{where} holds {found.dtype}; give real numbers")
    return found


# ------------------------------------------------------------- shapes that do not fit


def misfit(
    what: str, first: str, a: Array, second: str, b: NDArray[Any], cure: str
) -> ValueError:
    """The line for two inputs that do not go together: both shapes and the cure."""
    return ValueError(
        f"{what}: {first} has shape {list(a.shape)} and {second} {list(b.shape)}; "
        f"{cure}"
    )


def too_flat(what: str, first: str, a: Array, cure: str) -> ValueError:
    """The line for one input that has too few axes, or an empty one."""
    return ValueError(f"{what}: {first} has shape {list(a.shape)}; {cure}")
