"""As much of a browser in a live class as its server notices, a thousand times."""

import asyncio
import base64
import gzip
import json
import re
import secrets
import socket
import struct
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

clock = time.perf_counter
WAVE = 100  # connections that are opened together
AT_ONCE = 4096  # bytes; asyncio would ask the system for 256 kB for each message
SLOW_BUFFER = 2048  # bytes that a slow page's system takes before it is read
SLOW_REST = 1.0  # seconds between two looks of a slow page
# what Chromium says of itself; a server that keeps it pays for it
BROWSER = """User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 \
(KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36
Accept-Encoding: gzip, deflate, br, zstd
Accept-Language: ja,en-US;q=0.9,en;q=0.8
Cache-Control: no-cache
Pragma: no-cache"""
FILE = re.compile(rb'(?: href| src)="\.\./(lesson-files/[\w.-]+)"')
LATE = re.compile(rb' data-src="\.\./(lesson-files/[\w.-]+)"')


def masked(message: Any) -> bytes:
    """A browser's frame; a mask of zeros leaves the text as it is."""
    data = json.dumps(message).encode()
    if len(data) < 126:
        return bytes([0x81, 0x80 | len(data), 0, 0, 0, 0]) + data
    return struct.pack("!BBHI", 0x81, 0x80 | 126, len(data), 0) + data


@lru_cache(256)
def read(text: bytes) -> Any:
    """A message; what a thousand pages are told is parsed once."""
    return json.loads(text)


class Switch:
    """One change of the room, and when each page had it."""

    def __init__(self, seq: int, pages: int) -> None:
        self.seq, self.left, self.times = seq, pages, list[float]()
        self.all_have_it = asyncio.Event()
        self.sent_at = clock()

    def arrived(self) -> None:
        self.times.append(1000 * (clock() - self.sent_at))
        self.left -= 1
        if self.left == 0:
            self.all_have_it.set()


class Class:
    """The pages of a room, and the change that is awaited.

    link:  of the students, or of the teacher with her key behind "#".
    """

    def __init__(self, link: str) -> None:
        parts = urlsplit(link)
        self.host, self.port, self.path = "127.0.0.1", parts.port, parts.path
        self.name, self.key = parts.netloc, parts.fragment.removeprefix("key=")
        self.pages: list[Page] = []
        self.switch = Switch(2**53, 0)

    def request(self, path: str, more: str = "") -> bytes:
        lines = [f"GET {path} HTTP/1.1", f"Host: {self.name}", *BROWSER.split("\n")]
        return "\r\n".join([*lines, *more.split("\n"), "", ""]).encode()

    def upgrade(self) -> bytes:
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        return self.request(
            f"{self.path}/socket",
            f"Connection: Upgrade\nUpgrade: websocket\nOrigin: http://{self.name}\n"
            f"Sec-WebSocket-Version: 13\nSec-WebSocket-Key: {key}\n"
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
        )

    async def join(
        self, count: int, is_teacher: bool = False, is_slow: bool = False
    ) -> list["Page"]:
        """So many further pages, in waves; returns when all have been answered."""
        new: list[Page] = []
        while len(new) < count:
            wave = [Page(self, is_teacher, is_slow) for _ in range(count - len(new))]
            await asyncio.gather(*(page.connect() for page in wave[:WAVE]))
            new += wave[:WAVE]
        self.pages += [page for page in new if page.role]
        return new

    async def leave(self) -> None:
        for page in self.pages:
            page.transport.close()
        self.pages.clear()
        await asyncio.sleep(0.5)


