"""A link as a QR code, as runs of dark modules that a browser draws as one path."""

from itertools import groupby
from typing import Any

import segno

from residual_stream.lesson.lesson import Lesson

LONGEST = 1200


def answer(_lesson: Lesson, payload: object) -> dict[str, Any]:
    """The QR code (ISO/IEC 18004) of `payload["text"]`, or {"error": one line}.

    size:  modules a side, without the quiet zone.
    dark:  [x, y, width] of each run of dark modules, from the upper left corner.

    It never raises and its work has a bound.
    """
    text = payload.get("text") if isinstance(payload, dict) else None
    if not isinstance(text, str) or not 1 <= len(text) <= LONGEST:
        return {"error": f"text: needs 1 to {LONGEST} characters"}
    try:
        code = segno.make(text, error="m", micro=False)
    except ValueError:  # more bytes than a code holds, or half a surrogate pair
        return {"error": "text: does not fit into a QR code"}
    rows = list(code.matrix)
    return {"size": len(rows), "dark": _runs(rows)}


def _runs(rows: list[Any]) -> list[list[int]]:
    runs = []
    for y, row in enumerate(rows):
        x = 0
        for is_dark, modules in groupby(row):
            width = len(list(modules))
            if is_dark:
                runs.append([x, y, width])
            x += width
    return runs
