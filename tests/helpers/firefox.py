"""Firefox by its own remote protocol (WebDriver BiDi), without a driver beside it."""

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

PATIENCE = 60
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


def executable() -> str | None:
    """The path of Debian's Firefox, or of another one."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Tab:
    """One tab; what its console holds against a page is in `faults`."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self._socket = socket
        self._last = 0
        self._context = ""
        self.faults: list[str] = []

    async def ask(self, method: str, **params: Any) -> Any:
        """One command of the protocol and its result."""
        self._last += 1
        command = {"id": self._last, "method": method, "params": params}
        await self._socket.write_message(json.dumps(command))
        while True:
            text = await asyncio.wait_for(self._socket.read_message(), PATIENCE)
            message = json.loads(text)
            if message.get("method") == "log.entryAdded":
                entry = message["params"]
                if entry["level"] in ("warn", "error"):
                    self.faults.append(entry["text"])
            elif message.get("id") == self._last:
                assert message["type"] == "success", message
                return message["result"]

    async def begin(self) -> None:
        await self.ask("session.new", capabilities={})
        await self.ask("session.subscribe", events=["log.entryAdded"])
        tree = await self.ask("browsingContext.getTree")
        self._context = tree["contexts"][0]["context"]

    async def open(self, url: str) -> None:
        where = {"context": self._context, "url": url, "wait": "complete"}
        await self.ask("browsingContext.navigate", **where)

    async def evaluate(self, function: str, argument: Any = None) -> Any:
        """What a function of one argument returns in the page."""
        call = f"({function})({json.dumps(argument)})"
        expression = f"(async () => JSON.stringify(await {call}))()"
        target = {"context": self._context}
        answer = await self.ask(
            "script.evaluate", expression=expression, target=target, awaitPromise=True
        )
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])


def with_firefox(profile: Path, use: Callable[[Tab], Awaitable[None]]) -> None:
    """Start Firefox, use a tab of it, and end it."""
    profile.mkdir()
    command = [executable(), "--headless", "--no-remote", "--profile", profile]
    process = subprocess.Popen(
        [*command, "--remote-debugging-port", "0", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        found = (LISTENING.search(line) for line in process.stderr)
        address = next(match[1] for match in found if match)
        # in a thread of its own: Playwright keeps a loop running in this one
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _use(f"{address}/session", use)).result()
    finally:
        process.terminate()
        process.communicate(timeout=20)


async def _use(address: str, use: Callable[[Tab], Awaitable[None]]) -> None:
    socket = await websocket_connect(address, max_message_size=10**8)
    try:
        tab = Tab(socket)
        await tab.begin()
        await use(tab)
    finally:
        socket.close()
        while await socket.read_message() is not None:
            pass
