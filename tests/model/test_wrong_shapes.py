"""Shapes that do not fit: one line that names both, and the cure."""

import re
from dataclasses import replace

import numpy as np
import pytest

from helpers.random_examples import random_example
from residual_stream import Trace, run
from residual_stream.model import ops

Z = np.zeros
MISFITS = {
    "a correction of another width": lambda: ops.add(Z([2, 3]), Z([2, 5])),
    "a correction for one word too many": lambda: ops.add(Z([2, 3]), Z([1, 3])),
    "one scale for all": lambda: ops.divide(Z([2, 3]), Z([1])),
    "a gain of another width": lambda: ops.rms_norm(Z([2, 3]), Z([5])),
    "a bias of another width": lambda: ops.layer_norm(Z([2, 3]), Z([3]), Z([5])),
    "a weight of another height": lambda: ops.project(Z([2, 3]), Z([5, 7])),
    "a weight that is no matrix": lambda: ops.project(Z([2, 3]), Z([3, 5, 7])),
    "a bias as long as the input": lambda: ops.project(Z([2, 3]), Z([3, 5]), Z([3])),
    "queries and keys of two widths": lambda: ops.attention_scores(
        Z([2, 3]), Z([2, 5])
    ),
    "queries and keys of other heads": lambda: ops.attention_scores(
        Z([2, 3, 7]), Z([5, 3, 7])
    ),
    "a mask with queries and keys swapped": lambda: ops.attention_scores(
        Z([2, 3]), Z([5, 3]), Z([5, 2])
    ),
    "a mask with one row a query": lambda: ops.attention_scores(
        Z([2, 3]), Z([5, 3]), Z([2])
    ),
    "a mask that would make more heads": lambda: ops.attention_scores(
        Z([2, 3]), Z([5, 3]), Z([7, 1, 1])
    ),
    "queries that are one number": lambda: ops.attention_scores(Z([]), Z([5, 3])),
    "a query and a key alone": lambda: ops.attention_scores(Z([3]), Z([3])),
    "a key alone": lambda: ops.attention_scores(Z([2, 3]), Z([3])),
    "a head of no width": lambda: ops.attention_scores(Z([2, 0]), Z([5, 0])),
    "a pattern that is one row": lambda: ops.mix(Z([3]), Z([3, 5])),
    "an input that is one number": lambda: ops.project(Z([]), Z([3, 5])),
    "a weight that is one number": lambda: ops.project(Z([2, 3]), Z([])),
    "a mask for other heads": lambda: ops.attention_scores(
        Z([2, 3, 7]), Z([2, 5, 7]), Z([11, 3, 5])
    ),
    "a value too few": lambda: ops.mix(Z([2, 3]), Z([2, 5])),
    "values of other heads": lambda: ops.mix(Z([2, 3, 7]), Z([5, 7, 11])),
}
ONE_INPUT = {
    "the sum of two numbers": lambda: ops.add(Z([]), Z([])),
    "a number divided": lambda: ops.divide(Z([]), Z([])),
    "the size of a number": lambda: ops.rms_scale(Z([])),
    "the size of no number": lambda: ops.rms_scale(Z([2, 0])),
    "a number centred": lambda: ops.centre(Z([])),
    "nothing centred": lambda: ops.centre(Z([2, 0])),
    "a number normalised": lambda: ops.rms_norm(Z([])),
    "a number normalised the other way": lambda: ops.layer_norm(3),
    "shares of a number": lambda: ops.softmax(Z([])),
    "shares along no axis": lambda: ops.softmax(Z([2, 3]), axis=2),
    "the larger of 0 and a number": lambda: ops.relu(-1.0),
}
NO_NUMBERS = {
    "a text": (lambda: ops.add("x", Z([2])), "add: x holds <U1; give real numbers"),
    "nothing": (lambda: ops.mix(Z([2, 2]), None), "mix: v holds object; give real"),
    "complex numbers": (
        lambda: ops.project(Z([2]), weight=1j * Z([2, 2])),
        "project: weight holds complex128; give real numbers",
    ),
    "ragged rows": (lambda: ops.softmax([[1], [2, 3]]), "softmax: scores is no array"),
    "a complex gain": (lambda: ops.rms_norm([1], [1j]), "rms_norm: gain holds complex"),
    "a complex stream": (lambda: ops.layer_norm([1j]), "layer_norm: x holds complex"),
    "a mask of whole numbers": (
        lambda: ops.attention_scores([[1.0]], [[1.0]], [[1]]),
        "attention_scores: mask holds whole numbers, int64; give booleans",
    ),
}
SHAPE = r"\[(?:\d+(?:, \d+)*)?\]"


