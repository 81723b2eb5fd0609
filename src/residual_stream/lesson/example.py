"""The hand-set example of a lesson: its words, their vectors and the weights."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from residual_stream.lesson.files import LessonError, LessonFile
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.model.block import WEIGHT_AXES, Example

Names = tuple[dict[str, str], ...]
MAX_WIDTH = 64
MAX_TOKENS = 16


@dataclass(frozen=True)
class NamedExample:
    """An example with what a reader calls its parts, in each language.

    example:  what a run starts from.
    focus:    the place of the word that the lesson follows, from 0.
    axes:     a name for each dimension of the stream: id, ja, en.
    head:     the same for each dimension of the attention head.
    hidden:   the same for each hidden unit of the FFN.
    """

    example: Example
    focus: int
    axes: Names
    head: Names
    hidden: Names

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words of the sentence, in order."""
        return self.example.tokens


def load_example(lesson: str = DEFAULT_LESSON) -> Example:
    """The example of a lesson, ready for `run`.

    lesson:  a lesson's id, or the path of its folder.
    raises   LessonError, one line: file, key, what it found, what it needs.
    """
    return read_example(lesson_folder(lesson) / "example.toml").example


def read_example(path: Path) -> NamedExample:
    """Read and check an example's file.

    raises  LessonError, one line: file, key, what it found, what it needs.
    """
    file = LessonFile(path)
    file.expect_only(
        "",
        ("tokens", "focus", "axes", "head", "hidden", "embed", "positions", "weights"),
    )
    tokens = file.texts("tokens")
    if len(tokens) > MAX_TOKENS:
        raise file.wrong("tokens", f"{len(tokens)} words", f"at most {MAX_TOKENS}")
    axes, head, hidden = (_names(file, key) for key in ("axes", "head", "hidden"))
    width = len(axes)
    _expect_only_words(file, tokens)
    embed = np.array([file.numbers(f"embed.{token}", (width,)) for token in tokens])
    sizes = {"d_model": width, "d_head": len(head), "d_mlp": len(hidden)}
    file.expect_only("weights", tuple(WEIGHT_AXES))
    weights = {
        name: file.numbers(f"weights.{name}", tuple(sizes[axis] for axis in axes_of))
        for name, axes_of in WEIGHT_AXES.items()
    }
    example = Example(
        tokens,
        tuple(axis["id"] for axis in axes),
        embed,
        file.numbers("positions", (len(tokens), width)),
        weights,
    )
    return NamedExample(example, _focus(file, tokens), axes, head, hidden)


def _expect_only_words(file: LessonFile, tokens: tuple[str, ...]) -> None:
    for word in file.keys("embed"):
        if word not in tokens:
            twice = next((t for t in tokens if tokens.count(t) > 1), None)
            hint = f" {twice!r} stands there twice," if twice else ""
            raise LessonError(
                f"{file.path}: embed.{word}: no word of the sentence;{hint} tokens "
                f"are {', '.join(tokens)}"
            )


def _focus(file: LessonFile, tokens: tuple[str, ...]) -> int:
    focus = file.text("focus")
    if focus not in tokens:
        raise file.wrong("focus", focus, f"one of the tokens: {', '.join(tokens)}")
    return tokens.index(focus)


def _names(file: LessonFile, key: str) -> Names:
    needed = "a list of tables, each with id, ja and en"
    names = file.value(key, needed)
    if not isinstance(names, list) or not 1 <= len(names) <= MAX_WIDTH:
        raise file.wrong(key, names, f"{needed}; 1 to {MAX_WIDTH} of them")
    for place, name in enumerate(names):
        if (
            not isinstance(name, dict)
            or set(name) != {"id", "ja", "en"}
            or not all(isinstance(text, str) and text.strip() for text in name.values())
        ):
            raise file.wrong(f"{key}[{place}]", name, "id, ja and en, each a text")
    ids = [name["id"] for name in names]
    if len(set(ids)) < len(ids):
        raise file.wrong(key, ids, "another id for each")
    return tuple(names)


def token_no(tokens: tuple[str, ...], token: str) -> int:
    """The place of a word in a sentence, from 0; the first if it stands there twice.

    raises  LessonError with the words there are.
    """
    if token not in tokens:
        shown = token if len(token) <= 40 else token[:37] + "…"
        raise LessonError(
            f"--token: found {shown!r}, needs one of the words: {', '.join(tokens)}"
        )
    return tokens.index(token)
