"""The page on its own: nothing from outside, no server, a file, within another page."""

import re
import socket
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
from playwright.sync_api import expect

import residual_stream
from conftest import links_outside, serving
from helpers.class_client import ClassClient, run
from residual_stream.page.component import StateLink

APP = Path(residual_stream.__file__).parent / "app.py"
VIEWS = ("lesson", "experiments", "wirings", "lab", "links")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def every_view(lesson) -> None:
    """Show each view, the comparison, both themes and languages, and a deep walk."""
    for view in VIEWS:
        lesson.put(view=view)
        expect(lesson.page.locator("main")).to_be_visible()
    lesson.put(view="lesson", compare=True, depth=12, step=74, theme="dark")
    lesson.wait("drawn")
    lesson.put(compare=False, language="ja", step=3, theme="light", residual=False)
    lesson.put(language="en")
    expect(lesson.region("Step")).to_contain_text("Step 3 of 74")


# -------------------------------------------------------- nothing leaves the origin


def test_nothing_is_fetched_from_elsewhere(page_at, server):
    """The fixture fails for any request to another origin; the policy allows none."""
    lesson = page_at()
    every_view(lesson)
    assert len(lesson.requests) > 5
    assert {re.match(r"\w+:(//[^/]+)?", url)[0] for url in lesson.requests} <= {
        server.url.rstrip("/"),
        server.url.rstrip("/").replace("http", "ws"),
        "blob:",
        "data:",
    } | {"blob:http:"}


