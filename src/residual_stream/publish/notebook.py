"""The lesson in a notebook cell: live, with Python behind it, or as an offline page."""

import sys
from dataclasses import dataclass, field
from html import escape
from typing import Any

import panel as pn
from panel.io.notebook import EXEC_MIME

from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.model import inputs
from residual_stream.page.component import LessonView, new_state, start_of
from residual_stream.page.publication import Publication, publish
from residual_stream.page.state import LessonState
from residual_stream.publish.offline_file import offline_page

Bundle = tuple[dict[str, Any], dict[str, Any]]  # what is shown by MIME type, and how

# Panel itself looks for Bokeh during five seconds
INSTEAD = """<script>
(function () {
  const live = document.querySelector("[id='ROOT'] [data-root-id]");
  const frame = document.getElementById("ROOT-offline");
  if (live.hasChildNodes()) return frame.remove();
  const waiting = setTimeout(function () {
    frame.hidden = false;
    frame.srcdoc = frame.dataset.page;
  }, 6000);
  new MutationObserver(function (_, observer) {
    observer.disconnect();
    clearTimeout(waiting);
    frame.remove();
  }).observe(live, { childList: true });
})();
</script>"""


def show(
    lesson: str = DEFAULT_LESSON,
    language: str = "en",
    *,
    live: bool = True,
    **state: Any,
) -> "NotebookView | LessonFrame":
    """The whole lesson; put it last in a notebook cell.

    Everything it needs travels in the notebook; nothing is fetched.

    live=True:   one Panel component. Its `state` can be read and set from other cells,
                 `view.state.residual = False`, and the lab has its Python. Without a
                 kernel (a documentation builder, say) its output is the offline page
                 in a frame. With one its output holds both: the component, and the
                 page for wherever the component is not there after six seconds, as
                 in a front end without Panel's scripts. A notebook opened or exported
                 later shows whichever of the two it can. Where a front end removes
                 scripts (GitHub, a notebook that is not trusted) neither can run.
    live=False:  the offline page in a frame and nothing else: far smaller,
                 the same in every front end, no link to Python and no lab.

    lesson:    a lesson's id or the path of its folder.
    language:  "ja" or "en".
    state:     where to start, e.g. step=4, depth=6, residual=False, token="river";
               experiment="F3" or lab="depth*12" also opens the view that has it.
    raises     LessonError for a wrong lesson, ValueError for a value out of range.
    """
    live = inputs.truth("live", live)
    publication = publish(lesson_folder(lesson))
    for view, part in (("experiments", "experiment"), ("lab", "lab")):
        if state.get(part):  # named, so that it is meant to be seen
            state.setdefault("view", view)
    start = new_state(publication, language, **state)
    if not live:
        return LessonFrame(publication, start)
    pn.extension(inline=True)
    return NotebookView(publication, start)


@dataclass(frozen=True)
class LessonFrame:
    """The offline page in a frame that may run its scripts and nothing else."""

    publication: Publication = field(repr=False)
    state: LessonState

    def page(self) -> str:
        """The page's HTML, ready for a frame's `srcdoc`."""
        language = self.state.language
        return offline_page(self.publication, language, start_of(self.state)).decode()

    def _repr_html_(self) -> str:
        return self.frame(f'srcdoc="{escape(self.page())}"')

    def frame(self, attributes: str) -> str:
        """The frame itself with further attributes."""
        title = escape(self.publication.lesson.title[self.state.language])
        return (
            f'<iframe sandbox="allow-scripts" title="{title}" {attributes} '
            'style="width: 100%; height: 56rem; max-height: 90vh; border: 0">'
            "</iframe>"
        )


class NotebookView(LessonView):
    """The component, and the offline page where the component can't be."""

    def __init__(
        self, publication: Publication, state: LessonState, **params: Any
    ) -> None:
        super().__init__(publication, state, **params)
        self._frame = LessonFrame(publication, state)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        if not _has_kernel() and sys.platform != "emscripten":
            return {"text/html": self._frame._repr_html_()}, {}
        data, how = super()._repr_mimebundle_(include, exclude)
        if EXEC_MIME in data:  # else the front end's own widgets carry the component
            root = how[EXEC_MIME]["id"]
            page = escape(self._frame.page())
            data["text/html"] += self._frame.frame(
                f'id="{root}-offline" data-page="{page}" hidden'
            ) + INSTEAD.replace("ROOT", root)
        return data, how


def _has_kernel() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None
