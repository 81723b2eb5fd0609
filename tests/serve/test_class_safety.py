"""A student can't change the class, and nobody can take its server down by talking."""

import asyncio
import http.client
import json
import re
import socket
import stat
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass

import pytest
import segno
from tornado.websocket import WebSocketClosedError

from conftest import serving
from helpers.class_client import ClassClient, browser_id, channel, run
from residual_stream.serve.classroom.keys import new_key

MANY = 10_000
BROWSERS = 30
UPGRADE = (
    "GET /class/safe/socket HTTP/1.1\r\nHost: {}:{}\r\n"
    "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Version: 13\r\n\r\n"
)


@dataclass(frozen=True)
class LiveClass:
    students: str
    key: str
    said: str
    process: subprocess.Popen[str]

    @property
    def address(self) -> tuple[str, int]:
        host, port = re.search(r"//([^:/]+):(\d+)", self.students).groups()
        return host, int(port)


@pytest.fixture(scope="module")
def live(tmp_path_factory) -> Iterator[LiveClass]:
    """A class on loopback as its teacher is told of it."""
    key_file = tmp_path_factory.mktemp("class") / "key"
    limits = ["--class-limit", str(BROWSERS), "--class-rate", "20"]
    room = ["--class", "--room", "safe", "--key-file", str(key_file)]
    with serving("residual-stream", "serve", *room, *limits, "--port", "0") as served:
        said = ""
        while "--address" not in said:
            said += served.process.stdout.readline()
        students, key = re.search(r"teacher:\s+(\S+)#key=(\S+)", said).groups()
        assert key == key_file.read_text().strip()
        assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
        yield LiveClass(students, key, said, served.process)


def asked(url: str, method: str = "GET", data: bytes | None = None) -> tuple[int, str]:
    """Status, headers and body of an answer, the latter two as one text."""
    request = urllib.request.Request(url, data=data, method=method)  # noqa: S310
    try:
        answer = urllib.request.urlopen(request, timeout=10)  # noqa: S310
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, f"{answer.headers}\n{answer.read().decode()}"


async def the_room(live: LiveClass) -> dict:
    """The room as a newcomer is told of it."""
    newcomer = await ClassClient.join(live.students)
    await newcomer.leave()
    return newcomer.heard[0]["room"]


# ------------------------------------------------------------ only the teacher


TEACHERS = {
    "set": {"n": 1, "state": {"step": 9}},
    "open": {"experiment": "F1"},
    "reveal": {"poll": "any"},
    "close": {"poll": "any"},
    "csv": {},
}


@pytest.mark.parametrize("type_", TEACHERS)
def test_what_the_teacher_says_is_refused_from_a_student(live, type_):
    async def forge() -> None:
        before = await the_room(live)
        student = await ClassClient.join(live.students)
        await student.say(type_, **TEACHERS[type_])
        refused = await student.until("refused")
        assert (refused["what"], "teacher" in refused["why"]) == (type_, True)
        await student.leave()
        assert await the_room(live) == before

    run(forge())


WRONG_KEYS = {
    "empty": "",
    "of another class": new_key(),
    "cut short": None,
    "with a blank after it": "key ",
    "no text of this world": "\ud800",
}


@pytest.mark.parametrize("kind", WRONG_KEYS)
def test_a_wrong_key_makes_a_student(live, kind):
    given = WRONG_KEYS[kind]
    key = live.key[:-1] if given is None else given.replace("key", live.key)

    async def try_key() -> None:
        page = await ClassClient.join(live.students, key)
        welcome = page.heard[0]
        assert (welcome["role"], welcome["refused"]) == ("student", "key")
        await page.say("set", n=1, state={"step": 2})
        assert (await page.until("refused"))["what"] == "set"
        await page.leave()

    run(try_key())


def test_a_key_counts_only_where_it_was_given(live):
    """What a teacher has sent, sent again on another channel, is a student's word."""

    async def replay() -> None:
        teacher = await ClassClient.join(live.students, live.key)
        await teacher.set(step=3)
        same_browser = await ClassClient.join(live.students, id_=teacher.id)
        await same_browser.say("set", n=1, state={"step": 8})
        assert (await same_browser.until("refused"))["what"] == "set"
        await same_browser.say(
            "hello", id=teacher.id, following=True, visible=True, key=live.key
        )
        assert (await same_browser.until("refused"))["what"] == "hello"
        await same_browser.leave()
        await teacher.leave()
        assert (await the_room(live))["state"]["step"] == 3

    run(replay())


def test_the_terminal_shows_the_students_link_its_code_and_the_teacher_s(live):
    students, code, teacher = re.search(
        r"students: (\S+)\n(.*\n)  teacher:  (\S+)\n", live.said, re.DOTALL
    ).groups()
    assert students == live.students
    assert teacher == f"{students}#key={live.key}"
    assert live.said.count(live.key) == 1
    assert len(live.key) * 6 >= 128
    rows = code.splitlines()
    assert {len(row) for row in rows} == {len(rows[0])}
    assert set(code) == set("█▀▄ \n")
    assert dark_modules(rows) == modules(students)


