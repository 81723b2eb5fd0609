"""What holds for every input: the lesson's facts as properties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from helpers.random_examples import random_example
from residual_stream import Parts, run
from residual_stream.model import ops

every_norm = pytest.mark.parametrize("norm", ["rms", "layer", "none"])
on_and_off = pytest.mark.parametrize("residual", [True, False], ids=["on", "off"])
moderate = st.floats(-10, 10)
streams = arrays(np.float64, (3, 5), elements=moderate)
POS, WIDTH = 3, 5


# ------------------------------------------------------------------ single operations


@given(scores=streams, shift=st.floats(-100, 100))
def test_only_differences_of_scores_count(scores, shift):
    assert_allclose(ops.softmax(scores + shift), ops.softmax(scores), rtol=1e-12)


@given(
    scores=arrays(np.float64, (3, 5), elements=st.floats(allow_nan=False, max_value=0))
)
def test_shares_add_up_to_one_unless_every_key_is_masked(scores):
    shares = ops.softmax(scores)
    assert (shares >= 0).all()
    some_open = (scores > -np.inf).any(axis=-1)
    assert_allclose(shares.sum(axis=-1), some_open, rtol=1e-15)


@given(x=streams, factor=st.floats(1e-3, 1e3))
def test_rms_norm_does_not_see_the_length(x, factor):
    """Exactly so if ε, which is in the unit of x², is rescaled with it."""
    normalized = ops.rms_norm(x, eps=1e-6)
    rescaled = ops.rms_norm(factor * x, eps=factor**2 * 1e-6)
    assert_allclose(rescaled, normalized, rtol=1e-12, atol=1e-300)


@given(
    x=arrays(np.float64, (3, 5), elements=st.floats(1, 10)), factor=st.floats(1, 1e3)
)
def test_with_the_lessons_eps_the_length_is_all_but_unseen(x, factor):
    """Vectors of a mean square of at least 1 feel an ε of 1e-6 in the seventh digit."""
    assert_allclose(ops.rms_norm(factor * x), ops.rms_norm(x), rtol=1e-6)


@given(x=streams, shift=moderate)
def test_layer_norm_does_not_see_the_mean_and_rms_norm_does(x, shift):
    x = x / 10 + 3 * np.arange(WIDTH)  # so that no vector is all one number
    assert_allclose(ops.layer_norm(x + shift), ops.layer_norm(x), atol=1e-12)
    assert not np.allclose(ops.rms_norm(x + 100), ops.rms_norm(x))


# ------------------------------------------------------------------------- the stream


@given(embed=streams)
@every_norm
def test_the_add_keeps_what_was_there(embed, norm):
    trace = run(replace(random_example(), embed=embed), parts=Parts(norm=norm))
    for layer in range(3):
        at = f"blocks.{layer}."
        mid, post = trace[f"{at}resid_mid"], trace[f"{at}resid_post"]
        for new, delta, old in (
            (mid, trace[f"{at}attn_out"], trace[f"{at}resid_pre"]),
            (post, trace[f"{at}mlp_out"], mid),
        ):
            rounding = 2**-52 * (np.abs(new) + np.abs(delta))
            assert (np.abs(new - delta - old) <= rounding).all()


@given(embed=streams)
@every_norm
def test_without_residual_the_stream_is_the_latest_correction(embed, norm):
    example = replace(random_example(), embed=embed)
    trace = run(example, depth=12, residual=False, parts=Parts(norm=norm))
    for layer in range(12):
        at = f"blocks.{layer}."
        assert_array_equal(trace[f"{at}resid_mid"], trace[f"{at}attn_out"])
        assert_array_equal(trace[f"{at}resid_post"], trace[f"{at}mlp_out"])


@given(
    digits=arrays(np.float64, (2, POS, WIDTH), elements=st.floats(-9, 9)),
    powers=arrays(np.int64, (2, POS, WIDTH), elements=st.integers(-100, 99)),
)
@every_norm
@on_and_off
def test_every_value_is_finite_from_tiny_to_huge_inputs(digits, powers, norm, residual):
    embed, pos_embed = digits * 10.0**powers
    example = replace(random_example(), embed=embed, pos_embed=pos_embed)
    trace = run(example, residual=residual, parts=Parts(norm=norm))
    assert all(np.isfinite(value).all() for value in trace.values())


@on_and_off
@every_norm
def test_a_shorter_run_is_the_first_part_of_a_longer_one(residual, norm):
    short, long = (
        run(random_example(), depth, residual, Parts(norm=norm)) for depth in (3, 12)
    )
    assert list(short) == list(long)[: len(short)]
    for name, value in short.items():
        assert_array_equal(value, long[name])


# ---------------------------------------------------------------- what mixes words


@given(order=st.permutations(range(5)))
@every_norm
def test_without_positions_order_does_not_count(order, norm):
    """F5: words in another order get the same values in that other order."""
    example, parts = random_example(pos=5), Parts(norm=norm, positions=False)
    trace = run(example, parts=parts)
    shuffled = run(replace(example, embed=example.embed[order]), parts=parts)
    for name, entry in trace.entries.items():
        moved = entry.value
        for axis_no, axis in enumerate(entry.axes):
            if axis in {"pos", "query_pos", "key_pos"}:
                moved = moved.take(order, axis=axis_no)
        assert_allclose(shuffled[name], moved, rtol=1e-9, atol=1e-9, err_msg=name)


def test_with_positions_order_counts(example, trace, river, bank):
    """F5: `bank` and `river` in each other's places are not what they were."""
    order = list(range(len(example.tokens)))
    order[river], order[bank] = bank, river
    shuffled = run(replace(example, embed=example.embed[order]))
    last = "blocks.2.resid_post"
    assert np.abs(shuffled[last] - trace[last][order]).max() > 0.01


@given(other=arrays(np.float64, (WIDTH,), elements=moderate))
@every_norm
def test_the_ffn_does_not_mix_words(other, norm):
    """F2: whatever the first word is, the FFN's corrections for the others stay."""
    example, parts = random_example(), Parts(norm=norm, attention=False)
    changed = example.embed.copy()
    changed[0] = other
    trace, second = (
        run(example, parts=parts),
        run(replace(example, embed=changed), 3, True, parts),
    )
    for layer in range(3):
        name = f"blocks.{layer}.mlp_out"
        assert_array_equal(second[name][1:], trace[name][1:])


def test_attention_mixes_words(example, river, bank):
    """F2: all exchange between words is attention's."""
    changed = example.embed.copy()
    changed[river] = -changed[river]
    parts = Parts(ffn=False)
    trace, second = (
        run(example, parts=parts),
        run(replace(example, embed=changed), parts=parts),
    )
    name = "blocks.0.attn_out"
    assert np.abs(second[name][bank] - trace[name][bank]).max() > 0.1
