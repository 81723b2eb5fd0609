"""Residual Stream: how a pre-norm Transformer block updates the residual stream.

    >>> from residual_stream import load_example, run
    >>> trace = run(load_example(), depth=3)
    >>> trace["blocks.2.resid_post"]  # [pos, d_model], the words' last states

Importing this package needs NumPy alone; `show` brings in Panel when it is called.
"""

from typing import TYPE_CHECKING, Any

from residual_stream.lesson.example import load_example
from residual_stream.model.arithmetic import Arithmetic, Term
from residual_stream.model.block import Example, Parts, run
from residual_stream.model.ledger import Ledger, depth_map, ledger
from residual_stream.model.trace import Entry, Trace, explain

if TYPE_CHECKING:
    from residual_stream.publish.notebook import LessonFrame, NotebookView

__version__ = "0.1.0"

__all__ = [
    "Arithmetic",
    "Entry",
    "Example",
    "Ledger",
    "Parts",
    "Term",
    "Trace",
    "depth_map",
    "explain",
    "ledger",
    "load_example",
    "run",
    "show",
]


def show(*args: Any, **kwargs: Any) -> "NotebookView | LessonFrame":
    """The lesson in a notebook cell; see `residual_stream.notebook.show`."""
    from residual_stream.publish import notebook

    return notebook.show(*args, **kwargs)
