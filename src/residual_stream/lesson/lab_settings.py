"""What the lab may be asked for: settings read from untrusted data and checked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from residual_stream.lesson.example import NamedExample
from residual_stream.model.block import MAX_DEPTH, Norm

Vector = tuple[float, ...]
Weights = Literal["lesson", "cancelling"]

MAX_WORDS = 8
LARGEST = 1000.0
LAST_SEED = 9999


class LabError(ValueError):
    """A setting is wrong: one line that says where, what and the cure.

    key, values:  the page's own text for it, if it has one.
    """

    def __init__(self, line: str, key: str = "", **values: object) -> None:
        # what came from a browser may hold line breaks and control characters
        super().__init__("".join(c if c.isprintable() else " " for c in line))
        self.key = key
        self.values = values


@dataclass(frozen=True)
class Varied:
    """Weights of each block's own: `wirings.vary`'s seed and amount."""

    seed: int
    amount: float


@dataclass(frozen=True)
class LabSettings:
    """One model of the lab.

    words:    of the lesson's vocabulary, in any order, repeated or not.
    vectors:  for each word a vector in place of its own, or None.
    weights:  "lesson", or "cancelling" for those of weights-cancelling.toml.
    varied:   None shares one set of weights between all blocks.
    follow:   the place of the word whose account is shown, from 0.
    block:    the block that is looked into, from 1.
    """

    words: tuple[str, ...]
    vectors: tuple[Vector | None, ...]
    depth: int = 3
    residual: bool = True
    norm: Norm = "rms"
    attention: bool = True
    ffn: bool = True
    positions: bool = True
    weights: Weights = "lesson"
    varied: Varied | None = None
    follow: int = 0
    block: int = 1


NAMES = tuple(field.name for field in fields(LabSettings))


def default_settings(named: NamedExample) -> LabSettings:
    """The lesson's own model."""
    none = (None,) * len(named.tokens)
    words, vectors = named.tokens[:MAX_WORDS], none[:MAX_WORDS]
    return LabSettings(words, vectors, follow=min(named.focus, MAX_WORDS - 1))


def read_settings(named: NamedExample, payload: object) -> LabSettings:
    """Settings from what a browser sent; what it leaves out is the lesson's own.

    raises  LabError, one line, for anything else than a setting.
    """
    if not isinstance(payload, Mapping):
        raise LabError(f"lab: found {shown(payload)}, needs an object of settings")
    for name in payload:
        if name not in NAMES:
            raise LabError(f"lab: found {shown(name)}, needs {', '.join(NAMES)}")
    default = default_settings(named)
    words = _words(named, payload.get("words", list(default.words)))
    depth = _whole(payload, "depth", 1, MAX_DEPTH, default.depth)
    last = len(words) - 1
    return LabSettings(
        words,
        _vectors(len(named.axes), payload.get("vectors"), len(words)),
        depth,
        _flag(payload, "residual"),
        _choice(payload, "norm", get_args(Norm)),
        _flag(payload, "attention"),
        _flag(payload, "ffn"),
        _flag(payload, "positions"),
        _choice(payload, "weights", get_args(Weights)),
        _varied(payload.get("varied")),
        _whole(payload, "follow", 0, last, min(default.follow, last)),
        _whole(payload, "block", 1, depth, 1),
    )


def shown(value: object) -> str:
    """A value as an error shows it: short, and never endless."""
    try:
        # only what is short is written out, so that the work stays bounded
        text = repr(value) if not isinstance(value, list | Mapping) else ""
    except ValueError:  # an integer of more digits than Python prints
        return "a number without end"
    if isinstance(value, list | Mapping):
        return f"{type(value).__name__} of {len(value)}"
    return text if len(text) <= 40 else text[:39] + "…"


def _words(named: NamedExample, found: object) -> tuple[str, ...]:
    needed = f"1 to {MAX_WORDS} of the words {', '.join(named.tokens)}"
    if not isinstance(found, list) or not 1 <= len(found) <= MAX_WORDS:
        raise LabError(f"words: found {shown(found)}, needs {needed}")
    for word in found:
        if not isinstance(word, str) or word not in named.tokens:
            raise LabError(f"words: found {shown(word)}, needs {needed}")
    return tuple(found)


