"""Fixtures: the command under test and the example graph of the repository; and the record of skipped tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command import Isomorph

ROOT = Path(__file__).resolve().parent.parent


def record_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Appends a line to the file that `cargo xtask test` counts: the skipped test, a tab, the reason."""
    record = os.environ.get("ISOMORPH_SKIPPED")
    if not record or not report.skipped or not isinstance(report.longrepr, tuple):
        return
    why = " ".join(report.longrepr[2].removeprefix("Skipped: ").split())
    with open(record, "a", encoding="utf-8") as lines:
        lines.write(f"{report.nodeid}\t{why}\n")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Records a skipped test."""
    record_skip(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Records a file of tests that is skipped as a whole, with one line for all of them."""
    record_skip(report)


@pytest.fixture(scope="session")
def isomorph() -> Isomorph:
    """The built command. If it is missing, that is an error, not a reason to skip: `cargo build` creates it."""
    default = ROOT / "target" / "debug" / "isomorph"
    return Isomorph(Path(os.environ.get("ISOMORPH_BIN", default)))


@pytest.fixture(scope="session")
def social() -> Path:
    """The social graph of `examples/`, in GraphAr."""
    return ROOT / "examples" / "social" / "social.graph.yml"
