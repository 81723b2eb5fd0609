"""Exact derivatives of what a trace recorded, by the chain rule and nothing else.

    d(of)/d(by) = Σ over the inputs of `of`:  d(of)/d(input) · d(input)/d(by)

`derivatives.RULES` has one rule for each kind of operation. The walk follows the
recorded origins, so it sees whatever wiring was run. Weights are constants.
"""

from collections.abc import Callable

import numpy as np

from residual_stream.model import inputs, ops
from residual_stream.model.ledger import Sublayer, depth_of
from residual_stream.model.ops import Array
from residual_stream.model.trace import Entry, Trace

# an entry, which of its inputs moves, that input's tangents -> the entry's tangents
Rule = Callable[[Entry, int, Array], Array]


def _sum_of_products(entry: Entry, place: int, t: Array) -> Array:
    if place == 2:  # the bias, the same for each row
        return np.broadcast_to(t[:, None], (len(t), *entry.value.shape))
    left, right = (origin.value for origin in entry.origins[:2])
    return t @ right if place == 0 else left @ t


def _scaled_sum_of_products(entry: Entry, place: int, t: Array) -> Array:
    q, k = (origin.value for origin in entry.origins[:2])
    if place < 2:
        t = ops.attention_scores(t, k) if place == 0 else ops.attention_scores(q, t)
    else:  # a mask may be the same for all queries: [t, key] is [t, 1, key]
        ones = (1,) * (1 + entry.value.ndim - t.ndim)
        t = t.reshape(len(t), *ones, *t.shape[1:])
    # a closed place is −∞ whatever q and k do
    return np.where(np.isneginf(entry.value), 0.0, t)


def _root_mean_square(entry: Entry, _: int, t: Array) -> Array:
    # d scale = mean(x dx) / scale, divided first so that x dx can't overflow
    ratio = entry.origins[0].value / entry.value[..., None]
    moved: Array = np.add.reduce(ratio * t, axis=-1) / t.shape[-1]
    return moved


def _quotient(entry: Entry, place: int, t: Array) -> Array:
    scale = entry.origins[1].value[..., None]
    return t / scale if place == 0 else -entry.value * (t[..., None] / scale)


def _softmax(entry: Entry, _: int, t: Array) -> Array:
    # d p_j = p_j (d s_j − Σ_k p_k d s_k): 0 in a row that looks at nothing, where p = 0
    share = entry.value
    moved: Array = share * (t - np.add.reduce(share * t, axis=-1, keepdims=True))
    return moved


RULES: dict[str, Rule] = {
    "copy": lambda _entry, _place, t: t,
    "sum": lambda _entry, _place, t: t,
    "sum of products": _sum_of_products,
    "scaled sum of products": _scaled_sum_of_products,
    "root mean square": _root_mean_square,
    "distance from the mean": lambda _entry, _place, t: ops.centre(t),
    "quotient": _quotient,
    "softmax": _softmax,
    # 0 where the input is exactly 0: a corner has no derivative; PyTorch takes 0 too
    "larger of 0 and": lambda entry, _, t: np.where(entry.origins[0].value > 0, t, 0.0),
}


STEPS: dict[Sublayer, tuple[str, str]] = {
    "attention": ("attn_out", "resid_pre"),
    "ffn": ("mlp_out", "resid_mid"),
}


def jacobian(trace: Trace, of: str, by: str) -> Array:
    """How every number of one value moves with every number of an earlier one.

        J[a, b] = d of[a] / d by[b]

    of, by:  names in the trace, not of weights.
    returns  the axes of `of`, then those of `by`, e.g. [pos, d_model, pos, d_model];
             zeros where `of` does not depend on `by`.
    raises   KeyError for a name that is not in the trace.
    source   Griewank & Walther 2008, "Evaluating Derivatives", 3.1: forward mode.
    """
    value, start = trace[of], trace[by]
    names = list(trace)
    # one tangent for each number of `by`, on an axis in front: [n, *shape]
    tangents = {by: _identity(start).reshape(-1, *start.shape)}
    for name in names[names.index(by) + 1 : names.index(of) + 1]:
        entry = trace.entries[name]
        moved = [
            RULES[entry.operation.kind](entry, place, tangents[origin.name])
            for place, origin in enumerate(entry.origins)
            if origin.name in tangents
        ]
        if moved:
            tangents[name] = np.sum(moved, axis=0)
    tangent = tangents.get(of, np.zeros((start.size, *value.shape)))
    return np.moveaxis(tangent, 0, -1).reshape(*value.shape, *start.shape)


def block_jacobian(trace: Trace, layer: int) -> Array:
    """The derivative of what leaves a block, counted from 0, by what enters it.

        J = d resid_post / d resid_pre

    returns  [pos, d_model, pos, d_model]
    raises   KeyError for a block that the trace does not have.
    """
    at = f"blocks.{layer}."
    return jacobian(trace, at + "resid_post", by=at + "resid_pre")


