"""How long the model takes: `make bench`. Ratios are of one run, so a busy machine
shifts both sides; nothing here decides a test.
"""

import importlib.util
import timeit
from collections.abc import Callable

from residual_stream import Example, load_example, run

PAGE_DEPTH = 12


def microseconds(call: Callable[[], object], seconds: float = 0.5) -> float:
    """The best of many calls: what the machine needs when nobody disturbs it."""
    once = min(timeit.repeat(call, number=1, repeat=5))
    repeats = max(5, min(400, int(seconds / once)))
    return 1e6 * min(timeit.repeat(call, number=1, repeat=repeats))


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
        with torch.no_grad():
            x = words + places
            for _ in range(depth):
                x = block(x, kept)
        return kept

    torch.set_num_threads(1)
    return compute


def main() -> None:
    example = load_example()
    by_depth = {d: microseconds(lambda d=d: run(example, d)) for d in (3, 12, 96)}
    for depth, time in by_depth.items():
        print(
            f"trace, depth {depth:>2}      {time:10.0f} µs  {time / depth:6.0f} µs a block"
        )
    print(
        f"depth 96 / depth 12   {by_depth[96] / by_depth[12]:10.2f}     (8 is linear)"
    )
    table = microseconds(lambda: page_table(example))
    print(f"the page's table      {table / 1000:10.2f} ms  (aim: under 5)")
    if importlib.util.find_spec("torch") is None:
        print("torch                 is not installed: no comparison")
        return
    compute = torch_run(example)
    ratio = microseconds(lambda: compute(12)) / by_depth[12]
    print(f"torch eager / this    {ratio:10.2f}     (aim: 1.5 or more, depth 12)")


if __name__ == "__main__":
    main()
