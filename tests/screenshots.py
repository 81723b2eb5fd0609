"""Take the README's pictures: `make screenshots` writes them to assets/screenshots."""

import re
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from chromium import FLAGS, executable

FOLDER = Path(__file__).parents[1] / "assets" / "screenshots"
LAPTOP = {"width": 1280, "height": 800}

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


def main() -> int:
    command = [sys.executable, "-m", "residual_stream", "serve", "--port", "0"]
    FOLDER.mkdir(exist_ok=True)
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://\S+", server.stdout.readline())[0]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=executable(), args=FLAGS
            )
            page = browser.new_page(viewport=LAPTOP, reduced_motion="reduce")
            for name, (query, part) in PICTURES.items():
                shoot(page, url, query + "&lang=en", part, FOLDER / f"{name}.png")
                print(FOLDER / f"{name}.png")
            browser.close()
    finally:
        server.terminate()
        server.wait(10)
    return 0


if __name__ == "__main__":
    sys.exit(main())
