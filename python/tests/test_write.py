"""Dataframes become graphs, and come back equal."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path

import isomorph
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conftest import columns


def back(path: Path, *names: str) -> pa.Table:
    return isomorph.open(path).nodes("thing").select(*names).to_arrow()


def same(found: pa.Array, expected: pa.Array) -> bool:
    """Equal, with NaN equal to NaN and 0.0 different from -0.0."""
    return repr(found.to_pylist()) == repr(expected.to_pylist())


def test_ends_are_one_of_the_usual_pairs(tmp_path: Path) -> None:
    rows = {"src": ["a", "b"], "dst": ["b", "c"], "source": ["wiki", "wiki"]}
    isomorph.write(tmp_path / "pair.parquet", edges={"r": pl.DataFrame(rows)}, to="parquet")
    read = isomorph.open(tmp_path / "pair.parquet").edges("r").to_arrow().to_pylist()
    assert [(row["_source"], row["target"], row["source"]) for row in read] == [("a", "b", "wiki"), ("b", "c", "wiki")]
    for names in ({"source", "target", "src", "dst"}, {"from", "to", "target", "source"}):
        with pytest.raises(isomorph.UsageError, match="several columns could be the ends"):
            isomorph.write(tmp_path / "no", edges={"r": pl.DataFrame({name: ["a"] for name in sorted(names)})}, to="parquet")
    both = pl.DataFrame({"source": ["a"], "target": ["b"], "src": ["c"], "dst": ["d"]})
    isomorph.write(tmp_path / "said.parquet", edges={"r": both}, source="src", target="dst", to="parquet")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("to", ["parquet", "arrow", "graphar", "nock", "graphml", "jsonl"])
def test_every_type_comes_back(tmp_path: Path, to: str, seed: int) -> None:
    made = columns(seed, 200)
    made = {name: column for name, column in made.items() if to != "graphar" or name not in ("price", "bytes")}
    if to == "graphml":
        made.pop("bytes")
        texts = [None if text is None else text.replace("\0", "") for text in made["text"].to_pylist()]
        made |= {"text": pa.array(texts), "texts": pa.array([[text] for text in texts])}
    rows = pa.table({"id": pa.array(range(200), pa.int64()), **made})
    path = tmp_path / ("graph.parq" if to == "nock" else f"graph.{to}")
    certificate = isomorph.write(path, nodes={"thing": rows}, to=to)
    assert certificate.equal is True and certificate.nodes == 200 and certificate.to == to
    graph = isomorph.open(path)
    assert graph.digest().content == certificate.result.content
    found = graph.nodes("thing")
    assert set(made) <= set(found.columns)
    read = found.to_arrow()
    for name, column in made.items():
        assert same(read.column(name), column), name


def test_integers_above_2_to_53_are_exact(tmp_path: Path) -> None:
    keys = [2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
    rows = pa.table({"id": pa.array(keys, pa.int64()), "big": pa.array([2**64 - 1, 2**53 + 1, 0, None], pa.uint64())})
    edges = pa.table({"source": keys, "target": list(reversed(keys))})
    for to in ("parquet", "nock", "csv"):
        path = tmp_path / ("g.parq" if to == "nock" else f"g.{to}")
        assert isomorph.write(path, nodes={"thing": rows}, edges={"ties": edges}, to=to).equal
        graph = isomorph.open(path)
        assert [int(key) for key in graph.nodes("thing").select("@key").to_arrow().column(0).to_pylist()] == keys, to
        assert graph.nodes("thing").to_arrow().column("big").to_pylist() == [2**64 - 1, 2**53 + 1, 0, None], to
        ends = graph.edges("ties").select("@source", "@target").to_arrow().to_pydict()
        pairs = [(int(one), int(other)) for one, other in zip(*ends.values())]
        assert sorted(pairs) == sorted(zip(keys, reversed(keys))), to


def test_dataframes_of_all_libraries_are_taken(tmp_path: Path) -> None:
    data = {"id": [3, 1, 2], "name": ["Cid", None, "Ann ☕"], "score": [0.5, None, float("nan")]}
    frames = {
        "pandas": pd.DataFrame(data),
        "pandas-arrow": pd.DataFrame(data).convert_dtypes(dtype_backend="pyarrow"),
        "polars": pl.DataFrame(data),
        "pyarrow": pa.table(data),
        "batch": pa.record_batch(data),
        "reader": pa.table(data).to_reader(max_chunksize=1),
    }
    for number, (name, frame) in enumerate(frames.items()):
        path = tmp_path / f"{number}.parquet"
        isomorph.write(path, nodes={"thing": frame}, to="parquet")
        read = back(path, "id", "name").to_pydict()
        assert read == {"id": [3, 1, 2], "name": ["Cid", None, "Ann ☕"]}, name


def test_columns_of_polars_without_values_are_text(tmp_path: Path) -> None:
    nodes = pl.DataFrame({"id": [1, 2], "nothing": [None, None], "lists": [[None], []]})
    edges = pl.DataFrame({"source": [1], "target": [2], "nothing": [None]})
    isomorph.write(tmp_path / "g", nodes=nodes, edges=edges, to="parquet")
    graph = isomorph.open(tmp_path / "g")
    assert graph.nodes("node").to_arrow().column("nothing").to_pylist() == [None, None]
    assert graph.nodes("node").to_arrow().column("lists").to_pylist() == [[None], []]
    assert graph.edges("edge").to_arrow().column("nothing").to_pylist() == [None]


def test_unusual_types_keep_their_values(tmp_path: Path) -> None:
    seconds = [datetime.datetime(2024, 2, 29, 12, 30, 1), None]
    zone = pa.array([datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc), None], pa.timestamp("us", "Europe/Berlin"))
    rows = pa.table(
        {
            "id": pa.array(["a", "b"]).dictionary_encode(),
            "large": pa.array(["x", None], pa.large_string()),
            "view": pa.array(["y", None], pa.string_view()),
            "seconds": pa.array(seconds, pa.timestamp("s")),
            "zone": zone,
            "date64": pa.array([datetime.date(2024, 2, 29), None], pa.date64()),
            "nothing": pa.nulls(2),
            "half": pa.array(np.array([1.5, 2.5], np.float16)),
            "large_list": pa.array([[1, None], None], pa.large_list(pa.int32())),
            "fixed": pa.array([[1, 2], None], pa.list_(pa.int32(), 2)),
            "time": pa.array([datetime.time(1, 2, 3), None], pa.time32("s")),
            "nested": pa.array([[[1, 2], None], None], pa.list_(pa.list_(pa.int64()))),
            "wide": pa.array([decimal.Decimal("12345678901234567890123456789012345678901.5"), None], pa.decimal256(50, 1)),
        }
    )
    path = tmp_path / "unusual.parquet"
    isomorph.write(path, nodes={"thing": rows}, to="parquet")
    read = isomorph.open(path).nodes("thing").to_arrow().to_pydict()
    assert read["id"] == ["a", "b"] and read["large"] == ["x", None] and read["view"] == ["y", None]
    assert read["seconds"] == seconds and read["nothing"] == [None, None] and read["half"] == [1.5, 2.5]
    assert [one and one.timestamp() for one in read["zone"]] == [1704067200.0, None]
    assert read["date64"] == [datetime.date(2024, 2, 29), None]
    assert read["large_list"] == [[1, None], None] and read["fixed"] == [[1, 2], None]
    assert read["time"] == [datetime.time(1, 2, 3), None]
    assert read["nested"] == [[[1, 2], None], None]
    assert read["wide"] == [decimal.Decimal("12345678901234567890123456789012345678901.5"), None]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([{"a": 1}]),
        pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array([5], pa.duration("s")),
        pa.array([[{"a": 1}]]),
    ],
)
def test_types_that_no_format_knows_are_refused_with_their_column(tmp_path: Path, column: pa.Array) -> None:
    with pytest.raises(isomorph.UnsupportedError) as raised:
        isomorph.write(tmp_path / "x.parquet", nodes={"thing": pa.table({"id": [1], "odd": column})}, to="parquet")
    assert raised.value.place.field == "odd" and not list(tmp_path.iterdir())


def test_names_of_any_kind(tmp_path: Path) -> None:
    names = ["two words", "Zoë", "漢字", "a:b", "`tick`", '"quote"', "a.b", "@at", "select", "x" * 100]
    rows = pa.table({"id": [1, 2], **{name: [at, None] for at, name in enumerate(names)}})
    nodes = {"my type": rows, "漢字 типы": rows, "select": rows}
    edges = {(one, "is like", other): pa.table({"source": [1], "target": [2], "how much": [1.5]}) for one in nodes for other in nodes}
    for to in ("parquet", "nock"):
        path = tmp_path / ("names.parq" if to == "nock" else f"names.{to}")
        assert isomorph.write(path, nodes=nodes, edges=edges, to=to).equal
        graph = isomorph.open(path)
        assert set(graph.schema.nodes) == set(nodes)
        table = graph.nodes("my type")
        for at, name in enumerate(names):
            assert table.select(name).to_arrow().column(0).to_pylist() == [at, None], name
            quoted = "`" + name.replace("`", "``") + "`"
            assert table.filter(f"{quoted} = {at}").count() == 1, name
        like = graph.edges("is like", source="select", target="漢字 типы")
        assert like.select("how much").to_arrow().column(0).to_pylist() == [1.5]


def test_several_types_labels_directions_and_relations(tmp_path: Path) -> None:
    person = pa.table({"nr": [1, 2], "tags": [["A", "B"], None]})
    city = pa.table({"name": ["Rome", "Oslo"]})
    path = tmp_path / "types.graphar"
    isomorph.write(
        path,
        nodes={"person": person, "city": city},
        edges={
            ("person", "knows", "person"): pa.table({"source": [1], "target": [2]}),
            ("person", "lives", "city"): pa.table({"source": [2, 1], "target": ["Oslo", "Rome"], "since": [2001, None]}),
        },
        key={"person": "nr", "city": "name"},
        labels={"person": "tags"},
        directed={("person", "knows", "person"): False},
        to="graphar",
        name="towns",
    )
    graph = isomorph.open(path)
    info = graph.info()
    assert info["name"] == "towns"
    assert {edge["relation"]: edge["direction"] for edge in info["edges"]} == {"knows": "undirected", "lives": "directed"}
    assert graph.nodes("person").filter('has label "B"').select("nr").to_arrow().column(0).to_pylist() == [1]
    lives = graph.edges("lives").to_arrow().to_pylist()
    assert sorted((row["source"], row["target"], row["since"]) for row in lives) == [(1, "Rome", None), (2, "Oslo", 2001)]


def test_nodes_are_the_ends_of_edges_if_none_are_given(tmp_path: Path) -> None:
    path = tmp_path / "ends.parquet"
    isomorph.write(path, edges={"ties": pd.DataFrame({"src": ["b", "a", "b"], "dst": ["a", "c", "b"], "w": [1, 2, 3]})}, to="parquet")
    graph = isomorph.open(path)
    assert graph.nodes().to_arrow().column("id").to_pylist() == ["b", "a", "c"]
    assert graph.counts() == {"node": 3, "node_ties_node": 3}


def test_tables_of_isomorph_know_their_columns(tmp_path: Path, social: Path) -> None:
    graph = isomorph.open(social)
    path = tmp_path / "again.graphar"
    tables = [table for table in graph.tables() if table.kind == "edges"]
    certificate = isomorph.write(
        path,
        nodes={name: graph.nodes(name) for name in graph.schema.nodes},
        edges={(table.source, table.type, table.target): graph.table(table.name) for table in tables},
        to="graphar",
        name="social",
    )
    assert certificate.equal
    difference = isomorph.diff(graph, path)
    assert difference.equal, difference.elements[:3]


ONE = pa.table({"id": [1, 2]})
TIES = pa.table({"source": [1], "target": [2]})


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({}, isomorph.UsageError, "no tables"),
        ({"nodes": 7}, isomorph.UsageError, "dataframe"),
        ({"nodes": {"a": [1, 2]}}, isomorph.UsageError, "protocol"),
        ({"nodes": {"a": pa.table({"x": [1]})}}, isomorph.UsageError, "key"),
        ({"nodes": {"a": ONE}, "key": "di"}, isomorph.UsageError, "di"),
        ({"nodes": {"a": pa.table({"id": [1.5]})}}, isomorph.UsageError, "integers or text"),
        ({"nodes": {"a": pa.table({"id": [1, None]})}}, isomorph.MalformedError, "null"),
        ({"nodes": {"a": pa.table({"id": [1, 1]})}}, isomorph.Error, "1"),
        ({"nodes": {"a": ONE}, "edges": {"t": pa.table({"source": [1]})}}, isomorph.UsageError, "target"),
        ({"nodes": {"a": ONE}, "edges": {"t": pa.table({"source": [1], "target": [None]})}}, isomorph.Error, "target"),
        ({"nodes": {"a": ONE}, "edges": {"t": pa.table({"source": [1], "target": [9]})}}, isomorph.Error, "9"),
        ({"nodes": {"a": ONE}, "edges": {"t": pa.table({"source": ["1"], "target": ["2"]})}}, isomorph.UsageError, "texts"),
        ({"nodes": {"a": ONE, "b": ONE}, "edges": {"t": TIES}}, isomorph.UsageError, "several node types"),
        ({"nodes": {"a": ONE}, "edges": {("a", "t", "b"): TIES}}, isomorph.UsageError, "'?\"?b"),
        ({"nodes": {"a": ONE}, "edges": {("a", "t"): TIES}}, isomorph.UsageError, "named by"),
        ({"nodes": {"a": pa.Table.from_arrays([pa.array([1])] * 3, ["id", "x", "x"])}}, isomorph.Error, "x"),
        ({"edges": {"t": pa.table({"source": [1], "target": ["b"]})}}, isomorph.UsageError, "texts"),
        ({"nodes": {"a": ONE}, "to": "vcf"}, isomorph.UsageError, "vcf"),
    ],
)
def test_wrong_dataframes_are_exceptions_and_nothing_is_written(tmp_path: Path, given: dict, error: type, says: str) -> None:
    path = tmp_path / "out.parquet"
    with pytest.raises(error, match=says):
        isomorph.write(path, **{"to": "parquet", **given})
    assert not list(tmp_path.iterdir())


def test_an_existing_destination_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "kept.parquet"
    isomorph.write(path, nodes={"a": ONE}, to="parquet")
    with pytest.raises(FileExistsError):
        isomorph.write(path, nodes={"a": pa.table({"id": [7]})}, to="parquet")
    assert isomorph.open(path).nodes("a").count() == 2
    isomorph.write(path, nodes={"a": pa.table({"id": [7]})}, to="parquet", replace=True)
    assert isomorph.open(path).nodes("a").count() == 1


def test_conversions_are_verified_and_compared(tmp_path: Path, social: Path) -> None:
    steps: list[tuple[str, int, int | None]] = []
    certificate = isomorph.convert(social, tmp_path / "s.parq", progress=lambda *told: steps.append(told))
    assert (certificate.to, certificate.equal, certificate.nodes, certificate.edges) == ("nock", True, 1340, 6620)
    assert certificate.source == certificate.result == isomorph.digest(social)
    assert isomorph.convert(tmp_path / "s.parq", tmp_path / "s.graphar", "graphar").equal
    assert not isomorph.diff(social, tmp_path / "s.graphar")
    lossy = isomorph.convert(social, tmp_path / "l.parq", lossy=True)
    assert lossy.equal is None and lossy.lost and not (tmp_path / "l.parq.isomorph").exists()
    edited = isomorph.open(social).nodes("city").to_pandas()
    isomorph.write(tmp_path / "c.graphar", nodes={"city": edited.iloc[1:]}, key="name", to="graphar")
    difference = isomorph.diff(social, tmp_path / "c.graphar", limit=5)
    assert difference and len(difference.elements) == 5 and difference.differing > 5
    # CSV texts are recognised by the name.
    assert isomorph.convert(social, tmp_path / "s.csv", "nock").equal
    assert (tmp_path / "s.csv").read_text(encoding="utf-8").startswith('"src_name"')
    with pytest.raises(isomorph.StaleSidecarError):
        with (tmp_path / "s.csv").open("a") as text:
            text.write("\n")
        isomorph.open(tmp_path / "s.csv")


def test_findings_are_objects(tmp_path: Path, fixtures: Path) -> None:
    found = isomorph.validate(fixtures / "nock/08_quirks/dangling_dst.parq")
    assert found and found[0].rule and found[0].severity in ("error", "warning", "note") and found[0].count >= 1
    assert isomorph.validate(isomorph.open(fixtures / "nock/01_tiny/tiny.parq")).sound


def test_the_index_of_pandas_is_a_column_only_if_it_has_a_name(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1, 2, 3], "x": [5, 6, 7]})
    isomorph.write(tmp_path / "a.parquet", nodes={"thing": frame[frame.x != 6]}, to="parquet")
    assert isomorph.open(tmp_path / "a.parquet").nodes("thing").select("id", "x").to_arrow().to_pydict() == {"id": [1, 3], "x": [5, 7]}
    assert not [name for name in isomorph.open(tmp_path / "a.parquet").nodes("thing").columns if "index" in name]
    isomorph.write(tmp_path / "b.parquet", nodes={"thing": frame.set_index("id")}, to="parquet")
    assert sorted(back(tmp_path / "b.parquet", "id", "x").to_pydict()["id"]) == [1, 2, 3]


TWO = [pa.array([1, 1]), pa.array(["a", "a"]), pa.array(["a", "a"]).dictionary_encode(), pa.chunked_array([[7], [7]])]


@pytest.mark.parametrize("keys", TWO, ids=["int", "text", "dictionary", "chunked"])
@pytest.mark.parametrize("to", ["graphar", "deepgnn", "nock", "parquet", "csv", "graphml", "annnet"])
def test_keys_that_occur_twice_are_refused_everywhere(tmp_path: Path, keys: pa.Array, to: str) -> None:
    other = pa.table({"id": [5, 6]})
    edges = {("q", "e", "q"): pa.table({"source": [5], "target": [6]})}
    for given in ({"nodes": {"p": pa.table({"id": keys, "x": [1, 2]})}}, {"nodes": {"p": pa.table({"id": keys}), "q": other}, "edges": edges}):
        for lossy in (False, True):
            with pytest.raises(isomorph.MalformedError) as error:
                isomorph.write(tmp_path / "out", **given, to=to, lossy=lossy)
            assert error.value.rule == "MODEL-REPEATED-KEY"
            assert error.value.place.row == 1 and error.value.place.field == "id"
            assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", [{"directed": {"know": False}}, {"key": {"P": "code"}}, {"labels": {"P": "l"}}, {"directed": "no"}, {"directed": {"knows": "no"}}, {"directed": 0}])
def test_options_that_name_nothing_are_refused(tmp_path: Path, option: dict) -> None:
    nodes = {"p": pa.table({"id": [1, 2], "code": [3, 4], "l": [["a"], ["b"]]})}
    with pytest.raises(isomorph.UsageError, match=next(iter(option))):
        isomorph.write(tmp_path / "x", nodes=nodes, edges={"knows": pa.table({"source": [1], "target": [2]})}, to="graphar", **option)
    assert list(tmp_path.iterdir()) == []


def test_format_is_that_of_the_files(tmp_path: Path, social: Path) -> None:
    isomorph.write(tmp_path / "k.gml", nodes=pa.table({"id": [1]}), to="gml")
    graph = isomorph.open(tmp_path / "k.gml")
    assert (graph.format, graph.origin, isomorph.info(tmp_path / "k.gml")["format"]) == ("gml", "arrow", "gml")
    isomorph.convert(social, tmp_path / "s.parq")
    assert repr(isomorph.open(tmp_path / "s.parq")).startswith("<isomorph.Graph nock ")
    assert isomorph.open(tmp_path / "s.parq").origin == "graphar"
    assert isomorph.open(social).origin == isomorph.open(social).format == "graphar"


def test_columns_that_no_format_knows_are_refused_by_name(tmp_path: Path) -> None:
    month = pd.DataFrame({"id": [1], "x": pd.period_range("2024-01", periods=1, freq="M")})
    hundreds = pa.table({"id": [1], "x": pa.array([decimal.Decimal("100")], pa.decimal128(5, -2))})
    for table, word in ((month, "pandas.period"), (hundreds, "Decimal128")):
        with pytest.raises(isomorph.UnsupportedError, match=word) as error:
            isomorph.write(tmp_path / "x", nodes=table, to="graphar")
        assert error.value.place.field == "x" and list(tmp_path.iterdir()) == []


def test_a_decimal_of_too_many_digits_is_refused(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    for text, fits in ((2**127 - 1, False), (10**38 - 1, True), (10**38, False), (-(10**38), False)):
        table = duckdb.sql(f"select 1 as id, {text}::hugeint as h").to_arrow_table()
        if fits:
            assert isomorph.write(tmp_path / "fits", nodes=table, to="graphar").equal
            continue
        with pytest.raises(isomorph.MalformedError, match="more than 38 digits") as error:
            isomorph.write(tmp_path / "x", nodes=table, to="graphar")
        assert error.value.place.field == "h"


def test_tables_that_arrow_cannot_hold_are_errors_that_name_the_column(tmp_path: Path) -> None:
    mixed = pd.DataFrame({"id": [1, 2], "odd": pd.Series([1, "a"], dtype=object)})
    twice = pd.DataFrame([[1, 2, 3]], columns=["id", "same", "same"])
    for table, word in ((mixed, "odd"), (twice, "same")):
        with pytest.raises(isomorph.UsageError, match=word) as error:
            isomorph.write(tmp_path / "x", nodes=table, to="graphar")
        assert "nodes of type node" in error.value.message and error.value.why
    big = pl.DataFrame({"id": [1], "big": [1]}, schema={"id": pl.Int64, "big": pl.Int128})
    with pytest.raises(isomorph.UsageError, match="nodes of type node: the column big"):
        isomorph.write(tmp_path / "x", nodes=big, to="graphar")
