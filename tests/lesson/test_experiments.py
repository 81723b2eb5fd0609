"""The right prediction is the only right one, in every experiment of the lesson."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from residual_stream.lesson.example import NamedExample
from residual_stream.lesson.experiments.experiment import (
    check_experiments,
    experiment_ids,
    experiments_data,
    fill,
    load_experiments,
)
from residual_stream.lesson.experiments.file import read_experiment, read_weights
from residual_stream.lesson.experiments.runs import (
    RunPlan,
    Runs,
    stream_jacobians,
    stretch,
)
from residual_stream.lesson.expressions import ExpressionError, evaluate
from residual_stream.lesson.files import LANGUAGES, LessonError
from residual_stream.lesson.fills import FillError
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import Lesson, load_lesson
from residual_stream.model.block import run
from residual_stream.model.jacobian import block_jacobian, singular_values

SHIPPED = lesson_folder(DEFAULT_LESSON)
IDS = [f"{group}{number}" for group in "FG" for number in range(1, 6)]
CLOCK = """\
  [0.1, 0.0, 0.0, 0.0],
  [0.0, 0.1, 0.0, 0.0],
  [-0.1, 0.0, 0.0, 0.0],
  [0.0, -0.1, 0.0, 0.0],
"""
every_id = pytest.mark.parametrize("name", IDS)


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return load_lesson(SHIPPED)


@pytest.fixture(scope="module")
def loaded(lesson):
    return {experiment.plan.id: experiment for experiment in load_experiments(lesson)}


@pytest.fixture(scope="module")
def data(lesson):
    return {e["id"]: e for e in experiments_data(lesson)["experiments"]}


@pytest.fixture
def copied(tmp_path) -> Path:
    """The lesson's folder, to be broken."""
    return Path(shutil.copytree(SHIPPED, tmp_path / "lesson"))


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def refusal(folder: Path) -> str:
    """The one line that a check of the folder ends in."""
    with pytest.raises(LessonError) as caught:
        check_experiments(load_lesson(folder))
    line = str(caught.value)
    assert line.isprintable()
    assert line.startswith(str(folder))
    assert len(line) < len(str(folder)) + 400
    return line.removeprefix(f"{folder}/")


# ---------------------------------------------------------------- what is claimed


def test_there_are_ten_in_order(loaded, lesson):
    assert list(loaded) == list(experiment_ids(lesson)) == IDS


@every_id
def test_the_right_option_is_the_only_right_one(loaded, name):
    plan = loaded[name].plan
    assert set(plan.wrong) == set(plan.options) - {plan.right}
    assert evaluate(plan.condition, loaded[name].runs.look_up) is True
    for claim in plan.wrong.values():
        assert evaluate(claim, loaded[name].runs.look_up) is False


@every_id
def test_a_learner_cannot_learn_where_the_right_option_stands(loaded, name):
    right = [experiment.plan.right for experiment in loaded.values()]
    assert max(right.count(option) for option in "abc") <= 4


def test_the_check_counts_every_claim(lesson):
    assert check_experiments(lesson) == 30


def test_a_lesson_without_experiments_has_none(copied):
    shutil.rmtree(copied / "experiments")
    assert check_experiments(load_lesson(copied)) == 0


def test_experiments_that_are_no_folder_or_cannot_be_read_are_named(
    copied, monkeypatch
):
    folder = copied / "experiments"
    with monkeypatch.context() as patch:
        error = PermissionError(13, "Permission denied")
        patch.setattr(Path, "iterdir", Mock(side_effect=error))
        assert refusal(copied) == "experiments: Permission denied; make it readable"
    shutil.rmtree(folder)
    folder.write_text("")
    assert refusal(copied) == "experiments: is a file; a lesson needs a folder"


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("[0.0, 0.0, 0.0, 0.05],    # river bank", "[0.0, 0.0, 0.0, 0.6], #", "F1"),
        (CLOCK, "  [0, 0, 0, 0],\n" * 4, "F5"),
        ("[0.75, -0.35, -0.2, 0.0]", "[0.75, -0.35, -0.2, 0.9]", "F1"),
    ],
)
def test_a_weight_that_breaks_a_claim_names_the_experiment(copied, old, new, names):
    change(copied / "example.toml", old, new)
    line = refusal(copied)
    assert re.match(
        rf"experiments/{names}\.toml: (condition|wrong\.[abc]): found", line
    )
    assert names in line.split("needs")[1]


def test_weights_that_no_longer_cancel_name_the_experiment(copied):
    change(copied / "weights-cancelling.toml", "-0.7]", "-0.1]")
    assert refusal(copied).startswith(
        "experiments/G1.toml: condition: found abs(other.x[3].bank.identity) < 0.1"
    )


