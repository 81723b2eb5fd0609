"""No number is typed in a lesson's prose, but for those that nothing here computes."""

import re
from pathlib import Path

from residual_stream.lesson.files import LANGUAGES, LessonError, read_text
from residual_stream.lesson.lesson import Lesson

# what is no text (placeholders, where a link leads, the head of a section), and numbers
# that are no figures of the model: years of papers, places of the walk, counts
LEFT_OUT = (
    r"\{\{.*?\}\}",
    r"(?<=\])\([?#][^)]*\)",
    r"^## [a-z]+ [A-Za-z0-9-]+(?: \[[^\]\n]*\])?:",
    r"(?<=experiment )[A-Z]\d|(?<=実験)[A-Z]\d",
    r"(?<![\d.])(?:19|20)\d\d(?:年|(?!\d|\.\d| ?%))",
)
COUNTED = {
    "en": r"\b(?:[Bb]lock|[Dd]epth|[Ss]tep) \d{1,2}(?!\d|\.\d| ?%)",
    # Japanese writes zero with a figure; a filled 0 has decimals or a per cent sign
    "ja": r"(?<![\d.])0(?![\d.]| ?%)|(?:ブロック|深さ|ステップ)\d{1,2}(?!\d|\.\d| ?%)"
    r"|(?<![\d.])\d{1,2}(?:つ|本|回|語|枚|組|次元|個|通り|種類|番目|ブロック|分の\d{1,2}(?![\d.]))",
}
NUMBER = re.compile(r"[−-]?\d+(?:[.,]\d+)*(?: ?[%％])?")
GUIDE = "teaching.{}.md"


def check_typed(lesson: Lesson) -> None:
    """Every number of the prose is filled, or the lesson says that it may be typed.

    raises  LessonError with file, line and number.
    """
    for language in LANGUAGES:
        for folder in (lesson.folder, lesson.folder / "experiments"):
            if (folder / f"{language}.md").is_file():
                _check_text(folder / f"{language}.md", language, lesson.typed)
    check_guides(lesson.folder)


def _check_text(path: Path, language: str, typed: tuple[str, ...]) -> None:
    text = read_text(path)
    named = (rf"(?<![\d.]){re.escape(one)}(?!\d|\.\d| ?%)" for one in typed)
    for pattern in (*LEFT_OUT, COUNTED[language], *named):
        text = re.sub(pattern, _blank, text, flags=re.DOTALL | re.MULTILINE)
    found = NUMBER.search(text)
    if found:
        line_no = 1 + text[: found.start()].count("\n")
        raise LessonError(
            f"{path}:{line_no}: found the typed number {found[0]!r}, needs {{{{…}}}} "
            "that the trace fills, or its place under typed in lesson.toml"
        )


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")  # the lines after it keep their numbers


def check_guides(folder: Path) -> None:
    """The teacher's guide, if there is one, quotes the same numbers in each language.

    raises  LessonError with file and line.
    """
    paths = {language: folder / GUIDE.format(language) for language in LANGUAGES}
    missing = [path for path in paths.values() if not path.is_file()]
    if len(missing) == len(paths):
        return
    if missing:
        raise LessonError(
            f"{missing[0]}: no such file; a guide is there in {' and '.join(LANGUAGES)}"
        )
    ja, en = (read_text(paths[language]).splitlines() for language in ("ja", "en"))
    if len(ja) != len(en):
        raise LessonError(
            f"{paths['ja']}: has {len(ja)} lines, en {len(en)}; use the same in both"
        )
    for line_no, lines in enumerate(zip(ja, en, strict=True), 1):
        mine, theirs = (re.findall(r"[−-]?\d+(?:\.\d+)?", line) for line in lines)
        if mine != theirs:
            raise LessonError(
                f"{paths['ja']}:{line_no}: found the numbers {', '.join(mine)}, where "
                f"the English guide has {', '.join(theirs)}; quote the same in both"
            )
