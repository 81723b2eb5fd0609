"""What the tests share: the shipped lesson's example, and runs of it."""

import pytest
from hypothesis import settings

from residual_stream import Example, Trace, run
from residual_stream.example import NamedExample, read_example
from residual_stream.places import DEFAULT_LESSON, lesson_folder

# the same cases each time, so that a gate which was green once stays green
settings.register_profile(
    "gate", derandomize=True, deadline=None, max_examples=40, database=None
)
settings.load_profile("gate")


# ------------------------------------------------------------ the shipped lesson


@pytest.fixture(scope="session")
def lesson_example() -> NamedExample:
    return read_example(lesson_folder(DEFAULT_LESSON) / "example.toml")


@pytest.fixture(scope="session")
def example(lesson_example: NamedExample) -> Example:
    return lesson_example.example


@pytest.fixture(scope="session")
def bank(lesson_example: NamedExample) -> int:
    """The place of `bank`, the word that the lesson follows."""
    return lesson_example.focus


@pytest.fixture(scope="session")
def river(lesson_example: NamedExample) -> int:
    return lesson_example.tokens.index("river")


@pytest.fixture(scope="session")
def trace(example: Example) -> Trace:
    """The lesson's run: three blocks, residual on."""
    return run(example, depth=3)


@pytest.fixture(scope="session")
def trace_off(example: Example) -> Trace:
    """The same with the residual off."""
    return run(example, depth=3, residual=False)


@pytest.fixture(scope="session")
def deep_trace_off(example: Example) -> Trace:
    """Residual off at depth 6, where the lesson looks at what is left."""
    return run(example, depth=6, residual=False)
