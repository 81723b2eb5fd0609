"""The table for the browser: every cell is the trace's and says where it is from."""

import json
import operator

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers.broken_examples import WHOLE
from helpers.random_examples import random_example
from residual_stream import explain, run
from residual_stream.lesson.example import NamedExample, read_example
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.model.ledger import SUBLAYERS
from residual_stream.table.model import MAX_DEPTH, model_table
from residual_stream.table.texts import check_texts

SETTINGS = {"on": True, "off": False}
both = pytest.mark.parametrize("setting", SETTINGS)


@pytest.fixture(scope="module")
def table(lesson_example):
    """The lesson's table as a browser gets it."""
    return json.loads(json.dumps(model_table(lesson_example), allow_nan=False))


@pytest.fixture(scope="module")
def deep(example):
    return {name: run(example, MAX_DEPTH, value) for name, value in SETTINGS.items()}


def named(example) -> NamedExample:
    """A name for each axis of a random example."""
    sizes = (*example.weights["W_O"].shape, len(example.weights["b_in"]))
    d_head, d_model, d_mlp = (
        tuple({"id": f"{kind}{n}", "ja": "軸", "en": "axis"} for n in range(size))
        for kind, size in zip(("h", "m", "u"), sizes, strict=True)
    )
    return NamedExample(example, 1, d_model, d_head, d_mlp)


def test_the_table_names_everything(table, lesson_example):
    assert list(table) == [
        *("tokens", "focus", "max_depth"),
        *("names", "weights", "runs"),
    ]
    assert table["tokens"] == ["by", "the", "river", "bank"]
    assert table["tokens"][table["focus"]] == "bank"
    assert table["max_depth"] == 12
    assert table["names"] == {
        "d_model": list(lesson_example.axes),
        "d_head": list(lesson_example.head),
        "d_mlp": list(lesson_example.hidden),
    }


@both
def test_every_cell_is_the_trace_s(table, deep, setting):
    entries = table["runs"][setting]["entries"]
    assert [entry["name"] for entry in entries] == list(deep[setting])
    for entry in entries:
        recorded = deep[setting].entries[entry["name"]]
        assert_array_equal(entry["value"], recorded.value)
        assert entry["axes"] == list(recorded.axes)
        assert entry["formula"] == recorded.formula
        assert entry["source"] == recorded.source
        assert entry["place"] == recorded.place


def test_the_weights_are_the_example_s(table, example):
    assert set(table["weights"]) == {f"weights.{name}" for name in example.weights}
    for name, value in example.weights.items():
        weight = table["weights"][f"weights.{name}"]
        assert_array_equal(weight["value"], value)
        assert len(weight["axes"]) == value.ndim


@both
def test_every_depth_is_the_first_part_of_the_deepest(table, example, setting):
    values = {e["name"]: e["value"] for e in table["runs"][setting]["entries"]}
    for depth in range(1, MAX_DEPTH + 1):
        shallow = run(example, depth, SETTINGS[setting])
        assert list(values)[: len(shallow)] == list(shallow)
        for name, value in shallow.items():
            assert_array_equal(values[name], value)


@both
def test_every_word_s_bars_are_measured_on_its_states(table, deep, setting):
    trace, words = deep[setting], table["runs"][setting]["words"]
    assert len(words) == 4
    for place, word in enumerate(words):
        x0 = trace["blocks.0.resid_pre"][place]
        ends = [trace[f"blocks.{b}.resid_post"][place] for b in range(MAX_DEPTH)]
        measured = [end - x0 if setting == "on" else end for end in ends]
        lengths = np.sqrt([v @ v for v in measured])
        assert word["x0_length"] == pytest.approx(np.sqrt(x0 @ x0), abs=1e-12)
        assert_allclose(word["bars"], lengths, rtol=0, atol=1e-12)


@both
def test_every_word_s_corrections_are_named(table, setting):
    written = [f"blocks.{b}.{e}" for b in range(MAX_DEPTH) for _, e in SUBLAYERS]
    for word in table["runs"][setting]["words"]:
        assert word["corrections"] == written


