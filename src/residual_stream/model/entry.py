"""One value of a trace, with where it comes from."""

import linecache
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from residual_stream.model.ops import Array, Operation

Axes = tuple[str, ...]
WEIGHTS = "weights."


class Entry(NamedTuple):
    """One computed value and where it comes from.

    name:       as TransformerLens spells it, e.g. "blocks.0.attn.pattern".
    axes:       the name of each axis of the value, e.g. ("query_pos", "key_pos").
    value:      the numbers, read-only.
    formula:    how the lesson writes the computation.
    operation:  the function of `ops` that made the value.
    origins:    the entries it was made from, in the order of the function's arguments.
    code:       the Python code that asked for it, and
    at:         the place of its instruction there.
    """

    name: str
    axes: Axes
    value: Array
    formula: str
    operation: Operation[...]
    origins: tuple["Entry", ...]
    code: CodeType
    at: int

    @property
    def is_weight(self) -> bool:
        """Whether the value is a weight: given, and the same for a whole run."""
        return self.name.startswith(WEIGHTS)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the computed values that this one was made from."""
        return tuple(o.name for o in self.origins if not o.is_weight)

    @property
    def weights(self) -> tuple[str, ...]:
        """The names of the weights that this value was made with, e.g. "W_Q"."""
        return tuple(o.name.removeprefix(WEIGHTS) for o in self.origins if o.is_weight)

    @property
    def source(self) -> str:
        """The Python that computed the value, on one line."""
        first, last = self._lines
        lines = linecache.getlines(self.code.co_filename)[first - 1 : last]
        return " ".join(line.strip() for line in lines)

    @property
    def place(self) -> str:
        """Where it starts, e.g. "block.py:60"."""
        return f"{Path(self.code.co_filename).name}:{self.line_no}"

    @property
    def line_no(self) -> int:
        """The number of its first line, from 1."""
        return self._lines[0]

    @property
    def _lines(self) -> tuple[int, int]:
        # looked up when somebody asks: a run makes thousands of entries;
        # an instruction is two bytes long
        positions = next(islice(self.code.co_positions(), self.at // 2, None))
        first = positions[0] or self.code.co_firstlineno
        return first, positions[1] or first
