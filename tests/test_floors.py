"""A lower floor never imports a higher one, inside a function either."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

import pytest

import residual_stream

PACKAGE = "residual_stream"
ROOT = Path(residual_stream.__file__).parent

NUMBERS = {"numpy"}
# tornado and jinja2 (with markupsafe) come with Bokeh, whose interfaces take their
# objects
VIEWS = NUMBERS | {
    "param",
    "panel",
    "bokeh",
    "tornado",
    "jinja2",
    "markupsafe",
    "markdown_it",
    "segno",
}

# from the ground up: the modules of a floor and the libraries that they may use;
# a module that is named nowhere stands on the lesson's floor
FLOORS = (
    ({"ops"}, NUMBERS),
    ({"entry", "arithmetic", "trace"}, NUMBERS),
    ({"inputs"}, NUMBERS),
    ({"block"}, NUMBERS),
    ({"explain", "ledger", "derivatives", "jacobian", "wirings"}, NUMBERS),
    ({"lesson_file", "places", "example"}, NUMBERS | {"markdown_it"}),
    ({"state"}, NUMBERS | {"param"}),
    ({"page"}, VIEWS),
    ({"app", "export", "handout", "server", "notebook", "static_site"}, VIEWS),
    ({"classroom"}, VIEWS | {"redis"}),
    ({"", "calls", "call_export", "call_serve", "cli", "__main__"}, VIEWS),
)
LESSON, TOP = 5, 10


class Import(NamedTuple):
    what: str
    in_function: bool


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}
every_module = pytest.mark.parametrize("module", MODULES)


def floor(module: str) -> int:
    first = module.removeprefix(PACKAGE).removeprefix(".").partition(".")[0]
    found = (number for number, (names, _) in enumerate(FLOORS) if first in names)
    return next(found, LESSON)


def imports(module: str) -> Iterator[Import]:
    """Everything a module imports, with the submodule where one is meant."""
    path = MODULES[module]
    tree = ast.parse(path.read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, functions)
        for node in ast.walk(function)
    }
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, id(node) in inside)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            for alias in node.names:
                submodule = f"{base}.{alias.name}"
                what = submodule if submodule in MODULES else base
                yield Import(what, id(node) in inside)


def own(module: str) -> set[str]:
    """The modules of this package that a module imports."""
    return {i.what for i in imports(module) if i.what.partition(".")[0] == PACKAGE}


def others(module: str) -> Iterator[Import]:
    """What it imports from other projects, by their first name."""
    for what, in_function in imports(module):
        first = what.partition(".")[0]
        if first != PACKAGE and first not in sys.stdlib_module_names:
            yield Import(first, in_function)


def test_the_ground_is_laid_in_three_layers():
    ops, trace, block = (f"{PACKAGE}.{name}" for name in ("ops", "trace", "block"))
    for module in MODULES:
        if module.startswith(ops):
            assert all(lower.startswith(f"{ops}.") for lower in own(module)), module
    below = {f"{PACKAGE}.{name}" for name in ("entry", "arithmetic")}
    above = {f"{PACKAGE}.{name}" for name in ("block", "inputs", "explain")}
    for module in (trace, *below):
        assert ops in own(module), module
        assert not above & own(module), module
    assert own(block) == {ops, trace, f"{PACKAGE}.inputs"}


@every_module
def test_no_module_imports_a_higher_floor(module):
    assert {lower for lower in own(module) if floor(lower) > floor(module)} == set()


def test_no_imports_go_in_a_circle():
    graph = {module: own(module) for module in MODULES}
    order = list(TopologicalSorter(graph).static_order())  # CycleError names a circle
    assert order.index(f"{PACKAGE}.ops") < order.index(f"{PACKAGE}.block")


@every_module
def test_each_floor_uses_only_its_libraries(module):
    _, libraries = FLOORS[floor(module)]
    assert {i.what for i in others(module)} <= libraries


def test_only_two_modules_speak_to_redis():
    speak = {m for m in MODULES if "redis" in {other.what for other in others(m)}}
    assert speak == {
        f"{PACKAGE}.classroom.redis_{name}" for name in ("address", "link")
    }


@pytest.mark.parametrize("module", [m for m in MODULES if floor(m) == TOP])
def test_what_starts_the_page_brings_it_in_only_when_asked(module):
    assert {i.what for i in others(module) if not i.in_function} <= NUMBERS


def test_the_package_alone_brings_in_numpy_and_nothing_else():
    script = f"""
import sys
before = set(sys.modules)
import {PACKAGE} as rs
trace = rs.run(rs.load_example(), depth=2)
rs.ledger(trace, 0), rs.depth_map(trace, 0), rs.explain(trace, "embed", (0, 0))
print(*{{name.partition(".")[0] for name in sys.modules.keys() - before}})
"""
    run = [sys.executable, "-W", "error", "-c", script]
    answer = subprocess.run(run, capture_output=True, text=True, check=True)
    assert set(answer.stdout.split()) - sys.stdlib_module_names == {"numpy", PACKAGE}
