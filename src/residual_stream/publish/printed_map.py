"""The depth map as it is printed: residual on and off, drawn on one scale.

All measures are millimetres from the upper left corner of a picture.
"""

from dataclasses import dataclass
from typing import NamedTuple

from residual_stream.lesson.lesson import SETTINGS, Lesson
from residual_stream.model.arithmetic import number
from residual_stream.model.ledger import Bar, DepthMap, depth_map
from residual_stream.table.texts import traces

WIDTH, HEIGHT = 90.0, 44.0
ENTRANCE, EDGE = 14.0, 4.0  # before the first block and behind the last
BASE, TOP = HEIGHT - 5.5, 4.5  # room for the blocks' numbers, and above the bars
BAR_SHARE = 0.64  # of its block's column
CUT_AT, NOTCHES, NOTCH_DEPTH = 9.0, 6, 1.2
DEPTH = 6


class DrawnBar(NamedTuple):
    """A block's bar: where it stands, and the number on it."""

    block: int
    x: float
    y: float
    width: float
    height: float
    centre: float
    length: str


@dataclass(frozen=True)
class DrawnMap:
    """One picture.

    setting:      "on" or "off".
    ribbon:       the corners of x₀'s ribbon, as SVG writes points.
    ribbon_top, ribbon_middle:  where its upper edge is, and half its height.
    """

    setting: str
    ribbon: str
    ribbon_top: float
    ribbon_middle: float
    x0_length: str
    bars: tuple[DrawnBar, ...]


def drawn_maps(lesson: Lesson, depth: int = DEPTH) -> tuple[DrawnMap, ...]:
    """The followed word's depth map with residual on and off.

    depth:  in blocks; a lesson whose page does not go that deep is drawn to its end.
    """
    runs = traces(lesson, min(depth, lesson.max_depth))
    maps = {s: depth_map(runs[s], lesson.named.focus) for s in SETTINGS}
    unit = (BASE - TOP) / (max(map(_highest, maps.values())) or 1)
    return tuple(_drawn(setting, maps[setting], unit) for setting in SETTINGS)


def _highest(drawn: DepthMap) -> float:
    longest = max(bar.length for bar in drawn.bars)
    return max(drawn.x0_length, _foot(drawn) + longest)


def _foot(drawn: DepthMap) -> float:
    return drawn.x0_length if drawn.ribbon_until else 0.0


def _drawn(setting: str, drawn: DepthMap, unit: float) -> DrawnMap:
    column = (WIDTH - ENTRANCE - EDGE) / len(drawn.bars)
    foot = _foot(drawn)
    bars = tuple(
        _bar(bar, ENTRANCE + (bar.block - 0.5) * column, BAR_SHARE * column, foot, unit)
        for bar in drawn.bars
    )
    height = unit * drawn.x0_length
    return DrawnMap(
        setting,
        _ribbon(height, bool(drawn.ribbon_until)),
        round(BASE - height, 2),
        round(BASE - height / 2, 2),
        number(drawn.x0_length),
        bars,
    )


def _bar(bar: Bar, centre: float, width: float, foot: float, unit: float) -> DrawnBar:
    return DrawnBar(
        bar.block,
        round(centre - width / 2, 2),
        round(BASE - unit * (foot + bar.length), 2),
        round(width, 2),
        round(unit * bar.length, 2),
        round(centre, 2),
        number(bar.length),
    )


def _ribbon(height: float, unbroken: bool) -> str:
    end = WIDTH - EDGE / 2 if unbroken else CUT_AT
    corners = [(0.0, BASE)]
    for notch in range(NOTCHES + 1):
        share = notch / NOTCHES
        # an arrow's tip at the right-hand edge, or the teeth of the cut
        out = EDGE / 2 * (1 - abs(2 * share - 1)) if unbroken else notch % 2
        x = end + (out if unbroken else NOTCH_DEPTH * out)
        corners.append((x, BASE - share * height))
    corners.append((0.0, BASE - height))
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in corners)
