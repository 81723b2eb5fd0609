"""The class over HTTP: its page, its channel, and the doors that keep it usable."""

import json
import re
import socket
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from tornado.ioloop import IOLoop
from tornado.iostream import IOStream
from tornado.web import RequestHandler
from tornado.websocket import WebSocketHandler

from residual_stream.page.html import FILES_AT, libraries, links, page_template
from residual_stream.page.policy import served_policy
from residual_stream.serve.classroom.attendance import Seat
from residual_stream.serve.classroom.classroom import Classroom
from residual_stream.serve.classroom.fan_out import Outlet
from residual_stream.serve.classroom.messages import MessageError, read_message
from residual_stream.serve.server import LessonFiles

CLASS_AT = "class"
# RFC 6455, 7.4.1 and the registry of close codes
POLICY_VIOLATION, TRY_AGAIN_LATER = 1008, 1013
# bytes that the system holds for a page, and of them those not yet on their way: more
# would be old states on the way to a slow page
SEND_BUFFER, UNSENT = 32_768, 4096
HOST = re.compile(r"([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")


class ClassPage(RequestHandler):
    """The lesson for everyone in the class: one light page, no session behind it."""

    def initialize(
        self, classroom: Classroom, language: str, files: dict[str, Any]
    ) -> None:
        self.classroom, self.language, self.files = classroom, language, files

    async def get(self) -> None:
        await self.classroom.ready()
        room, files = self.classroom.room, self.files
        state = None if room.state is None else dict(room.state)
        shared = {"room": room.name, "socket": f"{room.name}/socket", "state": state}
        title = self.classroom.publication.lesson.title[self.language or "en"]
        self.set_header("Cache-Control", "no-store")  # the state is in it
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.write(
            page_template().render(
                language=self.language,
                policy=policy(self.request.host),
                title=title,
                files=files,
                files_at=files["at"],
                libraries_at=files["libraries"],
                classroom=json.dumps(shared),
            )
        )

    head = get  # Tornado leaves the body out


class NoClass(RequestHandler):
    """An address of a class that is not here: mistyped, or of another day."""

    def get(self) -> None:
        self.set_status(404)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.write(
            "There is no class at this address. Please ask your teacher for the link.\n"
            "このアドレスの授業はありません。先生にリンクを確認してください。\n"
        )

    head = get


def policy(host: str) -> str:
    """The page's policy; older browsers don't count the channel to "self"."""
    channel = f" ws://{host} wss://{host}" if HOST.fullmatch(host) else ""
    return served_policy(connect=f"'self'{channel}")


def hold_little(way: socket.socket) -> None:
    """What a page is sent goes at once, or stays here until it may be out of date."""
    way.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    way.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):  # not on Windows
        way.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)


class ClassSocket(WebSocketHandler):
    """One page's channel; see `messages` for what it may say."""

    def initialize(self, classroom: Classroom, origins: Collection[str]) -> None:
        self.classroom, self.origins = classroom, origins
        self.member: Seat | None = None

    @property
    def max_message_size(self) -> int:
        """Longer messages end the connection before they are read."""
        return self.classroom.limits.message_bytes

    def check_origin(self, origin: str) -> bool:
        """Pages of this server, and of the hosts that the teacher has named."""
        host = urlsplit(origin).netloc
        return host == self.request.host or host in self.origins

    async def prepare(self) -> None:
        await self.classroom.ready()

    def open(self, *_args: str, **_kwargs: str) -> None:
        stream: IOStream = self.ws_connection.stream  # type: ignore[union-attr, assignment]
        hold_little(stream.socket)
        self.request.headers.clear()  # cookies too, for as long as the page is there
        if self.classroom.attendance.is_full():
            limit = self.classroom.limits.browsers
            why = f"the class is full: {limit} pages; --class-limit sets it"
            self.write_message({"type": "refused", "what": "full", "why": why})
            self.close(TRY_AGAIN_LATER, "full")
            return
        loop = IOLoop.current()
        self.member = self.classroom.attendance.add(Outlet(stream, loop.time()))
        loop.call_later(self.classroom.limits.hello_within, self._expect_hello)

    def _expect_hello(self) -> None:
        if self.member and not self.member.browser:
            self._put_out("no hello")

    async def on_message(self, message: str | bytes) -> None:
        seat = self.member
        if seat is None:
            return
        try:
            self._count(seat)
            read = read_message(message)
            if not seat.browser and read["type"] != "hello":
                raise MessageError("needs a hello first")
        except MessageError as bad:
            self.write_message({"type": "refused", "what": "message", "why": str(bad)})
            self._put_out(str(bad))
            return
        if seat.browser:
            await self.classroom.requests.do(seat, read)
        else:
            self.classroom.hello(seat, read)

    def on_ping(self, data: bytes) -> None:
        if self.member:
            try:
                self._count(self.member)
            except MessageError as bad:
                self._put_out(str(bad))

    def _put_out(self, why: str) -> None:
        self.close(POLICY_VIOLATION, why[:120])
        # what is still on its way from there is not read, and nothing follows the close
        self.on_close()

    def _count(self, seat: Seat) -> None:
        if not seat.allowance.take(IOLoop.current().time()):
            raise MessageError("too many messages at once")

    def on_close(self) -> None:
        if self.member:
            self.classroom.leave(self.member)
            self.member = None


def routes(
    classroom: Classroom, language: str = "", origins: Collection[str] = ()
) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """What a server needs for a class: the page, its files, its channel."""
    vendor = libraries()[:1]  # no widgets and nothing of Panel's in this page
    publication = classroom.publication
    files = publication.files | {file.name: file for file in vendor}
    for file in files.values():
        file.compressed  # noqa: B018  # once, before the class comes in
    at = f"../{FILES_AT}/"
    page = {
        "classroom": classroom,
        "language": language,
        "files": links(publication, vendor, at),
    }
    where = f"/{CLASS_AT}/{re.escape(classroom.room.name)}"
    channel = {"classroom": classroom, "origins": origins}
    return [
        (where, ClassPage, page),
        (rf"{where}/socket", ClassSocket, channel),
        (rf"/{CLASS_AT}/.*", NoClass, {}),
        (rf"/{FILES_AT}/([\w.-]+)", LessonFiles, {"files": files}),
    ]
