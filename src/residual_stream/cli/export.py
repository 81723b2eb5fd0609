"""The call `residual-stream export`: a file, a worksheet, or a static site."""

import argparse
from pathlib import Path

from residual_stream.cli.parser import (
    Calls,
    add_call,
    add_language,
    path_to,
    write,
    writing,
)
from residual_stream.lesson.files import LANGUAGES, LessonError
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder, lesson_ids
from residual_stream.lesson.lesson import load_lesson


def add_export(calls: Calls) -> None:
    """Add the call to the command line."""
    does = "Write a lesson as one offline file, or all as a static site."
    parser = add_call(calls, "export", does, export)
    parser.set_defaults(lesson=None)  # so that one which is named can be told
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "-o",
        "--output",
        type=path_to("file"),
        metavar="FILE",
        help="by default the lesson's id and .html",
    )
    where.add_argument(
        "--all",
        type=path_to("folder"),
        metavar="DIR",
        help="write all lessons and an index for a web host into a folder that is new, "
        "empty, or an earlier export. Opened from a disk its pages stay empty: that "
        "takes a web server, or the one file of -o",
    )
    parser.add_argument(
        "--handout",
        action="store_true",
        help="a worksheet to print instead; without --lang in both languages",
    )
    parser.add_argument(
        "--answers", action="store_true", help="with --handout: the gaps filled in"
    )
    add_language(parser)


def export(asked: argparse.Namespace) -> None:
    """Write what was asked for and say where it is."""
    if asked.answers and not asked.handout:
        raise LessonError("--answers: belongs to the worksheet; add --handout")
    if asked.handout and asked.all is not None:
        raise LessonError("--handout: is one file; name it with -o, leave out --all")
    if asked.handout:
        _export_handout(asked)
    elif asked.all is None:
        _export_file(asked)
    elif asked.lesson is None:
        _export_site(asked.all, asked.lang or "")
    else:
        raise LessonError("--all DIR: takes every lesson; leave out LESSON")


def _export_file(asked: argparse.Namespace) -> None:
    from residual_stream.page.publication import publish
    from residual_stream.publish.offline_file import offline_page

    lesson = DEFAULT_LESSON if asked.lesson is None else asked.lesson
    publication = publish(lesson_folder(lesson))
    path = asked.output or Path(f"{publication.lesson.id}.html")
    write(path, offline_page(publication, asked.lang or ""))
    print(f"wrote {path}")


def _export_handout(asked: argparse.Namespace) -> None:
    from residual_stream.publish.handout import handout

    name = DEFAULT_LESSON if asked.lesson is None else asked.lesson
    lesson = load_lesson(lesson_folder(name))
    languages = (asked.lang,) if asked.lang else LANGUAGES
    path = asked.output or Path(f"{lesson.id}-handout.html")
    write(path, handout(lesson, languages, asked.answers))
    print(f"wrote {path}")


def _export_site(folder: Path, language: str) -> None:
    from residual_stream.page.publication import publish
    from residual_stream.publish.static_site import expect_free, site_files, write_site

    with writing("--all", folder, "folder"):
        expect_free(folder)
    publications = [publish(lesson_folder(lesson)) for lesson in lesson_ids()]
    files = site_files(publications, language)
    with writing("--all", folder, "folder"):
        write_site(folder, files)
    lessons = f"{len(publications)} lesson{'s' if len(publications) > 1 else ''}"
    print(f"wrote {folder}: {lessons}, {len(files)} files; start at index.html")
