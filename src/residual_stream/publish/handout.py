"""The lesson as a worksheet: one HTML file to print, without any script."""

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from residual_stream.lesson.files import LANGUAGES
from residual_stream.lesson.folders import shipped
from residual_stream.lesson.lesson import Lesson, Texts, read_ui
from residual_stream.page.policy import content_policy
from residual_stream.publish import printed_map
from residual_stream.publish.printed_map import drawn_maps
from residual_stream.publish.worksheet import Worksheet
from residual_stream.table.questions import questions


def handout(
    lesson: Lesson, languages: Sequence[str] = LANGUAGES, answers: bool = False
) -> bytes:
    """The worksheet, two A4 pages in each language.

    languages:  in this order, one after another.
    answers:    fills the gaps in and marks the right options.
    raises      LessonError for an experiment that has stopped being true.
    """
    styles = _asset("handout.css")
    texts = lesson.ui | handout_texts()
    page = _template().render(
        policy=content_policy(style=f"'{_hash(styles)}'"),
        styles=Markup(styles),  # noqa: S704  our own file, nothing of a lesson's
        sheets=[(Worksheet(lesson, lang), _say(texts, lang)) for lang in languages],
        maps=drawn_maps(lesson),
        questions=questions(lesson),
        drawn=printed_map,
        answers=answers,
    )
    return page.encode()


def handout_texts() -> Texts:
    """The worksheet's own texts by key and language."""
    return read_ui(shipped("lessons") / "handout.toml")


def _say(texts: Texts, language: str) -> Callable[..., str]:
    def say(key: str, **names: object) -> str:
        return texts[key][language].format(**names)

    return say


@cache
def _template() -> Template:
    """The sheet's HTML; everything that is put into it is escaped."""
    environment = Environment(
        loader=FileSystemLoader(shipped("assets")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["subscripts"] = subscripts
    return environment.get_template("handout.html")


def subscripts(text: str) -> Markup:
    """A text as markup in which W_Q has its Q below the line."""
    lowered = re.sub(r"(?<=[A-Za-z])_([A-Za-z]+)", r"<sub>\1</sub>", str(escape(text)))
    return Markup(lowered)  # noqa: S704  escaped above


def _asset(name: str) -> str:
    return (shipped("assets") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
