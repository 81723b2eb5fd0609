"""Where this machine has a Chromium, and how the tests start it."""

import os
import shutil
import sys
from pathlib import Path

# the shell first: the same engine without a browser's own pages around every window
NAMES = (
    "chromium-headless-shell",
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
    # Playwright's list is put out of force by this one: those of it that tests feel
    # stand here again, beside two pages that a new window makes for its address bar
    "--disable-features=PaintHolding,HttpsUpgrades,ThirdPartyStoragePartitioning,"
    "MediaRouter,OptimizationHints,NetworkTimeServiceQuerying,"
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup",
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
