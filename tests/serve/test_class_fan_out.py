"""Each page gets the newest state: whole frames, in order, and no queue of old ones."""

import asyncio
import socket

import pytest
from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream, StreamClosedError
from tornado.testing import bind_unused_port
from tornado.web import Application
from tornado.websocket import WebSocketHandler, websocket_connect

from helpers.class_client import run
from residual_stream.serve.classroom.fan_out import AT_ONCE, FanOut, Outlet, frame
from residual_stream.serve.classroom.handlers import hold_little

ONE, TWO, THREE, ANSWER = (frame(text) for text in ("one", "two", "three", "answer"))
PAGES = 2 * AT_ONCE + 13


class Way:
    """A page's stream: what has been sent, what is kept until `drain`.

    room:  bytes that the system takes before the page reads.
    """

    def __init__(self, room=10**6):
        self.room, self.sent, self.kept = room, b"", []
        self.is_lost = self.is_closed = False

    def write_to_fd(self, data):
        if self.is_lost:
            raise ConnectionResetError
        if not self.room:
            raise BlockingIOError
        taken = min(self.room, len(data))
        self.room -= taken
        self.sent += bytes(data[:taken])
        return taken

    def write(self, data):
        if self.is_closed:
            raise StreamClosedError
        done = asyncio.get_running_loop().create_future()
        if self.is_lost:
            self.is_closed = True
            done.set_exception(StreamClosedError())
        else:
            self.kept.append((data, done))
        return done

    def writing(self):
        return bool(self.kept)

    def closed(self):
        return self.is_closed

    async def drain(self):
        """The page reads again; what had to wait follows."""
        self.room = 10**6
        while self.kept:
            kept, self.kept = self.kept, []
            for data, done in kept:
                self.sent += data
                done.set_result(None)
            await asyncio.sleep(0.001)

    def close(self):
        """The page goes, with what was kept for it."""
        self.is_closed = True
        for _, done in self.kept:
            done.set_exception(StreamClosedError())
            done.exception()


def texts(sent):
    """The texts of whole frames, read by RFC 6455, 5.2."""
    found = []
    while sent:
        assert sent[0] == 0x81, "one final text frame each"
        length, start = sent[1], 2
        assert length < 128, "a server does not mask"
        if length == 126:
            length, start = int.from_bytes(sent[2:4]), 4
        elif length == 127:
            length, start = int.from_bytes(sent[2:10]), 10
        assert len(sent) >= start + length, "a frame is cut"
        found.append(sent[start : start + length].decode())
        sent = sent[start + length :]
    return found


async def at_rest(fan_out):
    """Until a round has ended."""
    while fan_out._going:
        await asyncio.sleep(0)


def many(fan_out):
    """Pages that all read at once."""
    ways = [Way() for _ in range(PAGES)]
    fan_out.outlets |= {Outlet(way, 0) for way in ways}
    return ways


# ------------------------------------------------------------------ frames


@pytest.mark.parametrize(
    ("length", "head"),
    [
        (0, "81 00"),
        (125, "81 7d"),
        (126, "81 7e 007e"),
        (65_535, "81 7e ffff"),
        (65_536, "81 7f 00000000 00010000"),
    ],
)
def test_a_frame_says_its_length_as_the_standard_does(length, head):
    text = "x" * length
    assert frame(text) == bytes.fromhex(head) + text.encode()
    assert texts(frame(text) + ONE) == [text, "one"]


def test_a_frame_counts_bytes_and_not_letters():
    assert frame("三" * 42)[:4] == bytes.fromhex("81 7e 007e")


def test_tornados_own_client_reads_the_frames():
    said = ["", "三つ", *("x" * n for n in (125, 126, 127, 65_535, 65_536, 300_000))]

    class Says(WebSocketHandler):
        def open(self):
            hold_little(self.ws_connection.stream.socket)
            outlet = Outlet(self.ws_connection.stream, 0)
            for text in said:
                outlet.send(frame(text), 0)

    async def heard():
        way, port = bind_unused_port()
        server = HTTPServer(Application([("/", Says)]))
        server.add_socket(way)
        page = await websocket_connect(f"ws://127.0.0.1:{port}/")
        got = [await page.read_message() for _ in said]
        page.close()
        server.stop()
        await server.close_all_connections()
        return got

    assert run(asyncio.wait_for(heard(), 10)) == said


# ------------------------------------------------------------------ a slow page


def test_a_slow_page_gets_the_newest_and_no_queue():
    async def sent():
        way = Way(room=0)
        outlet = Outlet(way, 0)
        for state in (ONE, TWO, THREE):
            outlet.show(state, 0)
        assert len(way.kept) == 1
        await way.drain()
        return texts(way.sent)

    assert run(sent()) == ["one", "three"]


def test_a_frame_that_goes_in_parts_stays_whole():
    async def sent():
        way = Way(room=3)
        outlet = Outlet(way, 0)
        outlet.show(ONE, 0)
        outlet.show(TWO, 0)
        assert way.sent == ONE[:3]
        await way.drain()
        return texts(way.sent)

    assert run(sent()) == ["one", "two"]


