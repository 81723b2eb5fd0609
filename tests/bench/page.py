"""How fast the page is and what it costs: `make bench`. Nothing here decides a test.

Everything is measured on loopback in headless Chromium, beside the same content built
the usual way (naive_app.py), so that a busy machine shifts both. Motion is off: a
change is painted once, and the next sample does not cut a motion short.
"""

import asyncio
import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from paint import ANSWERS, BUSY, CONTROLS, LAB, LOAD, NAIVE_PAINT, PAINT, READY
from playwright.sync_api import Browser, Page, WebSocket, sync_playwright
from sessions import Server, come_and_go, growth, new_sessions, served

from helpers.chromium import FLAGS, executable

N = 40
SCREEN = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
# ms at the 95th percentile, on loopback
AIMS = {"paint": 40, "throttled": 80, "answer": 50, "lab": 120}
LAB_REST = 150  # ms that the lab's form waits for more before it asks


def p95(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, round(0.95 * len(values)))]


def row(name: str, ours: str, aim: str = "", naive: str = "", ratio: str = "") -> None:
    print(f"{name:<38}{ours:>20}{aim:>19}{naive:>20}{ratio:>9}", flush=True)


def aimed(found: float, limit: float, unit: str = "ms", sign: str = "≤") -> str:
    """An aim, and plainly whether it is missed."""
    missed = found >= limit if sign == "<" else found > limit
    return f"{sign} {limit:,g} {unit}{' missed' if missed else ''}"


def times(ours: float, naive: float) -> str:
    return f"{naive / ours:.0f} ×" if ours > 0 else "–"


def throttle(page: Page, rate: int) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": rate})


# ------------------------------------------------------------------ click -> paint


def paints(ours: Page, naive: Page) -> None:
    for rate, aim in ((1, AIMS["paint"]), (4, AIMS["throttled"])):
        throttle(ours, rate)
        for control in CONTROLS:
            first, whole = zip(*ours.evaluate(PAINT, [control, N]), strict=True)
            mid, high = median(first), p95(first)
            name = f"{control} → paint{', 4 × slower' if rate == 4 else ''}"
            other, ratio = "", ""
            if rate == 1 or control == "step":  # seconds each, so only a few
                throttle(naive, rate)
                theirs = median(naive.evaluate(NAIVE_PAINT, [control, 4]))
                other, ratio = f"{theirs:.0f} ms", times(mid, theirs)
            row(name, f"{mid:.0f} / {high:.0f} ms", aimed(high, aim), other, ratio)
            row("  and the parts below", f"{median(whole):.0f} / {p95(whole):.0f} ms")
    throttle(ours, 1)
    throttle(naive, 1)


def answers(browser: Browser, url: str) -> None:
    """The experiments and the lab, which the naive way does not have."""
    page = watched(browser, f"{url}?view=experiments")
    page.wait_for_selector(".experiments-open")
    times = [*page.evaluate(ANSWERS), *page.evaluate(ANSWERS)]
    name = f"prediction → answer (n = {len(times)})"
    timed(name, times, AIMS["answer"])
    page.goto(f"{url}?view=lab")
    page.evaluate(READY)
    page.wait_for_selector("[data-control=lab-depth]")
    for depth in (12, 96):
        times = page.evaluate(LAB, [depth, N])
        asked = [time - LAB_REST for time in times]
        timed(f"lab, depth {depth}: recompute → paint", asked, AIMS["lab"])
        timed(f"  with the form's rest of {LAB_REST} ms", times)
    page.context.close()


def timed(name: str, times: list[float], aim: float | None = None) -> None:
    high = p95(times)
    shown = "" if aim is None else aimed(high, aim)
    row(name, f"{median(times):.0f} / {high:.0f} ms", shown)


# ------------------------------------------------------- what a change costs a server


def change_cost(page: Page, server: Server, naive: bool) -> tuple[float, float]:
    """Bytes over the websocket and server ms for one change, coalesced."""
    count = 4 if naive else N
    sizes: list[int] = []
    for socket in page.context.sockets:  # noted since the page was opened
        socket.on("framesent", lambda frame: sizes.append(len(frame)))
        socket.on("framereceived", lambda frame: sizes.append(len(frame)))
    cpu = server.cpu()
    page.evaluate(BUSY, [naive, count])
    return sum(sizes) / count, 1000 * (server.cpu() - cpu) / count


