"""Operations on the stream, each word for itself: adds, projections, ReLU."""

import numpy as np

from residual_stream.model.ops.operation import (
    VECTORS,
    Array,
    misfit,
    operation,
    too_flat,
)


@operation("given", "")
def given(value: Array) -> Array:
    """A value that the example's file states and nothing computes.

    value:   any shape
    returns  the same array, or the numbers of a list as one.
    """
    return value


@operation("copy", "pos i -> pos i")
def carry(x: Array) -> Array:
    """Hand the stream on as it is.

        x' = x

    x:       [pos, d_model]
    returns  [pos, d_model], the same numbers.
    """
    return x


@operation("sum", "pos i, pos i -> pos i")
def add(x: Array, delta: Array) -> Array:
    """Add a correction to the residual stream.

        x' = x + delta

    x:       [pos, d_model]
    delta:   [pos, d_model]
    returns  [pos, d_model]
    raises   ValueError if the shapes differ, naming both, or are of no vector.
    source   He et al. 2016, "Deep Residual Learning", eq. 1.
    """
    if not x.ndim:
        raise too_flat("add", "the stream", x, VECTORS)
    if x.shape != delta.shape:
        raise misfit(
            "add",
            "the stream",
            x,
            "the correction",
            delta,
            "a correction needs the shape of the stream it is added to",
        )
    return x + delta


@operation("sum of products", "pos i, i j, j -> pos j")
def project(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """Multiply each vector by a matrix: q, k, v, the head's output, each FFN layer.

        y = x W (+ b)

    x:       [pos, d_in]
    weight:  [d_in, d_out]
    bias:    [d_out] or left out
    returns  [pos, d_out]
    raises   ValueError if x and weight disagree on d_in, or weight and bias on
             d_out, naming both shapes.
    """
    if weight.ndim != 2 or x.shape[-1:] != weight.shape[:1]:
        raise misfit(
            "project",
            "the input",
            x,
            "the weight",
            weight,
            VECTORS
            if not x.ndim
            else "give a matrix with as many rows as the input's last axis is long",
        )
    # dot() is matmul here, with less ado for matrices as small as a lesson's
    y: Array = x.dot(weight)
    if bias is None:
        return y
    if bias.shape != weight.shape[1:]:
        raise misfit(
            "project",
            "the weight",
            weight,
            "the bias",
            bias,
            "give one bias for each of the weight's columns",
        )
    return y + bias


@operation("larger of 0 and", "pos i -> pos i")
def relu(pre: Array) -> Array:
    """Let positive numbers through and put 0 for the others.

        post = max(0, pre)

    pre:     [pos, d_mlp]
    returns  [pos, d_mlp], at least 0.
    raises   ValueError for a single number, which is no vector.
    source   Vaswani et al. 2017, eq. 2.
    """
    if not pre.ndim:
        raise too_flat("relu", "pre", pre, VECTORS)
    post: Array = np.maximum(pre, 0.0)
    return post
