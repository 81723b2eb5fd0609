"""`residual-stream export --all`: a folder for any web host, nothing from outside."""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import expect

from conftest import serving
from residual_stream.cli.main import main
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder, lesson_ids
from residual_stream.page.publication import publish
from residual_stream.publish.static_site import site_files, write_site

HASHED = re.compile(r"\w+\.[0-9a-f]{16}\.(js|css|json)")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """What the command writes; it stands in a part of a host."""
    folder = tmp_path_factory.mktemp("host") / "school"
    command = [sys.executable, "-m", "residual_stream", "export", "--all", str(folder)]
    done = subprocess.run(command, check=True, timeout=60, capture_output=True)
    said = rf"wrote {folder}: 1 lesson, 9 files; start at index\.html\n"
    assert re.fullmatch(said, done.stdout.decode())
    assert done.stderr == b""
    return folder


@pytest.fixture(scope="module")
def host(site):
    """A plain web server over the folder above the site."""
    module = ("-u", "-m", "http.server", "0", "--bind", "127.0.0.1")
    with serving(sys.executable, *module, "--directory", str(site.parent)) as served:
        yield served.url.rstrip(")")


def files_of(folder: Path) -> list[str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in paths)


class Links(HTMLParser):
    """Every address that a page names, and the scripts and rules within it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inline: list[str] = []
        self.metas: dict[str, str] = {}
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        for name, value in attrs:
            if name in ("href", "src", "data-src", "data-source"):
                self.found.append(value)
            elif name == "data-extra":
                self.found += re.findall(r': "([^"]+)"', value)
            assert not name.startswith("on"), name
            assert name not in ("style", "srcset", "action"), name
        assert tag != "style"
        if tag == "meta":
            name = given.get("name") or given.get("http-equiv", "")
            self.metas[name] = given.get("content", "")
        self._in_script = tag == "script"

    def handle_data(self, data):
        if self._in_script and data.strip():
            self.inline.append(data)


def pages_of(folder: Path) -> dict[Path, Links]:
    pages = {page: Links(page.read_text("utf-8")) for page in folder.rglob("*.html")}
    assert pages
    return pages


def check_links(folder: Path) -> int:
    """Every address is relative and leads to a file of the site."""
    count = 0
    for page, links in pages_of(folder).items():
        for link in links.found:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            assert (parts.scheme, parts.netloc) == ("", ""), link
            assert not link.startswith("/"), link
            target = (page.parent / unquote(parts.path)).resolve()
            assert target.is_relative_to(folder.resolve()), link
            assert target.is_file(), (page, link)
            count += 1
    return count


# ----------------------------------------------------------------------- the files


def test_every_link_leads_to_a_file_of_the_site(site):
    assert check_links(site) >= 10
    names = files_of(site)
    linked = [name for name in names if name.startswith("lesson-files/")]
    assert [n for n in linked if not HASHED.fullmatch(n.partition("/")[2])] == []
    pages = {f"{lesson}/index.html" for lesson in lesson_ids()}
    assert set(names) == {*linked, *pages, "index.html"}


def test_a_lesson_page_names_all_that_it_loads(site):
    """What is written and what the pages name are the same files."""
    page = (site / DEFAULT_LESSON / "index.html").read_text("utf-8")
    named = {Path(link).name for link in Links(page).found if "lesson-files" in link}
    assert named == {path.name for path in (site / "lesson-files").iterdir()}


def test_the_policy_allows_files_of_the_site_and_nothing_inline(site):
    for links in pages_of(site).values():
        said = links.metas["Content-Security-Policy"]
        rules = dict(rule.strip().split(" ", 1) for rule in said.split(";"))
        assert rules["default-src"] == "'none'"
        assert rules["script-src"] == "'self'"
        assert not re.search(r"https?:|\*|unsafe-eval|nonce", said)
        assert links.inline == []
        assert "robots" not in links.metas


def test_the_index_names_each_lesson_in_both_languages(site):
    index = (site / "index.html").read_text("utf-8")
    for lesson in map(lesson_folder, lesson_ids()):
        for language, title in publish(lesson).lesson.title.items():
            link = rf'<a href="{lesson.name}/index\.html\?lang={language}" '
            assert re.search(rf'{link}lang="{language}"[^>]*>{title}</a>', index)


def test_several_lessons_stand_in_their_order_and_share_their_files(tmp_path):
    """A name or a title with signs of HTML's own is text."""
    folders = []
    for name, order, title in (("b & ü", 1, "A <b>"), ("a", 2, "Z")):
        folder = shutil.copytree(lesson_folder(DEFAULT_LESSON), tmp_path / name)
        toml = (folder / "lesson.toml").read_text("utf-8")
        toml = toml.replace("order = 1", f"order = {order}")
        toml = toml.replace('"Residual Stream"', f'"{title}"')
        (folder / "lesson.toml").write_text(toml, "utf-8")
        folders.append(folder)
    publications = [publish(folder) for folder in reversed(folders)]
    write_site(tmp_path / "site", site_files(publications, "ja"))
    assert check_links(tmp_path / "site") >= 20
    index = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert index.index("A &lt;b&gt;") < index.index(">Z<")
    assert '<html lang="ja">' in index
    page = (tmp_path / "site" / "a" / "index.html").read_text("utf-8")
    assert 'data-language="ja"' in page
    shared = [path.name for path in (tmp_path / "site" / "lesson-files").iterdir()]
    assert [sum(n.startswith(s) for n in shared) for s in ("view", "lesson")] == [1, 3]


