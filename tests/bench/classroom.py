"""How many a live class carries, and how fast: `make bench`. Decides no test.

The server is a process of its own; the pages are connections of this one, on loopback.
"""

import asyncio
import gc
import os
import random
import resource
import time
from collections import Counter
from statistics import median

from class_doors import LIMIT, crowd, sessions, visits
from class_pages import Class, Page, Switch, clock
from class_served import (
    Teacher,
    a_teacher,
    class_served,
    row,
    spread,
    strays,
    strays_of,
)
from sessions import Server, served

N = 1000
SWITCHES, BURST, VOTE_SECONDS = 30, 200, 5
REST = 6  # seconds after which a teacher may say that much at once again
SLOW_SHARE, SLOW_SECONDS = 0.05, 6
VISITS = (300, 1000)
LONG_LAB = "depth-6." * 74  # so that a slow page's way fills up


# ------------------------------------------------------------------ following


async def following(server: Server, students: str, link: str) -> None:
    room = Class(students)
    await room.join(20)
    await room.leave()
    memory, cpu, start = server.memory(), server.cpu(), clock()
    pages = await room.join(N)
    row("students connected", f"{len(room.pages):,} in {clock() - start:.1f} s")
    row("  CPU each", f"{1000 * (server.cpu() - cpu) / N:.2f} ms")
    teacher = await a_teacher(room, link)
    await asyncio.sleep(1)
    size = (server.memory() - memory) * 1024 / N
    row("  memory each, beside the page", f"{size:.1f} kB", "≤ 20 kB")
    gc.freeze()  # a pause of this process is not the server's
    await switches(server, teacher, len(room.pages))
    await burst(teacher, room)
    await slow_readers(teacher, room)
    await votes(server, teacher, room, pages)


async def switches(server: Server, teacher: Teacher, pages: int) -> None:
    me = Server("", os.getpid())
    last, own, cpu, start = [], [], server.cpu(), clock()
    waited = server.waited(), me.waited()
    for number in range(SWITCHES):
        switch = await teacher.switch(pages)
        last.append(switch.times[-1])
        own += switch.times
        await asyncio.sleep(max(0, start + number + 1 - clock()))
    used = server.cpu() - cpu
    row(f"switch → last student ({SWITCHES} at 1/s)", spread(last), "p95 ≤ 100 ms")
    row("  → each student", spread(own))
    share = 100 * used / (clock() - start)
    row(
        "  server", f"{1000 * used / SWITCHES:.0f} ms a switch, {share:.1f} % of a core"
    )
    both = zip((server.waited(), me.waited()), waited, strict=True)
    theirs, mine = (1000 * (now - then) / SWITCHES for now, then in both)
    row("  waited for a core: server, pages", f"{theirs:.0f}, {mine:.0f} ms a switch")
    row("  lost, misordered", "{} / {}".format(*strays_of(teacher)), "0 / 0")


async def burst(teacher: Teacher, room: Class) -> None:
    """All that a teacher may say at once."""
    await asyncio.sleep(REST)
    before = {page: page.states for page in room.pages}
    switch = room.switch = Switch(teacher.page.seq + BURST, len(room.pages))
    for _ in range(BURST):
        teacher.set()
    await asyncio.wait_for(switch.all_have_it.wait(), 30)
    row(f"{BURST} sets at once → all on the last", f"{switch.times[-1]:.0f} ms")
    await said_by(teacher, before, "  states that each was sent")


async def slow_readers(teacher: Teacher, room: Class) -> None:
    """Some pages hardly read while the teacher changes much, and wake at the end."""
    slow = await room.join(int(N * SLOW_SHARE), is_slow=True)
    await asyncio.sleep(REST)
    before = {page: page.states for page in room.pages}
    switch = room.switch = Switch(teacher.page.seq + BURST, len(room.pages))
    for number in range(BURST):
        teacher.set(lab=f"{LONG_LAB}{number}")
        await asyncio.sleep(SLOW_SECONDS / BURST)
    fast = len(room.pages) - len(slow)
    while len(switch.times) < fast:
        await asyncio.sleep(0.02)
    woken = clock()
    for page in slow:
        page.wake()
    await asyncio.wait_for(switch.all_have_it.wait(), 30)
    ms = 1000 * (clock() - woken)
    row(f"{len(slow)} slow readers woken → on the last of {BURST}", f"{ms:.0f} ms")
    others = {page: n for page, n in before.items() if page not in slow}
    await said_by(teacher, others, "  states that the others were sent")
    theirs = {page: before[page] for page in slow}
    await said_by(teacher, theirs, "  and a slow one")


async def said_by(teacher: Teacher, before: dict[Page, int], name: str) -> None:
    await asyncio.sleep(0.5)
    got = [page.states - states for page, states in before.items()]
    lost, misordered = strays(list(before), teacher.page)
    row(name, f"{median(got):.0f}; {lost} / {misordered} strays", "0 / 0")


async def votes(
    server: Server, teacher: Teacher, room: Class, pages: list[Page]
) -> None:
    """Each votes once within some seconds, one in ten twice; switches go on."""
    await asyncio.sleep(1)
    teacher.page.say(type="open", experiment="F1")
    await teacher.until(lambda: all(page.room["poll"] for page in room.pages))
    poll, cpu, expected = teacher.page.room["poll"], server.cpu(), Counter()
    chance = random.Random(5)  # noqa: S311
    loop = asyncio.get_running_loop()
    for number, page in enumerate(pages):
        first, option = chance.choices(poll["options"], k=2)
        at = chance.uniform(0, VOTE_SECONDS - 0.5)
        if number % 10 == 0:
            vote = {"type": "vote", "poll": poll["id"], "option": first}
            loop.call_later(at, lambda p=page, v=vote: p.say(**v))
        vote = {"type": "vote", "poll": poll["id"], "option": option}
        loop.call_later(at + 0.3, lambda p=page, v=vote: p.say(**v))
        expected[option] += 1
    last = []
    for _ in range(VOTE_SECONDS):
        last.append((await teacher.switch(len(room.pages))).times)
        await asyncio.sleep(1)
    seen = teacher.page.heard["counts"]["votes"]
    teacher.page.say(type="reveal", poll=poll["id"])
    await teacher.until(lambda: all(p.room["poll"]["counts"] for p in room.pages))
    right = sum(page.room["poll"]["counts"] == expected for page in room.pages)
    used = 1000 * (server.cpu() - cpu)
    row(f"votes of {N:,} in {VOTE_SECONDS} s", f"{sum(seen.values()):,} counted")
    row("  pages with the right counts", f"{right:,} of {len(room.pages):,}")
    row("  teacher saw the right counts", str(seen == expected))
    fast = [sorted(times)[N - 1] for times in last]
    row("  switch → 1,000 students meanwhile", spread(fast), "p95 ≤ 100 ms")
    row("  server, with 5 switches", f"{used:.0f} ms")


def main() -> None:
    start = time.monotonic()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    row("a live class", "median / p95 / max", "aim")
    with class_served(2000) as (server, students, teacher):
        asyncio.run(following(server, students, teacher))
    for count in VISITS:
        with class_served(count) as (server, students, _):
            asyncio.run(visits(server, students, count))
    with served(naive=False) as server:
        asyncio.run(sessions(server))
    with class_served(LIMIT) as (server, students, teacher):
        asyncio.run(crowd(server, students, teacher))
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
