"""A lesson: its folder read whole and checked against its own computation."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import parse_qsl

from residual_stream.lesson.example import NamedExample, read_example
from residual_stream.lesson.files import LANGUAGES, LessonError, LessonFile
from residual_stream.lesson.folders import lesson_id, shipped
from residual_stream.lesson.prose import Section, read_prose
from residual_stream.model.block import run
from residual_stream.model.trace import Trace

Texts = dict[str, dict[str, str]]
SETTINGS = ("on", "off")  # of the residual

STEPS = (
    "input",
    "norm-attention",
    "attention",
    "add-attention",
    "norm-ffn",
    "ffn",
    "add-ffn",
    "sum",
)
MAX_PAGE_DEPTH = 24


@dataclass(frozen=True)
class Term:
    """One glossary entry: a symbol, a trace name (or ""), its texts by language."""

    id: str
    symbol: str
    trace: str
    term: dict[str, str]
    explanation: dict[str, str]


@dataclass(frozen=True)
class Lesson:
    """Everything that a lesson's folder says.

    formulas:   by step id and "on" or "off"; «…» marks the step's part.
    prose:      by language; both have the same sections in the same order.
    order:      its place in a list of lessons.
    max_depth:  how deep its page goes, in blocks.
    typed:      numbers that its prose may type, since this model does not compute them.
    """

    id: str
    folder: Path
    order: int
    title: dict[str, str]
    max_depth: int
    named: NamedExample
    formulas: Texts
    prose: dict[str, tuple[Section, ...]]
    glossary: tuple[Term, ...]
    ui: Texts
    typed: tuple[str, ...] = ()

    @cached_property
    def runs(self) -> dict[str, Trace]:
        """The example run to `max_depth` with residual "on" and "off", once."""
        example, depth = self.named.example, self.max_depth
        return {setting: run(example, depth, setting == "on") for setting in SETTINGS}

    def sections(self, kind: str, language: str = "en") -> list[Section]:
        """The sections of one kind, in order."""
        return [s for s in self.prose[language] if s.kind == kind]


def load_lesson(folder: Path) -> Lesson:
    """Read and check a lesson's folder.

    raises  LessonError, one line: file, key or line, what it found, what it needs.
    """
    file = LessonFile(folder / "lesson.toml")
    file.expect_only("", ("order", "max_depth", "typed", "title", "formulas"))
    max_depth = file.whole("max_depth", 1, MAX_PAGE_DEPTH)
    order = file.whole("order", 1, 999)
    file.expect_only("formulas", STEPS)
    formulas = {}
    for step in STEPS:
        file.expect_only(f"formulas.{step}", SETTINGS)
        formulas[step] = {s: _formula(file, f"formulas.{step}.{s}") for s in SETTINGS}
    prose = {lang: read_prose(folder / f"{lang}.md") for lang in LANGUAGES}
    lesson = Lesson(
        lesson_id(folder),
        folder,
        order,
        file.words("title"),
        max_depth,
        read_example(folder / "example.toml"),
        formulas,
        prose,
        read_glossary(shipped("lessons") / "glossary.toml"),
        read_ui(shipped("lessons") / "ui.toml"),
        file.texts("typed") if "typed" in file.keys("") else (),
    )
    check_parity(lesson)
    check_ids(lesson)
    check_terms(lesson)
    return lesson


def _formula(file: LessonFile, key: str) -> str:
    formula = file.text(key)
    if formula.count("«") != 1 or formula.count("»") != 1:
        raise file.wrong(key, formula, "one part marked with «…»")
    return formula


def read_ui(path: Path) -> Texts:
    """The page's own texts by key and language.

    raises  LessonError as `load_lesson`; also if the {names} in two languages differ.
    """
    file = LessonFile(path)
    texts = {key: file.words(key) for key in file.keys("")}
    for key, text in texts.items():
        names = {lang: sorted(_braced(text[lang])) for lang in LANGUAGES}
        if names["ja"] != names["en"]:
            raise file.wrong(key, names, "the same {names} in both languages")
    return texts


def _braced(text: str) -> Iterable[str]:
    return (part.split("}")[0] for part in text.split("{")[1:])


def read_glossary(path: Path) -> tuple[Term, ...]:
    """The terms that all lessons share.

    raises  LessonError as `load_lesson`.
    """
    file = LessonFile(path)
    terms = []
    for place in range(len(file.tables("terms"))):
        key = f"terms.{place}"
        file.expect_only(key, ("id", "symbol", "trace", *LANGUAGES))
        terms.append(
            Term(
                file.text(f"{key}.id"),
                file.text(f"{key}.symbol", empty=True),
                file.text(f"{key}.trace", empty=True),
                {lang: file.text(f"{key}.{lang}.term") for lang in LANGUAGES},
                {lang: file.text(f"{key}.{lang}.explanation") for lang in LANGUAGES},
            )
        )
    ids = [term.id for term in terms]
    if len(set(ids)) < len(ids):
        raise file.wrong("terms", ids, "another id for each")
    return tuple(terms)


# --------------------------------------------------------------------------- checks


def check_parity(lesson: Lesson) -> None:
    """Both languages have the same sections, placeholders and links, in order.

    raises  LessonError that names the first difference.
    """
    ja, en = (lesson.prose[lang] for lang in ("ja", "en"))
    for one, other in zip(ja, en, strict=False):
        if one.heading != other.heading:
            raise LessonError(
                f"{lesson.folder / 'ja.md'}:{one.line_no}: found '{one.heading}' where "
                f"en.md:{other.line_no} has '{other.heading}'; use the same sections "
                "in the same order"
            )
        for what in ("placeholders", "links"):
            mine, theirs = sorted(getattr(one, what)), sorted(getattr(other, what))
            if mine != theirs:
                differing = sorted(set(mine) ^ set(theirs)) or mine
                raise LessonError(
                    f"{lesson.folder / 'ja.md'}:{one.line_no}: {one.heading}: its "
                    f"{what} differ from en.md:{other.line_no} in {differing[:3]}; "
                    "quote the same in both"
                )
    if len(ja) != len(en):
        longer = "ja.md" if len(ja) > len(en) else "en.md"
        raise LessonError(
            f"{lesson.folder / longer}: has {abs(len(ja) - len(en))} sections more "
            "than the other language; use the same sections"
        )


def check_ids(lesson: Lesson) -> None:
    """Every step's text belongs to a step of the walk, and to a state of it.

    raises  LessonError with file and line.
    """
    can_be = {
        "block": [str(block + 1) for block in range(lesson.max_depth)],
        "residual": SETTINGS,
        "token": lesson.named.tokens,
    }
    for section in lesson.sections("step"):
        for key, value in section.conditions.items():
            if value not in can_be[key]:
                raise LessonError(
                    f"{lesson.folder / 'en.md'}:{section.line_no}: found "
                    f"{key}={value}, needs one of {', '.join(can_be[key])}"
                )
        if section.id not in STEPS:
            raise LessonError(
                f"{lesson.folder / 'en.md'}:{section.line_no}: found the step "
                f"{section.id!r}, needs one of {', '.join(STEPS)}"
            )


def check_terms(lesson: Lesson) -> None:
    """Every link leads to a term or to a state of the page.

    raises  LessonError with file, line and link.
    """
    known = {f"#{term.id}" for term in lesson.glossary}
    for section in lesson.prose["en"]:
        for link in section.links:
            if link.startswith("#") and link not in known:
                raise LessonError(
                    f"{lesson.folder / 'en.md'}:{section.line_no}: found a link to "
                    f"{link!r}, needs a term of glossary.toml"
                )
            if link.startswith("?") and not _is_state(lesson, link):
                raise LessonError(
                    f"{lesson.folder / 'en.md'}:{section.line_no}: found a link to "
                    f"{link!r}, needs a word, a depth and a step that there are"
                )


def _is_state(lesson: Lesson, link: str) -> bool:
    wanted = dict(parse_qsl(link[1:]))
    depth = int(wanted.get("depth", lesson.max_depth))
    steps = 2 + len(STEPS[1:-1]) * depth
    tokens = lesson.named.tokens
    return (
        depth <= lesson.max_depth
        and int(wanted.get("step", 1)) <= steps
        and wanted.get("token", tokens[0]) in tokens
    )
