"""Examples with random numbers and another prime on every axis."""

import numpy as np

from residual_stream import Example
from residual_stream.model.block import WEIGHT_AXES


def random_example(
    seed: int = 0, *, pos: int = 3, d_model: int = 5, d_head: int = 2, d_mlp: int = 7
) -> Example:
    rng = np.random.default_rng(seed)
    sizes = {"d_model": d_model, "d_head": d_head, "d_mlp": d_mlp}
    return Example(
        tokens=tuple(f"word {place}" for place in range(pos)),
        axes=tuple(f"axis {place}" for place in range(d_model)),
        embed=rng.normal(size=(pos, d_model)),
        pos_embed=rng.normal(size=(pos, d_model)),
        weights={
            # half as large, so that without a norm the numbers stay near one
            name: rng.normal(scale=0.5, size=[sizes[axis] for axis in axes])
            for name, axes in WEIGHT_AXES.items()
        },
    )
