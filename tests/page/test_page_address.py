"""The state in the address: read key by key, never trusted, never lost."""

import re
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from playwright.sync_api import expect

from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import load_lesson
from residual_stream.table import lab

UNTIL = "text"
START = {"step": "1", "depth": "3", "residual": "on", "token": "bank", "lang": "en"}

GOOD = {
    "step": ["1", "7", "8"],
    "depth": ["1", "3", "12"],
    "residual": ["on", "off"],
    "token": ["by", "the", "river", "bank"],
    "lang": ["ja", "en"],
    "compare": ["0", "1"],
    "projector": ["0", "1"],
    "view": ["lesson", "experiments", "wirings", "lab", "links"],
    "hide": ["depth", "depth,token", "residual,language,compare,sum,map,reading"],
    "experiment": ["F1", "G5"],
    "lab": ["depth*12", "words*by*bank_x1*0.3*-2*0*1_seed*7*0.1_block*2"],
}
ON_PAGE = {"lang": "language"}
UNWRITTEN = {"compare": "0", "projector": "0", "view": "lesson"}


def address(lesson) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(lesson.page.url).query))


def in_state(lesson, key) -> str:
    value = lesson.state()[ON_PAGE.get(key, key)]
    if key == "residual":
        return "on" if value else "off"
    if isinstance(value, bool):
        return "1" if value else "0"
    return ",".join(value) if isinstance(value, list) else str(value)


def faults(lesson) -> list[str]:
    """The lines that say what in the address was not usable."""
    notice = lesson.page.get_by_role("alert")
    return notice.locator("li").all_inner_texts() if notice.is_visible() else []


def rounds(values: dict[str, list[str]]) -> list[dict[str, str]]:
    """One address a round with a value for every key, until each has had its turn."""
    most = max(map(len, values.values()))
    return [
        {key: some[turn % len(some)] for key, some in values.items()}
        for turn in range(most)
    ]


def query_of(values: dict[str, str]) -> str:
    return "?" + "&".join(f"{key}={quote(value)}" for key, value in values.items())


@pytest.mark.parametrize("values", rounds(GOOD))
def test_each_key_sets_the_page_and_stays_in_the_address(page_at, values):
    """A value that is there is there again when its address is opened."""
    lesson = page_at(query_of(values))
    assert faults(lesson) == []
    assert {key: in_state(lesson, key) for key in values} == values
    stays = {k: v for k, v in values.items() if UNWRITTEN.get(k) != v}
    assert address(lesson) == stays


@pytest.mark.parametrize("key", GOOD)
def test_each_key_sets_the_page_on_its_own(page_at, key):
    value = GOOD[key][1]
    lesson = page_at(f"?{key}={value}")
    assert faults(lesson) == []
    assert address(lesson) == START | {key: value}


def test_the_whole_state_goes_round(page_at):
    query = (
        "?step=7&depth=4&residual=off&token=river&lang=ja"
        "&view=lesson&compare=1&projector=1&hide=depth,token"
    )
    lesson = page_at(query)
    written = lesson.page.url
    state = lesson.state()
    asked = dict(parse_qsl(query[1:]))
    assert address(lesson) == {k: v for k, v in asked.items() if k != "view"}
    again = page_at("?" + urlsplit(written).query)
    assert again.state() == state
    assert again.page.url == written


def test_the_address_follows_and_leaves_no_trail_in_the_history(page_at):
    lesson = page_at("?step=2")
    before = lesson.page.evaluate("history.length")
    for change, query in [
        ({"step": 5}, "?step=5&depth=3&residual=on&token=bank&lang=en"),
        ({"token": 0}, "?step=5&depth=3&residual=on&token=by&lang=en"),
        ({"hide": ["map"]}, "?step=5&depth=3&residual=on&token=by&lang=en&hide=map"),
    ]:
        lesson.put(**change)
        expect(lesson.page).to_have_url(re.compile(re.escape(query) + "$"))
    assert lesson.page.evaluate("history.length") == before


# ------------------------------------------------------------------- hostile values

