"""The README's numbers are the computed ones, and its examples print what they say."""

import re
from pathlib import Path

import pytest

from residual_stream import explain, ledger, load_example, run
from residual_stream.model.arithmetic import number
from residual_stream.serve.classroom.connections import OTHERS, PER_BROWSER
from residual_stream.serve.classroom.keys import new_key
from residual_stream.serve.classroom.limits import TEACHER_FACTOR, Limits

README = Path(__file__).parents[2] / "README.md"
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


def test_the_limits_of_a_class_are_those_that_hold():
    text = " ".join(README.read_text().split())
    limits = Limits()
    for said in (
        f"pages in the room at once, {limits.browsers} |",
        f"from one page on the long run, {limits.messages_a_second}; a teacher's",
        f"sends more than {limits.burst} messages in a burst",
        f"more than {limits.message_bytes // 1000} kB, or nothing within",
        f"within {limits.hello_within} seconds is disconnected",
        f"for each page, as many as a browser opens, and {OTHERS} more",
    ):
        assert said in text
    assert (TEACHER_FACTOR, PER_BROWSER) == (5, 7)  # "five times", "seven connections"
    assert f"{len(new_key()) * 6 // 256 * 256} random bits" in text
