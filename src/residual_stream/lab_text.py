"""The lab's settings as the one short text that an address holds.

    words*by*river*bank_depth*12_residual*off_x3*0.3*0.3*0*1_seed*7*0.1_block*2

The browser reads and writes it too (`page/lab_address.js`), so that a page without a
server has its address; a test compares what both take.
"""

import re
from typing import Any

from residual_stream.example import NamedExample
from residual_stream.lab_settings import (
    LabError,
    LabSettings,
    default_settings,
    read_settings,
    shown,
)

LONGEST = 600
_ALL = re.compile(r"[A-Za-z0-9*._-]+")
_NUMBER = re.compile(r"-?[0-9]{1,4}(\.[0-9]{1,4})?")
_WHOLE = re.compile(r"[0-9]{1,4}")
_PLACE = re.compile(r"[0-9]{1,2}")
_VECTOR = re.compile(r"x([1-8])")
_SWITCH = {"on": True, "off": False}
_SWITCHES = ("residual", "attention", "ffn", "positions")
_CHOICES = ("norm", "weights")
_COUNTS = ("depth", "block", "follow")


def read_lab_text(named: NamedExample, text: object) -> LabSettings:
    """The settings that a text stands for; "" is the lesson's own model.

    raises  LabError, one line, for anything else than such a text.
    """
    if text == "":
        return default_settings(named)
    if not isinstance(text, str) or len(text) > LONGEST or not _ALL.fullmatch(text):
        raise _wrong(text, f"at most {LONGEST} letters, digits and * . _ -")
    parts = [part.split("*") for part in text.split("_")]
    given = {name: values for name, *values in parts}
    if len(given) != len(parts):
        raise _wrong(text, "each setting once")
    words = _words(named, given.pop("words", None))
    vectors: list[list[float] | None] = [None] * len(words)
    payload: dict[str, Any] = {"words": words, "vectors": vectors}
    for name, values in given.items():
        place = _VECTOR.fullmatch(name)
        if place is None:
            payload["varied" if name == "seed" else name] = _part(name, values)
        elif int(place[1]) <= len(words):
            vectors[int(place[1]) - 1] = [_number(name, value) for value in values]
        else:
            raise _wrong(name, "a vector of one of the words")
    return read_settings(named, payload)


def _wrong(found: object, needed: str) -> LabError:
    return LabError(f"lab: found {shown(found)}, needs {needed}")


def _words(named: NamedExample, given: list[str] | None) -> list[str]:
    """Words as themselves or by their places in the lesson, from 1."""
    if given is None:
        return list(default_settings(named).words)
    words = []
    for text in given:
        is_place = _PLACE.fullmatch(text) and 1 <= int(text) <= len(named.tokens)
        words.append(named.tokens[int(text) - 1] if is_place else text)
    return words


def _part(name: str, values: list[str]) -> Any:
    if name == "seed" and len(values) == 2:
        seed, amount = values
        return {"seed": _whole(name, seed), "amount": _number(name, amount)}
    if len(values) != 1 or name not in (*_SWITCHES, *_CHOICES, *_COUNTS):
        raise _wrong("*".join([name, *values]), "a setting of the lab")
    (value,) = values
    if name in _SWITCHES:
        return _SWITCH.get(value, value)
    if name in _CHOICES:
        return value
    return _whole(name, value) - (name == "follow")  # people count from 1


def _number(name: str, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise _wrong(f"{name}*{text}", "a number of up to four decimals")
    return float(text) + 0.0  # no minus zero


def _whole(name: str, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise _wrong(f"{name}*{text}", "a whole number of up to four digits")
    return int(text)
