"""Coming in: the light page, full pages, and a crowd that only holds the door."""

import asyncio
from collections import Counter

from class_pages import Class, clock, visit
from class_served import a_teacher, row, spread, strays_of
from sessions import Server, opened
from tornado.httpclient import AsyncHTTPClient

SESSIONS, LIMIT, CROWD = 300, 500, 10_000


# ------------------------------------------------------------------ coming in


async def visits(server: Server, students: str, count: int) -> None:
    room, memory, cpu, start = Class(students), server.memory(), server.cpu(), clock()
    found = await asyncio.gather(
        *(visit(room) for _ in range(count)), return_exceptions=True
    )
    seconds, used = clock() - start, server.cpu() - cpu
    done = [one for one in found if not isinstance(one, BaseException)]
    failed = Counter(str(one) for one in found if isinstance(one, BaseException))
    inside = sum(page.role == "student" for page, _, _ in done)
    row(f"{count:,} at once, page, files, channel", f"{seconds:.1f} s")
    row("  inside", f"{inside:,}; {sum(failed.values())} failed")
    for why, times in failed.most_common(3):
        row("", f"{times} × {why[:20]}")
    row("  loaded each", f"{done[0][1] / 1000:.0f} kB" if done else "–")
    size = 1024 * (server.memory() - memory) / count
    row("  CPU, memory each", f"{1000 * used / count:.1f} ms, {size:.0f} kB")


async def sessions(server: Server) -> None:
    """Full pages, each with a session of Panel's behind it."""
    AsyncHTTPClient.configure(None, max_clients=SESSIONS)
    (await opened(server)).close()
    memory, cpu, start = server.memory(), server.cpu(), clock()
    found = await asyncio.gather(
        *(opened(server) for _ in range(SESSIONS)), return_exceptions=True
    )
    seconds, used = clock() - start, server.cpu() - cpu
    inside = [one for one in found if not isinstance(one, BaseException)]
    row(f"{SESSIONS} full pages (Panel) at once", f"{seconds:.1f} s")
    row("  inside; a second", f"{len(inside)}; {len(inside) / seconds:.0f}")
    size = (server.memory() - memory) / SESSIONS
    row("  CPU, memory each", f"{1000 * used / SESSIONS:.0f} ms, {size:.2f} MB")
    for socket in inside:
        socket.close()


# ------------------------------------------------------------------ a crowd


class Idle(asyncio.Protocol):
    """A connection that asks for nothing."""

    said = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.said += data


async def crowd(server: Server, students: str, link: str) -> None:
    room = Class(students)
    await room.join(LIMIT - 1)
    teacher = await a_teacher(room, link)
    more = await room.join(100)
    refused = Counter(page.close_code for page in more)
    row(f"100 pages more than {LIMIT}", f"{refused[1013]} × 1013", "100")
    row("  told why", str(sum("refused" in page.heard for page in more)), "100")
    loop, times, idle, start = asyncio.get_running_loop(), [], [], clock()
    for _ in range(CROWD // 200):
        made = (loop.create_connection(Idle, room.host, room.port) for _ in range(200))
        idle += [one for _, one in await asyncio.gather(*made)]
        if len(idle) % 1000 == 0:
            times.append((await teacher.switch(len(room.pages))).times[-1])
    row(f"{CROWD:,} idle connections", f"{clock() - start:.1f} s")
    await asyncio.sleep(1)
    said = Counter(one.said[9:12].decode() for one in idle)
    held = sum(not one.transport.is_closing() for one in idle)
    row("  refused with 503, held", f"{said['503']:,}, {held:,}")
    row("  switch → all inside meanwhile", spread(times))
    times = [(await teacher.switch(len(room.pages))).times[-1] for _ in range(5)]
    row("  and while they stay", spread(times))
    row("  lost, misordered", "{} / {}".format(*strays_of(teacher)), "0 / 0")
    for one in idle:
        one.transport.close()
