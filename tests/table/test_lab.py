"""The lab: whatever a browser sends, an answer comes, and it is what `run` computes."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from residual_stream import Parts, run
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lab_settings import (
    LabError,
    default_settings,
    read_settings,
)
from residual_stream.lesson.lesson import Lesson, load_lesson
from residual_stream.table.lab import (
    TOO_LARGE,
    answer,
    lab_data,
    read_text,
    run_settings,
    start,
)

LESSON: Lesson = load_lesson(lesson_folder(DEFAULT_LESSON))
WORDS = LESSON.named.tokens

numbers = st.floats(-1000, 1000) | st.integers(-1000, 1000)
vectors = st.none() | st.lists(numbers, min_size=4, max_size=4)
varied = st.fixed_dictionaries(
    {"seed": st.integers(0, 9999), "amount": st.floats(0, 1)}
)


@st.composite
def payloads(draw, deepest=12):
    """Settings that a form can send, all of them allowed."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8))
    depth = draw(st.integers(1, deepest))
    flags = ("residual", "attention", "ffn", "positions")
    return {
        "words": words,
        "vectors": draw(st.lists(vectors, min_size=len(words), max_size=len(words))),
        "depth": depth,
        "norm": draw(st.sampled_from(["rms", "layer", "none"])),
        "weights": draw(st.sampled_from(["lesson", "cancelling"])),
        "varied": draw(st.none() | varied),
        "follow": draw(st.integers(0, len(words) - 1)),
        "block": draw(st.integers(1, depth)),
        **{flag: draw(st.booleans()) for flag in flags},
    }


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def broken_payloads(draw):
    """Allowed settings with one of them, or a part of it, replaced by anything."""
    payload = draw(payloads())
    name = draw(st.sampled_from([*payload, "other"]))
    payload[name] = draw(anything | st.just([draw(anything)] * len(payload["words"])))
    return payload


def is_sound(answered) -> bool:
    """One line of error, or numbers that JSON can carry."""
    text = json.dumps(answered, allow_nan=False)
    if "error" in answered:
        line = answered["error"]
        return bool(line) and line.isprintable() and len(line) < 400
    states = np.array(answered["states"])
    return len(text) < 400_000 and bool(np.abs(states).max() <= TOO_LARGE)


# ------------------------------------------------------------- nothing breaks it


@given(payloads(deepest=96))
@settings(max_examples=200)
def test_all_that_a_form_can_send_is_answered(payload):
    answered = answer(LESSON, payload)
    assert is_sound(answered)
    # the only reason to refuse allowed settings is that the numbers grow too large
    assert answered.get("key", "lab_error_large") == "lab_error_large"


@given(anything | broken_payloads())
@settings(max_examples=200)
def test_hostile_payloads_get_one_line(payload):
    assert is_sound(answer(LESSON, payload))


HOSTILE = [
    {"words": []},
    {"words": ["bank"] * 9},
    {"words": ["<img src=x onerror=alert(1)>"]},
    {"words": "bank"},
    {"words": [["bank"]]},
    {"vectors": [[1, 2, 3, 4]]},
    {"vectors": [None, None, None, [1, 2, 3]]},
    {"vectors": [None, None, None, [math.nan, 0, 0, 0]]},
    {"vectors": [None, None, None, [math.inf, 0, 0, 0]]},
    {"vectors": [None, None, None, [10**5000, 0, 0, 0]]},
    {"vectors": [None, None, None, [True, 0, 0, 0]]},
    {"depth": 0},
    {"depth": 97},
    {"depth": 3.0},
    {"depth": True},
    {"depth": 10**5000},
    {"residual": "off"},
    {"norm": "batch"},
    {"norm": ["rms"]},
    {"weights": "../../secret"},
    {"varied": {"seed": -1, "amount": 0.1}},
    {"varied": {"seed": 1, "amount": 1.5}},
    {"varied": {"seed": 1}},
    {"follow": 4},
    {"block": 4},
    {"__class__": 1},
    {"a\nb": 1},
    [],
    None,
    "words",
]


