"""Attributes of every type: libraries read the same from our file as from their own."""

from __future__ import annotations

import shutil
from datetime import timezone
from pathlib import Path
from typing import Any

import pytest

import pyarrow.parquet as pq

import annnet_types
from command import Isomorph
from test_annnet import annnet, dumps, fixture, without_conversions  # noqa: F401

TABLE = "tables/_node_table.parquet"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of each library, written by the installed versions."""
    for library in ("polars", "duckdb"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    folder = tmp_path_factory.mktemp("types")
    annnet_types.write(folder)
    return folder


def graph(table: Path, folder: Path) -> Path:
    """A graph of the nodes a, b, c and others, with this table of nodes."""
    shutil.copytree(fixture("everything_flat"), folder)
    shutil.copy(table, folder / TABLE)
    return folder


def entries(cell: Any) -> Any:
    """Maps as lists of their entries, which is their form in the output; timestamps in UTC, because zones with seconds lose their name."""
    if getattr(cell, "tzinfo", None) is not None:
        return cell.astimezone(timezone.utc)
    if isinstance(cell, list):
        return [{"key": item[0], "value": entries(item[1])} if isinstance(item, tuple) else entries(item) for item in cell]
    return cell


def rows(path: Path, read: Any) -> dict[str, dict[str, Any]]:
    """The rows of the nodes that have attributes; null means absent."""
    told = {row["node_id"]: row for row in read(path) if row["node_id"] in annnet_types.NODES}
    present = lambda row: {name: repr(entries(cell)) for name, cell in row.items() if cell is not None}  # noqa: E731
    return {node: present(row) for node, row in told.items()}


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
@pytest.mark.parametrize("layout", ["v2", "1.1"])
def test_every_cell_is_read_as_before(isomorph: Isomorph, tables: Path, tmp_path: Path, library: str, layout: str) -> None:
    import polars

    before = graph(tables / f"{library}.parquet", tmp_path / "before")
    after = isomorph.convert(before, tmp_path / "after", "--to", "annnet", "--layout", layout)
    table = after / (TABLE if layout == "v2" else "tables/vertex_attributes.parquet")

    def by_pyarrow(path: Path) -> list[dict[str, Any]]:
        return [{"node_id": row.pop("vertex_id", row.get("node_id")), **row} for row in pq.read_table(path).to_pylist()]

    assert rows(table, by_pyarrow) == rows(before / TABLE, by_pyarrow)
    if library == "polars":
        own, written = polars.read_parquet_schema(before / TABLE), polars.read_parquet_schema(table)
        # Categories and arrays of a fixed length become text and lists.
        others = {"categorical", "enum", "array", "null", "node_id"}
        assert {name: kind for name, kind in own.items() if name not in others}.items() <= dict(written).items()
    assert isomorph.content(after) == isomorph.content(before)


@pytest.mark.parametrize("target", ["graph.graphar", "graph.parq"])
@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_other_formats_bring_every_type_back(
    isomorph: Isomorph, tables: Path, tmp_path: Path, library: str, target: str
) -> None:
    before = graph(tables / f"{library}.parquet", tmp_path / "before")
    abroad = isomorph.convert(before, tmp_path / target)
    back = isomorph.convert(abroad, tmp_path / "back", "--to", "annnet")
    for option in ("content", "schema"):
        assert isomorph.json("digest", back)[option] == isomorph.json("digest", before)[option], option


def test_annnet_reads_what_it_read_before(isomorph: Isomorph, annnet: Path, tables: Path, tmp_path: Path) -> None:  # noqa: F811
    before = graph(tables / "polars.parquet", tmp_path / "before")
    after = isomorph.convert(before, tmp_path / "after", "--to", "annnet")
    original, written = dumps(annnet, before, after)
    assert without_conversions(written) == original
    assert original["node_attributes"]["a"]["duration_us"]["$"] == "timedelta"


def test_intervals_are_refused_by_name(isomorph: Isomorph, tables: Path, tmp_path: Path) -> None:
    before = graph(tables / "duckdb.parquet", tmp_path / "before")
    error = isomorph.error("info", before, expect=3)
    assert "Interval" in error["message"] and error["place"]["field"] == "interval"
