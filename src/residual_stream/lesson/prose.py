"""A lesson's prose: Markdown sections, parsed into trees of allowed tags.

A section starts with `## KIND ID [CONDITIONS]: TITLE`. Numbers are never typed: a
text says `{{…}}`, and a slot in the tree takes what the trace says (see `fills`).
Nothing here makes HTML; a page builds elements from the trees.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from residual_stream.lesson.files import LessonError, read_text

Node = str | list[Any]

KINDS = ("lesson", "step", "reading", "experiment")
TAGS = {
    "paragraph": "p",
    "em": "em",
    "strong": "strong",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "link": "a",
    "hardbreak": "br",
}
# what a link may set, and how its value looks
STATE_KEYS = {
    "step": r"[1-9][0-9]{0,3}",
    "depth": r"[1-9][0-9]?",
    "residual": r"on|off",
    "token": r"\S.*",
    "compare": r"[01]",
}

_HEADING = re.compile(
    r"## (?P<kind>[a-z]+) (?P<id>[A-Za-z0-9-]+)"
    r"(?: \[(?P<conditions>[^\]]*)\])?: (?P<title>\S.*)"
)
_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
# private-use characters stand for a slot while Markdown is parsed
_SLOT = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True)
class Section:
    """One piece of prose in one language.

    conditions:    what must hold for it to be used, e.g. {"residual": "off"}.
    placeholders:  each different one, in alphabetical order; ["slot", i] in the
                   trees stands for the i-th.
    title, nodes:  trees: a text, ["slot", i] or [tag, attributes, *children].
    links:         where its links lead, in order.
    line_no:       its place in the file, from 1.
    """

    kind: str
    id: str
    conditions: dict[str, str]
    placeholders: tuple[str, ...]
    title: list[Node]
    nodes: list[Node]
    links: tuple[str, ...]
    line_no: int

    @property
    def heading(self) -> str:
        """Kind, id and conditions: what both languages must share."""
        conditions = ", ".join(f"{k}={v}" for k, v in sorted(self.conditions.items()))
        return f"{self.kind} {self.id}" + (f" [{conditions}]" if conditions else "")


def read_prose(path: Path) -> tuple[Section, ...]:
    """Read a language's file.

    raises  LessonError, one line: file, line, what it found, what it needs.
    """
    text = read_text(path)
    sections = tuple(_parsed(path, *piece) for piece in _pieces(path, text))
    seen: set[str] = set()
    for section in sections:
        if section.heading in seen:
            raise LessonError(
                f"{path}:{section.line_no}: found '## {section.heading}' a second "
                "time; give each section another id or condition"
            )
        seen.add(section.heading)
    return sections


def _pieces(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    heading, line_no = "", 0
    body: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            if heading:
                yield line_no, heading, "\n".join(body)
            heading, line_no, body = line, number, []
        elif not heading and line.strip() and not line.startswith(("# ", "<!--")):
            raise LessonError(
                f"{path}:{number}: found text before the first section; start it "
                "with '## step ID: TITLE'"
            )
        else:
            body.append(line)
    if heading:
        yield line_no, heading, "\n".join(body)


def _parsed(path: Path, line_no: int, heading: str, body: str) -> Section:
    where = f"{path}:{line_no}"
    match = _HEADING.fullmatch(heading)
    if match is None or match["kind"] not in KINDS:
        raise LessonError(
            f"{where}: found {heading[:60]!r}, needs '## KIND ID [CONDITIONS]: TITLE' "
            f"with a KIND of {', '.join(KINDS)}"
        )
    # Markdown takes &#xE000; for the character
    if {"\ue000", "\ue001"} & set(unescape(heading + body)):
        raise LessonError(f"{where}: found a private-use character; take it out")
    asked = _PLACEHOLDER.findall(match["title"] + "\n" + body)
    rest = _PLACEHOLDER.sub("", match["title"] + "\n" + body)
    if "{{" in rest or "}}" in rest:
        raise LessonError(
            f"{where}: found {{{{ or }}}} alone, needs both around a placeholder"
        )
    placeholders = tuple(sorted({" ".join(text.split()) for text in asked}))
    title = _tree(where, match["title"], placeholders, MarkdownIt.parseInline)
    nodes = _tree(where, body, placeholders, MarkdownIt.parse)
    if not nodes:
        raise LessonError(f"{where}: found no text under it, needs at least a sentence")
    links = tuple(_links(title + nodes))
    return Section(
        match["kind"],
        match["id"],
        _conditions(where, match["conditions"] or ""),
        placeholders,
        title,
        nodes,
        links,
        line_no,
    )


def _conditions(where: str, text: str) -> dict[str, str]:
    conditions = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = part.partition("=")
        if not equals or key not in ("block", "residual", "token") or not value:
            raise LessonError(
                f"{where}: found the condition {part!r}, needs block=…, residual=… "
                "or token=…"
            )
        if key in conditions or (key == "residual" and value not in ("on", "off")):
            raise LessonError(
                f"{where}: found the condition {part!r}, needs each key once, and "
                "residual on or off"
            )
        conditions[key] = value
    return conditions


def _tree(
    where: str,
    text: str,
    placeholders: Sequence[str],
    parse: Callable[[MarkdownIt, str], list[Token]],
) -> list[Node]:
    def slot(match: re.Match[str]) -> str:
        index = placeholders.index(" ".join(match[1].split()))
        return f"\ue000{index}\ue001"

    parser = MarkdownIt("commonmark", {"html": False}).disable(["image", "heading"])
    root = SyntaxTreeNode(parse(parser, _PLACEHOLDER.sub(slot, text)))
    return [part for node in root.children for part in _nodes(where, node)]


def _nodes(where: str, node: SyntaxTreeNode) -> list[Node]:
    if node.type == "text":
        return _with_slots(node.content)
    if node.type == "softbreak":
        return [" "]
    if node.type == "code_inline":
        return [["code", {}, *_with_slots(node.content)]]
    children = [part for child in node.children for part in _nodes(where, child)]
    if node.type == "inline":
        return children
    if node.type not in TAGS:
        raise LessonError(
            f"{where}: found Markdown for {node.type!r}, needs plain paragraphs, "
            "lists, emphasis, code and links"
        )
    attributes = {}
    if node.type == "link":
        attributes["href"] = _link(where, str(node.attrs["href"]))
    return [[TAGS[node.type], attributes, *children]]


def _with_slots(text: str) -> list[Node]:
    parts = _SLOT.split(text)
    nodes: list[Node] = []
    for place, part in enumerate(parts):
        if place % 2:
            nodes.append(["slot", int(part)])
        elif part:
            nodes.append(part)
    return nodes


def _link(where: str, href: str) -> str:
    if re.fullmatch(r"#[a-z0-9-]+", href):
        return href
    if href.startswith("?"):
        pairs = parse_qsl(href[1:], keep_blank_values=True)
        usable = (re.fullmatch(STATE_KEYS.get(key, r"\b\B"), v) for key, v in pairs)
        if pairs and len(dict(pairs)) == len(pairs) and all(usable):
            return href
    raise LessonError(
        f"{where}: found a link to {href!r}, needs #term or ?step=…&depth=… with "
        f"{', '.join(STATE_KEYS)} only, each once"
    )


def _links(nodes: Sequence[Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, list) and node[0] != "slot":
            if node[0] == "a":
                yield node[1]["href"]
            yield from _links(node[2:])
