"""Take the README's pictures: `make screenshots` writes them to assets/screenshots."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from playwright.sync_api import Browser, Page, sync_playwright

from helpers.chromium import FLAGS, executable
from helpers.class_client import ClassClient

FOLDER = Path(__file__).parents[1] / "assets" / "screenshots"
LAPTOP = {"width": 1280, "height": 800}
VOTES = "bbabcbacbbcabbcabcb"  # of a class that has not run it yet

# name: the page's address, and the part of it that is shown ("" is the whole window)
PICTURES = {
    "add-attention": ("?step=4", ""),
    "depth-6-on": ("?step=37&depth=6", "#map"),
    "depth-6-off": ("?step=37&depth=6&residual=off", "#map"),
}


def shoot(page: Page, url: str, query: str, part: str, path: Path) -> None:
    page.goto(url + query)
    page.locator(".depth-map-stage canvas").first.wait_for(state="attached")
    page.locator(".depth-map-stage[data-geometry]").first.wait_for()
    page.evaluate("document.fonts.ready")
    if part:
        page.locator(part).scroll_into_view_if_needed()
        page.locator(part).screenshot(path=path)
    else:
        page.screenshot(path=path)


@contextmanager
def served(*options: str, until: str) -> Iterator[str]:
    """What the server says when it has started, up to a line that says `until`."""
    command = [sys.executable, "-m", "residual_stream", "serve", "--port", "0"]
    server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        said = ""
        while until not in said:
            said += server.stdout.readline()
        yield said
    finally:
        server.terminate()
        server.wait(10)


def shoot_lesson(browser: Browser) -> None:
    """The pictures of the lesson."""
    with served(until="served at") as said:
        url = re.search(r"http://\S+", said)[0]
        page = browser.new_page(viewport=LAPTOP, reduced_motion="reduce")
        for name, (query, part) in PICTURES.items():
            shoot(page, url, query + "&lang=en", part, FOLDER / f"{name}.png")
            print(FOLDER / f"{name}.png")


def shoot_class(browser: Browser) -> None:
    """A teacher's page during a vote of a class that is made up."""
    with (
        served("--class", "--room", "demo", until="teacher:") as said,
        ThreadPoolExecutor(1) as room,
    ):
        students, key = re.search(r"teacher:\s+(\S+)#key=(\S+)", said).groups()
        voted, over = Event(), Event()
        attending = room.submit(asyncio.run, attend(students, key, voted, over))
        assert voted.wait(60)
        page = browser.new_page(viewport=LAPTOP, reduced_motion="reduce")
        page.goto(f"{students}?lang=en#key={key}")
        page.get_by_role("button", name="Show the votes").click()
        page.locator(".class-votes-fill").last.wait_for()
        page.screenshot(path=FOLDER / "class-vote.png")
        print(FOLDER / "class-vote.png")
        over.set()
        attending.result()


async def attend(students: str, key: str, voted: Event, over: Event) -> None:
    """A class comes in, predicts, and stays."""
    teacher = await ClassClient.join(students, key)
    await teacher.set(view="experiments", experiment="F3")
    await teacher.say("open", experiment="F3")
    poll = (await teacher.until("room", lambda m: m["poll"]))["poll"]["id"]
    pages = [await ClassClient.join(students, following=n % 9 > 0) for n in range(27)]
    for page, option in zip(pages, VOTES, strict=False):
        await page.say("vote", poll=poll, option=option)
    await teacher.until("counts", lambda m: sum(m["votes"].values()) == len(VOTES))
    voted.set()
    while not over.is_set():
        await asyncio.sleep(0.1)
    for page in (*pages, teacher):
        await page.leave()


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        shoot_lesson(browser)
        shoot_class(browser)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
