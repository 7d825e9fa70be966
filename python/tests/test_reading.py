"""Tables equal what other readers find in the same files."""

from __future__ import annotations

import csv
import gzip
import json
import pickle
from pathlib import Path

import isomorph
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FORMATS = [
    ("examples/social", "graphar"),
    ("examples/people.ttl", "rdf"),
    ("examples/ties.csv", "edgelist"),
    ("fixtures/nock/01_tiny/tiny.parq", "nock"),
    ("fixtures/nock/01_tiny/tiny.csv", "nock"),
    ("fixtures/annnet/one_node/graph.annnet.d", "annnet"),
    ("fixtures/deepgnn/karate/bin_linear_p3", "deepgnn"),
    ("fixtures/deepgnn/hetero/graph.json", "deepgnn"),
    ("fixtures/graphlake/tiny", "graphlake"),
    ("fixtures/inout/edges/snap.txt.gz", "edgelist"),
    ("fixtures/inout/neo4j", None),
    ("fixtures/inout/gephi", None),
]


@pytest.mark.parametrize(("path", "format"), FORMATS)
def test_every_format_is_opened_and_all_of_its_tables_are_read(path: str, format: str | None) -> None:
    place = Path(__file__).parent.parent.parent / path
    with isomorph.open(place) as graph:
        assert format is None or graph.format == format
        assert graph.location == str(place)
        for stored in (True, False):
            tables = graph.tables(stored=stored)
            assert tables
            for table in tables:
                one = graph.table(table.name, stored=stored)
                read = one.to_arrow()
                read.validate(full=True)
                assert read.column_names == one.columns
                assert one.count() == read.num_rows
                if table.num_rows is not None:
                    assert table.num_rows == read.num_rows
                # A limit gives the first rows.
                assert one.limit(3).to_arrow().equals(read.slice(0, 3))


def chunks(folder: Path) -> pa.Table:
    names = sorted(folder.iterdir(), key=lambda path: int(path.name.removeprefix("chunk")))
    return pa.concat_tables([pq.ParquetFile(name).read() for name in names])


def test_nodes_of_graphar_are_those_of_its_parquet_files(social: Path) -> None:
    found = isomorph.open(social).nodes("person")
    expected = chunks(social / "vertex/person/id_firstName_lastName_gender_birthday_email")
    names = ["id", "firstName", "lastName", "gender", "birthday", "email"]
    assert found.num_rows == expected.num_rows
    assert found.select(*names).to_arrow().to_pylist() == expected.select(names).to_pylist()
    rows = found.select("@row").to_arrow().column(0).to_pylist()
    assert rows == list(range(len(rows)))


def test_edges_of_graphar_are_those_of_its_parquet_files(social: Path) -> None:
    keys = chunks(social / "vertex/person/id_firstName_lastName_gender_birthday_email").column("id").to_pylist()
    [place] = [path for path in (social / "edge/person_knows_person").iterdir() if path.is_dir() and "source" in path.name]
    expected = []
    for part in sorted((place / "adj_list").iterdir(), key=lambda path: int(path.name.removeprefix("part"))):
        ends = chunks(part).to_pydict()
        source, target = ends.values()
        expected += [(keys[one], keys[other]) for one, other in zip(source, target)]
    found = isomorph.open(social).edges("knows").select("@source", "@target").to_arrow().to_pydict()
    assert list(zip(*found.values())) == expected


@pytest.mark.parametrize("name", ["01_tiny/tiny.parq", "06_spec_schema/spec_zstd_null.parq"])
def test_the_stored_tables_of_nock_are_its_parquet_file(fixtures: Path, name: str) -> None:
    path = fixtures / "nock" / name
    expected = pq.ParquetFile(path).read().to_pylist()
    nodes = isomorph.open(path).nodes(stored=True)
    key = next(column.name for column in nodes.schema.values() if column.role == "key")
    found = {row[key]: row for row in nodes.to_arrow().to_pylist()}
    named = {row["src_name"]: row for row in expected if row["edge_id"] == -1}
    # Nodes that only edges name have rows of their own.
    assert set(named) <= set(found)
    for name, row in named.items():
        assert found[name]["truth"] == pytest.approx(row["truth"])
        assert json.loads(found[name]["properties"] or "{}") == json.loads(row["props"] or "{}")
    edges = isomorph.open(path).edges(stored=True).select("@source", "@relation", "@target").to_arrow().to_pylist()
    expected_edges = [(row["src_name"], row["rel_name"], row["dst_name"]) for row in expected if row["edge_id"] not in (-1, None)]
    assert sorted(tuple(row.values()) for row in edges) == sorted(expected_edges)


def test_an_edge_list_is_its_text(fixtures: Path) -> None:
    path = fixtures / "inout/edges/snap.txt.gz"
    lines = gzip.open(path, "rt").read().splitlines()
    expected = [tuple(map(int, line.split())) for line in lines if line and not line.startswith("#")]
    found = isomorph.open(path).edges().select("@source", "@target").to_arrow().to_pydict()
    assert [tuple(map(int, pair)) for pair in zip(*found.values())] == expected


