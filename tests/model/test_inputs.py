"""What a run is given: refused in one line where it starts, or taken as it is meant."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers.random_examples import random_example
from residual_stream import Parts, run
from residual_stream.model.wirings import run_layers, run_wiring, vary

EXAMPLE = random_example(pos=3, d_model=5, d_head=2, d_mlp=7)
WEIGHTS = EXAMPLE.weights
ALL = list(WEIGHTS)
RUNS = {
    "run": run,
    "run_wiring": lambda example, *how: run_wiring(example, "post_norm", *how),
    "vary": lambda example, *how: vary(example, 0, 0.1, *how),
}
every_run = pytest.mark.parametrize("start", RUNS.values(), ids=RUNS)


def with_weight(name, value):
    return replace(EXAMPLE, weights={**WEIGHTS, name: value})


# ------------------------------------------------------------------- how a run is set


@every_run
@pytest.mark.parametrize("depth", [True, np.True_, 3.0, np.float64(3), "3", None, [3]])
def test_a_depth_is_a_whole_number(start, depth):
    with pytest.raises(ValueError, match=r"\Adepth is .+; .* from 1 to 96\Z"):
        start(EXAMPLE, depth)


@every_run
@pytest.mark.parametrize("depth", [2, np.int64(2), np.uint8(2)])
def test_numpy_s_whole_numbers_are_taken_too(start, depth):
    assert len(start(EXAMPLE, depth)) == len(start(EXAMPLE, 2))


@pytest.mark.parametrize("residual", ["off", "on", 0, 1, None, [], np.array([True])])
def test_residual_is_true_or_false(residual):
    line = r"\Aresidual is .+; it must be True or False\Z"
    with pytest.raises(ValueError, match=line):
        run(EXAMPLE, 1, residual)
    with pytest.raises(ValueError, match=line):
        run_layers(EXAMPLE, [WEIGHTS], residual)


@every_run
@pytest.mark.parametrize("example", [None, "bank", {}, run])
def test_what_is_run_is_an_example(start, example):
    with pytest.raises(ValueError, match=r"\Aexample is .+; it must be made by Exampl"):
        start(example, 1)
    with pytest.raises(ValueError, match=r"\Aexample is .+; it must be made by Exampl"):
        run_layers(example, [WEIGHTS])


@every_run
def test_weights_have_names(start):
    line = r"\Aweights is \[\]; it must name each array\Z"
    with pytest.raises(ValueError, match=line):
        start(replace(EXAMPLE, weights=[]), 1)


def test_numpy_s_truth_is_taken_too():
    for value in (True, False):
        found, expected = (run(EXAMPLE, 2, kind(value)) for kind in (np.bool_, bool))
        assert_array_equal(
            found["blocks.1.resid_post"], expected["blocks.1.resid_post"]
        )


def test_a_model_has_known_parts_only():
    for norm in ("foo", "RMS", None, True, ["rms"]):
        with pytest.raises(ValueError, match=r"\Anorm is .+; use one of rms, "):
            Parts(norm=norm)
    for name in ("attention", "ffn", "positions"):
        with pytest.raises(ValueError, match=rf"\A{name} is 'no'; it must be True or"):
            Parts(**{name: "no"})
    for parts in (None, "rms", {"norm": "rms"}):
        with pytest.raises(ValueError, match=r"\Aparts is .+; it must be made "):
            run(EXAMPLE, 1, True, parts)


def test_a_wiring_seed_or_amount_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"wiring is \['pre_norm'\]; use one of "):
        run_wiring(EXAMPLE, ["pre_norm"])
    for seed in (True, -1, 0.0, "0", None):
        with pytest.raises(ValueError, match=r"\Aseed is .+ whole number from 0 up\Z"):
            vary(EXAMPLE, seed)
    with pytest.raises(ValueError, match=r"\Aamount is '1'; it must be 0 or more"):
        vary(EXAMPLE, 0, "1")


# -------------------------------------------------------------- what a run starts from

BAD = {
    "a row too few": (
        {"embed": EXAMPLE.embed[:2], "pos_embed": EXAMPLE.pos_embed[:2]},
        r"embed has shape \[2, 5\] for 3 tokens and 5 axes; give each token a row",
    ),
    "an axis too few": (
        {"axes": EXAMPLE.axes[:4]},
        r"embed has shape \[3, 5\] for 3 tokens and 4 axes; ",
    ),
    "no word": (
        {"tokens": (), "embed": np.zeros((0, 5)), "pos_embed": np.zeros((0, 5))},
        r"embed has shape \[0, 5\] for 0 tokens and 5 axes; .*at least one",
    ),
    "NaN in a word": (
        {"embed": np.where(np.eye(3, 5) == 1, np.nan, EXAMPLE.embed)},
        r"embed holds nan at \[0, 0\]; give finite numbers",
    ),
    "an endless place": (
        {"pos_embed": np.where(np.eye(3, 5) == 1, np.inf, EXAMPLE.pos_embed)},
        r"pos_embed holds inf at \[0, 0\]; give finite numbers",
    ),
    "complex words": (
        {"embed": EXAMPLE.embed * 1j},
        r"embed holds complex128; give real numbers",
    ),
    "words of text": ({"embed": [["a"] * 5] * 3}, r"embed holds <U1; give real num"),
    "ragged words": ({"embed": [[1], [1, 2]]}, r"embed is no array; give real number"),
}


@every_run
@pytest.mark.parametrize("change", BAD)
def test_words_that_do_not_fit_are_one_line(start, change):
    changed, says = BAD[change]
    example = replace(EXAMPLE, **changed)
    if start is RUNS["vary"]:
        # it makes weights alone, and what it makes is run with the words
        with pytest.raises(ValueError, match=rf"\A{says}[^\n]*\Z"):
            run_layers(example, [WEIGHTS])
        return
    with pytest.raises(ValueError, match=rf"\A{says}[^\n]*\Z"):
        start(example)


@every_run
@pytest.mark.parametrize("name", ALL)
def test_weights_that_do_not_fit_are_one_line(start, name):
    weight = WEIGHTS[name]
    missing = {other: WEIGHTS[other] for other in ALL if other != name}
    holed = weight.copy()
    holed.flat[-1] = -np.inf
    for example, says in (
        (replace(EXAMPLE, weights=missing), r"is missing; a block needs W_Q, W_K"),
        (with_weight(name, holed), r"holds -inf at \[[\d, ]+\]; give finite numbers"),
        (with_weight(name, weight * 1j), r"holds complex128; give real numbers"),
        (with_weight(name, weight[None]), r": it has shape \[1, .*\], needs \[d_"),
        (with_weight(name, weight[..., :0]), r": it has shape \[.*0\], needs \[d_.*1"),
    ):
        with pytest.raises(ValueError, match=rf"\Aweights\.{name} ?{says}[^\n]*\Z"):
            start(example)


def test_the_weights_of_one_block_are_named_as_its():
    layers = [WEIGHTS, {**WEIGHTS, "W_K": WEIGHTS["W_K"][:, :1]}]
    line = (
        r"weights\.blocks\.1\.W_Q has shape \[5, 2\] and weights\.blocks\.1\.W_K "
        r"\[5, 1\]; W_K is \[d_model, d_head\], and d_head is 2"
    )
    with pytest.raises(ValueError, match=rf"\A{line}\Z"):
        run_layers(EXAMPLE, layers)


def test_lists_are_taken_for_arrays():
    lists = replace(
        EXAMPLE,
        embed=EXAMPLE.embed.tolist(),
        pos_embed=EXAMPLE.pos_embed.tolist(),
        weights={name: weight.tolist() for name, weight in WEIGHTS.items()},
    )
    for start in (run, lambda example: run_wiring(example, "add_inside")):
        found, expected = start(lists), start(EXAMPLE)
        assert list(found) == list(expected)
        for name in expected:
            assert_array_equal(found[name], expected[name])
    assert_array_equal(vary(lists, 1)[0]["W_Q"], vary(EXAMPLE, 1)[0]["W_Q"])


def test_what_is_written_into_an_example_after_a_run_is_noticed():
    example = replace(EXAMPLE, embed=EXAMPLE.embed.copy(), weights=dict(WEIGHTS))
    run(example)
    example.embed[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"\Aembed holds nan at \[1, 2\]; "):
        run(example)
    example.embed[1, 2] = 0
    run(example)
    del example.weights["W_O"]
    with pytest.raises(ValueError, match=r"\Aweights\.W_O is missing; "):
        run(example)


def test_numbers_that_only_grow_too_large_are_no_fault_of_the_example():
    huge = replace(EXAMPLE, embed=EXAMPLE.embed * 1e200)
    with np.errstate(all="ignore"):
        trace = run(huge, 6, parts=Parts(norm="none"))
    assert not np.isfinite(trace["blocks.5.resid_post"]).all()