class Page(asyncio.Protocol):
    """One page's channel: it says hello, and notes what it is told."""

    def __init__(self, among: Class, is_teacher: bool, is_slow: bool) -> None:
        self.among, self.is_slow = among, is_slow
        self.id = secrets.token_urlsafe(16)
        self.said = {"type": "hello", "id": self.id, "following": True, "visible": True}
        if is_teacher:
            self.said["key"] = among.key
        self.is_open, self.kept = False, b""
        self.role, self.epoch, self.seq, self.room = "", "", -1, dict[str, Any]()
        self.states = self.misordered = self.status = self.close_code = 0
        self.heard: dict[str, Any] = {}
        self.answered = asyncio.get_running_loop().create_future()

    async def connect(self) -> None:
        """Open, say hello; done with the answer, whichever it is."""
        way = socket.socket()
        if self.is_slow:
            way.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_BUFFER)
        way.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(way, (self.among.host, self.among.port))
        self.transport, _ = await loop.create_connection(lambda: self, sock=way)
        self.transport.max_size = AT_ONCE
        self.transport.write(self.among.upgrade())
        await asyncio.wait_for(self.answered, 60)

    def say(self, **message: Any) -> None:
        self.transport.write(masked(message))

    def data_received(self, data: bytes) -> None:
        self.kept += data
        if not self.is_open:
            head, end, rest = self.kept.partition(b"\r\n\r\n")
            if not end:
                return
            self.is_open, self.kept, self.status = True, rest, int(head[9:12])
            if self.status == 101:
                self.say(**self.said)
        while (frame := self._next_frame()) is not None:
            self._read(*frame)
        if self.is_slow and self.role:
            self.transport.pause_reading()
            asyncio.get_running_loop().call_later(SLOW_REST, self.look_again)

    def look_again(self) -> None:
        if not self.transport.is_closing() and not self.transport.is_reading():
            self.transport.resume_reading()

    def wake(self) -> None:
        """Slow no longer: reads what there is."""
        self.is_slow = False
        self.look_again()

    def _next_frame(self) -> tuple[int, bytes] | None:
        kept = self.kept
        if self.status != 101 or len(kept) < 2:
            return None
        length, start = kept[1], 2
        if length > 125:
            start = 4 if length == 126 else 10
            length = int.from_bytes(kept[2:start])
        if len(kept) < start + length:
            return None
        self.kept = kept[start + length :]
        return kept[0] & 15, kept[start : start + length]

    def _read(self, kind: int, data: bytes) -> None:
        if kind == 8:
            self.close_code = int.from_bytes(data[:2])
            self.transport.close()
            return
        message = read(data)
        self.heard[message["type"]] = message
        if message["type"] == "room":
            self.states += 1
            self._note(message)
        elif message["type"] == "welcome":
            self.role = message["role"]
            self._note(message["room"])
            self.answered.set_result(None)

    def _note(self, room: Any) -> None:
        if room["epoch"] == self.epoch and room["seq"] <= self.seq:
            self.misordered += 1
        switch = self.among.switch
        if self.seq < switch.seq <= room["seq"]:
            switch.arrived()
        self.epoch, self.seq, self.room = room["epoch"], room["seq"], room

    def connection_lost(self, _: Exception | None) -> None:
        if not self.answered.done():
            self.answered.set_result(None)


class Loading(asyncio.Protocol):
    """A connection that a browser loads files over, one after the other."""

    def __init__(self) -> None:
        self.body, self.left, self.is_head = b"", 0, True

    async def get(self, request: bytes) -> bytes:
        """The body as it came; raises ConnectionError for anything but 200."""
        self.body, self.left, self.is_head = b"", 0, True
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await asyncio.wait_for(self.answer, 120)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.is_head:
            self.body += data
            head, end, data = self.body.partition(b"\r\n\r\n")
            if not end:
                return
            self.is_head, self.body, self.kept = False, b"", []
            if b" 200 " not in head[:14]:
                self.answer.set_exception(ConnectionError(head[:30].decode()))
                return
            self.left = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
        self.kept.append(data)
        self.left -= len(data)
        if self.left == 0:
            self.answer.set_result(b"".join(self.kept))

    def connection_lost(self, _: Exception | None) -> None:
        if not self.answer.done():
            self.answer.set_exception(ConnectionError("closed"))


async def visit(among: Class) -> tuple[Page, int, list[Loading]]:
    """The page, its files as a browser loads them with nothing kept, its channel.

    returns  the page, the bytes that were loaded, the connections left open.
    """
    ways = [await _way(among)]
    html = await ways[0].get(among.request(among.path))
    if html[:2] == b"\x1f\x8b":
        size, html = len(html), gzip.decompress(html)
    else:
        size = len(html)
    names = [name.decode() for name in dict.fromkeys(FILE.findall(html))]
    ways += [await _way(among) for _ in names[1:]]
    got = await asyncio.gather(
        *(w.get(among.request(f"/{n}")) for w, n in zip(ways, names, strict=True))
    )
    late: Sequence[bytes] = LATE.findall(html)
    got += [await ways[0].get(among.request(f"/{name.decode()}")) for name in late]
    page = Page(among, False, False)
    await page.connect()
    among.pages.append(page)
    return page, size + sum(map(len, got)), ways


async def _way(among: Class) -> Loading:
    loop = asyncio.get_running_loop()
    _, way = await loop.create_connection(Loading, among.host, among.port)
    return way
