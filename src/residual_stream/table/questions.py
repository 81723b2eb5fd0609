"""A lesson's experiments as questions in plain text, for paper and for a class."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from residual_stream.lesson.experiments.experiment import experiments_data
from residual_stream.lesson.files import LANGUAGES
from residual_stream.lesson.lesson import Lesson
from residual_stream.lesson.prose import Node


class Question(NamedTuple):
    """One experiment as a question; each option is its letter, its text, and whether
    it is right.
    """

    id: str
    title: str
    text: str
    options: tuple[tuple[str, str, bool], ...]
    answer: str


def questions(lesson: Lesson) -> dict[str, tuple[Question, ...]]:
    """The lesson's experiments by language, each checked against its own runs.

    raises  LessonError for an experiment whose right answer has stopped being true.
    """
    loaded = experiments_data(lesson)["experiments"]
    return {
        language: tuple(_question(experiment, language) for experiment in loaded)
        for language in LANGUAGES
    }


def _question(experiment: dict[str, Any], language: str) -> Question:
    prose, fills = experiment["prose"][language], experiment["fills"]

    def text(piece: str, part: str) -> str:
        return plain(prose[piece][part], fills[piece])

    right = experiment["right"]
    return Question(
        experiment["id"],
        text("question", "title"),
        text("question", "nodes"),
        tuple(
            (option, text(f"option-{option}", "title"), option == right)
            for option in experiment["options"]
        ),
        text(f"answer-{right}", "title"),
    )


def plain(nodes: Sequence[Node], fills: Sequence[str]) -> str:
    """A tree of prose as text, its slots filled in."""
    return "".join(_plain(node, fills) for node in nodes)


def _plain(node: Node, fills: Sequence[str]) -> str:
    if isinstance(node, str):
        return node
    if node[0] == "slot":
        return fills[node[1]]
    return plain(node[2:], fills)