def test_the_policy_stands_before_everything_that_could_break_it(page_at):
    lesson = page_at()
    policy = lesson.page.locator("meta[http-equiv=Content-Security-Policy]")
    said = policy.get_attribute("content")
    rules = dict(rule.strip().split(" ", 1) for rule in said.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe-eval" not in said
    assert "'unsafe-inline'" not in rules["script-src"]
    assert not re.search(r"https?:|\*", said)
    first = lesson.page.evaluate("""() => {
      const head = [...document.head.children];
      const policy = head.findIndex((one) =>
        one.httpEquiv === "Content-Security-Policy");
      return head.slice(0, policy).filter((one) =>
        ["SCRIPT", "STYLE", "LINK"].includes(one.tagName)).length;
    }""")
    assert first == 0


def test_what_the_policy_forbids_does_not_happen(page_at):
    lesson = page_at()
    lesson.forgiven = ("Content Security Policy", "foreign request", "csp", "blocked")
    tried = lesson.page.evaluate("""async () => {
      const tried = {};
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = true";
      document.body.append(script);
      tried.inline = globalThis.ran === true;
      const yes = () => true, no = () => false;
      tried.elsewhere = await fetch("http://127.0.0.2:9/").then(yes, no);
      const image = new Image();
      tried.image = await new Promise((resolve) => {
        image.onload = () => resolve(true);
        image.onerror = () => resolve(false);
        image.src = "http://127.0.0.2:9/x.png";
      });
      return tried;
    }""")
    assert tried == {"inline": False, "elsewhere": False, "image": False}


CLASS_PLUGIN = ("--plugins", "residual_stream.serve.classroom.plugin")


@contextmanager
def panel_served(app: Path, *more: str, **environment: str):
    """What `panel serve` makes of a file."""
    port = str(free_port())
    where = ("--port", port, "--address", "127.0.0.1")
    with serving("panel", "serve", str(app), *where, *more, **environment):
        yield f"http://127.0.0.1:{port}/{app.stem}"


@pytest.fixture(scope="module")
def panel_with_class(tmp_path_factory):
    """A plain `panel serve` on the package's app file, with a class beside it."""
    key = tmp_path_factory.mktemp("class") / "key"
    room = {"RESIDUAL_STREAM_ROOM": "bio", "RESIDUAL_STREAM_KEY_FILE": str(key)}
    with panel_served(APP, *CLASS_PLUGIN, **room) as url:
        yield url, key.read_text().strip()


@pytest.fixture(params=["in place", "from another folder"])
def panel_serve(request, tmp_path):
    """A plain `panel serve` on the package's app file, or on a link to it."""
    if request.param == "in place":
        yield request.getfixturevalue("panel_with_class")[0]
        return
    app = tmp_path / "lesson.py"
    app.symlink_to(APP)
    with panel_served(app) as url:
        yield url


def test_a_plain_panel_serve_does_as_well(page_at, panel_serve):
    lesson = page_at("?step=4&token=river", at=panel_serve)
    expect(lesson.region("Step")).to_contain_text("Step 4 of 20")
    if "/app" in panel_serve:  # the other is a link to it
        every_view(lesson)
    lesson = page_at("?step=²&depth=4?x&lang=ja", at=panel_serve)
    expect(lesson.page.get_by_role("alert").locator("li")).to_have_count(2)


def test_a_plain_panel_serve_carries_a_class(page_at, panel_with_class):
    url, key = panel_with_class
    students = url.replace("/app", "/class/bio")

    async def teach() -> None:
        teacher = await ClassClient.join(students, key)
        student = await ClassClient.join(students)
        await teacher.set(step=4, depth=6, residual=False)
        await student.until("room", lambda m: m["state"]["step"] == 4)
        for page in (teacher, student):
            await page.leave()

    run(teach())
    lesson = page_at("?lang=en", at=students, until="drawn")
    expect(lesson.region("Step")).to_contain_text("Step 4 of 38")


# ------------------------------------------------------------------- without a server


def test_the_lesson_goes_on_without_its_server_and_finds_back(page_at):
    port = str(free_port())
    command = ("residual-stream", "serve", "--port", port)
    with serving(*command) as served:
        lesson = page_at("?step=4&depth=6&token=river", at=served.url)
        page = lesson.page
        page.clock.install()
        line = page.locator(".server-line")
        expect(line).to_be_hidden()
        lesson.forgiven = ("WebSocket", "ERR_CONNECTION_REFUSED", "Lost websocket")
        served.process.kill()
        served.process.wait()
    expect(line).to_be_visible()
    expect(line).to_contain_text("The server is away; the lesson goes on here.")
    assert page.get_by_role("alert").count() == 0  # nothing shouts
    lesson.button("Next").click()
    page.get_by_role("switch", name="Residual").click()
    page.get_by_role("slider", name="Depth").fill("5")
    expect(lesson.region("Step")).to_contain_text("Step 5 of 32")
    state = lesson.state()
    assert (state["residual"], state["depth"], state["token"]) == (False, 5, "river")
    lesson.put(language="ja")
    expect(line).to_contain_text("サーバーに接続できません")
    lesson.put(language="en")
    page.clock.run_for(4000)
    again = page.get_by_role("link", name="Connect again")
    expect(again).to_be_hidden()
    with serving(*command):
        page.clock.run_for(4000)
        expect(line).to_contain_text("The server is back.")
        page.clock.resume()
        again.click()
        lesson.wait_live()
        assert lesson.state() == state
        expect(line).to_be_hidden()


def test_the_text_and_its_picture_do_not_wait_for_bokeh(page_at, pages):
    """It is slow, then it fails: the walk, the switch and the sum go on."""
    page = pages(service_workers="block").page
    held = []

    def hold(route):
        held.append(route)

    page.route("**/bokeh.*.js", hold)
    lesson = page_at("?step=6", until="nothing", service_workers="block")
    lesson.wait("text")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("r")
    expect(lesson.region("Step")).to_contain_text("Step 7 of 20")
    expect(page.locator(".scene.is-off")).to_be_visible()
    expect(page.locator("#sum .is-current")).to_contain_text("Block 1 FFN")
    expect(page.locator(".depth-map-loading")).to_be_visible()
    rows = page.locator(".depth-map-values tbody tr:not([hidden])")
    expect(rows.nth(1)).to_contain_text("latest")
    line = page.locator(".server-line")
    expect(line).to_be_hidden()
    lesson.forgiven = ("ERR_FAILED",)
    held[-1].abort()
    expect(line).to_be_visible()
    expect(line).to_contain_text("The server is away")
    missing = "picture could not be loaded; its values are in the table below"
    expect(page.locator(".depth-map-loading")).to_contain_text(missing)
    lesson.put(compare=True)  # its two maps are made only now
    shown = page.locator(".maps-pair .depth-map-loading")
    expect(shown).to_contain_text([missing, missing])
    page.unroute("**/bokeh.*.js")


WITHIN = """async () => {
  const {source} = document.getElementById("residual-stream-lesson").dataset;
  const data = await (await fetch(source)).json();
  const host = document.createElement("div");
  const options = {address: false, server: true, language: "en", state: {}};
  const page = ResidualStream.createPage(host, data, options);
  const later = [];
  const {fetch: ask, setTimeout: wait} = window;
  window.setTimeout = (act, pause) => later.push([act, pause]);
  let fail = null;
  window.fetch = () => new Promise((_, reject) => (fail = reject));
  page.views.server.lost();
  const look = later.pop()[0]();
  page.remove();
  fail(new Error("away"));
  await look;
  page.views.server.lost();
  Object.assign(window, {fetch: ask, setTimeout: wait});
  return later.length;
}"""


def test_a_page_that_was_taken_away_looks_for_no_server(page_at):
    """Not while it was just looking, and not when it is told of the loss after that."""
    assert page_at(until="text").page.evaluate(WITHIN) == 0


def test_a_page_that_is_taken_away_while_it_is_made_leaves_nothing(page_at):
    left = page_at(until="text").page.evaluate(
        """async (text) => {
          const url = URL.createObjectURL(new Blob([text], {type: "text/javascript"}));
          const {render} = await import(url);
          const {connect} = ResidualStream;
          const leaving = [];
          let made = null;
          ResidualStream.connect = () => new Promise((resolve) => (made = resolve));
          const model = {on: (name, act) => name === "remove" && leaving.push(act)};
          const rendering = render({model, el: null});
          ResidualStream.connect = connect;
          let left = 0;
          const gone = leaving.map((act) => act());
          made(() => left++);
          await Promise.all([rendering, ...gone]);
          return left;
        }""",
        StateLink._esm,
    )
    assert left == 1


def test_data_that_does_not_come_at_once_is_asked_for_again(pages, page_at):
    page = pages(service_workers="block").page
    refused = []

    def refuse(route):
        if len(refused) == 2:
            route.fallback()
            return
        refused.append(route)
        route.abort()

    page.route("**/lesson.*.json", refuse)
    lesson = page_at("?step=6", until="nothing", service_workers="block")
    lesson.forgiven = ("ERR_FAILED", "failed request", "preload")
    lesson.faults.clear()
    lesson.wait("text")
    expect(lesson.region("Step")).to_contain_text("Step 6 of 20")
    assert len(refused) == 2
    page.unroute("**/lesson.*.json")


def test_data_that_never_comes_leaves_a_line_in_both_languages(pages, page_at):
    page = pages(locale="ja", service_workers="block").page
    page.clock.install()
    page.route("**/lesson.*.json", lambda route: route.abort())
    lesson = page_at(until="nothing", locale="ja", service_workers="block")
    lesson.forgiven = ("ERR_FAILED", "failed request", "preload", "Failed to fetch")
    lesson.faults.clear()
    line = page.locator("#residual-stream-lesson-failed")
    for _ in range(100):
        page.clock.run_for(15_000)
        if line.is_visible():
            break
    expect(line).to_contain_text("Please load the page again.")
    expect(line).to_contain_text("ページを再読み込みしてください。")
    page.unroute("**/lesson.*.json")


# --------------------------------------------------------------------- the one file


def test_the_exported_file_needs_nothing_but_itself(page_at, offline_file):
    options = {"until": "drawn", "offline": True}
    lesson = page_at(
        "?step=4&depth=6&residual=off", at=offline_file.as_uri(), **options
    )
    expect(lesson.region("Step")).to_contain_text("Step 4 of 38")
    every_view(lesson)
    others = [
        url
        for url in lesson.requests
        if not url.startswith((offline_file.as_uri(), "data:", "blob:"))
    ]
    assert others == []
    expect(lesson.page.locator(".server-line")).to_be_hidden()
    lesson.put(step=5)
    expect(lesson.page).to_have_url(re.compile(r"lesson\.html#step=5&depth=12"))


def test_the_exported_file_links_nothing(offline_file):
    text = offline_file.read_text(encoding="utf-8")
    assert links_outside(text) == []
    assert len(text.encode()) < 4_000_000


@contextmanager
def slowly_given(content: bytes, stop_at: int):
    """A host that gives the start of a file, and the rest when it is told to."""
    go_on = Event()

    class Host(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[:stop_at])
            self.wfile.flush()
            go_on.wait(30)
            self.wfile.write(content[stop_at:])

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Host) as host:
        host.timeout = 30  # s, if nobody asks
        thread = Thread(target=host.handle_request)
        thread.start()
        yield f"http://127.0.0.1:{host.server_port}/lesson.html", go_on.set
        go_on.set()
        thread.join()


