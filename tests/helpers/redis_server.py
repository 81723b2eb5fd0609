"""A Redis of the tests' own, on a free port of loopback, that they may mistreat."""

import random
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ConnectionError

PATIENCE = 10


def lasting_port() -> int:
    """A port that is free, also after a server there has been stopped for a while.

    It is below those that systems give to connections: who tries again and again to
    reach a server that is away could be given its very port.
    """
    while True:
        port = random.randrange(15_000, 32_000)  # noqa: S311
        with socket.socket() as free, suppress(OSError):
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port))
            return port


class RedisServer:
    """One `redis-server`; what it is to know after a restart is in `folder`."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("there is no redis-server here (Debian: redis-server)")
        self._program, self._folder = program, folder
        self.port = lasting_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """With what it has saved, if anything, and ready; nothing if it runs."""
        if self._process:
            return
        where = ["--bind", "127.0.0.1", "--port", str(self.port)]
        keep = ["--dir", str(self._folder), "--save", ""]
        self._process = subprocess.Popen(
            [self._program, *where, *keep], stdout=subprocess.DEVNULL
        )
        end = time.monotonic() + PATIENCE
        while not self._answers():
            assert self._process.poll() is None, "redis-server ended at once"
            assert time.monotonic() < end, "redis-server does not answer"
            time.sleep(0.01)

    def stop(self) -> None:
        """At once, without a word: what it has not saved is gone."""
        if self._process:
            self._process.kill()
            self._process.wait(PATIENCE)
            self._process = None

    def freeze(self) -> None:
        """Its connections stay, and nothing is answered."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def ask(self, *command: str) -> object:
        """One command, from outside."""
        how = {"decode_responses": True, "protocol": 2, "socket_timeout": PATIENCE}
        with Redis(port=self.port, **how) as redis:
            return redis.execute_command(*command)

    def _answers(self) -> bool:
        try:
            return bool(self.ask("PING"))
        except ConnectionError:
            return False