def _vectors(width: int, found: object, n_words: int) -> tuple[Vector | None, ...]:
    if found is None:
        return (None,) * n_words
    if not isinstance(found, list) or len(found) != n_words:
        needed = f"a list of {n_words}, one a word, each null or {width} numbers"
        raise LabError(f"vectors: found {shown(found)}, needs {needed}")
    return tuple(_vector(width, vector, at) for at, vector in enumerate(found, 1))


def _vector(width: int, found: object, at: int) -> Vector | None:
    if found is None:
        return None
    if not isinstance(found, list) or len(found) != width:
        raise LabError(
            f"vectors: word {at}: found {shown(found)}, needs {width} numbers"
        )
    return tuple(_number(f"vectors: word {at}", n, -LARGEST, LARGEST) for n in found)


def _number(where: str, found: Any, lowest: float, highest: float) -> float:
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    # compared before it is made a float: an integer may be too large for one;
    # NaN is in no range
    if is_number and lowest <= found <= highest:
        return float(found)
    needed = f"a number from {lowest:g} to {highest:g}"
    raise LabError(
        f"{where}: found {shown(found)}, needs {needed}",
        "lab_error_number",
        lowest=f"{lowest:g}",
        highest=f"{highest:g}",
    )


def _whole(
    payload: Mapping[Any, Any], name: str, lowest: int, highest: int, default: int
) -> int:
    found = payload.get(name, default)
    if type(found) is not int or not lowest <= found <= highest:
        needed = f"a whole number from {lowest} to {highest}"
        raise LabError(f"{name}: found {shown(found)}, needs {needed}")
    return found


def _flag(payload: Mapping[Any, Any], name: str) -> bool:
    found = payload.get(name, True)
    if not isinstance(found, bool):
        raise LabError(f"{name}: found {shown(found)}, needs true or false")
    return found


def _choice(payload: Mapping[Any, Any], name: str, choices: tuple[Any, ...]) -> Any:
    found = payload.get(name, choices[0])
    if not isinstance(found, str) or found not in choices:
        raise LabError(f"{name}: found {shown(found)}, needs {', '.join(choices)}")
    return found


def _varied(found: object) -> Varied | None:
    if found is None:
        return None
    if not isinstance(found, Mapping) or set(found) != {"seed", "amount"}:
        needed = "null, or an object with seed and amount"
        raise LabError(f"varied: found {shown(found)}, needs {needed}")
    seed = _whole(found, "seed", 0, LAST_SEED, 0)
    return Varied(seed, _number("varied.amount", found["amount"], 0, 1))


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
    words = _words_of(named, given.pop("words", None))
    vectors: list[list[float] | None] = [None] * len(words)
    payload: dict[str, Any] = {"words": words, "vectors": vectors}
    for name, values in given.items():
        place = _VECTOR.fullmatch(name)
        if place is None:
            payload["varied" if name == "seed" else name] = _part(name, values)
        elif int(place[1]) <= len(words):
            vectors[int(place[1]) - 1] = [_number_of(name, value) for value in values]
        else:
            raise _wrong(name, "a vector of one of the words")
    return read_settings(named, payload)


def _wrong(found: object, needed: str) -> LabError:
    return LabError(f"lab: found {shown(found)}, needs {needed}")


def _words_of(named: NamedExample, given: list[str] | None) -> list[str]:
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
        return {"seed": _whole_of(name, seed), "amount": _number_of(name, amount)}
    if len(values) != 1 or name not in (*_SWITCHES, *_CHOICES, *_COUNTS):
        raise _wrong("*".join([name, *values]), "a setting of the lab")
    (value,) = values
    if name in _SWITCHES:
        return _SWITCH.get(value, value)
    if name in _CHOICES:
        return value
    return _whole_of(name, value) - (name == "follow")  # people count from 1


def _number_of(name: str, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise _wrong(f"{name}*{text}", "a number of up to four decimals")
    return float(text) + 0.0  # no minus zero


def _whole_of(name: str, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise _wrong(f"{name}*{text}", "a whole number of up to four digits")
    return int(text)
