"""Exact derivatives: against PyTorch, against slopes, and by hand (E1)."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from test_torch import DEPTH, VARIANTS, every_block, torch_example, torch_values

from helpers.random_examples import random_example
from residual_stream import Example, Parts, Trace, run
from residual_stream.model import ops
from residual_stream.model.arithmetic import FORMS
from residual_stream.model.jacobian import (
    RULES,
    block_jacobian,
    corrections_jacobian,
    jacobian,
    singular_values,
    skipless_jacobian,
    stream_jacobians,
    sublayer_jacobian,
)
from residual_stream.model.wirings import WIRINGS, run_layers, run_wiring

X0 = "blocks.0.resid_pre"
VECTOR = ("pos", "d_model")


def identity(value: np.ndarray) -> np.ndarray:
    return np.eye(value.size).reshape(value.shape * 2)


def after(second: np.ndarray, first: np.ndarray) -> np.ndarray:
    return np.einsum("aibj,bjck->aick", second, first)


def assert_close(found, expected):
    assert_allclose(found, expected, rtol=0, atol=1e-12 * abs(expected).max())


# ------------------------------------------------------- values that others computed


@every_block
def test_the_stream_jacobians_are_pytorchs(size, variant):
    residual, parts = VARIANTS[variant]
    trace = run(torch_example(size), DEPTH, residual, parts)
    values = torch_values(size, variant)
    kept = [values[f"jacobian/blocks.{n}.resid_post"] for n in range(DEPTH)]
    assert_allclose(stream_jacobians(trace), kept, rtol=1e-11, atol=1e-11)
    for n in range(DEPTH):
        found = jacobian(trace, f"blocks.{n}.resid_post", by=X0)
        assert_allclose(found, kept[n], rtol=1e-11, atol=1e-11)


@settings(max_examples=12)
@given(
    seed=st.integers(0, 1000),
    norm=st.sampled_from(["rms", "layer", "none"]),
    residual=st.booleans(),
)
def test_every_derivative_is_the_slope(seed, norm, residual):
    example, parts = random_example(seed, pos=2, d_model=3, d_mlp=5), Parts(norm=norm)
    trace = run(example, 2, residual, parts)
    pre = np.array([trace[f"blocks.{n}.mlp.pre"] for n in (0, 1)])
    assume(abs(pre).min() > 1e-3)  # away from the corner of ReLU
    h = 1e-5
    for at in np.ndindex(example.embed.shape):
        nudge = np.zeros_like(example.embed)
        nudge[at] = h
        more, less = (
            run(replace(example, embed=example.embed + step), 2, residual, parts)
            for step in (nudge, -nudge)
        )
        for name in trace:
            exact = jacobian(trace, name, by="embed")[..., *at]
            slope = (more[name] - less[name]) / (2 * h)
            near = 1e-6 * max(1, abs(exact).max())
            assert_allclose(exact, slope, rtol=1e-5, atol=near, err_msg=name)


# -------------------------------------------------------------- the identity path (E1)


def test_where_the_sublayers_write_nothing_the_jacobian_is_exactly_the_identity():
    example = random_example()
    silent = {name: np.zeros_like(example.weights[name]) for name in ("W_O", "W_out")}
    silent["b_out"] = np.zeros_like(example.weights["b_out"])
    trace = run(replace(example, weights={**example.weights, **silent}), depth=96)
    for state in stream_jacobians(trace):
        assert_array_equal(state, identity(trace[X0]))
    assert_array_equal(singular_values(state), np.ones(15))


def test_with_the_residual_the_jacobian_is_i_plus_that_of_the_corrections(trace):
    for layer in range(3):
        expected = identity(trace[X0]) + corrections_jacobian(trace, layer)
        assert_close(block_jacobian(trace, layer), expected)


def test_a_block_is_two_factors_and_its_derivative_four_terms(trace):
    attention, ffn = (sublayer_jacobian(trace, 1, s) for s in ("attention", "ffn"))
    one, through_both = identity(trace[X0]), skipless_jacobian(trace, 1)
    assert_close(block_jacobian(trace, 1), after(one + ffn, one + attention))
    assert_close(block_jacobian(trace, 1), one + attention + ffn + through_both)


def test_without_the_residual_the_path_through_both_sublayers_is_all(trace_off):
    for layer in range(3):
        expected = block_jacobian(trace_off, layer)
        assert abs(expected).max() > 0
        assert_close(skipless_jacobian(trace_off, layer), expected)


@pytest.mark.parametrize("left_out", ["attention", "ffn"])
def test_a_sublayer_that_is_left_out_adds_nothing(left_out):
    """The other one's derivative is all there is."""
    trace = run(random_example(), 1, parts=Parts(**{left_out: False}))
    other = "ffn" if left_out == "attention" else "attention"
    expected = sublayer_jacobian(trace, 0, other)
    assert_close(corrections_jacobian(trace, 0), expected)
    assert_close(skipless_jacobian(trace, 0), expected)
    with pytest.raises(KeyError, match="no value 'blocks"):
        sublayer_jacobian(trace, 0, left_out)


