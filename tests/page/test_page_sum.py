"""The sum of the corrections, and the comparison of residual on and off."""

from itertools import product

import numpy as np
import pytest
from playwright.sync_api import expect

from residual_stream import ledger, run
from residual_stream.model.arithmetic import number

UNTIL = "text"
ROWS = """() => [...document.querySelectorAll("#sum tbody tr")].map((row) => ({
  name: row.querySelector("th").textContent,
  kind: row.className,
  cells: [...row.querySelectorAll("td")].map((cell) => cell.innerText.trim()
    .replace(/\\s+/g, " ")),
}))"""


def signed(value: float) -> str:
    text = number(value, 1)
    return text if text.startswith("−") else f"+{text}"


def test_the_sum_is_the_input_and_every_correction_up_to_the_last_state(
    page_at, example
):
    """B5 and C7, row by row: what is added and what it comes to."""
    lesson = page_at()
    for depth, token in product((12, 1, 3), (0, 2, 3)):
        lesson.put(depth=depth, step=2 + 6 * depth, token=token)
        check_sum(lesson, ledger(run(example, depth), token), depth)


def check_sum(lesson, account, depth) -> None:
    rows = lesson.page.evaluate(ROWS)
    assert len(rows) == 2 + 2 * depth
    assert rows[0]["cells"] == [number(v, 1) for v in account.x0]
    for row, correction, summed in zip(
        rows[1:-1], account.corrections, account.running[1:], strict=True
    ):
        kind = "FFN" if correction.sublayer == "ffn" else correction.sublayer
        assert row["name"] == f"Block {correction.block} {kind}"
        assert row["cells"] == [
            f"{signed(delta)} → {number(so_far, 1)}"
            for delta, so_far in zip(correction.delta, summed, strict=True)
        ]
    assert rows[-1]["cells"] == [number(v, 1) for v in account.x_n]
    expect(lesson.region("Sum")).to_contain_text(
        f"sum error {number(account.sum_error, 1)}"
    )


def test_the_error_is_what_floating_point_leaves(page_at, example):
    lesson = page_at("?depth=12")
    error = ledger(run(example, 12), 3).sum_error
    said = lesson.page.locator(".sum-error").get_attribute("title")
    assert error < 1e-12
    mantissa = said.partition(" × 10^−")[0]
    assert float(mantissa) == pytest.approx(
        error if error == 0 else error / 10 ** np.floor(np.log10(error)), abs=0.06
    )


def test_without_the_residual_there_is_no_sum(page_at, example):
    """D1: what each sublayer wrote stands there, and only the last is left."""
    lesson = page_at("?step=20&residual=off")
    region = lesson.region("Sum")
    expect(region).to_contain_text("With the residual off there is no sum.")
    expect(region.get_by_text("sum error")).to_be_hidden()
    account = ledger(run(example, 3, residual=False), 3)
    rows = lesson.page.evaluate(ROWS)
    for row, correction in zip(rows[1:-1], account.corrections, strict=True):
        assert row["cells"] == [signed(v) for v in correction.delta]
    last = [number(v, 1) for v in account.corrections[-1].delta]
    assert rows[-1]["cells"] == last
    assert [("is-dropped" in row["kind"]) for row in rows[:-1]] == [True] * 6 + [False]


def test_rows_are_to_come_until_they_are_written(page_at):
    lesson = page_at()
    written = [1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7]
    for step, count in enumerate(written, 1):
        lesson.put(step=step)
        rows = lesson.page.evaluate(ROWS)[:-1]
        there = sum("is-to-come" not in row["kind"] for row in rows)
        # a correction is there once it is added
        assert there == 1 + sum(step >= 4 + 3 * n for n in range(6)), (step, count)


def test_the_sum_and_the_map_follow_what_is_pressed(page_at):
    """After the paint, by themselves; of many changes at once they show the last."""
    lesson = page_at("?step=2", until="drawn")
    current = lesson.page.locator("#sum .is-current th")
    marker = lesson.page.locator(".depth-map-blocks [aria-current=step]")
    lesson.button("Next").click()
    lesson.button("Next").click()
    expect(current).to_have_text("Block 1 attention")
    lesson.page.evaluate("""() => {
      const press = (name) => document.querySelector(`[data-control=${name}]`).click();
      for (let i = 0; i < 9; i++) press("next");
      press("residual");
    }""")
    expect(current).to_have_text("Block 2 FFN")
    expect(marker).to_have_text("2")
    expect(lesson.page.locator("#sum")).to_have_class("sum is-off")
    expect(lesson.page.locator(".depth-map.is-off")).to_be_visible()


def test_the_bars_of_the_sum_join_end_to_end(page_at, example):
    lesson = page_at("?step=20")
    ends = lesson.page.evaluate("""() => [...document.querySelectorAll("#sum tbody tr")]
      .slice(0, -1).map((row) => [...row.querySelectorAll(".sum-bar")].map((bar) => {
        const [left, width] = [bar.style.left, bar.style.width].map(parseFloat);
        return bar.classList.contains("is-down") ? [left + width, left]
          : [left, left + width];
      }))""")
    ends = np.array(ends)  # [row, axis, start or end], in % of the track
    assert ends[1:, :, 0] == pytest.approx(ends[:-1, :, 1], abs=0.01)
    running = ledger(run(example, 3), 3).running
    largest = np.abs(running).max()
    assert ends[:, :, 1] == pytest.approx(50 + 50 * running / largest, abs=0.01)


