"""The printed worksheet: its numbers, its gaps, its pages; and the lesson on paper."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

from residual_stream import run
from residual_stream.cli.main import main
from residual_stream.lesson.experiments.experiment import load_experiments
from residual_stream.lesson.files import LANGUAGES
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder, shipped
from residual_stream.lesson.lesson import load_lesson
from residual_stream.model.arithmetic import number
from residual_stream.model.ledger import depth_map
from residual_stream.publish.handout import handout, handout_texts, subscripts
from residual_stream.publish.printed_map import BASE, drawn_maps
from residual_stream.table.questions import plain, questions

UNTIL = "drawn"
A4 = (210, 297)
MM = 96 / 25.4  # CSS px
BOTH = pytest.mark.parametrize("language", LANGUAGES)
ANSWERS = pytest.mark.parametrize("answers", [False, True], ids=["gaps", "answers"])


@pytest.fixture(scope="module")
def lesson():
    return load_lesson(lesson_folder(DEFAULT_LESSON))


@pytest.fixture(scope="module")
def sheet(lesson):
    """The worksheet's HTML in some languages, with or without answers."""
    made = {}

    def sheet_in(*languages, answers=False):
        key = (languages, answers)
        if key not in made:
            made[key] = handout(lesson, languages, answers).decode()
        return made[key]

    return sheet_in


@pytest.fixture
def page(browser):
    """An empty page as wide as the paper."""
    width, height = (round(side * MM) for side in A4)
    context = browser.new_context(viewport={"width": width, "height": height})
    yield context.new_page()
    context.close()


