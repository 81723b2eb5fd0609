"""How a room's changes reach every process that serves it; here, the only one."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from residual_stream.lesson.files import LessonError
from residual_stream.lesson.writing import write_whole
from residual_stream.page.component import new_state
from residual_stream.page.publication import Publication
from residual_stream.page.state import LessonState
from residual_stream.serve.classroom.keys import checked_room
from residual_stream.serve.classroom.room import Room

SHARED = (
    *("view", "step", "depth", "residual", "token", "compare"),
    *("experiment", "lab"),
)
NOT_SHARED = "links"  # the teacher's own view


def adopted(
    publication: Publication,
    current: Mapping[str, Any] | None,
    message: Mapping[str, Any],
) -> dict[str, Any]:
    """A teacher's `message["state"]` over the current one.

    A value that is not allowed is left out; the others are taken.
    """
    wanted = message["state"]
    state: LessonState = new_state(publication)
    state.adopt({n: current[n] for n in SHARED if n in current} if current else {})
    news = {name: wanted[name] for name in SHARED if name in wanted}
    if news.get("view") == NOT_SHARED:
        del news["view"]
    state.adopt(news)
    shared = state.as_dict()
    return {name: shared[name] for name in SHARED}


SAVE_VOTES_AFTER = 0.3  # seconds; a hundred votes at once are one file


class Listener(Protocol):
    """Who is told of what came.

    process:  the name of this process, among those that serve the room.
    """

    @property
    def process(self) -> str: ...

    def room_changed(self) -> None:
        """The room's state or polls are new."""

    def votes_changed(self) -> None:
        """A vote was counted."""

    def store_changed(self, is_there: bool) -> None:
        """The shared store went away or came back."""

    def heard(self, process: str, news: Mapping[str, Any]) -> None:
        """Another process said something."""


class Relay(Protocol):
    """Gives changes their order and brings them to every process.

    is_there:  whether the room is kept and shared now, as it should be.
    """

    @property
    def is_there(self) -> bool: ...

    async def open(self, room: Room, listener: Listener) -> None:
        """Bring the room up to date and keep it so."""

    def change(self, what: str, value: Any) -> int:
        """Make a value of "state" or "polls" the newest; returns its number."""

    def vote(self, poll_id: str, voter: str, option: str) -> bool:
        """Count a vote; False if it can't be."""

    def say(self, news: Mapping[str, Any]) -> None:
        """Tell the other processes."""

    async def close(self) -> None:
        """Let go of what is open."""


class OneProcess:
    """A room in this process alone, kept in a file if one is named.

    file:  holds the state and the votes, so that a restart goes on from there.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.is_there = True
        self._file = file
        self._saving: asyncio.TimerHandle | None = None

    async def open(self, room: Room, listener: Listener) -> None:
        """Read the file, if there is one.

        raises  LessonError, one line, for a file that does not hold this room.
        """
        self._room, self._listener = room, listener
        read_room(self._file, room)

    def change(self, what: str, value: Any) -> int:
        """Apply it and write the file."""
        self._room.apply(what, value)
        self._listener.room_changed()
        self._save()
        return self._room.seq

    def vote(self, poll_id: str, voter: str, option: str) -> bool:
        """Count it at once; the file follows."""
        if not self._room.vote(poll_id, voter, option):
            return False
        self._listener.votes_changed()
        if self._file and self._saving is None:
            loop = asyncio.get_running_loop()
            self._saving = loop.call_later(SAVE_VOTES_AFTER, self._save)
        return True

    def say(self, news: Mapping[str, Any]) -> None:
        """There is nobody else."""

    async def close(self) -> None:
        """Write what has not been written."""
        if self._saving:
            self._save()

    def _save(self) -> None:
        if self._saving:
            self._saving.cancel()
            self._saving = None
        if self._file is None:
            return
        try:
            write_room(self._file, self._room)
            is_there = True
        except OSError:  # a full disk: the class goes on, the teacher is told
            is_there = False
        if is_there != self.is_there:
            self.is_there = is_there
            self._listener.store_changed(is_there)


def read_room(file: Path | None, room: Room) -> None:
    """Let a room go on from a file; nothing happens if there is none yet.

    raises  LessonError, one line, if the file can't be read or holds something else.
    """
    name = kept_room(file, room)
    if name not in ("", room.name):  # or its votes would be written over
        raise LessonError(
            f"--state-file {str(file)!r}: holds the room {name}; add --room {name} or "
            "name another file"
        )


def kept_room(file: Path | None, room: Room | None = None) -> str:
    """The name of the room in a file; "" if there is none yet.

    room:   goes on from the file, if it is the one.
    raises  LessonError, one line, if the file can't be read or holds something else.
    """
    if file is None:
        return ""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        name = checked_room(data["room"])
        if room and name == room.name:
            room.adopt(data)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = getattr(error, "strerror", None) or "does not hold a class's room"
        raise LessonError(
            f"--state-file {str(file)!r}: {reason}; name another file, or one that "
            "does not exist"
        ) from None
    return name


def try_room(file: Path | None, room: Room) -> None:
    """See that a room can be kept in a file, before the class begins.

    raises  LessonError, one line, if it can't be.
    """
    read_room(file, room)
    if file is None or file.exists():
        return
    try:
        write_room(file, room)
    except OSError as error:
        raise LessonError(
            f"--state-file {str(file)!r}: {error.strerror}; name another file"
        ) from None


def write_room(file: Path, room: Room) -> None:
    """Write a room in one go: whoever reads finds the old file or the new.

    raises  OSError if that can't be done.
    """
    data = {"room": room.name, **room.as_data()}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    write_whole(file, text.encode(), 0o600)
