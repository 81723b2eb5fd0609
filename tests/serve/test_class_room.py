"""What a room is: its state, its votes, who is in it, and what may be said there."""

import asyncio
import csv
import io
import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application

from helpers.class_client import ClassClient, channel, run
from residual_stream.lesson.files import LessonError
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.page.publication import publish
from residual_stream.serve.classroom.answers import Answers, BusyError
from residual_stream.serve.classroom.attendance import (
    PROCESS_LOST_AFTER,
    Presence,
    status_of,
)
from residual_stream.serve.classroom.classroom import Classroom
from residual_stream.serve.classroom.handlers import ClassSocket, policy
from residual_stream.serve.classroom.keys import (
    checked_room,
    is_key,
    kept_key,
    new_key,
    new_room,
)
from residual_stream.serve.classroom.limits import Allowance, Limits
from residual_stream.serve.classroom.relay import OneProcess, adopted, write_room
from residual_stream.serve.classroom.room import CLOSED, REVEALED, Poll, Room, votes_csv
from residual_stream.serve.classroom.start import Class, host_in_network, open_class
from residual_stream.table.questions import questions


def room_with_votes(**votes: str) -> Room:
    """A room in which F1 is voted on."""
    room = Room("r")
    room.apply("polls", room.with_poll(Poll.new("F1", "abc")))
    for voter, option in votes.items():
        assert room.vote(room.poll.id, voter, option)
    return room


# ------------------------------------------------------------------------ the room


def test_each_change_has_the_next_number():
    room = Room("r")
    room.apply("state", {"step": 2})
    room.apply("state", {"step": 3})
    assert (room.seq, room.state) == (2, {"step": 3})
    room.apply("polls", room.with_poll(Poll.new("F1", "abc")))
    assert (room.seq, room.state) == (3, {"step": 3})


def test_the_last_vote_of_a_browser_counts():
    room = room_with_votes(one="a", two="b", three="b")
    assert room.counts() == {"a": 1, "b": 2, "c": 0}
    assert room.vote(room.poll.id, "one", "c")
    assert room.counts() == {"a": 0, "b": 2, "c": 1}


def test_a_vote_for_nothing_is_refused():
    room = room_with_votes()
    assert not room.vote("another", "one", "a")
    assert not room.vote(room.poll.id, "one", "z")
    assert not Room("r").vote("any", "one", "a")
    assert room.votes == {}


def test_counts_are_for_all_only_when_they_are_revealed():
    room = room_with_votes(one="a", two="b")
    assert room.shown()["poll"]["counts"] is None
    room.apply("polls", room.with_stage(REVEALED))
    assert room.shown()["poll"]["counts"] == {"a": 1, "b": 1, "c": 0}
    assert not room.vote(room.poll.id, "one", "c")
    room.apply("polls", room.with_stage(CLOSED))
    assert room.shown()["poll"] is None
    assert room.polls[0].counts == {"a": 1, "b": 1, "c": 0}


def test_a_new_vote_closes_the_one_before_and_starts_from_nothing():
    room = room_with_votes(one="a")
    room.apply("polls", room.with_poll(Poll.new("F2", "ab")))
    first, second = room.polls
    assert (first.stage, first.counts) == (CLOSED, {"a": 1, "b": 0, "c": 0})
    assert (second.experiment, room.counts()) == ("F2", {"a": 0, "b": 0})
    with pytest.raises(ValueError, match="no vote"):
        Room("r").with_stage(REVEALED)


def test_a_room_goes_through_json_and_numbers_anew():
    room = room_with_votes(one="a", two="b")
    room.apply("state", {"step": 7})
    other = Room("r")
    other.adopt(json.loads(json.dumps(room.as_data())))
    assert other.as_data() == room.as_data()
    assert other.shown() | {"epoch": ""} == room.shown() | {"epoch": ""}
    assert other.epoch not in {room.epoch, ""}  # or a page would take it for old
    other.adopt(room.as_data(), room.epoch)
    assert other.shown() == room.shown()


