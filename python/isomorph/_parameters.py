"""Values that go into queries, and keys of nodes, as texts."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from ._options import usage

Key = int | str
"""A node's key."""


def plain(name: str, value: object) -> object:
    """A scalar of numpy, or of a library with such scalars, as a value of Python; ``None`` for a time that is none, such as ``pandas.NaT``."""
    if isinstance(value, datetime.datetime):
        return value if value == value else None
    if isinstance(value, (bool, int, float, str, bytes)):
        return value
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind == "M" and not getattr(value, "shape", ()):
        return _moment(name, value)
    if kind == "m" or not hasattr(value, "item"):
        return value
    try:
        found = value.item()
    except (RuntimeError, TypeError, ValueError):
        raise usage(f"{name} is a {type(value).__name__} of several values", "value.tolist()    where a list is allowed") from None
    if type(found) is type(value):
        raise usage(f"{name} is a {type(value).__name__}, which Python has no type for", "float(value)")
    return plain(name, found)


_MICROSECONDS = {"h": (3_600_000_000, 1), "m": (60_000_000, 1), "s": (1_000_000, 1), "ms": (1000, 1), "us": (1, 1), "ns": (1, 10**3), "ps": (1, 10**6), "fs": (1, 10**9), "as": (1, 10**12)}


def _moment(name: str, value: Any) -> datetime.date | None:
    """A ``numpy.datetime64`` as a date, if its unit is a day or longer, or as a time."""
    np = sys.modules["numpy"]
    unit, step = np.datetime_data(value.dtype)
    if np.isnat(value):
        return None
    count = int(value.astype(np.int64)) * step
    try:
        if unit in ("Y", "M"):
            months = count * 12 if unit == "Y" else count
            return datetime.date(1970 + months // 12, months % 12 + 1, 1)
        if unit in ("W", "D"):
            return datetime.date(1970, 1, 1) + datetime.timedelta(days=count * (7 if unit == "W" else 1))
        factor, divisor = _MICROSECONDS[unit]
        if not count * factor % divisor:
            return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=count * factor // divisor)
    except (OverflowError, ValueError):
        pass
    raise usage(f"{name} is {value}, which is no datetime of Python", "a time in microseconds, of the years 1 to 9999", "its text")


def bound(name: str, value: object) -> str | None:
    """A value for a query, as text; ``None`` for null. A list is one of JSON."""
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_item(name, item) for item in value) + "]"
    value = plain(f"parameter {name}", value)
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    # Members of enumerations that are numbers or texts have other texts.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, decimal.Decimal):
        return str(value)
    raise usage(f"parameter {name} is a {type(value).__name__}", "a number, a text, a boolean, a date, a time, None or a list of these")


def _item(name: str, value: object) -> str:
    """An item of a list, as JSON: numbers with all of their digits."""
    value = plain(f"parameter {name}", value)
    if isinstance(value, (list, tuple)):
        raise usage(f"parameter {name} has a {type(value).__name__} inside", "a list of numbers, texts, booleans, dates, times and None")
    item = bound(name, value)
    is_written = isinstance(value, int) or isinstance(value, (float, decimal.Decimal)) and math.isfinite(value)
    return "null" if item is None else item if is_written else json.dumps(item)


def as_json(name: str, value: object) -> str:
    """A value for openCypher."""

    def of(value: object) -> object:
        value = plain(f"parameter {name}", value)
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            if not -(2**63) <= value < 2**63:
                raise usage(f"parameter {name} has {value}, which is no 64-bit integer", "a text")
            return value
        if isinstance(value, float):
            if not math.isfinite(value):
                raise usage(f"parameter {name} has {value}, which JSON cannot write")
            return value
        if isinstance(value, (list, tuple)):
            return [of(item) for item in value]
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {key: of(item) for key, item in value.items()}
        hint = "its text, and date($name) or datetime($name) in the query" if isinstance(value, (datetime.date, datetime.time)) else "a number, a text, a boolean, a list or a dict"
        raise usage(f"parameter {name} is a {type(value).__name__}", hint)

    text = json.dumps(of(value), ensure_ascii=False)
    # JSON would write half of a surrogate pair as an escape.
    text.encode()
    return text


def keys_of(keys: Key | Iterable[Key]) -> list[Key]:
    """The keys of nodes, of which one can be given alone."""
    if isinstance(keys, str) or not hasattr(keys, "__iter__") or not getattr(keys, "shape", (1,)):
        return [keys]  # type: ignore[list-item]
    return list(keys)


def key_text(key: Key) -> str:
    """A key of a node, as text."""
    if isinstance(key, str):
        return str.__str__(key)
    try:
        if not isinstance(key, bool):
            return int.__repr__(key.__index__())
    except (AttributeError, TypeError):
        pass
    raise usage(f"a key is an integer or text, found {type(key).__name__}")
