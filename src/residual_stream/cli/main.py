"""The command line: `residual-stream serve | trace | check | export`."""

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence
from types import MappingProxyType

from residual_stream import __version__
from residual_stream.cli.export import add_export
from residual_stream.cli.parser import (
    DONE,
    FAILED,
    WRONG_CALL,
    Calls,
    Parser,
    add_call,
    path_to,
    whole_number,
    write,
)
from residual_stream.cli.serve import add_serve
from residual_stream.cli.trace_formats import Report, as_json, as_npz, as_table
from residual_stream.lesson.example import read_example, token_no
from residual_stream.lesson.experiments.experiment import check_experiments
from residual_stream.lesson.files import LANGUAGES, LessonError
from residual_stream.lesson.folders import lesson_folder, lesson_id
from residual_stream.lesson.lesson import load_lesson
from residual_stream.lesson.typed_numbers import check_typed
from residual_stream.model.block import MAX_DEPTH, run
from residual_stream.table.texts import check_texts

MAX_DECIMALS = 15
FORMATS = MappingProxyType({"table": as_table, "json": as_json, "npz": as_npz})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status (0, 1 or 2)."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # a name with letters that the terminal lacks is spelt out, as on stderr
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            asked = _asked(arguments)
            asked.call(asked)
        finally:  # here, where a pipe that nobody reads can still be noticed
            if sys.stdout is not None:
                sys.stdout.flush()
    except LessonError as error:
        _complain(str(error))
        return WRONG_CALL
    except KeyboardInterrupt:
        return FAILED
    except BrokenPipeError:  # `residual-stream trace | head`
        _write_no_more()
        return FAILED
    except OSError as error:  # a full disk, a file that may not be read
        where = f"{error.filename}: " if error.filename else ""
        _complain(f"{where}{error.strerror or error}")
        _write_no_more()
        return FAILED
    return DONE


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for; a wrong call ends in the line of the call that is meant."""
    parser = _parser()
    asked, unknown = parser.parse_known_args(arguments)
    named = getattr(asked, "parser", parser)
    if unknown:
        named.error(f"unrecognized arguments: {' '.join(unknown)}")
    if named is parser:
        parser.error("the following arguments are required: CALL")
    return asked


def _complain(line: str) -> None:
    if sys.stderr is not None:  # print() would take stdout for it
        print(f"residual-stream: {line}", file=sys.stderr)


def _write_no_more() -> None:
    # or Python tries once more to write what is left when it ends
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def trace(asked: argparse.Namespace) -> None:
    """Compute a lesson's example and print or write every stage."""
    if asked.output is None and sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed; name a file with -o")
    if asked.format == "npz" and asked.output is None and sys.stdout.isatty():
        raise LessonError("--format npz: writes binary; name a file with -o FILE")
    folder = lesson_folder(asked.lesson)
    named = read_example(folder / "example.toml")
    token = named.focus if asked.token is None else token_no(named.tokens, asked.token)
    computed = run(named.example, asked.depth, asked.residual == "on")
    report = Report(lesson_id(folder), named, computed, token)
    content = FORMATS[asked.format](report, asked.decimals)
    if asked.output is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    write(asked.output, content)


def check(asked: argparse.Namespace) -> None:
    """Check a lesson's folder and say what was found right."""
    lesson = load_lesson(lesson_folder(asked.lesson))
    texts = check_texts(lesson)
    claims = check_experiments(lesson)
    check_typed(lesson)
    named = lesson.named
    print(
        f"{lesson.id}: right. {len(named.tokens)} words, {len(named.axes)} axes, "
        f"{len(named.hidden)} hidden units; {len(lesson.prose['en'])} sections in "
        f"{' and '.join(LANGUAGES)}, {texts} texts filled from the trace; "
        f"{claims} claims of experiments hold"
    )


def _parser() -> Parser:
    parser = Parser(
        prog="residual-stream",
        description="How a pre-norm Transformer block updates the residual stream.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    calls = parser.add_subparsers(title="calls", metavar="CALL")
    add_serve(calls)
    _add_trace(calls)
    _add_check(calls)
    add_export(calls)
    return parser


def _add_trace(calls: Calls) -> None:
    parser = add_call(calls, "trace", "Compute and print every stage.", trace)
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
        "--token",
        metavar="T",
        help="the word to follow, the first if it stands there twice; by default the "
        "lesson's",
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
        "-o", "--output", type=path_to("file"), metavar="FILE", help="write to a file"
    )


def _add_check(calls: Calls) -> None:
    add_call(calls, "check", "Check a lesson's folder.", check)


if __name__ == "__main__":
    sys.exit(main())
