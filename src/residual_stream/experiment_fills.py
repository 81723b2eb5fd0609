"""What stands in the `{{…}}` of an experiment's prose: numbers of its own runs."""

import re

import numpy as np

from residual_stream.experiment_runs import Runs
from residual_stream.explain import number
from residual_stream.expression import evaluate
from residual_stream.expression_functions import ExpressionError
from residual_stream.fills import FillError, Place

_EXPRESSION = re.compile(r"(?P<text>.*?[(\[].*?)(?: \| (?P<format>%|[0-9]))?")
_PATH = re.compile(r"(?:(?:top|top_value|length|moved) )?(?P<run>[a-z][a-z0-9_]*)\..+")


def fill(placeholder: str, runs: Runs) -> str:
    """The text for one placeholder, in one of two forms.

    An expression, `{{off.x[6].bank.identity | 2}}`, `{{length(off.x[6].bank)}}`; or the
    lesson's own form with a run's name, `{{off.blocks.5.resid_post.identity}}`, about
    the word that the lesson follows.

    raises  FillError if it does not say anything that is known here.
    """
    expression = _EXPRESSION.fullmatch(placeholder)
    if expression is not None:
        return _worked_out(expression["text"], expression["format"] or "1", runs)
    match = _PATH.fullmatch(placeholder)
    run = runs.by_name.get(match["run"]) if match else None
    if match is None or run is None:
        raise FillError(
            f"{{{{{placeholder}}}}} names no run; there are {', '.join(runs.by_name)}"
        )
    named, traces = run.named, {match["run"]: run.trace}
    return Place(named, traces, match["run"], named.focus, 0).fill(placeholder)


def _worked_out(text: str, form: str, runs: Runs) -> str:
    try:
        value = evaluate(text, runs.look_up)
    except ExpressionError as error:
        raise FillError(f"{{{{{text}}}}}: {error}") from None
    if isinstance(value, bool | np.ndarray):
        raise FillError(f"{{{{{text}}}}} is no number")
    return f"{number(100 * value, 0)} %" if form == "%" else number(value, int(form))
