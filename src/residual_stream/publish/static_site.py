"""All lessons as a folder of static files that any web host can serve."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from residual_stream.lesson.files import LessonError
from residual_stream.lesson.writing import write_whole
from residual_stream.page.html import FILES_AT, libraries, links, page_template
from residual_stream.page.policy import served_policy
from residual_stream.page.publication import File, Publication

INDEX = "index.html"
MARK = (
    '<meta name="generator" content="residual-stream">'  # how a site of ours is known
)


def site_files(
    publications: Sequence[Publication], language: str = ""
) -> dict[str, bytes]:
    """Every file of the site under its path within it, the index first.

    language:  what the pages start in; "" asks the browser.
    """
    lessons = sorted(publications, key=lambda publication: publication.lesson.order)
    vendor = libraries()[:1]
    files = {INDEX: _index(lessons, language)}
    for publication in lessons:
        page = _lesson_page(publication, vendor, language)
        files[f"{publication.lesson.id}/{INDEX}"] = page
        for file in (*publication.files.values(), *vendor):
            files[f"{FILES_AT}/{file.name}"] = file.content
    return files


def write_site(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a site over an earlier one, or into a new or empty folder.

    What an earlier site had and this one has not stays where it is.
    raises  LessonError for another folder, OSError if it can't be written.
    """
    expect_free(folder)
    folder.mkdir(exist_ok=True)
    # the index marks the folder as ours; a page comes after what it loads
    for name in sorted(files, key=lambda name: name.endswith(f"/{INDEX}")):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        write_whole(path, files[name])


def expect_free(folder: Path) -> None:
    """Nothing is written among files that are not ours.

    raises  LessonError for a folder with files and without an index.html of ours.
    """
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    index = folder / INDEX
    if not index.is_file() or MARK.encode() not in index.read_bytes():
        raise LessonError(
            f"{folder}: holds files and no {INDEX} of an earlier export; "
            "name an empty or a new folder"
        )


def _lesson_page(
    publication: Publication, vendor: Sequence[File], language: str
) -> bytes:
    files = links(publication, vendor, f"../{FILES_AT}/")
    page = page_template().render(
        language=language,
        home=f"../{INDEX}",
        policy=served_policy(),
        title=publication.lesson.title[language or "en"],
        files=files,
        files_at=files["at"],
        libraries_at=files["libraries"],
    )
    return page.encode()


def _index(lessons: Sequence[Publication], language: str) -> bytes:
    first = lessons[0]
    page = page_template(INDEX).render(
        language=language,
        policy=served_policy(),
        mark=MARK,
        heading=first.lesson.ui["site_lessons"],
        css=f"{FILES_AT}/{first.file('lesson', 'css').name}",
        lessons=[
            {"title": one.lesson.title, "at": f"{quote(one.lesson.id)}/{INDEX}"}
            for one in lessons
        ],
    )
    return page.encode()
