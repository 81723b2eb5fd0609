"""The same content the usual way: panes that are built anew for each change.

This is what the page is measured against; nobody is meant to use it.
"""

import panel as pn
from bokeh.plotting import figure

from residual_stream import depth_map, ledger, load_example, run
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.lesson.lesson import load_lesson
from residual_stream.model.arithmetic import number
from residual_stream.page.publication import publish

PARTS = ("ln1.normalized", "attn_out", "resid_mid", "ln2.normalized", "mlp_out")
INSIDE = ("attn.q", "attn.k", "attn.v", "attn.scores", "attn.pattern", "attn.z")
EXAMPLE, LESSON = load_example(), load_lesson(lesson_folder(DEFAULT_LESSON))
DATA = publish(lesson_folder(DEFAULT_LESSON)).data


def text(step, depth, residual, token, language):
    word = DATA["fills"]["steps"]["on" if residual else "off"][token]
    last = step == 2 + 6 * depth
    place, *fills = word["sums"][depth - 1] if last else word["steps"][step - 1]
    section = DATA["prose"][language]["steps"][place]
    said = " ".join(str(node) for node in section["nodes"])
    state = f"state {step} {depth} {residual} {token} {language}"
    return pn.pane.Markdown(f"## Step {step}\n\n{said} {fills}\n\n`{state}`")


def matrix(name, value):
    rows = "".join(
        "<tr>" + "".join(f"<td>{number(v, 1)}</td>" for v in row) + "</tr>"
        for row in value.reshape(len(value), -1)
    )
    return pn.pane.HTML(f"<p>{name}</p><table>{rows}</table>")


def drawn(trace, token):
    map_ = depth_map(trace, token)
    plot = figure(height=260, sizing_mode="stretch_width", tools="")
    tops = [map_.x0_length + bar.length for bar in map_.bars]
    blocks = list(range(1, 1 + len(tops)))
    plot.varea(x=[0, len(tops) + 1], y1=0, y2=map_.x0_length)
    plot.vbar(x=blocks, bottom=map_.x0_length, top=tops, width=0.6)
    return pn.pane.Bokeh(plot, sizing_mode="stretch_width")


def page(step, depth, residual, token, language):
    trace = run(EXAMPLE, depth, residual)
    layer = min(max(step - 2, 0) // 6, depth - 1)
    names = [f"blocks.{layer}.{part}" for part in (*PARTS, "resid_post", *INSIDE)]
    account = ledger(trace, token)
    rows = [matrix(c.name, c.delta[None, :]) for c in account.corrections]
    return pn.Column(
        text(step, depth, residual, token, language),
        pn.Row(*(matrix(name, trace[name]) for name in names[:6])),
        drawn(trace, token),
        pn.Row(*(matrix(name, trace[name]) for name in names[6:])),
        *rows,
    )


pn.extension()
widgets = {
    "step": pn.widgets.IntSlider(name="step", start=1, end=74, value=1),
    "depth": pn.widgets.IntSlider(name="depth", start=1, end=12, value=3),
    "residual": pn.widgets.Switch(name="residual", value=True),
    "token": pn.widgets.Select(name="token", options=[0, 1, 2, 3], value=3),
    "language": pn.widgets.Select(name="language", options=["ja", "en"], value="en"),
}
pn.Column(*widgets.values(), pn.bind(page, **widgets)).servable()
