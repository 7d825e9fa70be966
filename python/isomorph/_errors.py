"""Exceptions: one class for each kind of failure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

__all__ = [
    "AlreadyExistsError",
    "CancelledError",
    "ConflictError",
    "Error",
    "IncompleteError",
    "IsomorphIOError",
    "MalformedError",
    "NoSpaceError",
    "NotFoundError",
    "Place",
    "PoisonedError",
    "StaleSidecarError",
    "TooLargeError",
    "UnsupportedError",
    "UsageError",
    "WouldLoseError",
]


@dataclass(frozen=True)
class Place:
    """Where something is, as far as it is known. Rows and offsets (bytes) count from 0, lines from 1."""

    file: str | None = None
    row: int | None = None
    line: int | None = None
    offset: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        numbers = [("line", self.line), ("row", self.row), ("byte", self.offset)]
        parts = [self.file] + [f"{name} {value}" for name, value in numbers if value is not None] + [self.field]
        return ", ".join(part for part in parts if part)


class Error(Exception):
    """A failure of isomorph.

    - ``kind``: ``usage``, ``malformed``, ``unsupported``, …: the kinds of ``isomorph --json``
    - ``message``: what is wrong, in one line
    - ``rule``: the id of the rule that the data breaks, as ``isomorph explain`` knows it, or ``None``
    - ``says``: that rule, or ``None``
    - ``place``: where: a :class:`Place`
    - ``hint``: what to try, or ``None``; ``hints``: all hints
    - ``why``: what the system or a library said, or ``None``
    """

    kind: str = "error"
    message: str = ""
    rule: str | None = None
    says: str | None = None
    place: Place = Place()
    hints: tuple[str, ...] = ()
    why: str | None = None

    @property
    def hint(self) -> str | None:
        """What to try first."""
        return self.hints[0] if self.hints else None

    def __reduce__(self) -> tuple[Any, ...]:
        text = str(self.args[0]) if self.args else ""
        return (_restored, (type(self), text, {name: getattr(self, name) for name in _MEMBERS}))


_MEMBERS = ("kind", "message", "rule", "says", "place", "hints", "why")


class UsageError(Error, ValueError):
    """The request is invalid: an unknown type or column, or options that exclude each other."""


class MalformedError(Error, ValueError):
    """The data violates its format."""


class IncompleteError(Error):
    """The data is an unfinished write, or some of its files are missing."""


class UnsupportedError(Error, NotImplementedError):
    """The data or the request is valid, but not supported."""


class TooLargeError(Error, MemoryError):
    """A limit (memory, file size, depth) would be exceeded."""


class WouldLoseError(Error):
    """The target format cannot store something, and a sidecar is not possible or not allowed."""


class StaleSidecarError(Error):
    """The sidecar does not match the data any more."""


class NotFoundError(Error, FileNotFoundError):
    """The file, directory or object does not exist."""


class AlreadyExistsError(Error, FileExistsError):
    """The destination already exists."""


class IsomorphIOError(Error, OSError):
    """The operating system or the object store reported an error."""


class NoSpaceError(IsomorphIOError):
    """The destination has no space left."""


class ConflictError(Error):
    """The data changed while it was read, or another writer was first."""


class PoisonedError(Error):
    """An earlier sync failed; nothing more is written."""


class CancelledError(Error):
    """The work was cancelled."""


_BY_KIND: dict[str, type[Error]] = {
    "usage": UsageError,
    "malformed": MalformedError,
    "incomplete": IncompleteError,
    "unsupported": UnsupportedError,
    "too-large": TooLargeError,
    "would-lose": WouldLoseError,
    "stale-carry": StaleSidecarError,
    "not-found": NotFoundError,
    "already-exists": AlreadyExistsError,
    "io": IsomorphIOError,
    "no-space": NoSpaceError,
    "conflict": ConflictError,
    "poisoned": PoisonedError,
    "cancelled": CancelledError,
}


def _restored(kind: type[Error], text: str, members: dict[str, Any]) -> Error:
    error = kind(text)
    for name, value in members.items():
        setattr(error, name, value)
    return error


_FLAGS = {
    "--allow-outside": "allow_outside=True",
    "--at": "at=",
    "--base": "base=",
    "--carry": "sidecar=",
    "--from": "format=",
    "--hyperedges": "hyperedges=",
    "--id": "key",
    "--lenient": "lenient=True",
    "--lossy": "lossy=True",
    "--memory": "memory=",
    "--naive": "naive=True",
    "--no-verify": "verify=False",
    "--param": "",
    "--relation": "relation=",
    "--replace": "replace=True",
    "--sidecar": "sidecar=",
    "--syntax": "syntax=",
    "--threads": "threads=",
    "--to": "to=",
    "--type": "type=",
}


def _in_python(hint: str) -> str:
    """A hint for the command as one for the package: ``--from nock    why`` is ``format='nock'    why``."""
    flag, _, rest = hint.partition(" ")
    option = _FLAGS.get(flag)
    if option is None:
        # `raise --memory`
        return re.sub("--[a-z-]+", lambda found: _FLAGS.get(found[0], found[0]), hint)
    if not option.endswith("="):
        return f"{option} {rest}".strip()
    value, space, why = rest.partition("    ")
    return f"{option}{value!r}{space}{why}" if value else hint


def _of(
    kind: str,
    message: str,
    shown: str,
    rule: tuple[str, str] | None,
    place: dict[str, Any],
    hints: list[str],
    why: str | None,
) -> Error:
    """Makes the exception for an error of the compiled module."""
    hints = [_in_python(hint) for hint in hints]
    text = "\n".join([shown, *(f"  try {hint}" for hint in hints)])
    members = {
        "kind": kind,
        "message": message,
        "rule": rule[0] if rule else None,
        "says": rule[1] if rule else None,
        "place": Place(**place),
        "hints": tuple(hints),
        "why": why,
    }
    return _restored(_BY_KIND.get(kind, Error), text, members)
