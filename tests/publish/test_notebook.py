"""A notebook run for real: what its cells put out, and what a browser makes of it."""

import json
import re
from html import unescape
from itertools import count
from pathlib import Path

import nbclient
import nbformat
import pytest
from playwright.sync_api import expect

import residual_stream
from conftest import links_outside
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.page.publication import publish

PAGE = Path(residual_stream.__file__).parent / "page"
FRAME, LIVE, ONWARD = (
    """import residual_stream
residual_stream.show(live=False, step=4, depth=6, residual=False, language="ja")""",
    """view = residual_stream.show(step=4, depth=6, token="river")
view""",
    """view.state.step = 5
print(view.state.step, view.state.token)""",
)
# Panel's script says where it learnt about the keys; the others name no place to go to
NAMES_ONLY = (
    "https://jupyterlab.readthedocs.io/",
    "http://www.w3.org/",
)


@pytest.fixture(scope="module")
def cells():
    """The outputs of each cell, as a notebook file holds them."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in (FRAME, LIVE, ONWARD)]
    )
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    nbformat.validate(notebook)
    return [cell.outputs for cell in notebook.cells]


def as_html(outputs) -> str:
    """A page of outputs as nbconvert writes it: HTML, else a script."""
    parts = []
    for data in (output["data"] for output in outputs if "data" in output):
        if "text/html" in data:
            parts.append(data["text/html"])
        elif "application/javascript" in data:
            parts.append(f"<script>{data['application/javascript']}</script>")
    body = "\n".join(parts)
    return f"<!doctype html><meta charset=utf-8><title>A notebook</title>{body}"


@pytest.fixture
def opened(page_at, tmp_path):
    """Open outputs as a file, without a network."""
    numbers = count()

    def opened(outputs, **options):
        path = tmp_path / f"{next(numbers)}.html"
        path.write_text(as_html(outputs), encoding="utf-8")
        options = {"until": "nothing", "offline": True} | options
        return path.as_uri(), page_at(at=path.as_uri(), **options)

    return opened


def last_html(outputs) -> str:
    return outputs[-1]["data"]["text/html"]


def start_of(frame: str) -> dict:
    """Where the page in a frame starts."""
    page = unescape(frame)
    return json.loads(unescape(re.search(r' data-start="([^"]*)"', page)[1]))


def sources() -> set[str]:
    """What the page's own text links for a reader to follow."""
    return set(
        re.findall(
            r'at: "(https://[^"]+)"', (PAGE / "wirings" / "wirings.js").read_text()
        )
    )


# ------------------------------------------------------------------ what is put out


def test_the_frame_is_all_that_its_cell_puts_out(cells):
    (output,) = cells[0]
    assert set(output["data"]) == {"text/html", "text/plain"}
    html = output["data"]["text/html"]
    opening = re.match(r"<iframe [^>]*>", html)[0]
    assert html == f"{opening}</iframe>"
    assert re.findall(r' (sandbox|src|allow)="?([^" ]*)', opening) == [
        ("sandbox", "allow-scripts")
    ]


def test_the_frame_holds_the_lesson_and_links_nothing(cells):
    page = unescape(re.search(r' srcdoc="([^"]*)"', last_html(cells[0]))[1])
    lesson = publish(lesson_folder(DEFAULT_LESSON))
    data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S)
    held = json.loads(data[1])
    assert held["prose"] == json.loads(json.dumps(lesson.data["prose"]))
    assert held["model"] == json.loads(json.dumps(lesson.data["model"]))
    assert links_outside(page) == []
    start = start_of(last_html(cells[0]))
    assert (start["step"], start["depth"], start["residual"]) == (4, 6, False)


def live_part(cells) -> str:
    """What Panel puts out, without the page that may take its place."""
    html = last_html(cells[1])
    assert html.count("<iframe ") == 1
    return html.partition("<iframe ")[0]


def test_the_live_output_holds_the_components_data(cells):
    text = live_part(cells)
    document = json.JSONDecoder().raw_decode(text, text.index("{", text.index("_json")))
    (held,) = [*with_key(document[0], "lesson")]
    component = json.dumps(held["lesson"], ensure_ascii=False)
    lesson = publish(lesson_folder(DEFAULT_LESSON)).lesson
    assert lesson.title["ja"] in component
    assert json.dumps(lesson.ui["next"]["ja"], ensure_ascii=False) in component
    assert held["css"]
    assert ["depth", 6] in held["start"]["entries"]
    assert ["token", 2] in held["start"]["entries"]


def with_key(tree, key):
    """Every mapping in a tree of JSON that has a key."""
    if isinstance(tree, dict):
        if key in tree:
            yield tree
            return
        tree = list(tree.values())
    if isinstance(tree, list):
        for part in tree:
            yield from with_key(part, key)