class Reader(HTMLParser):
    """The elements of a page in order, with their attributes and own texts."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        element = SimpleNamespace(tag=tag, attributes=dict(attributes), text="")
        self.elements.append(element)
        if tag not in ("meta", "link", "br", "col"):
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.remove(self.elements[-1])

    def handle_endtag(self, tag):
        while self.open.pop().tag != tag:
            pass

    def handle_data(self, data):
        for element in self.open:
            element.text += data

    def with_(self, attribute):
        return [e for e in self.elements if attribute in e.attributes]

    def of_class(self, name):
        return [e for e in self.elements if name in (e.attributes.get("class") or "")]


# --------------------------------------------------------------------- its numbers


def stored(trace, of):
    name, index = re.fullmatch(r"(.+)\[([\d, ]+)\]", of).groups()
    place = tuple(map(int, index.split(", ")))
    if name.startswith("weights."):
        return trace.weights[name].value[place]
    return trace[name][place]


@BOTH
@ANSWERS
def test_every_number_of_the_block_is_the_trace_s(sheet, trace, language, answers):
    cells = Reader(sheet(language, answers=answers)).with_("data-of")
    assert len(cells) > 150
    for cell in cells:
        value, gap = stored(trace, cell.attributes["data-of"]), cell.attributes["class"]
        if gap.startswith("gap") and not answers:
            assert cell.text == ""
        else:
            assert cell.text in {number(value), "0" if value == 0 else ""}


def test_what_a_student_needs_is_there(sheet, trace, example, bank):
    shown = {
        cell.attributes["data-of"] for cell in Reader(sheet("en")).with_("data-of")
    }
    for name in ("embed", "pos_embed"):
        rows, columns = trace[name].shape
        assert {f"{name}[{i}, {j}]" for i in range(rows) for j in range(columns)} <= (
            shown
        )
    for name, entry in trace.weights.items():
        for place in np.argwhere(entry.value):
            assert f"{name}[{', '.join(map(str, place))}]" in shown
    for name in ("resid_pre", "attn_out", "resid_mid", "mlp_out", "resid_post"):
        assert f"blocks.0.{name}[{bank}, 3]" in shown


def test_the_gaps_are_those_of_the_way_from_x0_to_x1(sheet):
    gaps = [
        e.attributes["data-of"]
        for e in Reader(sheet("en")).of_class("gap")
        if e.tag == "td"
    ]
    names = {of.partition("[")[0].removeprefix("blocks.0.") for of in gaps}
    assert names == {
        "ln1.scale",
        "ln1.normalized",
        "attn.q",
        "attn.k",
        "attn.v",
        "attn.scores",
        "attn.pattern",
        "attn.z",
        "attn_out",
        "resid_mid",
        "ln2.scale",
        "ln2.normalized",
        "mlp.pre",
        "mlp.post",
        "mlp_out",
        "resid_post",
    }
    assert not any("resid_pre" in of or "weights" in of for of in gaps)


def test_the_printed_numbers_are_enough_to_work_by(trace, bank):
    """Rounding at each step moves only the last digit a little, as the sheet says."""
    w = {name: round_(entry.value) for name, entry in trace.weights.items()}

    def normed(x):
        return round_(x / round_((x**2).mean() ** 0.5))

    xs = [round_(x) for x in trace["blocks.0.resid_pre"]]
    copies = [normed(x) for x in xs]
    q = round_(copies[bank] @ w["weights.W_Q"])
    k, v = ([round_(c @ w[f"weights.{n}"]) for c in copies] for n in ("W_K", "W_V"))
    powers = [2.718281828 ** round_(q @ key / 2**0.5) for key in k]
    shares = [round_(power / sum(powers)) for power in powers]
    z = round_(sum(share * value for share, value in zip(shares, v, strict=True)))
    x = round_(xs[bank] + round_(z @ w["weights.W_O"]))
    hidden = round_(normed(x) @ w["weights.W_in"] + w["weights.b_in"]).clip(0)
    x1 = x + round_(hidden @ w["weights.W_out"] + w["weights.b_out"])
    assert abs(x1 - trace["blocks.0.resid_post"][bank]).max() < 0.025


def round_(value):
    return np.round(value, 2)


# ------------------------------------------------------------------- the depth maps


@BOTH
def test_the_maps_show_the_lengths_of_depth_6(sheet, example, bank, language):
    lengths = [e.text for e in Reader(sheet(language)).with_("data-length")]
    wanted = []
    for residual in (True, False):
        drawn = depth_map(run(example, 6, residual), bank)
        wanted += [drawn.x0_length, *(bar.length for bar in drawn.bars)]
    assert lengths == [number(length) for length in wanted]


def test_both_maps_are_drawn_on_one_scale(lesson, example, bank):
    on, off = drawn_maps(lesson)
    unit = (BASE - on.ribbon_top) / depth_map(run(example, 6), bank).x0_length
    for picture, residual in ((on, True), (off, False)):
        bars = depth_map(run(example, 6, residual), bank).bars
        for shown, bar in zip(picture.bars, bars, strict=True):
            assert shown.height == pytest.approx(unit * bar.length, rel=5e-3, abs=0.01)
            assert shown.y >= 0
    assert on.ribbon_top == off.ribbon_top


def test_the_ribbon_runs_on_or_is_cut_at_the_entrance(lesson):
    on, off = drawn_maps(lesson)
    ends = [max(float(p.split(",")[0]) for p in m.ribbon.split(" ")) for m in (on, off)]
    assert ends[0] > on.bars[-1].x + on.bars[-1].width
    assert ends[1] < off.bars[0].x
    # on: bars stand on the ribbon; off: on the zero line
    assert {round(b.y + b.height, 1) for b in on.bars} == {round(on.ribbon_top, 1)}
    assert {round(b.y + b.height, 1) for b in off.bars} == {BASE}


def test_a_lesson_that_is_less_deep_is_drawn_to_its_end(lesson):
    assert [len(m.bars) for m in drawn_maps(replace(lesson, max_depth=2))] == [2, 2]


# ---------------------------------------------------------------------- questions


@BOTH
def test_the_questions_are_the_experiments(lesson, language):
    asked = questions(lesson)[language]
    experiments = load_experiments(lesson)
    assert [q.id for q in asked] == [e.plan.id for e in experiments]
    assert len(asked) == 10
    for question, experiment in zip(asked, experiments, strict=True):
        right = [option for option, _, is_right in question.options if is_right]
        assert right == [experiment.plan.right]
        assert question.text
        assert "{" not in question.text + question.answer


@BOTH
def test_only_the_sheet_with_answers_gives_them_away(sheet, lesson, language):
    blank, filled = sheet(language), sheet(language, answers=True)
    assert "✓" not in blank
    assert "→" not in blank
    right = [e for e in Reader(filled).of_class("right") if e.tag == "li"]
    asked = questions(lesson)[language]
    for item, question in zip(right, asked, strict=True):
        assert item.text.split()[0] == "✓"
        assert question.answer.replace("_", "") in item.text
    said = handout_texts()["sheet_answers"][language]
    assert said in filled
    assert said not in blank


def test_prose_becomes_plain_text_with_its_slots_filled():
    nodes = [["p", {}, "x is ", ["slot", 0], ["em", {}, " so"]], "!"]
    assert plain(nodes, ["1.0"]) == "x is 1.0 so!"


# ---------------------------------------------------------------------- the file


def test_both_languages_have_the_same_structure(sheet):
    ja, en = (
        [
            (e.tag, e.attributes.get("class"), e.attributes.get("data-of"))
            for e in Reader(sheet(language, answers=True)).elements
            if e.tag != "sub"
        ]
        for language in LANGUAGES
    )
    assert ja == en


def test_without_a_language_both_follow_one_another(sheet):
    both = Reader(sheet(*LANGUAGES))
    mains = [e for e in both.elements if e.tag == "main"]
    assert [e.attributes["lang"] for e in mains] == list(LANGUAGES)
    assert len(both.of_class("page")) == 4


@ANSWERS
def test_the_file_needs_nothing_but_itself(sheet, answers):
    html = sheet(*LANGUAGES, answers=answers)
    assert not re.search(r"<script|<link|<img|https?:|//\w|@import|\son\w+=", html)
    assert re.findall(r"url\(([^)]*)\)", html) == ["#so-far", "#latest"]
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)[1]
    policy = unescape(policy)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    assert "script-src" not in rules


def test_what_a_lesson_says_is_escaped(lesson):
    odd = replace(lesson, title=dict.fromkeys(LANGUAGES, "<script>&"))
    html = handout(odd, ("en",)).decode()
    assert "&lt;script&gt;&amp;" in html
    assert "<script" not in html
    assert subscripts("<b>W_Q") == "&lt;b&gt;W<sub>Q</sub>"


def test_every_text_is_in_both_languages_and_is_used():
    template = (shipped("assets") / "handout.html").read_text("utf-8")
    for key, text in handout_texts().items():
        assert set(text) == set(LANGUAGES)
        assert f'"{key}"' in template, key
        names = [sorted(re.findall(r"\{(\w+)\}", text[lang])) for lang in LANGUAGES]
        assert names[0] == names[1]


# ------------------------------------------------------------------- on paper


def pages_of(pdf):
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


@ANSWERS
@pytest.mark.parametrize("languages", [("ja",), ("en",), LANGUAGES], ids="-".join)
def test_two_a4_pages_a_language(sheet, page, tmp_path, languages, answers):
    path = tmp_path / "handout.html"
    path.write_text(sheet(*languages, answers=answers), "utf-8")
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: said.append(request.url))
    page.goto(path.as_uri())
    assert said == [path.as_uri()]
    pdf = page.pdf(prefer_css_page_size=True)
    assert pages_of(pdf) == 2 * len(languages)
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert [round(float(side) / 72 * 25.4) for side in box.groups()] == list(A4)


OUTSIDE = """() => [...document.querySelectorAll(".page")].flatMap((page) => {
  const box = page.getBoundingClientRect();
  const over = (element) => {
    const inner = element.getBoundingClientRect();
    return inner.right > box.right - 20 || inner.left < box.left + 20
      || inner.bottom > box.bottom - 20 || element instanceof HTMLElement
      && element.scrollWidth > element.clientWidth + 1
      && element.clientWidth > 0 && getComputedStyle(element).display !== "inline";
  };
  const cut = (text) => {
    const inner = text.getBoundingClientRect();
    const frame = text.ownerSVGElement.getBoundingClientRect();
    return inner.right > frame.right + 1 || inner.left < frame.left - 1
      || inner.top < frame.top - 1 || inner.bottom > frame.bottom + 2;
  };
  const all = [...page.querySelectorAll("*")];
  return [...all.filter(over), ...all.filter((e) => e.matches("svg text") && cut(e))]
    .map((e) => e.outerHTML);
})"""
SIZES = """() => {
  const sizes = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.matches("sub, defs *")) continue;
    const svg = element.closest("svg");
    const wide = svg?.getBoundingClientRect().width;
    const unit = svg ? wide / svg.viewBox.baseVal.width : 1;
    sizes.add(parseFloat(getComputedStyle(element).fontSize) * unit * 0.75);
  }
  return [...sizes];
}"""


@BOTH
@ANSWERS
def test_nothing_is_clipped_and_nothing_is_small(sheet, page, language, answers):
    page.set_content(sheet(language, answers=answers))
    page.emulate_media(media="print")
    assert page.evaluate(OUTSIDE) == []
    heights = page.evaluate(
        "[...document.querySelectorAll('.page')].map((e) => e.offsetHeight)"
    )
    assert len(heights) == 2
    assert max(heights) <= A4[1] * MM
    sizes = page.evaluate(SIZES)
    assert min(sizes) >= 9.49
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_the_maps_read_without_colour(sheet, page):
    """Each kind of bar has its own hatch, and a word beside its sample."""
    page.set_content(sheet("en"))
    lines = page.evaluate("""() => ["so-far", "latest"].map((id) => {
      const line = document.querySelector(`pattern#${id} line`);
      return line.getAttribute("x1") === line.getAttribute("x2");
    })""")
    assert lines == [False, True]
    captions = page.locator("figcaption").all_text_contents()
    for words, caption in zip(
        (("x₀ (input)", "all corrections so far"), ("x₀ (input)", "latest output")),
        captions,
        strict=True,
    ):
        assert all(word in caption for word in words)
    fills = page.evaluate(
        "['.so-far', '.latest'].map((c) =>"
        " getComputedStyle(document.querySelector(`figure > svg ${c}`)).fill)"
    )
    assert fills == ['url("#so-far")', 'url("#latest")']


# ------------------------------------------------------------------ the call


def test_the_call_writes_it(tmp_path):
    path = tmp_path / "sheet.html"
    command = [sys.executable, "-m", "residual_stream", "export", "--handout"]
    done = subprocess.run(
        [*command, "--answers", "--lang", "ja", "-o", path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"wrote {path}\n"
    html = path.read_text("utf-8")
    assert '<main lang="ja" class="answered">' in html
    assert '<main lang="en"' not in html


def test_any_lesson_s_folder_will_do(tmp_path, monkeypatch):
    folder = tmp_path / "own"
    shutil.copytree(lesson_folder(DEFAULT_LESSON), folder)
    shutil.rmtree(folder / "experiments")
    monkeypatch.chdir(tmp_path)
    assert main(["export", "--handout", str(folder)]) == 0
    html = (tmp_path / "own-handout.html").read_text("utf-8")
    assert html.count('class="page"') == 4
    assert "questions" not in re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)


def test_answers_alone_are_a_wrong_call(capsys):
    assert main(["export", "--answers"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "residual-stream: --answers: belongs to the worksheet; add --handout\n"
    )


# --------------------------------------------------------- the lesson on paper


CUT = """() => {
  const wide = document.documentElement.clientWidth;
  const shown = [...document.querySelectorAll(".residual-stream *")].filter((e) =>
    e.checkVisibility() && !e.closest(".visually-hidden, .scene-words-frame"));
  return shown.filter((e) => e.getBoundingClientRect().right > wide + 1)
    .map((e) => e.className);
}"""


@pytest.mark.parametrize(("language", "theme"), [("ja", "light"), ("en", "dark")])
def test_the_lesson_prints_without_its_controls(page_at, language, theme):
    lesson = page_at(f"?step=4&depth=6&lang={language}")
    lesson.put(theme=theme)
    page = lesson.page
    page.emulate_media(media="print")
    # the paper's width, laid out as printing does: without telling the page's script
    try:
        page.add_style_tag(content="body { width: 695px; }")
        for name in (".step", ".block", ".depth-map-stage", ".sum", ".reading"):
            assert page.locator(name).first.is_visible(), name
        for name in (".dock", ".masthead-tools", ".chapters", ".view-nav", ".settings"):
            assert not page.locator(name).first.is_visible(), name
        ground = page.evaluate(
            "getComputedStyle(document.querySelector('.residual-stream'))"
            ".backgroundColor"
        )
        assert ground == "rgb(255, 255, 255)"
        assert page.evaluate(CUT) == []
        pdf = page.pdf(prefer_css_page_size=True)
        assert 3 <= pages_of(pdf) <= 5
    finally:
        page.emulate_media(media="screen")