def test_the_running_sum_is_the_input_and_every_correction_so_far(table, deep):
    trace = deep["on"]
    for place, word in enumerate(table["runs"]["on"]["words"]):
        so_far = trace["blocks.0.resid_pre"][place].copy()
        assert_array_equal(word["running"][0], so_far)
        for row, name in zip(word["running"][1:], word["corrections"], strict=True):
            so_far += trace[name][place]
            assert_allclose(row, so_far, rtol=0, atol=1e-12)
        assert len(word["sum_errors"]) == MAX_DEPTH
        assert 0 <= max(word["sum_errors"]) < 1e-12


def test_without_residual_there_is_no_sum(table):
    for word in table["runs"]["off"]["words"]:
        assert word["running"] is None
        assert word["sum_errors"] is None


# ------------------------------------------------------- where a number comes from


def terms(table, setting, name, index):
    """The cells that the table's own pattern names, as the page reads them."""
    entries = {e["name"]: e for e in table["runs"][setting]["entries"]}
    entry = entries[name]
    if not entry["inputs"]:
        return [(name, index)]
    sources, target = entry["pattern"].split(" -> ")
    place = dict(zip(target.split(), index, strict=True))
    found = []
    # an input that may be left out, as the mask, has letters but no name
    letters_of = dict(enumerate(sources.split(", ")))
    for number, origin in enumerate(entry["inputs"]):
        letters = letters_of[number].split()
        value = (entries | table["weights"])[origin]["value"]
        shape = np.shape(value)
        free = [letter for letter in letters if letter not in place]
        sizes = [n for letter, n in zip(letters, shape, strict=True) if letter in free]
        for running in np.ndindex(*sizes):
            here = place | dict(zip(free, running, strict=True))
            found.append((origin, tuple(here[letter] for letter in letters)))
    return found


@both
def test_the_pattern_in_the_table_finds_the_numbers_that_went_in(
    table, example, setting
):
    trace = run(example, 2, SETTINGS[setting])
    kinds = set()
    for name, value in trace.items():
        for index in np.ndindex(value.shape):
            arithmetic = explain(trace, name, index)
            expected = [(t.name, t.index) for group in arithmetic.groups for t in group]
            assert sorted(terms(table, setting, name, index)) == sorted(expected)
        kinds.add(arithmetic.operation)
        row = next(e for e in table["runs"][setting]["entries"] if e["name"] == name)
        assert row["kind"] == arithmetic.operation
    assert len(kinds) > 6


# ------------------------------------------------------------------- other lessons


@pytest.mark.parametrize("depth", [1, 5])
def test_a_lesson_of_other_sizes_has_its_table(depth):
    example = random_example(pos=3, d_model=5, d_head=2, d_mlp=7)
    table = json.loads(json.dumps(model_table(named(example), depth), allow_nan=False))
    assert [len(table["names"][a]) for a in ("d_model", "d_head", "d_mlp")] == [5, 2, 7]
    assert table["max_depth"] == depth
    for setting, value in SETTINGS.items():
        trace, part = run(example, depth, value), table["runs"][setting]
        found = {entry["name"]: entry["value"] for entry in part["entries"]}
        assert list(found) == list(trace)
        assert all(
            map(operator.eq, found.values(), (v.tolist() for v in trace.values()))
        )
        assert len(part["words"]) == 3
        assert {len(word["bars"]) for word in part["words"]} == {depth}
        assert {len(word["corrections"]) for word in part["words"]} == {2 * depth}


def test_a_file_s_names_reach_the_table_in_every_language(tmp_path):
    path = tmp_path / "example.toml"
    path.write_text(WHOLE, encoding="utf-8")
    table = model_table(read_example(path), 2)
    assert table["names"]["d_head"] == [{"id": "h", "ja": "頭", "en": "head"}]
    assert (table["tokens"], table["focus"]) == (["a", "b"], 1)


def test_a_page_s_numbers_and_texts_are_of_one_pair_of_runs(monkeypatch):
    from residual_stream.lesson import lesson
    from residual_stream.page.publication import publish
    from residual_stream.table import model as table

    asked = []

    def counted(*how):
        asked.append(how[1:])
        return run(*how)

    for module in (lesson, table):
        monkeypatch.setattr(module, "run", counted)
    publication = publish(lesson_folder(DEFAULT_LESSON))
    shown = publication.data
    assert asked == [(12, True), (12, False)]
    assert shown["model"] == model_table(publication.lesson.named, 12)
    check_texts(publication.lesson)
    assert len(asked) == 4
