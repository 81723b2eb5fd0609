"""The page's modules and styles: joined without loss, and nothing reaches outside."""

import re
from collections import Counter
from pathlib import Path
from posixpath import normpath

import pytest

from residual_stream.lesson.folders import shipped
from residual_stream.page import bundle

PAGE = Path(bundle.__file__).parent
MODULES = {
    path.relative_to(PAGE).with_suffix("").as_posix(): path.read_text("utf-8")
    for path in sorted(PAGE.rglob("*.js"))
}
STYLES = sorted((shipped("assets") / "styles").glob("*.css"))
every_module = pytest.mark.parametrize("name", MODULES)

NAME = r"[A-Za-z_$][\w$]*"
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[\w./]+)\.js";$', re.MULTILINE)
DECLARED = re.compile(
    rf"^(export )?(?:async )?(?:const|let|var|class|function\*?) "
    rf"({NAME}|\{{[^}}]*\}}|\[[^\]]*\])",
    re.MULTILINE,
)


def imported(name: str) -> dict[str, list[str]]:
    """The names that a module takes from others."""
    return {
        normpath(f"{name}/../{module}"): [n.strip() for n in names.split(",")]
        for names, module in IMPORT.findall(MODULES[name])
    }


def declared(source: str, *, exported: bool = False) -> list[str]:
    """The names of a module's top level."""
    return [
        name
        for export, names in DECLARED.findall(source)
        for name in re.findall(NAME, names)
        if export or not exported
    ]


COMMENT = re.compile(r"^\s*(?://|/?\*)")


def first_words(source: str) -> str:
    """A line that only this module has: its first declaration."""
    found = DECLARED.search(source)
    line = source[found.start() :].partition("\n")[0]
    return line.removeprefix("export ")


def test_the_joined_script_has_every_module_once():
    script = bundle.script()
    assert len({first_words(source) for source in MODULES.values()}) == len(MODULES)
    counts = {name: script.count(first_words(s)) for name, s in MODULES.items()}
    assert set(counts.values()) == {1}, counts


def test_a_module_comes_after_all_that_it_imports():
    script = bundle.script()
    for name, source in MODULES.items():
        at = script.find(first_words(source))
        for needed in imported(name) if at >= 0 else ():
            assert 0 <= script.find(first_words(MODULES[needed])) < at, (needed, name)


def test_nothing_but_imports_and_exports_is_taken_out():
    script = bundle.script()
    assert re.findall(r"^\s*(?:import|export)\b(?!\().*$", script, re.MULTILINE) == []
    assert script.startswith('(() => {\n"use strict";\n')
    assert script.endswith("})();\n")
    lines = Counter(line for line in script.splitlines() if line.strip())
    for source in MODULES.values():
        if first_words(source) not in script:
            continue
        kept = re.sub(r"^export ", "", IMPORT.sub("", source), flags=re.MULTILINE)
        wanted = Counter(line for line in kept.splitlines() if line.strip())
        for line in [line for line in wanted if COMMENT.match(line)]:
            del wanted[line]
        assert wanted <= lines
    assert [line for line in lines if COMMENT.match(line)] == []


@every_module
def test_no_text_goes_over_several_lines(name):
    """So a line that looks like a comment is one, and can stay behind."""
    marks = [line.replace("\\`", "").count("`") for line in MODULES[name].splitlines()]
    assert [line_no for line_no, count in enumerate(marks, 1) if count % 2] == []


@every_module
def test_every_import_is_written_in_the_way_that_is_joined(name):
    """Others would stay in the joined script: one line, named, from beside."""
    source = MODULES[name]
    starts = re.findall(r"^import\b(?!\().*$", source, re.MULTILINE)
    assert len(starts) == len(IMPORT.findall(source))
    assert len(starts) == len(imported(name))
    assert re.findall(r"^export (?:default|\{|\*)", source, re.MULTILINE) == []
    assert not any(" as " in n for names in imported(name).values() for n in names)


@every_module
def test_what_is_imported_is_exported_there_and_used_here(name):
    body = IMPORT.sub("", MODULES[name])
    for module, names in imported(name).items():
        assert module in MODULES
        assert set(names) <= set(declared(MODULES[module], exported=True))
        assert [n for n in names if not re.search(rf"(?<![\w$]){n}\b", body)] == []


def test_a_name_at_the_top_is_there_once_in_all_modules():
    places: dict[str, list[str]] = {}
    for module, source in MODULES.items():
        for name in declared(source):
            places.setdefault(name, []).append(module)
    assert len(places) > 50
    assert {name: at for name, at in places.items() if len(at) > 1} == {}


