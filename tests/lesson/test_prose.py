"""A language's file: sections, placeholders and the few kinds of Markdown there are."""

import re

import pytest

from residual_stream.lesson.files import LessonError
from residual_stream.lesson.prose import TAGS, Section, read_prose

HEADING = "## step input: Title\n\n"


@pytest.fixture
def read(tmp_path):
    def read(text: str | bytes) -> tuple[Section, ...]:
        content = text.encode() if isinstance(text, str) else text
        (tmp_path / "en.md").write_bytes(content)
        return read_prose(tmp_path / "en.md")

    return read


@pytest.fixture
def nodes(read):
    """The tree of a text under a heading."""
    return lambda text: read(HEADING + text)[0].nodes


@pytest.fixture
def refusal(read, tmp_path):
    """What is said of a text, after the file's name and the line's number."""

    def refusal(text: str | bytes, line_no: int | None = 1) -> str:
        with pytest.raises(LessonError) as caught:
            read(text)
        line = str(caught.value)
        where = f"{tmp_path / 'en.md'}:" + (f"{line_no}: " if line_no else " ")
        assert line.startswith(where)
        assert line.isprintable()  # so it is one line, too
        assert len(line) < len(where) + 250
        return line.removeprefix(where)

    return refusal


# ------------------------------------------------------------------------- sections

WHOLE = """# The lesson in English
<!-- for who writes it -->

## lesson intro: A *title*

Hello.

## step input [token=bank, residual=off]: The draft `x`

One, [two](#draft) and
[three](?step=4&depth=3&residual=off&token=bank&compare=1).

Four {{attn.pattern.river | %}} and {{ token }} and {{token}}.

## reading a-b: Last
* item
"""


def test_a_file_is_a_list_of_sections(read):
    intro, step, reading = read(WHOLE)
    assert [s.kind for s in (intro, step, reading)] == ["lesson", "step", "reading"]
    assert [s.id for s in (intro, step, reading)] == ["intro", "input", "a-b"]
    assert [s.line_no for s in (intro, step, reading)] == [4, 8, 15]
    assert intro.title == ["A ", ["em", {}, "title"]]
    assert intro.nodes == [["p", {}, "Hello."]]
    assert step.conditions == {"token": "bank", "residual": "off"}
    assert step.heading == "step input [residual=off, token=bank]"
    assert step.title == ["The draft ", ["code", {}, "x"]]
    assert step.links == ("#draft", "?step=4&depth=3&residual=off&token=bank&compare=1")
    assert reading.heading == "reading a-b"
    assert reading.nodes == [["ul", {}, ["li", {}, ["p", {}, "item"]]]]


def test_a_placeholder_is_a_slot_wherever_it_stands(read):
    _, step, _ = read(WHOLE)
    assert step.placeholders == ("attn.pattern.river | %", "token")
    last = ["p", {}, "Four ", ["slot", 0], " and ", ["slot", 1], " and ", ["slot", 1]]
    assert step.nodes[1] == [*last, "."]


def test_a_title_and_its_text_share_the_slots(read):
    (section,) = read(
        "## step sum: {{x_n}} is\n\n{{depth}} and **{{x_n}}** `{{depth}}`"
    )
    assert section.placeholders == ("depth", "x_n")
    assert section.title == [["slot", 1], " is"]
    strong, code = ["strong", {}, ["slot", 1]], ["code", {}, ["slot", 0]]
    assert section.nodes == [["p", {}, ["slot", 0], " and ", strong, " ", code]]


def test_a_placeholder_may_run_over_a_line(nodes, read):
    (section,) = read(HEADING + "{{length\n  resid_mid}}")
    assert section.placeholders == ("length resid_mid",)


MARKDOWN = {
    "*a* **b** `c`": [
        ["em", {}, "a"],
        " ",
        ["strong", {}, "b"],
        " ",
        ["code", {}, "c"],
    ],
    "a\nb": ["a", " ", "b"],
    "a  \nb": ["a", ["br", {}], "b"],
    "[*a* b](#c-1)": [["a", {"href": "#c-1"}, ["em", {}, "a"], " b"]],
    "[a](?residual=off)": [["a", {"href": "?residual=off"}, "a"]],
    "a \\* \\< b": ["a * < b"],
    "a &lt; &amp; b": ["a < & b"],
}


