"""What stands in the prose's `{{…}}`: words and numbers looked up in the trace."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from residual_stream.lesson.example import NamedExample
from residual_stream.model.arithmetic import number, percent
from residual_stream.model.ledger import depth_of
from residual_stream.model.ops import Array
from residual_stream.model.trace import Trace

_FORM = re.compile(
    r"(?:(?P<take>top|top_value|length|moved) )?"
    r"(?P<path>[A-Za-z0-9_.-]+?)"
    r"(?: \| (?P<format>%|[0-9]))?"
)
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class FillError(ValueError):
    """A placeholder that names nothing: what it says and why it fails."""


@dataclass(frozen=True)
class Place:
    """Where a text is read: which run, which word, which block.

    traces:   the runs by "on" and "off", each as deep as the text's depth.
    setting:  the one that a path without its own "on." or "off." means.
    layer:    the block that relative names belong to, from 0.
    """

    named: NamedExample
    traces: dict[str, Trace]
    setting: str
    token: int
    layer: int

    def fill(self, placeholder: str) -> str:
        """The text for one placeholder.

        raises  FillError if it does not say anything that is known here.
        """
        depth = depth_of(self.traces[self.setting])
        words = {
            "token": self.named.tokens[self.token],
            "block": str(self.layer + 1),
            "depth": str(depth),
            "x_n": "x" + str(depth).translate(SUBSCRIPTS),
        }
        if placeholder in words:
            return words[placeholder]
        match = _FORM.fullmatch(placeholder)
        if match is None:
            raise FillError(f"{{{{{placeholder}}}}} is not of a known form")
        form = match["format"] or "1"
        if match["take"] is None:
            return _formatted(self._cell(match["path"]), form)
        values, labels = self._row(match["path"])
        self._refuse_without_sense(match["take"], match["path"])
        if match["take"] == "top":
            return labels[int(values.argmax())]
        if match["take"] == "top_value":
            return _formatted(float(values.max()), form)
        if match["take"] == "moved":
            values = values - self._row("blocks.0.resid_pre")[0]
        return _formatted(float(np.linalg.norm(values)), form)

    def _refuse_without_sense(self, take: str, path: str) -> None:
        values, labels = self._row(path)
        if take.startswith("top") and len(labels) != len(values):
            raise FillError(f"{path} is one number, so it has no top")
        if take == "moved" and labels != self._labels("d_model"):
            raise FillError(f"{path} is no state of the stream, so it has not moved")

    def _row(self, path: str) -> tuple[Array, Sequence[str]]:
        setting, dot, rest = path.partition(".")
        trace = self.traces[setting if dot and setting in self.traces else self.setting]
        name = rest if dot and setting in self.traces else path
        if name == "last":
            name = f"blocks.{depth_of(trace) - 1}.resid_post"
        for candidate in (name, f"blocks.{self.layer}.{name}"):
            if candidate in trace:
                entry = trace.entries[candidate]
                row = np.atleast_1d(entry.value[self.token])
                return row, self._labels(entry.axes[-1])
        raise FillError(f"{path!r} is no value of the trace")

    def _labels(self, axis: str) -> tuple[str, ...]:
        names = {
            "d_model": self.named.axes,
            "d_head": self.named.head,
            "d_mlp": self.named.hidden,
        }
        if axis in names:
            return tuple(name["id"] for name in names[axis])
        return self.named.tokens

    def _cell(self, path: str) -> float:
        if path.endswith(".scale"):
            return float(self._row(path)[0][0])
        row, _, label = path.rpartition(".")
        if not row:
            raise FillError(f"{path!r} needs a value and a label: NAME.LABEL")
        values, labels = self._row(row)
        if label not in labels or len(labels) != len(values):
            raise FillError(f"{label!r} is no label of {row}: {', '.join(labels)}")
        return float(values[labels.index(label)])


def _formatted(value: float, form: str) -> str:
    return percent(value) if form == "%" else number(value, int(form))
