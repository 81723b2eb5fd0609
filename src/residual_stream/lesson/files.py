"""Reading a lesson's TOML files, with errors that name file, key, find and need."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from residual_stream.model.ops import Array

LANGUAGES = ("ja", "en")
MAX_NUMBER = 1e6  # far above any use, and no depth makes an infinity of it


class LessonError(ValueError):
    """A lesson's file is wrong: one line that says where, what and the cure."""

    def __init__(self, line: str) -> None:
        # names out of a file may hold line breaks and control characters
        super().__init__("".join(c if c.isprintable() else " " for c in line))


def read_text(path: Path) -> str:
    """A lesson's file as text; a byte order mark in front is left out.

    raises  LessonError, one line: file, what is wrong, the cure.
    """
    try:
        if path.is_fifo():  # nobody may ever write into it
            raise LessonError(f"{path}: is a pipe; a lesson needs a file")
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise LessonError(f"{path}: no such file; a lesson needs it") from None
    except IsADirectoryError:
        raise LessonError(f"{path}: is a folder; a lesson needs a file") from None
    except OSError as error:
        raise LessonError(f"{path}: {error.strerror}; make it readable") from None
    except UnicodeDecodeError as error:
        raise LessonError(
            f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8"
        ) from None


class LessonFile:
    """One TOML file of a lesson, read key by key.

    Keys are written with dots ("weights.W_Q", "terms.0.id"); "" is the whole.
    Every reader raises LessonError with the file, the key, what it found and what it
    needs.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._data: dict[str, Any] = tomllib.loads(read_text(path))
        except LessonError:  # a ValueError that has its line already
            raise
        except (ValueError, RecursionError) as error:  # endless digits or brackets, too
            raise LessonError(f"{path}: not TOML: {error}") from None

    def wrong(self, key: str, found: object, needed: str) -> LessonError:
        """The error for a key: what stands there and what it needs."""
        try:
            shown = repr(found)
        except ValueError:  # an integer of more digits than Python prints
            shown = "a number without end"
        if len(shown) > 60:
            shown = shown[:57] + "…"
        return LessonError(f"{self.path}: {key}: found {shown}, needs {needed}")

    def value(self, key: str, needed: str) -> Any:
        """What stands under a key, of any kind."""
        place: Any = self._data
        rest = key
        while rest:
            if isinstance(place, Mapping) and rest in place:
                return place[rest]  # a name may have a dot in it
            part, _, rest = rest.partition(".")
            if isinstance(place, list) and part.isdecimal() and int(part) < len(place):
                place = place[int(part)]
            elif isinstance(place, Mapping) and part in place:
                place = place[part]
            else:
                raise LessonError(f"{self.path}: {key}: missing, needs {needed}")
        return place

    def keys(self, key: str) -> tuple[str, ...]:
        """The names in a table."""
        needed = "a table"
        table = self.value(key, needed)
        if not isinstance(table, dict):
            raise self.wrong(key, table, needed)
        return tuple(table)

    def expect_only(self, key: str, known: Sequence[str]) -> None:
        """Refuse names in a table that nothing reads: most are misspelt."""
        for name in self.keys(key):
            if name not in known:
                where = f"{key}.{name}" if key else name
                raise LessonError(
                    f"{self.path}: {where}: not a name that is read here; "
                    f"known are {', '.join(known)}"
                )

    def text(self, key: str, *, empty: bool = False) -> str:
        """A text; an empty one only where that means something."""
        needed = "a text, or an empty one" if empty else "a text"
        text = self.value(key, needed)
        if not isinstance(text, str) or not (empty or text.strip()):
            raise self.wrong(key, text, needed)
        return text

    def whole(self, key: str, lowest: int, highest: int) -> int:
        """A whole number in a range."""
        needed = f"a whole number from {lowest} to {highest}"
        number = self.value(key, needed)
        if (
            not isinstance(number, int)
            or isinstance(number, bool)
            or not lowest <= number <= highest
        ):
            raise self.wrong(key, number, needed)
        return number

    def tables(self, key: str) -> list[dict[str, Any]]:
        """A list of tables; `key.0` is the first."""
        needed = "a list of tables"
        tables = self.value(key, needed)
        if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
            raise self.wrong(key, tables, needed)
        return tables

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of at least one text, none of them empty."""
        needed = "a list of texts"
        texts = self.value(key, needed)
        if (
            not isinstance(texts, list)
            or not texts
            or not all(isinstance(text, str) and text.strip() for text in texts)
        ):
            raise self.wrong(key, texts, needed)
        return tuple(texts)

    def words(self, key: str) -> dict[str, str]:
        """One text in every language of the lesson."""
        self.expect_only(key, LANGUAGES)
        return {language: self.text(f"{key}.{language}") for language in LANGUAGES}

    def numbers(self, key: str, shape: tuple[int, ...]) -> Array:
        """Numbers of at most `MAX_NUMBER` in an exact shape."""
        needed = f"finite numbers in the shape {list(shape)}"
        found = self.value(key, needed)
        if not _only_numbers(found):
            raise self.wrong(key, found, needed)
        try:
            numbers = np.array(found, dtype=np.float64)
        except (ValueError, OverflowError):  # rows of different lengths, huge integers
            raise self.wrong(key, found, needed) from None
        if numbers.shape != shape:
            raise self.wrong(key, list(numbers.shape), f"the shape {list(shape)}")
        if not np.isfinite(numbers).all():
            raise self.wrong(key, found, needed)
        largest = float(np.abs(numbers).max(initial=0))
        if largest > MAX_NUMBER:
            raise self.wrong(key, largest, f"numbers up to {MAX_NUMBER:.0f}")
        return numbers


def _only_numbers(found: object) -> bool:
    if isinstance(found, list):
        return all(_only_numbers(item) for item in found)
    return isinstance(found, int | float) and not isinstance(found, bool)