@pytest.mark.parametrize(("text", "children"), MARKDOWN.items())
def test_what_markdown_there_is(nodes, text, children):
    assert nodes(text) == [["p", {}, *children]]


def test_lists_of_both_kinds(nodes):
    items = [["li", {}, ["p", {}, "a"]], ["li", {}, ["p", {}, "b"]]]
    assert nodes("* a\n* b") == [["ul", {}, *items]]
    assert nodes("1. a\n2. b") == [["ol", {}, *items]]


# ----------------------------------------------------------- harmless: it stays text


def strings(tree):
    for node in tree:
        if isinstance(node, str):
            yield node
        elif node[0] != "slot":
            yield from strings(node[2:])


def tags(tree):
    for node in tree:
        if isinstance(node, list) and node[0] != "slot":
            yield node[0]
            yield from tags(node[2:])


MARKUP = {
    "a tag": "a <b>bold</b> word",
    "a script": "<script>alert(1)</script>",
    "a block": "<div onclick='x'>\n<p>hello\n</div>",
    "a comment": "a <!-- b --> c",
    "an entity's tag": "&lt;img src=x onerror=alert(1)&gt;",
    "a script's link": "[a](javascript:alert(1))",
    "a script in brackets": "<javascript:alert(1)>",
    "a data link": "[a](data:text/html,b)",
    "a file's link": "[a](file:///etc/passwd)",
    "a bare address": "https://example.org",
    "a link by name": "[a][b]\n\n[b]: javascript:alert(1)",
    "a heading": "# Big",
    "a small heading": "### Small",
    "a table": "| a | b |\n|---|---|\n| 1 | 2 |",
}


@pytest.mark.parametrize("text", MARKUP.values(), ids=MARKUP)
def test_markup_that_is_not_ours_stays_text(nodes, text):
    tree = nodes(text)
    assert set(tags(tree)) == {"p"}
    shown = text.replace("&lt;", "<").replace("&gt;", ">")
    assert "".join("".join(strings(tree)).split()) == "".join(shown.split())


def test_markup_in_a_title_stays_text(read):
    (section,) = read("## step input: <b>T</b> 1. * # &lt;\n\nx")
    assert section.title == ["<b>T</b> 1. * # <"]


@pytest.mark.parametrize("title", ["* T", "1. T", "# T", "***", "> T", "[a]: #b"])
def test_a_title_is_one_line_and_no_list(read, title):
    (section,) = read(f"## step input: {title}\n\nx")
    assert section.title == [title]


def test_every_tag_is_one_that_the_page_can_make():
    page = {"p", "em", "strong", "code", "ul", "ol", "li", "a", "br"}
    assert set(TAGS.values()) | {"code"} == page


# -------------------------------------------------------------------------- refused

