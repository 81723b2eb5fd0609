"""The lab: the lesson's model with anything changed, computed while a reader waits.

`answer` takes what a browser sent and gives what the lab's views need, or one line
that says what is wrong. It never raises and its work has a bound.
"""

from dataclasses import asdict
from typing import Any

import numpy as np

from residual_stream.lesson.experiments.file import read_weights
from residual_stream.lesson.files import LessonError
from residual_stream.lesson.lab_settings import (
    LabError,
    LabSettings,
    default_settings,
    read_lab_text,
    read_settings,
)
from residual_stream.lesson.lesson import Lesson
from residual_stream.model.block import Example, Parts, run
from residual_stream.model.ledger import is_residual, ledger
from residual_stream.model.ops import Array
from residual_stream.model.trace import Trace
from residual_stream.model.wirings import Weights, run_layers, vary
from residual_stream.table.model import entry_row, word_row

TOO_LARGE = 1e6
CANCELLING = "weights-cancelling.toml"
X0, STATES = "blocks.0.resid_pre", ("resid_mid", "resid_post")


def answer(lesson: Lesson, payload: object) -> dict[str, Any]:
    """What the lab shows for a browser's settings, or {"error": one line}.

    With an error may come "key" and "values", the page's own text for it.
    """
    try:
        return compute(lesson, read_settings(lesson.named, payload))
    except LabError as error:
        return {"error": str(error), "key": error.key, "values": error.values}
    except LessonError as error:  # a weights file that a teacher has broken
        return {"error": str(error), "key": "", "values": {}}


def lab_data(lesson: Lesson) -> dict[str, Any]:
    """What a page needs before the first question: the default's answer."""
    default = compute(lesson, default_settings(lesson.named))
    return {"answer": default, "cancelling": "cancelling" in weights_of(lesson)}


def weights_of(lesson: Lesson) -> list[str]:
    """The weights that a lesson's lab has, by name."""
    there = (lesson.folder / CANCELLING).is_file()
    return ["lesson", "cancelling"] if there else ["lesson"]


def read_text(lesson: Lesson, text: object) -> LabSettings:
    """The settings that a text in the address stands for.

    raises  LabError, one line, for a text that the lesson's lab can't take.
    """
    settings = read_lab_text(lesson.named, text)
    if settings.weights not in weights_of(lesson):
        raise LabError(f"lab: this lesson has no {CANCELLING}; use weights*lesson")
    return settings


def start(lesson: Lesson, settings: LabSettings) -> Example:
    """The example that settings describe: their words, vectors, places and weights.

    A place beyond the lesson's last has the vector of the first again, and so on.
    """
    example = lesson.named.example
    places = [example.tokens.index(word) for word in settings.words]
    embed = example.embed[places]
    for row, vector in enumerate(settings.vectors):
        if vector is not None:
            embed[row] = vector
    n_places = len(example.pos_embed)
    pos_embed = example.pos_embed[np.arange(len(places)) % n_places]
    return Example(
        settings.words, example.axes, embed, pos_embed, _weights(lesson, settings)
    )


def _weights(lesson: Lesson, settings: LabSettings) -> Weights:
    weights = lesson.named.example.weights
    if settings.weights == "lesson":
        return weights
    return {**weights, **_cancelling(lesson)}


def _cancelling(lesson: Lesson) -> Weights:
    path = lesson.folder / CANCELLING
    if not path.is_file():
        raise LabError(f"weights: this lesson has no {CANCELLING}; use lesson")
    return read_weights(path, lesson.named)


def run_settings(lesson: Lesson, settings: LabSettings) -> Trace:
    """Run a lab's model; without `varied` exactly what `run` computes."""
    example = start(lesson, settings)
    parts = Parts(settings.norm, settings.attention, settings.ffn, settings.positions)
    with np.errstate(all="ignore"):  # what grows too large is refused by the caller
        if settings.varied is None:
            return run(example, settings.depth, settings.residual, parts)
        varied = settings.varied
        layers = vary(example, varied.seed, varied.amount, settings.depth)
        return run_layers(example, layers, settings.residual, parts)


def compute(lesson: Lesson, settings: LabSettings) -> dict[str, Any]:
    """Everything that the lab's views show of one model, as plain data.

    states:   [1 + depth][pos][d_model], the stream before the first block and after
              each; lengths: [1 + depth][pos].
    word:     the followed word's account, as `table.word_row` gives it, with `deltas`.
    looks:    [depth][pos], where the followed word looks in each block; None without
              attention.
    entries:  every value of the block that is looked into, and what x₀ is made of;
              weights: what the block uses.
    raises    LabError if the numbers grow too large to mean anything.
    """
    trace = run_settings(lesson, settings)
    states = _states(trace, settings.depth)
    at = f"blocks.{settings.block - 1}."
    inside = [
        entry
        for name, entry in trace.entries.items()
        if name.startswith(at) or "embed" in name or name == X0
    ]
    used = {o.name: o for entry in inside for o in entry.origins if o.is_weight}
    return {
        "settings": asdict(settings),
        "residual": is_residual(trace),
        "states": states.tolist(),
        "lengths": np.linalg.norm(states, axis=-1).tolist(),
        "word": _word(trace, settings.follow),
        "looks": _looks(trace, settings),
        "entries": [entry_row(entry) for entry in inside],
        "weights": {
            name: {"axes": list(weight.axes), "value": weight.value.tolist()}
            for name, weight in used.items()
        },
    }


def _states(trace: Trace, depth: int) -> Array:
    names = [f"blocks.{layer}.{n}" for layer in range(depth) for n in STATES]
    for name in names:
        # written so that NaN is refused too; while the stream is below the bound,
        # nothing that a block makes of it can overflow
        if not np.abs(trace[name]).max() <= TOO_LARGE:
            number = int(name.split(".")[1]) + 1
            raise LabError(
                f"depth: in block {number} a number of the stream passes "
                f"{TOO_LARGE:,.0f}; use fewer blocks, a norm or smaller vectors",
                "lab_error_large",
                block=number,
            )
    after = [X0, *names[1::2]]
    return np.array([trace[name] for name in after])


def _word(trace: Trace, token_no: int) -> dict[str, Any]:
    deltas = [c.delta.tolist() for c in ledger(trace, token_no).corrections]
    return word_row(trace, token_no) | {"deltas": deltas}


def _looks(trace: Trace, settings: LabSettings) -> list[list[float]] | None:
    if not settings.attention:
        return None
    names = (f"blocks.{layer}.attn.pattern" for layer in range(settings.depth))
    return [trace[name][settings.follow].tolist() for name in names]
