"""A link as a QR code: every module is where the standard's encoder puts it."""

import json

import pytest
import segno

from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import load_lesson
from residual_stream.page.publication import ANSWERS, Publication
from residual_stream.page.qr import LONGEST, answer

LESSON = load_lesson(lesson_folder(DEFAULT_LESSON))

TEXTS = {
    "a link": "http://lesson.example:5006/?step=4&depth=3&residual=on&token=bank",
    "one character": "a",
    "digits": "0123456789",
    "capitals": "HTTP://LESSON.EXAMPLE/",
    "Japanese": "残差ストリーム",
    "beyond the first plane": "🌊" * 20,
    "the longest": "a" * LONGEST,
}


def squares(drawn: dict) -> list[list[int]]:
    """The runs as a square of 0 and 1; a module that two runs draw would be 2."""
    square = [[0] * drawn["size"] for _ in range(drawn["size"])]
    for x, y, width in drawn["dark"]:
        for at in range(x, x + width):
            square[y][at] += 1
    return square


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_runs_are_the_code_of_the_text(text):
    drawn = answer(LESSON, {"text": text})
    code = segno.make_qr(text, error="m")
    assert squares(drawn) == [list(row) for row in code.matrix]
    assert json.loads(json.dumps(drawn)) == drawn
    assert min(width for _, _, width in drawn["dark"]) >= 1


def test_runs_are_as_long_as_they_can_be():
    """The upper edge of a finder pattern is one run of seven."""
    drawn = answer(LESSON, {"text": TEXTS["a link"]})
    assert [0, 0, 7] in drawn["dark"]
    ends = {(x + width, y) for x, y, width in drawn["dark"]}
    assert ends.isdisjoint((x, y) for x, y, _ in drawn["dark"])


BAD = {
    "nothing": None,
    "a text alone": "http://lesson.example/",
    "a list": [["text", "a"]],
    "no text": {},
    "an empty text": {"text": ""},
    "a number": {"text": 7},
    "bytes": {"text": b"a"},
    "a list of texts": {"text": ["a"]},
    "one too many": {"text": "a" * (LONGEST + 1)},
    "more bytes than a code holds": {"text": "🌊" * LONGEST},
    "half a surrogate pair": {"text": chr(0xD83C)},
}


@pytest.mark.parametrize("payload", BAD.values(), ids=BAD)
def test_a_bad_question_gets_one_line_and_raises_nothing(payload):
    refused = answer(LESSON, payload)
    assert list(refused) == ["error"]
    assert refused["error"].startswith("text: ")
    assert "\n" not in refused["error"]


def test_a_page_may_ask_for_it():
    assert ANSWERS["qr"] is answer
    asked = Publication(LESSON).answers["qr"]({"text": "a"})
    assert asked == answer(LESSON, {"text": "a"})