HOSTILE = {
    "step": ["0", "21", "-1", "1.0", "+2", " 2", "2 ", "0x2", "1e1", "²", "２", "٣"],
    "depth": ["0", "13", "9" * 5000, "NaN", "Infinity", "three", "", "[3]"],
    "residual": ["ON", "true", "1", "", "on,off", "constructor", "__proto__"],
    "token": ["sea", "BANK", "toString", "<img src=x onerror=alert(1)>", "bank\0"],
    "lang": ["fr", "JA", "ja-JP", "<script>alert(1)</script>"],
    "compare": ["2", "yes", "on", "-0"],
    "projector": ["2", "true", "null"],
    "view": ["admin", "../lesson", "javascript:alert(1)"],
    "hide": ["all", "depth,", "depth,all", "<b>", ",", "x" * 20_000],
    "experiment": ["Z9", "f1", "F0", "F1 ", "", "constructor", "<b>"],
    "lab": ["depth*97", "words*cat", "seed*7", "depth*3_depth*4", "<b>"],
}


@pytest.mark.parametrize("values", rounds(HOSTILE), ids=range(len(HOSTILE["step"])))
def test_bad_values_fall_back_each_with_a_line_that_names_its_key(page_at, values):
    lesson = page_at(query_of(values))
    lines = faults(lesson)
    assert len(lines) == len(values)
    for key, value in values.items():
        (line,) = [line for line in lines if line.startswith(f"{key}=")]
        assert line.startswith(f"{key}={value[:24]}".strip())
        assert len(line) < 250
        assert "Used instead" in line
    assert address(lesson) == START
    assert lesson.page.locator(".notice li *").count() == 0
    nothing_ran(lesson)


def nothing_ran(lesson) -> None:
    """No element came from the address: the page's own are all there are."""
    made = "script:not([src]):not([nonce]):not([type]), img, iframe, object, embed"
    assert lesson.page.locator(f".residual-stream :is({made})").count() == 0


LAB_TEXTS = """
    depth*1 depth*96 depth*0 depth*97 depth*012 depth*1e1 depth depth*3*4 depth*
    words*bank words*3*4*3 words*0 words*5 words*cat words words*by*by*by*by*by*by*by*by
    words*by*by*by*by*by*by*by*by*by words*bank_follow*2 words*the*bank_follow*2
    follow*0 follow*4 follow*5 words*bank_x2*1*1*1*1 x1*0.3*-2*0*1 x1*1*1*1
    x9*1*1*1*1 x0*1*1*1*1
    x4*1000*-1000*0.0001*-0 x4*1000.1*0*0*0 x1*.5*0*0*0 x1*0.12345*0*0*0 x1*1e3*0*0*0
    residual*off residual*on residual*0 attention*off ffn*off positions*off norm*rms
    norm*layer norm*none norm*max weights*lesson weights*cancelling weights*other
    seed*7*0.1 seed*9999*1 seed*1*1.1 seed*10000*0 seed*7 seed*x*0 varied*1 block*3
    block*4 depth*4_block*4 depth*3_depth*4 depth*3_ _ * - a .. vectors*1 __class__*1
    block*2_depth*6_residual*off_words*river*bank_x2*0*0*0*1_norm*none_seed*3*0.25
"""
# every text in one page: as in an address that is edited by hand
TAKEN = """async (texts) => {
  const {store} = await ResidualStream.page;
  const taken = [];
  for (const text of texts) {
    const heard = new Promise((hear) => {
      addEventListener("hashchange", hear, {once: true});
    });
    location.hash = `lab=${text}`;
    await heard;
    if (store.get().lab === text) taken.push(text);
  }
  return taken;
}"""


def test_the_page_and_python_take_the_same_settings_of_the_lab(page_at):
    def takes(text):
        try:
            return bool(lab.read_text(lesson, text))
        except lab.LabError:
            return False

    lesson, texts = load_lesson(lesson_folder(DEFAULT_LESSON)), LAB_TEXTS.split()
    taken = [text for text in texts if takes(text)]
    assert 20 < len(taken) < len(texts) - 20
    assert page_at().page.evaluate(TAKEN, texts) == taken


WHOLE = {
    "twice the same key": ("?step=4&step=5", "step"),
    "a second ?": ("?step=4?depth=6", "step"),
    "a broken percent": ("?token=%FF", "token"),
    "percent alone": ("?token=%", "token"),
    "a surrogate": ("?token=%ED%A0%80", "token"),
    "NUL": ("?lang=%00", "lang"),
    "array": ("?step[]=4&step=x", "step"),
    "ampersands": ("?&&&step=&", "step"),
}


