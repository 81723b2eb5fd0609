"""What a browser needs of a lesson, made once a process: data, script and styles."""

import gzip
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from residual_stream.lesson.experiments.experiment import (
    experiment_ids,
    experiments_data,
)
from residual_stream.lesson.files import LANGUAGES
from residual_stream.lesson.lesson import Lesson, load_lesson
from residual_stream.lesson.prose import Section
from residual_stream.page import qr
from residual_stream.page.bundle import script, styles
from residual_stream.page.depth_map import depth_map_item
from residual_stream.table import lab
from residual_stream.table.model import model_table
from residual_stream.table.texts import ReadingTexts, StepTexts
from residual_stream.table.wirings import wirings_data

EXTRA: dict[str, Callable[[Lesson], Any]] = {
    "experiments": experiments_data,
    "wirings": wirings_data,
    "lab": lab.lab_data,
}
ANSWERS: dict[str, Callable[[Lesson, Any], dict[str, Any]]] = {
    "lab": lab.answer,
    "qr": qr.answer,
}


@dataclass(frozen=True)
class Publication:
    """A lesson made ready for the browser."""

    lesson: Lesson

    @cached_property
    def data(self) -> dict[str, Any]:
        """The model's table, all texts and the depth map's figure, as plain data."""
        lesson = self.lesson
        model = model_table(lesson.named, lesson.max_depth, lesson.runs)
        return {
            "lesson": {
                "id": lesson.id,
                "title": lesson.title,
                "formulas": lesson.formulas,
                "experiments": self.experiments,
                "lab_weights": lab.weights_of(lesson),
            },
            "model": model,
            "prose": {lang: _prose(lesson, lang) for lang in LANGUAGES},
            "fills": {
                "steps": StepTexts(lesson).every_state(),
                "reading": ReadingTexts(lesson).every_section(),
            },
            "glossary": [vars(term) for term in lesson.glossary],
            "ui": lesson.ui,
            "depth_maps": [depth_map_item(model) for _ in range(3)],
        }

    @cached_property
    def experiments(self) -> tuple[str, ...]:
        """What the lesson's experiments are called."""
        return experiment_ids(self.lesson)

    @cached_property
    def extra(self) -> dict[str, Any]:
        """What only some views need, by name: a page loads each when it is shown."""
        return {name: make(self.lesson) for name, make in EXTRA.items()}

    @property
    def answers(self) -> dict[str, Callable[[Any], dict[str, Any]]]:
        """What a page can ask the server, by kind."""
        return {name: partial(answer, self.lesson) for name, answer in ANSWERS.items()}

    @cached_property
    def files(self) -> dict[str, "File"]:
        """The files that a page links, by name; each name holds a hash of the file."""
        made = [
            _json("lesson", self.data),
            File("view", "js", "text/javascript", script().encode()),
            File("lesson", "css", "text/css", styles().encode()),
            *(_json(name, data) for name, data in self.extra.items()),
        ]
        return {file.name: file for file in made}

    def file(self, stem: str, ending: str) -> "File":
        """One of the files: ("lesson", "json"), ("view", "js"), ("lesson", "css") …"""
        return next(
            f for f in self.files.values() if (f.stem, f.ending) == (stem, ending)
        )


@dataclass(frozen=True)
class File:
    """One file as it goes over the wire."""

    stem: str
    ending: str
    content_type: str
    content: bytes = field(repr=False)

    @cached_property
    def name(self) -> str:
        """Its name with a hash, so that a browser may keep it for good."""
        digest = hashlib.sha256(self.content).hexdigest()[:16]
        return f"{self.stem}.{digest}.{self.ending}"

    @cached_property
    def compressed(self) -> bytes:
        """The content, gzipped once."""
        return gzip.compress(self.content, 9, mtime=0)


def _json(stem: str, data: Any) -> File:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return File(stem, "json", "application/json", text.encode())


def publish(folder: Path) -> Publication:
    """Read, check and compute a lesson.

    raises  LessonError, one line, if the lesson is wrong.
    """
    return Publication(load_lesson(folder))


def _prose(lesson: Lesson, language: str) -> dict[str, list[dict[str, Any]]]:
    sections = lesson.prose[language]
    return {
        "steps": [_section(s) for s in sections if s.kind == "step"],
        "reading": [_section(s) for s in sections if s.kind in ("lesson", "reading")],
    }


def _section(section: Section) -> dict[str, Any]:
    return {"id": section.id, "title": section.title, "nodes": section.nodes}
