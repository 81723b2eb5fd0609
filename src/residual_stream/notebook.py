"""The lesson in a notebook cell."""

from typing import Any

import panel as pn

from residual_stream.page.component import LessonView, new_state
from residual_stream.page.publication import publish
from residual_stream.places import DEFAULT_LESSON, lesson_folder


def show(
    lesson: str = DEFAULT_LESSON, language: str = "en", **state: Any
) -> LessonView:
    """The whole lesson as one Panel component; put it last in a notebook cell.

    Everything it needs travels in the notebook; nothing is fetched. Its `state` can be
    read and set from other cells: `view.state.residual = False`.

    lesson:    a lesson's id or the path of its folder.
    language:  "ja" or "en".
    state:     where to start, e.g. step=4, depth=6, residual=False, token="river".
    raises     LessonError for a wrong lesson, ValueError for a value out of range.
    """
    pn.extension(inline=True)
    publication = publish(lesson_folder(lesson))
    return LessonView(publication, new_state(publication, language, **state))
