"""`residual-stream` as scripts and people call it: output, files, statuses, errors."""

import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unicodedata import east_asian_width

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers.broken_examples import WHOLE
from residual_stream import __version__
from residual_stream.cli.main import main
from residual_stream.cli.serve import _public_url
from residual_stream.lesson.example import read_example
from residual_stream.lesson.files import LessonError
from residual_stream.lesson.folders import DEFAULT_LESSON, lesson_folder
from residual_stream.model.ledger import ledger

SCRIPT = str(Path(sys.executable).with_name("residual-stream"))
CALLS = ("serve", "trace", "check", "export")

# the values that are published, C2 to C6 of the lesson's facts
PUBLISHED = {
    "blocks.0.resid_pre": [0.3, 0.3, 0.0, 1.0],
    "blocks.0.attn_out": [0.7, -0.3, -0.2, 0.0],
    "blocks.0.resid_mid": [1.0, 0.0, -0.2, 1.0],
    "blocks.0.mlp_out": [0.3, -0.1, -0.2, 0.2],
    "blocks.0.resid_post": [1.3, -0.1, -0.4, 1.2],
    "blocks.1.resid_post": [2.3, -0.6, -0.6, 1.4],
    "blocks.2.resid_post": [3.4, -1.2, -0.8, 1.5],
}
AXES = ["geography", "finance", "function", "identity"]


class Called(NamedTuple):
    status: int | str | None
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


@pytest.fixture
def call(capsysbinary):
    """Call the command line in this process."""

    def call(*arguments: str) -> Called:
        try:
            status = main(arguments)
        except SystemExit as stop:
            status = stop.code
        out, err = capsysbinary.readouterr()
        return Called(status, out, err.decode())

    return call


def started(*command: str, **options) -> subprocess.Popen[bytes]:
    # a script's output is buffered, whatever the gate's own environment says
    env = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=env, **(pipes | options))


def finished(*command: str, **options) -> Called:
    with started(*command, **options) as process:
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    return Called(process.returncode, out or b"", (err or b"").decode())


def columns(line: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in line)


# ----------------------------------------------------------------------- the table


def values_of(table: str) -> dict[str, list[float]]:
    """Every number of a table under the name of its row."""
    values: dict[str, list[float]] = {}
    name = ""
    for line in table.splitlines():
        numbers = re.findall(r"(?<=\s)-?\d+(?:\.\d+)?(?=\s|$)", line)
        if line.startswith(("blocks.", "embed", "pos_embed", "x", "+ ", "= ")):
            name = re.split(r"\s{2,}", line)[0]
            numbers = re.findall(r"\s-?\d+(?:\.\d+)?(?=\s|$)", line[len(name) :])
            values[name] = []
        elif not line.startswith(" "):
            continue
        values.setdefault(name, []).extend(float(number) for number in numbers)
    return values


def ends(line: str) -> list[int]:
    return [match.end() for match in re.finditer(r"\S+", line)]


def test_the_table_shows_the_published_states(call):
    table = call("trace").text
    values = values_of(table)
    assert {name: values[name] for name in PUBLISHED} == PUBLISHED
    assert values["= x3"] == PUBLISHED["blocks.2.resid_post"]


def test_every_number_of_the_table_is_the_trace_s(call, trace, bank):
    values = values_of(call("trace", "--decimals", "15").text)
    assert set(trace) <= set(values)
    for name, value in trace.items():
        assert_allclose(values[name], np.atleast_1d(value[bank]), rtol=0, atol=1e-15)


def test_every_column_ends_under_the_end_of_its_name(call):
    lines = call("trace").text.splitlines()
    heads = [i for i, line in enumerate(lines) if line.split() == AXES]
    assert len(heads) > 9
    for head in heads:
        assert ends(lines[head + 1])[-4:] == ends(lines[head])