# -------------------------------------------------------------------- who is there


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def presence(clock) -> Presence:
    return Presence("here", 900, 4, clock)


def test_a_browser_follows_if_one_of_its_pages_that_is_looked_at_does():
    follows, explores, away = (True, True), (False, True), (True, False)
    assert status_of([follows]) == status_of([explores, follows]) == "following"
    assert status_of([explores]) == status_of([explores, away]) == "exploring"
    assert status_of([away]) == status_of([]) == "quiet"


def test_browsers_are_counted_once_and_forgotten_in_the_end(presence, clock):
    for who, status in (("a", "following"), ("b", "following"), ("c", "exploring")):
        assert presence.put(who, status)
    assert not presence.put("a", "following")
    assert presence.counts() == (2, 1, 0)
    presence.put("a", "quiet")
    clock.now = 899
    assert not presence.sweep()
    assert presence.counts() == (1, 1, 1)
    clock.now = 901
    assert presence.sweep()
    assert presence.counts() == (1, 1, 0)


def test_a_browser_that_comes_back_elsewhere_is_counted_there(presence, clock):
    presence.put("a", "following")
    assert presence.hear("there", {"a": "exploring", "b": "following"})
    assert not presence.put("a", "quiet")  # the old connection ends after the new one
    assert presence.counts() == (1, 1, 0)
    assert presence.mine() == {}
    assert not presence.hear("there", {"b": "following"})
    clock.now = PROCESS_LOST_AFTER + 1
    assert presence.sweep()
    assert presence.counts() == (0, 0, 2)
    assert presence.hear("there", {"b": "following"})
    assert presence.counts() == (1, 0, 1)


def test_a_teacher_whose_process_is_lost_is_no_quiet_student(presence, clock):
    presence.hear("there", {"a": "following", "t": "teaching"})
    clock.now = PROCESS_LOST_AFTER + 1
    assert presence.sweep()
    assert presence.counts() == (0, 0, 1)


def test_made_up_browsers_do_not_fill_the_memory(presence):
    for number in range(9):
        presence.put(str(number), "following")
    assert presence.counts() == (4, 0, 0)
    assert presence.put("3", "exploring")


# ------------------------------------------------------------------ keys and limits


def test_a_key_is_256_bits_and_compared_as_a_whole():
    keys = {new_key() for _ in range(50)}
    assert len(keys) == 50
    assert min(map(len, keys)) * 6 >= 256
    key = new_key()
    assert is_key(key, key)
    for wrong in ("", key[:-1], f"{key} ", key.swapcase(), "\ud800"):
        assert not is_key(wrong, key)


def test_a_key_file_is_made_for_its_owner_alone_and_read_again(tmp_path):
    path = tmp_path / "key"
    key = kept_key(path)
    assert kept_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == f"{key}\n"


def test_two_servers_that_start_together_have_one_key(tmp_path):
    path = tmp_path / "key"
    with ThreadPoolExecutor(8) as servers:
        keys = set(servers.map(kept_key, [path] * 8))
    assert keys == {path.read_text().strip()}
    # one server has made the file, and writes the key while another reads
    late = tmp_path / "late"
    late.touch()
    key = new_key()
    with ThreadPoolExecutor(1) as server:
        read = server.submit(kept_key, late)
        late.write_text(key)
        assert read.result() == key


@pytest.mark.parametrize(
    "text", ["", "short", "x" * 200, "spaces in it " * 3, "ü" * 30]
)
def test_a_file_that_holds_no_key_is_not_taken_for_one(tmp_path, text):
    path = tmp_path / "key"
    path.write_text(text)
    with pytest.raises(LessonError, match="holds no key"):
        kept_key(path)
    assert path.read_text() == text


def test_room_names_can_be_read_aloud():
    names = {new_room() for _ in range(200)}
    assert len(names) > 190
    assert not set("".join(names)) & set("01ilo")
    assert {checked_room(name) for name in names} == names