def sublayer_jacobian(trace: Trace, layer: int, sublayer: Sublayer) -> Array:
    """The derivative of one correction by the stream that its sublayer starts from.

        J_F = d attn_out / d resid_pre    or    d mlp_out / d resid_mid

    With the residual the update x + F(x) has the derivative I + J_F, without it J_F.

    returns  [pos, d_model, pos, d_model]
    raises   KeyError for a block or a sublayer that the trace does not have.
    source   He et al. 2016, "Deep Residual Learning", eq. 1, for the update.
    """
    delta, stream = (f"blocks.{layer}.{name}" for name in STEPS[sublayer])
    return jacobian(trace, delta, by=stream)


def corrections_jacobian(trace: Trace, layer: int) -> Array:
    """The derivative of the sum of a block's corrections by what enters the block.

        J_F = d (attn_out + mlp_out) / d resid_pre,    J = I + J_F

    The second holds for a pre-norm block with the residual on: the identity path adds
    exactly I. J_F can take it away again, so J may still lose a direction.

    returns  [pos, d_model, pos, d_model]
    raises   KeyError for a block that the trace does not have.
    source   He et al. 2016, "Identity Mappings in Deep Residual Networks", eq. 5.
    """
    at = f"blocks.{layer}."
    total = np.zeros(trace[at + "resid_pre"].shape * 2)
    for delta, _ in STEPS.values():
        if at + delta in trace:
            total += jacobian(trace, at + delta, by=at + "resid_pre")
    return total


def skipless_jacobian(trace: Trace, layer: int) -> Array:
    """A block's derivative along the one path that takes no skip.

        (I + J_ffn)(I + J_attn) = I + J_attn + J_ffn + J_ffn J_attn:    the last term

    Each factor is taken at this trace's own states. With residual off this is the
    whole derivative of the block; with residual on, what it would keep of its four
    terms if both skips were cut.

    returns  [pos, d_model, pos, d_model]
    raises   KeyError for a block that the trace does not have.
    """
    path = _identity(trace[f"blocks.{layer}.resid_pre"])
    for sublayer, (delta, _) in STEPS.items():
        if f"blocks.{layer}.{delta}" in trace:
            path = np.tensordot(sublayer_jacobian(trace, layer, sublayer), path, 2)
    return path


def stream_jacobians(trace: Trace) -> Array:
    """The derivative of the stream after each block by the input x₀.

        d x_k / d x_0 = J_k · … · J_2 · J_1,    J_k = d x_k / d x_(k−1)

    returns  [depth, pos, d_model, pos, d_model], x_k being resid_post. A number is
             infinite or 0 if float64 can't hold it, and 0 below 1e-300 of the largest.
    source   Xiong et al. 2020, "On Layer Normalization in the Transformer
             Architecture", section 3.3: how such products scale with depth.
    """
    by = "blocks.0.resid_pre"
    product, exponent, states = _identity(trace[by]), 0, []
    for layer in range(depth_of(trace)):
        of = f"blocks.{layer}.resid_post"
        product = np.tensordot(jacobian(trace, of, by), product, 2)
        # a power of two is kept apart, so that the running product can't overflow
        shift = int(np.frexp(np.abs(product).max())[1])
        product, exponent = np.ldexp(product, -shift), exponent + shift
        with np.errstate(over="ignore"):
            states.append(np.ldexp(product, exponent))
        by = of
    return np.array(states)


def singular_values(j: Array, token_no: int | None = None) -> Array:
    """By how much a Jacobian stretches the directions of the stream, largest first.

        J = U diag(s) Vᵀ;    s near 0: a direction is lost

    Those below 1e-16 of the largest are rounding: read them as 0.

    j:         [..., pos, d_out, pos, d_in], e.g. what `stream_jacobians` returns.
    token_no:  only this word's own part, [d_out, d_in]; None for the whole matrix.
    returns    [..., min(d_out, d_in)], for the whole matrix pos times as many.
    raises     ValueError for another shape or numbers that are not finite, IndexError
               for a place outside the sentence.
    """
    if j.ndim < 4 or j.shape[-4] != j.shape[-2] or not np.isfinite(j).all():
        raise ValueError(
            f"singular values: a Jacobian of shape {list(j.shape)} with "
            f"{np.count_nonzero(~np.isfinite(j))} numbers that are not finite; "
            "it needs [..., pos, d_out, pos, d_in] and none of those"
        )
    *leading, pos, d_out, _, d_in = j.shape
    if token_no is None:
        part = j.reshape(*leading, pos * d_out, pos * d_in)
    else:
        token_no = inputs.place("token_no", token_no, pos)
        part = j[..., token_no, :, token_no, :]
    return np.linalg.svd(part, compute_uv=False).astype(np.float64, copy=False)


def _identity(value: Array) -> Array:
    return np.eye(value.size).reshape(value.shape * 2)
