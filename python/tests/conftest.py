"""Places of graphs; the record of skipped tests; random tables."""

from __future__ import annotations

import datetime
import decimal
import os
import random
from pathlib import Path

import pyarrow as pa
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


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
    """Records a file of tests that is skipped as a whole."""
    record_skip(report)


@pytest.fixture(scope="session")
def social() -> Path:
    """The social graph of `examples/`, in GraphAr."""
    return ROOT / "examples" / "social"


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The small files that tests read."""
    return ROOT / "fixtures"


def columns(seed: int, rows: int) -> dict[str, pa.Array]:
    """Columns of every type that dataframes usually have, with nulls, NaN, extreme and odd values."""
    chance = random.Random(seed)

    def of(make, type: pa.DataType, nulls: float = 0.2) -> pa.Array:
        return pa.array([None if chance.random() < nulls else make() for _ in range(rows)], type)

    texts = ["", "tea", "Tee ☕", "a,b", 'say "x"', "line\nend", "漢字", "\u0000x", " ", "null", "NaN", "%_"]
    day = lambda: datetime.date(1900, 1, 1) + datetime.timedelta(days=chance.randrange(80_000))  # noqa: E731
    moment = lambda: datetime.datetime(1950, 1, 1) + datetime.timedelta(microseconds=chance.randrange(4 * 10**15))  # noqa: E731
    floats = lambda: chance.choice([0.0, -0.0, 1.5, -1e300, float("nan"), float("inf"), float("-inf"), chance.gauss(0, 10)])  # noqa: E731
    return {
        "flag": of(lambda: chance.random() < 0.5, pa.bool_()),
        "small": of(lambda: chance.randrange(-128, 128), pa.int8()),
        "int": of(lambda: chance.randrange(-50, 50), pa.int32()),
        "big": of(lambda: chance.choice([2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), chance.randrange(10)]), pa.int64()),
        "huge": of(lambda: chance.choice([2**64 - 1, 2**63, chance.randrange(10)]), pa.uint64()),
        "single": of(floats, pa.float32()),
        "double": of(floats, pa.float64()),
        "text": of(lambda: chance.choice(texts), pa.string()),
        "day": of(day, pa.date32()),
        "micros": of(moment, pa.timestamp("us")),
        "instant": of(lambda: moment().replace(microsecond=0), pa.timestamp("ms", "UTC")),
        "price": of(lambda: decimal.Decimal(chance.randrange(-(10**9), 10**9)).scaleb(-3), pa.decimal128(12, 3)),
        "bytes": of(lambda: chance.randbytes(chance.randrange(4)), pa.binary()),
        "texts": of(lambda: [chance.choice([*texts, None]) for _ in range(chance.randrange(3))], pa.list_(pa.string())),
        "ints": of(lambda: [chance.randrange(9) for _ in range(chance.randrange(3))], pa.list_(pa.int64())),
    }
