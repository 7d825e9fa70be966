"""pandas, Polars and DuckDB read flat tables with equal values and types, and isomorph reads what they write."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph

NODES = [
    {"id": 1, "name": "ann", "age": 31, "height": 1.5, "born": dt.date(1990, 2, 28), "ok": True},
    {"id": 2, "name": "0012", "age": None, "height": 2.0, "born": None, "ok": False},
    {"id": 3, "name": "a,\"b\"", "age": -7, "height": None, "born": dt.date(2000, 1, 1), "ok": None},
]
EDGES = [(1, 2, 0.25), (2, 3, 1.0), (1, 2, 0.5)]


def rows_of(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with plain values: whatever a library has for null is None, and times at midnight are days."""

    def plain(value: Any) -> Any:
        if value is None or value != value or str(value) in ("NaT", "<NA>"):
            return None
        if isinstance(value, dt.datetime):
            value = value.date()
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return value.item() if hasattr(value, "item") else value

    return [{name: plain(value) for name, value in row.items()} for row in found]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The people as two CSV files that a person could have written."""
    folder = tmp_path_factory.mktemp("source")
    with open(folder / "nodes.csv", "w", encoding="utf-8") as out:
        out.write("id,name,age,height,born,ok\n")
        for row in NODES:
            name = '"' + row["name"].replace('"', '""') + '"'
            cells = [row["id"], name, row["age"], row["height"], row["born"], row["ok"]]
            out.write(",".join("" if cell is None else str(cell) for cell in cells) + "\n")
    with open(folder / "edges.csv", "w", encoding="utf-8") as out:
        out.write("source,target,w\n")
        out.writelines(f"{a},{b},{w}\n" for a, b, w in EDGES)
    return folder


@pytest.fixture(scope="module")
def flat(isomorph: Isomorph, source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same graph in each encoding."""
    folder = tmp_path_factory.mktemp("flat")
    return {kind: isomorph.convert(source, folder / kind, "--to", kind) for kind in ("parquet", "csv", "arrow", "jsonl")}


