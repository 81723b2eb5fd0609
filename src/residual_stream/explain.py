"""The worked arithmetic of one number of a trace, as a function."""

from residual_stream.arithmetic import FORMS, Arithmetic, Index, Term, number
from residual_stream.trace import Trace

__all__ = ["FORMS", "Arithmetic", "Index", "Term", "explain", "number"]


def explain(trace: Trace, name: str, index: Index) -> Arithmetic:
    """Work out one number of a trace again, and show how: `trace.explain(name, index)`.

    raises  KeyError for an unknown name, IndexError for a place outside it.
    """
    return trace.explain(name, index)
