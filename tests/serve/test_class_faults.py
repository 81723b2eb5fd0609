"""Whatever breaks in a class, all its pages end on the same state."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError

from conftest import OPTIONS, Served, serving
from helpers.class_browser import Somebody
from helpers.class_client import ClassClient, browser_id, run
from helpers.redis_server import RedisServer, lasting_port
from residual_stream.serve.classroom.fan_out import FanOut, Outlet

PATIENCE = 20
AWAY = 1.0  # seconds without a network; TCP does nothing else in ten
AT_FIRST = {
    "view": "lesson",
    "step": 0,
    "depth": 3,
    "residual": True,
    "token": "bank",
    "compare": False,
    "experiment": "",
    "lab": "",
}


class Servers:
    """The servers of one class, each on a port that it keeps."""

    def __init__(self, folder: Path, *options: str) -> None:
        room = ["--class", "--room", "faults", "--key-file", str(folder / "key")]
        self._options = [*room, *options]
        self._running: dict[int, tuple[ExitStack, Served]] = {}

    def start(self, port: int = 0, *options: str) -> str:
        """The students' link of one more server."""
        stack = ExitStack()
        command = ["residual-stream", "serve", "--port", str(port or lasting_port())]
        served = stack.enter_context(serving(*command, *self._options, *options))
        said = ""
        while "teacher:" not in said:
            line = served.process.stdout.readline()
            assert line, f"the server ended: {said}"
            said += line
        link, self.key = re.search(r"teacher:\s+(\S+)#key=(\S+)", said).groups()
        self._running[port_of(link)] = stack, served
        return link.replace("localhost", "127.0.0.1")

    def kill(self, link: str) -> None:
        """As when the power goes."""
        stack, served = self._running.pop(port_of(link))
        served.process.kill()
        stack.close()

    def stop(self) -> None:
        for stack, _ in self._running.values():
            stack.close()
        self._running.clear()


def port_of(link: str) -> int:
    return int(re.search(r":(\d+)/", link)[1])


