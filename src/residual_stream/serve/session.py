"""One visitor's session: the document around the page and its state."""

import os
import secrets
from functools import cache
from typing import Any

from bokeh.document import Document

from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.page.component import StateLink, new_state
from residual_stream.page.html import SERVER_LIBRARIES, inline_files, page_template
from residual_stream.page.policy import served_policy
from residual_stream.page.publication import Publication, publish

LESSON_VARIABLE = "RESIDUAL_STREAM_LESSON"


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


def quiet(document: Document) -> None:
    """Let the page speak of a lost server itself, and keep its state in the browser."""
    document.config.reconnect_session = False
    document.config.notify_connection_status = False
