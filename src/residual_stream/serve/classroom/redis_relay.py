"""A room that several processes or hosts share, through Redis.

A change holds at once in the process where it was made, which never waits for Redis.
Then the room is compared with Redis: of the state, of the polls and of each vote the
one that was made last stays. So one rule serves every case: two teachers at once,
Redis away and back, wiped, or restarted with what it had an hour ago.
"""

import json
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from residual_stream.serve.classroom.redis_link import RedisLink, ask
from residual_stream.serve.classroom.relay import Listener
from residual_stream.serve.classroom.room import Room

# Of the state and of the polls the later one stays, whoever brings it. There is a new
# number when something is new, and when what was brought had numbers that no other
# process knows; then all processes are told to compare as well.
#
# KEYS  the room, its channel
# ARGV  seconds to keep it, epoch, seq, state, its time, polls, their time
# gives whether Redis had forgotten it; epoch, seq, state, its time, polls, their time
SHARE = """
local known = redis.call(
  'HMGET', KEYS[1], 'epoch', 'seq', 'state', 'state_at', 'polls', 'polls_at')
local forgotten = not known[1]
local epoch = known[1] or ARGV[2]
local seq, mine = tonumber(known[2] or '0'), tonumber(ARGV[3])
local newer, older = false, false
for what = 3, 5, 2 do
  local before, at = tonumber(known[what + 1] or '-1'), tonumber(ARGV[what + 2])
  if at > before then
    newer, known[what], known[what + 1] = true, ARGV[what + 1], ARGV[what + 2]
  elseif at < before then
    older = true
  end
end
if forgotten or newer or mine > seq or (mine == seq and older) then
  if older then
    seq = math.max(seq, mine) + 1
  elseif newer and not forgotten then
    seq = math.max(seq + 1, mine)
  else
    seq = math.max(seq, mine)
  end
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'seq', seq, 'state', known[3],
    'state_at', known[4], 'polls', known[5], 'polls_at', known[6])
  redis.call('PUBLISH', KEYS[2], cjson.encode({epoch = epoch, seq = seq}))
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return {forgotten and 1 or 0, epoch, string.format('%.0f', seq),
  known[3], known[4], known[5], known[6]}
"""

# Of each voter the later vote stays; those that are new are told to all processes.
#
# KEYS  the votes of a poll, the room's channel
# ARGV  seconds to keep them, the poll, then voter and vote, as often as needed
SHARE_VOTES = """
local news = {}
for i = 3, #ARGV, 2 do
  local known = redis.call('HGET', KEYS[1], ARGV[i])
  if not known or known < ARGV[i + 1] then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    news[ARGV[i]] = ARGV[i + 1]
  end
end
if next(news) then
  redis.call('EXPIRE', KEYS[1], ARGV[1])
  redis.call('PUBLISH', KEYS[2], cjson.encode({poll = ARGV[2], votes = news}))
end
"""


KEPT = 24 * 3600  # seconds after the last word of a process, then Redis forgets it
VOTE = re.compile(r"[0-9]{16} [A-Za-z0-9_-]{1,40}")  # when, what: the later is greater
VOTER = re.compile(r"[A-Za-z0-9_-]{1,40}")


