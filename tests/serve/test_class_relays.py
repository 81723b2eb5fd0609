"""A room's order, votes and memory, alike in one process and in several with Redis."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any

import pytest

from helpers.class_client import run
from helpers.redis_server import RedisServer
from residual_stream.lesson.files import LessonError
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.page.publication import ANSWERS, Publication, publish
from residual_stream.serve.classroom import attendance, classroom, redis_link
from residual_stream.serve.classroom.answers import BusyError
from residual_stream.serve.classroom.classroom import Classroom
from residual_stream.serve.classroom.fan_out import Outlet
from residual_stream.serve.classroom.limits import Limits
from residual_stream.serve.classroom.messages import Message
from residual_stream.serve.classroom.redis_address import try_redis
from residual_stream.serve.classroom.redis_relay import RedisRelay
from residual_stream.serve.classroom.relay import (
    OneProcess,
    Relay,
    kept_room,
    write_room,
)
from residual_stream.serve.classroom.room import CLOSED, REVEALED, Poll, Room
from residual_stream.serve.classroom.start import Class

PATIENCE = 8
ROOM = "relays"
KEY = f"residual-stream:{{{ROOM}}}"


class Process:
    """One process of a class without its web, and a page of a student in it.

    page:  what that page shows, by the rule of the wire: another epoch or a greater
           number.
    """

    process = "one"

    def __init__(self, relay: Relay) -> None:
        self.relay, self.room = relay, Room(ROOM)
        self.seen: tuple[str, int] = ("", -1)
        self.page: Mapping[str, Any] = {}
        self.store: list[bool] = []
        self.heard_of: list[tuple[str, Mapping[str, Any]]] = []

    async def open(self) -> "Process":
        await self.relay.open(self.room, self)
        self.room_changed()
        return self

    def room_changed(self) -> None:
        shown = self.room.shown()
        epoch, seq = shown.pop("epoch"), shown.pop("seq")
        if epoch != self.seen[0] or seq > self.seen[1]:
            self.seen, self.page = (epoch, seq), shown

    def votes_changed(self) -> None:
        pass

    def store_changed(self, is_there: bool) -> None:
        self.store.append(is_there)

    def heard(self, process: str, news: Mapping[str, Any]) -> None:
        self.heard_of.append((process, dict(news)))

    # what a teacher and students do

    def step(self, number: int) -> int:
        return self.relay.change("state", {"view": "lesson", "step": number})

    def open_poll(self, experiment: str = "F1") -> str:
        poll = Poll.new(experiment, "abc")
        self.relay.change("polls", self.room.with_poll(poll))
        return poll.id

    def end_poll(self, stage: str) -> None:
        self.relay.change("polls", self.room.with_stage(stage))

    def vote(self, voter: str, option: str) -> bool:
        return self.relay.vote(self.room.polls[-1].id, voter, option)

    @property
    def at(self) -> int | None:
        """The step of the class."""
        return self.room.state and self.room.state["step"]


async def until(is_so: Callable[[], Any], what: str = "") -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"it does not come to be so: {what}"
        await asyncio.sleep(0.005)


async def until_same(*processes: Process, **content: Any) -> None:
    """All processes and pages know the same; of it, `content` holds."""

    def are_same() -> bool:
        known = [(p.seen, p.page, p.room.votes, p.room.polls) for p in processes]
        rooms = [((p.room.epoch, p.room.seq), p.page) for p in processes]
        pages = [(p.seen, p.page) for p in processes]
        agree = all(one == known[0] for one in known) and rooms == pages
        return agree and all(getattr(processes[0], k) == v for k, v in content.items())

    try:
        await until(are_same)
    except AssertionError:
        pytest.fail("\n".join(f"{p.seen} {p.page} {p.room}" for p in processes))


@pytest.fixture(scope="module")
def one_redis(tmp_path_factory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def redis(one_redis, monkeypatch) -> RedisServer:
    """A Redis that is there and knows nothing."""
    monkeypatch.setattr(redis_link, "TRY_AGAIN", 0.02)
    one_redis.start()
    one_redis.ask("FLUSHALL")
    return one_redis


KINDS = ["one process", "Redis"]


@pytest.fixture(params=KINDS)
def relay(request, tmp_path) -> Callable[[], Relay]:
    """Makes a relay for the same room again and again."""
    if request.param == "Redis":
        url = request.getfixturevalue("redis").url
        return lambda: RedisRelay(url)
    folder = tmp_path / "kept"
    folder.mkdir()
    return lambda: OneProcess(folder / "state")


@pytest.fixture
def store(request, tmp_path) -> "tuple[Callable[[], Any], Callable[[], Any]]":
    """How the place where the room is kept goes away, and comes back."""
    if request.node.callspec.params["relay"] == "Redis":
        server = request.getfixturevalue("redis")
        return server.stop, server.start
    kept, away = tmp_path / "kept", tmp_path / "away"
    return lambda: kept.rename(away), lambda: away.rename(kept)


def go_through(
    part: Callable[..., Coroutine[Any, Any, None]],
    *relays: Relay,
) -> None:
    """Open a process on each relay, do a part of a class, and close them."""

    async def whole() -> None:
        processes = [Process(one) for one in relays]
        try:
            for one in processes:
                await one.open()
            await part(*processes)
        finally:
            for one in processes:
                await one.relay.close()

    run(whole())


# ------------------------------------------------------------ alike in both


def test_each_change_has_a_greater_number_and_the_page_shows_the_last(relay):
    async def part(one: Process) -> None:
        numbers = [one.step(number) for number in range(1, 9)]
        assert numbers == sorted(set(numbers))
        assert one.page["state"]["step"] == 8  # at once, whatever a store does
        await asyncio.sleep(0.05)
        assert (one.at, one.page["state"]["step"]) == (8, 8)

    go_through(part, relay())


def test_a_vote_counts_once_for_a_voter_and_only_while_it_is_open(relay):
    async def part(one: Process) -> None:
        poll = one.open_poll()
        assert one.vote("ann", "a")
        assert one.vote("ben", "a")
        assert one.vote("ann", "b")
        assert not one.vote("cay", "d")
        assert not one.relay.vote("another", "cay", "a")
        assert one.room.counts() == {"a": 1, "b": 1, "c": 0}
        assert one.page["poll"]["counts"] is None
        one.end_poll(REVEALED)
        assert not one.relay.vote(poll, "cay", "c")
        await asyncio.sleep(0.03)
        assert one.page["poll"]["counts"] == {"a": 1, "b": 1, "c": 0}

    go_through(part, relay())


def test_another_poll_closes_the_one_before_and_begins_without_votes(relay):
    async def part(one: Process) -> None:
        one.open_poll("F1")
        one.vote("ann", "a")
        one.open_poll("F2")
        await asyncio.sleep(0.03)
        assert one.room.counts() == {"a": 0, "b": 0, "c": 0}
        first, second = one.room.polls
        assert (first.stage, first.counts) == (CLOSED, {"a": 1, "b": 0, "c": 0})
        assert second.experiment == one.page["poll"]["experiment"] == "F2"
        one.end_poll(CLOSED)
        assert one.page["poll"] is None

    go_through(part, relay())


def test_a_restart_goes_on_where_the_class_was(relay):
    """The last change and the last vote were made just before the end."""

    async def before(one: Process) -> None:
        for number in range(5):
            one.step(number)
        one.open_poll("F1")
        one.end_poll(REVEALED)
        one.open_poll("F2")
        one.vote("ann", "b")
        one.step(7)
        old.append(one)

    async def after(one: Process) -> None:
        assert one.at == 7
        assert one.room.votes == {"ann": "b"}
        assert one.room.polls == old[0].room.polls
        # a page that stayed takes what comes, whatever numbers it has seen
        one.seen, one.page = old[0].seen, old[0].page
        one.step(8)
        one.vote("ann", "c")
        assert one.page["state"]["step"] == 8
        assert one.room.counts() == {"a": 0, "b": 0, "c": 1}

    old: list[Process] = []
    go_through(before, relay())
    go_through(after, relay())


def test_a_class_goes_on_while_its_store_is_away(relay, store):
    lose, find = store

    async def before(one: Process) -> None:
        one.step(1)
        lose()
        one.step(2)
        await until(lambda: one.store[-1:] == [False], "told that it is away")
        assert not one.relay.is_there
        one.step(3)
        poll = one.open_poll()
        one.vote("ann", "a")
        assert one.page["state"]["step"] == 3
        assert one.page["poll"]["id"] == poll
        find()
        one.step(4)
        await until(lambda: one.store[-1:] == [True], "told that it is back")
        assert one.relay.is_there
        one.vote("ben", "b")
        await until_same(one, at=4)

    async def after(one: Process) -> None:
        assert one.at == 4
        assert one.room.votes == {"ann": "a", "ben": "b"}

    go_through(before, relay())
    go_through(after, relay())


@pytest.mark.parametrize("relay", KINDS[1:], indirect=True)
def test_nobody_hears_of_a_class_of_another_name(relay):
    async def part(one: Process) -> None:
        one.step(5)
        other = Process(relay())
        other.room.name = "another"
        await other.open()
        assert other.at is None
        other.step(6)
        await asyncio.sleep(0.03)
        assert one.at == 5
        await other.relay.close()

    go_through(part, relay())


# ------------------------------------------------------------ one process


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[1]",
        '{"room": "relays"}',
        '{"room": "relays", "seq": 1, "state": [1], "polls": [], "votes": {}}',
        '{"room": "relays", "seq": 1, "state": null, "polls": [7], "votes": {}}',
        '{"room": "relays", "seq": 1, "state": null, "votes": {}, "polls": [{"id": 7, '
        '"experiment": "F1", "options": ["a"], "opened": ""}]}',
    ],
)
def test_a_state_file_that_holds_something_else_is_refused_at_the_start(tmp_path, text):
    file = tmp_path / "state"
    file.write_text(text)
    with pytest.raises(LessonError, match=r"--state-file .*name another file"):
        Class(state_file=file).relay(ROOM)
    assert file.read_text() == text


def test_a_state_file_of_another_class_is_not_written_over(tmp_path):
    file = tmp_path / "state"
    room = Room("earlier")
    room.apply("state", {"step": 5})
    write_room(file, room)
    kept = file.read_text()
    with pytest.raises(
        LessonError, match=r"holds the room earlier; add --room earlier"
    ):
        Class(state_file=file).relay(ROOM)
    assert file.read_text() == kept
    assert kept_room(file) == "earlier"
    assert kept_room(tmp_path / "none") == kept_room(None) == ""


def test_a_state_file_that_can_t_be_written_is_refused_at_the_start(tmp_path):
    with pytest.raises(LessonError, match=r"--state-file .*No such file or directory"):
        Class(state_file=tmp_path / "nowhere" / "state").relay(ROOM)


# ------------------------------------------------------------ several, through Redis


def two(redis: RedisServer) -> tuple[Relay, Relay]:
    return RedisRelay(redis.url), RedisRelay(redis.url)


async def away(redis: RedisServer, *processes: Process) -> None:
    """Redis is gone, and all know."""
    redis.stop()
    for one in processes:
        await until(lambda one=one: not one.relay.is_there, "away")


def test_two_processes_share_state_polls_and_votes(redis):
    async def part(one: Process, other: Process) -> None:
        one.step(3)
        await until_same(one, other, at=3)
        other.step(4)
        one.open_poll()
        await until_same(one, other, at=4)
        assert one.vote("ann", "a")
        assert other.vote("ben", "b")
        await until_same(one, other)
        other.vote("ann", "c")  # she has come to the other process
        await until(lambda: one.room.votes == {"ann": "c", "ben": "b"})
        other.end_poll(REVEALED)
        await until_same(one, other)
        assert one.page["poll"]["counts"] == {"a": 0, "b": 1, "c": 1}

    go_through(part, *two(redis))


def test_two_teachers_at_once_end_on_the_same(redis):
    async def part(one: Process, other: Process) -> None:
        for number in range(60):
            (one if number % 2 else other).step(number)
            if number % 3:
                await asyncio.sleep(0.002 * (number % 5))
            if number % 20 == 0:
                one.open_poll()
                other.open_poll()
        await until_same(one, other)
        assert one.at == 59

    go_through(part, *two(redis))


@pytest.mark.parametrize("last", [0, 1])
def test_a_change_that_reaches_redis_late_does_not_win(redis, last):
    """Each process gathers for a moment what it tells; so the last may be first."""

    async def part(*both: Process) -> None:
        for number in range(6):
            both[0].step(0)
            await until_same(*both, at=0)
            for _ in range(number):
                both[1 - last].step(1)
            both[last].step(2)
            await until_same(*both, at=2)

    go_through(part, *two(redis))


def test_nothing_more_is_said_when_all_know_the_same(redis):
    async def part(one: Process, other: Process) -> None:
        one.step(1)
        other.open_poll()
        await until_same(one, other, at=1)
        seen = one.seen
        for _ in range(3):
            one.relay.say({})
            other.relay.say({})
            await asyncio.sleep(0.03)
        assert one.heard_of
        assert one.seen == other.seen == seen

    go_through(part, *two(redis))


def test_a_page_that_moves_to_another_process_takes_what_it_finds(redis):
    async def part(one: Process, other: Process) -> None:
        one.step(1)
        await until_same(one, other)
        await away(redis, one, other)
        for number in range(2, 9):
            one.step(number)
        other.seen, other.page = one.seen, one.page
        other.step(20)
        assert other.page["state"]["step"] == 20
        redis.start()
        await until_same(one, other, at=20)

    go_through(part, *two(redis))


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("changes", [1, 5])
def test_both_changed_while_redis_was_away_and_the_last_stays(redis, last, changes):
    async def part(*both: Process) -> None:
        both[0].step(1)
        await until_same(*both)
        await away(redis, *both)
        for number in range(changes):
            both[1 - last].step(10 + number)
        both[last].step(2)
        redis.start()
        await until_same(*both, at=2)

    go_through(part, *two(redis))


def test_votes_cast_while_redis_was_away_are_all_counted(redis):
    async def part(one: Process, other: Process) -> None:
        one.open_poll()
        one.vote("ann", "a")
        await until_same(one, other)
        await away(redis, one, other)
        one.vote("ben", "b")
        other.vote("cay", "c")
        one.vote("ann", "b")
        other.vote("ann", "c")
        other.vote("dan", "a")
        one.vote("dan", "b")
        redis.start()
        await until(lambda: one.relay.is_there and other.relay.is_there)
        last = {"ann": "c", "ben": "b", "cay": "c", "dan": "b"}
        await until(lambda: one.room.votes == last)
        await until_same(one, other)
        new = await Process(RedisRelay(redis.url)).open()
        await until(lambda: new.room.votes == last)
        await new.relay.close()

    go_through(part, *two(redis))


def test_a_poll_opened_while_redis_was_away_keeps_its_votes(redis):
    async def part(one: Process, other: Process) -> None:
        one.open_poll("F1")
        await until_same(one, other)
        other.vote("ann", "a")
        await until_same(one, other)
        await away(redis, one, other)
        other.vote("dan", "c")
        one.open_poll("F2")
        one.vote("ann", "b")
        one.vote("ben", "b")
        redis.start()
        await until(lambda: other.room.counts() == {"a": 0, "b": 2, "c": 0})
        await until_same(one, other)
        assert [poll.experiment for poll in other.room.polls] == ["F1", "F2"]

    go_through(part, *two(redis))


def test_a_poll_revealed_while_redis_was_away_is_revealed_to_all(redis):
    async def part(one: Process, other: Process) -> None:
        one.open_poll()
        await until_same(one, other)
        other.vote("ann", "a")
        await until_same(one, other)
        await away(redis, one, other)
        one.end_poll(REVEALED)
        assert other.vote("ben", "b")
        redis.start()
        await until(lambda: other.page["poll"]["stage"] == REVEALED)
        await until(lambda: other.relay.is_there and one.relay.is_there)
        assert other.page["poll"]["counts"] == {"a": 1, "b": 0, "c": 0}
        await until_same(one, other)

    go_through(part, *two(redis))


def test_a_redis_that_was_wiped_is_filled_again(redis):
    async def part(one: Process, other: Process) -> None:
        one.step(3)
        one.open_poll()
        one.vote("ann", "a")
        await until_same(one, other)
        redis.ask("FLUSHALL")
        one.vote("ben", "b")
        await until_same(one, other)
        redis.ask("FLUSHALL")
        other.step(4)
        await until_same(one, other, at=4)
        third = await Process(RedisRelay(redis.url)).open()
        await until_same(one, other, third, at=4)
        assert third.room.votes == {"ann": "a", "ben": "b"}
        await third.relay.close()

    go_through(part, *two(redis))


def test_a_new_process_does_not_empty_a_class_whose_redis_was_wiped(redis):
    async def part(one: Process) -> None:
        one.step(3)
        one.open_poll()
        one.vote("ann", "a")
        await until_same(one)
        await asyncio.sleep(0.03)
        redis.ask("FLUSHALL")
        new = await Process(RedisRelay(redis.url)).open()
        await until_same(one, new, at=3)
        assert new.room.votes == {"ann": "a"}
        await new.relay.close()

    go_through(part, RedisRelay(redis.url))


def test_a_redis_that_comes_back_with_old_things_learns_the_new(redis):
    async def part(one: Process, other: Process) -> None:
        one.step(1)
        one.open_poll("F1")
        one.vote("ann", "a")
        await until_same(one, other)
        await asyncio.sleep(0.05)
        redis.ask("SAVE")
        for number in range(2, 9):
            one.step(number)
        one.vote("ann", "b")
        await until_same(one, other, at=8)
        assert other.room.votes == {"ann": "b"}
        redis.stop()
        redis.start()
        await until(lambda: redis.ask("HGET", KEY, "state_at"))
        other.vote("ben", "c")
        await until(lambda: len(one.store) > 1 and len(other.store) > 1)
        await until(lambda: one.relay.is_there and other.relay.is_there)
        await until_same(one, other, at=8)
        assert one.room.votes == {"ann": "b", "ben": "c"}
        assert json.loads(redis.ask("HGET", KEY, "state"))["step"] == 8

    go_through(part, *two(redis))


def test_no_switch_waits_for_a_redis_that_hangs(redis, monkeypatch):
    monkeypatch.setattr(redis_link, "ANSWER_WITHIN", 0.3)
    monkeypatch.setattr(redis_link, "LOOK_EVERY", 0.2)

    async def part(one: Process, other: Process) -> None:
        one.open_poll()
        one.step(1)
        await until_same(one, other)
        redis.freeze()
        try:
            one.step(2)
            one.vote("ann", "a")
            assert one.page["state"]["step"] == 2  # nothing was awaited in between
            await until(lambda: not one.relay.is_there, "away, one")
            # it has said nothing to Redis and finds out all the same
            await until(lambda: not other.relay.is_there, "away, other")
            other.step(3)
        finally:
            redis.thaw()
        await until(lambda: one.relay.is_there and other.relay.is_there, "back")
        await until_same(one, other, at=3)
        assert other.room.votes == {"ann": "a"}

    go_through(part, *two(redis))


def test_a_listener_that_was_cut_off_misses_nothing(redis):
    async def part(one: Process, other: Process) -> None:
        one.open_poll()
        for number in range(30):
            if number % 10 == 5:
                redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
            if number % 10 == 7:
                redis.ask("CLIENT", "KILL", "TYPE", "normal")
            one.step(number)
            one.vote(f"voter{number}", "a")
            await asyncio.sleep(0.005)
        await until_same(one, other, at=29)
        assert len(other.room.votes) == 30

    go_through(part, *two(redis))


GARBAGE = [
    "",
    "no JSON",
    "[" * 100_000,
    "7",
    "null",
    "{}",
    '{"epoch": [], "seq": "x"}',
    '{"poll": 1, "votes": 2}',
    '{"poll": "", "votes": {"ann": "0000000000000001 a"}}',
    '{"from": 1, "news": {}}',
    '{"from": "x", "news": 7}',
    '{"from": "x", "news": {"pages": [1], "who": 7}}',
    '{"what": "state", "seq": 99, "value": {"step": 99}}',
]


def test_nonsense_on_the_channel_is_passed_over(redis):
    async def part(one: Process, other: Process) -> None:
        for text in GARBAGE:
            redis.ask("PUBLISH", f"{KEY}:changes", text)
        one.open_poll()
        poll = one.room.polls[-1].id
        await until_same(one, other)
        votes = {"eve": 7, "sly": "0 a", "ann": f"{10**15} z", "": f"{10**15} a"}
        for text in [*GARBAGE, json.dumps({"poll": poll, "votes": votes})]:
            redis.ask("PUBLISH", f"{KEY}:changes", text)
        one.step(2)
        one.vote("ann", "a")
        await until(lambda: other.room.votes == {"ann": "a"}, f"{other.room.votes}")
        late = {"poll": poll, "votes": {"ann": f"{10**15} b"}}
        redis.ask("PUBLISH", f"{KEY}:changes", json.dumps(late))
        one.step(3)
        await until_same(one, other, at=3)
        assert one.room.votes == {"ann": "a"}
        assert one.store == other.store == [True]

    go_through(part, *two(redis))


@pytest.mark.parametrize(
    "fields",
    [
        {"seq": "much"},
        {"state": "[1]", "state_at": str(9 * 10**15)},
        {"state": "no JSON", "state_at": str(9 * 10**15)},
        {"polls": '[{"id": 7}]', "polls_at": str(9 * 10**15)},
        {"polls": "7", "polls_at": str(9 * 10**15)},
        None,
    ],
)
def test_a_class_goes_on_beside_nonsense_in_redis_until_it_is_gone(redis, fields):
    async def part(one: Process) -> None:
        one.step(1)
        await until(lambda: redis.ask("HGET", KEY, "state_at"))
        if fields is None:
            redis.ask("DEL", KEY)
            redis.ask("SET", KEY, "a text")
        else:
            redis.ask("HSET", KEY, *[text for item in fields.items() for text in item])
        one.step(2)
        await until(lambda: not one.relay.is_there)
        one.step(3)
        assert one.page["state"]["step"] == 3
        redis.ask("DEL", KEY)
        await until(lambda: one.relay.is_there)
        await until_same(one, at=3)

    go_through(part, RedisRelay(redis.url))


def test_redis_forgets_a_class_a_day_after_its_last_word(redis):
    async def part(one: Process) -> None:
        poll = one.open_poll()
        one.vote("ann", "a")
        votes = f"{KEY}:votes:{poll}"
        await until(lambda: redis.ask("EXISTS", votes))
        for key in KEY, votes:
            assert 86_000 < redis.ask("TTL", key) <= 86_400

    go_through(part, RedisRelay(redis.url))


WRONG = {
    "localhost": "needs redis://HOST",
    "http://localhost": "needs redis://HOST",
    "redis://:sesame@localhost:99999/0": "Port out of range",
    "redis://:sesame@localhost:{port}/abc": "needs redis://HOST",
    "redis://:sesame@localhost:{port}/99": "needs redis:..USER",
    "redis://:sesame@localhost:{port}/0": "password",
    "redis://localhost:{port}/99": "DB index is out of range",
    "redis://localhost:{port}/0?colour=red": "colour",
}


@pytest.mark.parametrize("address", WRONG)
def test_an_address_that_can_t_be_meant_ends_the_call_with_one_line(redis, address):
    with pytest.raises(LessonError, match=WRONG[address]) as found:
        try_redis(address.format(port=redis.port))
    line = str(found.value)
    assert line.startswith("--redis: ")
    assert "sesame" not in line
    assert "\n" not in line


def test_a_password_that_redis_asks_for_is_named(redis):
    redis.ask("CONFIG", "SET", "requirepass", "sesame")
    with pytest.raises(LessonError, match=r"--redis: Auth.* needs redis://USER:PASS"):
        try_redis(redis.url)
    try_redis(redis.url.replace("//", "//:sesame@"))
    redis.stop()  # the next one asks for none


def test_a_redis_that_is_away_lets_the_class_begin(redis, caplog):
    redis.stop()
    relay = Class(redis=redis.url).relay(ROOM)
    assert "begins without Redis" in caplog.text

    async def part(one: Process) -> None:
        assert not one.relay.is_there
        one.step(4)
        assert one.page["state"]["step"] == 4
        redis.start()
        await until(lambda: one.relay.is_there)
        await until_same(one, at=4)

    go_through(part, relay)


# ------------------------------------------------------------ who is there


class Silent:
    """A page's stream that takes everything and keeps the texts."""

    def __init__(self) -> None:
        self.texts: list[Message] = []

    def closed(self) -> bool:
        return False

    def writing(self) -> bool:
        return False

    def write_to_fd(self, data: memoryview) -> int:
        text = bytes(data)
        self.texts.append(json.loads(text[text.index(b"{") :]))
        return len(text)


