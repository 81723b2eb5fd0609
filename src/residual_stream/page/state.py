"""One learner's state of the page, readable and settable from Python."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import param

from residual_stream.lesson.files import LANGUAGES
from residual_stream.lesson.lesson import STEPS

STEPS_PER_BLOCK = len(STEPS) - 2  # all but the input and the sum
VIEWS = ("lesson", "experiments", "wirings", "lab", "links")
HIDEABLE = (
    "residual",
    "depth",
    "token",
    "language",
    "compare",
    "sum",
    "map",
    "reading",
)


def step_count(depth: int) -> int:
    """How many steps a walk through `depth` blocks has: input, six a block, sum."""
    return 2 + STEPS_PER_BLOCK * depth


def _no_lab(text: object) -> None:
    if text != "":
        raise ValueError("no lab was given; use ''")


class LabText(param.Parameter):  # type: ignore[type-arg]  # generic only in new ones
    """The lab's settings as an address has them; `check` raises for any other text."""

    __slots__ = ("check",)

    def __init__(self, default: str = "", **params: Any) -> None:
        self.check: Callable[[object], Any] = _no_lab
        super().__init__(default=default, **params)

    def _validate(self, val: Any) -> None:
        try:
            self.check(val)
        except ValueError as error:
            found = str(error).removeprefix("lab: ")  # some name the whole lab
            raise ValueError(f"lab: {found}") from None


class WholeNumber(param.Integer):  # type: ignore[type-arg]
    """A plain whole number; True, which counts as 1 elsewhere, is none."""

    def _validate_value(self, val: Any, allow_None: bool) -> None:
        if type(val) is not int:
            raise ValueError(
                f"{self.name} is {val!r}; it must be a whole number, an int"
            )
        super()._validate_value(val, allow_None)


class LessonState(param.Parameterized):
    """What one learner has set: step, depth, residual, token, language and views.

    Setting a parameter checks it: a value out of range raises ValueError. A depth
    that ends before the step moves the step to the new last one.
    """

    view: Any = param.Selector(default="lesson", objects=list(VIEWS))
    step = WholeNumber(default=1, bounds=(1, None), doc="From 1, the input.")
    depth = WholeNumber(default=3, bounds=(1, None), doc="Blocks.")
    residual = param.Boolean(default=True, doc="Whether x + Δ or Δ alone is kept.")
    token: Any = param.Selector(objects=[""], doc="The word that is followed.")
    language: Any = param.Selector(default="en", objects=list(LANGUAGES))
    compare = param.Boolean(default=False, doc="Residual on and off side by side.")
    projector = param.Boolean(default=False, doc="Large, without reading matter.")
    hide = param.ListSelector(
        default=[], objects=list(HIDEABLE), instantiate=True, doc="Parts not shown."
    )

    experiment: Any = param.Selector(
        default="", objects=[""], doc="Which one is open; '' is their list."
    )
    lab: Any = LabText(doc="The lab's model as an address has it; '' is the lesson's.")

    def __init__(
        self,
        tokens: tuple[str, ...],
        focus: str,
        max_depth: int,
        *,
        experiments: Sequence[str] = (),
        check_lab: Callable[[object], Any] = _no_lab,
        **values: Any,
    ):
        super().__init__()  # before it, self.param is the class's, shared by all
        self.param.token.objects = list(tokens)
        self.param.depth.bounds = (1, max_depth)
        self.param.experiment.objects = ["", *experiments]
        self.param.lab.check = check_lab
        start = {"depth": min(self.depth, max_depth), "token": focus} | values
        self.depth = start.pop("depth")  # first, because it says where the steps end
        self.param.update(**start)

    def __setattr__(self, name: str, value: Any) -> None:
        # names that begin with "_" are param's own
        if not name.startswith("_") and not hasattr(type(self), name):
            known = ("step", "depth", *self.STATE)
            (nearest,) = difflib.get_close_matches(name, known, 1, cutoff=0)
            raise AttributeError(
                f"{name[:40]!r} is no part of the state; the nearest is {nearest!r}"
            )
        super().__setattr__(name, value)

    @param.depends("depth", watch=True, on_init=True)
    def _end_where_the_walk_ends(self) -> None:
        last = step_count(self.depth)
        with param.parameterized.batch_call_watchers(self):
            self.step = min(self.step, last)
            self.param.step.bounds = (1, last)

    def adopt(self, wanted: Mapping[str, Any]) -> None:
        """Take over what a browser says, all at once.

        A value that is not allowed is left out; the others are taken. Nothing that a
        browser can send raises.
        """
        good: dict[str, Any] = {}
        for name in ("depth", "step", *self.STATE):
            if name in wanted and self._allows(name, wanted[name], good):
                good[name] = wanted[name]
        # the watcher of the depth comes after all are set, too late for a later step
        self.param.step.bounds = (1, step_count(good.get("depth", self.depth)))
        self.param.update(**good)

    STATE = (
        *("view", "residual", "token", "language", "compare", "projector", "hide"),
        *("experiment", "lab"),
    )

    def _allows(self, name: str, value: Any, good: Mapping[str, Any]) -> bool:
        if name == "step":
            last = step_count(good.get("depth", self.depth))
            return type(value) is int and 1 <= value <= last
        try:
            self.param[name]._validate(value)
        except (ValueError, TypeError):
            return False
        return True

    def as_dict(self) -> dict[str, Any]:
        """Every value by name, ready for JSON."""
        values = {name: getattr(self, name) for name in ("step", "depth", *self.STATE)}
        return values | {"hide": list(self.hide)}