def test_a_file_that_was_cut_off_says_that_its_picture_is_missing(
    page_at, offline_file, tmp_path
):
    content = offline_file.read_bytes()
    cut = tmp_path / "cut.html"
    cut.write_bytes(content[: (content.index(b"data-late") + len(content)) // 2])
    lesson = page_at("#lang=ja&residual=off", at=cut.as_uri(), until="nothing")
    lesson.forgiven = ("Failed to execute 'replaceWith'",)
    missing = lesson.page.locator(".depth-map-loading")
    expect(missing).to_contain_text("ファイルを入手し直してください")
    lesson.page.keyboard.press("ArrowRight")
    expect(lesson.page.locator(".scene.is-off")).to_be_visible()


PAINTED = """() => new Promise((resolve) => {
  requestAnimationFrame(() => setTimeout(() => setTimeout(resolve)));
})"""


def test_a_file_that_arrives_slowly_is_read_first_and_drawn_when_it_is_there(
    page_at, offline_file
):
    """Bokeh's text is cut in its middle while the first picture stands already."""
    content = offline_file.read_bytes()
    half = (content.index(b"data-late") + len(content)) // 2
    with slowly_given(content, half) as (url, give_the_rest):
        lesson = page_at(at=url, until="nothing")
        expect(lesson.region("Step")).to_contain_text("Step 1 of 20")
        lesson.page.keyboard.press("ArrowRight")
        expect(lesson.region("Step")).to_contain_text("Step 2 of 20")
        lesson.page.evaluate(PAINTED)
        expect(lesson.page.locator(".depth-map-loading")).to_be_visible()
        give_the_rest()
        lesson.wait("drawn")


# ----------------------------------------------------------------- within another app


HOST = """
import panel as pn
import residual_stream

view = residual_stream.show(step=4, depth=6)
onward = pn.widgets.Button(name="onward")
said = pn.pane.Str("")

def press(_):
    view.state.step = view.state.step + 1
    view.state.residual = False

def tell(*events):
    said.object = "python has " + ", ".join(f"{e.name} {e.new}" for e in events)

onward.on_click(press)
view.state.param.watch(tell, ["step", "residual"])
pn.Column("# An app", onward, said, view).servable()
"""


@pytest.fixture
def host_app(tmp_path):
    app = tmp_path / "host.py"
    app.write_text(HOST, encoding="utf-8")
    with panel_served(app) as url:
        yield url


def test_show_is_a_component_that_follows_python_and_tells_it(host_app, page_at):
    lesson = page_at(at=host_app, until="nothing")
    page = lesson.page
    step = lesson.region("Step")
    expect(step).to_contain_text("Step 4 of 38")
    lesson.button("onward").click()
    expect(step).to_contain_text("Step 5 of 38")
    switch = page.get_by_role("switch", name="Residual")
    expect(switch).not_to_be_checked()
    lesson.button("Next").click()
    expect(page.get_by_text("python has")).to_have_text("python has step 6")
    switch.click()
    expect(page.get_by_text("python has")).to_have_text("python has residual True")
    drawn = page.locator(".depth-map-slot:not(.is-waiting) canvas")
    expect(drawn.first).to_be_visible()
    assert "step=" not in page.url  # another page's address is not ours
