"""Popular libraries read every table of the annnet graphs that we write."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest

import pyarrow as pa
import pyarrow.parquet as pq

from command import Isomorph
from grown import grow, parts

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "annnet"
EDGES = "structure/edges.parquet"
HYPEREDGES = "structure/hyperedge_definitions.parquet"

Rows = list[dict[str, Any]]


def by_pandas(path: Path) -> Rows:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.read_parquet(path, dtype_backend="pyarrow")
    return [{name: None if value is pandas.NA else value for name, value in row.items()} for row in table.to_dict("records")]


def by_polars(path: Path) -> Rows:
    return pytest.importorskip("polars", reason="polars is not installed").read_parquet(path).to_dicts()


def by_duckdb(path: Path) -> Rows:
    found = pytest.importorskip("duckdb", reason="duckdb is not installed").sql(f"SELECT * FROM read_parquet('{path}')")
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


READERS: dict[str, Callable[[Path], Rows]] = {"pandas": by_pandas, "polars": by_polars, "duckdb": by_duckdb}


Counts = tuple[int, dict[str, int]]


def counted_by_pandas(path: Path, names: list[str]) -> Counts:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.read_parquet(path, dtype_backend="pyarrow")
    return len(table), {name: int(table[name].notna().sum()) for name in names}


def counted_by_polars(path: Path, names: list[str]) -> Counts:
    table = pytest.importorskip("polars", reason="polars is not installed").read_parquet(path)
    return table.height, {name: table.height - table[name].null_count() for name in names}


def counted_by_duckdb(path: Path, names: list[str]) -> Counts:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    columns = ", ".join(f'count("{name}")' for name in names)
    rows, *present = duckdb.sql(f"SELECT count(*), {columns} FROM read_parquet('{path}')").fetchall()[0]
    return rows, dict(zip(names, present))


COUNTERS: dict[str, Callable[[Path, list[str]], Counts]] = {
    "pandas": counted_by_pandas,
    "polars": counted_by_polars,
    "duckdb": counted_by_duckdb,
}


@pytest.fixture(scope="module")
def graphs(isomorph: Isomorph, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Graphs that we write, each with a different compression."""
    folder = tmp_path_factory.mktemp("annnet")
    codecs = {"everything_flat": "zstd", "everything_multilayer": "snappy", "attr_types": "lz4", "empty": "none"}
    return {
        name: isomorph.convert(FIXTURES / name / "graph.annnet.d", folder / name, "--to", "annnet", "--compression", codec)
        for name, codec in codecs.items()
    }


def tables(graph: Path) -> list[Path]:
    return sorted(graph.rglob("*.parquet"))


@pytest.mark.parametrize("library", READERS)
@pytest.mark.parametrize("name", ["everything_flat", "everything_multilayer", "empty"])
def test_every_table_has_the_same_rows_in_every_library(graphs: dict[str, Path], library: str, name: str) -> None:
    read = 0
    for path in tables(graphs[name]):
        assert repr(READERS[library](path)) == repr(pq.read_table(path).to_pylist()), path
        read += 1
    assert read > 8


@pytest.mark.parametrize("library", READERS)
def test_columns_of_every_type_have_as_many_values_in_every_library(graphs: dict[str, Path], library: str) -> None:
    columns = 0
    for path in tables(graphs["attr_types"]):
        table = pq.read_table(path)
        rows, present = COUNTERS[library](path, table.column_names)
        assert rows == table.num_rows, path
        for name in table.column_names:
            assert present[name] == table.num_rows - table[name].null_count, f"{path} {name}"
            columns += 1
    assert columns > 30


