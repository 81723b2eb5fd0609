"""Normalisation: RMSNorm and LayerNorm, step by step and in one call."""

import numpy as np

from residual_stream.model.ops.operation import (
    VECTORS,
    Array,
    misfit,
    numbers,
    operation,
    too_flat,
)

EPS = 1e-6


@operation("root mean square", "pos i -> pos")
def rms_scale(x: Array, eps: float = EPS) -> Array:
    """The number that RMSNorm divides a vector by.

        scale = sqrt(mean(x^2) + eps)

    x:       [pos, d_model]
    eps:     added inside the root, so that a zero vector does not divide by zero.
    returns  [pos], in the unit of x, always positive.
    raises   ValueError for an x without numbers to take the mean of.
    source   Zhang & Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4.
    """
    width = x.shape[-1] if x.ndim else 0
    if not width:
        raise too_flat("rms_scale", "the stream", x, VECTORS)
    scale: Array = np.sqrt(np.vecdot(x, x) / width + eps)
    return scale


@operation("distance from the mean", "pos other -> pos i")
def centre(x: Array) -> Array:
    """Take each vector's mean off: the first half of LayerNorm.

        centred = x - mean(x)

    x:       [pos, d_model]
    returns  [pos, d_model], in the unit of x; each vector adds up to 0.
    raises   ValueError for an x without numbers to take the mean of.
    source   Ba et al. 2016, "Layer Normalization", eq. 3.
    """
    if not x.ndim or not x.shape[-1]:
        raise too_flat("centre", "the stream", x, VECTORS)
    centred: Array = x - x.mean(axis=-1, keepdims=True)
    return centred


@operation("quotient", "pos i, pos -> pos i")
def divide(x: Array, scale: Array) -> Array:
    """Divide each vector by its own scale: what a norm hands on.

        normalized = x / scale

    x:       [pos, d_model]
    scale:   [pos]
    returns  [pos, d_model], no unit; its mean square is near 1.
    raises   ValueError if there is not one scale a vector, naming both shapes.
    """
    if not x.ndim:
        raise too_flat("divide", "the stream", x, VECTORS)
    if x.shape[:-1] != scale.shape:
        raise misfit(
            "divide",
            "the stream",
            x,
            "the scale",
            scale,
            "give one scale a vector: the stream's shape without its last axis",
        )
    return x / scale[..., None]


def rms_norm(x: Array, gain: Array | None = None, eps: float = EPS) -> Array:
    """RMSNorm in one call.

        x / sqrt(mean(x^2) + eps) * gain

    x:       [..., d_model]
    gain:    [d_model] or left out
    returns  [..., d_model], no unit.
    raises   ValueError if the gain is not as wide as x, naming both shapes.
    source   Zhang & Sennrich 2019, eq. 4.
    """
    x = _vectors("rms_norm", x)
    normalized = divide.compute(x, rms_scale.compute(x, eps))
    return _gain_and_bias("rms_norm", normalized, gain, None)


def layer_norm(
    x: Array, gain: Array | None = None, bias: Array | None = None, eps: float = EPS
) -> Array:
    """LayerNorm in one call.

        (x - mean(x)) / sqrt(var(x) + eps) * gain + bias     the biased variance

    x:       [..., d_model]
    gain:    [d_model] or left out
    bias:    [d_model] or left out
    returns  [..., d_model], no unit.
    raises   ValueError if gain or bias is not as wide as x, naming both shapes.
    source   Ba et al. 2016, eq. 4.
    """
    centred = centre.compute(_vectors("layer_norm", x))
    normalized = divide.compute(centred, rms_scale.compute(centred, eps))
    return _gain_and_bias("layer_norm", normalized, gain, bias)


def _vectors(norm: str, x: Array) -> Array:
    x = numbers(f"{norm}: x", x)
    if not x.ndim or not x.shape[-1]:
        raise too_flat(norm, "the stream", x, VECTORS)
    return x


def _gain_and_bias(
    norm: str, normalized: Array, gain: Array | None, bias: Array | None
) -> Array:
    if gain is not None:
        normalized = normalized * _as_wide(norm, normalized, "gain", gain)
    if bias is not None:
        normalized = normalized + _as_wide(norm, normalized, "bias", bias)
    return normalized


def _as_wide(norm: str, normalized: Array, what: str, vector: Array) -> Array:
    vector = numbers(f"{norm}: {what}", vector)
    if vector.shape != normalized.shape[-1:]:
        raise misfit(
            norm,
            "the stream",
            normalized,
            f"the {what}",
            vector,
            "it needs one number for each of the stream's last axis",
        )
    return vector