# words of Latin letters or katakana in the table's heads that stand on two lines
BROKEN = """() => [...document.querySelectorAll("#sum th")].flatMap((head) => {
  const text = head.firstChild;
  return [...text.data.matchAll(/[A-Za-z]+|[ァ-ヶー]+/g)].filter(({0: word, index}) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const tops = [...range.getClientRects()].map(({top}) => Math.round(top));
    return new Set(tops).size > 1;
  }).map(([word]) => word);
})"""


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_word_of_the_sums_heads_is_broken(page_at, width):
    lesson = page_at("?step=4", viewport={"width": width, "height": 844})
    for language in ("en", "ja"):
        lesson.put(language=language)
        assert lesson.page.evaluate(BROKEN) == [], language


# --------------------------------------------------------------------- comparing


def differing(on, off, token: int, step_shows: str):
    """The first number of the word that is not the same in both runs."""
    for name in on:
        one, other = np.atleast_1d(on[name][token]), np.atleast_1d(off[name][token])
        apart = np.flatnonzero(np.abs(one - other) > 1e-9)
        if apart.size:
            return name, int(apart[0]), one[apart[0]], other[apart[0]]
        if name == step_shows:
            return None
    raise AssertionError(step_shows)


@pytest.mark.parametrize("token", [0, 3])
def test_comparing_names_the_first_number_that_differs(
    page_at, trace, trace_off, token, lesson_example
):
    lesson = page_at("?compare=1")
    region = lesson.region("Block")
    parts = ("ln1.normalized", "attn_out", "resid_mid", "ln2.normalized", "mlp_out")
    shown = [
        f"blocks.{layer}.{part}"
        for layer in range(3)
        for part in (*parts, "resid_post")
    ]
    for step, name in enumerate(["blocks.0.resid_pre", *shown], 1):
        lesson.put(step=step, token=token)
        found = differing(trace, trace_off, token, name)
        line = region.locator(".compare-line").inner_text()
        if found is None:
            assert step < 4
            assert line == "Up to this step, no number differs."
            continue
        entry, axis, on, off = found
        label = lesson_example.axes[axis]["en"]
        assert entry == "blocks.0.resid_mid"
        same = number(on, 1) == number(off, 1)
        on, off = (number(value, 2 if same else 1) for value in (on, off))
        assert line == (
            f"First difference: block 1, after attention: {label} {on} "
            f"with the residual, {off} without."
        )


def test_both_sides_stand_at_the_same_step_and_the_number_is_marked(page_at):
    lesson = page_at("?compare=1&step=4")
    sides = lesson.page.locator(".compare-side")
    expect(sides.locator("h3")).to_have_text(["Residual on", "Residual off"])
    marked = sides.locator(".scene-row.is-marked .scene-axis")
    expect(marked).to_have_text(["geography", "geography"])
    for side, values in ((0, ["0.3", "+0.7", "1.0"]), (1, ["0.3", "0.7", "0.7"])):
        row = sides.nth(side).locator(".scene-row.is-marked .number[data-name]")
        assert row.all_text_contents() == values
    # only where the step shows that number
    onward = [(1, 0), (3, 0), (7, 2), (10, 0), (20, 0)]
    for step, rows in onward:
        lesson.put(step=step)
        expect(sides.locator(".scene-row.is-marked")).to_have_count(rows)
        names = lesson.page.evaluate("""() =>
            [...document.querySelectorAll(".compare-side")].map((side) =>
                [...side.querySelectorAll(".number[data-name]")]
                .filter((one) => one.textContent).map((one) => one.dataset.name))""")
        assert names[0] == names[1] != []


def test_each_side_has_its_own_formula_and_there_is_no_other(page_at):
    lesson = page_at("?compare=1&step=4", until="text")
    formulas = lesson.page.locator(".step-formula:visible")
    for residual in (True, False):
        lesson.put(residual=residual)
        expect(formulas).to_have_text(
            ["x ← x + attention(norm(x))", "x ← attention(norm(x))"]
        )
        expect(lesson.page.locator(".step-numbers")).to_be_hidden()
    lesson.put(compare=False, residual=True)
    expect(formulas).to_have_text(["x ← x + attention(norm(x))"])


def test_the_switch_works_while_comparing_and_the_sides_stay(page_at):
    lesson = page_at("?compare=1&step=7")
    sides = lesson.page.locator(".compare-sides")
    before = sides.inner_text()
    lesson.page.get_by_role("switch", name="Residual").click()
    assert sides.inner_text() == before
    assert lesson.state()["residual"] is False
    expect(lesson.region("Sum")).to_contain_text("no sum")