@pytest.fixture(scope="module")
def publication() -> Publication:
    return publish(lesson_folder(DEFAULT_LESSON))


@pytest.fixture
def quick(monkeypatch) -> None:
    monkeypatch.setattr(classroom, "SWEEP_EVERY", 0.05)
    monkeypatch.setattr(classroom, "COUNTS_EVERY", 0.01)
    monkeypatch.setattr(attendance, "PROCESS_LOST_AFTER", 0.4)


async def a_class(publication: Publication, relay: Relay) -> Classroom:
    one = Classroom(ROOM, "key", publication, relay, Limits())
    await one.ready()
    return one


def enter(one: Classroom, browser: str, follows: bool = True, **key: str) -> Any:
    """A page comes in; gives its seat and what it is told."""
    stream = Silent()
    seat = one.attendance.add(Outlet(stream, 0))
    hello = {"id": browser, "following": follows, "visible": True, **key}
    one.hello(seat, {"type": "hello", **hello})
    return seat, stream.texts


def test_browsers_are_counted_alike(relay, publication, quick):
    async def whole() -> None:
        one = await a_class(publication, relay())
        _, told = enter(one, "teacher", key="key")
        ann, _ = enter(one, "ann")
        enter(one, "ann", follows=False)  # a second tab
        enter(one, "ben", follows=False)
        enter(one, "cay")
        await asyncio.sleep(0.1)
        counts = {"following": 2, "exploring": 1, "quiet": 0}
        assert one.attendance.counts() == counts
        assert told[-1] == {"type": "counts", **counts, "votes": None}
        one.leave(ann)
        await asyncio.sleep(0.1)
        counts = {"following": 1, "exploring": 2, "quiet": 0}
        assert one.attendance.counts() == counts
        await one.close()

    run(whole())


