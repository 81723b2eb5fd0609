"""A broken example.toml: one line with the file, the key, what it found and needs."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers.broken_examples import BROKEN, UNREADABLE, WHOLE
from residual_stream import load_example
from residual_stream.lesson.example import read_example
from residual_stream.lesson.files import LessonError, LessonFile
from residual_stream.lesson.prose import read_prose

LESSONS = {
    "unknown": "no-such-lesson",
    "empty": "",
    "a NUL": "a\0b",
    "long": "x" * 5000,
}


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "example.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: Path) -> str:
    """What the line says after the file's name."""
    with pytest.raises(LessonError) as caught:
        read_example(path)
    line = str(caught.value)
    assert line.isprintable()  # so it is one line, too
    assert line.startswith(f"{path}: ")
    assert len(line) < len(str(path)) + 250
    return line.removeprefix(f"{path}: ")


def test_the_file_that_is_broken_below_is_whole(tmp_path):
    named = read_example(written(tmp_path, WHOLE))
    assert named.tokens == ("a", "b")
    assert named.focus == 1
    assert named.example.axes == ("x", "y")
    assert named.hidden[2] == {"id": "w", "ja": "丙", "en": "three"}
    assert_array_equal(named.example.embed, [[1, 2.5], [3, 4]])
    assert_array_equal(named.example.pos_embed, [[0.1, 0], [0, 0.2]])
    assert_array_equal(named.example.weights["W_out"], [[1, 2], [3, 4], [5, 6]])
    kinds = {weight.dtype for weight in named.example.weights.values()}
    assert kinds == {np.dtype(np.float64)}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_refused_in_one_line(tmp_path, change):
    old, new, key, found, needed = change
    assert old in WHOLE
    line = refusal(written(tmp_path, WHOLE.replace(old, new, 1)))
    assert line.startswith(key)
    assert found in line
    assert needed in line


@pytest.mark.parametrize(
    ("content", "says"), UNREADABLE.values(), ids=UNREADABLE.keys()
)
def test_a_file_that_cannot_be_read_is_refused_in_one_line(tmp_path, content, says):
    assert refusal(written(tmp_path, content)).startswith(says)


def test_a_missing_file_is_named(tmp_path):
    assert refusal(tmp_path / "example.toml") == "no such file; a lesson needs it"


def test_a_folder_in_its_place_is_named(tmp_path):
    assert refusal(tmp_path).endswith("is a folder; a lesson needs a file")


def test_a_pipe_in_its_place_is_named_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "example.toml")
    line = refusal(tmp_path / "example.toml")
    assert line == "is a pipe; a lesson needs a file"


def test_a_word_may_have_a_dot_in_it(tmp_path):
    dotted = WHOLE.replace('"b"', '"."').replace("b = [3", '"." = [3')
    assert_array_equal(
        read_example(written(tmp_path, dotted)).example.embed, [[1, 2.5], [3, 4]]
    )


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS.keys())
def test_an_unknown_lesson_is_refused_in_one_line(lesson):
    with pytest.raises(LessonError, match=r"\A.{2,70}: no lesson of that id .*\Z"):
        load_example(lesson)


@pytest.mark.parametrize("lesson", [None, 3, ["transformer-block"], ()])
def test_what_is_no_name_is_no_lesson(lesson):
    with pytest.raises(LessonError, match=r"\A.+: no lesson of that id and no such "):
        load_example(lesson)


def test_a_lesson_is_named_by_its_id_or_its_folder(tmp_path):
    written(tmp_path, WHOLE)
    assert load_example(str(tmp_path)).tokens == ("a", "b")
    assert load_example(tmp_path).tokens == ("a", "b")
    assert load_example("transformer-block").tokens == load_example().tokens


def test_a_byte_order_mark_is_left_out(tmp_path):
    (tmp_path / "example.toml").write_bytes("\ufefffocus = '岸'\r\n".encode())
    assert LessonFile(tmp_path / "example.toml").text("focus") == "岸"
    text = "\ufeff## step input: One\r\n\r\nTwo.\r\n"
    (tmp_path / "en.md").write_bytes(text.encode())
    (section,) = read_prose(tmp_path / "en.md")
    assert section.title == ["One"]


def test_a_folder_in_the_place_of_a_text_is_named(tmp_path):
    (tmp_path / "en.md").mkdir()
    with pytest.raises(LessonError, match=r"en\.md: is a folder; a lesson needs"):
        read_prose(tmp_path / "en.md")