def test_what_is_exported_is_imported_somewhere():
    wanted = {n for one in MODULES for names in imported(one).values() for n in names}
    exported = {name for s in MODULES.values() for name in declared(s, exported=True)}
    assert exported - wanted == set()


@every_module
def test_a_module_has_no_state_of_its_own(name):
    state = (
        r"^(?:export )?(?:(?:let|var) |const \w+ = (?:\[\]|\{\}|new (?:Map|Set)\(\));)"
    )
    assert re.findall(state, MODULES[name], re.MULTILINE) == []


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A folder of modules to join in place of the page's."""
    monkeypatch.setattr(bundle, "_PAGE", tmp_path)

    def write(**modules: str) -> None:
        for name, source in modules.items():
            (tmp_path / f"{name}.js").write_text(source, "utf-8")

    return write


def test_a_circle_of_imports_is_refused(folder):
    folder(
        main='import { a } from "./one.js";\n',
        one='import { b } from "./two.js";\nexport const a = 1;\n',
        two='import { a } from "./one.js";\nexport const b = 1;\n',
    )
    with pytest.raises(
        ValueError, match=r"in a circle: \('main', 'one', 'two', 'one'\)"
    ):
        bundle.script.__wrapped__()


def test_modules_are_joined_in_the_order_of_their_imports(folder):
    folder(
        main='import { b } from "./two.js";\nimport { a } from "./one.js";\nb(a);\n',
        one="export const a = 1;\n",
        two='import { a } from "./one.js";\nexport async function b() {}\n',
    )
    lines = [line for line in bundle.script.__wrapped__().splitlines() if line]
    assert lines[2:-1] == ["const a = 1;", "async function b() {}", "b(a);"]


def test_the_styles_are_joined_in_the_order_of_their_names():
    joined = bundle.styles()
    assert "/*" not in joined
    rules = [re.sub(r"/\*.*?\*/\n*", "", one.read_text(), flags=re.S) for one in STYLES]
    at = [joined.index(text) for text in rules]
    assert at == sorted(at)
    assert len(set(at)) == len(STYLES) > 5


# what the modules put before a name to make a class of it
COMPOSED = ("is-", "scene-", "reading-", "charts-")


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_a_class_that_has_a_style_is_given_to_something(path):
    pages = [page.read_text("utf-8") for page in shipped("assets").glob("*.html")]
    written = "\n".join([*MODULES.values(), *pages])
    assert all(f"{start}${{" in written for start in COMPOSED)
    rules = re.sub(
        r"/\*.*?\*/|\"[^\"]*\"", "", path.read_text("utf-8"), flags=re.DOTALL
    )
    styled = set(re.findall(r"\.([A-Za-z][\w-]*)", rules))
    given = {c for c in styled if re.search(rf"(?<![\w-]){c}(?![\w-])", written)}
    assert {c for c in styled - given if not c.startswith(COMPOSED)} == set()


# ------------------------------------------------------------- no markup, no network

MARKUP = (
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser|"
    r"createContextualFragment|setHTMLUnsafe|\beval\s*\(|new Function\b|"
    r"setTimeout\(\s*[\"'`]|setInterval\(\s*[\"'`]|javascript:"
)


@pytest.mark.parametrize(
    "path", sorted(PAGE.rglob("*.*js")), ids=lambda path: path.name
)
def test_no_module_makes_markup_or_code_of_a_text(path):
    assert re.findall(MARKUP, path.read_text("utf-8")) == []


ASSETS = [
    *sorted(PAGE.rglob("*.*js")),
    *STYLES,
    *sorted(shipped("assets").glob("*.html")),
]
# a name, and where two mistakes were reported: links to follow, nothing is fetched
NAMED = {
    "http://www.w3.org/2000/svg",
    "https://github.com/yunzeliu/MAP/issues/3",
    "https://github.com/pytorch/pytorch/issues/61165",
}


@pytest.mark.parametrize("path", ASSETS, ids=lambda path: path.name)
def test_nothing_leads_to_another_host(path):
    source = path.read_text("utf-8")
    assert set(re.findall(r"(?:https?|wss?|ftp)://[^\s\"'`)<]*", source)) <= NAMED
    assert re.findall(r"[\"'`(=]//[a-z]", source) == []
    assert re.findall(r"@import|url\((?![\"']?(?:data:|#))", source) == []