def test_the_table_says_what_was_asked_for(call):
    first, second, *rest = call(
        "trace", "--residual", "off", "--token", "river", "--depth", "6"
    ).text.splitlines()
    assert first == "transformer-block: by the river bank"
    assert second == "token river, depth 6, residual off"
    assert "Depth map: latest output; ribbon of x0 cut at the entrance" in rest
    assert "What each sublayer wrote; x6 is the last of it, no sum" in rest
    assert not any("sum error" in line for line in rest)


WIDTHS = [(3, decimals) for decimals in range(16)] + [(96, 1), (96, 15)]


@pytest.mark.parametrize("residual", ["on", "off"])
@pytest.mark.parametrize(("depth", "decimals"), WIDTHS)
def test_no_line_is_wider_than_a_terminal(call, depth, decimals, residual):
    how = ("--depth", str(depth), "--decimals", str(decimals), "--residual", residual)
    lines = call("trace", *how).text.splitlines()
    assert max(columns(line) for line in lines) <= 80


LONG = {
    "wide letters": ("川岸", "地理", 1),
    "long words": ("川のほとりの" * 9, "axis" * 3, 1),
    "long axes": ("川", "とても長い名前の軸" * 7, 1),
    "words without end": ("w" * 300, "a" * 300, 1),
    "large numbers": ("川", "地理", 1_000_000),
}


@pytest.mark.parametrize(("word", "axis", "scale"), LONG.values(), ids=LONG)
@pytest.mark.parametrize("decimals", ["0", "1", "15"])
def test_long_names_stay_within_the_terminal_too(
    call, tmp_path, word, axis, scale, decimals
):
    content = (
        WHOLE.replace('"a", "b"', f'"{word}", "b"')
        .replace("a = [1, 2.5]", f'"{word}" = [{scale}, 2.5]')
        .replace('id = "x"', f'id = "{axis}"')
        .replace('id = "u"', f'id = "{axis}"')
    )
    (tmp_path / "example.toml").write_text(content, encoding="utf-8")
    done = call(
        "trace", str(tmp_path), "--decimals", decimals, "--token", word, "--depth", "12"
    )
    assert done.status == 0
    assert max(columns(line) for line in done.text.splitlines()) <= 80
    assert word[:4] in done.text
    assert axis[:4] in done.text


def test_a_word_of_two_lines_breaks_no_row(call, tmp_path):
    content = WHOLE.replace('"a", "b"', '"a\\nb", "b"').replace(
        "a = [1", '"a\\nb" = [1'
    )
    (tmp_path / "example.toml").write_text(content, encoding="utf-8")
    assert "token a b, depth 3, residual on" in call(
        "trace", str(tmp_path), "--token", "a\nb"
    ).text.split("\n")


# ------------------------------------------------------------------------ the files


def strictly(text: str):
    def refuse(constant: str):
        raise AssertionError(f"JSON has no {constant}")

    return json.loads(text, parse_constant=refuse)


def test_json_is_what_the_interfaces_say(call, trace, bank):
    content = strictly(call("trace", "--format", "json").text)
    assert list(content) == [
        *("lesson", "tokens", "axes", "depth", "residual"),
        *("records", "ledger", "depth_map"),
    ]
    assert content["lesson"] == "transformer-block"
    assert content["tokens"] == ["by", "the", "river", "bank"]
    assert content["axes"] == AXES
    assert (content["depth"], content["residual"]) == (3, "on")
    assert [record["name"] for record in content["records"]] == list(trace)
    for record in content["records"]:
        entry = trace.entries[record["name"]]
        assert {*record} == {
            *("name", "dims", "inputs", "value"),
            *("weights", "formula", "place", "source"),
        }
        assert (record["place"], record["source"]) == (entry.place, entry.source)
        assert record["dims"] == list(entry.axes)
        assert record["inputs"] == list(entry.inputs)
        assert record["weights"] == list(entry.weights)
        assert_array_equal(record["value"], entry.value)
    account = ledger(trace, bank)
    assert content["ledger"] == {
        "token": "bank",
        "x0": account.x0.tolist(),
        "corrections": [
            {"block": c.block, "sublayer": c.sublayer, "delta": c.delta.tolist()}
            for c in account.corrections
        ],
        "x_n": account.x_n.tolist(),
        "sum_error": account.sum_error,
    }


