"""Columns of every type that pyarrow, Polars and DuckDB write to Parquet, as attributes of the nodes a, b and c.

`python annnet_types.py FOLDER` writes `pyarrow.parquet`, `polars.parquet` and `duckdb.parquet`: each column has a value, a different
one, and null. `crates/annnet/tests/types` holds the output.
"""

from __future__ import annotations

import sys
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

NODES = ["a", "b", "c"]
MOMENT = datetime(2026, 3, 29, 1, 30, 0, 123000)
EARLY = datetime(1901, 12, 13, 20, 45, 52)
NOON = time(12, 30, 0, 500000)
SPAN = timedelta(days=-2, microseconds=5000)


def of_pyarrow() -> Any:
    """Each type of pyarrow that its writer accepts."""
    import pyarrow as pa

    whole = {f"{sign}int{bits}": getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)}
    columns: dict[str, tuple[Any, list[Any]]] = {name: (kind, [1, 0, None]) for name, kind in whole.items()}
    columns["int64"] = (pa.int64(), [-(2**63), 2**63 - 1, None])
    columns["uint64"] = (pa.uint64(), [2**64 - 1, 0, None])
    columns |= {
        "bool": (pa.bool_(), [True, False, None]),
        "half": (pa.float16(), [0.5, -2.0, None]),
        "float": (pa.float32(), [0.5, float("inf"), None]),
        "double": (pa.float64(), [0.1, float("nan"), None]),
        "string": (pa.string(), ["é", "", None]),
        "large_string": (pa.large_string(), ["é", "", None]),
        "string_view": (pa.string_view(), ["é", "", None]),
        "binary": (pa.binary(), [b"\0\xff", b"", None]),
        "large_binary": (pa.large_binary(), [b"\0\xff", b"", None]),
        "binary_view": (pa.binary_view(), [b"\0\xff", b"", None]),
        "fixed_binary": (pa.binary(2), [b"\0\xff", b"ab", None]),
        "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["x", "y", None]),
        "date32": (pa.date32(), [date(2026, 1, 2), date(1, 1, 1), None]),
        "date64": (pa.date64(), [date(2026, 1, 2), date(1901, 1, 1), None]),
        "list": (pa.list_(pa.int32()), [[1, None], [], None]),
        "large_list": (pa.large_list(pa.int32()), [[1, None], [], None]),
        "fixed_list": (pa.list_(pa.int32(), 2), [[1, None], [3, 4], None]),
        "deep_list": (pa.list_(pa.list_(pa.string())), [[["x"], None, []], [], None]),
        "spans": (pa.list_(pa.duration("ms")), [[SPAN, None], [], None]),
        "struct": (pa.struct([("a", pa.int8()), ("b", pa.duration("us"))]), [{"a": 1, "b": SPAN}, {"a": None, "b": None}, None]),
        "map": (pa.map_(pa.string(), pa.int64()), [[("x", 1), ("y", None)], [], None]),
        "deep_map": (pa.list_(pa.map_(pa.string(), pa.map_(pa.int32(), pa.bool_()))), [[[("x", [(1, True)])], None], [], None]),
        "decimal32": (pa.decimal32(5, 2), [Decimal("-1.50"), Decimal("0"), None]),
        "decimal64": (pa.decimal64(15, 2), [Decimal("-1.50"), Decimal("0"), None]),
        "decimal128": (pa.decimal128(38, 10), [Decimal("-1.5"), Decimal("0"), None]),
        "decimal256": (pa.decimal256(50, 10), [Decimal("1" * 39 + ".5"), Decimal("0"), None]),
        "null": (pa.null(), [None, None, None]),
    }
    for unit in ("s", "ms"):
        columns[f"time32_{unit}"] = (pa.time32(unit), [time(12, 30), time(0), None])
    for unit in ("us", "ns"):
        columns[f"time64_{unit}"] = (pa.time64(unit), [NOON, time(0), None])
    for unit in ("s", "ms", "us", "ns"):
        moment = MOMENT.replace(microsecond=0) if unit == "s" else MOMENT
        columns[f"timestamp_{unit}"] = (pa.timestamp(unit), [moment, EARLY, None])
        columns[f"duration_{unit}"] = (pa.duration(unit), [timedelta(days=-2) if unit == "s" else SPAN, timedelta(0), None])
        for name, zone in (("utc", "UTC"), ("berlin", "Europe/Berlin"), ("offset", "+02:00")):
            columns[f"timestamp_{unit}_{name}"] = (pa.timestamp(unit, zone), [moment.replace(tzinfo=timezone.utc), None, None])
    arrays = {name: pa.array(cells, kind) for name, (kind, cells) in columns.items()}
    return pa.table({"node_id": NODES, **arrays})


def of_polars() -> Any:
    """Each type of Polars."""
    import polars as pl

    whole = [getattr(pl, f"{sign}{bits}") for sign in ("Int", "UInt") for bits in (8, 16, 32, 64)]
    columns: list[tuple[str, Any, list[Any]]] = [(str(kind).lower(), kind, [1, 0, None]) for kind in whole]
    columns += [
        ("boolean", pl.Boolean, [True, False, None]),
        ("float32", pl.Float32, [0.5, float("inf"), None]),
        ("float64", pl.Float64, [0.1, float("nan"), None]),
        ("string", pl.String, ["é", "", None]),
        ("binary", pl.Binary, [b"\0\xff", b"", None]),
        ("categorical", pl.Categorical, ["x", "y", None]),
        ("enum", pl.Enum(["x", "y"]), ["x", "y", None]),
        ("date", pl.Date, [date(2026, 1, 2), date(1, 1, 1), None]),
        ("time", pl.Time, [NOON, time(0), None]),
        ("decimal", pl.Decimal(38, 10), [Decimal("-1.5"), Decimal("0"), None]),
        ("list", pl.List(pl.Int32), [[1, None], [], None]),
        ("array", pl.Array(pl.Int32, 2), [[1, None], [3, 4], None]),
        ("struct", pl.Struct({"a": pl.Int8, "b": pl.Duration("us")}), [{"a": 1, "b": SPAN}, {"a": None, "b": None}, None]),
        ("null", pl.Null, [None, None, None]),
    ]
    for unit in ("ms", "us", "ns"):
        columns.append((f"duration_{unit}", pl.Duration(unit), [SPAN, timedelta(0), None]))
        columns.append((f"datetime_{unit}", pl.Datetime(unit), [MOMENT, EARLY, None]))
        columns.append((f"datetime_{unit}_berlin", pl.Datetime(unit, "Europe/Berlin"), [MOMENT.replace(tzinfo=timezone.utc), None, None]))
    return pl.DataFrame([pl.Series("node_id", NODES), *(pl.Series(name, cells, kind) for name, kind, cells in columns)])


def write(folder: Path) -> None:
    """Writes the files of the installed libraries."""
    import duckdb
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(of_pyarrow(), folder / "pyarrow.parquet")
    of_polars().write_parquet(folder / "polars.parquet")
    rows = "(VALUES ('a', INTERVAL 14 MONTH), ('b', INTERVAL 1 HOUR), ('c', NULL)) AS rows(node_id, interval)"
    duckdb.sql(f"COPY (SELECT * FROM {rows}) TO '{folder / 'duckdb.parquet'}' (FORMAT parquet)")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