class Page:
    """What a browser's page does about its class, with the drawing left out.

    links:  where it finds the class; it tries one after the other.
    """

    def __init__(self, *links: str, key: str | None = None, id_: str = "") -> None:
        self.links, self.key, self.id = links, key, id_ or browser_id()
        self.state = dict(AT_FIRST)
        self.poll: dict[str, Any] | None = None
        self.number = ("", -1)  # epoch and seq
        self.counts: dict[str, Any] = {}
        self.store: list[bool] = []
        self.welcomes = 0
        self.vote: dict[str, str] = {}
        self._sets, self._is_owed = 0, False
        self._newest: dict[str, Any] | None = None
        self._client: ClassClient | None = None

    async def live(self) -> None:
        """Come in, again and again."""
        while True:
            for link in self.links:
                with suppress(OSError, WebSocketClosedError, TimeoutError):
                    await self._stay(link)
                await asyncio.sleep(0.05)

    async def _stay(self, link: str) -> None:
        client = await ClassClient.join(link, self.key, self.id)
        self._client = client
        try:
            await self._welcomed(client.heard[-1])
            while (message := await client.next()) is not None:
                self._hear(message)
        finally:
            self._client = None
            client.socket.close()

    async def _welcomed(self, welcome: dict[str, Any]) -> None:
        self.welcomes += 1
        self.number = ("", -1)  # whatever another server has said
        self._hear_room(welcome["room"])
        if self.key and (self._is_owed or welcome["room"]["state"] is None):
            await self.set()
        if self.vote and welcome["vote"] != self.vote["option"]:
            await self.say("vote", **self.vote)

    def _hear(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "room":
                self._hear_room(message)
            case "done" if message["n"] == self._sets:
                self._is_owed = False
                self.number = message["epoch"], message["seq"]
                self._take_newest()
            case "counts":
                self.counts = message
            case "store":
                self.store.append(message["ok"])

    def _hear_room(self, room: dict[str, Any]) -> None:
        self._newest = room
        self._take_newest()

    def _take_newest(self) -> None:
        """Not while a change of its own is on its way: that one comes later."""
        room = self._newest
        if room is None or self._is_owed:
            return
        self._newest = None
        epoch, seq = room["epoch"], room["seq"]
        if epoch != self.number[0] or seq > self.number[1]:
            self.number, self.poll = (epoch, seq), room["poll"]
            self.state = room["state"] or self.state

    @property
    def n_votes(self) -> int:
        return sum((self.counts.get("votes") or {}).values())

    async def say(self, type_: str, **message: Any) -> None:
        """Say it, or not if nobody hears."""
        if self._client:
            with suppress(WebSocketClosedError):
                await self._client.say(type_, **message)

    async def set(self, **change: Any) -> None:
        """As the teacher: change the page, and tell it."""
        self.state = {**self.state, **change}
        self._sets, self._is_owed = self._sets + 1, True
        await self.say("set", n=self._sets, state=self.state)

    async def choose(self, option: str) -> None:
        """As a student: vote in the poll that is on."""
        self.vote = {"poll": self.poll["id"], "option": option}
        await self.say("vote", **self.vote)


@asynccontextmanager
async def open_pages(*pages: Page) -> AsyncIterator[None]:
    """The pages are in the class, until the end."""
    lives = [asyncio.create_task(page.live()) for page in pages]
    try:
        for page in pages:
            await until(lambda page=page: page.welcomes, "it comes in")
        yield
    finally:
        for life in lives:
            life.cancel()
        await asyncio.wait(lives)


async def until(is_so: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"in vain: {what}"
        await asyncio.sleep(0.01)


async def all_at(step: int, *pages: Page) -> None:
    """All pages show the step, and know the same room, number and epoch included."""

    def are_there() -> bool:
        first = pages[0]
        known = first.number, first.state
        return first.state["step"] == step and all(
            (page.number, page.state) == known for page in pages
        )

    try:
        await until(are_there, "")
    except AssertionError:
        found = "\n".join(f"{page.number} {page.state}" for page in pages)
        pytest.fail(f"not all at {step}:\n{found}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module")
def servers(folder) -> Iterator[Servers]:
    made = Servers(folder)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def keeping(folder) -> list[str]:
    """The options of a server that keeps its class."""
    return ["--state-file", str(folder / "state")]


@pytest.fixture(scope="module")
def link(servers, keeping) -> str:
    """The link of a class that runs; tests that end its server start it again."""
    return servers.start(0, *keeping)


# ------------------------------------------------------------ the network


class Network:
    """A way to a server that can stop passing bytes, or break."""

    def __init__(self, link: str) -> None:
        self._to = port_of(link)
        self._passes = asyncio.Event()
        self._passes.set()
        self._ways: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def up(self, link: str) -> AsyncIterator[str]:
        """The link through this network."""
        server = await asyncio.start_server(self._open, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            yield link.replace(f":{self._to}/", f":{port}/")
        finally:
            server.close()
            self.cut()
            await server.wait_closed()

    def stop(self) -> None:
        self._passes.clear()

    def go_on(self) -> None:
        self._passes.set()

    def cut(self) -> None:
        for way in list(self._ways):
            way.transport.abort()

    async def _open(self, reader: Any, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection("127.0.0.1", self._to)
        self._ways |= {writer, there[1]}
        both = self._carry(reader, there[1]), self._carry(there[0], writer)
        await asyncio.gather(*both)
        self._ways -= {writer, there[1]}

    async def _carry(self, reader: Any, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                await self._passes.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


def test_a_page_without_a_network_catches_up_with_the_newest(servers, link):
    async def lesson() -> None:
        network = Network(link)
        async with network.up(link) as through:
            teacher = Page(link, key=servers.key)
            far, near = Page(through), Page(link)
            async with open_pages(teacher, far, near):
                await teacher.set(step=1)
                await all_at(1, teacher, near, far)
                network.stop()
                for step in range(2, 12):
                    await teacher.set(step=step, view="lesson")
                    await asyncio.sleep(AWAY / 10)
                await all_at(11, teacher, near)
                assert far.state["step"] == 1
                network.go_on()
                await all_at(11, teacher, near, far)
                assert far.welcomes == 1

    run(lesson())


def test_pages_and_a_teacher_whose_connections_break_come_back(servers, link):
    async def lesson() -> None:
        network = Network(link)
        async with network.up(link) as through:
            teacher, far = Page(through, key=servers.key), Page(through)
            near = Page(link)
            async with open_pages(teacher, far, near):
                for step in range(1, 6):
                    await teacher.set(step=step)
                    network.cut()
                    await until(lambda: teacher._client, "the teacher is back")
                await all_at(5, teacher, near, far)
                await teacher.set(step=9, residual=False)
                await all_at(9, teacher, near, far)
                assert far.state["residual"] is False
                assert min(teacher.welcomes, far.welcomes) > 1
                await until(lambda: teacher.counts["following"] == 2, "all are counted")

    run(lesson())


class Stream:
    """The stream of a page; its end is known before anybody has been told."""

    def __init__(self, is_closed: bool) -> None:
        self.is_closed, self.sent = is_closed, b""

    def closed(self) -> bool:
        return self.is_closed

    def writing(self) -> bool:
        return False

    def write_to_fd(self, data: memoryview) -> int:
        if self.is_closed:
            raise AttributeError  # the socket is gone
        self.sent = bytes(data)
        return len(data)

    def write(self, data: bytes) -> "asyncio.Future[None]":
        raise StreamClosedError


def test_a_page_that_has_just_gone_keeps_nothing_from_the_others():
    async def show() -> None:
        streams = [Stream(number % 2 == 0) for number in range(20)]
        pages = FanOut()
        pages.outlets |= {Outlet(stream, 0) for stream in streams}
        pages.show(b"newest")
        await until(lambda: sum(s.sent == b"newest" for s in streams) == 10, "all")

    run(show())


# ------------------------------------------------------------ the teacher


def test_a_teacher_goes_on_in_another_browser_with_the_link(servers, link):
    async def lesson() -> None:
        student = Page(link)
        async with open_pages(student):
            first = Page(link, key=servers.key)
            async with open_pages(first):
                await first.set(step=12, residual=True)
                await all_at(12, first, student)
            elsewhere = Page(link, key=servers.key)
            async with open_pages(elsewhere):
                await all_at(12, elsewhere, student)
                await elsewhere.set(step=13)
                await all_at(13, elsewhere, student)
                await until(lambda: elsewhere.counts, "it is told the counts")
                await until(lambda: elsewhere.counts["following"] == 1, "one follows")

    run(lesson())


def test_two_tabs_of_a_teacher_end_on_the_same(servers, link):
    async def lesson() -> None:
        tabs = [Page(link, key=servers.key, id_="t" * 22) for _ in range(2)]
        student = Page(link)
        async with open_pages(*tabs, student):
            for step in range(1, 20):
                await tabs[step % 2].set(step=step)
            await tabs[0].set(step=3)
            await tabs[1].set(step=4)
            await until(
                lambda: (
                    tabs[0].state == tabs[1].state == student.state
                    and student.state["step"] in (3, 4)
                ),
                "all agree on one of the last two",
            )

    run(lesson())


# ------------------------------------------------------------ the server


def test_a_killed_server_goes_on_from_its_file(servers, link, keeping):
    async def lesson() -> None:
        teacher = Page(link, key=servers.key)
        ann, ben = Page(link), Page(link)
        async with open_pages(teacher, ann, ben):
            await teacher.set(view="experiments", experiment="F1", step=5)
            await teacher.say("open", experiment="F1")
            await until(lambda: ann.poll and ben.poll, "the vote is open")
            option, other, *_ = ann.poll["options"]
            await ann.choose(option)
            await until(lambda: teacher.n_votes == 1, "a vote")
            await asyncio.sleep(0.4)  # it is in the file
            await teacher.set(step=6)
            await all_at(6, teacher, ann, ben)
            await ben.choose(other)
            servers.kill(link)  # his vote is not yet
            await asyncio.to_thread(servers.start, port_of(link), *keeping)
            await until(lambda: min(ann.welcomes, ben.welcomes) == 2, "they are back")
            await all_at(6, teacher, ann, ben)
            await until(lambda: teacher.n_votes == 2, "both votes")
            await teacher.set(step=7)
            await teacher.say("reveal", poll=ann.poll["id"])
            await until(lambda: ben.poll["stage"] == "revealed", "revealed")
            assert ben.poll["counts"] | {option: 1, other: 1} == ben.poll["counts"]
            await all_at(7, teacher, ann, ben)

    run(lesson())


@pytest.fixture
def join(browser) -> Iterator[Callable[[str], Somebody]]:
    """Opens a link in a browser of its own."""
    used: list[Somebody] = []

    def enter(link: str) -> Somebody:
        one = Somebody(browser.new_context(**OPTIONS).new_page())
        used.append(one)
        one.open(link, "text")
        one.greeted()
        return one

    yield enter
    for one in used:
        one.page.context.close()
    assert not [fault for one in used for fault in one.faults]


def test_a_killed_server_whose_file_is_lost_learns_the_room_from_the_teacher(
    servers, link, keeping, join
):
    async def late_comer() -> dict[str, Any]:
        late = Page(link)
        async with open_pages(late):
            return late.state

    teacher, student = join(f"{link}#key={servers.key}"), join(link)
    teacher.put(step=14, residual=False)
    student.sees(step=14, residual=False)
    # the channel, and data that is loaded ahead, meet nobody for a while
    away = ("WebSocket connection to", "net::ERR_CONNECTION_REFUSED")
    teacher.forgiven = student.forgiven = away
    servers.kill(link)
    for one in teacher, student:
        expect(one.page.locator(".class-bar.is-away")).to_be_visible()
    teacher.put(step=15)  # the lesson goes on without a server
    Path(keeping[-1]).unlink()
    servers.start(port_of(link), *keeping)
    for one in teacher, student:
        one.page.evaluate("dispatchEvent(new Event('online'))")  # or they wait longer
        one.greeted()
    student.sees(step=15, residual=False)
    assert run(late_comer())["step"] == 15
    elsewhere = join(f"{link}#key={servers.key}")
    elsewhere.sees(step=15, residual=False)
    elsewhere.put(step=3, residual=True)
    student.sees(step=3, residual=True)
    teacher.sees(step=3, residual=True)


# ------------------------------------------------------------ Redis, two servers


def test_a_class_on_two_servers_outlives_redis_and_one_of_them(tmp_path):
    redis = RedisServer(tmp_path)
    redis.start()
    servers = Servers(tmp_path, "--redis", redis.url)
    try:
        with ThreadPoolExecutor(2) as at_once:
            links = at_once.map(servers.start, (0, 0))
        run(_on_two(redis, servers, *links))
    finally:
        servers.stop()
        redis.stop()


async def _on_two(redis: RedisServer, servers: Servers, one: str, two: str) -> None:
    teacher = Page(one, two, key=servers.key)
    here, there = Page(one, two), Page(two)
    pages = teacher, here, there
    async with open_pages(*pages):
        await teacher.set(step=1)
        await all_at(1, *pages)
        await until(lambda: teacher.counts["following"] == 2, "both are counted")
        await teacher.say("open", experiment="F1")
        await until(lambda: here.poll and there.poll, "the vote is open")

        redis.stop()
        await until(lambda: teacher.store == [False], "the teacher is told")
        await teacher.set(step=2)
        await here.choose("a")
        await there.choose("b")
        await all_at(2, teacher, here)
        assert there.state["step"] == 1
        redis.start()
        await all_at(2, *pages)
        await until(lambda: teacher.store == [False, True], "the teacher is told")
        await until(lambda: teacher.n_votes == 2, "both votes")

        redis.freeze()
        try:
            await teacher.set(step=3)
            await all_at(3, teacher, here)
        finally:
            redis.thaw()
        await all_at(3, *pages)

        redis.ask("FLUSHALL")
        await teacher.set(step=4)
        await all_at(4, *pages)
        servers.kill(one)
        await until(lambda: teacher.welcomes == here.welcomes == 2, "they move on")
        await all_at(4, *pages)
        await teacher.set(step=5)
        await all_at(5, *pages)
        await until(lambda: teacher.counts["following"] == 2, "each is counted once")
        assert teacher.n_votes == 2
