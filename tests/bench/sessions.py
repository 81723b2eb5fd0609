"""What a session costs the server: its time and memory, and what stays of it."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tornado.httpclient import AsyncHTTPClient
from tornado.websocket import WebSocketClientConnection, websocket_connect

TICKS = os.sysconf("SC_CLK_TCK")
NAIVE_APP = Path(__file__).parent / "naive_app.py"
# sessions that nobody uses end at once, so that a minute shows what stays of them
SHORT = {"unused_session_lifetime_milliseconds": 400}
SHORT["check_unused_sessions_milliseconds"] = 200
OURS = f"""
import panel as pn
from residual_stream.cli.main import main
serve = pn.serve
pn.serve = lambda *args, **kwargs: serve(*args, **(kwargs | {SHORT}))
main(["serve", "--port", "0"])
"""


@dataclass(frozen=True)
class Server:
    """A server in a process of its own: where it is and what it uses."""

    url: str
    pid: int

    def cpu(self) -> float:
        """Seconds of processor time so far, in the server and in the kernel for it."""
        stat = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii")
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def waited(self) -> float:
        """Seconds so far in which it could have run and others did (Linux)."""
        stat = Path(f"/proc/{self.pid}/schedstat").read_text(encoding="ascii")
        return int(stat.split()[1]) / 1e9

    def memory(self) -> float:
        """Resident memory in MB."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


@contextmanager
def served(naive: bool, short: bool = False) -> Iterator[Server]:
    """The lesson, or the naive app, on loopback."""
    here = Path(sys.executable).parent
    if naive:
        flags = ["--unused-session-lifetime", "400", "--check-unused-sessions", "200"]
        app = ["--port", "0", str(NAIVE_APP)]
        command = [str(here / "panel"), "serve", *app, *(flags if short else [])]
    elif short:
        command = [sys.executable, "-c", OURS]
    else:
        command = [str(here / "residual-stream"), "serve", "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield Server(_url(process), process.pid)
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _url(process: subprocess.Popen[str]) -> str:
    for line in process.stdout:
        if found := re.search(r"http://\S+:[1-9]\d*\S*", line):
            return found[0]
    raise RuntimeError("nothing is served")


async def opened(server: Server) -> WebSocketClientConnection:
    """What a browser does to get its session: the page, the socket, the document."""
    page = await AsyncHTTPClient().fetch(server.url)
    token = re.search(rb'"token":"([^"]+)"', page.body)[1].decode()
    socket = await websocket_connect(
        f"{server.url.rstrip('/').replace('http', 'ws', 1)}/ws",
        subprotocols=["bokeh", token],
    )
    await heard(socket, '"ACK"')
    for part in ('{"msgid": "1", "msgtype": "PULL-DOC-REQ"}', "{}", "{}"):
        await socket.write_message(part)
    await heard(socket, '"PULL-DOC-REPLY"')
    return socket


async def heard(socket: WebSocketClientConnection, kind: str) -> None:
    """Wait for a message of this kind; each comes in three parts."""
    while (part := await asyncio.wait_for(socket.read_message(), 20)) is not None:
        if kind in str(part):
            await socket.read_message()
            await socket.read_message()
            return
    raise ConnectionError(f"closed before {kind}")


async def new_sessions(server: Server, count: int) -> tuple[float, float]:
    """Processor ms and MB of one more session, from `count` that stay open."""
    for _ in range(3):
        (await opened(server)).close()
    cpu, memory = server.cpu(), server.memory()
    held = [await opened(server) for _ in range(count)]
    cost = 1000 * (server.cpu() - cpu) / count, (server.memory() - memory) / count
    for socket in held:
        socket.close()
    return cost


async def come_and_go(server: Server, count: int, every: int = 50) -> list[float]:
    """Memory in MB after every so many sessions that were opened and closed."""
    sizes = []
    for number in range(1, count + 1):
        (await opened(server)).close()
        if number % every == 0:
            await asyncio.sleep(1)  # until the last of them are ended
            sizes.append(server.memory())
    return sizes


def growth(sizes: list[float], last: int = 2) -> float:
    """By how much per cent it grew over the last so many measurements."""
    return 100 * (sizes[-1] / sizes[-1 - last] - 1)
