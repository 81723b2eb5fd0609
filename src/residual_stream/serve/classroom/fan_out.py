"""The newest state to many pages: a page that is slow gets the latest, no queue."""

import asyncio
import struct
from typing import Protocol

AT_ONCE = 50  # pages between two looks at what else there is to do
TEXT_AND_FINAL = 0x81


class Stream(Protocol):
    """As much of Tornado's IOStream as is needed."""

    def write(self, data: bytes) -> "asyncio.Future[None]":
        """Send, or keep what can't be sent yet."""

    def write_to_fd(self, data: memoryview) -> int:
        """Send what can be sent at once, and say how many bytes that was.

        raises  BlockingIOError for none, another OSError for a way that is lost.
        """

    def writing(self) -> bool:
        """Whether something is kept."""

    def closed(self) -> bool:
        """Whether the way to the page is lost."""


def frame(text: str) -> bytes:
    """A text as a WebSocket frame of a server (RFC 6455, 5.2), made once for all."""
    data = text.encode()
    length = len(data)
    if length < 126:
        head = struct.pack("!BB", TEXT_AND_FINAL, length)
    elif length < 2**16:
        head = struct.pack("!BBH", TEXT_AND_FINAL, 126, length)
    else:
        head = struct.pack("!BBQ", TEXT_AND_FINAL, 127, length)
    return head + data


class Outlet:
    """The way to one page."""

    __slots__ = ("_latest", "_shown", "_stream", "is_closed", "used_at")

    def __init__(self, stream: Stream, now: float) -> None:
        self._stream = stream
        self._latest = self._shown = b""
        self.is_closed = False
        self.used_at = now

    def send(self, data: bytes, now: float) -> None:
        """Send a frame that every page needs to get, an answer for example."""
        self._write(data, now)

    def has(self, latest: bytes) -> None:
        """The page has been told this state in another way."""
        self._latest = self._shown = latest

    def show(self, latest: bytes, now: float) -> None:
        """Send the newest state; while an earlier one is under way it waits."""
        self._latest = latest
        if not self._stream.writing():
            self._catch_up(now)

    def _catch_up(self, now: float) -> None:
        if self._latest is self._shown:
            return
        self._shown = self._latest
        self._write(self._latest, now)

    def _write(self, data: bytes, now: float) -> None:
        # a stream knows of its end before the page's handler does
        if self.is_closed or self._stream.closed():
            return
        self.used_at = now
        left = data if self._stream.writing() else self._at_once(data)
        if left:
            # a stream that ends now tells it to the future
            self._stream.write(left).add_done_callback(self._sent)

    def _at_once(self, data: bytes) -> bytes:
        """Send what the system takes now; returns the rest.

        Nearly always that is all, and the stream's queue would cost half as much again.
        """
        try:
            return data[self._stream.write_to_fd(memoryview(data)) :]
        except OSError:  # full or lost; the stream waits for it, or closes
            return data

    def _sent(self, sent: "asyncio.Future[None]") -> None:
        if not sent.cancelled() and sent.exception() is None:
            self._catch_up(self.used_at)


class FanOut:
    """Brings the newest frame to all outlets, a few at a time."""

    def __init__(self) -> None:
        self.outlets: set[Outlet] = set()
        self._latest = b""
        self._going: asyncio.Task[None] | None = None

    def show(self, latest: bytes) -> None:
        """From now on this is what every page should have."""
        self._latest = latest
        if self._going is None:
            self._going = asyncio.get_running_loop().create_task(self._go())

    async def _go(self) -> None:
        try:
            done = b""
            while done is not self._latest:
                done = self._latest
                await self._round()
        finally:
            self._going = None

    async def _round(self) -> None:
        loop = asyncio.get_running_loop()
        for number, outlet in enumerate(list(self.outlets), start=1):
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
            # what has become the newest meanwhile goes on from here
            outlet.show(self._latest, loop.time())