@pytest.mark.parametrize(("query", "key"), WHOLE.values(), ids=WHOLE)
def test_a_malformed_address_never_breaks_the_page(page_at, query, key):
    lesson = page_at(query)
    (line,) = faults(lesson)
    assert line.startswith(f"{key}=")
    assert address(lesson) == START


def test_unknown_keys_are_no_fault_and_are_dropped(page_at):
    lesson = page_at("?utm_source=x&__proto__=1&constructor=2&step=3#there")
    assert faults(lesson) == []
    assert address(lesson) == START | {"step": "3"}
    assert lesson.page.url.endswith("#there")


def test_good_values_beside_bad_ones_are_kept(page_at):
    lesson = page_at("?step=99&depth=6&residual=maybe&token=river&lang=ja&hide=x")
    lines = faults(lesson)
    assert [line.startswith("リンクの") for line in lines] == [True] * 3
    keys = [re.match(r"リンクの(\w+)=", line)[1] for line in lines]
    assert keys == ["step", "residual", "hide"]
    assert address(lesson) == START | {"depth": "6", "token": "river", "lang": "ja"}


def test_the_step_is_measured_at_the_depth_beside_it(page_at):
    assert address(page_at("?step=38&depth=6")) == START | {"step": "38", "depth": "6"}
    lesson = page_at("?step=9&depth=1")
    assert "1 to 8" in faults(lesson)[0]
    assert address(lesson) == START | {"depth": "1"}


def test_the_line_goes_away_when_it_is_closed(page_at):
    lesson = page_at("?step=0")
    assert "Used instead: 1" in faults(lesson)[0]
    lesson.page.get_by_role("alert").get_by_role("button", name="Close").click()
    expect(lesson.page.get_by_role("alert")).to_be_hidden()
    lesson.put(step=3)
    expect(lesson.page.get_by_role("alert")).to_be_hidden()


# ------------------------------------------------------------------------- hide, links

PARTS = {
    "residual": ("switch", "Residual"),
    "depth": ("slider", "Depth"),
    "token": ("combobox", "Token"),
    "language": ("combobox", "Language"),
    "compare": ("checkbox", "Compare on and off"),
    "sum": ("region", "Sum"),
    "map": ("region", "Depth map"),
    "reading": ("region", "Reading"),
}


def test_hide_hides_each_part_and_no_other(page_at):
    lesson = page_at()
    shown = {
        name: lesson.page.get_by_role(role, name=label, exact=True)
        for name, (role, label) in PARTS.items()
    }
    for hidden in ([], *([name] for name in PARTS), ["depth", "token"], list(PARTS)):
        lesson.put(hide=hidden)
        for name, part in shown.items():
            expect(part).to_be_visible(visible=name not in hidden)
    expect(lesson.button("Next")).to_be_visible()


def test_a_link_in_the_reading_sets_the_state(page_at):
    lesson = page_at("?step=2&compare=1&lang=ja")
    lesson.put(language="en")
    link = lesson.page.get_by_role("link", name="Switch the residual off at depth 6")
    expect(link).to_have_attribute(
        "href", "?step=38&depth=6&residual=off&token=bank&lang=en"
    )
    link.click()
    state = lesson.state()
    assert (state["step"], state["depth"], state["residual"]) == (38, 6, False)
    assert state["compare"] is False
    expect(lesson.region("Step")).to_be_in_viewport()
    expect(lesson.region("Step")).to_contain_text("Step 38 of 38")


def test_every_link_in_the_reading_leads_to_a_state_without_a_fault(page_at):
    lesson = page_at()
    for language in ("en", "ja"):
        lesson.put(language=language)
        links = lesson.page.evaluate("""() =>
            [...document.querySelectorAll(".state-link")]
            .map((link) => link.getAttribute("href"))""")
        assert len(links) > 20
        for href in sorted(set(links)):
            lesson.page.evaluate(
                "href => document.querySelector(`.state-link[href='${href}']`).click()",
                href,
            )
            wanted = dict(parse_qsl(href[1:]))
            state = lesson.state() | {"lang": lesson.state()["language"]}
            spelled = {key: in_state(lesson, key) for key in wanted if key in state}
            assert spelled == wanted