@pytest.mark.parametrize("payload", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_not_allowed_is_named_in_one_line(payload):
    answered = answer(LESSON, payload)
    assert is_sound(answered)
    assert ", needs " in answered["error"]


# --------------------------------------------------------- it is the lesson's model


def test_without_any_setting_it_is_the_lessons_own_model(example):
    trace, answered = run(example, 3), answer(LESSON, {})
    assert answered["states"][0] == trace["blocks.0.resid_pre"].tolist()
    assert answered["states"][3] == trace["blocks.2.resid_post"].tolist()
    assert answered == lab_data(LESSON)["answer"]


@given(payloads(deepest=5))
def test_it_computes_what_run_computes(payload):
    payload["varied"] = None
    wanted = read_settings(LESSON.named, payload)
    parts = Parts(wanted.norm, wanted.attention, wanted.ffn, wanted.positions)
    trace = run_settings(LESSON, wanted)
    with np.errstate(all="ignore"):
        again = run(start(LESSON, wanted), wanted.depth, wanted.residual, parts)
    assert list(trace) == list(again)
    for name in trace:
        assert_array_equal(trace[name], again[name])


def test_varied_by_nothing_is_the_same_with_every_part_left_out_too():
    for left_out in ("attention", "ffn", "positions", "residual"):
        same = {"depth": 4, left_out: False}
        varied = same | {"varied": {"seed": 3, "amount": 0.0}}
        assert answer(LESSON, varied)["states"] == answer(LESSON, same)["states"]


def test_a_word_that_stands_twice_differs_by_its_place_alone():
    words = ["river", "bank", "bank"]
    without = {"words": words, "positions": False}
    states = np.array(answer(LESSON, without)["states"])
    assert_array_equal(states[:, 1], states[:, 2])
    with_places = np.array(answer(LESSON, {"words": words})["states"])
    assert np.abs(with_places[:, 1] - with_places[:, 2]).max() > 0.01


def test_an_edited_vector_is_where_its_word_starts(example):
    vectors = [None, None, None, [0.5, 0, 0, -1000]]
    answered = answer(LESSON, {"vectors": vectors, "positions": False})
    assert answered["states"][0][3] == [0.5, 0.0, 0.0, -1000.0]
    assert answered["states"][0][2] == example.embed[2].tolist()


def test_the_default_words_vectors_are_not_written_into(example):
    before = example.embed.copy()
    answer(LESSON, {"vectors": [[9, 9, 9, 9]] * 4})
    assert_array_equal(LESSON.named.example.embed, before)


def test_places_beyond_the_lessons_last_start_again(example):
    start_of = start(LESSON, read_settings(LESSON.named, {"words": ["by"] * 8}))
    assert_array_equal(start_of.pos_embed[4:], example.pos_embed)


def test_cancelling_weights_take_the_identity_of_bank_away():
    """G1: the input is still a term of the sum, and yet the sum has none of it."""
    last = answer(LESSON, {"weights": "cancelling", "depth": 12})["states"][-1][3]
    assert abs(last[3]) < 0.05


# -------------------------------------------------------------- what is sent with it


@pytest.mark.parametrize("varied", [None, {"seed": 1, "amount": 0.2}])
@pytest.mark.parametrize("block", [1, 2, 5])
def test_the_block_that_is_looked_into_can_be_worked_out(block, varied):
    """Every input is there: an entry of the block, a weight, or a known state."""
    answered = answer(LESSON, {"depth": 5, "block": block, "varied": varied})
    names = {entry["name"] for entry in answered["entries"]}
    states = {"blocks.0.resid_pre", *(f"blocks.{k}.resid_post" for k in range(5))}
    needed = {name for entry in answered["entries"] for name in entry["inputs"]}
    assert needed <= names | states | set(answered["weights"])
    assert f"blocks.{block - 1}.attn.pattern" in names
    assert len(answered["looks"]) == 5


def test_the_account_of_the_followed_word_adds_up():
    answered = answer(LESSON, {"depth": 7, "follow": 1})
    word, states = answered["word"], np.array(answered["states"])
    total = states[0][1] + np.sum(word["deltas"], axis=0)
    assert np.allclose(total, states[-1][1], atol=1e-12)
    assert len(word["bars"]) == 7
    assert max(word["sum_errors"]) < 1e-12


def test_numbers_that_grow_too_large_are_refused_with_the_block():
    answered = answer(LESSON, {"norm": "none", "depth": 96})
    number = answered["values"]["block"]
    assert f"in block {number} a number" in answered["error"]
    assert answered["key"] == "lab_error_large"
    assert "error" in answer(LESSON, {"norm": "none", "depth": number})
    assert "error" not in answer(LESSON, {"norm": "none", "depth": number - 1})


def test_depth_96_is_answered_and_small():
    deep = {"depth": 96, "words": ["bank"] * 8, "block": 96}
    answered = answer(LESSON, deep)
    assert len(answered["states"]) == 97
    assert len(json.dumps(answered)) < 250_000


def test_a_lesson_without_cancelling_weights_says_so(tmp_path):
    lesson = Lesson(**(vars(LESSON) | {"folder": tmp_path}))
    assert lab_data(lesson)["cancelling"] is False
    assert "use lesson" in answer(lesson, {"weights": "cancelling"})["error"]
    (tmp_path / "weights-cancelling.toml").write_text("[weights]\nW_Z = 1\n")
    assert "W_Z" in answer(lesson, {"weights": "cancelling"})["error"]


def test_settings_are_frozen():
    chosen = default_settings(LESSON.named)
    with pytest.raises(AttributeError):
        chosen.depth = 5
    with pytest.raises(LabError):
        read_settings(LESSON.named, {"depth": 1000})


def test_a_text_with_weights_that_a_lesson_has_not_is_refused(tmp_path):
    text = "weights*cancelling"
    assert read_text(LESSON, text).weights == "cancelling"
    with pytest.raises(LabError, match="has no weights-cancelling"):
        read_text(replace(LESSON, folder=tmp_path), text)
