"""What a class shares: where the lesson stands, and a vote. Nothing about persons."""

import csv
import io
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from residual_stream.table.questions import Question

OPEN, REVEALED, CLOSED = "open", "revealed", "closed"

State = Mapping[str, Any]


@dataclass(frozen=True)
class Poll:
    """One vote on an experiment's prediction.

    stage:     "open" counts votes, "revealed" shows them to all, "closed" is over.
    counts:    votes for each option, from the moment they are counted for good.
    revealed:  whether the class has seen them.
    """

    id: str
    experiment: str
    options: tuple[str, ...]
    opened: str
    stage: str = OPEN
    counts: Mapping[str, int] | None = None
    revealed: bool = False

    @classmethod
    def new(cls, experiment: str, options: Sequence[str]) -> "Poll":
        """A vote that opens now."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(secrets.token_urlsafe(9), experiment, tuple(options), now)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Poll":
        """As `asdict` gave it, after a way through JSON.

        raises   KeyError, TypeError or ValueError for what it did not give.
        """
        poll = cls(**{**data, "options": tuple(data["options"])})
        texts = (poll.id, poll.experiment, poll.opened, *poll.options)
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("a poll is of texts")
        if poll.stage not in (OPEN, REVEALED, CLOSED):
            raise ValueError(f"no stage of a poll: {poll.stage}")
        if poll.counts is None:
            return poll
        counts = {str(option): int(n) for option, n in dict(poll.counts).items()}
        return replace(poll, counts=counts)

    def shown(self) -> dict[str, Any]:
        """What every page may know of it: no count before it is revealed."""
        return {
            "id": self.id,
            "experiment": self.experiment,
            "options": list(self.options),
            "stage": self.stage,
            "counts": dict(self.counts or {}) if self.stage == REVEALED else None,
        }


@dataclass
class Room:
    """One room, as one process knows it.

    Each change of `state` or `polls` has the next number of an epoch, so that every
    page can tell the newest from one that comes late.

    state:  the lesson's state, or None before the teacher has said one.
    polls:  all votes so far; the last is the one that is on, if it isn't closed.
    votes:  of the last poll: option by voter, a random name that a browser made.
    """

    name: str
    epoch: str = field(default_factory=lambda: secrets.token_hex(8))
    seq: int = 0
    state: State | None = None
    polls: tuple[Poll, ...] = ()
    votes: dict[str, str] = field(default_factory=dict)

    @property
    def poll(self) -> Poll | None:
        """The vote that is on, open or revealed."""
        last = self.polls[-1] if self.polls else None
        return None if last is None or last.stage == CLOSED else last

    def apply(self, what: str, value: Any) -> None:
        """A change of "state" or "polls", with the next number."""
        self.seq += 1
        if what == "state":
            self.state = value
        else:
            self._use_polls(tuple(Poll.from_data(one) for one in value))

    def _use_polls(self, polls: tuple[Poll, ...]) -> None:
        if not polls or not self.polls or polls[-1].id != self.polls[-1].id:
            self.votes = {}
        self.polls = polls

    def vote(self, poll_id: str, voter: str, option: str) -> bool:
        """Count a vote, in place of the voter's earlier one; False if it can't be."""
        poll = self.poll
        if poll is None or poll.id != poll_id or poll.stage != OPEN:
            return False
        if option not in poll.options:
            return False
        self.votes[voter] = option
        return True

    def counts(self) -> dict[str, int] | None:
        """Votes for each option of the vote that is on."""
        poll = self.poll
        if poll is None:
            return None
        if poll.counts is not None:
            return dict(poll.counts)
        found = Counter(self.votes.values())
        return {option: found[option] for option in poll.options}

    def with_poll(self, poll: Poll) -> list[dict[str, Any]]:
        """The polls with a new one after them; one that was on is closed."""
        return [asdict(one) for one in (*self._closed(), poll)]

    def with_stage(self, stage: str) -> list[dict[str, Any]]:
        """The polls, the last one revealed or closed, with its votes counted for good.

        raises  ValueError if no vote is on.
        """
        poll = self.poll
        if poll is None:
            raise ValueError("no vote is on")
        if stage == CLOSED:
            return [asdict(one) for one in self._closed()]
        shown = replace(poll, stage=REVEALED, counts=self.counts(), revealed=True)
        return [asdict(one) for one in (*self.polls[:-1], shown)]

    def _closed(self) -> tuple[Poll, ...]:
        poll = self.poll
        if poll is None:
            return self.polls
        over = replace(poll, stage=CLOSED, counts=self.counts())
        return (*self.polls[:-1], over)

    def shown(self) -> dict[str, Any]:
        """What every page may know of the room, ready for JSON."""
        return {
            "epoch": self.epoch,
            "seq": self.seq,
            "state": None if self.state is None else dict(self.state),
            "poll": self.poll.shown() if self.poll else None,
        }

    def as_data(self) -> dict[str, Any]:
        """All of it, ready for JSON, for a file or a shared store."""
        return {
            "seq": self.seq,
            "state": None if self.state is None else dict(self.state),
            "polls": [asdict(poll) for poll in self.polls],
            "votes": dict(self.votes),
        }

    def adopt(self, data: Mapping[str, Any], epoch: str | None = None) -> None:
        """Become what `as_data` gave.

        epoch:   whose numbers they are; None starts a new one, so that pages take
                 what comes even if the last changes were lost.
        raises   KeyError, TypeError or ValueError for what it did not give.
        """
        polls = tuple(Poll.from_data(one) for one in data["polls"])
        votes = {str(voter): str(option) for voter, option in data["votes"].items()}
        state = None if data["state"] is None else dict(data["state"])
        seq = int(data["seq"])
        self.epoch = secrets.token_hex(8) if epoch is None else epoch
        self.seq, self.state, self.polls, self.votes = seq, state, polls, votes


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
