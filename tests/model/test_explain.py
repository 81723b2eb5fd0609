"""The worked arithmetic: the right cells, the right sum, ready to read."""

from math import inf

import numpy as np
import pytest

from helpers.random_examples import random_example
from residual_stream import Parts, Trace, explain, run
from residual_stream.model import ops
from residual_stream.model.arithmetic import FORMS, number

X, W_Q = "blocks.0.ln1.normalized", "weights.W_Q"
VARIANTS = {
    "rms": Parts(),
    "layer": Parts(norm="layer"),
    "none": Parts(norm="none"),
    "no attention": Parts(attention=False),
    "no ffn": Parts(ffn=False),
    "no positions": Parts(positions=False),
}


def every_cell(trace):
    for name, value in trace.items():
        for index in np.ndindex(value.shape):
            yield name, index


def assert_worked_out(trace):
    numbers = {**trace, **{name: w.value for name, w in trace.weights.items()}}
    for name, index in every_cell(trace):
        arithmetic = explain(trace, name, index)
        assert abs(arithmetic.result - trace[name][index]) <= 1e-12, (name, index)
        assert arithmetic.groups
        assert arithmetic.text
        for group in arithmetic.groups:
            for term in group:
                assert term.value == numbers[term.name][term.index], (name, index)


def test_every_number_of_the_lesson_can_be_worked_out_again(trace, trace_off):
    assert_worked_out(trace)
    assert_worked_out(trace_off)


@pytest.mark.parametrize("residual", [True, False], ids=["on", "off"])
@pytest.mark.parametrize("parts", VARIANTS.values(), ids=VARIANTS.keys())
def test_every_number_of_every_variant_can_be_worked_out_again(parts, residual):
    assert_worked_out(run(random_example(), 3, residual, parts))


def test_every_kind_of_operation_has_its_arithmetic():
    kinds = {o.kind for o in vars(ops).values() if isinstance(o, ops.Operation)}
    assert kinds == set(FORMS)


# ------------------------------------------------------------------- the right cells

AT = "blocks.0."
CELLS = {
    ("blocks.0.attn.q", (2, 1)): [[(X, (2, i)), (W_Q, (i, 1))] for i in range(5)],
    ("blocks.0.attn.scores", (2, 1)): [
        [(f"{AT}attn.q", (2, i)), (f"{AT}attn.k", (1, i))] for i in range(2)
    ],
    ("blocks.0.attn.pattern", (2, 1)): [
        [(f"{AT}attn.scores", (2, i))] for i in range(3)
    ],
    ("blocks.0.attn.z", (2, 1)): [
        [(f"{AT}attn.pattern", (2, i)), (f"{AT}attn.v", (i, 1))] for i in range(3)
    ],
    ("blocks.0.mlp.pre", (2, 6)): [
        *(
            [(f"{AT}ln2.normalized", (2, i)), ("weights.W_in", (i, 6))]
            for i in range(5)
        ),
        [("weights.b_in", (6,))],
    ],
    ("blocks.0.ln1.scale", (2,)): [[(f"{AT}resid_pre", (2, i))] for i in range(5)],
    (X, (2, 4)): [[(f"{AT}resid_pre", (2, 4))], [(f"{AT}ln1.scale", (2,))]],
    ("blocks.0.resid_mid", (2, 4)): [
        [(f"{AT}resid_pre", (2, 4))],
        [(f"{AT}attn_out", (2, 4))],
    ],
    ("blocks.1.resid_pre", (2, 4)): [[(f"{AT}resid_post", (2, 4))]],
    ("embed", (2, 4)): [[("embed", (2, 4))]],
}


@pytest.mark.parametrize(("place", "cells"), CELLS.items(), ids=str)
def test_a_number_names_the_cells_it_was_made_from(place, cells):
    arithmetic = explain(run(random_example()), *place)
    groups = [
        [(term.name, term.index) for term in group] for group in arithmetic.groups
    ]
    assert groups == cells


# ------------------------------------------------------------------------- to be read


def tiny_trace() -> Trace:
    trace = Trace()
    stream = ("pos", "d_model")
    x = trace.given("x", stream, "x", np.array([[3.0, -4.0]]))
    weight = trace.weight("W", ("d_model", "d_head"), np.array([[2.0, 0.5], [-1, 0]]))
    bias = trace.weight("b", ("d_head",), np.array([-7.0, 1.0]))
    y = trace.record("y", stream, "x W + b", ops.project, x, weight, bias)
    trace.record("relu", stream, "", ops.relu, x)
    trace.record("sum", stream, "", ops.add, x, y)
    trace.record("copy", stream, "", ops.carry, x)
    trace.record("centred", stream, "", ops.centre, x)
    scale = trace.record("scale", ("pos",), "", ops.rms_scale, x)
    trace.record("quotient", stream, "", ops.divide, x, scale)
    pairs = ("query_pos", "key_pos")
    trace.record("scores", pairs, "", ops.attention_scores, x, x)
    trace.record("shares", stream, "", ops.softmax, x)
    return trace