def test_the_depth_map_in_json_is_measured_on_the_trace(call, trace, bank):
    drawn = strictly(call("trace", "--format", "json").text)["depth_map"]
    x0 = trace["blocks.0.resid_pre"][bank]
    ends = [trace[f"blocks.{layer}.resid_post"][bank] for layer in range(3)]
    assert list(drawn) == ["token", "x0_length", "ribbon_until", "bars"]
    assert (drawn["token"], drawn["ribbon_until"]) == ("bank", 3)
    assert drawn["x0_length"] == pytest.approx(np.sqrt(x0 @ x0), abs=1e-15)
    assert [bar.pop("length") for bar in drawn["bars"]] == pytest.approx(
        [np.sqrt((end - x0) @ (end - x0)) for end in ends], abs=1e-15
    )
    shows = "all corrections so far"
    assert drawn["bars"] == [{"block": b, "shows": shows} for b in (1, 2, 3)]


def test_json_without_residual_has_no_sum(call, trace_off, bank):
    content = strictly(call("trace", "--residual", "off", "--format", "json").text)
    assert content["residual"] == "off"
    assert content["ledger"]["sum_error"] is None
    written = [trace_off[f"blocks.{b}.{n}"][bank] for b, n in SUBLAYERS]
    assert_array_equal([c["delta"] for c in content["ledger"]["corrections"]], written)
    assert content["depth_map"]["ribbon_until"] == 0
    assert {bar["shows"] for bar in content["depth_map"]["bars"]} == {"latest output"}


SUBLAYERS = [(block, name) for block in range(3) for name in ("attn_out", "mlp_out")]


def test_npz_holds_every_array_and_weight(call, trace, example):
    out = call("trace", "--format", "npz").out
    with np.load(io.BytesIO(out), allow_pickle=False) as file:
        arrays = dict(file)
    weights = {f"weights.{name}": value for name, value in example.weights.items()}
    numbers = dict(trace) | weights
    assert {*arrays} == {*numbers, "tokens", "axes"}
    for name, value in numbers.items():
        assert arrays[name].dtype == np.float64
        assert_array_equal(arrays[name], value)
    assert arrays["tokens"].tolist() == ["by", "the", "river", "bank"]
    assert arrays["axes"].tolist() == AXES


@pytest.mark.parametrize("form", ["table", "json", "npz"])
def test_a_file_holds_what_is_printed(call, tmp_path, form):
    path = tmp_path / "out put"
    done = call("trace", "--format", form, "-o", str(path))
    assert done == (0, b"", "")
    assert path.read_bytes() == call("trace", "--format", form).out


# --------------------------------------------------------------------- wrong calls

