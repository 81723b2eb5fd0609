"""The operations of a Transformer block, as pure functions of NumPy arrays.

No function changes what it is given. `given` and `carry` hand on what they get; all
others make a new array. The decorator above each states the arithmetic of one cell as
an index pattern: `"pos i, i j -> pos j"` says that cell `[pos, j]` of the result is
made of `[pos, i]` of the first input and `[i, j]` of the second, for every `i`. Worked
arithmetic, hover and derivatives read that pattern, so that none of them can tell
another story than the code.

Leading axes beyond those named (a batch, heads) are allowed everywhere. Inputs may be
anything that NumPy makes real numbers of; all is computed in float64.
"""

from residual_stream.model.ops.attention import (
    attention_scores,
    causal_mask,
    mix,
    softmax,
)
from residual_stream.model.ops.norms import (
    EPS,
    centre,
    divide,
    layer_norm,
    rms_norm,
    rms_scale,
)
from residual_stream.model.ops.operation import Array, Operation, operation
from residual_stream.model.ops.stream import add, carry, given, project, relu

__all__ = [
    "EPS",
    "Array",
    "Operation",
    "add",
    "attention_scores",
    "carry",
    "causal_mask",
    "centre",
    "divide",
    "given",
    "layer_norm",
    "mix",
    "operation",
    "project",
    "relu",
    "rms_norm",
    "rms_scale",
    "softmax",
]
