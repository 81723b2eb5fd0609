"""The depth map as a Bokeh figure, made once and shipped as JSON.

The figure holds one word at full depth with residual on; the page's script fills in
every other picture through the names below. Blocks lie along x, lengths along y.
"""

from typing import Any

from bokeh.core.types import ID
from bokeh.embed import json_item
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure

from residual_stream.table.model import Table

BASE, RIBBON, TEXTS = "base", "ribbon", "texts"
SO_FAR, LATEST = "so_far", "latest"
SLATE, GREEN, RED, PAPER, LINE = "#475569", "#15803d", "#b91c1c", "#fcfbf8", "#d9dce2"
PLACES = ("x", "y", "left", "right", "bottom", "top", "text")
BAR_WIDTH = 0.6
HEADROOM = 1.2


def depth_map_item(model_table: Table, element_id: str | None = None) -> dict[str, Any]:
    """The depth map, ready for Bokeh's `embed_item`.

    model_table:  what `residual_stream.table.model_table` returns.
    element_id:   the page element to fill, if the page's script does not say.
    returns       plain data, ready for JSON.
    """
    target = None if element_id is None else ID(element_id)
    item: dict[str, Any] = dict(json_item(depth_map_figure(model_table), target))
    return item


def depth_map_figure(model_table: Table) -> Any:
    """x₀'s ribbon below, all corrections so far on top of it, block by block.

    There are neither axes nor tools: the page names the blocks with buttons, and it
    answers the pointer itself, so that keys and screen readers get the same.
    """
    word = model_table["runs"]["on"]["words"][model_table["focus"]]
    x0, lengths = word["x0_length"], word["bars"]
    end = len(lengths) + 0.5
    plot = figure(
        name="depth-map",
        x_range=Range1d(start=-0.6, end=end),
        y_range=Range1d(start=0, end=HEADROOM * (x0 + max(lengths)) or 1),
        x_axis_type=None,
        y_axis_type=None,
        tools="",
        toolbar_location=None,
        sizing_mode="stretch_both",
        min_width=0,
        min_height=0,
        min_border=0,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
    )
    plot.grid.visible = False
    _line(plot, BASE, {"x": [-0.5, end], "y": [0.0, 0.0]})
    _ribbon(plot, {"x": [-0.5, -0.5, end, end], "y": [0.0, x0, x0, 0.0]})
    bars = _bars(x0, lengths)
    _quads(plot, SO_FAR, bars, GREEN, "horizontal_line")
    _quads(plot, LATEST, {side: [] for side in bars}, RED, "vertical_line")
    _texts(plot)
    return plot


def _line(plot: Any, name: str, ends: dict[str, list[float]]) -> None:
    source = ColumnDataSource(ends)
    _one_look(plot.line("x", "y", source=source, name=name, line_color=LINE))


def _ribbon(plot: Any, outline: dict[str, list[float]]) -> None:
    source = ColumnDataSource(outline)
    _one_look(plot.patch("x", "y", source=source, name=RIBBON, color=SLATE))


def _bars(x0: float, lengths: list[float]) -> dict[str, list[float]]:
    blocks = range(1, len(lengths) + 1)
    return {
        "left": [block - BAR_WIDTH / 2 for block in blocks],
        "right": [block + BAR_WIDTH / 2 for block in blocks],
        "bottom": [x0] * len(lengths),
        "top": [x0 + length for length in lengths],
        "alpha": [1.0] * len(lengths),
        "outline": [1.0] * len(lengths),
    }


def _quads(
    plot: Any, name: str, bars: dict[str, list[float]], color: str, hatch: str
) -> None:
    sides = {side: side for side in ("left", "right", "bottom", "top")}
    alphas = {"fill_alpha": "alpha", "line_alpha": "outline"}
    look = {"color": color, "hatch_pattern": hatch, "hatch_color": PAPER}
    source = ColumnDataSource(bars)
    _one_look(plot.quad(**sides, **alphas, **look, source=source, name=name))


def _texts(plot: Any) -> None:
    """Words and numbers, put in by the page in the reader's language."""
    columns = ("x", "y", "text", "color", "align", "style")
    texts = plot.text(
        "x",
        "y",
        "text",
        source=ColumnDataSource({column: [] for column in columns}),
        name=TEXTS,
        text_color="color",
        text_align="align",
        text_font_style="style",
        text_baseline="bottom",
        y_offset=-3,
    )
    _one_look(texts)


def _one_look(renderer: Any) -> None:
    """Nothing is ever selected or muted, and Bokeh redoes every look on each change.

    A glyph without a hatch, which nobody sees, is the cheapest it can be given.
    """
    glyph = renderer.glyph
    named = [name for name in PLACES if name in glyph.dataspecs()]
    places = {name: getattr(glyph, name) for name in named}
    plain = type(glyph)(**places)
    renderer.update(selection_glyph=plain, nonselection_glyph=plain, muted_glyph=plain)
