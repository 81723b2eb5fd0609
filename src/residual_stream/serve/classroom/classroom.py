"""One room at work: who comes and goes, and what each page is told."""

import asyncio
import json
from collections.abc import Coroutine, Mapping
from typing import Any

from residual_stream.page.publication import Publication
from residual_stream.serve.classroom.attendance import Attendance, Seat, read_statuses
from residual_stream.serve.classroom.fan_out import FanOut, frame
from residual_stream.serve.classroom.keys import is_key
from residual_stream.serve.classroom.limits import TEACHER_FACTOR, Allowance, Limits
from residual_stream.serve.classroom.messages import Message
from residual_stream.serve.classroom.relay import Relay
from residual_stream.serve.classroom.requests import Requests
from residual_stream.serve.classroom.room import Room

SWEEP_EVERY = 2.0  # seconds
COUNTS_EVERY = 0.25
BEAT_AFTER = 15.0


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
        self.requests = Requests(
            self.room, publication, relay, limits, self.attendance, self._say
        )
        self._fan_out = FanOut()
        self._frame = b""
        self._opening: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._counts_due: asyncio.TimerHandle | None = None

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
        self.requests.close()
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

    # ------------------------------------------------------------ what pages are told

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
