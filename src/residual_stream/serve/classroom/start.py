"""A classroom from what a teacher has set, in a call or in the environment."""

import io
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import segno

from residual_stream.lesson.files import LessonError
from residual_stream.page.publication import Publication
from residual_stream.serve.classroom.classroom import Classroom
from residual_stream.serve.classroom.handlers import CLASS_AT
from residual_stream.serve.classroom.keys import (
    checked_room,
    kept_key,
    new_key,
    new_room,
)
from residual_stream.serve.classroom.limits import MOST_BROWSERS, Limits
from residual_stream.serve.classroom.relay import OneProcess, Relay, kept_room, try_room
from residual_stream.serve.classroom.room import Room

VARIABLES = "RESIDUAL_STREAM_"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104
# an address for documentation (RFC 5737): nothing is sent to find the way there
SOMEWHERE = ("192.0.2.1", 9)


@dataclass(frozen=True)
class Class:
    """What a teacher sets of a class.

    room:        the name in its address; "" takes the one of the state file, or makes
                 one up.
    key_file:    where the teacher's key is kept; None makes one for this run.
    state_file:  where state and votes are kept; None keeps them in memory.
    redis:       the address of a Redis that several servers share; "" for none.
    """

    room: str = ""
    key_file: Path | None = None
    state_file: Path | None = None
    redis: str = ""
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Class":
        """RESIDUAL_STREAM_ROOM, _KEY_FILE, _STATE_FILE, _REDIS and _CLASS_LIMIT.

        raises  LessonError for a limit that is no number.
        """

        def path(name: str) -> Path | None:
            value = environment.get(VARIABLES + name, "")
            return Path(value) if value else None

        limit = environment.get(f"{VARIABLES}CLASS_LIMIT", "") or str(Limits.browsers)
        # its length first: Python refuses to read a number of endless digits
        is_number = limit.isascii() and limit.isdecimal() and len(limit) <= 6
        if not (is_number and 1 <= int(limit) <= MOST_BROWSERS):
            raise LessonError(
                f"{VARIABLES}CLASS_LIMIT: {limit[:20]!r}; needs 1 to {MOST_BROWSERS}"
            )
        return cls(
            environment.get(f"{VARIABLES}ROOM", ""),
            path("KEY_FILE"),
            path("STATE_FILE"),
            environment.get(f"{VARIABLES}REDIS", ""),
            Limits(int(limit)),
        )

    def relay(self, room: str) -> Relay:
        """What brings the room's changes to every process.

        raises  LessonError, one line, for what can't be used.
        """
        if not self.redis:
            try_room(self.state_file, Room(room))  # now, not with the first student
            return OneProcess(self.state_file)
        if self.state_file:
            raise LessonError(
                "--state-file: Redis keeps the room; leave one of them out"
            )
        try:
            from residual_stream.serve.classroom.redis_address import try_redis
            from residual_stream.serve.classroom.redis_relay import RedisRelay
        except ModuleNotFoundError:
            raise LessonError(
                "--redis: needs redis-py; pip install 'residual-stream[redis]'"
            ) from None
        try_redis(self.redis)
        return RedisRelay(self.redis)


@dataclass(frozen=True)
class Opened:
    """A classroom and the key of its teacher."""

    classroom: Classroom
    key: str = field(repr=False)

    def links(self, home: str) -> tuple[str, str]:
        """The students' link and the teacher's.

        home:  the server's address as browsers reach it; ends with "/".
        """
        students = f"{home}{CLASS_AT}/{self.classroom.room.name}"
        # what follows "#" is sent to no server and stands in no log
        return students, f"{students}#key={self.key}"


def open_class(publication: Publication, settings: Class) -> Opened:
    """A room for a lesson.

    raises  LessonError, one line, for a name, a file or an address that can't be used.
    """
    kept = settings.room or kept_room(settings.state_file)
    room = checked_room(kept) if kept else new_room()
    key = new_key() if settings.key_file is None else kept_key(settings.key_file)
    relay = settings.relay(room)
    return Opened(Classroom(room, key, publication, relay, settings.limits), key)


def qr_text(link: str) -> str:
    """A link's QR code in block letters, for a terminal."""
    out = io.StringIO()
    segno.make(link, error="m", micro=False).terminal(out, border=2, compact=True)
    return out.getvalue().rstrip("\n")


def host_in_network(address: str) -> str:
    """The name or number by which other machines reach a server on `address`."""
    if address in LOOPBACK:
        return "localhost"
    if address not in EVERYWHERE:
        return address
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(SOMEWHERE)  # a datagram socket only looks up the way
            return str(way.getsockname()[0])
        except OSError:  # no network at all
            return socket.gethostname()
