"""Options, checked and completed for the compiled module."""

from __future__ import annotations

import os
import re
from typing import Any

from ._errors import UsageError

__all__ = ["opening", "path_text", "size", "usage", "whole", "writing"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def usage(message: str, *hints: str) -> UsageError:
    """A usage error with all its members."""
    error = UsageError("\n".join([message, *(f"  try {hint}" for hint in hints)]))
    error.kind, error.message, error.hints = "usage", message, hints
    return error


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
        "lenient": lenient,
        "strict": strict,
        "memory": size(memory),
        "threads": whole("threads", threads, bits=32),
        "temp_dir": None if temp_dir is None else path_text(temp_dir),
        "base": base,
        "syntax": syntax,
        "naive": naive,
        "allow_outside": allow_outside,
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
        "lossy": lossy,
        "verify": verify,
        "replace": replace,
        "base": base,
        "hyperedges": hyperedges,
        "rdf_mode": rdf_mode,
        "labels_from_type": labels_from_type,
    }
