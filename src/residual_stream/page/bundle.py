"""The browser's modules and styles, each joined into one text.

The modules are plain ES modules in folders and import one another by name. They are
joined in the order of their imports, with the import lines and the word `export` taken
out, so that one text works as a script in a page, in a notebook and in an offline file.
Comments stay behind: they are a sixth of what a class would load.
"""

import re
from functools import cache
from pathlib import Path
from posixpath import normpath

from residual_stream.lesson.folders import shipped

_PAGE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}]*\} from "(\.[\w./]+)\.js";\n', re.MULTILINE)
# whole lines only; no text in a module goes over several lines
_COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:.|\n)*?\*/)\n", re.MULTILINE)
_STYLE_COMMENT = re.compile(r"/\*.*?\*/\n*", re.DOTALL)
_EXPORT = re.compile(r"^export (?=const |let |class |function |async )", re.MULTILINE)


@cache
def script() -> str:
    """All modules as one script that puts `ResidualStream` on the window."""
    ordered: list[str] = []
    _visit("main", ordered, ())
    body = "\n".join(_text(name) for name in ordered)
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'


def _visit(name: str, ordered: list[str], above: tuple[str, ...]) -> None:
    if name in above:
        raise ValueError(f"modules import one another in a circle: {(*above, name)}")
    if name in ordered:
        return
    for needed in _IMPORT.findall((_PAGE / f"{name}.js").read_text(encoding="utf-8")):
        _visit(normpath(f"{name}/../{needed}"), ordered, (*above, name))
    ordered.append(name)


def _text(name: str) -> str:
    source = (_PAGE / f"{name}.js").read_text(encoding="utf-8")
    return _EXPORT.sub("", _IMPORT.sub("", _COMMENT.sub("", source)))


@cache
def styles() -> str:
    """All stylesheets as one text, in the order of their names."""
    sheets = sorted((shipped("assets") / "styles").glob("*.css"))
    texts = (sheet.read_text(encoding="utf-8") for sheet in sheets)
    return "\n".join(_STYLE_COMMENT.sub("", text) for text in texts)