def test_tables_of_gephi_are_their_csv(fixtures: Path) -> None:
    place = fixtures / "inout/gephi"
    with (place / "nodes.csv").open(newline="") as file:
        expected = [row["Id"] for row in csv.DictReader(file)]
    found = isomorph.open(place).nodes().select("@key").to_arrow().column(0).to_pylist()
    assert [str(key) for key in found] == expected


def test_names_that_are_ambiguous_or_unknown_are_errors_that_list_the_names(tmp_path: Path) -> None:
    node = pa.table({"id": [1, 2]})
    edge = pa.table({"source": [1], "target": [2]})
    path = tmp_path / "several.graphar"
    names = [("person", "likes", "person"), ("person", "likes", "post"), ("post", "likes", "post")]
    isomorph.write(path, nodes={"person": node, "post": node}, edges={name: edge for name in names}, to="graphar")
    graph = isomorph.open(path)
    with pytest.raises(isomorph.UsageError, match="person_likes_person, person_likes_post, post_likes_post"):
        graph.edges("likes")
    assert graph.edges("likes", source="person", target="post").name == "person_likes_post"
    assert graph.edges("post_likes_post").count() == 1
    with pytest.raises(isomorph.UsageError, match="several tables of nodes"):
        graph.nodes()
    with pytest.raises(isomorph.UsageError) as raised:
        graph.table("persn")
    assert "person" in str(raised.value) and raised.value.kind == "usage" and raised.value.hints
    with pytest.raises(isomorph.UsageError, match="has no column nme"):
        graph.nodes("person").select("nme")


def test_a_closed_graph_a_wrong_type_and_a_missing_file_are_exceptions(social: Path, tmp_path: Path) -> None:
    graph = isomorph.open(social)
    table = graph.nodes("person")
    graph.close()
    assert graph.closed
    assert "closed" in graph._repr_html_() and "closed" in repr(graph)
    neighbors = lambda: graph.neighbors(1007, type="person")  # noqa: E731
    for work in (graph.tables, lambda: graph.schema, graph.info, graph.validate, graph.part, lambda: graph.nodes("city").count(), table.to_arrow, graph.digest, neighbors):
        with pytest.raises(isomorph.UsageError, match="closed"):
            work()
    with pytest.raises(FileNotFoundError) as missing:
        isomorph.open(tmp_path / "nothing")
    assert isinstance(missing.value, isomorph.NotFoundError) and missing.value.place.file
    for wrong in (7, None, b"bytes", ["examples/social"]):
        with pytest.raises((TypeError, isomorph.UsageError)):
            isomorph.open(wrong)  # type: ignore[arg-type]
    for options in ({"memory": "much"}, {"threads": 0}, {"sidecar": "maybe"}, {"format": "vcf"}, {"at": 3}, {"lenient": True, "strict": True}):
        with pytest.raises(isomorph.UsageError):
            isomorph.open(social, **options)
    with pytest.raises(isomorph.UsageError, match="query must be text, found int"):
        isomorph.open(social).sql(7)  # type: ignore[arg-type]
    with pytest.raises(isomorph.TooLargeError) as large:
        isomorph.open(social).sample_nodes(2**40, type="person")
    with pytest.raises(isomorph.UsageError) as missing_value:
        isomorph.open(social).cypher("RETURN $x")
    assert large.value.hints[0] == "raise memory=" and missing_value.value.hints == ("x=VALUE",)
    with pytest.raises(isomorph.UnsupportedError):
        (tmp_path / "text.bin").write_bytes(b"\x00\x01\x02")
        isomorph.open(tmp_path / "text.bin")