WRONG = {
    "no call": ([], "the following arguments are required: CALL"),
    "an unknown call": (["trase"], "'trase'"),
    "an unknown option and no call": (["--bogus"], "unrecognized arguments: --bogus"),
    "no name to write to": (["trace", "-o", ""], "-o/--output: is empty; name a file"),
    "no name to export to": (["export", "-o", ""], "is empty; name a file"),
    "no folder to export to": (["export", "--all", ""], "is empty; name a folder"),
    "no key file": (["serve", "--class", "--key-file", ""], "is empty; name a file"),
    "an unknown option": (["trace", "--dept", "3"], "--dept"),
    "an option of two lines": (["trace", "--a\nb\r\x85c"], "--a b c"),
    "depth 0": (["trace", "--depth", "0"], "'0' is not a whole number from 1 to 96"),
    "depth 97": (["trace", "--depth", "97"], "'97' is not a whole number from 1"),
    "depth -1": (["trace", "--depth", "-1"], "'-1' is not a whole number"),
    "depth ²": (["trace", "--depth", "²"], "'²' is not a whole number"),
    "depth ３": (["trace", "--depth", "３"], "'３' is not a whole number"),
    "depth 1e1": (["trace", "--depth", "1e1"], "'1e1' is not a whole number"),
    "depth 999…": (["trace", "--depth", "9" * 5000], "'99999999999999999…'"),
    "depth x": (["trace", "--depth", "x"], "'x' is not a whole number"),
    "no depth": (["trace", "--depth"], "--depth: expected one argument"),
    "decimals 16": (["trace", "--decimals", "16"], "from 0 to 15"),
    "residual maybe": (["trace", "--residual", "maybe"], "'on', 'off'"),
    "format xml": (["trace", "--format", "xml"], "'table', 'json', 'npz'"),
    "token missing": (["trace", "--token", "sea"], "'sea', needs one of the words: by"),
    "token of 5000": (["trace", "--token", "x" * 5000], "xxx…', needs one of"),
    "an unknown lesson": (["trace", "nope"], "lessons here: transformer-block"),
    "a lesson that is a file": (["check", __file__], "no lesson of that id"),
    "a folder without one": (["check", str(Path(__file__).parent)], "lesson.toml: no "),
    "a lesson with a NUL": (["trace", "a\0b"], "no lesson of that id"),
    "a lesson of 5000": (["export", "x" * 5000], "no lesson of that id"),
    "two lessons": (["trace", "a", "b"], "unrecognized arguments: b"),
    "port 70000": (["serve", "--port", "70000"], "from 0 to 65535"),
    "serve in French": (["serve", "--lang", "fr"], "'ja', 'en'"),
    "a room without a class": (["serve", "--room", "x"], "--room: belongs to a live"),
    "a room's bad name": (["serve", "--class", "--room", "A b"], "--room 'A b': needs"),
    "a room without a name": (["serve", "--class", "--room", ""], "--room: is empty;"),
    "a Redis that is nowhere": (["serve", "--class", "--redis", ""], "is empty; give"),
    "a key file that is a folder": (
        ["serve", "--class", "--key-file", "/"],
        "Is a dir",
    ),
    "a key file with a NUL": (["serve", "--class", "--key-file", "a\0"], "null byte"),
    "a state file that is another's": (
        ["serve", "--class", "--state-file", __file__],
        "does not hold a class's room; name another file",
    ),
    "a limit of nothing": (["serve", "--class", "--class-limit", "0"], "from 1 to"),
    "a Redis of another kind": (
        ["serve", "--class", "--redis", "http://a.example"],
        "needs redis://HOST:PORT/NUMBER",
    ),
    "Redis and a file": (
        ["serve", "--class", "--redis", "redis://localhost", "--state-file", "x"],
        "--state-file: Redis keeps the room",
    ),
    "a public address of a file": (
        ["serve", "--class", "--public-url", "file:///x"],
        "needs http://HOST/ or https://HOST/",
    ),
    "export in French": (["export", "--lang", "fr"], "'ja', 'en'"),
    "no such folder": (["trace", "-o", "/no/such/x"], "/no/such/x: No such file or"),
    "a folder to write": (["trace", "-o", "/"], "-o /: Is a directory; name another"),
    "a NUL to write": (["trace", "-o", "a\0b"], "null byte"),
}


