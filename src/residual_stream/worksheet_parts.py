"""The parts of a worksheet: cells, rows, and the two tables made of them."""

from dataclasses import dataclass
from typing import NamedTuple


class Cell(NamedTuple):
    """One number of the sheet.

    of:    which number of the trace or the weights, e.g. "weights.W_Q[3, 0]".
    text:  how the sheet writes it.
    gap:   whether it is left to the student.
    """

    of: str
    text: str
    gap: bool = False


Cells = tuple[Cell, ...]


class Row(NamedTuple):
    """A named row of numbers, with the formula that makes them."""

    name: str
    cells: Cells
    formula: str = ""


class Unit(NamedTuple):
    """One hidden unit: what it reads, its bias, what it writes."""

    name: str
    reads: Cells
    bias: Cell
    writes: Cells


class Word(NamedTuple):
    """One word as attention sees it from the followed word."""

    name: str
    key: Cells
    score: Cell
    share: Cell
    value: Cells


@dataclass(frozen=True)
class Given:
    """The example's numbers, and what its axes, head and units are called.

    units:       those that do anything; n_left_out are all zero.
    """

    axes: tuple[str, ...]
    head: tuple[str, ...]
    words: tuple[tuple[Row, Cells], ...]
    projections: tuple[tuple[str, tuple[Cells, ...]], ...]
    head_out: tuple[Row, ...]
    units: tuple[Unit, ...]
    n_left_out: int
    bias_out: Cells


@dataclass(frozen=True)
class Worked:
    """The first block for one word, in the order of its computation.

    stream:   x₀, after attention's add, after the FFN's.
    copies:   the two normalised copies, with `scales`.
    """

    stream: tuple[Row, ...]
    copies: tuple[Row, ...]
    scales: tuple[tuple[str, Cell], ...]
    corrections: tuple[Row, ...]
    query: Row
    words: tuple[Word, ...]
    formulas: dict[str, str]
    mixed: Row
    hidden: tuple[Row, ...]
