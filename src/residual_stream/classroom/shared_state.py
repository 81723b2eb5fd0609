"""The part of a page's state that a class shares, checked value by value."""

import re
from collections.abc import Container, Mapping
from typing import Any

from residual_stream.page.component import new_state
from residual_stream.page.publication import Publication
from residual_stream.state import LessonState

CHECKED = ("view", "step", "depth", "residual", "token", "compare")
LAB = re.compile(r"[A-Za-z0-9*._-]{0,600}")  # as the lab writes its address
NOT_SHARED = "links"  # the teacher's own view


def adopted(
    publication: Publication,
    experiments: Container[str],
    current: Mapping[str, Any] | None,
    message: Mapping[str, Any],
) -> dict[str, Any]:
    """A teacher's `message["state"]` over the current one.

    A value that is not allowed is left out; the others are taken.
    """
    wanted = message["state"]
    start = {"experiment": "", "lab": "", **(current or {})}
    state: LessonState = new_state(publication)
    state.adopt({name: start[name] for name in CHECKED if name in start})
    news = {name: wanted[name] for name in CHECKED if name in wanted}
    if news.get("view") == NOT_SHARED:
        del news["view"]
    state.adopt(news)
    shared = state.as_dict()
    experiment, lab = wanted.get("experiment"), wanted.get("lab")
    if experiment == "" or (isinstance(experiment, str) and experiment in experiments):
        start["experiment"] = experiment
    if isinstance(lab, str) and LAB.fullmatch(lab):
        start["lab"] = lab
    own = {name: shared[name] for name in CHECKED}
    return {**own, "experiment": start["experiment"], "lab": start["lab"]}
