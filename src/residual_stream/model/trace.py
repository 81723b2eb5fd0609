"""A trace: everything a run computed, in order, each value with its origin."""

import sys
from collections.abc import Iterator, Mapping
from types import FrameType, MappingProxyType

import numpy as np

from residual_stream.model.arithmetic import (
    Arithmetic,
    Index,
    worked_out,
)
from residual_stream.model.entry import WEIGHTS, Axes, Entry
from residual_stream.model.ops import Array, Operation, given
from residual_stream.model.ops.operation import values_of

__all__ = ["WEIGHTS", "Axes", "Entry", "Recorder", "Trace", "explain"]


FLOAT = np.dtype(np.float64)


class Trace(Mapping[str, Array]):
    """An ordered, read-only record of a computation: `trace[name]` is an array.

    A run fills it through `given`, `weight` and `record`; what is in it can't be
    changed or replaced. `trace.entries[name]` has a value's axes, formula, inputs
    and source line, `trace.explain(name, index)` its worked arithmetic.
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._weights: dict[str, Entry] = {}

    # ------------------------------------------------------------------ filling it

    def weight(self, name: str, axes: Axes, value: Array) -> Entry:
        """Take in a weight, so that values can name it as their origin.

        value:  real numbers, or truth values for a mask; a list is taken for an array.
        raises  ValueError for a second weight of that name, a wrong axis count or
                what is not made of real numbers.
        """
        full = WEIGHTS + name
        return _put(_given(full, axes, name, value, sys._getframe(1)), self._weights)

    def given(self, name: str, axes: Axes, formula: str, value: Array) -> Entry:
        """Take in a value that nothing computes: what the example's file states.

        raises  ValueError for a name taken before, a wrong axis count or what is not
                made of real numbers.
        """
        return _put(_given(name, axes, formula, value, sys._getframe(1)), self._entries)

    @property
    def record(self) -> "Recorder":
        """`record(name, axes, formula, operation, *origins)` computes a value.

        It is kept with its origin: what made it, and the line that asked for it.

        operation:  a function of `ops`; it gets the values of the origins.
        origins:    entries or weights of this trace, in the function's order.
        raises      ValueError for an origin that is not in this trace, a name taken
                    before, or an axis count other than the value's.
        """
        return Recorder(self, "")

    def at(self, place: str) -> "Recorder":
        """A `record` whose names all start with `place`, e.g. "blocks.0."."""
        return Recorder(self, place)

    # ------------------------------------------------------------------ reading it

    def __getitem__(self, name: str) -> Array:
        entry = self._entries.get(name)
        if entry is None:
            first, last = next(iter(self._entries), ""), next(reversed(self), "")
            raise KeyError(f"no value {name!r}; this trace goes from {first} to {last}")
        return entry.value

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Every value with its origin, in the order of computation."""
        return MappingProxyType(self._entries)

    @property
    def weights(self) -> Mapping[str, Entry]:
        """The weights with their full names, e.g. "weights.W_Q"."""
        return MappingProxyType(self._weights)

    def explain(self, name: str, index: Index) -> Arithmetic:
        """Work out one number again, and show how.

        name:     an entry, e.g. "blocks.0.attn.pattern".
        index:    its place there, one whole number an axis, from 0.
        returns   an `Arithmetic`; its result is the stored value up to rounding
                  (1e-12).
        raises    KeyError for an unknown name, IndexError for a place outside it.
        """
        self[name]  # a missing value is named there
        return worked_out(self._entries[name], index)

    def until(self, last: str) -> "Trace":
        """The first part of this trace, up to and including the value `last`.

        Nothing is computed again: the entries are the same objects.
        raises  KeyError if there is no such value.
        """
        names = list(self._entries)
        self[last]
        part = Trace()
        part._weights = self._weights.copy()
        part._entries = {
            name: self._entries[name] for name in names[: names.index(last) + 1]
        }
        return part


class Recorder:
    """`Trace.record` for one place of the model: `at(name, axes, formula, …)`."""

    __slots__ = ("_entries", "_place", "_weights")

    def __init__(self, trace: Trace, place: str) -> None:
        self._entries = trace._entries
        self._weights = trace._weights
        self._place = place

    def __call__(
        self,
        name: str,
        axes: Axes,
        formula: str,
        operation: Operation[...],
        *origins: Entry,
    ) -> Entry:
        """Compute and keep one value, as `Trace.record` does."""
        entries, weights = self._entries, self._weights
        name = self._place + name
        values = []
        for origin in origins:
            known = origin.name
            if entries.get(known) is not origin and weights.get(known) is not origin:
                raise _unknown(name, known)
            values.append(origin.value)
        value = operation.compute(*values)
        # write=False, by position: a keyword takes three times as long
        value.setflags(False)  # type: ignore[call-arg]
        caller = sys._getframe(1)
        code, at = caller.f_code, caller.f_lasti
        fields = (name, axes, value, formula, operation, origins, code, at)
        if value.ndim != len(axes) or name in entries:
            raise _refusal(name, axes, value)
        # what Entry(*fields) comes to, in half its time
        entry = entries[name] = tuple.__new__(Entry, fields)
        return entry


def _given(
    name: str, axes: Axes, formula: str, value: Array, caller: FrameType
) -> Entry:
    if type(value) is not np.ndarray or value.dtype is not FLOAT:
        value = values_of(name, value)
    # a copy, because the caller may go on writing to its own array
    kept = np.array(value)
    kept.setflags(write=False)
    return Entry(name, axes, kept, formula, given, (), caller.f_code, caller.f_lasti)


def _put(entry: Entry, place: dict[str, Entry]) -> Entry:
    if entry.value.ndim != len(entry.axes) or entry.name in place:
        raise _refusal(entry.name, entry.axes, entry.value)
    place[entry.name] = entry
    return entry


def _unknown(name: str, origin: str) -> ValueError:
    return ValueError(
        f"{name}: its input {origin!r} is not in this trace; record it first"
    )


def _refusal(name: str, axes: Axes, value: Array) -> ValueError:
    if value.ndim != len(axes):
        return ValueError(
            f"{name}: {len(axes)} axes named ({', '.join(axes)}) for a value that has "
            f"{value.ndim}; name each axis once"
        )
    return ValueError(f"{name}: recorded twice; give each value a name of its own")


def explain(trace: Trace, name: str, index: Index) -> Arithmetic:
    """Work out one number of a trace again, and show how: `trace.explain(name, index)`.

    raises  KeyError for an unknown name, IndexError for a place outside it.
    """
    return trace.explain(name, index)
