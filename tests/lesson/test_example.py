"""The hand-set example says what the lesson publishes about it."""

import re
import tomllib
from decimal import Decimal

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.model.arithmetic import number

FILE = lesson_folder(DEFAULT_LESSON) / "example.toml"
# exact decimals: in binary, 0.4 − 0.1 is not quite 0.3
EXACT = tomllib.loads(FILE.read_text("utf-8"), parse_float=Decimal)
GEOGRAPHY, FINANCE, FUNCTION, IDENTITY = range(4)

# published to one decimal: what the stream of `bank` gets and becomes
PUBLISHED = {
    "C2 the input": ("blocks.0.resid_pre", [0.3, 0.3, 0.0, 1.0]),
    "C3 attention writes": ("blocks.0.attn_out", [0.7, -0.3, -0.2, 0.0]),
    "C3 the stream becomes": ("blocks.0.resid_mid", [1.0, 0.0, -0.2, 1.0]),
    "C4 the FFN writes": ("blocks.0.mlp_out", [0.3, -0.1, -0.2, 0.2]),
    "C4 block 1": ("blocks.0.resid_post", [1.3, -0.1, -0.4, 1.2]),
    "C5 block 2": ("blocks.1.resid_post", [2.3, -0.6, -0.6, 1.4]),
    "C6 block 3": ("blocks.2.resid_post", [3.4, -1.2, -0.8, 1.5]),
}


def flat(numbers):
    if not isinstance(numbers, list):
        return [Decimal(numbers)]
    return [n for item in numbers for n in flat(item)]


# -------------------------------------------------------------------- 1. the numbers


def test_the_sentence_is_by_the_river_bank(lesson_example):
    assert lesson_example.tokens == ("by", "the", "river", "bank")
    assert lesson_example.tokens[lesson_example.focus] == "bank"
    assert lesson_example.example.axes == (
        "geography",
        "finance",
        "function",
        "identity",
    )


@pytest.mark.parametrize(
    ("name", "published"), PUBLISHED.values(), ids=PUBLISHED.keys()
)
def test_the_computed_values_round_to_the_published_ones(trace, bank, name, published):
    computed = trace[name][bank]
    assert [number(n, decimals=1) for n in computed] == [
        number(n, decimals=1) for n in published
    ]
    assert np.abs(computed - published).max() <= 0.05


def test_attention_leaves_the_identity_as_it_was(trace, bank):
    """C3: the fourth stays 1."""
    assert number(trace["blocks.0.resid_mid"][bank, IDENTITY], decimals=1) == "1.0"


# ------------------------------------------------------------------------ 2. the look


def test_bank_looks_mostly_at_river(trace, bank, river):
    shares = np.array([trace[f"blocks.{n}.attn.pattern"][bank] for n in range(3)])
    assert_array_equal(shares.argmax(axis=-1), [river] * 3)
    assert (shares[:, river] >= 0.5).all()
    assert shares[0, river] >= 0.75


# ------------------------------------------------------------------ 3. residual off


def test_without_residual_the_length_stays_about_0_4(deep_trace_off, bank):
    """D3"""
    states = np.array(
        [deep_trace_off[f"blocks.{n}.resid_post"][bank] for n in range(6)]
    )
    lengths = np.sqrt((states**2).sum(axis=-1))
    assert (lengths >= 0.35).all()
    assert (lengths <= 0.45).all()


def test_without_residual_the_identity_gets_weak(deep_trace_off, bank):
    """D3"""
    x0 = deep_trace_off["blocks.0.resid_pre"][bank]
    last = deep_trace_off["blocks.5.resid_post"][bank]
    assert abs(last[IDENTITY]) < x0[IDENTITY] / 2


# ----------------------------------------------------------------------- 4. readable


def test_every_weight_is_a_multiple_of_0_05_and_most_are_zero():
    weights = [n for matrix in EXACT["weights"].values() for n in flat(matrix)]
    assert all(n % Decimal("0.05") == 0 for n in weights)
    assert sum(n == 0 for n in weights) > len(weights) / 2


def lines_of_weights():
    """The lines of the table [weights], each with the reason beside or above it."""
    lines = FILE.read_text("utf-8").splitlines()
    above = ""
    for line in lines[lines.index("[weights]") + 1 :]:
        if re.match(r"\[[a-z]", line):  # the next table
            return
        code, _, beside = line.partition("#")
        yield code, beside or above
        above = beside if not code.strip() else ""


def test_every_line_with_a_weight_says_why():
    checked = 0
    for code, reason in lines_of_weights():
        if any(float(n) for n in re.findall(r"(?<!\w)[-+]?\d+\.?\d*", code)):
            checked += 1
            assert len(reason.strip()) >= 3, f"no reason: {code.strip()}"
    assert checked >= 6  # W_Q, W_K, W_V, W_O, W_in and W_out have one each at least


def test_words_are_what_their_meaning_leads_one_to_expect(lesson_example, river):
    embed = lesson_example.example.embed
    by, the = (lesson_example.tokens.index(word) for word in ("by", "the"))
    assert embed[river].argmax() == np.abs(embed[river]).argmax() == GEOGRAPHY
    assert embed[river, FINANCE] <= 0
    for word in (by, the):
        assert embed[word].argmax() == np.abs(embed[word]).argmax() == FUNCTION


def test_the_ffn_expands_four_to_eight_and_names_each_unit(lesson_example):
    assert lesson_example.example.weights["W_in"].shape == (4, 8)
    assert lesson_example.example.weights["W_out"].shape == (8, 4)
    for language in ("id", "ja", "en"):
        assert len({unit[language] for unit in lesson_example.hidden}) == 8


def test_the_norm_has_no_gain(lesson_example, trace):
    """It only rescales: each normalised vector has the mean square 1."""
    assert not {"gain", "bias"} & lesson_example.example.weights.keys()
    for name in trace:
        if name.endswith(".normalized"):
            mean_square = (trace[name] ** 2).mean(axis=-1)
            assert mean_square == pytest.approx([1, 1, 1, 1], abs=1e-3)


# ------------------------------------------------------------------------- 5. the input


def test_the_input_of_bank_is_exactly_what_is_published():
    place = EXACT["tokens"].index("bank")
    word, position = EXACT["embed"]["bank"], EXACT["positions"][place]
    total = [a + b for a, b in zip(flat(word), flat(position), strict=True)]
    assert total == [Decimal("0.3"), Decimal("0.3"), 0, 1]


def test_positions_are_small_beside_the_words(lesson_example):
    words, positions = (
        np.linalg.norm(vectors, axis=-1)
        for vectors in (lesson_example.example.embed, lesson_example.example.pos_embed)
    )
    assert positions.max() > 0
    assert positions.max() <= words.min() / 2
