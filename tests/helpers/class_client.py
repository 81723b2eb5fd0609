"""A page of a live class without a browser: it says hello and hears what comes."""

import asyncio
import json
import secrets
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tornado.websocket import WebSocketClientConnection, websocket_connect

Message = dict[str, Any]
PATIENCE = 10
Result = TypeVar("Result")


def browser_id() -> str:
    """What a browser calls itself: 16 random bytes."""
    return secrets.token_urlsafe(16)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """What a coroutine returns; in a thread, for a browser's loop may have this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _to_the_end(work)).result()


async def _to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Channels that were closed are given the time to be."""
    try:
        return await work
    finally:
        for _ in range(100):
            if len(asyncio.all_tasks()) == 1:
                break
            await asyncio.sleep(0.01)


class ClassClient:
    """One page's channel and what it has heard last of each type."""

    def __init__(self, socket: WebSocketClientConnection, id_: str) -> None:
        self.socket, self.id = socket, id_
        self.heard: list[Message] = []
        self._sets = 0

    @classmethod
    async def join(
        cls, students_link: str, key: str | None = None, id_: str = "", **hello: Any
    ) -> "ClassClient":
        """Connect and say hello.

        students_link:  as the server prints it.
        key:            the teacher's.
        """
        client = cls(await channel(students_link), id_ or browser_id())
        message = {"id": client.id, "following": True, "visible": True} | hello
        teacher = {} if key is None else {"key": key}
        try:
            await client.say("hello", **message, **teacher)
            await client.until("welcome")
        except BaseException:
            client.socket.close()
            raise
        return client

    async def say(self, type_: str, **message: Any) -> None:
        await self.socket.write_message(json.dumps({"type": type_, **message}))

    async def set(self, **state: Any) -> Message:
        """As a teacher: set the room's state and wait until it is numbered."""
        self._sets += 1
        await self.say("set", n=self._sets, state=state)
        return await self.until("done", lambda m: m["n"] == self._sets)

    async def next(self) -> Message | None:
        """The next message; None when the channel has been closed."""
        # asyncio.wait_for may lose a cancellation in Python 3.11
        async with asyncio.timeout(PATIENCE):
            text = await self.socket.read_message()
        if text is None:
            return None
        message = json.loads(text)
        self.heard.append(message)
        return message

    async def until(
        self, type_: str, is_it: Callable[[Message], bool] = lambda message: True
    ) -> Message:
        """Read on to the first message of a type that fits."""
        while (message := await self.next()) is not None:
            if message["type"] == type_ and is_it(message):
                return message
        raise ConnectionError(f"closed before {type_}; heard {self.heard[-3:]}")

    async def closed(self) -> int | None:
        """Read to the end; the code that the server closed with."""
        while await self.next() is not None:
            pass
        self.socket.close()
        return self.socket.close_code

    async def leave(self) -> None:
        self.socket.close()
        await self.closed()


async def channel(students_link: str) -> WebSocketClientConnection:
    """The bare channel of a class; one that is not waited for any more is closed."""
    link = f"{students_link.replace('http', 'ws', 1)}/socket"
    opening = asyncio.ensure_future(websocket_connect(link))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(lambda it: it.exception() or it.result().close())
        raise
