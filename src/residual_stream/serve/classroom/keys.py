"""Names of rooms, and the key that makes a browser the teacher's."""

import hashlib
import hmac
import os
import re
import secrets
import time
from contextlib import suppress
from pathlib import Path

from residual_stream.lesson.files import LessonError
from residual_stream.lesson.writing import write_whole

KEY = re.compile(r"[A-Za-z0-9_-]{22,128}")  # 22 letters of base64url hold 128 bits
ROOM = re.compile(r"[a-z0-9](?:[a-z0-9-]{1,38}[a-z0-9])")
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is read as another


def new_room() -> str:
    """A room's name that is easy to type: six letters and digits."""
    return "".join(secrets.choice(LETTERS) for _ in range(6))


def checked_room(name: str) -> str:
    """The name itself.

    raises  LessonError for a name that can't stand in every address.
    """
    if not ROOM.fullmatch(name):
        raise LessonError(
            f"--room {name[:40]!r}: needs 3 to 40 of a–z, 0–9 and -, no - at an end"
        )
    return name


def new_key() -> str:
    """256 random bits as text."""
    return secrets.token_urlsafe(32)


def kept_key(path: Path) -> str:
    """The key in a file; a file that isn't there is made, for its owner alone.

    raises  LessonError, one line, for a file that can't be read or holds no key.
    """
    try:
        key = _read_or_make(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise LessonError(
            f"--key-file {str(path)!r}: {reason}; name another file"
        ) from None
    if not KEY.fullmatch(key):
        raise LessonError(
            f"--key-file {path}: holds no key, which is 22 to 128 letters of "
            "base64url; name a file that does not exist, and one is made"
        )
    return key


def _read_or_make(path: Path) -> str:
    if not os.path.lexists(path):
        key = new_key()
        with suppress(FileExistsError):  # another server was first
            write_whole(path, f"{key}\n".encode("ascii"), 0o600, is_new=True)
            return key
    return _read(path)


def _read(path: Path) -> str:
    """The file's text; an empty one may be another server's that is being made."""
    for _ in range(50):
        if text := path.read_text(encoding="ascii", errors="replace").strip():
            return text
        time.sleep(0.02)
    return ""


def is_key(given: str, key: str) -> bool:
    """Whether a key is the room's, in a time that tells nothing about it."""
    return hmac.compare_digest(_digest(given), _digest(key))


def _digest(text: str) -> bytes:
    # of one length for all, and defined for half a surrogate pair too
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
