"""What the tests share: the lesson's example and runs of it, its page in a browser."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from playwright.sync_api import expect

from helpers.chromium import FLAGS, executable
from residual_stream import Example, Trace, run
from residual_stream.lesson.example import NamedExample, read_example
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder, shipped

# the same cases each time, so that a gate which was green once stays green
settings.register_profile(
    "gate", derandomize=True, deadline=None, max_examples=40, database=None
)
settings.load_profile("gate")


# ------------------------------------------------------------ the shipped lesson


@pytest.fixture(scope="session")
def lesson_example() -> NamedExample:
    return read_example(lesson_folder(DEFAULT_LESSON) / "example.toml")


@pytest.fixture(scope="session")
def example(lesson_example: NamedExample) -> Example:
    return lesson_example.example


@pytest.fixture(scope="session")
def bank(lesson_example: NamedExample) -> int:
    """The place of `bank`, the word that the lesson follows."""
    return lesson_example.focus


@pytest.fixture(scope="session")
def river(lesson_example: NamedExample) -> int:
    return lesson_example.tokens.index("river")


@pytest.fixture(scope="session")
def trace(example: Example) -> Trace:
    """The lesson's run: three blocks, residual on."""
    return run(example, depth=3)


@pytest.fixture(scope="session")
def trace_off(example: Example) -> Trace:
    """The same with the residual off."""
    return run(example, depth=3, residual=False)


@pytest.fixture(scope="session")
def deep_trace_off(example: Example) -> Trace:
    """Residual off at depth 6, where the lesson looks at what is left."""
    return run(example, depth=6, residual=False)


# the state of a page that nobody has touched
START = {
    "view": "lesson",
    "step": 1,
    "depth": 3,
    "residual": True,
    "token": "bank",
    "language": "en",
    "compare": False,
    "projector": False,
    "hide": [],
    "experiment": "",
    "lab": "",
}


# ------------------------------------------------------------------- the page

COMMANDS = Path(sys.executable).parent
SERVED_AT = re.compile(r"https?://[\w.:\[\]-]+/\S*")
PATIENCE = 20_000  # ms; on a busy machine a page can take seconds
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
expect.set_options(timeout=PATIENCE)
OPTIONS = {"viewport": WIDE, "reduced_motion": "reduce", "locale": "en-US"}

# how far a page is waited for: its text, its pictures too, and Python's answer
UNTIL = ("text", "drawn", "linked")
# the first of the scripts that follow a page's text; the others wait for it
LATE = "*/bokeh.*.js*"
LIVE = """async ({until, patience}) => {
  const waiting = async () => {
    const page = await globalThis.ResidualStream?.page;
    if (!page) return "the page's script";
    page.settle();
    if (until === "text") return null;
    const maps = [...page.root.querySelectorAll(".depth-map-slot.is-waiting")];
    if (maps.some((map) => map.checkVisibility())) return "the depth map";
    const documents = globalThis.Bokeh?.documents;
    if (!documents?.every((document) => document.is_idle)) return "Bokeh";
    return until === "linked" && !page.asking.hasServer() ? "the server" : null;
  };
  const end = performance.now() + patience;
  while (performance.now() < end && await waiting()) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return await waiting();
}"""


