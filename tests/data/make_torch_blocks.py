"""Compute pre-norm blocks with PyTorch, and keep every value: `torch_blocks.npz`.

Nothing here comes from `residual_stream`. `README.md` beside this file says how to
run it and how the arrays are named.
"""

from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

EPS = 1e-6
DEPTH = 3
# another prime on every axis: pos, d_model, d_head, d_mlp
SIZES = {"wide": (3, 5, 2, 7), "long": (5, 3, 7, 11)}
VARIANTS = {
    f"{norm}-{residual}": {"norm": norm, "residual": residual == "on"}
    for norm in ("rms", "layer", "none")
    for residual in ("on", "off")
} | {
    f"without-{part}": {"norm": "rms", "residual": True, "without": part}
    for part in ("attention", "ffn", "positions")
}


def random_example(seed, pos, d_model, d_head, d_mlp):
    numbers = torch.Generator().manual_seed(seed)

    def normal(*shape, spread=1.0):
        return spread * torch.randn(*shape, generator=numbers, dtype=torch.float64)

    return {
        "embed": normal(pos, d_model),
        "pos_embed": normal(pos, d_model),
        "W_Q": normal(d_model, d_head),
        "W_K": normal(d_model, d_head),
        "W_V": normal(d_model, d_head, spread=0.5),
        "W_O": normal(d_head, d_model, spread=0.5),
        "W_in": normal(d_model, d_mlp, spread=0.5),
        "b_in": normal(d_mlp),
        "W_out": normal(d_mlp, d_model, spread=0.5),
        "b_out": normal(d_model),
    }


def linear(x, weight, bias=None):
    """torch keeps a weight as [d_out, d_in], the lesson as [d_in, d_out]"""
    return functional.linear(x, weight.T, bias)


def normalised(x, kind, name, keep):
    width = x.shape[-1:]
    if kind == "none":
        return x
    if kind == "rms":
        keep[f"{name}.scale"] = (x.square().mean(-1) + EPS).sqrt()
        keep[f"{name}.normalized"] = functional.rms_norm(x, width, eps=EPS)
    else:
        keep[f"{name}.centred"] = x - x.mean(-1, keepdim=True)
        keep[f"{name}.scale"] = (x.var(-1, correction=0) + EPS).sqrt()
        keep[f"{name}.normalized"] = functional.layer_norm(x, width, eps=EPS)
    return keep[f"{name}.normalized"]


def attention(x, w, at, keep):
    q, k, v = (linear(x, w[name]) for name in ("W_Q", "W_K", "W_V"))
    scores = q @ k.T / q.shape[-1] ** 0.5
    pattern = torch.softmax(scores, dim=-1)
    z = functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    names = ("q", "k", "v", "scores", "pattern", "z")
    for name, value in zip(names, (q, k, v, scores, pattern, z), strict=True):
        keep[f"{at}attn.{name}"] = value
    keep[f"{at}attn_out"] = linear(z, w["W_O"])
    return keep[f"{at}attn_out"]


def ffn(x, w, at, keep):
    keep[f"{at}mlp.pre"] = linear(x, w["W_in"], w["b_in"])
    keep[f"{at}mlp.post"] = functional.relu(keep[f"{at}mlp.pre"])
    keep[f"{at}mlp_out"] = linear(keep[f"{at}mlp.post"], w["W_out"], w["b_out"])
    return keep[f"{at}mlp_out"]


def blocks(x, w, norm, residual, without=None):
    """Every value from `blocks.0.resid_pre`, which is x, to the last block's end."""
    keep = {}
    for layer in range(DEPTH):
        at = f"blocks.{layer}."
        keep[f"{at}resid_pre"] = x
        if without != "attention":
            delta = attention(normalised(x, norm, f"{at}ln1", keep), w, at, keep)
            x = x + delta if residual else delta
        keep[f"{at}resid_mid"] = x
        if without != "ffn":
            delta = ffn(normalised(x, norm, f"{at}ln2", keep), w, at, keep)
            x = x + delta if residual else delta
        keep[f"{at}resid_post"] = x
    return keep


def values_of(example, variant):
    """Each value of one variant by its name, the blocks' values stacked."""
    keep = {"embed": example["embed"]}
    x = example["embed"]
    if variant.get("without") != "positions":
        keep["pos_embed"] = example["pos_embed"]
        x = x + example["pos_embed"]
    values = blocks(x, example, **variant)
    for name in (name for name in values if name.startswith("blocks.0.")):
        every = name.replace("blocks.0.", "blocks.*.")
        keep[every] = torch.stack(
            [values[every.replace("*", str(layer))] for layer in range(DEPTH)]
        )

    def ends(x0):
        keep = blocks(x0, example, **variant)
        return torch.stack([keep[f"blocks.{n}.resid_post"] for n in range(DEPTH)])

    jacobian = torch.autograd.functional.jacobian(ends, x)
    return keep | {"jacobian/blocks.*.resid_post": jacobian}


def main():
    arrays = {}
    for seed, (size, axes) in enumerate(SIZES.items()):
        example = random_example(seed, *axes)
        for name, value in example.items():
            arrays[f"{size}/example/{name}"] = value.numpy()
        for variant, parts in VARIANTS.items():
            for name, value in values_of(example, parts).items():
                arrays[f"{size}/{variant}/{name}"] = value.numpy()
    np.savez_compressed(Path(__file__).with_name("torch_blocks.npz"), **arrays)


if __name__ == "__main__":
    main()
