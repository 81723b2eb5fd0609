"""The part of a page's state that a class shares, checked value by value."""

from collections.abc import Mapping
from typing import Any

from residual_stream.page.component import new_state
from residual_stream.page.publication import Publication
from residual_stream.state import LessonState

SHARED = (
    *("view", "step", "depth", "residual", "token", "compare"),
    *("experiment", "lab"),
)
NOT_SHARED = "links"  # the teacher's own view


def adopted(
    publication: Publication,
    current: Mapping[str, Any] | None,
    message: Mapping[str, Any],
) -> dict[str, Any]:
    """A teacher's `message["state"]` over the current one.

    A value that is not allowed is left out; the others are taken.
    """
    wanted = message["state"]
    state: LessonState = new_state(publication)
    state.adopt({n: current[n] for n in SHARED if n in current} if current else {})
    news = {name: wanted[name] for name in SHARED if name in wanted}
    if news.get("view") == NOT_SHARED:
        del news["view"]
    state.adopt(news)
    shared = state.as_dict()
    return {name: shared[name] for name in SHARED}
