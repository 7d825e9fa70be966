"""Fixtures: the command under test and the example graph of the tree."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command import Isomorph

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def isomorph() -> Isomorph:
    """The built command. Missing it is an error, not a reason to skip: `cargo build` makes it."""
    default = ROOT / "target" / "debug" / "isomorph"
    return Isomorph(Path(os.environ.get("ISOMORPH_BIN", default)))


@pytest.fixture(scope="session")
def cloud_isomorph() -> Isomorph:
    """The command built with the object stores."""
    path = os.environ.get("ISOMORPH_CLOUD_BIN")
    if not path:
        pytest.skip("no command with object stores: ISOMORPH_CLOUD_BIN is not set (`cargo xtask interop` sets it)")
    return Isomorph(Path(path))


@pytest.fixture(scope="session")
def social() -> Path:
    """The social graph of `examples/`, in GraphAr."""
    return ROOT / "examples" / "social" / "social.graph.yml"