def test_a_graph_that_changes_on_disk_is_an_exception(tmp_path: Path) -> None:
    path = tmp_path / "graph.graphar"
    many = pa.table({"id": range(5000), "x": range(5000)})
    isomorph.write(path, nodes={"a": many}, to="graphar")
    graph = isomorph.open(path)
    table = graph.nodes("a")
    first = table.to_arrow()
    assert first.num_rows == 5000
    chunk = max((file for file in path.rglob("chunk*") if file.is_file()), key=lambda file: file.stat().st_size)
    chunk.write_bytes(chunk.read_bytes()[: chunk.stat().st_size // 2])
    for again in (table, isomorph.open(path, sidecar="ignore").nodes("a")):
        with pytest.raises(isomorph.Error):
            again.to_arrow()


def test_neighbors_are_those_of_the_edges(social: Path) -> None:
    graph = isomorph.open(social)
    knows = graph.edges("knows").to_arrow().to_pylist()
    for key in (1007, "1014"):
        expected = sorted(
            row["target"] if row["source"] == int(key) else row["source"] for row in knows if int(key) in (row["source"], row["target"])
        )
        found = graph.neighbors(key, type="person", relation="knows")
        assert sorted(found.to_arrow().column("neighbor").to_pylist()) == expected
    everything = graph.neighbors(1007, type="person").to_arrow()
    assert set(everything.column("relation").to_pylist()) <= {"knows", "livesIn", "wrote", "likes"}
    assert everything.column_names[:4] == ["neighbor", "type", "relation", "direction"]
    assert graph.neighbors(1007, type="person", limit=2).count() == 2
    assert graph.neighbors(1007, type="person", relation="livesIn", side="in").to_arrow().num_rows == 0
    filtered = graph.neighbors(1007, type="person").filter('relation = "knows"').select("neighbor").limit(1)
    assert filtered.to_arrow().column_names == ["neighbor"] and filtered.count() == 1
    with pytest.raises(isomorph.Error):
        graph.neighbors(5, type="person").to_arrow()
    with pytest.raises(isomorph.UsageError):
        graph.neighbors(1007, type="person", side="left")


def test_samples_are_repeatable_and_consist_of_neighbours(social: Path) -> None:
    graph, other = isomorph.open(social), isomorph.open(social, threads=1)
    drawn = graph.sample([1007, 1014], 5, relation="knows", type="person", seed=11).to_arrow()
    assert drawn.equals(other.sample([1007, 1014], 5, relation="knows", type="person", seed=11).to_arrow())
    seeds = {str(graph.sample(1007, 5, type="person", seed=seed).to_arrow().to_pydict()) for seed in range(20)}
    assert len(seeds) > 1
    assert graph.sample_nodes(7, type="person", strategy="without-replacement", seed=1).count() == 7
    assert graph.sample_edges(4, seed=1).count() == 4
    assert graph.walk([1007], 3, relation="knows", type="person", seed=2).to_arrow().num_rows >= 1
    for wrong in ({"strategy": "best"}, {"count": 0}, {"type": "persn"}, {"relation": "liked"}):
        with pytest.raises(isomorph.Error):
            graph.sample([1007], **{"type": "person", **wrong}).to_arrow()
    with pytest.raises(isomorph.Error):
        graph.sample([-5], type="person").to_arrow()


def test_a_count_does_not_believe_what_a_file_says(tmp_path: Path) -> None:
    path = tmp_path / "lies.txt"
    path.write_text("# Nodes: 3 Edges: 99\n# FromNodeId\tToNodeId\n1\t2\n2\t1\n")
    try:
        graph = isomorph.open(path)
    except isomorph.Error:
        return
    assert graph.edges().count() == graph.edges().to_arrow().num_rows == 2
    assert graph.counts()[graph.edges().name] == 2


def test_a_part_is_a_graph_like_any_other(tmp_path: Path, social: Path) -> None:
    graph = isomorph.open(social)
    part = graph.part(types=["person", "city"], where={"person": "id < 2000"}, columns=["firstName", "name"])
    expected = graph.nodes("person").filter("id < 2000").select("id", "firstName").to_arrow()
    assert part.nodes("person").select("id", "firstName").to_arrow().equals(expected)
    assert set(part.schema.nodes) == {"person", "city"} and "birthday" not in part.nodes("person").columns
    keys = set(expected.column("id").to_pylist())
    knows = [pair for pair in zip(*graph.edges("knows").select("@source", "@target").to_arrow().to_pydict().values()) if keys >= set(pair)]
    assert sorted(zip(*part.edges("knows").select("@source", "@target").to_arrow().to_pydict().values())) == sorted(knows)
    assert part.edges("knows").count() == len(knows)
    certificate = part.convert(tmp_path / "part.parq")
    assert certificate.equal and certificate.source_format == "graphar" and not isomorph.diff(part, tmp_path / "part.parq")
    again = pickle.loads(pickle.dumps(part))
    assert again.digest() == part.digest() != graph.digest()
    assert graph.part(sample=5, seed=1).nodes("person").count() == 5 == graph.part(limit=5).nodes("person").count()
    assert graph.part(where="city: population > 0").digest() == graph.part(where=["city: population > 0"]).digest()
    for wrong in ({"types": "persn"}, {"where": {"person": "id <"}}, {"where": "id < 3"}, {"columns": ["nothing"]}):
        with pytest.raises(isomorph.UsageError):
            graph.part(**wrong)
    with pytest.raises(isomorph.UsageError, match="part of a part"):
        part.part(limit=1)


def test_wrong_rows_of_tables_are_left_out_of_a_conversion_that_is_lenient(tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "nodes.csv").write_text("id,n\n1,a\n,b\n1,c\n")
    (tables / "edges.csv").write_text("source,target\n1,1\n")
    with pytest.raises(isomorph.Error, match="key"):
        isomorph.convert(tables, tmp_path / "strict.parq")
    assert isomorph.convert(tables, tmp_path / "lenient.parq", lenient=True).equal
    with pytest.raises(isomorph.Error, match="open already"):
        isomorph.convert(isomorph.open(tmp_path / "lenient.parq"), tmp_path / "again.parq", lenient=True)
