"""Arguments of every kind: taken exactly, or refused with an error of isomorph."""

from __future__ import annotations

import datetime
import decimal
import enum
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import isomorph

DAY = 86_400_000


@pytest.fixture
def moments(tmp_path: Path) -> isomorph.Graph:
    """Nodes with times."""
    times = [datetime.datetime(2024, 2, 29, 12, 30, 1, 123456), datetime.datetime(1960, 1, 1)]
    days = [datetime.date(2024, 2, 29), datetime.date(1960, 1, 1)]
    nodes = pa.table({"id": [1, 2], "at": pa.array(times, pa.timestamp("us")), "day": days, "number": [7, 8], "name": ["a", "b"]})
    isomorph.write(tmp_path / "m", nodes=nodes, edges=pa.table({"source": [1], "target": [2]}), to="graphar")
    return isomorph.open(tmp_path / "m")


def dates(milliseconds: list[int | None]) -> pa.Array:
    """Dates in milliseconds, which pyarrow does not make of anything but whole days."""
    ints = pa.array(milliseconds, pa.int64())
    return pa.Array.from_buffers(pa.date64(), len(ints), ints.buffers())


def test_dates_in_milliseconds_are_dates(tmp_path: Path) -> None:
    values = [19_782 * DAY, -DAY, None]
    days = [value and value // DAY for value in values]
    narrow = pa.array(days, pa.int32()).cast(pa.date32())
    for name, column in (("32", narrow), ("64", dates(values)), ("dictionary", narrow.cast(pa.date64()).dictionary_encode())):
        lists = pa.ListArray.from_arrays([0, 2, 2, 3], column.cast(pa.date64()) if name == "dictionary" else column)
        isomorph.write(tmp_path / name, nodes=pa.table({"id": [1, 2, 3], "d": column, "l": lists}), to="parquet")
        assert isomorph.open(tmp_path / name).nodes().schema["d"].type == "date"
        assert isomorph.diff(tmp_path / "32", tmp_path / name).equal
    assert isomorph.open(tmp_path / "64").nodes().to_arrow().column("d").to_pylist() == [datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), None]
    frame = pl.DataFrame({"id": [1], "d": [datetime.date(2024, 2, 29)]})
    isomorph.write(tmp_path / "polars", nodes=frame, to="parquet")
    assert isomorph.open(tmp_path / "polars").nodes().schema["d"].type == "date"


@pytest.mark.parametrize("value", [1, -1, DAY + 1, 2**31 * DAY, -(2**63)])
def test_times_in_a_column_of_dates_are_refused(tmp_path: Path, value: int) -> None:
    for column in (dates([0, value]), pa.ListArray.from_arrays([0, 1, 2], dates([0, value]))):
        with pytest.raises(isomorph.MalformedError, match="whole number of days") as error:
            isomorph.write(tmp_path / "x", nodes=pa.table({"id": [1, 2], "d": column}), to="parquet")
        assert error.value.place.field == "d" and not list(tmp_path.iterdir())


def test_objects_of_polars_are_refused(tmp_path: Path) -> None:
    objects = pl.DataFrame({"id": [1, 2], "odd": pl.Series([{1}, object()], dtype=pl.Object)})
    with pytest.raises(isomorph.UsageError, match="nodes of type node: the column odd has the type Object"):
        isomorph.write(tmp_path / "x", nodes=objects, to="parquet")
    big = pl.DataFrame({"id": [1], "big": [[1]]}, schema={"id": pl.Int64, "big": pl.List(pl.Int128)})
    with pytest.raises(isomorph.UsageError, match="the column big has 128-bit"):
        isomorph.write(tmp_path / "x", nodes=big, to="parquet")
    fine = pl.DataFrame({"id": [1], "Object": ["Object"]}, schema={"id": pl.Int64, "Object": pl.Enum(["Object", "Null"])})
    isomorph.write(tmp_path / "x", nodes=fine, to="parquet")
    assert isomorph.open(tmp_path / "x").nodes().to_arrow().column("Object").to_pylist() == ["Object"]


def test_a_label_that_is_null_is_refused(tmp_path: Path) -> None:
    for labels in ([["A"], ["B", None]], [None, [None]]):
        with pytest.raises(isomorph.MalformedError, match="label must not be null") as error:
            isomorph.write(tmp_path / "x", nodes=pa.table({"id": [1, 2], "l": labels}), labels="l", to="graphar")
        assert (error.value.place.row, error.value.place.field) == (1, "l")


MOMENTS = [
    (np.datetime64("2024-02-29T12:30:01.123456"), "at", 1),
    (np.datetime64("2024-02-29T12:30:01.123456000"), "at", 1),
    (np.array("2024-02-29T12:30:01.123456", "datetime64[us]"), "at", 1),
    (np.datetime64("1960-01-01T00"), "at", 2),
    (np.datetime64("1960-01-01", "ms"), "at", 2),
    (pd.Timestamp("2024-02-29 12:30:01.123456"), "at", 1),
    (np.datetime64("2024-02-29"), "day", 1),
    (np.datetime64("1960-01"), "day", 2),
    (np.datetime64("1960"), "day", 2),
]