# ------------------------------------------------------------------ where it may stand


@pytest.fixture
def call(capsys):
    def call(*arguments):
        try:
            status = main(("export", *map(str, arguments)))
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return call


def test_an_earlier_export_is_written_over_and_what_is_beside_it_stays(call, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()  # empty
    assert call("--all", folder)[0] == 0
    names = files_of(folder)
    (folder / "CNAME").write_text("school.example", "utf-8")
    (folder / DEFAULT_LESSON / "index.html").write_text("old", "utf-8")
    assert call("--all", folder, "--lang", "ja")[0] == 0
    assert {*names, "CNAME"} <= {*files_of(folder)}
    assert check_links(folder) >= 10
    page = (folder / DEFAULT_LESSON / "index.html").read_text("utf-8")
    assert 'data-language="ja"' in page


@pytest.mark.parametrize("held", ["notes.txt", "index.html"])
def test_a_folder_with_files_of_another_is_left_alone(call, tmp_path, held):
    (tmp_path / held).write_text("<title>mine</title>", "utf-8")
    status, out, err = call("--all", tmp_path)
    assert (status, out) == (2, "")
    assert re.fullmatch(
        rf"residual-stream: {tmp_path}: holds files and no index\.html of an earlier "
        r"export; name an empty or a new folder\n",
        err,
    )
    assert files_of(tmp_path) == [held]
    assert (tmp_path / held).read_text("utf-8") == "<title>mine</title>"


WRONG = {
    "with a lesson": (["transformer-block", "--all", "x"], "leave out LESSON"),
    "with -o": (["--all", "x", "-o", "y"], "not allowed with argument"),
    "with -o first": (["-o", "y", "--all", "x"], "not allowed with argument"),
    "no folder": (["--all"], "expected one argument"),
    "a file": (["--all", __file__], "File exists; name another folder"),
    "nowhere": (["--all", "/no/such/x"], "No such file or directory; name another"),
    "a NUL": (["--all", "a\0b"], "null byte; name another folder"),
    "too long": (["--all", "x" * 300], "File name too long; name another folder"),
    "in French": (["--all", "x", "--lang", "fr"], "'ja', 'en'"),
}


@pytest.mark.parametrize(("arguments", "says"), WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_one_line(call, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"residual-stream( export)?: [^\n]{10,450}\n", err)
    assert says in err
    assert os.listdir(tmp_path) == []


# -------------------------------------------------------------------- in a browser


def test_the_site_works_from_a_part_of_a_plain_host(page_at, host):
    """The fixture fails for an answer of 404, a foreign request, a console's word."""
    lesson = page_at(at=f"{host}school/", until="nothing")
    page = lesson.page
    page.get_by_role("link", name="Residual Stream", exact=True).click()
    lesson.wait("drawn")
    expect(lesson.region("Step")).to_contain_text("Step 1 of 20")
    lesson.button("Next").click()
    expect(lesson.region("Step")).to_contain_text("Step 2 of 20")
    expect(page).to_have_url(
        re.compile(r"/school/transformer-block/index\.html\?step=2&")
    )
    expect(page.locator(".depth-map-slot canvas").first).to_be_visible()
    for view in ("experiments", "wirings", "lab"):
        lesson.put(view=view)
        expect(page.locator(f".view:not([hidden]) .{view}")).to_be_visible()
        expect(page.get_by_text("Loading the lesson…")).to_have_count(0)
    expect(page.locator(".lab-offline")).to_contain_text("The lab needs the server")
    expect(page.locator(".server-line")).to_be_hidden()
    lesson.put(view="links")
    expect(page.locator(".links")).to_contain_text("Put the site on a web host")
    loaded = {url.rpartition("/")[2].partition(".")[0] for url in lesson.requests}
    page.get_by_role("link", name="All lessons").click()
    expect(page).to_have_url(f"{host}school/index.html")
    assert loaded >= {"lesson", "view", "bokeh", "experiments", "wirings", "lab"}
    assert {url for url in lesson.requests if not url.startswith(f"{host}school/")} <= {
        "data:,"
    }


def test_a_link_with_a_state_opens_it_in_its_language(page_at, host):
    at = f"{host}school/{DEFAULT_LESSON}/?step=7&depth=4&residual=off&lang=ja"
    lesson = page_at(at=at, until="drawn")
    state = lesson.state()
    assert (state["step"], state["depth"], state["residual"]) == (7, 4, False)
    assert state["language"] == "ja"
    assert lesson.page.url.startswith(at.replace("&lang", "&token=bank&lang"))
