"""The command line: `residual-stream serve | trace | check | export`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias

from residual_stream import __version__
from residual_stream.block import MAX_DEPTH, run
from residual_stream.example import read_example, token_no
from residual_stream.lesson_file import LessonError
from residual_stream.places import DEFAULT_LESSON, lesson_folder
from residual_stream.report import FORMATS, Report

DONE, FAILED, WRONG_CALL = 0, 1, 2
MAX_DECIMALS = 15

Call: TypeAlias = Callable[[argparse.Namespace], None]
Calls: TypeAlias = "argparse._SubParsersAction[Parser]"


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line: what, where, how to mend it."""

    def error(self, message: str) -> NoReturn:
        one_line = " ".join(message.split())
        self.exit(WRONG_CALL, f"{self.prog}: {one_line}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status (0, 1 or 2)."""
    asked = _parser().parse_args(arguments)
    try:
        asked.call(asked)
    except LessonError as error:
        print(f"residual-stream: {error}", file=sys.stderr)
        return WRONG_CALL
    except BrokenPipeError:  # `residual-stream trace | head`
        sys.stderr.close()
        return FAILED
    return DONE


def trace(asked: argparse.Namespace) -> None:
    """Compute a lesson's example and print or write every stage."""
    if asked.format == "npz" and asked.output is None and sys.stdout.isatty():
        raise LessonError("--format npz: writes binary; name a file with -o FILE")
    folder = lesson_folder(asked.lesson)
    named = read_example(folder / "example.toml")
    token = named.focus if asked.token is None else token_no(named.tokens, asked.token)
    computed = run(named.example, asked.depth, asked.residual == "on")
    report = Report(folder.resolve().name, named, computed, token)
    content = FORMATS[asked.format](report, asked.decimals)
    if asked.output is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    write(asked.output, content)


def check(asked: argparse.Namespace) -> None:
    """Check a lesson's folder and say what was found right."""
    folder = lesson_folder(asked.lesson)
    named = read_example(folder / "example.toml")
    print(
        f"{folder.resolve().name}: example.toml right: {len(named.tokens)} words, "
        f"{len(named.axes)} axes, {len(named.hidden)} hidden units"
    )


def write(path: Path, content: bytes) -> None:
    """Write a file whole, or say in one line why it can't be.

    raises  LessonError with the path and the system's reason.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise LessonError(f"-o {path}: {error.strerror}; name another file") from None
    except ValueError as error:  # a NUL in the name
        raise LessonError(f"-o: {error}; name another file") from None


def _parser() -> Parser:
    parser = Parser(
        prog="residual-stream",
        description="How a pre-norm Transformer block updates the residual stream.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    calls = parser.add_subparsers(title="calls", required=True, metavar="CALL")
    _add_trace(calls)
    _add_check(calls)
    return parser


def _add_call(calls: Calls, name: str, does: str, call: Call) -> Parser:
    parser = calls.add_parser(name, help=does, description=does, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "lesson",
        nargs="?",
        default=DEFAULT_LESSON,
        metavar="LESSON",
        help="a lesson's id or its folder; by default %(default)s",
    )
    parser.set_defaults(call=call)
    return parser


def _add_trace(calls: Calls) -> None:
    parser = _add_call(calls, "trace", "Compute and print every stage.", trace)
    parser.add_argument(
        "--depth",
        type=whole_number(1, MAX_DEPTH),
        default=3,
        metavar="N",
        help=f"blocks, 1 to {MAX_DEPTH}; by default %(default)s",
    )
    parser.add_argument(
        "--residual",
        choices=("on", "off"),
        default="on",
        help="off puts x = delta in place of x = x + delta",
    )
    parser.add_argument(
        "--token", metavar="T", help="the word to follow; by default the lesson's"
    )
    parser.add_argument("--format", choices=tuple(FORMATS), default="table")
    parser.add_argument(
        "--decimals",
        type=whole_number(0, MAX_DECIMALS),
        default=1,
        metavar="N",
        help="decimals in the table; by default %(default)s",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to a file"
    )


def _add_check(calls: Calls) -> None:
    _add_call(calls, "check", "Check a lesson's folder.", check)


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


if __name__ == "__main__":
    sys.exit(main())