def check(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> None:
    assert rows_of(nodes) == rows_of(NODES)
    assert [(row["source"], row["target"], row["w"]) for row in edges] == EDGES


def test_pandas(flat: dict[str, Path]) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")

    def records(frame: Any) -> list[dict[str, Any]]:
        return frame.to_dict("records")

    of = flat["parquet"]
    check(records(pandas.read_parquet(of / "node.parquet")), records(pandas.read_parquet(of / "edge.parquet")))
    of = flat["arrow"]
    check(records(pandas.read_feather(of / "node.arrow")), records(pandas.read_feather(of / "edge.arrow")))
    types = {"name": str}
    of = flat["csv"]
    nodes = pandas.read_csv(of / "node.csv", dtype=types)
    nodes["born"] = [None if cell != cell else dt.date.fromisoformat(cell) for cell in nodes["born"]]
    check(records(nodes), records(pandas.read_csv(of / "edge.csv")))
    assert str(nodes["height"].dtype) == "float64"
    of = flat["jsonl"]
    nodes = [json.loads(line) for line in open(of / "node.jsonl", encoding="utf-8")]
    nodes = [{name: row.get(name) for name in NODES[0]} for row in nodes]
    for row in nodes:
        row["born"] = row["born"] and dt.date.fromisoformat(row["born"])
    edges = pandas.read_json(of / "edge.jsonl", lines=True)
    check(nodes, records(edges))


def test_polars(flat: dict[str, Path]) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    for kind, read in {"parquet": polars.read_parquet, "arrow": polars.read_ipc, "jsonl": polars.read_ndjson}.items():
        nodes = read(flat[kind] / f"node.{kind}")
        if kind == "jsonl":
            nodes = nodes.with_columns(polars.col("born").str.to_date())
        nodes = nodes.select(list(NODES[0]))
        check(nodes.to_dicts(), read(flat[kind] / f"edge.{kind}").to_dicts())
    nodes = polars.read_csv(flat["csv"] / "node.csv", try_parse_dates=True)
    check(nodes.to_dicts(), polars.read_csv(flat["csv"] / "edge.csv").to_dicts())
    assert nodes.schema["height"] == polars.Float64 and nodes.schema["born"] == polars.Date


def test_duckdb(flat: dict[str, Path]) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")

    def rows(path: Path) -> list[dict[str, Any]]:
        found = duckdb.sql(f"SELECT * FROM '{path}'")
        return [dict(zip(found.columns, row)) for row in found.fetchall()]

    for kind in ("parquet", "csv"):
        check(rows(flat[kind] / f"node.{kind}"), rows(flat[kind] / f"edge.{kind}"))
    nodes = rows(flat["jsonl"] / "node.jsonl")
    check([{name: row.get(name) for name in NODES[0]} for row in nodes], rows(flat["jsonl"] / "edge.jsonl"))


def test_what_libraries_write_is_the_same_graph(
    isomorph: Isomorph, source: Path, flat: dict[str, Path], tmp_path: Path
) -> None:
    content = isomorph.content(source)
    assert {kind: isomorph.content(path) for kind, path in flat.items()} == dict.fromkeys(flat, content)
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frames = {"nodes": polars.DataFrame(NODES), "edges": polars.DataFrame(EDGES, ["source", "target", "w"], orient="row")}
    writers = {"parquet": "write_parquet", "csv": "write_csv", "ndjson": "write_ndjson", "arrow": "write_ipc"}
    for kind, writer in writers.items():
        folder = tmp_path / kind
        folder.mkdir()
        for name, frame in frames.items():
            if kind == "ndjson" and name == "nodes":
                # JSON has no days: they are text, which isomorph does not take for days either.
                frame = frame.drop("born")
            getattr(frame, writer)(folder / f"{name}.{kind}")
        if kind != "ndjson":
            assert isomorph.content(folder) == content, kind
        isomorph.validate(folder)


# What a column of these texts is, for pandas and for isomorph; None where isomorph keeps text that pandas changes.
COLUMNS = {
    "int64": ["1", "-7", "0"],
    "float64": ["1.5", "2", "-0.25"],
    "bool": ["True", "False", "True"],
    "str": ["a", "1", "b"],
    None: ["0012", "7", "8"],
}
TYPES = {"int64": "int64", "float64": "double", "bool": "bool", "str": "string", None: "string"}


def test_types_of_csv_columns_are_those_of_pandas(isomorph: Isomorph, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    names = [f"c{at}" for at in range(len(COLUMNS))]
    with open(tmp_path / "nodes.csv", "w", encoding="utf-8") as out:
        out.write(",".join(["id", *names]) + "\n")
        for row in range(3):
            out.write(",".join([str(row), *(texts[row] for texts in COLUMNS.values())]) + "\n")
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n", encoding="utf-8")
    found = pandas.read_csv(tmp_path / "nodes.csv")
    nodes = isomorph.json("info", tmp_path)["nodes"][0]["properties"]
    ours = {own["name"]: own["type"] for own in nodes}
    for name, kind in zip(names, COLUMNS):
        assert ours[name] == TYPES[kind], name
        if kind is not None:
            assert str(found[name].dtype) in (kind, "object" if kind == "str" else kind), name


def test_durations_and_zones_of_pandas_stay(isomorph: Isomorph, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"id": [1, 2], "td": pandas.to_timedelta(["1 s", "1 min"])})
    frame["at"] = pandas.to_datetime(["2020-01-01", "2020-06-01"]).tz_localize("Europe/Stockholm")
    edges = pandas.DataFrame({"source": [1], "target": [2]})
    (tmp_path / "in").mkdir()
    frame.to_parquet(tmp_path / "in" / "nodes.parquet")
    edges.to_parquet(tmp_path / "in" / "edges.parquet")
    out = isomorph.convert(tmp_path / "in", tmp_path / "out", "--to", "parquet")
    found = pandas.read_parquet(out / "node.parquet")
    assert list(found.dtypes.astype(str)) == list(frame.dtypes.astype(str))
    assert found.to_dict("records") == frame.to_dict("records")
    assert not (out / "_isomorph").exists()


def test_a_table_of_edges_alone_is_a_graph(isomorph: Isomorph, tmp_path: Path) -> None:
    """The same frame in each file that pandas writes is one graph, and its nodes and edges are those of the frame."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    rows = range(500)
    for name, ends in (("numbers", [at * 7 % 60 for at in rows]), ("texts", [f"n{at * 7 % 60}" for at in rows])):
        folder = tmp_path / name
        folder.mkdir()
        frame = pandas.DataFrame({"w": [at / 4 for at in rows], "source": ends, "target": ends[100:] + ends[:100]})
        frame.to_parquet(folder / "edges.parquet")
        frame.to_feather(folder / "edges.feather")
        frame.to_orc(folder / "edges.orc")
        frame.to_json(folder / "edges.jsonl", orient="records", lines=True)
        frame.to_json(folder / "edges.jsonl.gz", orient="records", lines=True)
        found = {file.name: isomorph.content(file) for file in sorted(folder.iterdir())}
        assert len(set(found.values())) == 1, found
        out = isomorph.convert(folder / "edges.parquet", tmp_path / f"{name}.out", "--to", "parquet")
        nodes, edges = pandas.read_parquet(out / "node.parquet"), pandas.read_parquet(out / "edge.parquet")
        first = dict.fromkeys(end for pair in zip(frame["source"], frame["target"]) for end in pair)
        assert list(nodes["id"]) == list(first)
        assert edges[["w", "source", "target"]].to_dict("records") == frame.to_dict("records")


def test_the_unit_of_a_duration_counts(isomorph: Isomorph, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    for unit in ("us", "ms"):
        (tmp_path / unit).mkdir()
        nodes = pyarrow.table({"id": [1, 2], "td": pyarrow.array([1, 2], pyarrow.duration(unit))})
        parquet.write_table(nodes, tmp_path / unit / "nodes.parquet")
        parquet.write_table(pyarrow.table({"source": [1], "target": [2]}), tmp_path / unit / "edges.parquet")
    assert isomorph.content(tmp_path / "us") != isomorph.content(tmp_path / "ms")


def test_feather_as_pyarrow_writes_it(isomorph: Isomorph, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    feather = pytest.importorskip("pyarrow.feather", reason="pyarrow is not installed")
    rows = range(100_000)
    nodes = pyarrow.table({"id": list(rows), "s": ["x" * (at % 50) for at in rows], "n": [None if at % 7 else at for at in rows]})
    edges = pyarrow.table({"source": list(rows), "target": [at * 7 % 100_000 for at in rows]})
    found = {}
    for codec in ("uncompressed", "lz4", "zstd"):
        (tmp_path / codec).mkdir()
        for name, table in (("nodes", nodes), ("edges", edges)):
            feather.write_feather(table, tmp_path / codec / f"{name}.feather", compression=codec)
        found[codec] = isomorph.content(tmp_path / codec)
    assert len(set(found.values())) == 1, found


def test_what_tables_do_not_hold_is_named_with_its_column(isomorph: Isomorph, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    for kind, value in {"interval": "interval 1 day", "map": "map {'a': 1}"}.items():
        folder = tmp_path / kind
        folder.mkdir()
        duckdb.sql(f"COPY (SELECT 1 AS id, {value} AS v) TO '{folder}/nodes.parquet'")
        duckdb.sql(f"COPY (SELECT 1 AS source, 1 AS target) TO '{folder}/edges.parquet'")
        if kind == "map":
            # A list of keys and values.
            isomorph.validate(folder)
            continue
        error = isomorph.error("info", folder, expect=3)
        assert (error["place"]["file"], error["place"]["field"]) == ("nodes.parquet", "v"), error