def dark_modules(rows: list[str]) -> list[list[bool]]:
    """A terminal's half blocks as modules, the quiet zone of two taken off."""
    upper = [[character in " ▄" for character in row] for row in rows]
    lower = [[character in " ▀" for character in row] for row in rows]
    lines = [line for pair in zip(upper, lower, strict=True) for line in pair]
    side = len(rows[0])
    return [line[2:-2] for line in lines[2 : side - 2]]


def modules(text: str) -> list[list[bool]]:
    code = segno.make(text, error="m", micro=False)
    return [[bool(module) for module in row] for row in code.matrix]


def test_a_vote_counts_once_for_a_browser_and_never_for_the_teacher(live):
    async def votes() -> None:
        teacher = await ClassClient.join(live.students, live.key)
        await teacher.say("open", experiment="F1")
        poll = (await teacher.until("room", lambda m: m["poll"]))["poll"]["id"]
        student = await ClassClient.join(live.students)
        again = await ClassClient.join(live.students, id_=student.id)
        for page, option in ((student, "a"), (student, "b"), (again, "c")):
            await page.say("vote", poll=poll, option=option)
            counted = {"a": 0, "b": 0, "c": 0} | {option: 1}
            await teacher.until("counts", lambda m, now=counted: m["votes"] == now)
        for page, wrong in ((student, "z"), (teacher, "a")):
            await page.say("vote", poll=poll, option=wrong)
            assert (await page.until("refused"))["what"] == "vote"
        # no student sees a count before the teacher shows it
        assert "counts" not in {m["type"] for m in student.heard + again.heard}
        assert (await the_room(live))["poll"]["counts"] is None
        await teacher.say("reveal", poll=poll)
        shown = await student.until("room", lambda m: m["poll"]["stage"] == "revealed")
        assert shown["poll"]["counts"] == counted
        await student.say("vote", poll=poll, option="a")
        assert (await student.until("refused"))["what"] == "vote"
        for page in (student, again, teacher):
            await page.leave()

    run(votes())


# ------------------------------------------------------------ over HTTP