class RedisRelay:
    """Shares a room through a Redis server.

    url:     as redis-py takes it, redis://[[user]:password@]host:port/number.
    raises   ValueError for an address of another kind.
    """

    def __init__(self, url: str) -> None:
        self._link = RedisLink(url)
        self._at = {"state": 0, "polls": 0}  # microseconds when each was changed
        self._poll = ""  # the poll of these votes, which are "when what" by voter
        self._votes: dict[str, str] = {}
        self._untold: dict[str, str] = {}
        self._knows_votes = False  # those that Redis has

    @property
    def is_there(self) -> bool:
        """Whether Redis can be reached now."""
        return self._link.is_there

    async def open(self, room: Room, listener: Listener) -> None:
        """Take over what is in Redis; if it can't be reached soon, go on without."""
        self._room, self._listener = room, listener
        self._key = f"residual-stream:{{{room.name}}}"  # one slot of a cluster
        self._channel = f"{self._key}:changes"
        await self._link.open(self._channel, self)

    def change(self, what: str, value: Any) -> int:
        """Apply it at once; the other processes follow."""
        self._at[what] = _later(self._at[what])
        self._room.apply(what, value)
        self._begin_votes()
        self._listener.room_changed()
        self._link.wake()
        return self._room.seq

    def vote(self, poll_id: str, voter: str, option: str) -> bool:
        """Count it at once; the other processes follow."""
        if not self._room.vote(poll_id, voter, option):
            return False
        before = self._votes.get(voter, "0").split()[0]
        self._votes[voter] = f"{_later(int(before)):016d} {option}"
        self._untold[voter] = self._votes[voter]
        self._listener.votes_changed()
        self._link.wake()
        return True

    def say(self, news: Mapping[str, Any]) -> None:
        """Tell the other processes, if they can be reached."""
        self._link.say(_json({"from": self._listener.process, "news": news}))

    async def close(self) -> None:
        """Tell what has not been told and let go; Redis keeps the room."""
        await self._link.close()

    # ------------------------------------------------------------ what the link brings

    def link_changed(self, is_there: bool) -> None:
        """Redis went away or came back."""
        if not is_there:
            # processes number by themselves now: a page that moves on to another one
            # is to take what it finds there
            self._room.epoch = secrets.token_hex(8)
            self._listener.room_changed()
        self._listener.store_changed(is_there)

    def hear(self, text: str) -> None:
        """Take the news; what none of us would say is passed over."""
        try:
            news = json.loads(text)
        except (ValueError, RecursionError):
            return
        match news:
            case {"epoch": epoch, "seq": seq}:
                if (epoch, seq) != (self._room.epoch, self._room.seq):
                    self._link.wake()
            case {"poll": self._poll, "votes": dict(votes)} if self._poll:
                if self._take_votes(votes):
                    self._listener.votes_changed()
            case {"from": str(process), "news": dict(said)}:
                self._listener.heard(process, said)

    # ------------------------------------------------------------ the same everywhere

    async def share(self) -> None:
        """The room and its votes here and in Redis become the same."""
        await self._share_room()
        if not self._poll:
            return
        poll, key = self._poll, f"{self._key}:votes:{self._poll}"
        votes = self._untold if self._knows_votes else self._votes
        self._untold = {}
        if votes:
            flat = [text for vote in votes.items() for text in vote]
            head = key, self._channel, str(KEPT), poll
            await ask(self._link.redis.eval(SHARE_VOTES, 2, *head, *flat))
        if not self._knows_votes:
            found = await ask(self._link.redis.hgetall(key))
            if poll == self._poll:  # no other was opened meanwhile
                self._knows_votes = True
                self._take_votes(found)
                self._listener.votes_changed()

    async def _share_room(self) -> None:
        mine, sent = self._room.as_data(), (self._room.epoch, self._room.seq)
        args = [str(KEPT), sent[0], str(sent[1])]
        for what, at in self._at.items():
            args += [_json(mine[what]), str(at)]
        run = self._link.redis.eval(SHARE, 2, self._key, self._channel, *args)
        forgotten, epoch, seq, *values = await ask(run)
        if forgotten or epoch != sent[0]:
            self._knows_votes = False  # it may have forgotten them too
        if (epoch, int(seq)) != sent:
            # what was changed here while Redis answered is ahead of it
            is_ahead = sent != (self._room.epoch, self._room.seq)
            number = max(self._room.seq, int(seq)) + 1 if is_ahead else int(seq)
            self._take_room(epoch, number, values)

    def _take_room(self, epoch: str, seq: int, values: Sequence[str]) -> None:
        """The room as Redis has it, but for what is newer here."""
        room, times = self._room.as_data() | {"seq": seq}, dict(self._at)
        for what, text, at in zip(times, values[::2], values[1::2], strict=True):
            if int(at) > times[what]:
                room[what], times[what] = json.loads(text), int(at)
        self._room.adopt(room, epoch)
        self._at = times
        self._begin_votes()
        self._listener.room_changed()

    def _begin_votes(self) -> None:
        """A new poll has its own votes."""
        last = self._room.polls[-1].id if self._room.polls else ""
        if last != self._poll:
            self._poll, self._votes, self._untold = last, {}, {}
            self._room.votes = {}
            self._knows_votes = False

    def _take_votes(self, votes: Mapping[Any, Any]) -> bool:
        """Votes that others know; True if one of them is news."""
        options = self._room.polls[-1].options
        is_news = False
        for voter, vote in votes.items():
            is_vote = isinstance(vote, str) and VOTE.fullmatch(vote)
            if not (is_vote and VOTER.fullmatch(voter)):
                continue
            option = vote.split()[1]
            if option in options and vote > self._votes.get(voter, ""):
                self._votes[voter], self._room.votes[voter] = vote, option
                is_news = True
        return is_news


def _later(before: int) -> int:
    """Microseconds of now, but after `before`, whoever's clock that was."""
    return max(time.time_ns() // 1000, before + 1)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
