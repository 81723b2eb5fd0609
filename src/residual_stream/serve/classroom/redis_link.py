"""A connection to Redis that comes back by itself, and the one channel it hears."""

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, Protocol

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

ANSWER_WITHIN = 2.0  # seconds
LOOK_EVERY = 1.0
TRY_AGAIN = 0.5
GATHER = 0.01  # what comes together is told together

log = logging.getLogger(__name__)


class Linked(Protocol):
    """Whoever has something to share through Redis."""

    async def share(self) -> None:
        """Make what is here and what is in Redis the same."""

    def hear(self, text: str) -> None:
        """Take what came over the channel."""

    def link_changed(self, is_there: bool) -> None:
        """Redis went away or came back."""


class RedisLink:
    """Stays with a Redis server, for good, and tells and hears what is new.

    url:       as redis-py takes it, redis://[[user]:password@]host:port/number.
    is_there:  whether the server can be reached now.
    raises     ValueError for an address of another kind.
    """

    def __init__(self, url: str) -> None:
        self.redis = Redis.from_url(
            url,
            decode_responses=True,
            protocol=2,  # the one that every Redis speaks
            # `ask` sets the time: redis-py does it by asyncio.wait_for, which may
            # lose a cancellation in Python 3.11
            socket_timeout=None,
            socket_connect_timeout=ANSWER_WITHIN,
            retry=Retry(NoBackoff(), 0),  # `_stay` is what tries again
        )
        self.is_there = False
        self._news: list[str] = []
        self._wake, self._tried = asyncio.Event(), asyncio.Event()
        self._staying: asyncio.Task[None] | None = None

    async def open(self, channel: str, linked: Linked) -> None:
        """Begin; if the server can't be reached soon, go on without."""
        self._channel, self._linked = channel, linked
        self._staying = asyncio.create_task(self._stay())
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_WITHIN):
                await self._tried.wait()

    def wake(self) -> None:
        """There is something new to share."""
        self._wake.set()

    def say(self, text: str) -> None:
        """Tell all who hear the channel, if the server can be reached."""
        if self.is_there:
            self._news.append(text)
            self._wake.set()

    async def close(self) -> None:
        """Tell what has not been told and let go."""
        if self._staying:
            self._staying.cancel()
            await asyncio.wait([self._staying], timeout=ANSWER_WITHIN)
        if self.is_there:
            with suppress(Exception):  # this process ends, whatever Redis does
                async with asyncio.timeout(1):
                    await self._linked.share()
        await self.redis.aclose()

    async def _stay(self) -> None:
        """Be with Redis, and come back to it, for good."""
        while True:
            try:
                await self._be_there()
            except Exception as error:  # what is in Redis may be anything at all
                self._be_away(error)
            await asyncio.sleep(TRY_AGAIN)

    async def _be_there(self) -> None:
        async with self.redis.pubsub() as changes:
            await ask(changes.subscribe(self._channel))
            # its answer: from here on no change goes unheard
            if await changes.get_message(timeout=ANSWER_WITHIN) is None:
                raise TimeoutError("no answer")
            await self._linked.share()
            self.is_there = True
            self._linked.link_changed(True)
            self._tried.set()
            async with asyncio.TaskGroup() as both:
                both.create_task(self._tell())
                both.create_task(self._listen(changes))

    def _be_away(self, error: Exception) -> None:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        if self.is_there or not self._tried.is_set():
            why = str(error) or repr(error)
            log.warning(
                "The class goes on without Redis, which is tried again: %s", why
            )
        self._tried.set()
        self._news.clear()
        if self.is_there:
            self.is_there = False
            self._linked.link_changed(False)

    async def _tell(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._linked.share()
            news, self._news = self._news, []
            for one in news:
                await ask(self.redis.publish(self._channel, one))
            await asyncio.sleep(GATHER)

    async def _listen(self, changes: Any) -> None:
        is_asked = False
        while True:
            message = await changes.get_message(timeout=LOOK_EVERY)
            if message is None:
                if is_asked:
                    raise TimeoutError("it says nothing any more")
                await ask(changes.ping())  # a host that is gone says nothing at all
            elif message["type"] == "message":
                self._linked.hear(message["data"])
            is_asked = message is None


async def ask(answer: Awaitable[Any]) -> Any:
    """Redis' answer.

    raises  TimeoutError if none comes in time, redis-py's errors.
    """
    async with asyncio.timeout(ANSWER_WITHIN):
        return await answer
