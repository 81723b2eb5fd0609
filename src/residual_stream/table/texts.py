"""A lesson's texts for every state: which section, and what its slots say."""

from collections.abc import Sequence

from residual_stream.lesson.files import LessonError
from residual_stream.lesson.fills import FillError, Place
from residual_stream.lesson.lesson import SETTINGS, STEPS, Lesson
from residual_stream.lesson.prose import Section
from residual_stream.model.trace import Trace

BLOCK_STEPS = STEPS[1:-1]


def check_texts(lesson: Lesson) -> int:
    """Fill every text in every state.

    returns  how many texts were filled.
    raises   LessonError with file, line and placeholder for one that says nothing.
    """
    words = [w for run in StepTexts(lesson).every_state().values() for w in run]
    steps = sum(len(texts) for word in words for texts in word.values())
    return steps + len(ReadingTexts(lesson).every_section())


class StepTexts:
    """Which section a step takes in each state, and what fills its slots."""

    def __init__(self, lesson: Lesson) -> None:
        self._lesson = lesson
        self._sections = lesson.sections("step")
        self._traces = lesson.runs

    def every_state(self) -> dict[str, list[dict[str, list[list[object]]]]]:
        """For "on" and "off", for each word: the input and every block's steps, and
        the sum by depth; each as [place of the section, *texts for its slots].
        """
        return {
            setting: [
                {
                    "steps": self._walk(setting, token),
                    "sums": self._sums(setting, token),
                }
                for token in range(len(self._lesson.named.tokens))
            ]
            for setting in SETTINGS
        }

    def _walk(self, setting: str, token: int) -> list[list[object]]:
        named = self._lesson.named
        steps = [self._filled("input", Place(named, self._traces, setting, token, 0))]
        for layer in range(self._lesson.max_depth):
            place = Place(named, self._traces, setting, token, layer)
            steps += [self._filled(step, place) for step in BLOCK_STEPS]
        return steps

    def _sums(self, setting: str, token: int) -> list[list[object]]:
        sums = []
        for depth in range(1, self._lesson.max_depth + 1):
            until = {s: first_blocks(t, depth) for s, t in self._traces.items()}
            place = Place(self._lesson.named, until, setting, token, depth - 1)
            sums.append(self._filled("sum", place))
        return sums

    def _filled(self, step: str, place: Place) -> list[object]:
        index = self._choose(step, place)
        return [index, *filled(self._lesson, self._sections[index], place)]

    def _choose(self, step: str, place: Place) -> int:
        state = {
            "block": place.layer + 1,
            "residual": place.setting,
            "token": place.named.tokens[place.token],
        }
        fitting = [
            (len(section.conditions), -index)
            for index, section in enumerate(self._sections)
            if section.id == step
            and all(str(state[key]) == v for key, v in section.conditions.items())
        ]
        if not fitting:
            raise LessonError(
                f"{self._lesson.folder / 'en.md'}: step {step}: found no section for "
                f"{state}, needs one without conditions"
            )
        return -max(fitting)[1]


class ReadingTexts:
    """What fills the slots of the sections that speak of the lesson's own word."""

    def __init__(self, lesson: Lesson) -> None:
        self._lesson = lesson
        self._traces = lesson.runs

    def every_section(
        self, kinds: Sequence[str] = ("lesson", "reading")
    ) -> list[list[str]]:
        """For each section of these kinds, in order: the texts for its slots."""
        named = self._lesson.named
        place = Place(named, self._traces, "on", named.focus, 0)
        return [
            filled(self._lesson, section, place)
            for section in self._lesson.prose["en"]
            if section.kind in kinds
        ]


def traces(lesson: Lesson, depth: int) -> dict[str, Trace]:
    """The lesson's runs with residual on and off, up to the end of block `depth`."""
    return {s: first_blocks(trace, depth) for s, trace in lesson.runs.items()}


def first_blocks(trace: Trace, depth: int) -> Trace:
    """The part of a trace up to the end of block `depth`, from 1."""
    return trace.until(f"blocks.{depth - 1}.resid_post")


def filled(lesson: Lesson, section: Section, place: Place) -> list[str]:
    """The texts for a section's slots at one place.

    raises  LessonError with file and line if a placeholder says nothing there.
    """
    try:
        return [place.fill(placeholder) for placeholder in section.placeholders]
    except FillError as error:
        raise LessonError(
            f"{lesson.folder / 'en.md'}:{section.line_no}: {section.heading}: {error}"
        ) from None
