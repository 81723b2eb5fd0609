"""One room at work: what its pages say, and what each of them is told."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from residual_stream.classroom.answers import Answers, BusyError
from residual_stream.classroom.attendance import Attendance, Seat
from residual_stream.classroom.fan_out import FanOut, frame
from residual_stream.classroom.keys import is_key
from residual_stream.classroom.limits import TEACHER_FACTOR, Allowance, Limits
from residual_stream.classroom.messages import TEACHERS_ONLY, Message
from residual_stream.classroom.presence import read_statuses
from residual_stream.classroom.relay import Relay
from residual_stream.classroom.room import CLOSED, OPEN, REVEALED, Poll, Room
from residual_stream.classroom.shared_state import adopted
from residual_stream.classroom.votes_csv import votes_csv
from residual_stream.page.publication import Publication
from residual_stream.worksheet_questions import questions

SWEEP_EVERY = 2.0  # seconds
COUNTS_EVERY = 0.25
BEAT_AFTER = 15.0
VOTERS = 2  # votes in all, as a multiple of the pages that can be there at once


class Classroom:
    """The room of one lesson, its pages and its votes."""

    def __init__(
        self,
        name: str,
        key: str,
        publication: Publication,
        relay: Relay,
        limits: Limits,
    ) -> None:
        self.room, self.limits, self.publication = Room(name), limits, publication
        self.attendance = Attendance(limits, _now, self._tell_counts)
        self._key, self._relay = key, relay
        self._answers = Answers(publication.answers, limits.waiting_questions)
        self._fan_out = FanOut()
        self._frame = b""
        self._opening: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._counts_due: asyncio.TimerHandle | None = None
        loaded = publication.extra["experiments"]["experiments"]
        self._options = {one["id"]: tuple(one["options"]) for one in loaded}

    # ------------------------------------------------------------ its life

    async def ready(self) -> None:
        """Open the room, once; a page that comes waits for it."""
        if self._opening is None:
            self._opening = self._keep(self._open())
        await asyncio.shield(self._opening)

    async def _open(self) -> None:
        await self._relay.open(self.room, self)
        self.room_changed()
        self._keep(self._sweep())

    async def close(self) -> None:
        """Keep what there is to keep."""
        for task in list(self._tasks):
            task.cancel()
        if self._opening:
            await self._relay.close()

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)  # the loop itself would let it be collected
        task.add_done_callback(self._tasks.discard)
        return task

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            now = _now()
            for outlet in list(self._fan_out.outlets):
                if now - outlet.used_at > BEAT_AFTER:
                    outlet.send(BEAT, now)
            self.attendance.sweep()
            self._relay.say({})  # this process is there

    # ------------------------------------------------------------ the relay's listener

    def room_changed(self) -> None:
        """Everybody gets the room as it is now."""
        self._frame = frame(_json({"type": "room", **self.room.shown()}))
        self._fan_out.show(self._frame)
        self._tell_counts()

    def votes_changed(self) -> None:
        """Teachers see it in the counts."""
        self._tell_counts()

    def store_changed(self, is_there: bool) -> None:
        """Teachers are told whether the room is kept and shared."""
        for seat in self.attendance.teachers:
            self._say(seat, {"type": "store", "ok": is_there})
        if is_there:  # what was said meanwhile went nowhere
            self._relay.say({"who": True, "pages": self.attendance.mine()})

    @property
    def process(self) -> str:
        """The name of this process among those that serve the room."""
        return self.attendance.process

    def heard(self, process: str, news: Mapping[str, Any]) -> None:
        """Another process tells who is there, or asks."""
        if process == self.process:
            return
        if news.get("who") is True:
            self._relay.say({"pages": self.attendance.mine()})
        self.attendance.hear(process, read_statuses(news.get("pages")))

    # ------------------------------------------------------------ pages come and go

    def hello(self, seat: Seat, message: Message) -> None:
        """Let a page in: as a teacher with the right key, else as a student."""
        key = message.get("key")
        seat.is_teacher = key is not None and is_key(key, self._key)
        if seat.is_teacher:
            rate, burst = self.limits.messages_a_second, self.limits.burst
            factor = TEACHER_FACTOR
            seat.allowance = Allowance(rate * factor, burst * factor, _now())
        self.attendance.name(seat, message["id"])
        welcome = {
            "type": "welcome",
            "role": "teacher" if seat.is_teacher else "student",
            "room": self.room.shown(),
            "vote": self.room.votes.get(seat.browser) if self.room.poll else None,
            "refused": None if key is None or seat.is_teacher else "key",
        }
        self._say(seat, welcome)
        self.attendance.put(seat, (message["following"], message["visible"]))
        self._fan_out.outlets.add(seat.outlet)
        seat.outlet.has(self._frame)
        if seat.is_teacher:
            self._say(seat, self._counts())
            if not self._relay.is_there:
                self._say(seat, {"type": "store", "ok": False})

    def leave(self, seat: Seat) -> None:
        """A page has gone."""
        self._fan_out.outlets.discard(seat.outlet)
        self.attendance.remove(seat)

    # ------------------------------------------------------------ what pages say

    async def say(self, seat: Seat, message: Message) -> None:
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
        self.attendance.put(seat, (message["following"], message["visible"]))

    async def _vote(self, seat: Seat, message: Message) -> None:
        ballot = {"poll_id": message["poll"], "voter": seat.browser}
        ballot["option"] = message["option"]
        if not (self._may_vote(seat) and self._relay.vote(**ballot)):
            self._refuse(seat, "vote", "this vote is not open, or has no such option")

    def _may_vote(self, seat: Seat) -> bool:
        """A student, and not one of ever new names that a program makes up."""
        votes, most = self.room.votes, VOTERS * self.limits.browsers
        return not seat.is_teacher and (seat.browser in votes or len(votes) < most)

    async def _ask(self, seat: Seat, message: Message) -> None:
        self._keep(self._answer(seat, message))  # what it says next doesn't wait

    async def _answer(self, seat: Seat, message: Message) -> None:
        try:
            text = await self._answers.answer(message["kind"], message["payload"])
        except BusyError as busy:
            self._refuse(seat, "busy", str(busy))
            return
        self._say(seat, {"type": "answer", "id": message["id"], "answer": text})

    async def _set(self, seat: Seat, message: Message) -> None:
        state = adopted(self.publication, self.room.state, message)
        seq = self._relay.change("state", state)
        done = {"type": "done", "n": message["n"], "seq": seq}
        self._say(seat, {**done, "epoch": self.room.epoch})

    async def _open_poll(self, seat: Seat, message: Message) -> None:
        options = self._options.get(message["experiment"])
        if options is None:
            self._refuse(seat, "open", "there is no such experiment")
            return
        poll = Poll.new(message["experiment"], options)
        self._relay.change("polls", self.room.with_poll(poll))

    async def _end_poll(self, seat: Seat, message: Message) -> None:
        poll = self.room.poll
        is_reveal = message["type"] == "reveal"
        if poll is None or poll.id != message["poll"]:
            self._refuse(seat, message["type"], "this vote is not on")
        elif not is_reveal or poll.stage == OPEN:
            stage = REVEALED if is_reveal else CLOSED
            self._relay.change("polls", self.room.with_stage(stage))

    async def _csv(self, seat: Seat, message: Message) -> None:
        text = votes_csv(self.room, questions(self.publication.lesson))
        self._say(seat, {"type": "csv", "text": text})

    # ------------------------------------------------------------ what pages are told

    def _refuse(self, seat: Seat, what: str, why: str) -> None:
        self._say(seat, {"type": "refused", "what": what, "why": why})

    def _say(self, seat: Seat, message: Mapping[str, Any]) -> None:
        seat.outlet.send(frame(_json(message)), _now())

    def _tell_counts(self) -> None:
        """Soon, so that thirty pages that come at once are one message."""
        if self._counts_due is None:
            loop = asyncio.get_running_loop()
            self._counts_due = loop.call_later(COUNTS_EVERY, self._counts_now)

    def _counts_now(self) -> None:
        self._counts_due = None
        if news := self.attendance.news():
            self._relay.say({"pages": news})
        counts = self._counts()
        for seat in self.attendance.teachers:
            self._say(seat, counts)

    def _counts(self) -> dict[str, Any]:
        counts = self.attendance.counts()
        return {"type": "counts", **counts, "votes": self.room.counts()}


def _json(message: Mapping[str, Any]) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def _now() -> float:
    return asyncio.get_running_loop().time()


BEAT = frame('{"type":"beat"}')
