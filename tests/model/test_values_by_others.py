"""Values that the ONNX project publishes for its operators, one case a test.

Not covered, because `ops` has no such operation: RotaryEmbedding, Gelu, Swish, and
the Attention cases with a soft cap or a sliding window. `data/README.md` says where
the numbers come from.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from residual_stream.model import ops

DATA = Path(__file__).parents[1] / "data"
CASES = json.loads((DATA / "onnx_cases.json").read_text("utf-8"))["cases"]
ARRAYS = np.load(DATA / "onnx_cases.npz", allow_pickle=False)


def cases(*operators: str) -> pytest.MarkDecorator:
    chosen = [case for case in CASES if case["op"] in operators]
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["name"])


def inputs(case):
    return [wide(ARRAYS[f"{case['name']}/in/{name}"]) for name in case["inputs"]]


def expected(case):
    return {name: ARRAYS[f"{case['name']}/out/{name}"] for name in case["outputs"]}


def wide(array):
    return array.astype(np.float64) if array.dtype == np.float32 else array


def assert_same(found, published):
    # float32 values near 0 are differences of numbers near 1, each rounded at 2^-24
    assert_allclose(found, published, rtol=2e-6, atol=2**-24)


# -------------------------------------------------------------------------- softmax


@cases("Softmax", "LogSoftmax")
def test_softmax(case):
    (x,) = inputs(case)
    published = expected(case)["y"]
    if case["op"] == "LogSoftmax":
        published = np.exp(wide(published))
    assert_same(ops.softmax(x, axis=case["attrs"].get("axis", -1)), published)


# ------------------------------------------------------------------- normalisation


@cases("LayerNormalization", "RMSNormalization")
def test_norm(case):
    """ONNX normalises over all axes from `axis` on; here they are made the last one."""
    x, *gain_and_bias = inputs(case)
    axis = case["attrs"].get("axis", -1) % x.ndim
    vectors = x.reshape(*x.shape[:axis], -1)
    gain_and_bias = [vector.ravel() for vector in gain_and_bias]
    eps = case["attrs"].get("epsilon", 1e-5)
    norm = ops.rms_norm if case["op"] == "RMSNormalization" else ops.layer_norm
    published = expected(case)
    assert_same(norm(vectors, *gain_and_bias, eps=eps).reshape(x.shape), published["Y"])
    if "Mean" in published:
        centred = ops.centre(vectors)
        mean = (vectors - centred).mean(axis=-1)
        assert_same(mean, published["Mean"].reshape(mean.shape))
        scale = ops.rms_scale(centred, eps)
        assert_same(1 / scale, published["InvStdDev"].reshape(scale.shape))


# ----------------------------------------------------------------------- attention


@cases("Attention")
def test_attention(case):
    attrs, given = case["attrs"], dict(zip(case["inputs"], inputs(case), strict=True))
    q, k, v = (split_heads(given[name], name, attrs) for name in "QKV")
    if "past_key" in given:
        k = np.concatenate([given["past_key"], k], axis=-2)
        v = np.concatenate([given["past_value"], v], axis=-2)
    present = {"present_key": k, "present_value": v}
    shared_by = q.shape[1] // k.shape[1]  # so many query heads read the same keys
    k, v = (np.repeat(array, shared_by, axis=1) for array in (k, v))
    if "scale" in attrs:  # `attention_scores` divides by √d_head
        q = q * attrs["scale"] * np.sqrt(q.shape[-1])
    scores = ops.attention_scores(q, k)
    mask, *rules = masks_of(given, attrs, scores.shape) or [None]
    masked = ops.attention_scores(q, k, mask)
    for allowed in rules:
        masked = np.where(allowed, masked, -np.inf)
    pattern = ops.softmax(masked)
    # the number is ONNX's qk_matmul_output_mode; 1 belongs to the soft cap
    stages = {0: scores, 2: masked, 3: pattern}
    y = ops.mix(pattern, v)
    found = {
        "Y": y if given["Q"].ndim == 4 else join_heads(y),
        "qk_matmul_output": stages[attrs.get("qk_matmul_output_mode", 0)],
        **present,
    }
    for name, published in expected(case).items():
        assert_same(found[name], published)


def split_heads(array, name, attrs):
    """[batch, pos, head · d_head] -> [batch, head, pos, d_head]"""
    if array.ndim == 4:
        return array
    heads = attrs["q_num_heads" if name == "Q" else "kv_num_heads"]
    return array.reshape(*array.shape[:2], heads, -1).swapaxes(1, 2)


def join_heads(array):
    """[batch, head, pos, d_head] -> [batch, pos, head · d_head]"""
    batch, _, pos, _ = array.shape
    return array.swapaxes(1, 2).reshape(batch, pos, -1)


def masks_of(given, attrs, shape):
    """What closes places, as the case states it: ONNX's own mask, then its rule."""
    n_query, n_key = shape[-2:]
    masks = [given["attn_mask"]] if "attn_mask" in given else []
    if "nonpad_kv_seqlen" in given:  # the queries are the last of each text's words
        lengths = given["nonpad_kv_seqlen"]
        rule = np.array([causal_until(n_query, n_key, n) for n in lengths])
        masks.append(rule[:, None])
    elif attrs.get("is_causal"):  # without a cache they are the first
        masks.append(ops.causal_mask(n_key, n_key)[:n_query])
    return masks


def causal_until(n_query, n_key, length):
    allowed = np.zeros((n_query, n_key), dtype=np.bool_)
    allowed[:, :length] = ops.causal_mask(n_query, length)
    return allowed
