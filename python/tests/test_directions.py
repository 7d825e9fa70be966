"""Whether edges have a direction, where their tables are written again."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pyarrow as pa
import pytest

import isomorph


def pair(path: Path, **options: object) -> isomorph.Graph:
    """Two nodes and one edge."""
    nodes = pa.table({"id": [1, 2]})
    edges = pa.table({"source": [1], "target": [2], "w": [5]})
    isomorph.write(path, nodes=nodes, edges=edges, to="graphar", **options)
    return isomorph.open(path)


def direction(path: Path) -> str:
    """The direction of the only edge type."""
    [edges] = isomorph.open(path).info()["edges"]
    return edges["direction"]


WAYS = {
    "table": lambda table: table,
    "filter": lambda table: table.filter("w = 5"),
    "select": lambda table: table.select("@source", "@target", "w"),
    "limit": lambda table: table.limit(7),
    "collect": lambda table: table.collect(),
    "arrow": lambda table: table.to_arrow(),
    "arrow-part": lambda table: table.to_arrow().slice(0, 1).select(["source", "target", "w"]),
    "protocol": lambda table: pa.table(table),
    "batches": lambda table: table.to_batches(),
    "pandas": lambda table: table.to_pandas(),
    "pandas-part": lambda table: table.to_pandas().query("w > 1").assign(v=2)[["source", "target", "w"]],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_table_without_directions_is_written_without_them(tmp_path: Path, way: str) -> None:
    graph = pair(tmp_path / "g", directed=False)
    isomorph.write(tmp_path / "h", nodes=graph.nodes(), edges=WAYS[way](graph.edges()), to="graphar")
    assert direction(tmp_path / "h") == "undirected"
    assert isomorph.diff(graph, tmp_path / "h").equal
    isomorph.write(tmp_path / "d", nodes=graph.nodes(), edges=WAYS[way](graph.edges()), to="graphar", directed=True)
    assert direction(tmp_path / "d") == "directed"


@pytest.mark.parametrize("way", WAYS)
def test_a_table_with_directions_is_written_with_them(tmp_path: Path, way: str) -> None:
    graph = pair(tmp_path / "g")
    isomorph.write(tmp_path / "h", nodes=graph.nodes(), edges=WAYS[way](graph.edges()), to="graphar")
    assert direction(tmp_path / "h") == "directed" and isomorph.diff(graph, tmp_path / "h").equal


def mixed(path: Path) -> isomorph.Graph:
    """Three edges of one relation, one of them without a direction."""
    network = nx.MultiDiGraph([(1, 2), (2, 3)])
    network.add_edge(3, 1, directed=False)
    network.add_edge(1, 3, directed=False, reverse=True)
    isomorph.from_networkx(network, path, "graphar")
    return isomorph.open(path)


def test_directions_that_differ_by_edge_are_kept_or_asked_for(tmp_path: Path) -> None:
    graph = mixed(tmp_path / "g")
    assert graph.edges().to_arrow().column("directed").to_pylist().count(False) == 1
    isomorph.write(tmp_path / "h", nodes=graph.nodes(), edges=graph.edges(), to="graphar")
    assert isomorph.diff(graph, tmp_path / "h").equal
    for make in ("to_pandas", "to_polars"):
        frame = getattr(graph.edges(), make)()
        with pytest.raises(isomorph.UsageError, match="the column directed may say"):
            isomorph.write(tmp_path / "x", nodes=graph.nodes(), edges=frame, to="graphar")
        assert not (tmp_path / "x").exists()
        isomorph.write(tmp_path / make, nodes=graph.nodes(), edges=frame, to="graphar", directed="directed")
        assert isomorph.diff(graph, tmp_path / make).equal
        isomorph.write(tmp_path / f"{make}-p", nodes=graph.nodes(), edges={"edge": frame}, to="graphar", directed={"edge": True})
        assert "directed" in isomorph.open(tmp_path / f"{make}-p").edges().columns and direction(tmp_path / f"{make}-p") == "directed"


@pytest.mark.parametrize("directed", [True, False, "w"])
def test_a_direction_that_contradicts_the_table_is_refused(tmp_path: Path, directed: bool | str) -> None:
    graph = mixed(tmp_path / "g")
    edges = graph.edges().to_arrow()
    edges = edges.append_column("w", [[True] * 3])
    with pytest.raises(isomorph.UsageError, match='directed: the column "directed" already says'):
        isomorph.write(tmp_path / "x", nodes=graph.nodes(), edges=edges, to="graphar", directed=directed)


def test_a_column_of_directions_has_booleans_only(tmp_path: Path) -> None:
    for column, error, says in (([True, None], isomorph.MalformedError, "null"), ([1, 0], isomorph.UsageError, "no booleans")):
        edges = pa.table({"source": [1, 2], "target": [2, 1], "way": column})
        with pytest.raises(error, match=says):
            isomorph.write(tmp_path / "x", edges=edges, to="graphar", directed="way")
    with pytest.raises(isomorph.UsageError, match="wey"):
        isomorph.write(tmp_path / "x", edges=edges, to="graphar", directed="wey")


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_types_of_edges_without_directions_keep_their_order(tmp_path: Path, library: str) -> None:
    one, other = pa.table({"id": [1, 2]}), pa.table({"id": [1, 2]})
    edges = {
        ("b", "r", "a"): pa.table({"source": [1, 2], "target": [1, 1], "w": [1, 2]}),
        ("a", "r", "b"): pa.table({"source": [1, 2], "target": [2, 2], "w": [3, 4]}),
        ("a", "s", "a"): pa.table({"source": [1, 2], "target": [2, 2], "w": [5, 6]}),
    }
    for name, kept in (("all", list(edges)), ("one", [("b", "r", "a")])):
        isomorph.write(tmp_path / name, nodes={"a": one, "b": other}, edges={kind: edges[kind] for kind in kept}, directed=False, to="graphar")
        graph = isomorph.open(tmp_path / name)
        made = getattr(graph, f"to_{library}")()
        assert not made.is_directed()
        getattr(isomorph, f"from_{library}")(made, tmp_path / f"{name}-again", "graphar")
        again = isomorph.open(tmp_path / f"{name}-again")
        assert sorted(again.schema.edges) == sorted(kept)
        assert isomorph.diff(graph, again).equal


def test_a_property_that_looks_like_the_order_is_refused(tmp_path: Path) -> None:
    one = pa.table({"id": [1]})
    edges = {("b", "r", "a"): pa.table({"source": [1], "target": [1], "source_type": ["x"]})}
    isomorph.write(tmp_path / "g", nodes={"a": one, "b": one}, edges=edges, directed=False, to="graphar")
    for convert in (isomorph.open(tmp_path / "g").to_networkx, isomorph.open(tmp_path / "g").to_igraph):
        with pytest.raises(isomorph.UsageError, match="attribute source_type"):
            convert()
