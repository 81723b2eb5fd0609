"""What a placeholder says: every form against the trace, and what it can't say."""

import shutil

import numpy as np
import pytest

from residual_stream import run
from residual_stream.lesson.files import LessonError
from residual_stream.lesson.fills import FillError, Place
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import load_lesson
from residual_stream.model.arithmetic import percent
from residual_stream.table.texts import check_texts

BANK, RIVER = 3, 2


@pytest.fixture(scope="module")
def on(example):
    return run(example, 4)


@pytest.fixture(scope="module")
def off(example):
    return run(example, 4, residual=False)


@pytest.fixture(scope="module")
def place(lesson_example, on, off):
    """`bank` in block 2 of four, residual on."""
    return Place(lesson_example, {"on": on, "off": off}, "on", BANK, 1)


def read_back(text: str) -> float:
    """The number that a reader sees."""
    assert "-" not in text
    number = float(text.removesuffix(" %").replace("−", "-"))
    assert not (number == 0 and text.startswith("−"))
    return number / 100 if text.endswith(" %") else number


def test_the_words_of_a_place(place):
    words = {"token": "bank", "block": "2", "depth": "4", "x_n": "x₄"}
    assert {word: place.fill(word) for word in words} == words


@pytest.mark.parametrize(("depth", "name"), [(1, "x₁"), (12, "x₁₂")])
def test_the_last_state_s_name_follows_the_depth(lesson_example, depth, name):
    trace = run(lesson_example.example, depth)
    place = Place(lesson_example, {"on": trace, "off": trace}, "off", BANK, 0)
    assert place.fill("x_n") == name


# the placeholder, and where the trace of "on" or "off" has it
CELLS = {
    "resid_pre.geography": ("on", "blocks.1.resid_pre", 0),
    "resid_post.identity": ("on", "blocks.1.resid_post", 3),
    "attn_out.finance": ("on", "blocks.1.attn_out", 1),
    "ln2.normalized.function": ("on", "blocks.1.ln2.normalized", 2),
    "attn.pattern.river": ("on", "blocks.1.attn.pattern", RIVER),
    "attn.scores.by": ("on", "blocks.1.attn.scores", 0),
    "attn.q.money": ("on", "blocks.1.attn.q", 1),
    "attn.z.place": ("on", "blocks.1.attn.z", 0),
    "mlp.pre.riverbank": ("on", "blocks.1.mlp.pre", 2),
    "mlp.post.freshnoun": ("on", "blocks.1.mlp.post", 5),
    "blocks.0.resid_pre.identity": ("on", "blocks.0.resid_pre", 3),
    "blocks.3.mlp_out.geography": ("on", "blocks.3.mlp_out", 0),
    "embed.finance": ("on", "embed", 1),
    "pos_embed.finance": ("on", "pos_embed", 1),
    "last.geography": ("on", "blocks.3.resid_post", 0),
    "on.blocks.2.resid_mid.finance": ("on", "blocks.2.resid_mid", 1),
    "off.blocks.2.resid_mid.finance": ("off", "blocks.2.resid_mid", 1),
    "off.resid_post.identity": ("off", "blocks.1.resid_post", 3),
    "off.last.identity": ("off", "blocks.3.resid_post", 3),
    "off.attn.pattern.river": ("off", "blocks.1.attn.pattern", RIVER),
    "ln1.scale": ("on", "blocks.1.ln1.scale", None),
    "off.blocks.3.ln2.scale": ("off", "blocks.3.ln2.scale", None),
}


@pytest.mark.parametrize(("placeholder", "cell"), CELLS.items())
def test_a_name_and_a_label_are_one_cell_of_the_trace(place, placeholder, cell):
    setting, name, column = cell
    row = np.atleast_1d(place.traces[setting][name][BANK])
    value = row[column or 0]
    assert abs(read_back(place.fill(placeholder)) - value) <= 0.05 + 1e-12
    for decimals in range(10):
        text = place.fill(f"{placeholder} | {decimals}")
        assert abs(read_back(text) - value) <= 0.5 * 10**-decimals + 1e-12
        assert len(text.partition(".")[2]) == decimals
    share = place.fill(f"{placeholder} | %")
    assert share.endswith(" %")
    if share not in ("< 0.5 %", "> 99.5 %"):
        assert "." not in share
        assert abs(read_back(share) - value) <= 0.005 + 1e-12


def test_a_number_has_one_decimal_and_the_real_minus(place):
    assert place.fill("blocks.0.attn_out.finance") == "−0.3"
    assert place.fill("blocks.0.resid_mid.finance") == "0.0"  # −0.02 has no minus
    assert place.fill("blocks.0.resid_pre.identity") == "1.0"
    assert place.fill("blocks.0.attn.pattern.river | %") == "94 %"


SHARES = {
    0.0: "0 %",
    1e-9: "< 0.5 %",
    0.0049: "< 0.5 %",
    0.005: "1 %",
    0.5: "50 %",
    0.995: "100 %",
    0.9951: "> 99.5 %",
    1.0: "100 %",
}


@pytest.mark.parametrize(("share", "text"), SHARES.items())
def test_more_than_nothing_is_not_0_per_cent_nor_less_than_all_100(share, text):
    assert percent(share) == text


def test_a_word_that_is_looked_at_a_little_is_not_said_to_get_nothing(place, on):
    assert 0 < on["blocks.0.attn.pattern"][BANK, 1] < 0.005
    assert place.fill("blocks.0.attn.pattern.the | %") == "< 0.5 %"


