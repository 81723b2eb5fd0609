"""Four wirings of the same numbers, where they part, and weights of each block's own.

Every wiring is worked out again below in plain NumPy, with nothing from `ops`.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers.random_examples import random_example
from residual_stream import Parts, explain, ledger, run
from residual_stream.model.block import WEIGHT_AXES
from residual_stream.model.wirings import (
    WIRINGS,
    Difference,
    first_difference,
    run_layers,
    run_wiring,
    vary,
)

EXAMPLE = random_example(3)
every_wiring = pytest.mark.parametrize("wiring", WIRINGS)


# ---------------------------------------------------------------- the four formulas


def norm(x):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6)


def attn(n, w):
    q, k, v = n @ w["W_Q"], n @ w["W_K"], n @ w["W_V"]
    weights = np.exp(q @ k.T / q.shape[-1] ** 0.5)
    return weights / weights.sum(axis=-1, keepdims=True) @ v @ w["W_O"]


def ffn(n, w):
    return np.maximum(n @ w["W_in"] + w["b_in"], 0) @ w["W_out"] + w["b_out"]


FORMULAS = {
    "pre_norm": lambda x, f: x + f(norm(x)),
    "post_norm": lambda x, f: norm(x + f(x)),
    "skip_after_norm": lambda x, f: norm(x) + f(norm(x)),
    "add_inside": lambda x, f: x + (x + f(norm(x))),
}


def last_state(trace, wiring, layer):
    name = "ln2.normalized" if wiring == "post_norm" else "resid_post"
    return trace[f"blocks.{layer}.{name}"]


@every_wiring
def test_a_wiring_follows_its_formula(wiring):
    trace, w = run_wiring(EXAMPLE, wiring, depth=3), EXAMPLE.weights
    x = EXAMPLE.embed + EXAMPLE.pos_embed
    for layer in range(3):
        assert_allclose(trace[f"blocks.{layer}.resid_pre"], x, rtol=1e-12)
        x = FORMULAS[wiring](x, lambda n: attn(n, w))
        x = FORMULAS[wiring](x, lambda n: ffn(n, w))
        assert_allclose(last_state(trace, wiring, layer), x, rtol=1e-11)


def test_pre_norm_is_exactly_what_run_computes():
    trace, expected = run_wiring(EXAMPLE, "pre_norm", depth=5), run(EXAMPLE, depth=5)
    assert list(trace) == list(expected)
    for name in expected:
        assert_array_equal(trace[name], expected[name])


def inputs(wiring, name):
    entry = run_wiring(EXAMPLE, wiring, 2).entries[f"blocks.1.{name}"]
    return {origin.removeprefix("blocks.1.") for origin in entry.inputs}


WIRES = {
    ("pre_norm", "resid_mid"): {"resid_pre", "attn_out"},
    ("pre_norm", "attn.q"): {"ln1.normalized"},
    ("pre_norm", "resid_pre"): {"blocks.0.resid_post"},
    ("post_norm", "resid_mid"): {"resid_pre", "attn_out"},
    ("post_norm", "attn.q"): {"resid_pre"},
    ("post_norm", "ln1.scale"): {"resid_mid"},
    ("post_norm", "resid_post"): {"ln1.normalized", "mlp_out"},
    ("post_norm", "ln2.scale"): {"resid_post"},
    ("post_norm", "resid_pre"): {"blocks.0.ln2.normalized"},
    ("skip_after_norm", "resid_mid"): {"ln1.normalized", "attn_out"},
    ("skip_after_norm", "resid_post"): {"ln2.normalized", "mlp_out"},
    ("add_inside", "attn_returned"): {"resid_pre", "attn_out"},
    ("add_inside", "resid_mid"): {"resid_pre", "attn_returned"},
    ("add_inside", "resid_post"): {"resid_mid", "mlp_returned"},
}


@pytest.mark.parametrize(("wiring", "name"), WIRES)
def test_the_recorded_inputs_show_the_wiring(wiring, name):
    assert inputs(wiring, name) == WIRES[wiring, name]


@every_wiring
def test_every_number_of_a_wiring_can_be_worked_out_again(wiring):
    trace = run_wiring(EXAMPLE, wiring, depth=2)
    for name, value in trace.items():
        for index in np.ndindex(value.shape):
            assert explain(trace, name, index).result == pytest.approx(value[index])


# ------------------------------------------------------- what it does to the stream


@every_wiring
def test_only_pre_norm_is_a_plain_running_sum(wiring, example, bank):
    """B6: in the others the last state is not x₀ plus the corrections."""
    trace = run_wiring(example, wiring, depth=3)
    account = ledger(trace, bank)
    total = account.x0 + sum(c.delta for c in account.corrections)
    off = abs(last_state(trace, wiring, 2)[bank] - total).max()
    assert off < 1e-12 if wiring == "pre_norm" else off > 0.1


def test_a_skip_after_the_norm_forgets_the_length_of_x0(example):
    """Twice the input gives the same stream: only its direction is left."""
    doubled = {"embed": 2 * example.embed, "pos_embed": 2 * example.pos_embed}
    twice = replace(example, **doubled)
    last = "blocks.0.resid_post"
    for wiring, forgets in (("skip_after_norm", True), ("pre_norm", False)):
        states = [run_wiring(e, wiring, 1)[last] for e in (example, twice)]
        assert np.allclose(*states, atol=1e-4) == forgets


def test_an_add_inside_doubles_the_stream_each_time(example, bank):
    """x_n / 2ⁿ = x₀ + Δ₁/2 + Δ₂/4 + …"""
    account = ledger(run_wiring(example, "add_inside", depth=3), bank)
    halved = [c.delta / 2**n for n, c in enumerate(account.corrections, start=1)]
    assert_allclose(account.x_n / 2**6, account.x0 + sum(halved), rtol=1e-12)


# ------------------------------------------------------------- where two runs part


@pytest.mark.parametrize(
    ("wiring", "name"),
    [
        ("post_norm", "blocks.0.ln1.scale"),
        ("skip_after_norm", "blocks.0.resid_mid"),
        ("add_inside", "blocks.0.resid_mid"),
    ],
)
def test_the_first_difference_is_where_the_wiring_goes_wrong(wiring, name):
    right, other = run_wiring(EXAMPLE, "pre_norm"), run_wiring(EXAMPLE, wiring)
    found = first_difference(right, other, token_no=1)
    assert (found.name, found.index[0]) == (name, 1)
    assert found.first == right[name][found.index]
    assert found.second == other[name][found.index]
    assert abs(found.first - found.second) > 1e-9


def test_the_first_difference_is_of_one_word_and_one_number():
    embed = EXAMPLE.embed.copy()
    embed[2, 3:] += 1e-6
    embed[1, 0] += 1e-10
    trace, other = run(EXAMPLE), run(replace(EXAMPLE, embed=embed))
    expected = Difference("embed", (2, 3), EXAMPLE.embed[2, 3], embed[2, 3])
    assert first_difference(trace, other, token_no=2) == expected
    # the others notice when attention looks at the changed word, as keys do
    assert first_difference(trace, other, token_no=1).name == "blocks.0.attn.scores"
    assert first_difference(trace, run(EXAMPLE), token_no=2) is None


def test_only_what_both_traces_hold_in_the_same_shape_is_compared():
    """Another norm has values of its own, another head other shapes."""
    trace = run(EXAMPLE)
    layer_norm, wider = run(EXAMPLE, parts=Parts(norm="layer")), dict(EXAMPLE.weights)
    assert first_difference(layer_norm, trace, 0).name == "blocks.0.ln1.scale"
    for name in ("W_Q", "W_K", "W_V"):
        wider[name] = np.hstack([wider[name], wider[name][:, :1]])
    wider["W_O"] = np.vstack([wider["W_O"], wider["W_O"][:1]])
    other = run(replace(EXAMPLE, weights=wider))
    assert first_difference(trace, other, 0).name == "blocks.0.attn.scores"


def test_a_word_outside_the_sentence_is_refused():
    trace = run(EXAMPLE, 1)
    for token_no in (-1, 3, True, 1.0, "1"):
        with pytest.raises(
            IndexError, match=f"token_no is {token_no!r}; .* from 0 to 2"
        ):
            first_difference(trace, trace, token_no)


# ---------------------------------------------------------- each block's own weights


def test_with_the_same_weights_in_each_block_nothing_changes():
    for residual in (True, False):
        trace = run_layers(EXAMPLE, [EXAMPLE.weights] * 3, residual)
        expected = run(EXAMPLE, 3, residual)
        for name in expected:
            assert_array_equal(trace[name], expected[name])


def test_each_block_uses_and_names_its_own_weights():
    """F4."""
    layers = vary(EXAMPLE, seed=1, amount=0.5)
    trace = run_layers(EXAMPLE, layers)
    assert list(trace.weights) == [
        f"weights.blocks.{layer}.{name}" for layer in range(3) for name in WEIGHT_AXES
    ]
    assert trace.entries["blocks.2.attn.q"].weights == ("blocks.2.W_Q",)
    x = EXAMPLE.embed + EXAMPLE.pos_embed
    for w in layers:
        x = x + attn(norm(x), w)
        x = x + ffn(norm(x), w)
    assert_allclose(trace["blocks.2.resid_post"], x, rtol=1e-11)


@pytest.mark.parametrize("amount", [0, 0.05, 2])
def test_no_weight_is_varied_further_than_allowed(amount):
    for layer in vary(EXAMPLE, seed=7, amount=amount, depth=20):
        for name, weight in EXAMPLE.weights.items():
            moved = abs(layer[name] - weight)
            assert (moved <= amount * (1 + abs(weight)) + 1e-15).all()
            assert (moved > 0).any() == (amount > 0)


def test_the_same_seed_varies_alike_and_a_deeper_set_starts_the_same():
    first, again = vary(EXAMPLE, seed=7), vary(EXAMPLE, seed=7, depth=5)
    other = vary(EXAMPLE, seed=8)
    for layer in range(3):
        for name in WEIGHT_AXES:
            assert_array_equal(first[layer][name], again[layer][name])
            assert (first[layer][name] != other[layer][name]).all()
    assert (first[0]["W_Q"] != first[1]["W_Q"]).all()


def test_every_machine_draws_the_same_numbers():
    twos = {name: np.full_like(weight, 2) for name, weight in EXAMPLE.weights.items()}
    example = replace(EXAMPLE, weights=twos)
    drawn = vary(example, seed=0, amount=1, depth=1)[0]["W_Q"][0]
    assert_array_equal(drawn, [3.1795538575288815, 0.08462385539577744])


@pytest.mark.parametrize("depth", [0, 97, -1, 10**12])
def test_a_depth_outside_1_to_96_is_refused(depth):
    for call in (
        lambda: run_wiring(EXAMPLE, "post_norm", depth),
        lambda: vary(EXAMPLE, 0, depth=depth),
    ):
        with pytest.raises(ValueError, match=f"depth is {depth}; .* from 1 to 96"):
            call()


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="wiring is 'sandwich'; use one of pre"):
        run_wiring(EXAMPLE, "sandwich")
    with pytest.raises(ValueError, match="depth is 0"):
        run_layers(EXAMPLE, [])
    for amount in (-0.1, np.inf, np.nan):
        with pytest.raises(ValueError, match=f"amount is {amount}; it must be"):
            vary(EXAMPLE, 0, amount)
