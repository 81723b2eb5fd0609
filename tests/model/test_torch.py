"""Whole blocks against PyTorch in float64, whose values `data/` keeps."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from residual_stream import Example, Parts, run
from residual_stream.model.block import WEIGHT_AXES

ARRAYS = np.load(Path(__file__).parents[1] / "data" / "torch_blocks.npz")
DEPTH = 3
VARIANTS = {
    "rms-on": (True, Parts()),
    "rms-off": (False, Parts()),
    "layer-on": (True, Parts(norm="layer")),
    "layer-off": (False, Parts(norm="layer")),
    "none-on": (True, Parts(norm="none")),
    "none-off": (False, Parts(norm="none")),
    "without-attention": (True, Parts(attention=False)),
    "without-ffn": (True, Parts(ffn=False)),
    "without-positions": (True, Parts(positions=False)),
}
every_block = pytest.mark.parametrize(
    ("size", "variant"),
    [(size, name) for size in ("wide", "long") for name in VARIANTS],
)


def torch_example(size: str) -> Example:
    kept = {
        name: ARRAYS[f"{size}/example/{name}"]
        for name in ("embed", "pos_embed", *WEIGHT_AXES)
    }
    embed, pos_embed = kept.pop("embed"), kept.pop("pos_embed")
    words, axes = (tuple(f"{n}" for n in range(size)) for size in embed.shape)
    return Example(words, axes, embed, pos_embed, kept)


def torch_values(size: str, variant: str) -> dict[str, np.ndarray]:
    """PyTorch's values by trace name; what each block has is kept stacked."""
    start = f"{size}/{variant}/"
    values = {}
    for name in (name for name in ARRAYS.files if name.startswith(start)):
        short, kept = name.removeprefix(start), ARRAYS[name]
        if "*" in short:
            values |= {short.replace("*", str(n)): kept[n] for n in range(DEPTH)}
        else:
            values[short] = kept
    return values


@every_block
def test_every_value_is_pytorchs(size, variant):
    residual, parts = VARIANTS[variant]
    trace = run(torch_example(size), DEPTH, residual, parts)
    values = torch_values(size, variant)
    assert set(trace) == {name for name in values if "jacobian" not in name}
    for name, value in trace.items():
        assert_allclose(value, values[name], rtol=1e-12, atol=1e-12, err_msg=name)


@every_block
def test_the_kept_jacobian_is_how_these_blocks_change(size, variant):
    """Compared with the difference quotient, so only to six places."""
    residual, parts = VARIANTS[variant]
    values = torch_values(size, variant)
    x0 = values["blocks.0.resid_pre"]
    start = replace(torch_example(size), embed=x0)
    parts = replace(parts, positions=False)
    h = 1e-6
    for at in np.ndindex(x0.shape):
        nudge = np.zeros_like(x0)
        nudge[at] = h
        more, less = (
            run(replace(start, embed=x0 + step), DEPTH, residual, parts)
            for step in (nudge, -nudge)
        )
        for layer in range(DEPTH):
            name = f"blocks.{layer}.resid_post"
            slope = (more[name] - less[name]) / (2 * h)
            kept = values[f"jacobian/{name}"][:, :, *at]
            assert_allclose(slope, kept, rtol=1e-6, atol=1e-6, err_msg=name)
