"""A room that several processes or hosts share, through Redis.

One hash holds the room, one the votes of each poll; changes are published. A script in
Redis gives each change its number, so all processes see one order. While Redis is away
the class goes on in each process by itself; when it is back, the newest is shared.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from residual_stream.classroom.relay import Listener
from residual_stream.classroom.room import Room
from residual_stream.lesson_file import LessonError

KEPT = 24 * 3600  # seconds after the last change, then Redis forgets the room
ANSWER_WITHIN = 2.0  # seconds
LOOK_EVERY = 5.0
TRY_AGAIN = 0.5
AWAY = (RedisError, OSError, asyncio.TimeoutError)

# the next number, the value, and the news of it, in one go
CHANGE = """
local known = tonumber(redis.call('HGET', KEYS[1], 'seq') or '0')
local seq = math.max(known, tonumber(ARGV[1])) + 1
redis.call('HSET', KEYS[1], 'seq', seq, ARGV[2], ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('PUBLISH', KEYS[2],
  '{"what":"' .. ARGV[2] .. '","seq":' .. seq .. ',"value":' .. ARGV[3] .. '}')
return seq
"""

# a room that Redis does not have, or has in an older state, is put there
OFFER = """
local epoch = redis.call('HGET', KEYS[1], 'epoch')
local seq = tonumber(redis.call('HGET', KEYS[1], 'seq') or '0')
if not epoch or (epoch == ARGV[1] and seq < tonumber(ARGV[2])) then
  redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'seq', ARGV[2],
    'state', ARGV[3], 'polls', ARGV[4])
  redis.call('EXPIRE', KEYS[1], ARGV[5])
  redis.call('PUBLISH', KEYS[2],
    '{"offered":' .. ARGV[2] .. ',"epoch":"' .. ARGV[1] .. '"}')
