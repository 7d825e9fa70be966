"""Options, checked and completed for the compiled module."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ._errors import Error, IsomorphIOError, NoSpaceError, Place, UnsupportedError, UsageError

__all__ = ["flag", "number", "opening", "passed", "path_text", "size", "system", "text", "unsupported", "usage", "whole", "writing"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def usage(message: str, *hints: str) -> UsageError:
    """A usage error with all its members."""
    return _made(UsageError, "usage", message, hints)


def unsupported(message: str, *hints: str) -> UnsupportedError:
    """An error of something that is valid and cannot be done, with all its members."""
    return _made(UnsupportedError, "unsupported", message, hints)


_E = TypeVar("_E", bound=Error)


def _made(kind: type[_E], word: str, message: str, hints: tuple[str, ...]) -> _E:
    error = kind("\n".join([message, *(f"  try {hint}" for hint in hints)]))
    error.kind, error.message, error.hints = word, message, hints
    return error


@contextmanager
def passed() -> Iterator[None]:
    """Arguments that the compiled module cannot take are usage errors."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise _no_text(error) from error
    except TypeError as error:
        found = re.search(r"failed to extract field \w+\.(\w+)", str(error))
        if not found or error.__cause__ is None:
            raise
        cause = error.__cause__
        while cause.__cause__ is not None:
            cause = cause.__cause__
        if isinstance(cause, UnicodeEncodeError):
            raise _no_text(cause) from error
        raise usage(f"{found[1]}: {cause}") from error


@contextmanager
def system() -> Iterator[None]:
    """What the operating system reports to Python is an error of isomorph."""
    try:
        yield
    except OSError as error:
        if isinstance(error, Error):
            raise
        kind, word = (NoSpaceError, "no-space") if error.errno == errno.ENOSPC else (IsomorphIOError, "io")
        made = _made(kind, word, f"{error.strerror or error} ({error.filename})" if error.filename else error.strerror or str(error), ())
        made.place, made.why = Place(file=error.filename), str(error)
        raise made from error


def _no_text(error: UnicodeEncodeError) -> UsageError:
    return usage(f"a text has half of a surrogate pair, which is no character: {error.object[:50]!r}")


def flag(name: str, value: Any) -> bool:
    """An argument that is true or false."""
    if isinstance(value, bool):
        return value
    raise usage(f"{name} must be True or False, found {type(value).__name__}")


def text(name: str, value: Any) -> str:
    """An argument that is text."""
    if isinstance(value, str):
        return value
    raise usage(f"{name} must be text, found {type(value).__name__}")


def number(name: str, value: Any) -> float | None:
    """A number that an argument needs, or ``None``, which stands for its default."""
    if value is None:
        return None
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__") and not hasattr(value, "__index__"):
        raise usage(f"{name} must be a number, found {type(value).__name__}")
    return float(value)


def whole(name: str, value: Any, *, least: int = 0, bits: int = 63) -> Any:
    """An integer that an argument needs, or ``None``, which stands for its default."""
    if value is None:
        return None
    try:
        number = None if isinstance(value, bool) else value.__index__()
    except AttributeError:
        number = None
    if number is None:
        raise usage(f"{name} must be an integer, found {type(value).__name__}")
    if not least <= number < 2**bits:
        raise usage(f"{name} must be from {least} to {2**bits - 1}, found {number}")
    return number


def path_text(path: str | os.PathLike[str]) -> str:
    """A path or URL as text."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise usage(f"a path must be text, found {type(text).__name__}", "os.fsdecode(path)")
    return text


def size(memory: int | str | None) -> int | None:
    """A number of bytes: ``2_000_000``, ``"512MiB"``, ``"2GiB"``."""
    if memory is None:
        return None
    if isinstance(memory, int) and not isinstance(memory, bool):
        if memory < 0:
            raise usage("memory must not be negative")
        made: int = whole("memory", memory)
        return made
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", str(memory), re.IGNORECASE)
    if not found:
        raise usage(f"{memory!r} is not a size", "512MiB, 2GiB, or a number of bytes")
    return int(float(found[1]) * _UNITS[(found[2] or "").lower()])


def opening(
    *,
    format: str | None = None,
    at: int | str | None = None,
    sidecar: str = "auto",
    lenient: bool = False,
    strict: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    base: str | None = None,
    syntax: str | None = None,
    naive: bool = False,
    allow_outside: bool = False,
    namespaces: dict[str, str] | None = None,
) -> dict[str, Any]:
    """All options of opening."""
    return {
        "format": format,
        "at": None if at is None else str(at),
        "sidecar": sidecar,
        "lenient": flag("lenient", lenient),
        "strict": flag("strict", strict),
        "memory": size(memory),
        "threads": whole("threads", threads, bits=32),
        "temp_dir": None if temp_dir is None else path_text(temp_dir),
        "base": base,
        "syntax": syntax,
        "naive": flag("naive", naive),
        "allow_outside": flag("allow_outside", allow_outside),
        "namespaces": list((namespaces or {}).items()),
    }


def writing(
    *,
    to: str | None = None,
    lossy: bool = False,
    verify: bool = True,
    replace: bool = False,
    base: str | None = None,
    hyperedges: str = "reify",
    rdf_mode: str | None = None,
    labels_from_type: bool = False,
) -> dict[str, Any]:
    """All options of writing."""
    return {
        "to": to,
        "lossy": flag("lossy", lossy),
        "verify": flag("verify", verify),
        "replace": flag("replace", replace),
        "base": base,
        "hyperedges": hyperedges,
        "rdf_mode": rdf_mode,
        "labels_from_type": flag("labels_from_type", labels_from_type),
    }
