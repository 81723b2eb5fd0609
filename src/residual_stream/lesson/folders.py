"""Where lessons and assets stand: beside `src` in a checkout, inside a wheel."""

import os
from pathlib import Path

from residual_stream.lesson.files import LessonError

_PACKAGE = Path(__file__).parent.parent
_CHECKOUT = _PACKAGE.parent.parent

DEFAULT_LESSON = "transformer-block"


def shipped(name: str) -> Path:
    """The folder `lessons` or `assets`."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _CHECKOUT / name


def lesson_folder(lesson: str | os.PathLike[str]) -> Path:
    """The folder of a lesson that is named by its id or by a path.

    raises  LessonError if there is no such folder, with the ids that exist.
    """
    if lesson in lesson_ids():
        return shipped("lessons") / lesson
    try:
        if lesson and Path(lesson).is_dir():
            return Path(lesson)
    except (OSError, TypeError, ValueError):  # no name, one too long, a NUL in it
        pass
    shown = lesson if isinstance(lesson, str) else " ".join(repr(lesson).split())
    shown = shown if len(shown) <= 60 else shown[:57] + "…"
    raise LessonError(
        f"{shown!r}: no lesson of that id and no such folder; "
        f"lessons here: {', '.join(lesson_ids())}"
    )


def lesson_id(folder: Path) -> str:
    """A lesson's id: its folder's name; a byte that is no text becomes �."""
    return os.fsencode(folder.resolve().name).decode("utf-8", "replace")


def lesson_ids() -> tuple[str, ...]:
    """The ids of the lessons that are shipped, in alphabetical order."""
    return tuple(
        sorted(path.parent.name for path in shipped("lessons").glob("*/lesson.toml"))
    )
