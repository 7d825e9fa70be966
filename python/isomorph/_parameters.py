"""Values that go into queries, and keys of nodes, as texts."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from collections.abc import Mapping

from ._options import usage

Key = int | str
"""A node's key."""


def bound(name: str, value: object) -> str:
    """A value for a query, as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (str, int, float, decimal.Decimal)):
        return str(value)
    if hasattr(value, "item"):
        return bound(name, value.item())
    raise usage(f"parameter {name} is a {type(value).__name__}", "a number, a text, a boolean, a date or a time")


def as_json(name: str, value: object) -> str:
    """A value for openCypher."""

    def plain(value: object) -> object:
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
            return [plain(item) for item in value]
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {key: plain(item) for key, item in value.items()}
        if hasattr(value, "item"):
            return plain(value.item())
        hint = "its text, and date($name) or datetime($name) in the query" if isinstance(value, (datetime.date, datetime.time)) else "a number, a text, a boolean, a list or a dict"
        raise usage(f"parameter {name} is a {type(value).__name__}", hint)

    return json.dumps(plain(value))


def key_text(key: Key) -> str:
    """A key of a node, as text."""
    if isinstance(key, bool) or not isinstance(key, (int, str)):
        try:
            key = key.__index__()
        except AttributeError:
            raise usage(f"a key is an integer or text, found {type(key).__name__}") from None
    return str(key)