end
return redis.call('HMGET', KEYS[1], 'epoch', 'seq', 'state', 'polls')
"""


class RedisRelay:
    """Shares a room through a Redis server.

    url:     as redis-py takes it, redis://[[user]:password@]host:port/number.
    raises   LessonError, one line, for an address of another kind.
    """

    def __init__(self, url: str) -> None:
        try:
            self._redis = Redis.from_url(
                url,
                decode_responses=True,
                socket_timeout=ANSWER_WITHIN,
                socket_connect_timeout=ANSWER_WITHIN,
                retry=Retry(NoBackoff(), 0),  # the listener is what tries again
            )
        except ValueError as error:
            raise LessonError(
                f"--redis: {error}; needs redis://HOST:PORT/NUMBER"
            ) from None
        self.is_there = False
        # what happened while Redis was away: changed values, and who voted
        self._unshared: set[str] = set()
        self._unshared_votes: set[str] = set()
        self._listening: asyncio.Task[None] | None = None
        self._saying: set[asyncio.Task[None]] = set()

    async def open(self, room: Room, listener: Listener) -> None:
        """Take over what is in Redis and listen; without Redis, wait for it."""
        self._room, self._listener = room, listener
        base = f"residual-stream:{{{room.name}}}"  # one slot of a cluster
        self._key, self._channel = base, f"{base}:changes"
        first = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(first))
        await first.wait()

    async def change(self, what: str, value: Any) -> int:
        """Let Redis number it; it is applied when Redis has told everybody."""
        if self.is_there:
            with suppress(*AWAY):
                return await self._number(self._room.seq, what, _json(value))
            self._away()
        self._unshared.add(what)
        self._room.apply(what, value, self._room.seq + 1)
        self._listener.room_changed()
        return self._room.seq

    async def _number(self, least: int, what: str, text: str) -> int:
        run = self._redis.eval(
            CHANGE, 2, self._key, self._channel, str(least), what, text, str(KEPT)
        )
        return int(await run)

    async def vote(self, poll_id: str, voter: str, option: str) -> bool:
        """Count it here at once, and everywhere as soon as Redis has told them."""
        if not self._room.vote(poll_id, voter, option):
            return False
        self._listener.votes_changed()
        if self.is_there:
            with suppress(*AWAY):
                await self._share_vote(poll_id, voter, option)
                return True
            self._away()
        self._unshared_votes.add(voter)
        return True

    async def _share_vote(self, poll_id: str, voter: str, option: str) -> None:
        key = self._votes_key(poll_id)
        news = {"poll": poll_id, "voter": voter, "option": option}
        async with self._redis.pipeline(transaction=True) as together:
            together.hset(key, voter, option)
            together.expire(key, KEPT)
            together.publish(self._channel, _json(news))
            await together.execute()

    def say(self, news: Mapping[str, Any]) -> None:
        """Tell the other processes, if they can be reached."""
        if self.is_there:
            text = json.dumps({"from": self._listener.process, "news": news})
            task = asyncio.create_task(self._publish(text))
            self._saying.add(task)
            task.add_done_callback(self._saying.discard)

    async def _publish(self, text: str) -> None:
        try:
            await self._redis.publish(self._channel, text)
        except AWAY:
            self._away()

    async def close(self) -> None:
        """Let go of the connections; Redis keeps the room."""
        if self._listening:
            self._listening.cancel()
        for task in self._saying:
            task.cancel()
        await self._redis.aclose()

    # ------------------------------------------------------------ listening

    async def _listen(self, first: asyncio.Event) -> None:
        while True:
            try:
                async with self._redis.pubsub() as changes:
                    await changes.subscribe(self._channel)
                    await self._catch_up()
                    first.set()
                    await self._follow(changes)
            except AWAY:
                self._away()
            first.set()
            await asyncio.sleep(TRY_AGAIN)

    async def _follow(self, changes: Any) -> None:
        while True:
            message = await changes.get_message(
                ignore_subscribe_messages=True, timeout=LOOK_EVERY
            )
            if message is None:
                await self._redis.ping()  # a host that is gone says nothing at all
                continue
            await self._hear(json.loads(message["data"]))

    async def _hear(self, news: Mapping[str, Any]) -> None:
        if "what" in news:
            if self._room.apply(news["what"], news["value"], news["seq"]):
                self._listener.room_changed()
        elif "voter" in news:
            if self._room.vote(news["poll"], news["voter"], news["option"]):
                self._listener.votes_changed()
        elif "offered" in news:
            if (news["epoch"], news["offered"]) != (self._room.epoch, self._room.seq):
                await self._catch_up()
        else:
            self._listener.heard(news["from"], news["news"])

    async def _catch_up(self) -> None:
        """Redis and this process agree again; what was done here alone is shared."""
        mine = self._room.as_data()
        epoch, seq, state, polls = await self._offer(mine)
        theirs = {"seq": int(seq), "state": json.loads(state or "null")}
        theirs |= {"polls": json.loads(polls or "[]"), "votes": {}}
        is_news = (epoch, theirs["seq"]) != (self._room.epoch, mine["seq"])
        if is_news:
            self._room.adopt(theirs, epoch)
        await self._share_votes(mine)
        for what in sorted(self._unshared):
            least = max(mine["seq"], theirs["seq"])
            await self._number(least, what, _json(mine[what]))
        if is_news and not self._unshared:
            self._listener.room_changed()
        self._unshared.clear()
        if not self.is_there:
            self.is_there = True
            self._listener.store_changed(True)

    async def _offer(self, mine: Mapping[str, Any]) -> list[Any]:
        values = [_json(mine[what]) for what in ("state", "polls")]
        numbers = self._room.epoch, str(mine["seq"])
        run = self._redis.eval(
            OFFER, 2, self._key, self._channel, *numbers, *values, str(KEPT)
        )
        return list(await run)

    async def _share_votes(self, mine: Mapping[str, Any]) -> None:
        """One set of votes: Redis' own, and those that it has missed."""
        last = self._room.polls[-1] if self._room.polls else None
        if last is None:
            return
        key = self._votes_key(last.id)
        found = await self._redis.hgetall(key)
        known = {str(voter): str(option) for voter, option in found.items()}
        is_same = bool(mine["polls"]) and mine["polls"][-1]["id"] == last.id
        missed = mine["votes"] if is_same else {}
        own = {who: missed[who] for who in missed.keys() - known.keys()}
        own |= {who: missed[who] for who in missed.keys() & self._unshared_votes}
        self._room.votes = known | own
        if own:
            await self._redis.hset(key, mapping=own)
            await self._redis.expire(key, KEPT)
        self._unshared_votes.clear()
        self._listener.votes_changed()

    def _votes_key(self, poll_id: str) -> str:
        return f"{self._key}:votes:{poll_id}"

    def _away(self) -> None:
        if self.is_there:
            self.is_there = False
            self._listener.store_changed(False)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
