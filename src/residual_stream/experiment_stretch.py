"""By how much a run stretches a nudge: the singular values of its derivatives."""

import numpy as np

from residual_stream import jacobian
from residual_stream.expression_functions import ExpressionError
from residual_stream.ops import Array
from residual_stream.trace import Trace

OF = ("block", "corrections", "stream")


def stretch(
    trace: Trace, streams: Array, of: str, k: int, token_no: int | None = None
) -> Array:
    """Singular values, largest first.

    streams:   what `stream_jacobians` made of the trace.
    of:        "block" or "corrections" of block k from 0, "stream" for x[k] by x[0].
    token_no:  only this word's own part; None for the whole matrix.
    raises     ExpressionError for another name or a block that is not there.
    """
    last = len(streams) - (1 if of == "stream" else 2)
    if of not in OF or k > last:
        raise ExpressionError(
            f"found stretch.{of}[{k}], needs {', '.join(OF)} and a number up to {last}"
        )
    if of == "stream":
        return jacobian.singular_values(streams[k], token_no)
    make = {
        "block": jacobian.block_jacobian,
        "corrections": jacobian.corrections_jacobian,
    }
    return jacobian.singular_values(make[of](trace, k), token_no)


def stream_jacobians(trace: Trace) -> Array:
    """The derivatives of x[0], x[1], … by x[0]; the first is the identity.

    returns  [1 + depth, pos, d_model, pos, d_model]
    """
    start = trace["blocks.0.resid_pre"]
    identity = np.eye(start.size).reshape(1, *start.shape * 2)
    return np.concatenate([identity, jacobian.stream_jacobians(trace)])