KINDS = "plain paragraphs, lists, emphasis, code and links"
LINKS = "needs #term or ?step=…&depth=…"
FORM = "needs '## KIND ID [CONDITIONS]: TITLE'"
REFUSED = {
    "a heading under a line": (
        "a\n---",
        f"found Markdown for 'heading', needs {KINDS}",
    ),
    "a fenced code block": (
        "```\nx\n```",
        f"found Markdown for 'fence', needs {KINDS}",
    ),
    "an indented code block": (
        "    x",
        f"found Markdown for 'code_block', needs {KINDS}",
    ),
    "a line": ("a\n\n***", f"found Markdown for 'hr', needs {KINDS}"),
    "a quotation": ("> a", f"found Markdown for 'blockquote', needs {KINDS}"),
    "an image": ("![a](http://x/y.png)", "found a link to 'http://x/y.png'"),
    "an outside link": ("[a](https://example.org)", LINKS),
    "an outside link in brackets": ("<https://example.org>", LINKS),
    "an outside link by name": ("[a][b]\n\n[b]: https://example.org", LINKS),
    "another host": ("[a](//example.org)", "found a link to '//example.org'"),
    "a page beside": ("[a](lesson.html)", LINKS),
    "an address": ("[a](mailto:a@b.c)", LINKS),
    "a term in capitals": ("[a](#Draft)", "found a link to '#Draft'"),
    "a key that is none": ("[a](?step=1&lang=ja)", "found a link to '?step=1&lang=ja'"),
    "an empty state": ("[a](?)", LINKS),
    "a step that is no number": ("[a](?step=x)", "found a link to '?step=x'"),
    "step 0": ("[a](?step=0)", "found a link to '?step=0'"),
    "a residual of maybe": ("[a](?residual=maybe)", LINKS),
    "an empty depth": ("[a](?depth=)", "found a link to '?depth='"),
    "a key twice": ("[a](?step=1&step=2)", "each once"),
    "a state and a term": ("[a](?step=1#draft)", LINKS),
    "a placeholder in a link": ("[a](?step={{block}})", LINKS),
    "a private-use character": ("a \ue000 b", "found a private-use character"),
    "its other half": ("a \ue001 b", "found a private-use character"),
    "a slot by number": ("&#xE000;7&#57345;", "found a private-use character"),
    "{{ without an end": ("a {{token", "found {{ or }} alone"),
    "}} without a start": ("a token}}", "found {{ or }} alone"),
    "one in another": ("{{a {{b}} c}}", "found {{ or }} alone"),
    "nothing": ("", "found no text under it, needs at least a sentence"),
    "nothing but a name": ("[a]: #b", "found no text under it"),
}
HEADINGS = {
    "without a title": ("## step input", FORM),
    "a blank title": ("## step input: \u0020", FORM),
    "without an id": ("## step: T", FORM),
    "an id of two": ("## step in put: T", FORM),
    "an unknown kind": ("## stop input: T", "lesson, step, reading, experiment"),
    "an unknown condition": ("## step input [depth=3]: T", "'depth=3', needs block=…"),
    "a condition of nothing": ("## step input [block=]: T", "'block=', needs block=…"),
    "a condition without =": ("## step input [bank]: T", "'bank', needs block=…"),
    "a condition twice": ("## step input [block=1, block=2]: T", "'block=2'"),
    "residual=maybe": ("## step input [residual=maybe]: T", "residual on or off"),
    "a private-use character": ("## step input: \ue000", "private-use character"),
    "{{ alone": ("## step input: {{x", "found {{ or }} alone"),
    "an outside link": ("## step input: [a](https://b.c)", LINKS),
}


@pytest.mark.parametrize(("text", "says"), REFUSED.values(), ids=REFUSED)
def test_what_prose_cannot_hold_is_refused_in_one_line(refusal, text, says):
    # the heading's line, whether a good section comes before it or not
    assert says in refusal(HEADING + text)
    assert says in refusal(f"## reading a: T\n\nx\n\n{HEADING}{text}", 5)


@pytest.mark.parametrize(("heading", "says"), HEADINGS.values(), ids=HEADINGS)
def test_a_wrong_heading_is_refused_in_one_line(refusal, heading, says):
    assert says in refusal(f"{heading}\n\nx")


def test_a_section_can_be_there_only_once(refusal):
    one, other = "[token=a, block=1]", "[block=1,token=a]"
    says = refusal(f"## step sum {one}: T\n\nx\n\n## step sum {other}: U\n\nx", 5)
    assert says.startswith("found '## step sum [block=1, token=a]' a second time; ")


@pytest.mark.parametrize(
    "start", ["text", "### step input: T", "##step input: T", "- a"]
)
def test_text_before_the_first_section_is_refused(refusal, start):
    says = refusal(f"# t\n\n{start}\n\n{HEADING}x", 3)
    assert says.startswith("found text before the first section; ")


def test_a_file_that_cannot_be_read_is_refused(refusal, read, tmp_path):
    assert "UTF-8" in refusal("## step input: 岸".encode("shift_jis"), None)
    with pytest.raises(LessonError, match=r"ja\.md: no such file; a lesson needs it$"):
        read_prose(tmp_path / "ja.md")
    with pytest.raises(LessonError, match=re.escape(str(tmp_path))):
        read_prose(tmp_path)