@pytest.mark.parametrize(("arguments", "says"), WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_one_line_and_status_2(call, arguments, says):
    done = call(*arguments)
    assert (done.status, done.out) == (2, b"")
    assert re.fullmatch(r"residual-stream( \w+)?: [^\n]{10,250}\n", done.err)
    assert done.err[:-1].isprintable()
    assert says in done.err


VALUES = ("trace --depth", "trace --residual", "trace --token", "serve --port")


@pytest.mark.parametrize("option", VALUES)
def test_two_dashes_are_a_value_like_any_other(call, option):
    """They end the options only where they stand alone."""
    done = call(*f"{option}=--".split())
    assert (done.status, done.out) == (2, b"")
    assert done.err.count("\n") == 1
    assert "'--'" in done.err


def test_a_file_may_be_called_two_dashes(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("trace", "--output=--").status == 0
    assert tmp_path.joinpath("--").read_bytes() == call("trace").out


def test_a_wrong_call_of_the_script_is_one_line_too():
    done = finished(SCRIPT, "trace", "--depth", "0")
    assert (done.status, done.out) == (2, b"")
    assert done.err.count("\n") == 1
    assert done.err.startswith("residual-stream trace: argument --depth: '0' is not ")


@pytest.mark.parametrize("name", CALLS)
def test_a_mistake_in_a_call_leads_to_the_help_of_that_call(call, name):
    for wrong in (["--bogus"], ["a", "b"], ["--depth"]):
        line = call(name, *wrong).err
        assert line.startswith(f"residual-stream {name}: ")
        assert line.endswith(f"; see residual-stream {name} --help\n")


def test_help_and_version_are_everywhere(call):
    for start in ((), *((name,) for name in CALLS)):
        helped, version = call(*start, "--help"), call(*start, "--version")
        assert (helped.status, helped.err) == (0, "")
        assert helped.text.startswith(" ".join(["usage: residual-stream", *start]))
        assert "--version" in helped.text
        assert version == (0, f"{__version__}\n".encode(), "")


def test_binary_is_not_written_to_a_terminal():
    master, slave = pty.openpty()
    try:
        done = finished(SCRIPT, "trace", "--format", "npz", stdout=slave)
    finally:
        os.close(slave)
        os.close(master)
    assert done.status == 2
    says = "--format npz: writes binary; name a file with -o FILE"
    assert done.err == f"residual-stream: {says}\n"


# ---------------------------------------------------------- pipes, modules, starting


def test_a_reader_who_leaves_early_sees_no_traceback():
    process = started(SCRIPT, "trace", "--depth", "96", "--format", "json")
    assert process.stdout.readline() == b"{\n"  # as `head -1` does
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=30) == 1
    process.stderr.close()


@pytest.mark.parametrize("argument", ["check", "--help"])
def test_a_reader_who_never_comes_sees_no_traceback(argument):
    process = started(SCRIPT, argument)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=30) == 1
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_line():
    with Path("/dev/full").open("wb") as full:
        done = finished(SCRIPT, "trace", stdout=full)
    assert done == (1, b"", "residual-stream: No space left on device\n")


@pytest.mark.parametrize("form", ["table", "json", "npz"])
def test_a_closed_output_is_one_line(form):
    done = finished("sh", "-c", f"exec {SCRIPT} trace --format {form} >&-")
    says = "standard output is closed; name a file with -o"
    assert done == (1, b"", f"residual-stream: {says}\n")


def test_closed_outputs_that_nothing_is_written_to_do_no_harm():
    assert finished("sh", "-c", f"exec {SCRIPT} check >&-") == (0, b"", "")
    # what is said there belongs to nobody, least of all to a reader of the output
    assert finished("sh", "-c", f"exec {SCRIPT} trace no 2>&-") == (2, b"", "")


ODD = {"Japanese": "川", "not UTF-8": "\udce5", "both": "川\udce5"}


@pytest.mark.parametrize("name", ODD.values(), ids=ODD)
def test_a_name_that_the_terminal_can_not_write_is_spelt_out(tmp_path, name):
    shutil.copytree(lesson_folder(DEFAULT_LESSON), tmp_path / name)
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    how = {"cwd": tmp_path, "env": env, "capture_output": True}
    for call in (
        ["check", name],
        ["trace", name, "--format", "json", "-o", f"{name}.json"],
        ["export", "--handout", name, "-o", f"{name}.html"],
    ):
        done = subprocess.run([SCRIPT, *call], check=False, **how)
        assert (done.returncode, done.stderr) == (0, b"")
    assert strictly((tmp_path / f"{name}.json").read_text("utf-8"))["lesson"]
    spelt = name.encode("ascii", "backslashreplace")
    assert done.stdout == b"wrote " + spelt + b".html\n"
    assert (tmp_path / f"{name}.html").is_file()


