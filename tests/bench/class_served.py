"""A class on loopback, its teacher, and what the benches of it share."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from class_pages import Class, Page, Switch, clock
from sessions import Server


def row(name: str, found: str, aim: str = "") -> None:
    print(f"{name:<46}{found:>30}{aim:>14}", flush=True)


def spread(times: list[float]) -> str:
    """Median, 95th percentile and maximum of milliseconds."""
    ordered = sorted(times)
    high = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return f"{median(ordered):.0f} / {high:.0f} / {ordered[-1]:.0f} ms"


@contextmanager
def class_served(limit: int) -> Iterator[tuple[Server, str, str]]:
    """A class on loopback: its server, the students' link and the teacher's."""
    call = [str(Path(sys.executable).parent / "residual-stream"), "serve", "--class"]
    process = subprocess.Popen(
        [*call, "--port", "0", "--class-limit", str(limit)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        said = ""
        while "teacher:" not in said:
            said += process.stdout.readline()
        home, students, teacher = re.findall(r"http://\S+", said)
        yield Server(home, process.pid), students, teacher
    finally:
        process.terminate()
        process.communicate(timeout=20)


class Teacher:
    """The teacher's page, and what it waits for."""

    def __init__(self, page: Page) -> None:
        self.page, self.n = page, 0

    def set(self, **state: object) -> None:
        self.n += 1
        self.page.say(type="set", n=self.n, state={"step": self.n % 20 + 1, **state})

    async def switch(self, pages: int, seconds: float = 20) -> Switch:
        """One change; returns when so many pages have it, the teacher's with them."""
        switch = self.page.among.switch = Switch(self.page.seq + 1, pages)
        self.set()
        await asyncio.wait_for(switch.all_have_it.wait(), seconds)
        return switch

    async def until(self, is_so, seconds: float = 20) -> None:
        end = clock() + seconds
        while not is_so():
            if clock() > end:
                raise TimeoutError("the class did not come to rest")
            await asyncio.sleep(0.02)


def strays(pages: list[Page], newest: Page) -> tuple[int, int]:
    """How many pages did not end on the newest, and how many states came late."""
    lost = sum(page.room != newest.room for page in pages)
    return lost, sum(page.misordered for page in pages)


async def a_teacher(room: Class, link: str) -> Teacher:
    room.key = Class(link).key
    return Teacher((await room.join(1, is_teacher=True))[0])


def strays_of(teacher: Teacher) -> tuple[int, int]:
    return strays(teacher.page.among.pages, teacher.page)