READ = {
    ("x", (0, 1)): "x[0, 1] = −4.00 = −4.00",
    ("copy", (0, 0)): "copy[0, 0] = 3.00 = 3.00",
    ("y", (0, 0)): "y[0, 0] = 3.00 · 2.00 − 4.00 · (−1.00) − 7.00 = 3.00",
    ("relu", (0, 1)): "relu[0, 1] = max(0, −4.00) = 0.00",
    ("sum", (0, 1)): "sum[0, 1] = −4.00 + 2.50 = −1.50",
    ("centred", (0, 0)): "centred[0, 0] = 3.00 − (3.00 − 4.00) / 2 = 3.50",
    ("scale", (0,)): "scale[0] = √((3.00² + (−4.00)²) / 2 + ε) = 3.54",
    ("quotient", (0, 1)): "quotient[0, 1] = −4.00 / 3.54 = −1.13",
    ("scores", (0, 0)): ("scores[0, 0] = (3.00 · 3.00 − 4.00 · (−4.00)) / √2 = 17.68"),
    ("shares", (0, 0)): (
        "shares[0, 0] = exp(3.00 − 3.00) / "
        "(exp(3.00 − 3.00) + exp(−4.00 − 3.00)) = 1.00"
    ),
}


@pytest.mark.parametrize(("place", "text"), READ.items(), ids=str)
def test_the_arithmetic_reads_like_a_sum_on_paper(place, text):
    assert str(explain(tiny_trace(), *place)) == text


def test_a_number_has_a_real_minus_sign_and_no_minus_zero():
    values = [-1.5, -0.001, 0.0, 12.345, -inf]
    assert [number(value) for value in values] == [
        "−1.50",
        "0.00",
        "0.00",
        "12.35",
        "−inf",
    ]


def test_a_tie_is_rounded_away_from_zero():
    assert [number(value, decimals=1) for value in (0.25, -0.25, 2)] == [
        "0.3",
        "−0.3",
        "2.0",
    ]


# ------------------------------------------------------------------------------ masks


def test_a_trace_explains_its_own_numbers(trace):
    place = ("blocks.1.attn.z", (3, 1))
    assert trace.explain(*place) == explain(trace, *place)


def test_the_terms_are_those_of_all_groups_in_order():
    y = explain(tiny_trace(), "y", (0, 0))
    assert [term.value for term in y.terms] == [3, 2, -4, -1, -7]
    assert y.terms == tuple(term for group in y.groups for term in group)


@pytest.mark.parametrize("kind", ["numbers", "booleans"])
def test_masked_scores_are_worked_out_too(kind):
    trace = Trace()
    numbers = np.random.default_rng(0)
    q, k = (
        trace.given(name, ("pos", "d_head"), name, numbers.normal(size=size))
        for name, size in (("q", (3, 5)), ("k", (2, 5)))
    )
    mask = np.array([[True, True], [True, False], [False, False]])
    if kind == "numbers":
        mask = np.where(mask, numbers.normal(size=mask.shape), -inf)
    pairs = ("query_pos", "key_pos")
    m = trace.given("mask", pairs, "mask", mask)
    scores = trace.record("scores", pairs, "", ops.attention_scores, q, k, m)
    trace.record("pattern", pairs, "", ops.softmax, scores)
    for name in ("scores", "pattern"):
        for index in np.ndindex(3, 2):
            result, stored = explain(trace, name, index).result, trace[name][index]
            assert result == stored or abs(result - stored) <= 1e-12


@pytest.mark.parametrize(
    ("axes", "mask"),
    [
        (("key_pos",), [True, False]),
        (("query_pos", "key_pos"), [[True, False]]),
        (("query_pos", "key_pos"), [[0.5], [-inf], [2.0]]),
        ((), 0.25),
    ],
)
def test_scores_with_a_mask_for_all_queries_or_keys_are_worked_out(axes, mask):
    trace = Trace()
    numbers = np.random.default_rng(0)
    q, k = (
        trace.given(name, ("pos", "d_head"), name, numbers.normal(size=size))
        for name, size in (("q", (3, 5)), ("k", (2, 5)))
    )
    m = trace.given("mask", axes, "mask", np.array(mask))
    pairs = ("query_pos", "key_pos")
    trace.record("scores", pairs, "", ops.attention_scores, q, k, m)
    for index in np.ndindex(3, 2):
        result, stored = trace.explain("scores", index).result, trace["scores"][index]
        assert result == stored or abs(result - stored) <= 1e-12


# ------------------------------------------------------------------------ no such place


def test_an_unknown_name_is_refused(trace):
    with pytest.raises(KeyError, match=r"'attn\.q'; this trace goes from embed to"):
        explain(trace, "attn.q", (0, 0))


@pytest.mark.parametrize(
    "index",
    [
        *[(4, 0), (0, 4), (-1, 0), (0,), (0, 0, 0), (), (0, 1.0), (True, 0)],
        *[3, "00", None, np.array(3), np.eye(2, dtype=int)],
    ],
)
def test_a_place_outside_the_value_is_refused(trace, index):
    with pytest.raises(
        IndexError, match=r"\Aembed has shape \[4, 4\], so no place .+; give 2[^\n]+\Z"
    ):
        explain(trace, "embed", index)