def test_what_still_waits_when_a_class_ends_is_not_computed(publication, monkeypatch):
    begun, may_end, asked = threading.Event(), threading.Event(), []

    def lab(_lesson: Any, payload: Any) -> dict[str, Any]:
        asked.append(payload)
        begun.set()
        may_end.wait(PATIENCE)
        return {}

    async def whole() -> None:
        one = await a_class(publication, OneProcess())
        seat, _ = enter(one, "ann")
        for n in range(5):
            question = {"type": "ask", "id": n, "kind": "lab", "payload": n}
            await one.requests.do(seat, question)
        await asyncio.to_thread(begun.wait, PATIENCE)
        await one.close()
        with pytest.raises(BusyError, match="is stopping"):  # too late
            await one.requests._answers.answer("lab", 5)
        may_end.set()

    monkeypatch.setitem(ANSWERS, "lab", lab)
    run(whole())
    for thread in threading.enumerate():
        if thread.name.startswith("answers"):
            thread.join(PATIENCE)
    assert asked == [0]


def test_browsers_are_counted_across_processes(redis, publication, quick, caplog):
    async def whole() -> None:
        one = await a_class(publication, RedisRelay(redis.url))
        enter(one, "ann")
        enter(one, "ben", follows=False)
        await asyncio.sleep(0.05)
        other = await a_class(publication, RedisRelay(redis.url))  # asks who is there
        seat, _ = enter(other, "cay")

        async def both(*numbers: int) -> None:
            names = ("following", "exploring", "quiet")
            wanted = dict(zip(names, numbers, strict=True))
            for each in (one, other):
                await until(
                    lambda each=each: each.attendance.counts() == wanted,
                    f"{each.attendance.counts()}, not {wanted}",
                )

        await both(2, 1, 0)
        for pages in [1], {"eve": "here"}, {"eve": ["quiet"]}:
            news = {"from": "x", "news": {"pages": pages}}
            redis.ask("PUBLISH", f"{KEY}:changes", json.dumps(news))
        enter(other, "ben", follows=False)  # moved on: counted once
        await both(2, 1, 0)
        # a process that is killed says no word more, and its page goes nowhere else
        news = {"from": "killed", "news": {"pages": {"fay": "following"}}}
        redis.ask("PUBLISH", f"{KEY}:changes", json.dumps(news))
        await both(2, 1, 1)
        other.leave(seat)
        await both(1, 1, 2)
        assert "without Redis" not in caplog.text
        redis.stop()
        await until(
            lambda: one.attendance.counts()["quiet"] == 3, "ben is not heard of"
        )
        enter(other, "dan")
        redis.start()
        await both(2, 1, 2)
        await other.close()
        await until(lambda: one.attendance.counts()["quiet"] == 4, "the process ended")
        await one.close()

    run(whole())
