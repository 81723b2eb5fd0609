"""The trace: each value with its origin, and nobody can change it."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers.random_examples import random_example
from residual_stream import Trace, run
from residual_stream.model import block, ops

STREAM = ("pos", "d_model")

# -------------------------------------------------------------------- where it is from


def test_every_value_has_a_formula(trace):
    assert all(entry.formula.strip() for entry in trace.entries.values())


def test_the_source_is_the_line_that_asked_for_the_value():
    x = Trace().given("x", STREAM, "x", np.zeros((2, 3)))
    assert x.source == 'x = Trace().given("x", STREAM, "x", np.zeros((2, 3)))'
    assert x.place.startswith("test_trace.py:")


def test_the_source_is_a_line_of_block_py(trace):
    lines = Path(block.__file__).read_text("utf-8").splitlines()
    for entry in trace.entries.values():
        file, _, line_no = entry.place.partition(":")
        assert file == "block.py"
        assert lines[int(line_no) - 1].strip() in entry.source


def test_the_source_says_what_was_computed(trace):
    for name, entry in trace.entries.items():
        assert entry.operation.__name__ in entry.source, name


# ------------------------------------------------------------- nobody can change it


def test_values_are_read_only(trace):
    for entry in chain(trace.entries.values(), trace.weights.values()):
        with pytest.raises(ValueError, match="read-only"):
            entry.value[...] = 0


def test_a_trace_keeps_its_numbers_when_the_example_changes():
    example = random_example()
    trace = run(example, 1)
    before = {name: value.copy() for name, value in trace.items()}
    for array in (example.embed, example.pos_embed, *example.weights.values()):
        np.add(array, 1, out=array)
    for name, value in trace.items():
        assert_array_equal(value, before[name])
    assert_array_equal(trace.weights["weights.W_Q"].value + 1, example.weights["W_Q"])


def test_entries_cannot_be_replaced(trace):
    for table in (trace, trace.entries, trace.weights):
        with pytest.raises(TypeError, match="assignment"):
            table["embed"] = np.zeros((4, 4))


# ----------------------------------------------------------------------- filling one


def test_a_name_is_taken_once():
    trace = Trace()
    x = trace.given("x", STREAM, "x", np.zeros((2, 3)))
    trace.weight("W", ("d_model", "d_head"), np.zeros((3, 5)))
    with pytest.raises(ValueError, match=r"\Ax: recorded twice; .*\Z"):
        trace.given("x", STREAM, "x", np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"\Ax: recorded twice; .*\Z"):
        trace.record("x", STREAM, "x", ops.carry, x)
    with pytest.raises(ValueError, match=r"\Aweights\.W: recorded twice; .*\Z"):
        trace.weight("W", ("d_model", "d_head"), np.zeros((3, 5)))


def test_an_input_must_be_of_the_same_trace():
    elsewhere = Trace().given("x", STREAM, "x", np.zeros((2, 3)))
    for trace in (Trace(), run(random_example(), 1)):
        with pytest.raises(
            ValueError, match=r"\Ay: its input 'x' is not in this trace"
        ):
            trace.record("y", STREAM, "x", ops.carry, elsewhere)


def test_every_axis_has_one_name():
    line = r"\Ax: 1 axes named \(pos\) for a value that has 2; .*\Z"
    with pytest.raises(ValueError, match=line):
        Trace().given("x", ("pos",), "x", np.zeros((2, 3)))


# ------------------------------------------------------------------------ reading it


def test_an_unknown_name_is_told_where_the_trace_starts_and_ends(trace):
    line = "'resid_mid'; this trace goes from embed to blocks.2.resid_post"
    with pytest.raises(KeyError, match=line):
        trace["resid_mid"]


def test_until_is_the_first_part_with_the_same_entries(trace):
    last = "blocks.1.attn.pattern"
    part = trace.until(last)
    names = list(trace)
    assert list(part) == names[: names.index(last) + 1]
    assert all(part.entries[name] is trace.entries[name] for name in part)
    assert part.weights == trace.weights
    with pytest.raises(KeyError, match="this trace goes from embed to"):
        trace.until("no such value")


def test_what_is_added_to_a_part_is_not_in_the_whole():
    whole = run(random_example(), 1)
    part = whole.until("embed")
    part.weight("extra", ("d_model",), np.zeros(5))
    part.given("extra", ("d_model",), "0", np.zeros(5))
    assert "extra" not in whole
    assert "weights.extra" not in whole.weights
