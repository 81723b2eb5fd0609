"""Claims are evaluated by a whitelist: what it knows, and all that it refuses."""

import ast

import numpy as np
import pytest

from residual_stream.lesson.expressions import (
    FUNCTIONS,
    MAX_NESTING,
    MAX_RANGE,
    MAX_TEXT,
    ExpressionError,
    evaluate,
    failing,
)

VECTORS = {
    ("on", "x", 0, "bank"): np.array([3.0, 4.0]),
    ("on", "x", 1, "bank"): np.array([6.0, 8.0]),
    ("on", "x", 2, "bank"): np.array([0.0, -2.0]),
    ("on", "long"): np.array([1.0, 2.0, 3.0]),
}
NUMBERS = {("on", "x", 0, "bank", "identity"): 4.0, ("on", "odd word"): 7.0}


def look_up(path):
    if path in VECTORS:
        return VECTORS[path]
    if path in NUMBERS:
        return NUMBERS[path]
    raise ExpressionError(f"no such path {path}")


WORTH = {
    "1 + 2 * 3 - 4 / 8": 6.5,
    "-(2 - 5)": 3.0,
    "on.x[0].bank.identity": 4.0,
    "on['odd word']": 7.0,
    "length(on.x[0].bank)": 5.0,
    "length(on.x[1].bank - on.x[0].bank)": 5.0,
    "length(2 * on.x[0].bank)": 10.0,
    "distance(on.x[0].bank, on.x[1].bank)": 5.0,
    "cosine(on.x[0].bank, on.x[1].bank)": 1.0,
    "largest(on.x[0].bank)": 4.0,
    "smallest(on.x[2].bank)": -2.0,
    "abs(smallest(on.x[2].bank))": 2.0,
    "largest(1, 7, 3)": 7.0,
    "largest(length(on.x[k].bank) for k in range(3))": 10.0,
    "smallest(length(on.x[k].bank) for k in range(1, 3))": 2.0,
    "sum(length(on.x[k].bank) for k in range(2))": 15.0,
    "length(sum(on.x[k].bank for k in range(2)))": 15.0,
    "length(on.x[2 - 1].bank)": 10.0,
}
TRUE = (
    "1 < 2",
    "1 < 2 <= 2",
    "not 2 < 1",
    "1 == 1 and 2 != 1",
    "2 < 1 or 3 >= 3",
    "all(length(on.x[k].bank) > 1 for k in range(3))",
    "any(length(on.x[k].bank) > 9 for k in range(3))",
)
HOSTILE = (
    "__import__('os').system('true')",
    "open('/etc/passwd')",
    "eval('1')",
    "().__class__.__bases__",
    "on.x[0].bank.__class__",
    "on.__init__.__globals__",
    "on.x[0].bank.dtype",
    "(1).real",
    "'a'.join",
    "length.__globals__",
    "length(on.x[0].bank).__class__",
    "(lambda: 1)()",
    "[k for k in range(3)]",
    "{k: 1 for k in range(3)}",
    "(k for k in range(3))",
    "sum(1 for k in (1, 2))",
    "sum(1 for k in range(3) if k)",
    "sum(1 for k in range(3) for j in range(3))",
    "sum(1 for k in range(0, 9, 2))",
    "f'{1}'",
    "1 if 1 < 2 else 3",
    "(x := 1)",
    "2 ** 99999",
    "9 % 2",
    "1 << 99",
    "~1",
    "+1",
    "*on",
    "on.x[1:2]",
    "on.x[0.5]",
    "on.x[-1]",
    "on.x[999]",
    "length(v=on.x[0].bank)",
    "True",
    "None",
    "'text'",
    "1j",
    "1e999",
    "99999999999999",
    "1 in 2",
    "1 is 1",
    "a; b",
    "import os",
    "\0",
    "",
    "k",
    "(((",
)
MISTAKEN = {
    "length(3)": "one vector",
    "distance(on.x[0].bank, on.long)": "two vectors of one length",
    "on.x[0].bank + on.long": "of one length",
    "on.x[0].bank < 1": "a number there",
    "1 and 2": "a comparison there",
    "not 1": "a comparison there",
    "all(1, 2)": "comparisons",
    "abs(1, 2)": "one number",
    "largest()": "numbers or a vector",
    "sum(1, on.long)": "of one length",
    "1 / 0": "division by 0",
    "1 / (2 - 2)": "division by 0",
    "shout(1)": "a function of abs, all, any",
    "off.x[0].bank": "no such path",
    "(1 < 2) + 1": "of numbers",
}


@pytest.mark.parametrize("text", WORTH)
def test_numbers_paths_and_functions_come_to_a_number(text):
    assert evaluate(text, look_up) == pytest.approx(WORTH[text], abs=1e-12)


@pytest.mark.parametrize("text", TRUE)
def test_comparisons_come_to_a_truth_value(text):
    assert evaluate(text, look_up) is True
    assert evaluate(f"not ({text})", look_up) is False


def test_a_path_reaches_the_caller_as_names_and_numbers_only():
    seen = []

    def note(path):
        seen.append(path)
        return 1.0

    evaluate("a.__class__.b[3]['c d']", note)
    assert seen == [("a", "__class__", "b", 3, "c d")]


def test_a_named_number_may_stand_in_a_path():
    assert evaluate("length(on.x[k + 1].bank)", look_up, k=0) == 10.0


@pytest.mark.parametrize("text", HOSTILE)
def test_anything_else_is_refused(text):
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, look_up)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("text", MISTAKEN)
def test_a_mistake_says_what_is_needed(text):
    with pytest.raises(ExpressionError, match=MISTAKEN[text]):
        evaluate(text, look_up)


@pytest.mark.parametrize(
    "text",
    [
        "1 + " * MAX_TEXT + "1",
        "-" * (MAX_NESTING + 2) + "1",
        "(" * 250 + "1" + ")" * 250,
        "+".join(["1"] * 200),
        "1" * 500,
        "all(all(all(1 < 2 for i in range(90)) for j in range(90)) for k in range(90))",
        "sum(sum(1e9 * 1e9 for j in range(90)) for k in range(90)) * " * 3 + "1",
        f"sum(1 for k in range({MAX_RANGE}))",
        " * ".join(["1e9"] * 40),
    ],
)
def test_what_is_too_long_too_deep_or_too_much_work_is_refused(text):
    with pytest.raises(ExpressionError):
        evaluate(text, look_up)


def test_the_first_false_part_of_a_chain_is_named():
    assert failing("1 < 2 and 2 < 3", look_up) == ""
    assert failing("1 < 2 and 3 < 2 and 4 < 3", look_up) == "3 < 2"
    assert failing("3 < 2", look_up) == "3 < 2"
    assert failing("7", look_up) == "7"


def test_each_function_is_tested_here():
    called = {
        node.func.id
        for text in (*WORTH, *TRUE)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
    }
    assert called - {"range"} == set(FUNCTIONS)