def watched(browser: Browser, url: str) -> Page:
    """An opened page whose context knows its websockets."""
    context = browser.new_context(**SCREEN)
    page = context.new_page()
    context.sockets = []

    def note(socket: WebSocket) -> None:
        context.sockets.append(socket)

    page.on("websocket", note)
    page.goto(url, wait_until="commit")
    page.evaluate(READY)
    return page


# --------------------------------------------------------------------------- loading


def load(browser: Browser, url: str) -> dict[str, float]:
    """Cold, then warm: ms to the first picture and to all live, and kB on the wire."""
    context = browser.new_context(**SCREEN)
    page = context.new_page()
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    names: dict[str, str] = {}
    sizes: dict[str, float] = {}
    network.on(
        "Network.responseReceived",
        lambda e: names.update({e["requestId"]: e["response"]["url"]}),
    )
    network.on(
        "Network.loadingFinished",
        lambda e: sizes.update({e["requestId"]: e["encodedDataLength"] / 1000}),
    )
    found = {}
    for kind in ("cold", "warm"):
        page.goto(url, wait_until="commit")
        first, live = page.evaluate(LOAD)
        found |= {f"{kind} first": first, f"{kind} live": live}
        if kind == "cold":
            page.wait_for_timeout(300)
            found["kB"] = sum(sizes.values())
            library = ("/bokeh", "/panel", "static/")
            found["library kB"] = sum(
                size
                for request, size in sizes.items()
                if any(part in names.get(request, "") for part in library)
            )
        page.goto("about:blank")
    context.close()
    return found


def loads(browser: Browser, ours: str, naive: str) -> None:
    mine = [load(browser, ours) for _ in range(5)]
    other = [load(browser, naive) for _ in range(2)]
    for name, key, aim in (
        ("cold load → first picture", "cold first", 500),
        ("cold load → all live", "cold live", 1000),
        ("warm load → first picture", "warm first", None),
        ("warm load → all live", "warm live", None),
        ("on the wire, gzipped", "kB", 900),
        ("  of it Bokeh's and Panel's own", "library kB", None),
    ):
        one, two = (median(found[key] for found in all_) for all_ in (mine, other))
        unit = "kB" if "kB" in key else "ms"
        shown = "" if aim is None else aimed(one, aim, unit)
        row(name, f"{one:.0f} {unit}", shown, f"{two:.0f} {unit}", times(one, two))


def compared(name: str, form: str, aim: float, ours: float, naive: float) -> None:
    shown = aimed(ours, aim, form.rpartition(" ")[2])
    row(name, form.format(ours), shown, form.format(naive), times(ours, naive))


async def sessions() -> None:
    with served(naive=False, short=True) as ours, served(True, short=True) as naive:
        cpu, memory = await new_sessions(ours, N)
        slow, large = await new_sessions(naive, 4)
        compared("a session: server CPU", "{:.0f} ms", 40, cpu, slow)
        compared("a session: memory", "{:.2f} MB", 0.2, memory, large)
        sizes = await come_and_go(ours, 300)
        others = await come_and_go(naive, 16, every=4)
    row("RSS after 50, 100 … 300 sessions", f"{sizes[0]:.0f} … {sizes[-1]:.0f} MB")
    grown, theirs = growth(sizes), growth(others)
    aim = aimed(grown, 2, "%", "<")
    row("  growth of the last 100", f"{grown:.1f} %", aim, f"{theirs:.1f} % (8)")


def changes(page: Page, ours: Server, other: Page, naive: Server) -> None:
    (size, cpu) = change_cost(page, ours, False)
    (large, slow) = change_cost(other, naive, True)
    compared("a change: over the websocket", "{:,.0f} B", 1000, size, large)
    compared("a change: server CPU", "{:.1f} ms", 2, cpu, slow)


def main() -> None:
    start = time.monotonic()
    row("", "median / p95", "aim", "the naive way", "ratio")
    asyncio.run(sessions())
    with (
        served(naive=False) as ours,
        served(naive=True) as naive,
        sync_playwright() as p,
    ):
        browser = p.chromium.launch(executable_path=executable(), args=FLAGS)
        loads(browser, ours.url, naive.url)
        page, other = (watched(browser, server.url) for server in (ours, naive))
        paints(page, other)
        changes(page, ours, other, naive)
        answers(browser, ours.url)
        browser.close()
    print(f"n = {N}; {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