INTERRUPTED = """
import importlib, signal, sys
from residual_stream import cli

def interrupted(*_):
    signal.raise_signal(signal.SIGINT)

# a job in a shell's background is started deaf to it
signal.signal(signal.SIGINT, signal.default_int_handler)
module, name = sys.argv[1].split(":")
setattr(importlib.import_module("residual_stream." + module), name, interrupted)
sys.exit(cli.main(sys.argv[2:]))
"""


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("cli.main:read_example", "trace"),
        ("cli.main:load_lesson", "check"),
        ("page.publication:load_lesson", "export"),
        ("serve.server:serve", "serve"),
    ],
)
def test_ctrl_c_ends_a_call_quietly(where, name):
    assert finished(sys.executable, "-c", INTERRUPTED, where, name) == (1, b"", "")


def test_the_module_is_the_script(call):
    done = finished(sys.executable, "-m", "residual_stream", "trace")
    assert done == finished(SCRIPT, "trace") == call("trace")


@pytest.mark.parametrize("argument", ["trace", "check"])
def test_what_needs_no_page_does_not_import_one(argument):
    script = (
        "import sys; from residual_stream.cli.main import main; "
        f"main([{argument!r}]); print(*sys.modules, file=sys.stderr)"
    )
    loaded = finished(sys.executable, "-c", script).err.split()
    assert "residual_stream.cli" in loaded
    assert {"panel", "bokeh", "param", "tornado"}.isdisjoint(loaded)


# ----------------------------------------------------------------------------- check


def test_check_prints_one_line_for_the_shipped_lesson(call):
    done = call("check")
    assert (done.status, done.err) == (0, "")
    assert re.fullmatch(
        r"transformer-block: right\. 4 words, 4 axes, 8 hidden units; \d+ sections in "
        r"ja and en, \d+ texts filled from the trace.*\n",
        done.text,
    )


BROKEN = {
    "prose": (
        "en.md",
        "## step input:",
        "## stop input:",
        "en.md:{line}: found '## sto",
    ),
    # in both languages, or their difference is what is found
    "a figure": ("??.md", "{{top attn.pattern}}", "{{top attn}}", "en.md:{line}: "),
    "one language": (
        "ja.md",
        "## step sum:",
        "## step sum [block=1]:",
        "ja.md:{line}: ",
    ),
    "the example": (
        "example.toml",
        'focus = "bank"',
        "focus = 1",
        "toml: focus: found",
    ),
    "the structure": (
        "lesson.toml",
        "max_depth",
        "maxdepth",
        "lesson.toml: maxdepth: ",
    ),
}


@pytest.mark.parametrize(("files", "old", "new", "says"), BROKEN.values(), ids=BROKEN)
def test_check_names_file_and_line_of_what_is_wrong(
    call, tmp_path, files, old, new, says
):
    folder = tmp_path / "lesson"
    shutil.copytree(lesson_folder(DEFAULT_LESSON), folder)
    paths = sorted(folder.glob(files))
    assert paths
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert old in text
        line = 1 + text[: text.index(old)].count("\n")
        if old.startswith("{{"):  # a placeholder is named by its section's line
            line = 1 + text[: text.rindex("\n## ", 0, text.index(old)) + 1].count("\n")
        path.write_text(text.replace(old, new), encoding="utf-8")
        if path.name == "en.md":
            says = says.format(line=line)
    says = says.format(line=line)
    done = call("check", str(folder))
    assert (done.status, done.out) == (2, b"")
    assert done.err.startswith(f"residual-stream: {folder}/")
    assert done.err.count("\n") == 1
    assert says in done.err


