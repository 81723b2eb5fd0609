"""The wheel works outside the checkout: lessons, assets and the page travel in it."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import residual_stream
from residual_stream.lesson.folders import shipped

PACKAGE = Path(residual_stream.__file__).parent
CHECKOUT = PACKAGE.parent.parent


def finished(*command: str, cwd: Path, path: Path | None = None) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    if path is not None:
        env["PYTHONPATH"] = str(path)
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel of this checkout, built without a network."""
    out = tmp_path_factory.mktemp("dist")
    build = ("-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), ".")
    finished(sys.executable, *build, cwd=CHECKOUT)
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """A folder with the wheel installed, and nothing of the checkout."""
    target = tmp_path_factory.mktemp("site")
    how = (
        "--no-deps",
        "--no-index",
        "--no-compile",
        "--quiet",
        "--target",
        str(target),
    )
    pip = (sys.executable, "-m", "pip", "install", *how, str(wheel))
    finished(*pip, cwd=target)
    return target


def files_under(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_the_package_the_lessons_and_the_assets(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    wanted = {f"residual_stream/{name}" for name in files_under(PACKAGE)}
    for folder in ("lessons", "assets"):
        named = files_under(shipped(folder))
        assert len(named) > 2
        wanted |= {f"residual_stream/{folder}/{name}" for name in named}
    assert wanted - inside == set()
    assert "residual_stream/page/main.js" in inside
    assert "residual_stream/page/connect.mjs" in inside
    assert "residual_stream/lessons/transformer-block/ja.md" in inside
    strays = [n for n in inside if ".dist-info/" not in n and n not in wanted]
    assert strays == []


def test_the_wheel_names_its_script_and_what_it_needs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {n.rpartition("/")[2]: n for n in archive.namelist()}
        scripts = archive.read(names["entry_points.txt"]).decode()
        metadata = archive.read(names["METADATA"]).decode()
    assert "residual-stream = residual_stream.cli:main" in scripts
    assert f"Version: {residual_stream.__version__}\n" in metadata
    for needed in ("numpy", "param", "panel", "bokeh", "markdown-it-py"):
        assert f"Requires-Dist: {needed}" in metadata


@pytest.mark.parametrize("call", ["trace", "check"])
def test_the_installed_package_does_what_the_checkout_does(site, tmp_path, call):
    module = (sys.executable, "-m", "residual_stream", call)
    installed = finished(*module, cwd=tmp_path, path=site)
    assert installed == finished(*module, cwd=tmp_path, path=PACKAGE.parent)
    assert installed.startswith("transformer-block: ")


def test_the_installed_package_finds_its_own_files(site, tmp_path):
    script = (
        "from residual_stream.page.bundle import script, styles; "
        "from residual_stream.lesson.folders import shipped; "
        "print(shipped('lessons'), shipped('assets'), len(script()), len(styles()))"
    )
    found = finished(sys.executable, "-c", script, cwd=tmp_path, path=site).split()
    inside = site / "residual_stream"
    assert found[:2] == [str(inside / "lessons"), str(inside / "assets")]
    assert min(int(size) for size in found[2:]) > 1000


def test_a_python_without_venv_is_told_in_one_line_what_to_install(tmp_path):
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(CHECKOUT / name, tmp_path)
    bare = tmp_path / "bare-python"
    bare.write_text(
        "#!/bin/sh\n"
        'case "$*" in *ensurepip*) exit 1;; *"-m venv"*) echo many lines;; esac\n'
    )
    bare.chmod(0o755)
    make = ["make", "--no-print-directory", f"PYTHON={bare}", ".venv/.ready"]
    # a make around this one would have it say how the two get on
    own = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    done = subprocess.run(
        make, cwd=tmp_path, env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "many lines" not in done.stdout
    line, end = done.stderr.splitlines()
    assert line.startswith(str(bare))
    assert "apt install python3-venv" in line
    assert re.match(r"make(\[\d+\])?: ", end)
