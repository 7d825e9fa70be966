"""Libraries that are imported only when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, package: str | None = None, *, purpose: str) -> Any:
    """Imports a module; says which package to install if it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        name = package or module
        raise ModuleNotFoundError(f"{purpose} needs {name}: pip install {name}", name=module) from error
