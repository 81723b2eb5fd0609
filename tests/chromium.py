"""Where this machine has a Chromium, and how the tests start it."""

import os
import shutil
import sys
from pathlib import Path

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def executable() -> str | None:
    """The path of a Chromium: $CHROMIUM, one on the PATH, or Playwright's own."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named if Path(named).is_file() else None
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


if __name__ == "__main__":
    path = executable()
    print(path or "none")
    sys.exit(0 if path else 1)