def test_a_wrong_option_that_is_true_is_refused(copied):
    change(copied / "experiments/F3.toml", "< 0.1", "< 0.5")
    change(
        copied / "experiments/F3.toml", "off.x[12].bank) < 0.1", "off.x[12].bank) < 9"
    )
    line = refusal(copied)
    assert line.startswith("experiments/F3.toml: wrong.a: found it to be True")
    assert "option a of F3 would be right too" in line


# ------------------------------------------------------------- a file that is wrong

BROKEN = {
    "an unknown key": ('right = "b"', 'rihgt = "b"', "rihgt: not a name"),
    "an unknown right": ('right = "b"', 'right = "d"', "right: found 'd', needs"),
    "one option": ('["a", "b", "c"]', '["a"]', "options: found ['a']"),
    "options out of order": ('"a", "b"', '"b", "a"', "options: found"),
    "a claim of the right one": ("[wrong]", '[wrong]\nb = "1 < 2"', "wrong.b: not a"),
    "a claim that is no text": (
        "[wrong]\na = ",
        "[wrong]\na = 1 #",
        "wrong.a: found 1",
    ),
    "no depth": ("depth = 6", "", "runs.on.depth: missing"),
    "too deep": ("depth = 6", "depth = 25", "runs.on.depth: found 25"),
    "a residual that is a truth": (
        "depth = 6",
        "depth = 6\nresidual = true",
        "runs.on.residual: found True, needs on or off",
    ),
    "attention that is a number": (
        "depth = 6",
        "depth = 6\nattention = 1",
        "runs.on.attention: found 1, needs true or false",
    ),
    "an unknown norm": (
        "depth = 6",
        'depth = 6\nnorm = "x"',
        "runs.on.norm: found 'x'",
    ),
    "other words": ("depth = 6", 'depth = 6\norder = ["by"]', "runs.on.order: found"),
    "a vector for no word": (
        "depth = 6",
        "depth = 6\nembed.sea = [1]",
        "runs.on.embed.sea: not a name",
    ),
    "a short vector": (
        "depth = 6",
        "depth = 6\nembed.river = [1]",
        "runs.on.embed.river: found [1], needs the shape [4]",
    ),
    "weights of nowhere": (
        "depth = 6",
        'depth = 6\nweights = "../x"',
        "runs.on.weights: found '../x'",
    ),
    "varied and without norm": (
        "depth = 6",
        'depth = 6\nnorm = "none"\nvary = { seed = 1, amount = 0.1 }',
        "runs.on.vary: found",
    ),
    "an amount too large": (
        "depth = 6",
        "depth = 6\nvary = { seed = 1, amount = 2 }",
        "runs.on.vary.amount: found 2.0, needs a number from 0 to 1",
    ),
    "a run with a bad name": ("[runs.on]", "[runs.On]", "runs: found 'On'"),
    "an unknown picture": ('kind = "lines"', 'kind = "pie"', "pictures.0.kind: found"),
    "lines without an end": ("last = 6", "", "pictures.0.last: missing"),
    "a picture without Japanese": (
        'title = { ja = "オンとオフの隔たり", ',
        "title = { ",
        "pictures.0.title.ja: missing",
    ),
    "an unknown tone": (
        'tone = "on"',
        'tone = "blue"',
        "pictures.1.rows.0.tone: found",
    ),
    "a picture of a truth": (
        'value = "distance(on.x[k].bank, off.x[k].bank)"',
        'value = "1 < 2"',
        "pictures.0.rows.0: found True, needs a number",
    ),
    "a vector that is a number": (
        'value = "on.x[1].bank"',
        'value = "1"',
        "pictures.1.rows.0: found '1', needs a word's vector",
    ),
    "a condition of a run that is not there": (
        "1 < distance(on.x[1].bank",
        "1 < distance(no.x[1].bank",
        "condition: found 'no', needs a run: on, off",
    ),
    "a condition that calls Python": (
        'condition = """',
        'condition = """__import__("os") and',
        "condition: found",
    ),
    "a condition that is a number": (
        'condition = """',
        'condition = "7"\nx = """',
        "x: not a name",
    ),
}


