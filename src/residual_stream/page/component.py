"""The Panel components around the page: the browser draws, the state follows."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import param
from bokeh.document import Document
from bokeh.events import Event
from panel.custom import JSComponent
from panel.io.state import set_curdoc

from residual_stream.lesson.files import LANGUAGES
from residual_stream.page.bundle import script, styles
from residual_stream.page.publication import Publication
from residual_stream.page.state import LessonState
from residual_stream.table import lab

_PAGE = Path(__file__).parent

# what a page may ask: a function of the browser's payload that never raises
Answers = Mapping[str, Callable[[Any], dict[str, Any]]]


class StateLink(JSComponent):
    """Ties a `LessonState` to the page that is already in the browser.

    What the learner changes arrives in one message, coalesced by the browser. What
    Python sets is sent, and nothing else, so that it undoes no change of the learner's
    that is still under way. Neither is echoed.
    """

    _esm = (_PAGE / "connect.mjs").read_text(encoding="utf-8")

    def __init__(self, state: LessonState, answers: Answers, **params: Any) -> None:
        self.state = state
        self._answers = answers
        super().__init__(**params)
        self._heard: dict[str, Any] = {}  # what the browser has just said
        state.param.watch(self._tell, list(state.as_dict()))

    def _process_bokeh_event(self, doc: Document, event: Event) -> None:
        """As Panel does, but for its busy light: two thirds of a change's cost."""
        with set_curdoc(doc):
            self._process_event(event)

    def _handle_msg(self, message: Any) -> None:
        if not isinstance(message, dict):
            return
        if message.get("type") == "ask":
            self._answer(message)
            return
        if not isinstance(message.get("state"), dict):
            return
        self._heard = dict(message["state"])
        try:
            self.state.adopt(message["state"])
        finally:
            self._heard = {}

    def _tell(self, *events: param.parameterized.Event) -> None:
        now = self.state.as_dict()
        names = {event.name for event in events}
        # whoever watches the state may answer a learner's change with another
        news = {
            n: now[n] for n in names if n not in self._heard or now[n] != self._heard[n]
        }
        if "depth" in news:  # or the browser would move its step in its own way
            news["step"] = now["step"]
        if news:
            self._heard |= news
            self._send_msg({"type": "state", "state": news})

    def _answer(self, message: dict[str, Any]) -> None:
        kind, id_ = message.get("kind"), message.get("id")
        if isinstance(kind, str) and kind in self._answers and isinstance(id_, int):
            answer = self._answers[kind](message.get("payload"))
            # one text: Bokeh would look at each of its numbers, there and back
            text = json.dumps(answer, separators=(",", ":"), allow_nan=False)
            self._send_msg({"type": "answer", "id": id_, "answer": text})


class LessonView(StateLink):
    """The whole lesson in one component, for a notebook or any Panel layout."""

    _esm = script() + StateLink._esm

    lesson = param.Dict(doc="What `Publication.data` holds.")
    css = param.String(doc="The page's styles; a component has a root of its own.")
    start = param.Dict(doc="The state to start from.")

    def __init__(
        self, publication: Publication, state: LessonState, **params: Any
    ) -> None:
        params.setdefault("sizing_mode", "stretch_width")
        super().__init__(
            state,
            publication.answers,
            lesson=publication.data | {"extra": publication.extra},
            css=styles(),
            start=start_of(state),
            **params,
        )


def start_of(state: LessonState) -> dict[str, Any]:
    """A state as a page starts from it: the word by its place."""
    place = state.param.token.objects.index(state.token)
    return state.as_dict() | {"token": place}


def new_state(
    publication: Publication, language: str = "en", **values: Any
) -> LessonState:
    """A fresh state for a lesson.

    raises  ValueError for a value out of range.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language is {language!r}; it must be one of {LANGUAGES}")
    lesson = publication.lesson
    tokens = lesson.named.tokens
    return LessonState(
        tokens,
        tokens[lesson.named.focus],
        lesson.max_depth,
        experiments=publication.experiments,
        check_lab=partial(lab.read_text, lesson),
        language=language,
        **values,
    )
