"""The names, axes and inputs that teachers' scripts rely on."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from helpers.random_examples import random_example
from residual_stream import Parts, run

STREAM, HEAD = ("pos", "d_model"), ("pos", "d_head")
PAIRS, HIDDEN = ("query_pos", "key_pos"), ("pos", "d_mlp")

# name, axes, inputs, weights
OF_EACH_BLOCK = [
    ("resid_pre", STREAM, ["the last block's resid_post"], []),
    ("ln1.scale", ("pos",), ["resid_pre"], []),
    ("ln1.normalized", STREAM, ["resid_pre", "ln1.scale"], []),
    ("attn.q", HEAD, ["ln1.normalized"], ["W_Q"]),
    ("attn.k", HEAD, ["ln1.normalized"], ["W_K"]),
    ("attn.v", HEAD, ["ln1.normalized"], ["W_V"]),
    ("attn.scores", PAIRS, ["attn.q", "attn.k"], []),
    ("attn.pattern", PAIRS, ["attn.scores"], []),
    ("attn.z", HEAD, ["attn.pattern", "attn.v"], []),
    ("attn_out", STREAM, ["attn.z"], ["W_O"]),
    ("resid_mid", STREAM, ["resid_pre", "attn_out"], []),
    ("ln2.scale", ("pos",), ["resid_mid"], []),
    ("ln2.normalized", STREAM, ["resid_mid", "ln2.scale"], []),
    ("mlp.pre", HIDDEN, ["ln2.normalized"], ["W_in", "b_in"]),
    ("mlp.post", HIDDEN, ["mlp.pre"], []),
    ("mlp_out", STREAM, ["mlp.post"], ["W_out", "b_out"]),
    ("resid_post", STREAM, ["resid_mid", "mlp_out"], []),
]
WITHOUT_RESIDUAL = {"resid_mid": ["attn_out"], "resid_post": ["mlp_out"]}


def published(depth: int, residual: bool):
    """Every entry of a run in full: name, axes, inputs, weights."""
    before = ["embed", "pos_embed"]
    yield from ((name, STREAM, [], []) for name in before)
    for layer in range(depth):
        at = f"blocks.{layer}."
        for name, axes, inputs, weights in OF_EACH_BLOCK:
            off = {} if residual else WITHOUT_RESIDUAL
            full = [at + source for source in off.get(name, inputs)]
            yield at + name, axes, before if name == "resid_pre" else full, weights
        before = [f"{at}resid_post"]


@pytest.mark.parametrize("residual", [True, False], ids=["on", "off"])
@pytest.mark.parametrize("depth", [1, 3])
def test_names_axes_and_inputs_are_the_published_ones(example, depth, residual):
    trace = run(example, depth, residual)
    assert [
        (name, entry.axes, list(entry.inputs), list(entry.weights))
        for name, entry in trace.entries.items()
    ] == list(published(depth, residual))


def test_each_axis_is_as_long_as_its_name_says():
    sizes = {"pos": 3, "d_model": 5, "d_head": 2, "d_mlp": 7}
    trace = run(random_example(**sizes))
    sizes |= {"query_pos": 3, "key_pos": 3}
    for entry in chain(trace.entries.values(), trace.weights.values()):
        assert entry.value.shape == tuple(sizes[axis] for axis in entry.axes)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_values_are_float64_whatever_the_example_holds(kind):
    example = random_example()
    embed, pos_embed = example.embed.astype(kind), example.pos_embed.astype(kind)
    trace = run(replace(example, embed=embed, pos_embed=pos_embed), 1)
    assert {value.dtype for value in trace.values()} == {np.dtype(np.float64)}


def test_the_skip_taps_the_stream_before_the_norm(trace):
    for layer in range(3):
        at = f"blocks.{layer}."
        mid, post = trace.entries[f"{at}resid_mid"], trace.entries[f"{at}resid_post"]
        assert mid.inputs == (f"{at}resid_pre", f"{at}attn_out")
        assert post.inputs == (f"{at}resid_mid", f"{at}mlp_out")


def test_a_part_left_out_leaves_its_names_out():
    for parts, missing in {
        Parts(attention=False): ("ln1", "attn"),
        Parts(ffn=False): ("ln2", "mlp"),
        Parts(positions=False): ("pos_embed",),
        Parts(norm="none"): ("ln1", "ln2"),
    }.items():
        names = [name.rpartition("blocks.0.")[2] for name in run(random_example(), 1)]
        left = [name for name in names if not name.startswith(missing)]
        found = list(run(random_example(), 1, parts=parts))
        assert [name.rpartition("blocks.0.")[2] for name in found] == left


def test_layer_norm_shows_the_vector_with_its_mean_off():
    trace = run(random_example(), 1, parts=Parts(norm="layer"))
    assert trace.entries["blocks.0.ln1.centred"].inputs == ("blocks.0.resid_pre",)
    assert trace.entries["blocks.0.ln1.scale"].inputs == ("blocks.0.ln1.centred",)