@pytest.mark.parametrize(
    "name", ["ab", "-ab", "ab-", "Ab", "a b", "a/b", "x" * 41, "é" * 4, "a_b", "ab\n"]
)
def test_a_name_that_can_t_stand_in_an_address_is_refused(name):
    with pytest.raises(LessonError, match="--room"):
        checked_room(name)


def test_an_allowance_fills_up_to_the_burst_and_no_further():
    allowance = Allowance(rate=2, burst=3, now=0)
    assert [allowance.take(0) for _ in range(4)] == [True, True, True, False]
    assert [allowance.take(0.5), allowance.take(0.5)] == [True, False]
    assert [allowance.take(100) for _ in range(4)] == [True, True, True, False]


def test_a_class_is_set_by_the_environment_too():
    given = {"ROOM": "bio", "KEY_FILE": "k", "STATE_FILE": "s", "CLASS_LIMIT": "70"}
    settings = Class.from_environment(
        {f"RESIDUAL_STREAM_{name}": value for name, value in given.items()}
    )
    assert settings == Class("bio", Path("k"), Path("s"), "", Limits(70))
    assert Class.from_environment({}) == Class()
    for wrong in ("0", "many", "-1", "²", "100001", "9" * 9, "9" * 5000):
        with pytest.raises(LessonError, match=r"CLASS_LIMIT: .+; needs 1 to 100000$"):
            Class.from_environment({"RESIDUAL_STREAM_CLASS_LIMIT": wrong})


def test_the_link_names_this_machine_as_others_reach_it():
    assert host_in_network("127.0.0.1") == host_in_network("::1") == "localhost"
    assert host_in_network("192.0.2.7") == "192.0.2.7"
    assert host_in_network("0.0.0.0") not in {"", "0.0.0.0"}  # noqa: S104


def test_a_page_may_open_its_channel_and_no_other():
    assert "connect-src 'self' ws://a.example:80 wss://a.example:80;" in policy(
        "a.example:80"
    )
    plain = policy("")
    for hostile in ("x; script-src *", "a b", "*", "a.example:80\n", "é"):
        assert policy(hostile) == plain
    assert "ws:" not in plain


# ----------------------------------------------------------------- the shared state


@pytest.fixture(scope="module")
def publication():
    return publish(lesson_folder(DEFAULT_LESSON))


def share(publication, current=None, **state):
    return adopted(publication, current, {"state": state})


def test_what_a_class_shares_is_checked_value_by_value(publication):
    start = share(publication)
    assert start == {
        "view": "lesson", "step": 1, "depth": 3, "residual": True, "token": "bank",
        "compare": False, "experiment": "", "lab": "",
    }  # fmt: skip
    change = {"depth": 6, "step": 38, "residual": False, "token": "river"}
    moved = share(publication, start, **change)
    assert moved == start | change
    assert share(publication, moved, depth=2)["step"] == 14  # the last that there is
    assert share(publication, moved, experiment="G5")["experiment"] == "G5"
    lab = "words*by*bank_x1*0.3*-2*0*1"
    assert share(publication, moved, lab=lab)["lab"] == lab


