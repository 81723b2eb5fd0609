"""What a page may say to its class: read strictly, nothing trusted."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

Message = dict[str, Any]

PAGE_ID = re.compile(r"[A-Za-z0-9_-]{22}")
SHORT = re.compile(r"[A-Za-z0-9_-]{1,40}")
LONGEST_KEY = 200


class MessageError(ValueError):
    """A message that no page of ours sends, in one line."""


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _is_key(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_KEY


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_anything(value: Any) -> bool:
    return True


# by type: what must be there and what may
FORMS: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "hello": {"id": _matches(PAGE_ID), "following": _is_flag, "visible": _is_flag},
    "here": {"following": _is_flag, "visible": _is_flag},
    "vote": {"poll": _matches(SHORT), "option": _matches(SHORT)},
    "ask": {"id": _is_number, "kind": _matches(SHORT), "payload": _is_anything},
    "set": {"n": _is_number, "state": _is_object},
    "open": {"experiment": _matches(SHORT)},
    "reveal": {"poll": _matches(SHORT)},
    "close": {"poll": _matches(SHORT)},
    "csv": {},
}
OPTIONAL: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "hello": {"key": _is_key}
}
TEACHERS_ONLY = ("set", "open", "reveal", "close", "csv")


def read_message(text: str | bytes) -> Message:
    """A page's message, with the keys of its type and no others.

    raises  MessageError for anything else.
    """
    if isinstance(text, bytes):
        raise MessageError("needs text, not bytes")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError("needs JSON") from None
    kind = message.get("type") if isinstance(message, dict) else None
    if not isinstance(kind, str) or kind not in FORMS:
        raise MessageError(f"needs a type: {', '.join(FORMS)}")
    may = OPTIONAL.get(kind, {})
    form = {**FORMS[kind], **{name: may[name] for name in may if name in message}}
    for name, is_right in form.items():
        if name not in message or not is_right(message[name]):
            raise MessageError(f"{kind}: needs {name} in its form")
    return {"type": kind} | {name: message[name] for name in form}
