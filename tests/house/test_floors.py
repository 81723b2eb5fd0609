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

# from the ground up: each folder of the package and the libraries that it may use;
# publish and serve stand side by side, the doors of the package above all
FLOORS: tuple[tuple[frozenset[str], set[str]], ...] = (
    (frozenset({"model"}), NUMBERS),
    (frozenset({"lesson"}), NUMBERS | {"markdown_it"}),
    (frozenset({"table"}), NUMBERS),
    (frozenset({"page"}), VIEWS),
    (frozenset({"publish", "serve"}), VIEWS | {"redis"}),
    (frozenset({"cli", "app"}), VIEWS),
    (frozenset({"", "__main__"}), NUMBERS),
)


class Import(NamedTuple):
    what: str
    in_function: bool


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}
every_module = pytest.mark.parametrize("module", MODULES)


def folder(module: str) -> str:
    """The first folder (or the module) below the package; "" is the package itself."""
    return module.removeprefix(PACKAGE).removeprefix(".").partition(".")[0]


def floor(module: str) -> int:
    (found,) = (n for n, (names, _) in enumerate(FLOORS) if folder(module) in names)
    return found


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


def test_every_folder_stands_on_a_floor():
    folders = {folder(module) for module in MODULES}
    assert folders == {name for names, _ in FLOORS for name in names}
    assert len(FLOORS) < 12


def test_the_operations_know_nothing_of_the_rest_of_the_model():
    ops = f"{PACKAGE}.model.ops"
    for module in MODULES:
        if module.startswith(ops):
            assert all(lower.startswith(f"{ops}.") for lower in own(module)), module
    assert own(f"{PACKAGE}.model.block") == {
        f"{PACKAGE}.model.{name}" for name in ("ops", "trace", "inputs")
    }


@every_module
def test_no_module_imports_a_higher_floor(module):
    # the version stands in the package itself, which the calls print
    lower = own(module) - {PACKAGE}
    assert {one for one in lower if floor(one) > floor(module)} == set()


@every_module
def test_what_is_published_and_what_is_served_are_apart(module):
    apart = {"publish": "serve", "serve": "publish"}.get(folder(module))
    assert apart not in {folder(lower) for lower in own(module)}


def test_no_imports_go_in_a_circle():
    graph = {module: own(module) for module in MODULES}
    graph[f"{PACKAGE}.cli.main"] -= {PACKAGE}  # the version alone
    graph[f"{PACKAGE}.cli.parser"] -= {PACKAGE}
    order = list(TopologicalSorter(graph).static_order())  # CycleError names a circle
    model = f"{PACKAGE}.model"
    assert order.index(f"{model}.ops") < order.index(f"{model}.block")


def test_no_folder_imports_one_that_imports_it():
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        wanted = {folder(lower) for lower in own(module) - {PACKAGE}}
        graph.setdefault(folder(module), set()).update(wanted - {folder(module)})
    assert next(iter(TopologicalSorter(graph).static_order())) == "model"


@every_module
def test_each_floor_uses_only_its_libraries(module):
    _, libraries = FLOORS[floor(module)]
    assert {i.what for i in others(module)} <= libraries


def test_only_two_modules_speak_to_redis():
    speak = {m for m in MODULES if "redis" in {other.what for other in others(m)}}
    assert speak == {
        f"{PACKAGE}.serve.classroom.redis_{name}" for name in ("address", "link")
    }


@pytest.mark.parametrize(
    "module", [m for m in MODULES if folder(m) in ("", "cli", "__main__")]
)
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