@pytest.mark.parametrize(("value", "column", "id"), MOMENTS, ids=lambda value: str(value))
def test_times_of_numpy_are_times(moments: isomorph.Graph, value: object, column: str, id: int) -> None:
    assert moments.sql(f"select id from node where {column} = $v", v=value).to_arrow().to_pydict() == {"id": [id]}
    with pytest.raises(isomorph.UsageError, match="parameter v is a (datetime|date|Timestamp)"):
        moments.cypher("RETURN $v", v=value)


def test_scalars_of_numpy_are_what_they_stand_for(moments: isomorph.Graph, tmp_path: Path) -> None:
    for value in (7, np.int8(7), np.uint64(7), np.array(7), decimal.Decimal(7), enum.Enum("E", {"a": 7}, type=int).a):
        assert moments.sql("select id from node where number = $v", v=value).count() == 1, repr(value)
    for value in ("a", np.str_("a"), enum.Enum("E", {"a": "a"}, type=str).a):
        assert moments.sql("select id from node where name = $v", v=value).count() == 1, repr(value)
        assert moments.cypher("MATCH (n {name: $v}) RETURN n", v=value).count() == 1, repr(value)
    assert moments.cypher("RETURN $v AS v", v=[np.int64(2**63 - 1), np.bool_(True), np.float64(0.1)]).to_arrow().to_pydict() == {"v": ["[9223372036854775807,true,0.1]"]}
    store = isomorph.Lake(tmp_path / "lake", create=True)
    with store.transaction() as t:
        for value in (np.float64(1.5), np.int32(3), np.bool_(True), np.datetime64("2024-02-29"), np.datetime64("2024-02-29T01:02:03")):
            t.insert("urn:s", "urn:p", value)
    xsd = "http://www.w3.org/2001/XMLSchema#"
    written = {("1.5", "double"), ("3", "integer"), ("true", "boolean"), ("2024-02-29", "date"), ("2024-02-29T01:02:03", "dateTime")}
    found = store.open().sparql("select (str(?o) as ?v) (str(datatype(?o)) as ?d) { ?s ?p ?o }").to_arrow().to_pylist()
    assert {(row["v"], row["d"].removeprefix(xsd)) for row in found} == written


BAD = [
    np.array([1, 2]), np.timedelta64(5, "s"), np.timedelta64(5, "ns"), np.datetime64(1, "ns"), np.datetime64(2**62, "s"), np.datetime64(10**7, "Y"),
    np.clongdouble(1), np.complex128(1), np.bytes_(b"x"), np.void(b"x"), "\ud800", object(), b"x", datetime.timedelta(1), {1, 2},
]  # fmt: skip


@pytest.mark.parametrize("value", BAD, ids=lambda value: ascii(value))
def test_values_that_no_query_has_are_refused(moments: isomorph.Graph, tmp_path: Path, value: object) -> None:
    with pytest.raises(isomorph.UsageError):
        moments.sql("select id from node where name = $p", p=value).count()
    with pytest.raises(isomorph.UsageError):
        moments.cypher("RETURN $p", p=value)
    with pytest.raises(isomorph.UsageError):
        moments.sparql("ask { ?s ?o ?p }", p=value)
    if isinstance(value, np.ndarray):
        return
    store = isomorph.Lake(tmp_path / "lake", create=True)
    with pytest.raises(isomorph.UsageError), store.transaction() as t:
        t.insert("urn:s", "urn:p", value)
    assert store.log() == []


@pytest.mark.parametrize("value", [pd.NaT, np.datetime64("NaT"), np.datetime64("NaT", "ns")], ids=str)
def test_times_that_are_none_are_none(moments: isomorph.Graph, tmp_path: Path, value: object) -> None:
    store = isomorph.Lake(tmp_path / "lake", create=True)
    with store.transaction() as t:
        for none in (value, None):
            with pytest.raises(isomorph.UsageError, match="an object is an IRI"):
                t.insert("urn:s", "urn:p", none)
    assert store.log() == []
    assert moments.sql("select id from node where at = $p", p=value).count() == 0
    assert moments.sql("select id from node where $p is null", p=value).count() == moments.sql("select id from node").count() > 0
    with pytest.raises(isomorph.UsageError):
        moments.sparql("ask { ?s ?o ?p }", p=value)
    assert moments.cypher("RETURN $p IS NULL AS n, size($l) AS s", p=value, l=[value, 1]).to_arrow().to_pydict() == {"n": [True], "s": [2]}


def test_parameters_have_any_name(moments: isomorph.Graph) -> None:
    assert moments.sql("select $query as q, $self as s", query="a", self="b").to_arrow().to_pydict() == {"q": ["a"], "s": ["b"]}
    assert moments.cypher("RETURN $query AS q, $self AS s", query="a", self="b").to_arrow().to_pydict() == {"q": ["a"], "s": ["b"]}
    assert moments.sparql("select ?query ?self {}", query=isomorph.Literal("a"), self=isomorph.Literal("b")).to_arrow().to_pydict() == {"query": ["a"], "self": ["b"]}


