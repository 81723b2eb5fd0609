"""The operations on values that can be checked by hand."""

from math import inf, log

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from residual_stream.model import ops


def array(*rows: object) -> np.ndarray:
    return np.array(rows, dtype=np.float64)


# --------------------------------------------------------------------- the stream


def test_an_update_adds_the_correction_to_the_stream():
    assert_array_equal(ops.add(array([1, 2]), array([3, -1])), [[4, 1]])


def test_carrying_the_stream_on_changes_nothing():
    assert_array_equal(ops.carry(array([1, 2])), [[1, 2]])


def test_a_given_value_is_the_value_that_was_given():
    assert_array_equal(ops.given(array([1, 2])), [[1, 2]])


# ------------------------------------------------------------------- normalisation


def test_the_scale_is_the_root_of_the_mean_square():
    assert_array_equal(ops.rms_scale(array([1, 7], [3, 3]), eps=0), [5, 3])


def test_eps_stands_inside_the_root():
    # outside it, a zero vector would be divided by 1e-6
    assert_allclose(ops.rms_scale(array([0, 0, 0])), [1e-3], rtol=1e-15)
    assert_array_equal(ops.rms_scale(array([4, 4, 4]), eps=9), [5])


def test_a_zero_vector_is_normalised_to_zeros():
    assert_array_equal(ops.rms_norm(array([0, 0, 0])), [[0, 0, 0]])
    assert_array_equal(ops.layer_norm(array([2, 2, 2])), [[0, 0, 0]])


def test_centring_takes_each_vectors_mean_off():
    assert_array_equal(ops.centre(array([1, 2, 6], [4, 4, 4])), [[-2, -1, 3], [0] * 3])


def test_each_vector_is_divided_by_its_own_scale():
    quotient = ops.divide(array([2, 4], [9, 3]), np.array([2.0, 3.0]))
    assert_array_equal(quotient, [[1, 2], [3, 1]])


def test_rms_norm_keeps_the_mean_and_layer_norm_takes_it_off():
    assert_allclose(ops.rms_norm(array([1, 7]), eps=0), [[0.2, 1.4]], rtol=1e-15)
    assert_allclose(ops.layer_norm(array([1, 7]), eps=0), [[-1, 1]], rtol=1e-15)


def test_layer_norm_divides_by_the_biased_deviation():
    # the deviation of [0, 0, 2, 2] is 1; with n − 1 it would be 1.15
    assert_array_equal(ops.layer_norm(array([0, 0, 2, 2]), eps=0), [[-1, -1, 1, 1]])


def test_gain_multiplies_and_bias_is_added_to_each_axis():
    gain, bias = np.array([2.0, 3.0]), np.array([10.0, 20.0])
    assert_allclose(ops.rms_norm(array([1, 7]), gain, eps=0), [[0.4, 4.2]], rtol=1e-15)
    assert_array_equal(ops.layer_norm(array([1, 3]), gain, bias, eps=0), [[8, 23]])


# ----------------------------------------------------------------------- attention


def test_a_projection_multiplies_rows_from_the_left_and_adds_the_bias():
    weight = array([1, 0, 2], [0, 1, 3])
    assert_array_equal(ops.project(array([1, 2]), weight), [[1, 2, 8]])
    bias = np.array([10.0, 20.0, 30.0])
    assert_array_equal(ops.project(array([1, 2]), weight, bias), [[11, 22, 38]])


def test_scores_are_scaled_by_the_root_of_the_heads_width():
    q, k = array([2, 0, 0, 0]), array([3, 0, 0, 0], [0, 1, 0, 0])
    assert_array_equal(ops.attention_scores(q, k), [[3, 0]])


def test_a_row_of_scores_belongs_to_one_query():
    q, k = array([1], [2]), array([3], [5], [7])
    assert_array_equal(ops.attention_scores(q, k), [[3, 5, 7], [6, 10, 14]])


def test_booleans_open_a_place_and_numbers_are_added():
    q, k = array([1], [2]), array([3], [5])
    opened = np.array([[True, False], [True, True]])
    assert_array_equal(ops.attention_scores(q, k, opened), [[3, -inf], [6, 10]])
    added = array([0, -inf], [1, -2])
    assert_array_equal(ops.attention_scores(q, k, added), [[3, -inf], [7, 8]])


def test_a_mask_may_differ_from_head_to_head():
    q, k = np.ones((2, 3, 1)), np.ones((2, 5, 1))
    mask = np.zeros((2, 3, 5))
    mask[1, 2, 4] = -inf
    for given in (mask, mask == 0):
        closed = np.argwhere(ops.attention_scores(q, k, given) == -inf)
        assert_array_equal(closed, [[1, 2, 4]])


