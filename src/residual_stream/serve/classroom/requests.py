"""What pages ask of their room, each kind with what comes of it."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from residual_stream.page.publication import Publication
from residual_stream.serve.classroom.answers import Answers, BusyError
from residual_stream.serve.classroom.attendance import Attendance, Seat
from residual_stream.serve.classroom.limits import Limits
from residual_stream.serve.classroom.messages import TEACHERS_ONLY, Message
from residual_stream.serve.classroom.relay import Relay, adopted
from residual_stream.serve.classroom.room import (
    CLOSED,
    OPEN,
    REVEALED,
    Poll,
    Room,
    votes_csv,
)
from residual_stream.table.questions import questions

VOTERS = 2  # votes in all, as a multiple of the pages that can be there at once

Say = Callable[[Seat, Mapping[str, Any]], None]


class Requests:
    """Does what pages that have said hello ask for; what may not be is refused.

    options:  of each experiment by its id, what can be voted for.
    say:      tells one page something.
    """

    def __init__(
        self,
        room: Room,
        publication: Publication,
        relay: Relay,
        limits: Limits,
        attendance: Attendance,
        say: Say,
    ) -> None:
        self._room, self._publication, self._relay = room, publication, relay
        self._limits, self._attendance, self._say = limits, attendance, say
        self._answers = Answers(publication.answers, limits.waiting_questions)
        self._answering: set[asyncio.Task[None]] = set()
        loaded = publication.extra["experiments"]["experiments"]
        self.options = {one["id"]: tuple(one["options"]) for one in loaded}

    def close(self) -> None:
        """Who still waits for an answer gets none."""
        for task in self._answering:
            task.cancel()
        self._answers.close()

    async def do(self, seat: Seat, message: Message) -> None:
        """Do what a page that has said hello asks for."""
        kind = message["type"]
        if kind in TEACHERS_ONLY and not seat.is_teacher:
            self._refuse(seat, kind, "only the teacher's page may do that")
            return
        does: Mapping[str, Callable[[Seat, Message], Coroutine[Any, Any, None]]] = {
            "hello": self._again,
            "here": self._here,
            "vote": self._vote,
            "ask": self._ask,
            "set": self._set,
            "open": self._open_poll,
            "reveal": self._end_poll,
            "close": self._end_poll,
            "csv": self._csv,
        }
        await does[kind](seat, message)

    async def _again(self, seat: Seat, message: Message) -> None:
        self._refuse(seat, "hello", "a page says it once")

    async def _here(self, seat: Seat, message: Message) -> None:
        self._attendance.put(seat, (message["following"], message["visible"]))

    async def _vote(self, seat: Seat, message: Message) -> None:
        ballot = {"poll_id": message["poll"], "voter": seat.browser}
        ballot["option"] = message["option"]
        if not (self._may_vote(seat) and self._relay.vote(**ballot)):
            self._refuse(seat, "vote", "this vote is not open, or has no such option")

    def _may_vote(self, seat: Seat) -> bool:
        """A student, and not one of ever new names that a program makes up."""
        votes, most = self._room.votes, VOTERS * self._limits.browsers
        return not seat.is_teacher and (seat.browser in votes or len(votes) < most)

    async def _ask(self, seat: Seat, message: Message) -> None:
        # what the page says next doesn't wait
        task = asyncio.get_running_loop().create_task(self._answer(seat, message))
        self._answering.add(task)  # the loop itself would let it be collected
        task.add_done_callback(self._answering.discard)

    async def _answer(self, seat: Seat, message: Message) -> None:
        try:
            text = await self._answers.answer(message["kind"], message["payload"])
        except BusyError as busy:
            self._refuse(seat, "busy", str(busy))
            return
        self._say(seat, {"type": "answer", "id": message["id"], "answer": text})

    async def _set(self, seat: Seat, message: Message) -> None:
        state = adopted(self._publication, self._room.state, message)
        seq = self._relay.change("state", state)
        done = {"type": "done", "n": message["n"], "seq": seq}
        self._say(seat, {**done, "epoch": self._room.epoch})

    async def _open_poll(self, seat: Seat, message: Message) -> None:
        options = self.options.get(message["experiment"])
        if options is None:
            self._refuse(seat, "open", "there is no such experiment")
            return
        poll = Poll.new(message["experiment"], options)
        self._relay.change("polls", self._room.with_poll(poll))

    async def _end_poll(self, seat: Seat, message: Message) -> None:
        poll = self._room.poll
        is_reveal = message["type"] == "reveal"
        if poll is None or poll.id != message["poll"]:
            self._refuse(seat, message["type"], "this vote is not on")
        elif not is_reveal or poll.stage == OPEN:
            stage = REVEALED if is_reveal else CLOSED
            self._relay.change("polls", self._room.with_stage(stage))

    async def _csv(self, seat: Seat, message: Message) -> None:
        text = votes_csv(self._room, questions(self._publication.lesson))
        self._say(seat, {"type": "csv", "text": text})

    def _refuse(self, seat: Seat, what: str, why: str) -> None:
        self._say(seat, {"type": "refused", "what": what, "why": why})
