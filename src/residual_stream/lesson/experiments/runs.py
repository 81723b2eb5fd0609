"""The runs of an experiment: what a file asks for, computed once, read by paths."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from residual_stream.lesson.example import NamedExample
from residual_stream.lesson.expressions import ExpressionError, Part, Value
from residual_stream.model import jacobian
from residual_stream.model.block import Example, Norm, Parts, run
from residual_stream.model.ledger import depth_of
from residual_stream.model.ops import Array
from residual_stream.model.trace import Trace
from residual_stream.model.wirings import run_layers, vary

OF = ("block", "corrections", "stream")


def stretch(
    trace: Trace, streams: Array, of: str, k: int, token_no: int | None = None
) -> Array:
    """Singular values, largest first.

    streams:   what `stream_jacobians` made of the trace.
    of:        "block" or "corrections" of block k from 0, "stream" for x[k] by x[0].
    token_no:  only this word's own part; None for the whole matrix.
    raises     ExpressionError for another name or a block that is not there.
    """
    last = len(streams) - (1 if of == "stream" else 2)
    if of not in OF or k > last:
        raise ExpressionError(
            f"found stretch.{of}[{k}], needs {', '.join(OF)} and a number up to {last}"
        )
    if of == "stream":
        return jacobian.singular_values(streams[k], token_no)
    make = {
        "block": jacobian.block_jacobian,
        "corrections": jacobian.corrections_jacobian,
    }
    return jacobian.singular_values(make[of](trace, k), token_no)


def stream_jacobians(trace: Trace) -> Array:
    """The derivatives of x[0], x[1], … by x[0]; the first is the identity.

    returns  [1 + depth, pos, d_model, pos, d_model]
    """
    start = trace["blocks.0.resid_pre"]
    identity = np.eye(start.size).reshape(1, *start.shape * 2)
    return np.concatenate([identity, jacobian.stream_jacobians(trace)])


BY_WORD = ("pos", "query_pos")


@dataclass(frozen=True)
class RunPlan:
    """What is asked for; the defaults are the lesson's own model.

    seed:     draws weights of its own for each block, by up to `amount`; None shares.
    order:    the words in another order; None leaves them.
    vectors:  word vectors to put in place of the lesson's, by word.
    weights:  by name, in place of the lesson's.
    """

    depth: int = 3
    residual: bool = True
    norm: Norm = "rms"
    attention: bool = True
    ffn: bool = True
    positions: bool = True
    seed: int | None = None
    amount: float = 0.1
    order: tuple[str, ...] | None = None
    vectors: Mapping[str, Array] | None = None
    weights: Mapping[str, Array] | None = None

    def start(self, named: NamedExample) -> NamedExample:
        """The lesson's example with this plan's words, vectors and weights."""
        example = named.example
        words = self.order or example.tokens
        own = dict(zip(example.tokens, example.embed, strict=True))
        rows = own | dict(self.vectors or {})
        changed = Example(
            words,
            example.axes,
            np.array([rows[word] for word in words]),
            example.pos_embed,
            {**example.weights, **(self.weights or {})},
        )
        focus = words.index(named.tokens[named.focus])
        return replace(named, example=changed, focus=focus)

    def computed(self, named: NamedExample) -> "ExperimentRun":
        """The run itself."""
        start = self.start(named)
        if self.seed is not None:
            layers = vary(start.example, self.seed, self.amount, self.depth)
            return ExperimentRun(
                start, run_layers(start.example, layers, self.residual)
            )
        parts = Parts(self.norm, self.attention, self.ffn, self.positions)
        return ExperimentRun(
            start, run(start.example, self.depth, self.residual, parts)
        )


@dataclass(frozen=True)
class ExperimentRun:
    """One run, and the values that an expression may name in it.

    x[k].WORD.AXIS            the state after k blocks; x[0] is the input
    blocks[k].NAME.WORD.AXIS  any value of the trace, its blocks counted from 0
    stretch.block[k].WORD     the singular values of a block's derivative, .corrections
                              of its corrections', .stream of x[k] by x[0], largest
                              first; without a word those of the whole matrix,
                              with a number behind it one of them
    Without its last name a path is the word's whole row.
    """

    named: NamedExample
    trace: Trace

    @cached_property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """The names along each axis that has some."""
        names = {"d_model": self.named.axes, "d_head": self.named.head}
        names["d_mlp"] = self.named.hidden
        labels = {axis: tuple(n["id"] for n in names[axis]) for axis in names}
        return labels | {"key_pos": self.named.tokens}

    @cached_property
    def _streams(self) -> Array:
        return stream_jacobians(self.trace)

    def look_up(self, path: tuple[Part, ...]) -> Value:
        """The number or the row that a path names.

        raises  ExpressionError with what is known in its place.
        """
        if path[:1] == ("stretch",):
            return self._stretch(path)
        for end in range(len(path), 0, -1):
            name = self._name(path[:end])
            if name in self.trace:
                return self._within(name, path[end:])
        raise ExpressionError(
            f"found {said(path)!r}, needs x[k] or a value of the trace, whose blocks "
            f"go from 0 to {depth_of(self.trace) - 1}"
        )

    def _name(self, path: tuple[Part, ...]) -> str:
        if path[0] == "x" and len(path) == 2 and isinstance(path[1], int):
            last = path[1] - 1
            return f"blocks.{last}.resid_post" if last >= 0 else "blocks.0.resid_pre"
        return ".".join(map(str, path))

    def _within(self, name: str, rest: tuple[Part, ...]) -> Value:
        entry = self.trace.entries[name]
        word, *label = rest or ("",)
        if entry.axes[0] not in BY_WORD or len(label) > len(entry.axes) - 1:
            raise ExpressionError(f"found {said(rest)!r} after {name}, needs a word")
        row = entry.value[self._word(word)]
        if not label:
            return float(row) if row.ndim == 0 else row
        labels = self.labels.get(entry.axes[-1], ())
        if label[0] not in labels:
            raise ExpressionError(
                f"found {label[0]!r} after {name}, needs one of {', '.join(labels)}"
            )
        return float(row[labels.index(str(label[0]))])

    def _word(self, word: Part) -> int:
        if word not in self.named.tokens:
            raise ExpressionError(
                f"found {word!r}, needs a word of {', '.join(self.named.tokens)}"
            )
        return self.named.tokens.index(str(word))

    def _stretch(self, path: tuple[Part, ...]) -> Value:
        _, of, block, *rest = (*path, "", "")[: max(3, len(path))]
        place = int(rest.pop()) if rest and isinstance(rest[-1], int) else None
        if len(rest) > 1 or not isinstance(block, int):
            raise ExpressionError(f"found {said(path)!r}, needs stretch.block[k].WORD")
        token_no = self._word(rest[0]) if rest else None
        values = stretch(self.trace, self._streams, str(of), block, token_no)
        if place is None:
            return values
        if place >= len(values):
            raise ExpressionError(f"found {said(path)!r}, needs at most {len(values)}")
        return float(values[place])


def said(path: tuple[Part, ...]) -> str:
    """A path as it is written."""
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return text.removeprefix(".")


@dataclass(frozen=True)
class Runs:
    """All runs of one experiment by their names."""

    by_name: Mapping[str, ExperimentRun]

    def look_up(self, path: tuple[Part, ...]) -> Value:
        """What a path names whose first part is a run.

        raises  ExpressionError with what is known in its place.
        """
        first = self.by_name.get(str(path[0]))
        if first is None:
            raise ExpressionError(
                f"found {path[0]!r}, needs a run: {', '.join(self.by_name)}"
            )
        return first.look_up(path[1:])
