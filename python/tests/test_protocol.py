"""Arrow's protocol: what consumers get, and that nothing is copied."""

from __future__ import annotations

import threading
from pathlib import Path

import duckdb
import isomorph
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conftest import columns


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> isomorph.Table:
    path = tmp_path_factory.mktemp("protocol") / "graph.graphar"
    rows = pa.table({"id": range(1000), "x": np.arange(1000) / 3, "name": [f"n{at}" for at in range(1000)]})
    isomorph.write(path, nodes={"thing": rows}, to="graphar")
    return isomorph.open(path).nodes("thing").select("id", "x", "name")


def test_all_consumers_see_the_same_rows(table: isomorph.Table) -> None:
    arrow = table.to_arrow()
    assert arrow.num_rows == 1000 and arrow.column("id").to_pylist() == list(range(1000))
    assert pa.table(table).equals(arrow)
    assert pa.RecordBatchReader.from_stream(table).read_all().equals(arrow)
    assert table.to_batches().read_all().equals(arrow)
    assert table.to_pandas()["name"].tolist() == arrow.column("name").to_pylist()
    assert table.to_polars()["x"].to_list() == arrow.column("x").to_pylist()
    assert pl.DataFrame(table)["id"].to_list() == arrow.column("id").to_pylist()
    assert duckdb.sql("select 1").fetchall() == [(1,)]
    assert table.to_duckdb().aggregate("sum(id) as s").fetchall() == [(499500,)]
    assert np.array_equal(table.to_numpy()["x"], np.arange(1000) / 3)
    assert pd.DataFrame(table.to_pandas()).shape == (1000, 3)
    assert pa.schema(table).equals(arrow.schema) and pa.schema(table.schema).equals(arrow.schema)


def test_a_table_in_memory_is_handed_over_without_a_copy(table: isomorph.Table) -> None:
    held = table.collect()
    one, other = pa.table(held), pa.table(held)
    polars = pl.DataFrame(held)
    for name in ("id", "x", "name"):
        first = [chunk.buffers() for chunk in one.column(name).chunks]
        second = [chunk.buffers() for chunk in other.column(name).chunks]
        addresses = [[buffer.address for buffer in buffers if buffer is not None] for buffers in first]
        assert addresses == [[buffer.address for buffer in buffers if buffer is not None] for buffers in second]
        if name != "name":
            # The buffer that polars has is the one that pyarrow has.
            def start(chunk: pa.Array) -> int:
                return chunk.buffers()[1].address + chunk.offset * 8

            assert start(polars[name].get_chunks()[0].to_arrow()) == start(one.column(name).chunks[0])
    # They stay valid when the table that gave them is gone.
    expected = one.column("x").to_pylist()
    del held, other, polars
    assert one.column("x").to_pylist() == expected


def test_write_does_not_change_what_it_is_given(tmp_path: Path) -> None:
    given = pa.table({"id": range(100), "x": range(100)})
    before = given.column("x").chunks[0].buffers()[1].address
    isomorph.write(tmp_path / "a.graphar", nodes=given, to="graphar")
    assert given.column("x").chunks[0].buffers()[1].address == before and given.column("x").to_pylist() == list(range(100))


def test_a_requested_schema_is_honoured_where_it_can_be(table: isomorph.Table) -> None:
    wanted = pa.schema([("id", pa.int32()), ("x", pa.float32()), ("name", pa.large_string())])
    capsule = table.__arrow_c_stream__(wanted.__arrow_c_schema__())
    read = pa.RecordBatchReader._import_from_c_capsule(capsule).read_all()
    assert read.schema.types == wanted.types and read.num_rows == 1000


def test_a_stream_that_is_left_early_ends(table: isomorph.Table) -> None:
    for _ in range(50):
        reader = table.to_batches()
        assert reader.read_next_batch().num_rows > 0
        del reader


def test_an_error_within_a_stream_reaches_the_consumer(tmp_path: Path) -> None:
    path = tmp_path / "damaged.graphar"
    rows = pa.table({"id": range(4000), "x": [f"text {at}" for at in range(4000)]})
    isomorph.write(path, nodes={"thing": rows}, to="graphar")
    files = [file for file in path.rglob("chunk*") if file.is_file() and file.stat().st_size > 1000]
    data = bytearray(files[-1].read_bytes())
    data[len(data) // 4 : len(data) // 2] = bytes(len(data) // 4)
    files[-1].write_bytes(bytes(data))
    with pytest.raises(isomorph.StaleSidecarError):
        isomorph.open(path)
    table = isomorph.open(path, sidecar="ignore").nodes("thing")
    with pytest.raises(isomorph.Error):
        table.to_arrow()
    with pytest.raises((OSError, pa.ArrowException)):
        pa.table(table)


def test_empty_tables_keep_their_columns(tmp_path: Path) -> None:
    rows = pa.table(columns(1, 0))
    empty = pa.table({"id": pa.array([], pa.int64()), **{name: rows.column(name) for name in rows.column_names}})
    edges = pa.table({"source": pa.array([], pa.int64()), "target": pa.array([], pa.int64()), "w": pa.array([], pa.float64())})
    path = tmp_path / "empty.parquet"
    isomorph.write(path, nodes={"thing": empty}, edges={"ties": edges}, to="parquet")
    graph = isomorph.open(path)
    for consumer in (lambda t: t.to_arrow().num_rows, lambda t: len(t.to_pandas()), lambda t: t.to_polars().height, lambda t: t.count()):
        assert consumer(graph.nodes("thing")) == 0 and consumer(graph.edges("ties")) == 0
    assert set(graph.nodes("thing").columns) >= set(rows.column_names)


def test_html_is_escaped(tmp_path: Path) -> None:
    rows = pa.table({"id": [1], "<script>": ["<b>"]})
    path = tmp_path / "html.parquet"
    certificate = isomorph.write(path, nodes={"a&b": rows}, edges={"<i>": pa.table({"source": [1], "target": [1]})}, to="parquet")
    graph = isomorph.open(path)
    shown = [graph, graph.nodes("a&b"), graph.schema, certificate, isomorph.validate(path), graph.diff(graph), graph.digest(), graph.nodes("a&b").schema]
    for html in (one._repr_html_() for one in shown):
        assert "<script>" not in html and "<i>" not in html and "a&b" not in html.replace("a&amp;b", "")
    assert "&lt;script&gt;" in graph.nodes("a&b")._repr_html_() and "<svg" in graph._repr_html_()


def test_consumers_wait_for_a_long_stream(tmp_path: Path) -> None:
    rows = 300_000
    path = tmp_path / "long.csv"
    isomorph.write(path, nodes={"thing": pa.table({"id": range(rows), "x": np.arange(rows) / 7})}, to="csv", verify=False)
    table = isomorph.open(path).nodes("thing")
    assert pl.DataFrame(table)["id"].sum() == rows * (rows - 1) // 2
    assert duckdb.from_arrow(table).aggregate("sum(id)").fetchall() == [(rows * (rows - 1) // 2,)]
    assert pa.table(table).num_rows == rows
    # On a thread that is not the main one, too.
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(pl.DataFrame(table).height)) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert found == [rows] * 3