@dataclass
class LessonPage:
    """The lesson in a browser page, and what went wrong there."""

    page: Any
    home: str = ""
    forgiven: tuple[str, ...] = ()
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        on = self.page.on
        on("console", self._heard)
        on("pageerror", lambda error: self._note(f"error: {error}"))
        on("request", lambda request: self._asked(request.url))
        on("websocket", lambda socket: self._asked(socket.url))
        on("requestfailed", self._failed)
        on("response", self._answered)
        self._devtools = self.page.context.new_cdp_session(self.page)

    def open(self, url: str, until: str) -> "LessonPage":
        """Go there and wait; not at all for another page that holds the lesson.

        A page of which no more than the text is asked for gets its late scripts when
        more is waited for, so that no test hangs on how soon they come.
        """
        self.leave()
        if until == "text":
            self._devtools.send("Fetch.enable", {"patterns": [{"urlPattern": LATE}]})
        else:
            self._devtools.send("Fetch.disable")
        self.home = re.match(r"\w+://[^/]*/", url)[0]
        self.forgiven = ()
        self.requests.clear()
        self.page.goto(url, wait_until="commit")
        if until in UNTIL:
            self.wait(until)
        return self

    def leave(self) -> None:
        """Away from whatever is shown, so that nothing of it is left."""
        if self.page.url == "about:blank":
            return
        self.page.mouse.move(0, 0)
        if self.page.url.startswith("http"):
            self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.page.goto("about:blank")

    def wait_live(self) -> None:
        self.wait("linked")

    def wait(self, until: str) -> None:
        if until != "text":
            self._devtools.send("Fetch.disable")  # what was held goes on
        missing = self.page.evaluate(LIVE, {"until": until, "patience": PATIENCE})
        assert missing is None, f"{self.page.url} still waits for {missing}"

    def put(self, **change: Any) -> None:
        """Set the page's state at once, as one change."""
        self.page.evaluate(
            """async (change) => {
              const page = await ResidualStream.page;
              page.store.set(change);
              page.settle();
            }""",
            change,
        )

    def settle(self) -> None:
        """Let the parts that follow after the paint follow now."""
        self.page.evaluate("async () => (await ResidualStream.page).settle()")

    def state(self) -> dict[str, Any]:
        """What the page's own state is; the word as its name."""
        return self.page.evaluate(
            """async () => {
              const {store, table} = await ResidualStream.page;
              const {theme, connected, ...state} = store.get();
              return {...state, token: table.tokens[state.token]};
            }"""
        )

    def region(self, name: str) -> Any:
        return self.page.get_by_role("region", name=name, exact=True)

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> None:
        """Press a button without waiting for the pointer to get there."""
        self.button(name).dispatch_event("click")
        self.settle()

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements, in one question to the browser."""
        return self.page.locator(selector).all_text_contents()

    def _heard(self, message: Any) -> None:
        if message.type in ("warning", "error"):
            self._note(f"console {message.type}: {message.text}")

    def _asked(self, url: str) -> None:
        self.requests.append(url)
        here = (self.home, self.home.replace("http", "ws", 1), "data:", "blob:")
        if not url.startswith(here):
            self._note(f"foreign request: {url}")

    def _failed(self, request: Any) -> None:
        # a page that is left gives up what it was still loading
        if request.failure != "net::ERR_ABORTED":
            self._note(f"failed request: {request.url}: {request.failure}")

    def _answered(self, response: Any) -> None:
        if response.status >= 400:
            self._note(f"answer {response.status}: {response.url}")

    def _note(self, fault: str) -> None:
        if not any(text in fault for text in self.forgiven):
            self.faults.append(fault)


@dataclass(frozen=True)
class Served:
    """A server that runs in a process of its own."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def serving(*command: str, **environment: str) -> Iterator[Served]:
    """Start a command that serves, read its URL, and stop it in the end."""
    import os

    process = subprocess.Popen(
        [str(COMMANDS / command[0]), *command[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | environment,
    )
    try:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if found := SERVED_AT.search(line):
                yield Served(found[0], process)
                break
        else:
            pytest.fail(f"{command} served nothing: {''.join(said)}")
    finally:
        process.terminate()
        process.communicate(timeout=20)


def links_outside(html: str) -> list[str]:
    """What a page's markup and styles would fetch."""
    markup = re.sub(r"<script.*?</script>|<style.*?</style>", "", html, flags=re.S)
    styles = "".join(re.findall(r"<style.*?</style>", html, flags=re.S))
    return [
        *re.findall(r'(?:src|href)="(?!data:|#|\?)[^"]*"', markup),
        *re.findall(r"@import[^;]*|url\((?!['\"]?(?:data:|#))[^)]*", styles),
    ]


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    """What a teacher starts: `residual-stream serve`."""
    with serving("residual-stream", "serve", "--port", "0") as served:
        yield served


@pytest.fixture(scope="session")
def offline_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `residual-stream export` writes: the lesson as one file."""
    path = tmp_path_factory.mktemp("offline") / "lesson.html"
    command = [sys.executable, "-m", "residual_stream", "export", "-o", str(path)]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    return path


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    args = [*browser_type_launch_args.get("args", ()), *FLAGS]
    return browser_type_launch_args | {"executable_path": executable(), "args": args}


@pytest.fixture(scope="session")
def pages(browser: Any) -> Callable[..., LessonPage]:
    """One page for each set of a context's options, used again by every test."""
    made: dict[str, LessonPage] = {}

    def page_for(**options: Any) -> LessonPage:
        key = json.dumps(options, sort_keys=True)
        if key not in made:
            context = browser.new_context(**{**OPTIONS, **options})
            context.set_default_timeout(PATIENCE)
            # a server may first compute what it serves
            context.set_default_navigation_timeout(30_000)
            made[key] = LessonPage(context.new_page())
        return made[key]

    return page_for


@pytest.fixture
def page_at(
    pages: Callable[..., LessonPage], request: pytest.FixtureRequest
) -> Iterator[Callable[..., LessonPage]]:
    """Open the lesson with a query, live; whatever goes wrong there fails the test.

    at:       another server's URL, or a file's.
    until:    how far to wait: "text" (a served page goes no further by itself),
              "drawn" if no Python is asked for, "linked", or "nothing" for another
              page that only holds the lesson; a module's own UNTIL says what is
              usual there.
    options:  of the browser context, e.g. viewport=PHONE.
    """
    usual = getattr(request.module, "UNTIL", "linked")
    used: list[LessonPage] = []

    def open_page(
        query: str = "",
        *,
        at: str = "",
        until: str = "",
        **options: Any,
    ) -> LessonPage:
        url = at or request.getfixturevalue("server").url
        lesson = pages(**options)
        used.append(lesson)
        return lesson.open(url + query, until or usual)

    yield open_page
    for lesson in used:
        lesson.leave()
    faults = [fault for lesson in used for fault in lesson.faults]
    for lesson in used:
        lesson.faults.clear()
    assert not faults, "\n".join(faults)


@pytest.fixture(scope="session")
def ui() -> dict[str, dict[str, str]]:
    """The page's texts by key and language."""
    return tomllib.loads((shipped("lessons") / "ui.toml").read_text(encoding="utf-8"))
