"""The pre-norm Transformer block, and a run of several of them on one example.

    x = x + attention(norm(x))
    x = x + ffn(norm(x))

The stream x is [pos, d_model], one row a token. Each value is recorded under
TransformerLens' name, with its axes, its formula and its inputs on the line that
computes it.
"""

from collections.abc import Mapping

from residual_stream.model import inputs, ops
from residual_stream.model.inputs import (
    ALL_PARTS,
    MAX_DEPTH,
    WEIGHT_AXES,
    Example,
    Norm,
    Parts,
)
from residual_stream.model.trace import Axes, Entry, Recorder, Trace

__all__ = [
    "ALL_PARTS",
    "MAX_DEPTH",
    "WEIGHT_AXES",
    "Example",
    "Norm",
    "Parts",
    "attention",
    "block",
    "embed",
    "ffn",
    "norm",
    "run",
]

STREAM: Axes = ("pos", "d_model")
ONE_EACH: Axes = ("pos",)
HEAD: Axes = ("pos", "d_head")
PAIRS: Axes = ("query_pos", "key_pos")
HIDDEN: Axes = ("pos", "d_mlp")

Parameters = Mapping[str, Entry]


def run(
    example: Example, depth: int = 3, residual: bool = True, parts: Parts = ALL_PARTS
) -> Trace:
    """Compute the input x₀ and `depth` blocks, and keep every value.

        x = embed(tokens) + positions
        x = block(x)                     `depth` times

    residual:  False puts `x = delta` in place of `x = x + delta`.
    returns    a Trace of float64 values.
    raises     ValueError for a depth outside 1 to 96, a residual that is neither True
               nor False, or an example whose numbers do not fit or are not finite.
    source     Xiong et al. 2020, "On Layer Normalization in the Transformer
               Architecture", table 1, the Pre-LN column without its final norm.
    """
    depth = inputs.whole("depth", depth, 1, MAX_DEPTH)
    residual = inputs.truth("residual", residual)
    parts = inputs.parts_of_model(parts)
    inputs.check_example(example)
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
    inputs.check_outcome(example, x.value)
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
