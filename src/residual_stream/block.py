"""The pre-norm Transformer block, and a run of several of them on one example.

    x = x + attention(norm(x))
    x = x + ffn(norm(x))

The stream x is [pos, d_model], one row a token. Each value is recorded under
TransformerLens' name, with its axes, its formula and its inputs on the line that
computes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from residual_stream import ops
from residual_stream.ops import Array
from residual_stream.trace import Axes, Entry, Recorder, Trace

STREAM: Axes = ("pos", "d_model")
ONE_EACH: Axes = ("pos",)
HEAD: Axes = ("pos", "d_head")
PAIRS: Axes = ("query_pos", "key_pos")
HIDDEN: Axes = ("pos", "d_mlp")

WEIGHT_AXES: Mapping[str, Axes] = {
    "W_Q": ("d_model", "d_head"),
    "W_K": ("d_model", "d_head"),
    "W_V": ("d_model", "d_head"),
    "W_O": ("d_head", "d_model"),
    "W_in": ("d_model", "d_mlp"),
    "b_in": ("d_mlp",),
    "W_out": ("d_mlp", "d_model"),
    "b_out": ("d_model",),
}
MAX_DEPTH = 96

Norm = Literal["rms", "layer", "none"]
Parameters = Mapping[str, Entry]


@dataclass(frozen=True)
class Example:
    """What a run starts from: the words, their vectors and the weights.

    tokens:     the words of the sentence, in order.
    axes:       the name of each dimension of the stream.
    embed:      [pos, d_model], each word's own vector.
    pos_embed:  [pos, d_model], the vector of each place in the sentence.
    weights:    one block's parameters by name, shared by all blocks; rows multiply
                from the left (`x @ W_Q`). `WEIGHT_AXES` has their names and axes.
    """

    tokens: tuple[str, ...]
    axes: tuple[str, ...]
    embed: Array
    pos_embed: Array
    weights: Mapping[str, Array]


@dataclass(frozen=True)
class Parts:
    """Which parts the model has; the lesson's has them all.

    norm:       "rms", "layer" or "none".
    attention, ffn, positions:  False leaves that part out.
    """

    norm: Norm = "rms"
    attention: bool = True
    ffn: bool = True
    positions: bool = True


ALL_PARTS = Parts()


def run(
    example: Example, depth: int = 3, residual: bool = True, parts: Parts = ALL_PARTS
) -> Trace:
    """Compute the input x₀ and `depth` blocks, and keep every value.

        x = embed(tokens) + positions
        x = block(x)                     `depth` times

    residual:  False puts `x = delta` in place of `x = x + delta`.
    returns    a Trace of float64 values.
    raises     ValueError for a depth outside 1 to 96, or shapes that do not fit.
    source     Xiong et al. 2020, "On Layer Normalization in the Transformer
               Architecture", table 1, the Pre-LN column without its final norm.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise ValueError(f"depth is {depth}; it must be from 1 to {MAX_DEPTH}")
    trace = Trace()
    w = {
        name: trace.weight(name, axes, example.weights[name])
        for name, axes in WEIGHT_AXES.items()
    }
    x = embed(example, trace, parts)
    for layer in range(depth):
        at = trace.at(f"blocks.{layer}.")
        if layer > 0:
            x = at("resid_pre", STREAM, "x", ops.carry, x)
        x = block(x, w, at, residual, parts)
    return trace


def block(x: Entry, w: Parameters, at: Recorder, residual: bool, parts: Parts) -> Entry:
    """One pre-norm block: two updates of the stream, [pos, d_model] -> the same.

    The skip taps the stream before the norm: each update gets x, not norm(x).
    """
    update = add_to_stream if residual else replace_stream
    if parts.attention:
        x = update(x, attention(norm(x, at, "ln1", parts), w, at), at, "resid_mid")
    else:
        x = at("resid_mid", STREAM, "x", ops.carry, x)
    if parts.ffn:
        x = update(x, ffn(norm(x, at, "ln2", parts), w, at), at, "resid_post")
    else:
        x = at("resid_post", STREAM, "x", ops.carry, x)
    return x


def add_to_stream(x: Entry, delta: Entry, at: Recorder, name: str) -> Entry:
    """With the residual: x = x + delta."""
    return at(name, STREAM, "x + Δ", ops.add, x, delta)


def replace_stream(_x: Entry, delta: Entry, at: Recorder, name: str) -> Entry:
    """Without it: x = delta. The old stream is no term of the new one."""
    return at(name, STREAM, "Δ", ops.carry, delta)


def embed(example: Example, trace: Trace, parts: Parts) -> Entry:
    """The input x₀: each word's own vector plus the vector of its place."""
    x = trace.given("embed", STREAM, "embed(tokens)", example.embed)
    if not parts.positions:
        return trace.record("blocks.0.resid_pre", STREAM, "embed", ops.carry, x)
    places = trace.given("pos_embed", STREAM, "positions", example.pos_embed)
    return trace.record(
        "blocks.0.resid_pre", STREAM, "embed + positions", ops.add, x, places
    )


def norm(x: Entry, at: Recorder, name: str, parts: Parts) -> Entry:
    """A normalised copy of the stream, for a sublayer to read."""
    if parts.norm == "none":
        return x
    if parts.norm == "layer":
        x = at(f"{name}.centred", STREAM, "x − mean(x)", ops.centre, x)
    scale = at(f"{name}.scale", ONE_EACH, "√(mean(x²) + ε)", ops.rms_scale, x)
    return at(f"{name}.normalized", STREAM, "x / scale", ops.divide, x, scale)


def _read(x: Entry) -> str:
    # without norms, and in the post-norm wiring, a sublayer reads the stream itself
    return "norm(x)" if x.name.endswith(".normalized") else "x"


def attention(x: Entry, w: Parameters, at: Recorder) -> Entry:
    """What one attention head writes: each word gathers from all words.

    x:        [pos, d_model], normalised
    returns   [pos, d_model]
    source    Vaswani et al. 2017, eq. 1; one head, no mask.
    """
    read = _read(x)
    q = at("attn.q", HEAD, f"{read} W_Q", ops.project, x, w["W_Q"])
    k = at("attn.k", HEAD, f"{read} W_K", ops.project, x, w["W_K"])
    v = at("attn.v", HEAD, f"{read} W_V", ops.project, x, w["W_V"])
    scores = at("attn.scores", PAIRS, "q kᵀ / √d_head", ops.attention_scores, q, k)
    pattern = at("attn.pattern", PAIRS, "softmax(scores)", ops.softmax, scores)
    z = at("attn.z", HEAD, "pattern v", ops.mix, pattern, v)
    return at("attn_out", STREAM, "z W_O", ops.project, z, w["W_O"])


def ffn(x: Entry, w: Parameters, at: Recorder) -> Entry:
    """What the FFN writes: the same function of every word, each on its own.

    x:        [pos, d_model], normalised
    returns   [pos, d_model]
    source    Vaswani et al. 2017, eq. 2.
    """
    pre = at(
        "mlp.pre",
        HIDDEN,
        f"{_read(x)} W_in + b_in",
        ops.project,
        x,
        w["W_in"],
        w["b_in"],
    )
    post = at("mlp.post", HIDDEN, "max(0, pre)", ops.relu, pre)
    return at(
        "mlp_out",
        STREAM,
        "post W_out + b_out",
        ops.project,
        post,
        w["W_out"],
        w["b_out"],
    )
