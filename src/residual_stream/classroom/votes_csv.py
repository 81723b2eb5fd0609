"""A class's votes as a table for a spreadsheet."""

import csv
import io
from collections.abc import Iterable

from residual_stream.classroom.room import Poll, Room
from residual_stream.worksheet_questions import Question

HEAD = ("experiment", "opened", "stage", "option", "right", "votes", "en", "ja")
BYTE_ORDER_MARK = "\ufeff"  # or Excel reads Japanese as something else


def votes_csv(room: Room, questions: dict[str, tuple[Question, ...]]) -> str:
    """One line for each option of each vote, in the order of the votes.

    stage:   "open" or "closed" if the class has not seen the counts, else "revealed".
    right:   "yes" for the option that the computation bears out.
    en, ja:  the option as it stands on the page.
    """
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(HEAD)
    for poll in room.polls:
        rows.writerows(_rows(room, poll, questions))
    return BYTE_ORDER_MARK + out.getvalue()


def _rows(
    room: Room, poll: Poll, questions: dict[str, tuple[Question, ...]]
) -> Iterable[tuple[str | int, ...]]:
    counts = poll.counts if poll.counts is not None else room.counts() or {}
    texts = {language: _options(poll, asked) for language, asked in questions.items()}
    stage = "revealed" if poll.revealed else poll.stage
    for option in poll.options:
        right = "yes" if texts["en"].get(option, ("", False))[1] else "no"
        prose = [texts[language].get(option, ("", False))[0] for language in HEAD[-2:]]
        votes = counts.get(option, 0)
        yield (poll.experiment, poll.opened, stage, option, right, votes, *prose)


def _options(poll: Poll, asked: Iterable[Question]) -> dict[str, tuple[str, bool]]:
    """Text and rightness of each option of a poll's experiment."""
    return {
        option: (text, is_right)
        for question in asked
        if question.id == poll.experiment
        for option, text, is_right in question.options
    }