def test_nothing_overtakes_the_rest_of_a_frame():
    async def sent():
        way = Way(room=3)
        outlet = Outlet(way, 0)
        outlet.show(ONE, 0)
        way.room = 10**6  # the page has read; the rest is about to go
        outlet.send(ANSWER, 0)
        await way.drain()
        return texts(way.sent)

    assert run(sent()) == ["one", "answer"]


def test_a_slow_page_gets_every_answer_in_its_turn():
    async def sent():
        way = Way(room=0)
        outlet = Outlet(way, 0)
        outlet.show(ONE, 0)
        outlet.send(ANSWER, 0)
        outlet.show(TWO, 0)
        outlet.send(ANSWER, 0)
        outlet.show(THREE, 0)
        await way.drain()
        return texts(way.sent)

    assert run(sent()) == ["one", "answer", "answer", "three"]


def test_a_page_is_not_told_twice_what_it_has():
    async def sent():
        way = Way()
        outlet = Outlet(way, 0)
        outlet.has(ONE)
        for state in (ONE, TWO, TWO):
            outlet.show(state, 0)
        return texts(way.sent)

    assert run(sent()) == ["two"]


def test_only_what_is_sent_counts_as_a_sign_of_life():
    async def used():
        way = Way(room=0)
        outlet = Outlet(way, 1)
        outlet.show(ONE, 2)
        outlet.show(TWO, 3)  # waits
        return outlet.used_at

    assert run(used()) == 2


def test_a_page_that_reads_nothing_holds_little_that_is_old():
    """On real sockets: 500 states of 2 kB, of which the page has read none."""
    states = [frame(f"{number:03}" * 700) for number in range(500)]

    async def sent():
        listening = socket.create_server(("127.0.0.1", 0))
        theirs = socket.socket()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        theirs.connect(listening.getsockname())
        ours, _ = listening.accept()
        listening.close()
        hold_little(ours)
        stream, page = IOStream(ours), IOStream(theirs)
        outlet = Outlet(stream, 0)
        for state in states:
            outlet.show(state, 0)
        got = b""
        while not got.endswith(states[-1]):
            got += await asyncio.wait_for(page.read_bytes(10**5, partial=True), 5)
        stream.close()
        page.close()
        return texts(got)

    found = run(sent())
    assert found == sorted(found)
    assert 1 < len(found) < 60


# ------------------------------------------------------------------ many pages


def test_every_page_ends_on_the_newest_also_of_changes_during_a_round():
    async def sent():
        fan_out = FanOut()
        ways = many(fan_out)
        for number in range(20):
            fan_out.show(frame(f"{number:02}"))
            await asyncio.sleep(0)
        await at_rest(fan_out)
        return [texts(way.sent) for way in ways]

    for found in run(sent()):
        assert found[-1] == "19"
        assert found == sorted(set(found)), "in order, none twice"


def test_a_change_during_a_round_goes_on_from_there():
    """Pages that have not had their turn are not sent what is old already."""

    async def sent():
        fan_out = FanOut()
        ways = many(fan_out)
        fan_out.show(ONE)
        await asyncio.sleep(0)
        fan_out.show(TWO)
        await at_rest(fan_out)
        return [texts(way.sent) for way in ways]

    found = run(sent())
    assert found.count(["one", "two"]) == AT_ONCE - 1
    assert found.count(["two"]) == PAGES - AT_ONCE + 1


def test_a_page_that_comes_during_a_round_gets_what_follows():
    async def sent():
        fan_out, late = FanOut(), Way()
        many(fan_out)
        fan_out.show(ONE)
        await asyncio.sleep(0)
        outlet = Outlet(late, 0)
        fan_out.outlets.add(outlet)
        outlet.has(ONE)
        fan_out.show(TWO)
        await at_rest(fan_out)
        return texts(late.sent)

    assert run(sent()) == ["two"]


@pytest.mark.parametrize("how", ["slow", "closed", "lost", "gone"])
def test_one_page_does_not_keep_the_others_from_the_newest(how):
    async def sent():
        fan_out, odd = FanOut(), Way(room=0)
        ways = many(fan_out)
        outlet = Outlet(odd, 0)
        fan_out.outlets.add(outlet)
        odd.is_closed = how == "closed"  # its stream, before its handler knows
        odd.is_lost = how == "lost"  # noticed while sending
        outlet.is_closed = how == "gone"
        for state in (ONE, TWO):
            fan_out.show(state)
            await at_rest(fan_out)
        return [texts(way.sent) for way in ways], odd

    found, odd = run(sent())
    assert found == [["one", "two"]] * PAGES
    assert odd.sent == b""
    assert len(odd.kept) == (1 if how == "slow" else 0)


def test_a_page_that_goes_while_it_is_sent_something_is_sent_no_more():
    async def sent():
        way = Way(room=0)
        outlet = Outlet(way, 0)
        outlet.show(ONE, 0)
        outlet.show(TWO, 0)
        way.close()
        await asyncio.sleep(0.001)
        outlet.show(THREE, 0)
        outlet.send(ANSWER, 0)
        return way

    way = run(sent())
    assert (way.sent, len(way.kept)) == (b"", 1)
