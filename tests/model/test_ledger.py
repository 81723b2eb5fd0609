"""The account of one word, and what the depth map draws of it."""

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers.random_examples import random_example
from residual_stream import Parts, Trace, depth_map, ledger, run
from residual_stream.model.ledger import (
    cosines,
    depth_of,
    distances,
    is_residual,
    sum_errors,
)

depths = pytest.mark.parametrize("depth", [1, 2, 3, 12, 48, 96])


def length(vector) -> float:
    return float(np.sqrt((vector * vector).sum()))


# ---------------------------------------------------------------------------- the sum


def test_three_blocks_write_six_corrections_two_a_block(trace, bank):
    """C7"""
    corrections = ledger(trace, bank).corrections
    assert [(c.block, c.sublayer, c.name) for c in corrections] == [
        (1, "attention", "blocks.0.attn_out"),
        (1, "ffn", "blocks.0.mlp_out"),
        (2, "attention", "blocks.1.attn_out"),
        (2, "ffn", "blocks.1.mlp_out"),
        (3, "attention", "blocks.2.attn_out"),
        (3, "ffn", "blocks.2.mlp_out"),
    ]
    for correction in corrections:
        assert_array_equal(correction.delta, trace[correction.name][bank])


def test_the_input_plus_the_corrections_gives_the_last_state(trace, bank):
    """C7"""
    account = ledger(trace, bank)
    assert_array_equal(account.x0, trace["blocks.0.resid_pre"][bank])
    assert_array_equal(account.x_n, trace["blocks.2.resid_post"][bank])
    total = account.x0 + sum(c.delta for c in account.corrections)
    assert_allclose(total, account.x_n, rtol=0, atol=1e-12)


@depths
def test_the_sum_holds_at_every_depth_and_for_every_word(example, depth):
    trace = run(example, depth)
    for token_no in range(len(example.tokens)):
        assert ledger(trace, token_no).sum_error <= 1e-12
        errors = sum_errors(trace, token_no)
        assert errors.shape == (depth,)
        assert (errors <= 1e-12).all()


@depths
def test_the_running_sums_are_the_states_of_the_stream(example, bank, depth):
    trace = run(example, depth)
    running = ledger(trace, bank).running
    assert running.shape == (1 + 2 * depth, 4)
    assert_array_equal(running[0], trace["blocks.0.resid_pre"][bank])
    for layer in range(depth):
        for place, name in ((1, "resid_mid"), (2, "resid_post")):
            state = trace[f"blocks.{layer}.{name}"][bank]
            assert_allclose(running[2 * layer + place], state, rtol=0, atol=1e-12)


def test_a_correction_that_is_missing_shows_as_a_sum_error():
    trace = two_words(x0=[[3, 4], [0, 2]], end=[[3, 4], [0, 7]])
    assert ledger(trace, 0).sum_error == 0
    assert ledger(trace, 1).sum_error == 5
    assert_array_equal(sum_errors(trace, 1), [5])


@pytest.mark.parametrize(
    ("parts", "sublayers"),
    [
        (Parts(attention=False), ["ffn"]),
        (Parts(ffn=False), ["attention"]),
        (Parts(attention=False, ffn=False), []),
    ],
    ids=["no attention", "no ffn", "neither"],
)
def test_a_part_left_out_writes_nothing(parts, sublayers):
    account = ledger(run(random_example(), 3, parts=parts), 1)
    assert [c.sublayer for c in account.corrections] == sublayers * 3
    assert account.running.shape == (1 + 3 * len(sublayers), 5)
    assert account.sum_error <= 1e-12


def test_without_residual_there_is_no_sum(trace_off, bank):
    """D1: what each sublayer wrote is listed all the same."""
    account = ledger(trace_off, bank)
    assert account.sum_error is None
    assert account.running is None
    assert sum_errors(trace_off, bank) is None
    assert len(account.corrections) == 6
    assert_array_equal(account.corrections[-1].delta, account.x_n)


def test_a_trace_knows_its_depth_and_whether_it_has_the_residual(trace, trace_off):
    assert depth_of(trace) == depth_of(trace_off) == 3
    assert is_residual(trace)
    assert not is_residual(trace_off)
    for parts in (Parts(attention=False), Parts(ffn=False)):
        assert is_residual(run(random_example(), 1, True, parts))
        assert not is_residual(run(random_example(), 1, False, parts))


# ---------------------------------------------------------------------- the depth map