MASKS = {
    "one for all": True,
    "padding": [True, True, True, True, False],
    "padding, as a row": [[True, True, True, True, False]],
    "padding, head by head": [[[True] * 4 + [False]], [[True] * 5]],
    "queries": [[True], [False], [True]],
    "numbers": [0.0, 0.0, 0.5, 0.0, -inf],
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_a_mask_may_be_the_same_for_all_words_or_heads(mask):
    q, k = np.ones((2, 3, 1)), np.ones((2, 5, 1))
    whole = np.broadcast_to(mask, (2, 3, 5))
    expected = np.where(whole, 1, -inf) if whole.dtype == np.bool_ else 1 + whole
    assert_array_equal(ops.attention_scores(q, k, mask), expected)


def test_one_mask_serves_every_head():
    q, k = np.ones((2, 3, 1)), np.ones((2, 5, 1))
    scores = ops.attention_scores(q, k, ops.causal_mask(3, 5))
    assert_array_equal(scores[0], scores[1])
    assert_array_equal(scores[0] == 1, ops.causal_mask(3, 5))


def test_no_word_sees_a_later_one():
    assert_array_equal(ops.causal_mask(3, 3), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])


def test_with_a_cache_the_queries_are_the_last_positions():
    assert_array_equal(ops.causal_mask(2, 5), [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
    assert_array_equal(ops.causal_mask(3, 2), [[0, 0], [1, 0], [1, 1]])


def test_softmax_turns_a_row_of_scores_into_shares_of_one():
    shares = ops.softmax(array([0, log(3)], [5, 5]))
    assert_allclose(shares, [[0.25, 0.75], [0.5, 0.5]], rtol=1e-15)


def test_softmax_runs_along_the_axis_it_is_given():
    shares = ops.softmax(array([0, 1], [log(3), 1]), axis=0)
    assert_allclose(shares, [[0.25, 0.5], [0.75, 0.5]], rtol=1e-15)


def test_softmax_neither_overflows_nor_divides_by_zero():
    assert_array_equal(ops.softmax(array([1000, 1000, -1000])), [[0.5, 0.5, 0]])
    assert_array_equal(ops.softmax(array([-1000, -1000])), [[0.5, 0.5]])


def test_a_masked_key_gets_nothing():
    assert_array_equal(ops.softmax(array([2, -inf, 2])), [[0.5, 0, 0.5]])


def test_a_row_whose_every_key_is_masked_looks_at_nothing():
    shares = ops.softmax(array([-inf, -inf], [3, 3]))
    assert_array_equal(shares, [[0, 0], [0.5, 0.5]])
    assert_array_equal(ops.mix(shares, array([10], [30])), [[0], [20]])


def test_each_query_mixes_the_values_by_its_shares():
    pattern, v = array([1, 0], [0.25, 0.75]), array([4, 8], [0, 16])
    assert_array_equal(ops.mix(pattern, v), [[4, 8], [1, 14]])


def test_relu_lets_positive_numbers_through():
    assert_array_equal(ops.relu(array([-2, 0, 3])), [[0, 0, 3]])


# ------------------------------------------------------------------------- any size


def test_leading_axes_are_so_many_separate_computations():
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(2, 3, 5, 7)), rng.normal(size=(7, 11))
    q, k, v = (rng.normal(size=(2, 3, n, d)) for n, d in ((5, 7), (13, 7), (13, 11)))

    def block(x, q, k, v):
        pattern = ops.softmax(ops.attention_scores(q, k, ops.causal_mask(5, 13)))
        return ops.project(ops.rms_norm(x), weight) + ops.mix(pattern, v)

    whole = block(x, q, k, v)
    assert whole.shape == (2, 3, 5, 11)
    for place in np.ndindex(2, 3):
        alone = block(x[place], q[place], k[place], v[place])
        assert_allclose(whole[place], alone, rtol=1e-13, atol=1e-14)


# ----------------------------------------------------------------------- any numbers

ROWS, SQUARE = [[1, 2], [3, 5]], [[2, 7], [1, 8]]
CALLS = {
    "add": ops.add,
    "carry": lambda a, b: ops.carry(a),
    "centre": lambda a, b: ops.centre(a),
    "divide": lambda a, b: ops.divide(a, scale=b[0]),
    "rms_scale": lambda a, b: ops.rms_scale(a),
    "rms_norm": lambda a, b: ops.rms_norm(a, b[0]),
    "layer_norm": lambda a, b: ops.layer_norm(a, b[0], bias=b[1]),
    "project": lambda a, b: ops.project(a, b, b[0]),
    "attention_scores": lambda a, b: ops.attention_scores(a, k=b),
    "softmax": lambda a, b: ops.softmax(a),
    "mix": ops.mix,
    "relu": lambda a, b: ops.relu(a),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_lists_integers_and_float32_are_computed_in_float64(call):
    expected = call(array(*ROWS), array(*SQUARE))
    for dtype in (None, np.int64, np.float32):
        a, b = (
            (rows, np.array(rows, dtype))[dtype is not None] for rows in (ROWS, SQUARE)
        )
        found = call(a, b)
        assert found.dtype == np.float64
        assert_array_equal(found, expected)


def test_float32_does_not_overflow_where_float64_does_not():
    assert_allclose(ops.rms_norm(np.array([1e30, 1e30], np.float32)), [1, 1])
    assert_allclose(ops.layer_norm(np.array([0, 2e30], np.float32)), [-1, 1])


def test_what_an_operation_is_given_stays_as_it_is():
    for name, call in CALLS.items():
        a, b = array(*ROWS), array(*SQUARE)
        call(a, b)
        assert_array_equal(a, ROWS, err_msg=name)
        assert_array_equal(b, SQUARE, err_msg=name)