def test_the_skip_does_not_stop_a_correction_from_cancelling_the_input():
    """E2, G1: attention writes −x, so nothing of x is left, and no way back to it."""
    one, weights = np.eye(2), dict(random_example(d_model=2).weights)
    example = Example(("a",), ("0", "1"), one[:1], one[:1], weights)
    weights |= {"W_V": one, "W_O": -one}
    trace = run(example, 1, parts=Parts(norm="none"))
    assert_array_equal(trace["blocks.0.resid_mid"], [[0, 0]])
    j = jacobian(trace, "blocks.0.resid_mid", by=X0)
    assert_array_equal(singular_values(j), [0, 0])


# --------------------------------------------------------------- products over depth


@pytest.mark.parametrize("wiring", WIRINGS)
def test_the_jacobian_of_many_blocks_is_the_product_of_theirs(example, wiring):
    trace = run_wiring(example, wiring, depth=96)
    direct = jacobian(trace, "blocks.95.resid_post", by=X0)
    found = stream_jacobians(trace)
    assert found.shape == (96, *trace[X0].shape * 2)
    assert_allclose(found[-1], direct, rtol=1e-9, atol=1e-9 * abs(direct).max())
    assert_array_equal(found[0], block_jacobian(trace, 0))


def test_a_product_that_leaves_float64_on_its_way_comes_back():
    """One number a word: each block's derivative is 1e6 w², at x = 0 all the way."""
    one = {"W_Q": 0, "W_K": 0, "W_O": 1, "W_in": 1, "b_in": 1, "W_out": 1, "b_out": -1}
    one = {
        n: np.full((1,) * (1 if n[0] == "b" else 2), v, float) for n, v in one.items()
    }
    gains = [1.0] * 60 + [1e-12] * 36
    layers = [one | {"W_V": np.array([[gain]])} for gain in gains]
    zero = np.zeros((1, 1))
    trace = run_layers(Example(("a",), ("0",), zero, zero, {}), layers, residual=False)
    assert trace["blocks.95.resid_post"] == 0
    powers = np.cumsum(6 + np.log10(gains))
    assert powers.max() == 360
    found = stream_jacobians(trace).ravel()
    assert_array_equal(np.isinf(found), powers > 308.5)
    within = powers < 308.5
    assert_allclose(np.log10(found[within]), powers[within], atol=1e-10)


# ------------------------------------------------------------ each operation, by hand


def recorded(operation, *inputs):
    """A trace of one operation; `inputs` are the values "0", "1", … and it is "y"."""
    trace = Trace()
    axes = [tuple(f"axis {n}" for n in range(np.ndim(value))) for value in inputs]
    origins = [
        trace.given(str(place), axes[place], "", np.array(value, float))
        for place, value in enumerate(inputs)
    ]
    value = operation(*(origin.value for origin in origins))
    trace.record("y", ("row", "column")[: value.ndim], "", operation, *origins)
    return trace


