"""One learner's state: bounds, what a browser may say, and nothing shared."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import START
from residual_stream.lesson.files import LANGUAGES
from residual_stream.page import bundle
from residual_stream.page.state import HIDEABLE, VIEWS, LessonState, step_count

TOKENS = ("by", "the", "river", "bank")


def fresh(**values) -> LessonState:
    known = {"experiments": ("F1", "G5"), "check_lab": check_lab}
    return LessonState(TOKENS, "bank", 12, **known, **values)


def check_lab(text) -> None:
    """Stands for `lab.read_text`."""
    if text not in ("", "depth*12"):
        raise ValueError("needs the lab's text")


@pytest.mark.parametrize(("name", "known"), [("HIDEABLE", HIDEABLE), ("VIEWS", VIEWS)])
def test_the_browser_has_the_same_list_of_names(name, known):
    listed = re.search(rf"const {name} = (\[.*?\]);", bundle.script())
    assert json.loads(listed[1]) == list(known)


def test_the_browser_shares_every_part_of_the_state():
    shared = re.search(r"const SHARED = (\[.*?\]);", bundle.script())
    assert set(json.loads(shared[1])) == set(fresh().as_dict())


def test_a_fresh_state_is_the_lesson_s_start():
    assert fresh().as_dict() == START


@pytest.mark.parametrize(("depth", "steps"), [(1, 8), (3, 20), (6, 38), (12, 74)])
def test_the_walk_has_an_input_six_steps_a_block_and_a_sum(depth, steps):
    assert step_count(depth) == steps
    assert fresh(depth=depth, step=steps).step == steps


WRONG = [
    *(("depth", value) for value in (0, 13, -1, 1.5, "3", None)),
    *(("step", value) for value in (0, 21, -1, 2.0, "3", None)),
    *(("token", value) for value in ("sea", "", None, 3, [])),
    *(("residual", value) for value in ("on", 1, None)),
    *(("language", value) for value in ("fr", None)),
    *(("view", value) for value in ("admin", None)),
    *(("hide", value) for value in (["all"], "sum", None)),
    *(("experiment", value) for value in ("Z9", "f1", None)),
    *(("lab", value) for value in ("depth*97", None, 3)),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_value_out_of_range_is_refused_at_once(name, value):
    with pytest.raises(ValueError, match=name):
        fresh(**{name: value})
    state = fresh()
    with pytest.raises(ValueError, match=name):
        setattr(state, name, value)
    assert state.as_dict() == fresh().as_dict()


@pytest.mark.parametrize(
    ("name", "nearest"), [("stpe", "step"), ("Residual", "residual"), ("labs", "lab")]
)
def test_a_name_that_the_state_has_not_is_refused(name, nearest):
    line = rf"\A'{name}' is no part of the state; the nearest is '{nearest}'\Z"
    with pytest.raises(AttributeError, match=line):
        setattr(fresh(), name, 3)


def test_a_depth_that_ends_before_the_step_moves_the_step():
    state = fresh(depth=6, step=38)
    state.depth = 2
    assert state.step == step_count(2)
    state.depth = 6
    assert state.step == step_count(2)
    state.step = 38
    assert state.step == 38


@pytest.mark.parametrize("deepest", [1, 2, 3, 24])
def test_a_lesson_that_ends_early_starts_within_it(deepest):
    state = LessonState(("a",), "a", deepest)
    assert state.depth == min(3, deepest)
    state.step = step_count(state.depth)
    with pytest.raises(ValueError, match="depth"):
        state.depth = deepest + 1


# -------------------------------------------------------------- nothing is shared


def test_two_states_have_nothing_in_common():
    one, other = fresh(), LessonState(("川", "岸"), "岸", 2)
    assert one.param.token.objects == list(TOKENS)
    assert other.param.token.objects == ["川", "岸"]
    assert one.param.depth.bounds == (1, 12)
    assert other.param.depth.bounds == (1, 2)
    one.depth, one.step, one.token = 12, 74, "river"
    assert (other.depth, other.step, other.token) == (2, 1, "岸")
    with pytest.raises(ValueError, match="token"):
        other.param.update({"token": "river"})
    one.adopt({"hide": ["sum"], "token": "岸"})
    assert (one.token, other.token) == ("river", "岸")
    assert other.hide == []
    assert fresh().as_dict() == fresh().as_dict() | {"hide": [], "depth": 3}


def test_what_is_handed_out_is_a_copy():
    state = fresh()
    state.as_dict()["hide"].append("sum")
    assert state.hide == []
    assert fresh().hide == []


# ------------------------------------------------------------ what a browser says


def heard(state: LessonState) -> list[set[str]]:
    """The names of each change, as somebody hears of it who watches all."""
    changes: list[set[str]] = []
    names = list(state.as_dict())
    state.param.watch(lambda *events: changes.append({e.name for e in events}), names)
    return changes


ADOPTED = {
    "a deeper walk and its end": {"depth": 6, "step": 38},
    "a shorter walk and its end": {"depth": 1, "step": 8},
    "the deepest": {"step": 74, "depth": 12, "residual": False},
    "everything": {
        "view": "lab",
        "step": 2,
        "depth": 4,
        "residual": False,
        "token": "river",
        "language": "ja",
        "compare": True,
        "projector": True,
        "hide": ["sum", "map"],
        "experiment": "G5",
        "lab": "depth*12",
    },
}


@pytest.mark.parametrize("wanted", ADOPTED.values(), ids=ADOPTED)
def test_what_a_browser_says_is_taken_at_once(wanted):
    state = fresh(step=5)
    before, changes = state.as_dict(), heard(state)
    state.adopt(wanted)
    assert state.as_dict() == before | wanted
    assert changes[0] == set(wanted)
    assert len(changes) == 1


def test_a_state_goes_to_the_browser_and_back():
    state = fresh(depth=7, step=40, compare=True, hide=["map"], language="ja")
    other = fresh()
    other.adopt(json.loads(json.dumps(state.as_dict())))
    assert other.as_dict() == state.as_dict()


HOSTILE = {
    "step": [0, -1, 21, True, 2.0, float("nan"), 10**400, "2", None, [1], {"a": 1}],
    "depth": [0, 13, True, 3.0, float("nan"), float("inf"), 10**400, "3", None, [3]],
    "residual": [0, 1, "on", None, []],
    "token": ["", "sea", "<script>", None, True, 3, ["bank"], {}],
    "language": ["fr", "EN", None, 0, ["en"]],
    "view": ["admin", None, 1, {}],
    "compare": [1, "1", None],
    "projector": [1, "1", None],
    "hide": ["sum", None, ["all"], [["sum"]], [None], {"sum": 1}, 3],
    "experiment": ["Z9", "<b>", None, 1, ["F1"], {}],
    "lab": ["depth*97", "<b>", None, 1, ["depth*12"], {}],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, v) for name, values in HOSTILE.items() for v in values]
)
def test_what_is_not_allowed_is_left_out_and_the_rest_taken(name, value):
    state = fresh()
    good = {"step": 4} if name == "token" else {"token": "river"}
    state.adopt({name: value} | good)
    assert state.as_dict() == fresh().as_dict() | good
    assert type(state.step) is type(state.depth) is int


def test_a_step_that_the_new_depth_does_not_have_is_left_out():
    state = fresh(step=20)
    state.adopt({"depth": 1, "step": 9})
    assert (state.depth, state.step) == (1, 8)


def test_only_the_state_s_own_names_are_heard():
    state = fresh()
    state.adopt({"param": 1, "name": "x", "adopt": 2, "__class__": 3, 4: 5, None: 6})
    assert state.as_dict() == fresh().as_dict()
    assert state.name != "x"


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-3, 80)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([*TOKENS, *LANGUAGES, *VIEWS, *HIDEABLE, "F1", "depth*12"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.sampled_from(list(HOSTILE)) | st.text(max_size=5)
messages = st.dictionaries(names, anything, max_size=11)


@given(st.lists(messages, min_size=1, max_size=4))
def test_nothing_that_a_browser_can_send_breaks_the_state(sent):
    state = fresh()
    for wanted in sent:
        state.adopt(wanted)
        now = state.as_dict()
        assert 1 <= now["depth"] <= 12
        assert 1 <= now["step"] <= step_count(now["depth"])
        assert now["token"] in TOKENS
        assert now["language"] in LANGUAGES
        assert now["view"] in VIEWS
        assert set(now["hide"]) <= set(HIDEABLE)
        assert now["experiment"] in ("", "F1", "G5")
        assert now["lab"] in ("", "depth*12")
        assert {type(now[name]) for name in ("residual", "compare")} == {bool}
        assert {type(now[name]) for name in ("step", "depth")} == {int}
        json.dumps(now, allow_nan=False)


@pytest.mark.parametrize("name", ["step", "depth"])
@pytest.mark.parametrize("value", [True, 2.0, "2", None, np.int64(2)])
def test_only_a_plain_whole_number_is_a_step_or_a_depth(name, value):
    with pytest.raises(ValueError, match=rf"{name} is .*; it must be a whole number"):
        fresh(**{name: value})
    state = fresh()
    with pytest.raises(ValueError, match=rf"{name} is .*; it must be a whole number"):
        setattr(state, name, value)
    assert state.as_dict() == fresh().as_dict()