CALLS = [
    lambda g, path: g.sample(1.0),
    lambda g, path: g.sample(None),
    lambda g, path: g.sample(True),
    lambda g, path: g.sample([1, True]),
    lambda g, path: g.sample([1.0]),
    lambda g, path: g.walk(None),
    lambda g, path: g.walk([True]),
    lambda g, path: g.neighbors(True),
    lambda g, path: g.neighbors(np.bool_(True)),
    lambda g, path: g.neighbors(1.0),
    lambda g, path: g.neighbors("\ud800"),
    lambda g, path: g.sample("\ud800"),
    lambda g, path: g.neighbors(1, relation=5),
    lambda g, path: g.neighbors(1, side="\ud800"),
    lambda g, path: g.walk(1, p="x"),
    lambda g, path: g.sql("select '\ud800'"),
    lambda g, path: g.sql("select 1", **{"\ud800": 1}),
    lambda g, path: g.cypher("RETURN '\ud800'"),
    lambda g, path: g.cypher("RETURN 1", timeout="1s"),
    lambda g, path: g.cypher("RETURN 1", timeout=True),
    lambda g, path: g.cypher("RETURN 1", timeout=float("nan")),
    lambda g, path: g.cypher("RETURN $p", p=["\ud800"]),
    lambda g, path: g.sparql("select * {}", timeout="1s"),
    lambda g, path: g.sparql("select * {}", terms="yes"),
    lambda g, path: g.sparql("select '\ud800' {}"),
    lambda g, path: g.nodes().filter("name = '\ud800'"),
    lambda g, path: g.nodes().filter(5),
    lambda g, path: g.nodes().select("\ud800"),
    lambda g, path: g.convert(path, "graphar", replace="yes"),
    lambda g, path: g.convert(path, "graphar", lossy=1),
    lambda g, path: g.convert(path, 5),
    lambda g, path: g.part(keep_dangling="yes"),
    lambda g, path: g.part(types=[5]),
    lambda g, path: isomorph.open(g.location, lenient="yes"),
    lambda g, path: isomorph.open(g.location, format=5),
    lambda g, path: isomorph.open("\ud800"),
    lambda g, path: isomorph.write(path, nodes=pa.table({"id": [1]}), to="graphar", replace="yes"),
    lambda g, path: isomorph.write(path, nodes=pa.table({"id": [1]}), to="graphar", verify=None),
    lambda g, path: isomorph.write(path, nodes={"\ud800": pa.table({"id": [1]})}, to="graphar"),
    lambda g, path: isomorph.convert(g, path, "graphar", replace="no"),
]


@pytest.mark.parametrize("call", range(len(CALLS)))
def test_arguments_of_a_wrong_type_are_usage_errors(moments: isomorph.Graph, tmp_path: Path, call: int) -> None:
    with pytest.raises(isomorph.UsageError):
        CALLS[call](moments, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_keys_of_any_integer_type_are_keys(moments: isomorph.Graph) -> None:
    for key in (1, np.int64(1), np.uint8(1), np.array(1), "1"):
        assert moments.neighbors(key).to_arrow().column("neighbor").to_pylist() == [2], repr(key)
    for keys in (1, np.int64(1), [1], (1,), np.array([1]), pd.Series([1]), {1: 2}, iter([1])):
        assert moments.sample(keys, strategy="all").to_arrow().column("neighbor").to_pylist() == [2], repr(keys)


def test_a_node_that_is_not_there_is_called_as_it_was_given(moments: isomorph.Graph, tmp_path: Path) -> None:
    with pytest.raises(isomorph.NotFoundError, match="there is no node 99$"):
        moments.sample(99)
    isomorph.write(tmp_path / "t", edges=pa.table({"source": ["1"], "target": ["2"]}), to="graphar")
    with pytest.raises(isomorph.NotFoundError, match='there is no node "99"'):
        isomorph.open(tmp_path / "t").sample("99")


def test_values_that_a_library_cannot_hold_are_errors_of_isomorph(tmp_path: Path) -> None:
    columns = {
        "time": (pa.array([1_234_567_891], pa.time64("ns")), ("to_pandas", "to_numpy")),
        "wide": (pa.array([decimal.Decimal("1.5")], pa.decimal256(50, 1)), ("to_polars", "to_duckdb")),
        "lists": (pa.array([[decimal.Decimal("1.5")]], pa.list_(pa.decimal256(50, 1))), ("to_polars", "to_duckdb")),
        "moment": (pa.array([2**60], pa.timestamp("us")), ("networkx", "igraph")),
        "day": (pa.array([10**8], pa.int32()).cast(pa.date32()), ("to_pandas", "networkx", "igraph")),
    }
    for name, (column, ways) in columns.items():
        isomorph.write(tmp_path / name, nodes=pa.table({"id": [1], "odd": column}), edges=pa.table({"source": [1], "target": [1]}), to="parquet")
        graph = isomorph.open(tmp_path / name)
        assert graph.nodes().to_arrow().column("odd").equals(pa.chunked_array([column])), name
        for way in ways:
            with pytest.raises(isomorph.UnsupportedError):
                getattr(graph, f"to_{way}")() if way in ("networkx", "igraph") else getattr(graph.nodes(), way)()