def test_the_live_output_names_no_place_outside(cells):
    text = live_part(cells)
    urls = re.findall(r"https?://[^\s\"'\\<>)]+", text)
    assert {u for u in urls if not u.startswith(NAMES_ONLY)} <= sources()
    assert "ImportedStyleSheet" not in text
    assert links_outside(text) == []


def test_other_cells_read_and_set_its_state(cells):
    assert "".join(o["text"] for o in cells[2] if o["output_type"] == "stream") == (
        "5 river\n"
    )


def test_without_a_kernel_the_component_is_shown_as_a_frame():
    """A documentation builder asks for HTML, and nobody would answer the component."""
    view = residual_stream.show(step=6)
    data, how = view._repr_mimebundle_()
    assert (set(data), how) == ({"text/html"}, {})
    frame = residual_stream.show(live=False, step=6)._repr_html_()
    assert data["text/html"][:2000] == frame[:2000]
    assert start_of(data["text/html"]) == start_of(frame)
    assert start_of(frame)["step"] == 6


def test_a_wrong_start_is_refused_before_anything_is_shown():
    with pytest.raises(ValueError, match="depth"):
        residual_stream.show(live=False, depth=99)
    with pytest.raises(ValueError, match="live is 'no'; it must be True or False"):
        residual_stream.show(live="no")
    with pytest.raises(ValueError, match="language is 'fr'"):
        residual_stream.show(live=False, language="fr")
    for part, value in (("experiment", "Z9"), ("lab", "depth*97")):
        with pytest.raises(ValueError, match=part):
            residual_stream.show(live=False, **{part: value})
    with pytest.raises(ValueError, match=r"\Alab: found 'zz', needs a setting of the"):
        residual_stream.show(live=False, lab="zz")


@pytest.mark.parametrize(
    ("part", "view"),
    [({"experiment": "F3"}, "experiments"), ({"lab": "depth*12"}, "lab")],
)
def test_an_experiment_or_a_lab_is_shown_at_once(part, view):
    frame = residual_stream.show(live=False, **part)._repr_html_()
    assert start_of(frame).items() >= (part | {"view": view}).items()


# -------------------------------------------------------------------- in a browser


def nothing_else(lesson, url):
    return [u for u in lesson.requests if not u.startswith((url, "data:", "blob:"))]


def test_the_lesson_steps_inside_the_frame(cells, opened):
    url, lesson = opened(cells[0])
    inside = lesson.page.frame_locator("iframe")
    step = inside.get_by_role("region", name="ステップ", exact=True)
    expect(step).to_contain_text("ステップ4／38")
    expect(inside.locator(".scene.is-off")).to_be_visible()
    inside.get_by_role("button", name="次へ", exact=True).click()
    expect(step).to_contain_text("ステップ5／38")
    drawn = inside.locator(".depth-map-slot:not(.is-waiting) canvas")
    expect(drawn.first).to_be_visible()
    assert nothing_else(lesson, url) == []


def test_a_link_from_the_frame_is_a_query_to_put_behind_an_address(cells, opened):
    _, lesson = opened(cells[0])
    inside = lesson.page.frame_locator("iframe")
    lesson.forgiven = ("Permissions policy", "permissions policy")
    inside.get_by_role("button", name="リンクをコピー", exact=True).click()
    link = inside.get_by_role("textbox", name="リンクをコピー")
    expect(link).to_have_value("?step=4&depth=6&residual=off&token=bank&lang=ja")


def test_a_notebook_opened_later_shows_the_component(cells, opened):
    """Panel's scripts are in its first output; no Python is there."""
    url, lesson = opened(cells[1])
    step = lesson.region("Step")
    expect(step).to_contain_text("Step 4 of 38")
    lesson.button("Next").click()
    expect(step).to_contain_text("Step 5 of 38")
    expect(lesson.page.locator("iframe")).to_have_count(0)
    assert nothing_else(lesson, url) == []


def test_where_panel_is_not_loaded_the_frame_takes_the_place(cells, opened):
    url, lesson = opened(cells[1][-1:])
    lesson.forgiven = ("Panel code because Bokeh or Panel library is missing",)
    frame = lesson.page.locator("iframe")
    expect(frame).to_be_hidden()
    inside = lesson.page.frame_locator("iframe")
    step = inside.get_by_role("region", name="Step", exact=True)
    expect(step).to_contain_text("Step 4 of 38")
    expect(frame).to_be_visible()
    inside.get_by_role("button", name="Next", exact=True).click()
    expect(step).to_contain_text("Step 5 of 38")
    assert nothing_else(lesson, url) == []
