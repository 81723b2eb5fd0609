"""How long the model takes: `make bench`. Ratios are of one run, so a busy machine
shifts both sides; nothing here decides a test.
"""

import importlib.util
import timeit
from collections.abc import Callable
from functools import partial

from residual_stream import Example, load_example, run

PAGE_DEPTH = 12


ROUNDS = 300


def microseconds(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The best of many rounds of each call: what the machine needs when nobody
    disturbs it. The calls take turns, so that a busy moment disturbs them all.
    """
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            best[name] = min(best[name], 1e6 * timeit.timeit(call, number=1))
    return best


def page_table(example: Example) -> list[object]:
    """Both residual settings at the page's deepest: every number a page shows."""
    return [run(example, PAGE_DEPTH, residual) for residual in (True, False)]


def torch_run(example: Example) -> Callable[[int], list[object]]:
    """The same operations written plainly in eager PyTorch, every value kept."""
    import torch

    w = {name: torch.tensor(value) for name, value in example.weights.items()}
    words, places = torch.tensor(example.embed), torch.tensor(example.pos_embed)
    root = example.weights["W_Q"].shape[1] ** 0.5

    def norm(x, kept):
        scale = torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6)
        kept += (scale, normalized := x / scale)
        return normalized

    def block(x, kept):
        n = norm(x, kept)
        q, k, v = n @ w["W_Q"], n @ w["W_K"], n @ w["W_V"]
        scores = q @ k.T / root
        pattern = torch.softmax(scores, -1)
        z = pattern @ v
        attn_out = z @ w["W_O"]
        x = x + attn_out
        kept += (q, k, v, scores, pattern, z, attn_out, x)
        n = norm(x, kept)
        pre = n @ w["W_in"] + w["b_in"]
        post = torch.relu(pre)
        mlp_out = post @ w["W_out"] + w["b_out"]
        x = x + mlp_out
        kept += (pre, post, mlp_out, x)
        return x

    def compute(depth: int) -> list[object]:
        kept: list[object] = []
        with torch.inference_mode():
            x = words + places
            for _ in range(depth):
                x = block(x, kept)
        return kept

    torch.set_num_threads(1)
    return compute


def main() -> None:
    example = load_example()
    calls: dict[str, Callable[[], object]] = {
        f"depth {depth}": partial(run, example, depth) for depth in (3, 12, 96)
    }
    calls["table"] = partial(page_table, example)
    if importlib.util.find_spec("torch") is not None:
        calls["torch"] = partial(torch_run(example), PAGE_DEPTH)
    best = microseconds(calls)
    for depth in (3, 12, 96):
        time = best[f"depth {depth}"]
        print(f"trace, depth {depth:>2}  {time:10.0f} µs  ({time / depth:.0f} a block)")
    linear = best["depth 96"] / best["depth 12"]
    print(f"depth 96 / 12    {linear:10.2f}     (8 is linear)")
    print(f"the page's table {best['table'] / 1000:10.2f} ms  (aim: under 5)")
    if "torch" in best:
        ratio = best["torch"] / best["depth 12"]
        print(f"torch eager/this {ratio:10.2f}     (aim: 1.5 or more, depth 12)")
    else:
        print("torch is not installed here: no comparison")


if __name__ == "__main__":
    main()
