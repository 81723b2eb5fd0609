"""The lesson page as a Panel application.

`panel serve` takes this file as it is; `residual-stream serve` calls `serve`.
"""

import json
import os
import secrets
from functools import cache
from typing import Any

from bokeh.document import Document
from bokeh.io import curdoc
from jinja2 import Environment, FileSystemLoader, Template

from residual_stream.page.component import StateLink, new_state
from residual_stream.page.policy import served_policy
from residual_stream.page.publication import Publication, publish
from residual_stream.places import DEFAULT_LESSON, lesson_folder, shipped

LESSON_VARIABLE = "RESIDUAL_STREAM_LESSON"

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


@cache
def default_publication() -> Publication:
    """The lesson that a plain `panel serve` shows, computed once a process."""
    return publish(lesson_folder(os.environ.get(LESSON_VARIABLE, DEFAULT_LESSON)))


def open_session(
    document: Document, publication: Publication, language: str = "", files: Any = None
) -> StateLink:
    """Fill a session's document: a state, its link and the page around it.

    language:  what the page starts in; "" asks the browser.
    files:     names and base of the files that a page links; None puts them inside.
    """
    nonce = secrets.token_urlsafe(16)
    variables: dict[str, Any] = {
        # before any component is made, or Panel's styles are linked from outside
        "dist_url": "static/extensions/panel/",
        "language": language,
        "nonce": nonce,
        "policy": served_policy(f"'self' 'nonce-{nonce}' blob:"),
        "files_at": files["at"] if files else "",
        "files": files,
        "libraries_at": files["libraries"] if files else SERVER_LIBRARIES,
    }
    if files is None:
        variables["inline"] = inline_files(publication)
    document.template_variables.update(variables)
    document.template = page_template()
    document.title = publication.lesson.title[language or "en"]
    quiet(document)
    link = StateLink(new_state(publication, language or "en"), publication.answers)
    # Panel reads the address too, and fails at an odd digit or a second "?"
    link.server_doc(document, location=False)
    return link


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


def quiet(document: Document) -> None:
    """Let the page speak of a lost server itself, and keep its state in the browser."""
    document.config.reconnect_session = False
    document.config.notify_connection_status = False


if __name__.startswith("bokeh_app"):
    open_session(curdoc(), default_publication())