def test_the_top_is_the_label_of_the_largest_value(place, on, lesson_example):
    words = lesson_example.tokens
    row = on["blocks.1.attn.pattern"][BANK]
    assert place.fill("top attn.pattern") == words[row.argmax()] == "river"
    assert read_back(place.fill("top_value attn.pattern | 9")) == round(row.max(), 9)
    hidden = on["blocks.1.mlp.post"][BANK]
    unit = lesson_example.hidden[hidden.argmax()]["id"]
    assert place.fill("top mlp.post") == unit
    assert place.fill("top blocks.0.resid_pre") == "identity"
    assert place.fill("top off.blocks.0.resid_pre") == "identity"


def test_lengths_are_euclidean(place, on, off):
    for placeholder, vector in {
        "length resid_post": on["blocks.1.resid_post"][BANK],
        "length last": on["blocks.3.resid_post"][BANK],
        "length off.last": off["blocks.3.resid_post"][BANK],
        "length attn.z": on["blocks.1.attn.z"][BANK],
    }.items():
        length = np.sqrt(vector @ vector)
        assert abs(read_back(place.fill(f"{placeholder} | 9")) - length) < 1e-9


@pytest.mark.parametrize("setting", ["on", "off"])
def test_what_moved_is_the_difference_from_the_input(place, setting):
    trace = place.traces[setting]
    vector = trace["blocks.1.resid_mid"][BANK] - trace["blocks.0.resid_pre"][BANK]
    text = place.fill(f"moved {setting}.resid_mid | 9")
    assert abs(read_back(text) - np.sqrt(vector @ vector)) < 1e-9
    assert place.fill("moved blocks.0.resid_pre") == "0.0"


def test_a_place_of_residual_off_reads_that_run(lesson_example, on, off):
    place = Place(lesson_example, {"on": on, "off": off}, "off", RIVER, 2)
    value = off["blocks.2.resid_post"][RIVER, 0]
    assert read_back(place.fill("resid_post.geography | 9")) == round(value, 9)
    assert place.fill("on.last.geography") != place.fill("last.geography")
    assert place.fill("token") == "river"


# -------------------------------------------------------------------------- refused

REFUSED = {
    "": "{{}} is not of a known form",
    "depht": "needs a value and a label: NAME.LABEL",
    "last": "needs a value and a label: NAME.LABEL",
    "resid_past.geography": "'resid_past' is no value of the trace",
    "resid_post.geografy": "'geografy' is no label of resid_post: geography, finance",
    "resid_post": "needs a value and a label",
    "attn.pattern": "'attn' is no value of the trace",
    "attn.pattern.sea": "'sea' is no label of attn.pattern: by, the, river, bank",
    "mlp.pre.geography": "'geography' is no label of mlp.pre: place, money",
    "blocks.4.resid_post.geography": "'blocks.4.resid_post' is no value",
    "blocks.-1.resid_post.geography": "'blocks.-1.resid_post' is no value",
    "off.blocks.9.resid_post.geography": "is no value of the trace",
    "maybe.last.geography": "'maybe.last' is no value of the trace",
    "ln3.scale": "'ln3.scale' is no value of the trace",
    "top": "needs a value and a label",
    "top sea": "'sea' is no value of the trace",
    "bottom attn.pattern": "{{bottom attn.pattern}} is not of a known form",
    "length": "needs a value and a label",
    "length resid_past": "'resid_past' is no value of the trace",
    "weights.W_Q.geography": "'weights.W_Q' is no value of the trace",
    "resid_post.geography | 12": "is not of a known form",
    "resid_post.geography | x": "is not of a known form",
    "resid_post.geography|2": "is not of a known form",
    "token | 2": "needs a value and a label",
    "__class__": "needs a value and a label",
    "x<b>": "{{x<b>}} is not of a known form",
    "moved attn.q": "attn.q is no state of the stream",
    "moved mlp.post": "mlp.post is no state of the stream",
    "moved ln1.scale": "ln1.scale is no state of the stream",
    "top ln1.scale": "ln1.scale is one number",
    "top_value off.ln2.scale": "off.ln2.scale is one number",
}


@pytest.mark.parametrize(("placeholder", "says"), REFUSED.items())
def test_what_names_nothing_is_refused(place, placeholder, says):
    with pytest.raises(FillError) as caught:
        place.fill(placeholder)
    assert says in str(caught.value)


@pytest.mark.parametrize("placeholder", ["moved attn.q", "top sea", "x", "last.sea"])
def test_a_lesson_with_such_a_one_is_refused_with_file_and_line(tmp_path, placeholder):
    folder = tmp_path / "lesson"
    shutil.copytree(lesson_folder(DEFAULT_LESSON), folder)
    for language in ("ja", "en"):
        path = folder / f"{language}.md"
        text = path.read_text(encoding="utf-8")
        added = text + f"\n## reading more: More\n\n{{{{{placeholder}}}}}\n"
        path.write_text(added, encoding="utf-8")
    line_no = (folder / "en.md").read_text(encoding="utf-8").count("\n") - 2
    lesson = load_lesson(folder)
    with pytest.raises(LessonError) as caught:
        check_texts(lesson)
    assert str(caught.value).startswith(f"{folder / 'en.md'}:{line_no}: reading more: ")
    assert str(caught.value).isprintable()
