"""Files are written whole: a full disk, or whatever ends a write, loses nothing."""

import errno
import io
import os
import stat
from pathlib import Path

import pytest

from residual_stream.cli import main
from residual_stream.lesson.files import LessonError
from residual_stream.publish.static_site import MARK, write_site
from residual_stream.serve.classroom.keys import kept_key
from residual_stream.serve.classroom.relay import write_room
from residual_stream.serve.classroom.room import Room


@pytest.fixture
def full_disk(monkeypatch):
    """A disk that takes ten bytes of each file."""

    class Cut(io.FileIO):
        def write(self, data):
            super().write(bytes(data)[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def cut(file, mode="r", *_args, **_kwargs):
        raw = Cut(file, mode.replace("b", ""))
        return raw if "b" in mode else io.TextIOWrapper(raw, write_through=True)

    opened = io.open

    def open_(file, mode="r", *args, **kwargs):
        return (cut if "w" in mode else opened)(file, mode, *args, **kwargs)

    monkeypatch.setattr("io.open", open_)
    monkeypatch.setattr("builtins.open", open_)


CALLS = (["trace"], ["export"], ["export", "--handout"])


@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
def test_a_full_disk_leaves_the_old_file(tmp_path, full_disk, capsys, arguments):
    path = tmp_path / "kept"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    os.truncate(path, 3)
    assert main([*arguments, "-o", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"residual-stream: -o {path}: No space left on device; name another file\n"
    )
    assert path.read_bytes() == bytes(3)
    assert [*tmp_path.iterdir()] == [path]


def test_a_full_disk_leaves_no_new_file(tmp_path, full_disk):
    assert main(["trace", "-o", str(tmp_path / "new")]) == 2
    with pytest.raises(LessonError, match=r"--key-file .*No space left on device"):
        kept_key(tmp_path / "key")
    with pytest.raises(OSError, match="No space"):
        write_room(tmp_path / "room", Room("bio"))
    assert [*tmp_path.iterdir()] == []


def test_a_site_on_a_full_disk_stays_as_it_was(tmp_path, request):
    write_site(tmp_path, {"index.html": MARK.encode()})
    request.getfixturevalue("full_disk")
    with pytest.raises(OSError, match="No space"):
        write_site(tmp_path, {"index.html": b"of another day"})
    assert (tmp_path / "index.html").read_bytes() == MARK.encode()
    assert len([*tmp_path.iterdir()]) == 1


def test_a_page_of_a_site_comes_after_what_it_loads(tmp_path, monkeypatch):
    written: list[str] = []
    monkeypatch.setattr(
        "residual_stream.publish.static_site.write_whole",
        lambda path, _: written.append(path.relative_to(tmp_path).as_posix()),
    )
    write_site(tmp_path, dict.fromkeys(("index.html", "a/index.html", "f/a.js"), b""))
    assert written == ["index.html", "f/a.js", "a/index.html"]


def test_permissions_stay_and_a_link_is_followed(tmp_path):
    path, link = tmp_path / "kept", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    assert main(["trace", "-o", str(link)]) == 0
    assert link.is_symlink()
    assert path.read_bytes() != b"old"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_that_all_have(tmp_path):
    assert main(["trace", "-o", str(tmp_path / "new")]) == 0
    (tmp_path / "other").touch()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd here")
def test_an_open_file_is_written_where_it_is(tmp_path):
    with (tmp_path / "open").open("w+b") as file:
        before = os.fstat(file.fileno()).st_ino
        assert main(["trace", "-o", f"/dev/fd/{file.fileno()}"]) == 0
        assert (tmp_path / "open").stat().st_ino == before
        assert file.read()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_device_is_written_as_it_is(capsys):
    assert main(["trace", "-o", "/dev/full"]) == 2
    assert "/dev/full: No space left on device" in capsys.readouterr().err
    assert main(["trace", "-o", os.devnull]) == 0
