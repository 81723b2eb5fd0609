"""What stands on a lesson's worksheet: its weights and one worked block.

The worked block follows the lesson's word. Some of its cells are gaps: they are for the
student to fill in, and hold the answer all the same. Every cell says which number of
the trace it shows.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from residual_stream.lesson.example import NamedExample, Names
from residual_stream.lesson.fills import SUBSCRIPTS
from residual_stream.lesson.lesson import Lesson
from residual_stream.model.arithmetic import number
from residual_stream.model.block import run
from residual_stream.model.ops import EPS
from residual_stream.model.trace import WEIGHTS, Trace


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


BLOCK = "blocks.0."
HEAD_WEIGHTS = ("W_Q", "W_K", "W_V")


class Worksheet:
    """A lesson's worksheet in one language."""

    def __init__(self, lesson: Lesson, language: str) -> None:
        self.lesson = lesson
        self.language = language
        self.named: NamedExample = lesson.named
        self.trace: Trace = run(self.named.example, 1)
        self.token = self.named.tokens[self.named.focus]
        self.eps = f"{EPS:f}"
        unused = self._unused()
        n_hidden = len(self.named.hidden)
        self._units = [unit for unit in range(n_hidden) if unit not in unused]

    # --------------------------------------------------------------- what is given

    @property
    def given(self) -> Given:
        """The words' vectors and all weights, without units that do nothing."""
        axes, head = self._called(self.named.axes), self._called(self.named.head)
        return Given(
            axes,
            head,
            tuple(
                (Row(word, self._row("embed", i)), self._row("pos_embed", i))
                for i, word in enumerate(self.named.tokens)
            ),
            tuple(
                (axis, tuple(self._row(WEIGHTS + name, i) for name in HEAD_WEIGHTS))
                for i, axis in enumerate(axes)
            ),
            tuple(
                Row(name, self._row(WEIGHTS + "W_O", i)) for i, name in enumerate(head)
            ),
            tuple(self._unit(unit) for unit in self._units),
            len(self.named.hidden) - len(self._units),
            self._row(WEIGHTS + "b_out"),
        )

    @property
    def units(self) -> tuple[str, ...]:
        """The names of the hidden units on the sheet."""
        names = self._called(self.named.hidden)
        return tuple(names[unit] for unit in self._units)

    def _unit(self, unit: int) -> Unit:
        return Unit(
            self._called(self.named.hidden)[unit],
            tuple(
                self._cell(WEIGHTS + "W_in", (axis, unit))
                for axis in range(len(self.named.axes))
            ),
            self._cell(WEIGHTS + "b_in", (unit,)),
            self._row(WEIGHTS + "W_out", unit),
        )

    def _unused(self) -> set[int]:
        weights = {n: self.trace.weights[WEIGHTS + n].value for n in ("W_in", "W_out")}
        bias = self.trace.weights[WEIGHTS + "b_in"].value
        return {
            unit
            for unit in range(len(bias))
            if not (
                weights["W_in"][:, unit].any()
                or weights["W_out"][unit].any()
                or bias[unit]
            )
        }

    # ----------------------------------------------------------- the block, by hand

    @property
    def worked(self) -> Worked:
        """The first block with its gaps.

        Each sum is left to the student, and of each vector before it the ends: what
        lies between is given, to check the way by.
        """
        focus = self.named.focus
        return Worked(
            tuple(
                self._stage(name, "all" if name != "resid_pre" else "none", f"x{state}")
                for name, state in self._states()
            ),
            tuple(self._stage(f"{ln}.normalized", "ends") for ln in ("ln1", "ln2")),
            tuple(
                (self._formula(name), self._cell(BLOCK + name, (focus,), True))
                for name in ("ln1.scale", "ln2.scale")
            ),
            tuple(self._stage(name, "ends") for name in ("attn_out", "mlp_out")),
            self._stage("attn.q", "all"),
            tuple(self._word(place) for place in range(len(self.named.tokens))),
            {
                name: self._formula(f"attn.{name}")
                for name in ("k", "v", "scores", "pattern")
            },
            self._stage("attn.z", "all"),
            (self._hidden("mlp.pre"), self._hidden("mlp.post")),
        )

    @staticmethod
    def _states() -> tuple[tuple[str, str], ...]:
        return (
            ("resid_pre", "0".translate(SUBSCRIPTS)),
            ("resid_mid", ""),
            ("resid_post", "1".translate(SUBSCRIPTS)),
        )

    def _stage(self, name: str, gaps: str, called: str = "") -> Row:
        cells = self._row(BLOCK + name, self.named.focus)
        asked = {
            "none": (),
            "ends": (0, len(cells) - 1),
            "all": range(len(cells)),
        }[gaps]
        return Row(called, _with_gaps(cells, asked), self._formula(name))

    def _hidden(self, name: str) -> Row:
        focus = self.named.focus
        strongest = int(self.trace[BLOCK + "mlp.post"][focus].argmax())
        cells = tuple(
            self._cell(BLOCK + name, (focus, unit), unit in (self._units[0], strongest))
            for unit in self._units
        )
        return Row("", cells, self._formula(name))

    def _word(self, place: int) -> Word:
        focus = self.named.focus
        seen_most = place == int(self.trace[BLOCK + "attn.pattern"][focus].argmax())
        pair, asked = (focus, place), seen_most or place == focus
        return Word(
            self.named.tokens[place],
            self._of_word("attn.k", place, seen_most),
            self._cell(BLOCK + "attn.scores", pair, asked),
            self._cell(BLOCK + "attn.pattern", pair, asked),
            self._of_word("attn.v", place, seen_most),
        )

    def _of_word(self, name: str, place: int, gap: bool) -> Cells:
        cells = self._row(BLOCK + name, place)
        return _with_gaps(cells, range(len(cells)) if gap else ())

    def _formula(self, name: str) -> str:
        return self.trace.entries[BLOCK + name].formula

    # ----------------------------------------------------------------------- cells

    def _called(self, names: Names) -> tuple[str, ...]:
        return tuple(name[self.language] for name in names)

    def _row(self, name: str, *place: int) -> Cells:
        width = _entry(self.trace, name).value.shape[-1]
        return tuple(self._cell(name, (*place, column)) for column in range(width))

    def _cell(self, name: str, index: tuple[int, ...], gap: bool = False) -> Cell:
        entry = _entry(self.trace, name)
        value = entry.value[index].item()
        # a weight that is exactly zero is one that can be passed over
        text = "0" if value == 0 and not entry.origins else number(value)
        return Cell(f"{name}[{', '.join(map(str, index))}]", text, gap)


def _entry(trace: Trace, name: str) -> Any:
    return (trace.weights if name.startswith(WEIGHTS) else trace.entries)[name]


def _with_gaps(cells: Cells, places: Iterable[int]) -> Cells:
    asked = set(places)
    return tuple(cell._replace(gap=place in asked) for place, cell in enumerate(cells))