@pytest.mark.parametrize(("old", "new", "says"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_refused_in_one_line(copied, old, new, says):
    change(copied / "experiments/F1.toml", old, new)
    assert refusal(copied).startswith(f"experiments/F1.toml: {says}")


WEIGHTS = {
    "an unknown weight": ("W_in = ", "W_up = ", "weights.W_up: not a name"),
    "a weight of another shape": (
        "[1.0, 0.0, 1.0, 0.0",
        "[1.0, 1.0, 0.0",
        "weights.W_in",
    ),
    "another table": ("[weights]", "[wieghts]", "wieghts: not a name"),
}


@pytest.mark.parametrize(("old", "new", "says"), WEIGHTS.values(), ids=WEIGHTS.keys())
def test_broken_weights_are_refused_in_one_line(copied, old, new, says):
    change(copied / "weights-cancelling.toml", old, new)
    assert refusal(copied).startswith(f"weights-cancelling.toml: {says}")


# ------------------------------------------------------------------------ the prose

PROSE = {
    "a missing section": (
        "## experiment F1-option-b:",
        "## experiment F1-option-x:",
        "ja.md",
        "F1-option-b",
    ),
    "a number in one language only": (
        "「river」のとき{{",
        "「river」のとき{{length(",
        "ja.md",
        "F2-answer-a",
    ),
    "a link to no term": ("(#position-vector)", "(#postion)", "ja.md", "links differ"),
}


@pytest.mark.parametrize(("old", "new", "file", "says"), PROSE.values(), ids=PROSE)
def test_the_two_languages_say_the_same(copied, old, new, file, says):
    change(copied / f"experiments/{file}", old, new)
    assert says in refusal(copied)


def test_a_section_that_no_experiment_has_is_refused(copied):
    for lang in LANGUAGES:
        path = copied / f"experiments/{lang}.md"
        path.write_text(path.read_text("utf-8") + "\n## experiment G6-limits: X\n\nX\n")
    assert "needs '## experiment nothing" in refusal(copied)


def test_a_placeholder_that_says_nothing_names_its_line(copied):
    for lang in LANGUAGES:
        path = copied / f"experiments/{lang}.md"
        text = path.read_text("utf-8")
        path.write_text(text.replace("{{length(off.x[6].bank)}}", "{{length(off.y)}}"))
    assert re.match(
        r"experiments/en\.md:\d+: experiment F1-answer-b: ", refusal(copied)
    )


@every_id
def test_each_option_has_an_answer_of_its_own(data, name):
    experiment = data[name]
    for language in LANGUAGES:
        prose = experiment["prose"][language]
        answers = [str(prose[f"answer-{o}"]["nodes"]) for o in experiment["options"]]
        assert len(set(answers)) == len(experiment["options"])
        assert {"question", "limits"} <= set(prose)


@every_id
def test_no_answer_to_a_wrong_prediction_calls_it_predicted(loaded, name):
    """Its verdict above it says the opposite."""
    experiment = loaded[name]
    for language, said in (("ja", "予想(?:の)?(?:とお|どお)り"), ("en", "predicted")):
        for option in experiment.plan.wrong:
            section = experiment.sections[language][f"answer-{option}"]
            assert not re.search(said, str(section.nodes)), (name, option)


@every_id
def test_each_answer_quotes_what_was_computed(data, name):
    experiment = data[name]
    for option in experiment["options"]:
        assert experiment["fills"][f"answer-{option}"]


@every_id
def test_no_computed_number_is_typed(loaded, name):
    for language in LANGUAGES:
        for section in loaded[name].sections[language].values():
            typed = re.findall(r"\d+\.\d+|\d+ ?%", str(section.nodes))
            assert set(typed) <= {"0.1"}  # how far F4 moves the weights, a setting


# --------------------------------------------------------------- runs and pictures


def test_another_order_moves_the_words_and_not_the_places(lesson_example: NamedExample):
    plan = RunPlan(depth=1, order=("bank", "by", "the", "river"))
    start = plan.start(lesson_example)
    assert start.tokens[start.focus] == "bank"
    np.testing.assert_array_equal(
        start.example.embed[0], lesson_example.example.embed[3]
    )
    np.testing.assert_array_equal(
        start.example.pos_embed, lesson_example.example.pos_embed
    )


def test_cancelling_weights_differ_from_the_lesson_in_four_numbers(lesson_example):
    path = SHIPPED / "weights-cancelling.toml"
    weights = lesson_example.example.weights
    changed = read_weights(path, lesson_example)
    assert sum((changed[n] != weights[n]).sum() for n in changed) == 4


def test_the_paths_of_a_run_lead_to_its_trace(lesson_example, bank):
    computed = RunPlan(depth=2).computed(lesson_example)
    trace = run(lesson_example.example, 2)
    runs = Runs({"on": computed})

    def value(text):
        return evaluate(text, runs.look_up)

    assert value("on.x[0].bank.identity") == trace["blocks.0.resid_pre"][bank, 3]
    assert value("on.x[2].bank.identity") == trace["blocks.1.resid_post"][bank, 3]
    assert value("on.blocks[1].ln1.scale.bank") == trace["blocks.1.ln1.scale"][bank]
    pattern = trace["blocks.0.attn.pattern"]
    assert value("on.blocks[0].attn.pattern.bank.river") == pattern[bank, 2]
    unit = trace["blocks.0.mlp.post"][bank, 2]
    assert value("on.blocks[0].mlp.post.bank.riverbank") == unit
    singular = singular_values(block_jacobian(trace, 1), bank)
    assert value("on.stretch.block[1].bank[2]") == singular[2]
    np.testing.assert_array_equal(value("on.stretch.stream[0]"), np.ones(16))


@pytest.mark.parametrize(
    "text",
    [
        "off.x[0].bank",
        "on",
        "on.x",
        "on.x[9].bank",
        "on.x[0]",
        "on.x[0].sea",
        "on.x[0].bank.sea",
        "on.x[0].bank.identity.more",
        "on.blocks[5].attn_out.bank",
        "on.stretch",
        "on.stretch.block[2]",
        "on.stretch.nothing[0]",
        "on.stretch.block.bank",
        "on.stretch.block[0].bank.more",
        "on.stretch.block[0].bank[9]",
        "on.__class__",
        "on.trace",
    ],
)
def test_a_path_that_leads_nowhere_is_refused(lesson_example, text):
    runs = Runs({"on": RunPlan(depth=2).computed(lesson_example)})
    with pytest.raises(ExpressionError, match=r"\Afound .*, needs"):
        evaluate(f"length({text})", runs.look_up)


def test_a_placeholder_is_an_expression_or_the_lessons_own_form(lesson_example):
    runs = Runs({"off": RunPlan(depth=2, residual=False).computed(lesson_example)})
    assert fill("off.x[0].bank.identity | 2", runs) == "1.00"
    assert fill("off.blocks.0.resid_pre.identity", runs) == "1.0"
    assert fill("length off.blocks.0.resid_post | 2", runs) == "0.39"
    assert fill("length(off.x[1].bank) | 2", runs) == "0.39"
    assert fill("off.blocks[0].attn.pattern.bank.river | %", runs) == "94 %"
    assert fill("top off.blocks.0.attn.pattern", runs) == "river"
    for wrong in (
        "no.x[0].bank.identity",
        "off",
        "1 < 2 (",
        "off.x[0].bank",
        "identity",
    ):
        with pytest.raises(FillError):
            fill(wrong, runs)


@every_id
def test_each_picture_has_a_number_for_each_column_within_its_range(data, name):
    assert data[name]["pictures"]
    for picture in data[name]["pictures"]:
        low, high = picture["range"]
        assert low <= 0 <= high
        for row in picture["rows"]:
            assert len(row["values"]) == len(picture["columns"])
            assert all(low <= value <= high for value in row["values"])
            assert set(row["label"]) == set(LANGUAGES)


def test_g3_draws_both_ends_of_the_factors_by_depth_on_and_off(data, lesson_example):
    on, off = (run(lesson_example.example, depth=12, residual=r) for r in (True, False))
    shrinks, stretches, _ = data["G3"]["pictures"]
    for trace, label in ((on, "on, lesson’s weights"), (off, "off")):
        streams = stream_jacobians(trace)
        values = [stretch(trace, streams, "stream", k) for k in range(13)]
        for picture, end in ((shrinks, -1), (stretches, 0)):
            (row,) = [r for r in picture["rows"] if r["label"]["en"] == label]
            assert row["values"] == [factors[end] for factors in values]
            assert (row["tone"] == "off") is (label == "off")


def test_pictures_of_one_scale_share_their_range(lesson, copied):
    path = copied / "experiments/G4.toml"
    text = path.read_text("utf-8").replace("first = 0", 'first = 0\nscale = "one"')
    path.write_text(text, "utf-8")
    g4 = experiments_data(load_lesson(copied))["experiments"][8]
    assert g4["pictures"][0]["range"] == g4["pictures"][1]["range"]


def test_stretch_names_what_it_knows(trace):
    streams = stream_jacobians(trace)
    assert stretch(trace, streams, "stream", 3).shape == (16,)
    with pytest.raises(ExpressionError, match=r"needs block, corrections, stream"):
        stretch(trace, streams, "stream", 4)


def test_the_files_name_is_the_experiments_id(lesson):
    plan = read_experiment(SHIPPED / "experiments/F1.toml", lesson.named)
    assert plan.id == "F1"
    assert replace(plan, id="F9").mistake("k", "x").args[0].endswith("F1.toml: k: x")