def test_the_ribbon_runs_to_the_end_and_a_bar_is_all_corrections_so_far(trace, bank):
    """C8"""
    drawn = depth_map(trace, bank)
    x0 = trace["blocks.0.resid_pre"][bank]
    assert drawn.ribbon_until == 3
    assert drawn.x0_length == pytest.approx(length(x0), abs=1e-12)
    assert [bar.block for bar in drawn.bars] == [1, 2, 3]
    for layer, bar in enumerate(drawn.bars):
        assert bar.shows == "all corrections so far"
        apart = trace[f"blocks.{layer}.resid_post"][bank] - x0
        assert bar.length == pytest.approx(length(apart), abs=1e-12)


def test_the_bars_grow_with_the_corrections(example, bank):
    """C8"""
    lengths = [bar.length for bar in depth_map(run(example, depth=12), bank).bars]
    assert len(lengths) == 12
    assert lengths == sorted(lengths)


def test_without_residual_the_ribbon_is_cut(deep_trace_off, bank):
    """D1"""
    drawn = depth_map(deep_trace_off, bank)
    assert drawn.ribbon_until == 0
    assert drawn.x0_length == pytest.approx(np.sqrt(1.18), abs=1e-12)
    assert [bar.block for bar in drawn.bars] == [1, 2, 3, 4, 5, 6]
    for layer, bar in enumerate(drawn.bars):
        assert bar.shows == "latest output"
        latest = deep_trace_off[f"blocks.{layer}.mlp_out"][bank]
        assert bar.length == pytest.approx(length(latest), abs=1e-12)


def test_without_residual_the_correction_still_depends_on_the_input(example, bank):
    """D2: a missing term in the sum is no proof that nothing is left of the input."""
    other = replace(example, embed=-example.embed)
    last = "blocks.0.resid_post"
    ends = [run(start, 1, False)[last][bank] for start in (example, other)]
    assert length(ends[0] - ends[1]) > 0.1


def test_length_and_content_are_different_quantities(deep_trace_off, bank):
    """D3: the length neither dies nor explodes while the identity gets weak."""
    states = [deep_trace_off[f"blocks.{n}.resid_post"][bank] for n in range(6)]
    lengths = [length(state) for state in states]
    assert max(lengths) < 2 * min(lengths)
    x0 = deep_trace_off["blocks.0.resid_pre"][bank]
    identity = 3
    assert abs(states[-1][identity]) < x0[identity] / 2


# ----------------------------------------------------------------- words to each other


NO_PLACES = (-1, 4, True, np.True_, np.int64(-1), 1.0, "1", None, [0], slice(0, 1))


@pytest.mark.parametrize("token_no", NO_PLACES)
@pytest.mark.parametrize("account", [ledger, depth_map, sum_errors])
def test_a_word_is_a_place_from_0_and_nothing_that_numpy_takes_for_one(
    trace, account, token_no
):
    found = re.escape(f"token_no is {token_no!r}; ")
    with pytest.raises(IndexError, match=f"^{found}it must be a whole .* from 0 to 3$"):
        account(trace, token_no)


def test_a_place_may_be_one_of_numpys(trace, bank):
    assert depth_map(trace, np.int64(bank)) == depth_map(trace, bank)


# ------------------------------------------------------------------------- two words


def two_words(x0, end) -> Trace:
    trace = Trace()
    stream = ("pos", "d_model")
    for name, value in (("resid_pre", x0), ("resid_post", end)):
        trace.given(f"blocks.0.{name}", stream, name, np.array(value, dtype=float))
    return trace


def test_distances_are_euclidean_by_depth():
    apart = distances(two_words(x0=[[0, 0], [3, 4]], end=[[1, 1], [1, 3]]))
    assert_array_equal(apart, [[[0, 5], [5, 0]], [[0, 2], [2, 0]]])


def test_cosines_compare_directions_by_depth():
    alike = cosines(two_words(x0=[[2, 0], [0, 3]], end=[[3, 4], [-4, -3]]))
    expected = [[[1, 0], [0, 1]], [[1, -0.96], [-0.96, 1]]]
    assert_allclose(alike, expected, rtol=0, atol=1e-15)


def test_a_vector_without_length_is_like_no_other():
    alike = cosines(two_words(x0=[[0, 0], [0, 3]], end=[[1, 0], [1, 0]]))
    assert_allclose(alike, [[[0, 0], [0, 1]], [[1, 1], [1, 1]]], atol=1e-15)


def test_every_depth_is_compared(trace):
    for compared in (distances(trace), cosines(trace)):
        assert compared.shape == (1 + 3, 4, 4)
        assert_allclose(compared, compared.mT, rtol=0, atol=1e-15)
