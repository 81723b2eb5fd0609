"""Files are written whole: whoever reads finds the old file or the new."""

import errno
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE, S_ISREG

# what leads to an open file, which a new one in its place would not reach
OPENED = re.compile(r"/dev/(?:std(?:in|out|err)|fd/.*)|/proc/.*", re.DOTALL)


def write_whole(
    path: Path, content: bytes, mode: int = 0o666, *, is_new: bool = False
) -> None:
    """Write a file beside its place and put it there; on failure the old one stands.

    A link is followed; a pipe or a device is written as it is. A file that is there
    keeps its permissions.

    mode:    of a new file, less what the system's mask takes away.
    is_new:  one that is there is left alone, and FileExistsError raised.
    raises   OSError if it can't be written, ValueError for a NUL in its name.
    """
    try:
        there = None if is_new else path.stat()
    except FileNotFoundError:
        there = None
    if there and (not S_ISREG(there.st_mode) or OPENED.fullmatch(str(path))):
        path.write_bytes(content)
        return
    target = path if is_new else Path(os.path.realpath(path))
    if there and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    beside = target.with_name(f".{secrets.token_hex(8)}.new")
    try:
        made = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(made, "wb") as out:
            out.write(content)
        if there:
            _keep(beside, there)
        if is_new:
            _put_new(beside, target)
        else:
            os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def _put_new(beside: Path, target: Path) -> None:
    """Of several who do it at once one succeeds, where the disk has hard links."""
    try:
        os.link(beside, target)
    except FileExistsError:
        raise
    except OSError:  # as on FAT
        if target.exists():
            raise FileExistsError(
                errno.EEXIST, os.strerror(errno.EEXIST), str(target)
            ) from None
        os.replace(beside, target)


def _keep(beside: Path, there: os.stat_result) -> None:
    """The owner first: a change of it takes some permissions away."""
    if hasattr(os, "chown"):  # not on Windows
        with suppress(PermissionError):
            os.chown(beside, there.st_uid, there.st_gid)
    beside.chmod(S_IMODE(there.st_mode))
