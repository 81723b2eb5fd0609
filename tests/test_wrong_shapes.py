"""Shapes that do not fit: one line that names both, and the cure."""

from dataclasses import replace

import numpy as np
import pytest

from random_examples import random_example
from residual_stream import ops, run

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
    "a mask with one row for all": lambda: ops.attention_scores(
        Z([2, 3]), Z([5, 3]), Z([5])
    ),
    "a mask for other heads": lambda: ops.attention_scores(
        Z([2, 3, 7]), Z([2, 5, 7]), Z([11, 3, 5])
    ),
    "a value too few": lambda: ops.mix(Z([2, 3]), Z([2, 5])),
    "values of other heads": lambda: ops.mix(Z([2, 3, 7]), Z([5, 7, 11])),
}
SHAPE = r"\[\d+(?:, \d+)*\]"


@pytest.mark.parametrize("misfit", MISFITS.values(), ids=MISFITS.keys())
def test_a_misfit_is_named_in_one_line_with_both_shapes_and_the_cure(misfit):
    line = rf"\A[a-z_]+: [\w ]+ has shape {SHAPE} and [\w ]+ {SHAPE}; .{{20,}}\Z"
    with pytest.raises(ValueError, match=line):
        misfit()


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