HOSTILE = {
    "step": [0, 39, "7", True, 1.5, None, "²", 10**400, [7], {}],
    "depth": [0, 13, "3", True, 2.5, None, 10**400],
    "residual": [0, "on", None, []],
    "token": ["sea", "<b>", 3, None, [], "x" * 9000],
    "view": ["links", "nowhere", None, 3, []],
    "compare": [1, "1", None],
    "experiment": ["F9", "<b>", None, [], {}, 3],
    "lab": ["<b>", "a b", "x" * 601, None, 3, "é", "depth*12\n", "depth*97"],
    "language": ["ja"],
    "hide": [["depth"]],
    "__class__": ["x"],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_value_that_is_not_allowed_leaves_the_rest(publication, name):
    start = {"depth": 6, "step": 38, "token": "the", "view": "lab", "lab": "depth*12"}
    before = share(publication, **start)
    assert start.items() <= before.items()
    for value in HOSTILE[name]:
        after = share(publication, before, **{name: value, "residual": False})
        if name == "residual":
            after = share(publication, before, **{name: value})
            assert after == before, value
        else:
            assert after == before | {"residual": False}, value


# ------------------------------------------------------------------------- answers


def test_what_a_class_asks_together_is_computed_once():
    asked = []

    def lab(payload):
        asked.append(payload)
        return {"sum": payload["n"] + 1}

    async def ask() -> list[str]:
        answers = Answers({"lab": lab}, waiting=10)
        same = [answers.answer("lab", {"n": 1}) for _ in range(50)]
        return [*await asyncio.gather(*same), await answers.answer("lab", {"n": 2})]

    texts = run(ask())
    assert texts == ['{"sum":2}'] * 50 + ['{"sum":3}']
    assert asked == [{"n": 1}, {"n": 2}]


def test_too_many_questions_are_refused_and_later_ones_answered():
    async def ask() -> None:
        answers = Answers({"lab": lambda payload: {"n": payload}}, waiting=3)
        many = [answers.answer("lab", n) for n in range(5)]
        said = await asyncio.gather(*many, return_exceptions=True)
        assert said[:3] == ['{"n":0}', '{"n":1}', '{"n":2}']
        assert [type(one) for one in said[3:]] == [BusyError] * 2
        assert await answers.answer("lab", 4) == '{"n":4}'
        with pytest.raises(BusyError, match="kind"):
            await answers.answer("rm", 0)

    run(ask())


# ---------------------------------------------------------------------- spreadsheet


def test_votes_as_a_table_say_which_option_is_right(publication):
    asked = questions(publication.lesson)
    room = room_with_votes(one="b", two="b", three="c")
    room.apply("polls", room.with_stage(REVEALED))
    room.apply("polls", room.with_poll(Poll.new("G5", "abc")))
    room.vote(room.poll.id, "one", "a")
    text = votes_csv(room, asked)
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [(r["experiment"], r["option"], r["votes"], r["stage"]) for r in rows] == [
        ("F1", "a", "0", "revealed"),
        ("F1", "b", "2", "revealed"),
        ("F1", "c", "1", "revealed"),
        ("G5", "a", "1", "open"),
        ("G5", "b", "0", "open"),
        ("G5", "c", "0", "open"),
    ]
    for row in rows:
        for language in ("en", "ja"):
            question = next(q for q in asked[language] if q.id == row["experiment"])
            texts = {option: (text, right) for option, text, right in question.options}
            assert texts[row["option"]] == (row[language], row["right"] == "yes")
    assert sum(row["right"] == "yes" for row in rows) == 2


# -------------------------------------------------------------- in a server's process


def served_class(**limits):
    """A classroom with its channel on a free port, without a lesson's page."""
    publication = SimpleNamespace(
        extra={"experiments": {"experiments": []}}, answers={}
    )
    classroom = Classroom("r", "k" * 43, publication, OneProcess(), Limits(**limits))
    channel_at = {"classroom": classroom, "origins": ()}
    server = HTTPServer(Application([("/class/r/socket", ClassSocket, channel_at)]))
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    return classroom, server, f"http://127.0.0.1:{sockets[0].getsockname()[1]}/class/r"


def in_class(does, **limits):
    async def lesson() -> None:
        classroom, server, link = served_class(**limits)
        try:
            await does(classroom, link)
        finally:
            await classroom.close()
            server.stop()
            await server.close_all_connections()

    run(lesson())


def test_who_says_no_hello_is_let_go():
    async def silent(classroom, link):
        socket = await channel(link)
        await asyncio.sleep(0)
        assert len(classroom.attendance.seats) == 1
        assert await asyncio.wait_for(socket.read_message(), 5) is None
        assert socket.close_code == 1008
        socket.close()
        for _ in range(100):
            await asyncio.sleep(0.01)
            if not classroom.attendance.seats:
                break
        assert classroom.attendance.seats == set()

    in_class(silent, hello_within=0.05)


def test_a_page_that_falls_silent_counts_as_quiet_until_it_speaks(monkeypatch):
    monkeypatch.setattr("residual_stream.serve.classroom.classroom.SWEEP_EVERY", 0.05)

    async def fall_silent(classroom, link):
        teacher = await ClassClient.join(link, "k" * 43)
        student = await ClassClient.join(link)
        await teacher.until("counts", lambda m: (m["following"], m["quiet"]) == (1, 0))
        await teacher.until("counts", lambda m: (m["following"], m["quiet"]) == (0, 1))
        await student.say("here", following=False, visible=True)
        await teacher.until("counts", lambda m: (m["exploring"], m["quiet"]) == (1, 0))
        await student.leave()
        await teacher.until("counts", lambda m: (m["exploring"], m["quiet"]) == (0, 1))
        await teacher.leave()

    in_class(fall_silent, quiet_after=0.4)


def test_many_news_at_once_are_few_messages_for_the_teacher():
    async def come(classroom, link):
        teacher = await ClassClient.join(link, "k" * 43)
        students = [await ClassClient.join(link) for _ in range(60)]
        await teacher.until("counts", lambda m: m["following"] == 60)
        said = [m for m in teacher.heard if m["type"] == "counts"]
        assert len(said) < 20
        for page in (*students, teacher):
            await page.leave()

    in_class(come)


def test_a_teacher_s_browser_is_no_student_whatever_else_it_shows():
    async def look(classroom, link):
        teacher = await ClassClient.join(link, "k" * 43)
        student = await ClassClient.join(link)
        as_student = await ClassClient.join(link, id_=teacher.id)
        await asyncio.sleep(0)
        assert classroom.attendance.counts()["following"] == 1
        await as_student.leave()
        await teacher.leave()
        while len(classroom.attendance.seats) > 1:
            await asyncio.sleep(0.01)
        counts = {"following": 1, "exploring": 0, "quiet": 0}
        assert classroom.attendance.counts() == counts
        await student.leave()

    in_class(look)


def test_ever_new_names_do_not_vote_without_end():
    async def stuff(classroom, link):
        options = classroom.requests.options
        options["F1"] = ("a", "b")
        teacher = await ClassClient.join(link, "k" * 43)
        await teacher.say("open", experiment="F1")
        poll = (await teacher.until("room", lambda m: m["poll"]))["poll"]["id"]
        refused = 0
        for _ in range(9):
            page = await ClassClient.join(link)
            await page.say("vote", poll=poll, option="a")
            await page.say("here", following=True, visible=True)
            await page.say("csv")  # refused too, so that there is an answer
            refused += (await page.until("refused"))["what"] == "vote"
            await page.leave()
        assert (classroom.room.counts(), refused) == ({"a": 6, "b": 0}, 3)
        await teacher.leave()

    in_class(stuff, browsers=3)


def test_who_is_long_silent_holds_no_seat():
    async def fall_silent(classroom, link):
        pages = [await ClassClient.join(link) for _ in range(2)]
        assert classroom.attendance.is_full()
        await asyncio.sleep(0.4)
        assert not classroom.attendance.is_full()
        pages.append(await ClassClient.join(link))
        for page in pages:
            await page.leave()

    in_class(fall_silent, browsers=2, quiet_after=0.1)


def test_a_class_goes_on_in_the_room_of_its_state_file(tmp_path, publication):
    file = tmp_path / "state"
    write_room(file, Room("earlier"))
    opened = open_class(publication, Class(state_file=file))
    assert opened.classroom.room.name == "earlier"
    other = open_class(publication, Class(state_file=tmp_path / "none"))
    assert len(other.classroom.room.name) == 6
