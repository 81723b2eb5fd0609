"""The lesson as one HTML file that opens without a server and without a network."""

import json
from collections.abc import Mapping
from typing import Any

from residual_stream.page.html import inline_files, libraries, page_template
from residual_stream.page.policy import content_policy
from residual_stream.page.publication import Publication

# a nonce in a file is no secret: the file may run what it carries and fetch nothing
POLICY = content_policy(
    script="'unsafe-inline' blob:",
    style="'unsafe-inline'",
    img="data: blob:",
    font="data:",
)


def offline_page(
    publication: Publication, language: str = "", start: Mapping[str, Any] | None = None
) -> bytes:
    """The page with its data, styles and scripts inside.

    language:  what it starts in; "" asks the browser.
    start:     the state it starts from where its address says nothing.
    """
    scripts = [file.content.decode() for file in libraries()[:1]]
    page = page_template().render(
        language=language,
        nonce="",
        policy=POLICY,
        title=publication.lesson.title[language or "en"],
        files=None,
        start=json.dumps(start) if start else "",
        inline=inline_files(publication),
        libraries_inside=[text.replace("</script", "<\\/script") for text in scripts],
    )
    return page.encode()