def test_columns_are_of_the_types_that_are_promised(graphs: dict[str, Path]) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    flat = graphs["everything_flat"]
    expected = {
        EDGES: {
            "edge_id": (pa.string(), polars.String, "VARCHAR"),
            "col_idx": (pa.int64(), polars.Int64, "BIGINT"),
            "weight": (pa.float64(), polars.Float64, "DOUBLE"),
            "directed": (pa.bool_(), polars.Boolean, "BOOLEAN"),
            # Only nulls in a flat graph, but with a type.
            "hyper_layer_id": (pa.int64(), polars.Int64, "BIGINT"),
        },
        HYPEREDGES: {"members": (pa.list_(pa.string()), polars.List(polars.String), "VARCHAR[]")},
    }
    for file, columns in expected.items():
        schema = pq.read_schema(flat / file)
        of_polars = polars.read_parquet_schema(flat / file)
        found = duckdb.sql(f"SELECT * FROM read_parquet('{flat / file}')")
        of_duckdb = dict(zip(found.columns, map(str, found.types)))
        for name, (arrow, polar, duck) in columns.items():
            assert schema.field(name).type == arrow, f"{file} {name}"
            assert of_polars[name] == polar, f"{file} {name}"
            assert of_duckdb[name] == duck, f"{file} {name}"
    nulls = pq.read_table(flat / EDGES, columns=["hyper_layer_id"])["hyper_layer_id"]
    assert nulls.null_count == len(nulls) > 5
    members = pq.read_table(flat / HYPEREDGES, columns=["members"])["members"]
    assert 0 < members.null_count < len(members) and any(len(row) > 2 for row in members.to_pylist() if row)


@pytest.mark.parametrize("library", ["pandas", "polars", "duckdb", "pyarrow"])
def test_edges_join_their_attributes(graphs: dict[str, Path], library: str) -> None:
    """A typical first query: edges joined with their attributes."""
    flat = graphs["everything_flat"]
    edges, said = flat / EDGES, flat / "tables" / "_edge_table.parquet"
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    count = {
        "pandas": lambda: len(module.read_parquet(edges).merge(module.read_parquet(said), on="edge_id")),
        "polars": lambda: module.scan_parquet(edges).join(module.scan_parquet(said), on="edge_id").collect().height,
        "duckdb": lambda: module.sql(
            f"SELECT count(*) FROM read_parquet('{edges}') JOIN read_parquet('{said}') USING (edge_id)"
        ).fetchall()[0][0],
        "pyarrow": lambda: pq.read_table(edges).join(pq.read_table(said), "edge_id", join_type="inner").num_rows,
    }
    assert count[library]() == pq.read_metadata(edges).num_rows


@pytest.mark.parametrize("layout", ["v2", "1.1"])
def test_tables_that_have_grown_are_read_as_one(isomorph: Isomorph, tmp_path: Path, layout: str) -> None:
    """A directory of files instead of a file: by its path in Polars, pandas and PyArrow; by a pattern in DuckDB."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    polars = pytest.importorskip("polars", reason="polars is not installed")
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    flags = ("--to", "annnet", "--layout", layout)
    grown = isomorph.convert(FIXTURES / "everything_flat" / "graph.annnet.d", tmp_path / "grown", *flags)
    grow(isomorph, grown, tmp_path)
    once = isomorph.convert(grown, tmp_path / "once", *flags)
    directories = parts(grown)
    assert {path.name for path in directories} >= {"edges.parquet" if layout == "v2" else "edge_definitions.parquet"}
    for path in directories:
        names = pq.read_schema(next(iter(sorted(path.iterdir())))).names
        wanted = pq.read_table(once / path.relative_to(grown))
        key = lambda row: repr([row[name] for name in names])  # noqa: E731
        expected = sorted(map(key, wanted.to_pylist()))
        by_pandas = pandas.read_parquet(path, dtype_backend="pyarrow").to_dict("records")
        found = {
            "pyarrow": pq.read_table(path).to_pylist(),
            "polars": polars.read_parquet(path).to_dicts(),
            "pandas": [{name: None if value is pandas.NA else value for name, value in row.items()} for row in by_pandas],
            "duckdb": duckdb.sql(f"SELECT * FROM read_parquet('{path}/*.parquet')").to_arrow_table().to_pylist(),
        }
        for library, own in found.items():
            assert len(own) == len(expected), f"{library} {path}"
            # The columns of positions and the order of rows depend on the writer.
            if "idx" not in " ".join(names):
                assert sorted(map(key, own)) == expected, f"{library} {path}"