@pytest.mark.parametrize("misfit", MISFITS.values(), ids=MISFITS.keys())
def test_a_misfit_is_named_in_one_line_with_both_shapes_and_the_cure(misfit):
    line = rf"\A[a-z_]+: [\w ]+ has shape {SHAPE} and [\w ]+ {SHAPE}; .{{20,}}\Z"
    with pytest.raises(ValueError, match=line):
        misfit()


@pytest.mark.parametrize("misfit", ONE_INPUT.values(), ids=ONE_INPUT.keys())
def test_an_input_of_too_few_axes_is_named_in_one_line_with_its_shape(misfit):
    line = rf"\A[a-z_]+: [\w ]+ has shape {SHAPE}; .{{16,}}\Z"
    with pytest.raises(ValueError, match=line):
        misfit()


@pytest.mark.parametrize(("call", "says"), NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_what_is_not_made_of_real_numbers_is_refused_in_one_line(call, says):
    with pytest.raises(ValueError, match=rf"\A{re.escape(says)}[^\n]*\Z"):
        call()


def test_an_operation_refuses_within_a_trace_too():
    trace = Trace()
    q, k = (trace.given(name, ("d_head",), name, Z([3])) for name in "qk")
    with pytest.raises(ValueError, match=rf"\Aattention_scores: q has .* k {SHAPE}; g"):
        trace.record("scores", ("pos",), "q k", ops.attention_scores, q, k)


def test_the_shapes_are_named_as_they_are():
    with pytest.raises(
        ValueError, match=r"the stream .*\[2, 3\] .*correction \[2, 5\];"
    ):
        ops.add(Z([2, 3]), Z([2, 5]))
    with pytest.raises(ValueError, match=r"the input .*\[2, 3\] .*weight \[5, 7\];"):
        ops.project(Z([2, 3]), Z([5, 7]))


def test_an_example_that_does_not_fit_together_is_refused_by_a_run():
    fits = random_example(pos=3, d_model=5, d_mlp=7)
    with pytest.raises(ValueError, match=r"\A.*\[3, 5\].*\[2, 5\]; .*\Z"):
        run(replace(fits, pos_embed=fits.pos_embed[:2]))
    narrow = {**fits.weights, "W_in": fits.weights["W_in"][:3]}
    with pytest.raises(ValueError, match=r"\A.*\[3, 5\].*\[3, 7\]; .*\Z"):
        run(replace(fits, weights=narrow))
    flat = {**fits.weights, "W_in": fits.weights["W_in"][0]}
    with pytest.raises(ValueError, match=r"\Aweights\.W_in: .*d_model, d_mlp.*\Z"):
        run(replace(fits, weights=flat))


@pytest.mark.parametrize("depth", [-1, 0, 97])
def test_a_depth_that_no_run_has_is_refused(example, depth):
    with pytest.raises(ValueError, match=rf"\Adepth is {depth}; .* from 1 to 96\Z"):
        run(example, depth=depth)


@pytest.mark.parametrize("value", [None, 3])
@pytest.mark.parametrize("name", ["tokens", "axes"])
def test_an_example_without_names_is_refused(name, value):
    with pytest.raises(ValueError, match=rf"\A{name} is {value}; it must name each"):
        run(replace(random_example(), **{name: value}))
