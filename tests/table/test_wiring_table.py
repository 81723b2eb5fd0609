"""The wirings as a page gets them: the runs' own numbers, and where they part."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import load_lesson
from residual_stream.model.wirings import WIRINGS, run_wiring
from residual_stream.table.wirings import DEPTH, wirings_data

DATA = wirings_data(load_lesson(lesson_folder(DEFAULT_LESSON)))
BY_ID = {one["id"]: one for one in DATA["wirings"]}
every_wiring = pytest.mark.parametrize("wiring", WIRINGS)


def entry(wiring, name):
    return next(e for e in BY_ID[wiring]["entries"] if e["name"] == name)


@every_wiring
def test_every_number_is_the_runs_own(wiring, example):
    trace = run_wiring(example, wiring, DEPTH)
    assert [e["name"] for e in BY_ID[wiring]["entries"]] == list(trace)
    for name, value in trace.items():
        assert entry(wiring, name)["value"] == value.tolist()


@every_wiring
def test_a_state_is_what_the_next_block_gets(wiring):
    names = BY_ID[wiring]["states"]
    assert len(names) == 1 + DEPTH
    for k, name in enumerate(names[1:-1], start=1):
        handed_on = entry(wiring, f"blocks.{k}.resid_pre")
        assert handed_on["inputs"] == [name]


def test_only_pre_norms_sum_adds_up(bank):
    """B6: after each add post-norm divides the whole stream."""
    errors = {one: BY_ID[one]["words"][bank]["sum_errors"] for one in WIRINGS}
    assert max(errors.pop("pre_norm")) < 1e-12
    assert all(error > 0.1 for one in errors.values() for error in one)


@every_wiring
def test_the_sum_error_is_of_the_corrections_as_they_were_written(wiring, bank):
    def at(name):
        return np.array(entry(wiring, name)["value"][bank])

    total = at("blocks.0.resid_pre")
    for k in range(DEPTH):
        total = total + at(f"blocks.{k}.attn_out") + at(f"blocks.{k}.mlp_out")
        off = np.abs(at(BY_ID[wiring]["states"][k + 1]) - total).max()
        sent = BY_ID[wiring]["words"][bank]["sum_errors"][k]
        assert_allclose(sent, off, atol=1e-12)


FIRST = {
    "post_norm": "blocks.0.ln1.scale",
    "skip_after_norm": "blocks.0.resid_mid",
    "add_inside": "blocks.0.resid_mid",
}


@pytest.mark.parametrize("wiring", FIRST)
def test_the_first_difference_has_both_values(wiring):
    for token_no, word in enumerate(BY_ID[wiring]["words"]):
        found = word["first_difference"]
        assert found["name"] == FIRST[wiring]
        assert found["index"][0] == token_no
        for key, where in (("pre_norm", "pre_norm"), ("here", wiring)):
            value = entry(where, found["name"])["value"]
            for place in found["index"]:
                value = value[place]
            assert found[key] == value
        assert abs(found["pre_norm"] - found["here"]) > 1e-9


def test_pre_norm_differs_from_itself_nowhere():
    assert {w["first_difference"] for w in BY_ID["pre_norm"]["words"]} == {None}


def test_it_is_plain_data():
    assert len(json.dumps(DATA, allow_nan=False)) < 200_000
