"""How large the exported file is and how fast it opens and answers: `make bench`."""

import gzip
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from paint import CONTROLS, PAINT
from playwright.sync_api import Browser, sync_playwright

from helpers.chromium import FLAGS, executable
from page import SCREEN, N, aimed, p95, row
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.page.publication import publish
from residual_stream.publish.offline_file import offline_page

LOADS = 10
AIMS = {"MB": 3.3, "gzipped kB": 900, "first": 1000, "paint": 30}

# ms from the navigation to the first picture, and to the depth map
OPENED = """async () => {
  const end = performance.now() + 30000;
  const mark = () => performance.getEntriesByName("first-picture")[0];
  const isDrawn = () => !!globalThis.Bokeh && ![...document.querySelectorAll(
    ".depth-map-slot.is-waiting")].some((map) => map.checkVisibility());
  while (!(mark() && isDrawn()) && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return [mark().startTime, performance.now()];
}"""


def sizes(content: bytes) -> None:
    packed = len(gzip.compress(content, 9)) / 1000
    large = len(content) / 1e6
    row("the file", f"{large:.2f} MB", aimed(large, AIMS["MB"], "MB"))
    row("  gzipped", f"{packed:.0f} kB", aimed(packed, AIMS["gzipped kB"], "kB"))


def opened(browser: Browser, url: str) -> None:
    """From file://, each time in a context that has seen nothing."""
    times = []
    for _ in range(LOADS):
        context = browser.new_context(**SCREEN)
        page = context.new_page()
        page.goto(url, wait_until="commit")
        times.append(page.evaluate(OPENED))
        context.close()
    first, drawn = zip(*times, strict=True)
    shown = f"{median(first):.0f} / {p95(first):.0f} ms"
    row("file:// → first picture", shown, aimed(p95(first), AIMS["first"]))
    row("  and the depth map", f"{median(drawn):.0f} / {p95(drawn):.0f} ms")


def paints(browser: Browser, url: str) -> None:
    page = browser.new_page(**SCREEN)
    page.goto(url, wait_until="commit")
    page.evaluate(OPENED)
    for control in CONTROLS:
        first, whole = zip(*page.evaluate(PAINT, [control, N]), strict=True)
        shown = f"{median(first):.0f} / {p95(first):.0f} ms"
        row(f"{control} → paint", shown, aimed(p95(first), AIMS["paint"]))
        row("  and the parts below", f"{median(whole):.0f} / {p95(whole):.0f} ms")
    page.close()


def main() -> None:
    start = time.monotonic()
    content = offline_page(publish(lesson_folder(DEFAULT_LESSON)), "en")
    row("the exported file", "median / p95", "aim")
    sizes(content)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "lesson.html"
        path.write_bytes(content)
        options = {"executable_path": executable(), "args": FLAGS}
        browser = playwright.chromium.launch(**options)
        opened(browser, path.as_uri())
        paints(browser, path.as_uri())
        browser.close()
    print(f"n = {N}, of loads {LOADS}; {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
