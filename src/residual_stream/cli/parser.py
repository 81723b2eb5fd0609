"""What the calls of the command line share: a parser of one-line errors, files."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from residual_stream import __version__
from residual_stream.lesson.files import LANGUAGES, LessonError
from residual_stream.lesson.folders import DEFAULT_LESSON
from residual_stream.lesson.writing import write_whole

DONE, FAILED, WRONG_CALL = 0, 1, 2

Call: TypeAlias = Callable[[argparse.Namespace], None]
Calls: TypeAlias = "argparse._SubParsersAction[Parser]"


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line: what, where, how to mend it."""

    def error(self, message: str) -> NoReturn:
        one_line = " ".join(message.split())
        self.exit(WRONG_CALL, f"{self.prog}: {one_line}; see {self.prog} --help\n")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        # before Python 3.13 the "--" of "--depth=--" is taken for no value at all
        if action.option_strings and arg_strings == ["--"]:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)


def add_call(calls: Calls, name: str, does: str, call: Call) -> Parser:
    """A call that takes a lesson."""
    parser = calls.add_parser(name, help=does, description=does, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "lesson",
        nargs="?",
        default=DEFAULT_LESSON,
        metavar="LESSON",
        help=f"a lesson's id or its folder; by default {DEFAULT_LESSON}",
    )
    parser.set_defaults(call=call, parser=parser)
    return parser


def add_language(parser: Parser) -> None:
    """The language that a page starts in."""
    parser.add_argument(
        "--lang",
        choices=LANGUAGES,
        help="what the page starts in; by default what the browser prefers",
    )


def whole_number(lowest: int, highest: int) -> Callable[[str], int]:
    """An argument type: a plain whole number in a range."""

    def parse(text: str) -> int:
        # isdecimal() lets other scripts' digits through, isascii() does not
        if text.isascii() and text.isdecimal() and len(text) <= 6:
            number = int(text)
            if lowest <= number <= highest:
                return number
        shown = text if len(text) <= 20 else text[:17] + "…"
        raise argparse.ArgumentTypeError(
            f"{shown!r} is not a whole number from {lowest} to {highest}"
        )

    return parse


def path_to(what: str) -> Callable[[str], Path]:
    """An argument type: the path of a file or folder, which has a name.

    what:  "file" or "folder".
    """

    def parse(text: str) -> Path:
        if not text:
            raise argparse.ArgumentTypeError(f"is empty; name a {what}")
        return Path(text)

    return parse


def write(path: Path, content: bytes) -> None:
    """Write a file whole.

    raises  LessonError, one line: the path and the system's reason.
    """
    with writing("-o", path, "file"):
        write_whole(path, content)


@contextmanager
def writing(option: str, path: Path, what: str) -> Iterator[None]:
    """Say in one line why what an option names can't be written.

    what:   "file" or "folder".
    raises  LessonError with the option, the path and the system's reason.
    """
    try:
        yield
    except LessonError:  # a ValueError that has its line already
        raise
    except OSError as error:
        raise LessonError(
            f"{option} {path}: {error.strerror}; name another {what}"
        ) from None
    except ValueError as error:  # a NUL in the name
        raise LessonError(f"{option}: {error}; name another {what}") from None