ONE = [[1, 0], [0, 1]]
# with this in front of a 0, mean(x²) + ε is 1
NEARLY_ROOT_2 = math.sqrt(2 - 2 * ops.EPS)
BY_HAND = {
    "a copy": (ops.carry, [[[5, 7]]], 0, ONE),
    "a sum": (ops.add, [[[5, 7]], [[1, 2]]], 1, ONE),
    "x W by x": (ops.project, [[[5]], [[2, 3]]], 0, [2, 3]),
    "x W by W": (ops.project, [[[5]], [[2, 3]]], 1, [[5, 0], [0, 5]]),
    "x W + b by b": (ops.project, [[[5]], [[2, 3]], [1, 1]], 2, ONE),
    "shares of v by v": (ops.mix, [[[0.25, 0.75]], [[5], [7]]], 1, [0.25, 0.75]),
    "q k by q": (ops.attention_scores, [[[1] * 4], [[4, 2, 0, 6]]], 0, [2, 1, 0, 3]),
    "q k by k": (ops.attention_scores, [[[4, 2, 0, 6]], [[1] * 4]], 1, [2, 1, 0, 3]),
    "a mask": (ops.attention_scores, [[[1]], [[1], [1]], [[0, 9]]], 2, ONE),
    "a mask for all queries": (
        ops.attention_scores,
        [[[1], [1]], [[1], [1]], [0, 9]],
        2,
        [ONE, ONE],
    ),
    "a closed place": (ops.attention_scores, [[[3]], [[5]], [[-np.inf]]], 0, [0]),
    "a root": (ops.rms_scale, [[[NEARLY_ROOT_2, 0]]], 0, [NEARLY_ROOT_2 / 2, 0]),
    "x / s by x": (ops.divide, [[[6, 8]], [2]], 0, [[0.5, 0], [0, 0.5]]),
    "x / s by s": (ops.divide, [[[6, 8]], [2]], 1, [-1.5, -2]),
    "a distance": (ops.centre, [[[5, 7]]], 0, [[0.5, -0.5], [-0.5, 0.5]]),
    "shares ¼ and ¾": (ops.softmax, [[[0, math.log(3)]]], 0, [[3, -3], [-3, 3]]),
    "every key masked": (ops.softmax, [[[-np.inf, -np.inf]]], 0, [[0, 0], [0, 0]]),
    "ReLU, 0 at 0": (ops.relu, [[[-1, 0, 2]]], 0, np.diag([0, 0, 1])),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_the_derivative_of(case):
    operation, inputs, place, expected = BY_HAND[case]
    trace = recorded(operation, *inputs)
    found = jacobian(trace, "y", by=str(place))
    assert found.shape == trace["y"].shape + trace[str(place)].shape
    if operation is ops.softmax:
        found = found * 16
    assert_allclose(found, np.reshape(expected, found.shape), rtol=1e-15, atol=1e-15)


def test_every_operation_has_its_derivative():
    assert set(RULES) == set(FORMS) - {"given"}


def test_an_input_that_is_taken_twice_moves_the_value_twice():
    trace = Trace()
    x = trace.given("x", VECTOR, "", np.ones((1, 2)))
    trace.record("y", VECTOR, "", ops.add, x, x)
    assert_array_equal(jacobian(trace, "y", by="x"), 2 * identity(x.value))


def test_what_does_not_depend_on_a_value_has_the_derivative_zero(trace):
    later, earlier = "blocks.1.attn.q", "blocks.0.ln1.scale"
    assert_array_equal(jacobian(trace, earlier, by=later), np.zeros((4, 4, 2)))
    assert_array_equal(jacobian(trace, "pos_embed", by="embed"), np.zeros((4, 4) * 2))
    assert_array_equal(jacobian(trace, X0, by=X0), identity(trace[X0]))


@pytest.mark.parametrize("name", ["blocks.3.resid_post", "weights.W_Q"])
def test_a_name_that_is_no_value_of_the_trace_is_refused(trace, name):
    with pytest.raises(KeyError, match=f"no value '{name}'"):
        jacobian(trace, name, by=X0)
    with pytest.raises(KeyError, match=f"no value '{name}'"):
        jacobian(trace, X0, by=name)


# ------------------------------------------------------------------ singular values


def test_singular_values_of_the_whole_and_of_one_word():
    j = np.zeros((2, 2, 2, 2))
    j[0, :, 0, :], j[1, :, 1, :] = np.diag([3, 1]), [[0, 5], [0, 0]]
    assert_allclose(singular_values(j), [5, 3, 1, 0])
    assert_allclose(singular_values(j, token_no=0), [3, 1])
    assert_allclose(singular_values(j, token_no=1), [5, 0])
    assert_allclose(singular_values(np.array([j, 2 * j]), 0), [[3, 1], [6, 2]])


def test_singular_values_of_huge_and_tiny_stretches():
    j = np.diag([1e300, 1e290]).reshape(1, 2, 1, 2)
    assert_allclose(singular_values(j), [1e300, 1e290], rtol=1e-12)
    assert_allclose(singular_values(j * 1e-308 * 1e-290), [1e-298, 1e-308], rtol=1e-12)


@pytest.mark.parametrize("token_no", [-1, 2, True, 0.0, "0"])
def test_a_word_outside_the_sentence_is_refused(token_no):
    with pytest.raises(IndexError, match="must be a whole number from 0 to 1"):
        singular_values(np.zeros((2, 3, 2, 3)), token_no)


def test_what_is_no_jacobian_of_vectors_is_refused():
    with pytest.raises(ValueError, match=r"shape \[2, 3, 3, 3\] with 0 numbers"):
        singular_values(np.zeros((2, 3, 3, 3)))
    with pytest.raises(ValueError, match="1 numbers that are not finite"):
        singular_values(np.array([[[[np.inf]]]]))