def test_the_example_of_a_lesson_can_be_traced_without_its_prose(call, tmp_path):
    (tmp_path / "example.toml").write_text(WHOLE, encoding="utf-8")
    content = strictly(call("trace", str(tmp_path), "--format", "json").text)
    assert content["lesson"] == tmp_path.name
    named = read_example(tmp_path / "example.toml")
    assert content["tokens"] == list(named.tokens)
    assert [content["ledger"]["token"]] == ["b"]


def test_numbers_that_would_run_over_are_refused(call, tmp_path):
    huge = WHOLE.replace("W_V = [[5]", "W_V = [[1e300]")
    (tmp_path / "example.toml").write_text(huge, encoding="utf-8")
    done = call("trace", str(tmp_path), "--format", "json")
    assert (done.status, done.out) == (2, b"")
    assert "weights.W_V: found 1e+300, needs numbers up to 1000000" in done.err


# --------------------------------------------------------------------------- serve


NO_HOSTS = ("http://a.example:5006", "a.example/x", "::1", "", "a:65536", "\udcff")


@pytest.mark.parametrize("origin", NO_HOSTS)
def test_an_origin_that_is_no_host_is_a_wrong_call(call, origin):
    called = call("serve", "--port", "0", "--allow-websocket-origin", origin)
    assert called.status == 2
    line = r"residual-stream serve: argument --allow-.*needs HOST or HOST:PORT.*\n"
    assert re.fullmatch(line, called.err)


NO_PUBLIC_HOSTS = (
    "[::1",
    "[zz]",
    "[::1]:5006",
    "a:65536",
    "a:x",
    "a:",
    "u:p@a",
    "\udcff",
)


@pytest.mark.parametrize("host", NO_PUBLIC_HOSTS)
def test_a_public_address_without_a_host_of_its_own_is_a_wrong_call(host):
    """Its host is an origin too, so that it is what an origin is."""
    with pytest.raises(LessonError, match=r"^--public-url .*: needs http://HOST/ or "):
        _public_url(f"http://{host}/")


def test_a_public_address_ends_as_a_folder_does():
    assert _public_url("https://a.example:443/x") == "https://a.example:443/x/"


def test_without_redis_py_one_line_says_what_to_install(call, monkeypatch):
    relay = "residual_stream.serve.classroom.redis_relay"
    monkeypatch.setitem(sys.modules, relay, None)
    called = call("serve", "--class", "--port", "0", "--redis", "redis://localhost")
    assert called.status == 2
    assert called.err.endswith("pip install 'residual-stream[redis]'\n")


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::1", "::"])  # noqa: S104
def test_an_address_of_this_machine_is_reached_as_localhost(address):
    from residual_stream.serve.server import Serving, origins, url

    serving = Serving(address=address, origins=("lesson.example:80",))
    assert url(serving, 5006) == "http://localhost:5006/"
    own = ["127.0.0.1:5006", "localhost:5006"]
    assert origins(serving, 5006) == [*own, "lesson.example:80"]


STOPPED = """
import signal, sys, weakref
from residual_stream import cli
from residual_stream.serve import server

def stop():
    # what a callback of this kind raises is swallowed by Python
    gone = {1, 2}
    reference = weakref.ref(gone, lambda _: signal.raise_signal(int(sys.argv[1])))
    del gone

def serve(*arguments, serve=server.serve):
    served = serve(*arguments)
    served.io_loop.call_later(0, stop)
    return served

server.serve = serve
sys.exit(cli.main(["serve", "--port", "0"]))
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_server_stops_when_told_to_whatever_it_is_doing(name):
    number = str(int(signal.Signals[name]))
    done = finished(sys.executable, "-c", STOPPED, number)
    assert (done.status, done.err) == (0, "")
    assert re.fullmatch(r"Residual Stream is served at http://\S+\n", done.text)
