"""The README's numbers are the computed ones, and its examples print what they say."""

import re
from pathlib import Path

import pytest

from residual_stream import explain, ledger, load_example, run
from residual_stream.explain import number

README = Path(__file__).parents[1] / "README.md"
STATES = {
    "x₀": "blocks.0.resid_pre",
    "after block 1's attention": "blocks.0.resid_mid",
    "after block 1": "blocks.0.resid_post",
    "after block 2": "blocks.1.resid_post",
    "after block 3": "blocks.2.resid_post",
}
BANK = 3


def rows():
    table = re.findall(r"^\| (.+?) \|((?: −?[\d.]+ \|){4})$", README.read_text(), re.M)
    return {
        name: [cell.strip() for cell in cells.split("|")[:4]] for name, cells in table
    }


def test_the_table_has_every_published_state():
    assert list(rows()) == list(STATES)


@pytest.mark.parametrize("state", STATES)
def test_the_table_shows_the_computed_numbers(state):
    computed = run(load_example())[STATES[state]][BANK]
    assert rows()[state] == [number(value, 1) for value in computed]


def test_the_worked_example_is_what_explain_prints():
    trace = run(load_example(), depth=3)
    printed = str(explain(trace, "blocks.0.resid_mid", (BANK, 0)))
    assert f"# {printed}\n" in README.read_text()
    assert ledger(trace, BANK).sum_error <= 1e-12


def test_every_picture_exists():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README.read_text())
    assert pictures
    for picture in pictures:
        assert (README.parent / picture).is_file()
