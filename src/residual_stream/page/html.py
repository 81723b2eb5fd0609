"""The page's HTML around the lesson, and the files that it links or holds."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import bokeh
import panel as pn
from jinja2 import Environment, FileSystemLoader, Template

from residual_stream.lesson.folders import shipped
from residual_stream.page.publication import File, Publication

FILES_AT = "lesson-files"

# the page has no widgets or tables of Bokeh's, but Panel's script does not load without
SERVER_LIBRARIES = (
    "static/js/bokeh.min.js",
    "static/js/bokeh-widgets.min.js",
    "static/js/bokeh-tables.min.js",
    "static/extensions/panel/panel.min.js",
)


@cache
def page_template(name: str = "page.html") -> Template:
    """The page's HTML, or another of the assets; everything in it escaped."""
    loader = FileSystemLoader(shipped("assets"))
    # Panel hands over its own scripts as markup; what is ours is escaped by hand
    return Environment(loader=loader, autoescape=False).get_template(name)  # noqa: S701


def inline_files(publication: Publication) -> dict[str, str]:
    """Data, script and styles as text that can stand inside HTML."""
    data = publication.data | {"extra": publication.extra}
    json_text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return {
        # in JSON "<" only occurs within texts, where an escape means the same
        "json": json_text.replace("<", "\\u003c"),
        "js": publication.file("view", "js")
        .content.decode()
        .replace("</script", "<\\/script"),
        "css": publication.file("lesson", "css")
        .content.decode()
        .replace("</style", "<\\/style"),
    }


def libraries() -> list[File]:
    """BokehJS and Panel's part of it, from the installed packages."""
    folders = {
        "static/js/": Path(bokeh.__file__).parent / "server/static/js",
        "static/extensions/panel/": Path(pn.__file__).parent / "dist",
    }
    return [
        File(path.name.split(".")[0], "js", "text/javascript", path.read_bytes())
        for library in SERVER_LIBRARIES
        for at, folder in folders.items()
        if library.startswith(at)
        for path in [folder / library.removeprefix(at)]
    ]


def links(publication: Publication, vendor: Sequence[File], at: str) -> dict[str, Any]:
    """What a page links, as its template takes it.

    at:  where the files are, seen from the page; ends with "/".
    """
    extra = {n: at + publication.file(n, "json").name for n in publication.extra}
    return {
        "json": publication.file("lesson", "json").name,
        "css": publication.file("lesson", "css").name,
        "view": publication.file("view", "js").name,
        "extra": json.dumps(extra),
        "libraries": [at + file.name for file in vendor],
        "at": at,
    }