@pytest.mark.parametrize("path", ["", "/socket", "/state", "/socket?key=1"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_posted(live, method, path):
    status, _ = asked(live.students + path, method, b'{"step": 9}')
    assert status in {400, 403, 404, 405}


def shaken(live: LiveClass, origin: str) -> int:
    """The status of an answer to a browser's wish for a channel."""
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Origin": origin}
    key = {"Sec-WebSocket-Key": "a" * 22 + "==", "Sec-WebSocket-Version": "13"}
    with closing(http.client.HTTPConnection(*live.address, timeout=10)) as connection:
        connection.request("GET", "/class/safe/socket", headers=upgrade | key)
        return connection.getresponse().status


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost", "https://x.localhost"]
)
def test_pages_of_other_hosts_get_no_channel(live, origin):
    assert shaken(live, origin) == 403


def test_a_page_of_this_server_gets_one(live):
    host, port = live.address
    assert shaken(live, f"http://{host}:{port}") == 101


def test_the_key_is_in_no_page_and_in_no_address_bar_of_the_server(live):
    async def with_state() -> None:
        teacher = await ClassClient.join(live.students, live.key)
        await teacher.set(step=2)
        await teacher.leave()

    run(with_state())
    status, text = asked(live.students)
    assert status == 200
    assert "data-class=" in text
    assert live.key not in text
    assert "no-store" in text
    assert "no-referrer" in text


def test_an_address_without_a_class_says_so_in_both_languages(live):
    status, text = asked(live.students.replace("safe", "%3Cb%3Ex"))
    assert status == 404
    assert "ask your teacher" in text
    assert "先生" in text
    assert "<b>" not in text


# ------------------------------------------------------------ nonsense


NONSENSE = {
    "no JSON": "{",
    "no object": "[1]",
    "no type": "{}",
    "a type of nobody": '{"type": "shout"}',
    "a type that is no text": '{"type": ["hello"]}',
    "hello without an id": '{"type": "hello"}',
    "an id of another form": json.dumps(
        {"type": "hello", "id": "<b>" * 8, "following": True, "visible": True}
    ),
    "a number for a flag": json.dumps(
        {"type": "hello", "id": "a" * 22, "following": 1, "visible": True}
    ),
    "deeper than anybody needs": "[" * 5000 + "]" * 5000,
    "before the hello": '{"type": "here", "following": true, "visible": true}',
    "a vote before the hello": '{"type": "vote", "poll": "a", "option": "a"}',
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_ends_the_channel_with_one_line(live, kind):
    async def say_it() -> None:
        page = ClassClient(await channel(live.students), browser_id())
        await page.socket.write_message(NONSENSE[kind])
        refused = await page.next()
        assert (refused["type"], refused["what"]) == ("refused", "message")
        assert "\n" not in refused["why"]
        assert await page.closed() == 1008

    run(say_it())


def test_bytes_and_a_message_too_long_end_it_too(live):
    async def say_them() -> None:
        page = ClassClient(await channel(live.students), browser_id())
        await page.socket.write_message(b"\x00\xff", binary=True)
        assert await page.closed() == 1008
        page = await ClassClient.join(live.students)
        await page.say("vote", poll="x" * 20_000, option="a")
        assert await page.closed() == 1009

    run(say_them())


def test_hostile_values_leave_the_room_as_it_was(live):
    hostile = {
        "step": "²", "depth": 10**400, "residual": "on", "token": "<script>",
        "view": "links", "compare": None, "experiment": "F1<", "lab": "<img>",
        "__proto__": {}, "language": "xx", "hide": [],
    }  # fmt: skip

    async def set_them() -> None:
        teacher = await ClassClient.join(live.students, live.key)
        wanted = {"step": 5, "depth": 4, "token": "river", "experiment": "F2"}
        await teacher.set(**wanted, view="lab")
        before = (await the_room(live))["state"]
        assert wanted.items() <= before.items()
        await teacher.set(**hostile)
        assert (await the_room(live))["state"] == before
        await teacher.leave()

    run(set_them())


# ------------------------------------------------------------ too much


def test_who_floods_is_put_out_and_the_others_stay(live):
    async def flood() -> None:
        student = await ClassClient.join(live.students)
        teacher = await ClassClient.join(live.students, live.key)
        with suppress(WebSocketClosedError):  # put out before it has said all
            for _ in range(200):
                await student.say("here", following=True, visible=True)
        assert await student.closed() == 1008
        assert "too many" in student.heard[-1]["why"]
        other = await ClassClient.join(live.students)
        await teacher.set(step=7)
        await other.until("room", lambda m: m["state"]["step"] == 7)
        for page in (other, teacher):
            await page.leave()

    run(flood())


def test_after_a_flood_the_server_says_why_closes_and_reads_no_more(live):
    def masked(text: str) -> bytes:
        return bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text.encode()

    flags = '"following":true,"visible":true}'
    hello = masked(f'{{"type":"hello","id":"{browser_id()}",{flags}')
    with closing(socket.create_connection(live.address, timeout=10)) as page:
        page.sendall(UPGRADE.format(*live.address).encode())
        page.sendall(hello + 200 * masked(f'{{"type":"here",{flags}'))
        page.sendall(bytes([0x88, 0x80, 0, 0, 0, 0]))
        got = b""
        while part := page.recv(10_000):  # to the end, without a reset
            got += part
    why = b"too many messages at once"
    said, close, rest = got.rpartition(bytes([0x88, 2 + len(why)]) + b"\x03\xf0")
    assert close
    assert rest == why
    assert (
        said.count(b'"refused"') == 2
    )  # null in the welcome, and the line that says why


def test_a_full_class_says_so_and_has_room_again_when_somebody_goes(live):
    async def fill() -> None:
        pages = [await ClassClient.join(live.students) for _ in range(BROWSERS)]
        late = ClassClient(await channel(live.students), browser_id())
        refused = await late.next()
        assert (refused["type"], refused["what"]) == ("refused", "full")
        assert str(BROWSERS) in refused["why"]
        assert await late.closed() == 1013
        await pages.pop().leave()
        pages.append(await ClassClient.join(live.students))
        for page in pages:
            await page.leave()

    run(fill())


def test_ten_thousand_idle_connections_are_refused_and_the_class_goes_on(live):
    """Past its limit the server answers 503; who is inside notices nothing."""

    async def crowd() -> None:
        teacher = await ClassClient.join(live.students, live.key)
        student = await ClassClient.join(live.students)
        held, refused = [], []
        for number in range(MANY):
            idle = socket.create_connection(live.address, timeout=10)
            held.append(idle)  # closed in the end, or by the server
            if number % 500 == 499:
                await teacher.set(step=1 + number // 500 % 7)
                held, gone = await sort_out(held)
                refused += gone
        state = (await teacher.set(step=6)) and await student.until(
            "room", lambda m: m["state"]["step"] == 6
        )
        assert state["state"]["step"] == 6
        for idle in held:
            idle.close()
        assert len(refused) > MANY * 0.9
        assert set(refused) == {"HTTP/1.1 503 Service Unavailable"}
        for page in (student, teacher):
            await page.leave()

    run(crowd())
    assert run(the_room(live))["state"]["step"] == 6


async def sort_out(held: list[socket.socket]) -> tuple[list[socket.socket], list[str]]:
    """The connections that are still open, and the first lines that others got."""
    await asyncio.sleep(0.05)
    still, lines = [], []
    for idle in held:
        idle.setblocking(False)
        try:
            lines.append(idle.recv(1000).decode().partition("\r\n")[0])
            idle.close()
        except BlockingIOError:
            still.append(idle)
    return still, lines
