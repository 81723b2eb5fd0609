"""Faults that public Transformer code has had: we get the right value, not the faulty.

`data/bug_cases.json` names the report behind each case.
"""

import json
from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose

from residual_stream import Example, Parts, run
from residual_stream.model import ops
from residual_stream.model.block import WEIGHT_AXES

DATA = Path(__file__).parents[1] / "data"
CASES = {
    case["id"]: case
    for case in json.loads((DATA / "bug_cases.json").read_text("utf-8"))["cases"]
}


def array(numbers: object) -> np.ndarray:
    return np.array(numbers, dtype=np.float64)


def inputs(fault: str) -> dict:
    return CASES[fault]["inputs"]


def assert_free_of(fault: str, found: np.ndarray) -> None:
    case = CASES[fault]
    right, wrong, tolerance = array(case["right"]), array(case["wrong"]), 1e-12
    assert case["tolerance"] == tolerance
    assert_allclose(found, right, rtol=0, atol=tolerance)
    assert not np.allclose(found, wrong, rtol=0, atol=tolerance, equal_nan=True)


# --------------------------------------------------------- faults of the whole block


def one_block(x: np.ndarray, eps: float, parts: Parts, **weights: np.ndarray):
    """One block with another ε: a stream 1/s as long sees ε/s², so s undoes both."""
    d_model = x.shape[-1]
    sizes = {"d_model": d_model, "d_head": d_model, "d_mlp": 2 * d_model}
    s = np.sqrt(eps / ops.EPS)
    zeros = {
        name: np.zeros([sizes[axis] for axis in axes])
        for name, axes in WEIGHT_AXES.items()
    }
    for out in {"W_O", "W_out"} & weights.keys():
        weights[out] = weights[out] / s
    words, axes = tuple("abcde"[: len(x)]), tuple("abcdefg"[:d_model])
    example = Example(words, axes, x / s, np.zeros(x.shape), zeros | weights)
    trace = run(example, depth=1, parts=parts)
    return {name: value * s for name, value in trace.items()}


def test_the_skip_taps_the_stream_before_the_norm():
    fault = "prenorm-residual-from-normalised-copy"
    given = inputs(fault)
    eye = np.eye(4)
    block = one_block(  # an FFN that doubles: max(0, h) − max(0, −h) = h
        array([given["x"]]),
        given["eps"],
        Parts(norm="layer", attention=False, positions=False),
        W_in=np.hstack([eye, -eye]),
        W_out=2 * np.vstack([eye, -eye]),
    )
    assert_free_of(fault, block["blocks.0.resid_post"][0])


def test_queries_keys_and_values_all_read_the_normalised_copy():
    fault = "prenorm-normalises-query-only"
    given = inputs(fault)
    eye = np.eye(3)
    block = one_block(
        array(given["x"]),
        given["eps"],
        Parts(norm="layer", ffn=False, positions=False),
        **dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), eye),
    )
    assert_free_of(fault, block["blocks.0.attn_out"])


# ------------------------------------------------------- faults of a single operation


def test_rms_norm_adds_eps_inside_the_root():
    fault = "rmsnorm-eps-outside-root"
    given = inputs(fault)
    assert_free_of(fault, ops.rms_norm(array(given["x"]), eps=given["eps"]))


def test_layer_norm_takes_the_biased_variance_and_eps_inside_the_root():
    fault = "layernorm-unbiased-std-eps-outside"
    given = inputs(fault)
    assert_free_of(fault, ops.layer_norm(array(given["x"]), eps=given["eps"]))


def test_a_query_that_may_look_at_nothing_gets_zeros():
    fault = "fully-masked-row"
    given = inputs(fault)
    allowed = array(given["allowed"]) == 1
    scores = ops.attention_scores(array(given["q"]), array(given["k"]), allowed)
    assert_free_of(fault, ops.mix(ops.softmax(scores), array(given["v"])))


def test_softmax_takes_the_maximum_off_first():
    fault = "softmax-overflow"
    assert_free_of(fault, ops.softmax(array(inputs(fault)["x"])))


def test_the_causal_mask_counts_from_the_last_position():
    fault = "causal-offset-with-cache"
    given = inputs(fault)
    n_query, n_key = given["n_query"], given["n_key"]
    q, k = np.zeros((n_query, 1)), np.zeros((n_key, 1))
    scores = ops.attention_scores(q, k, ops.causal_mask(n_query, n_key))
    v = array(given["v"])[:, None]
    assert_free_of(fault, ops.mix(ops.softmax(scores), v))


def test_scores_are_scaled_by_the_heads_width_not_the_models():
    fault = "scale-by-model-width"
    given = inputs(fault)
    d_head = given["model_width"] // given["heads"]
    q, k = np.zeros((1, d_head)), np.zeros((2, d_head))
    q[:, 0], k[:, 0] = 1, given["raw_scores"]
    assert_free_of(fault, ops.softmax(ops.attention_scores(q, k))[0])


def test_each_querys_shares_add_up_to_one():
    fault = "softmax-over-queries"
    given = inputs(fault)
    scores = ops.attention_scores(array(given["q"]), array(given["k"]))
    assert_free_of(fault, ops.softmax(scores))
