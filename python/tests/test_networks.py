"""Graphs of networkx, igraph and scipy, there and back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import igraph
import isomorph
import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse


def test_networkx_has_the_nodes_and_edges_of_the_tables(social: Path, tmp_path: Path) -> None:
    graph = isomorph.open(social)
    network = graph.to_networkx()
    assert network.number_of_nodes() == 1340
    livesin = Counter((row["source"], row["target"]) for row in graph.edges("livesIn").to_arrow().to_pylist())
    found = Counter((one[1], other[1]) for one, other, own in network.edges(data=True) if own["relation"] == "livesIn")
    assert found == livesin
    knows = graph.edges("knows").to_arrow().to_pylist()
    both = Counter()
    for row in knows:
        both[row["source"], row["target"]] += 1
        if row["source"] != row["target"]:
            both[row["target"], row["source"]] += 1
    assert Counter((one[1], other[1]) for one, other, own in network.edges(data=True) if own["relation"] == "knows") == both
    person = {row["id"]: row for row in graph.nodes("person").to_arrow().to_pylist()}
    assert network.nodes["person", 1007]["firstName"] == person[1007]["firstName"]


@pytest.mark.parametrize("make", [nx.karate_club_graph, lambda: nx.gnp_random_graph(30, 0.2, 1, directed=True), lambda: nx.Graph([("a", "b"), ("b", "é")])])
def test_networkx_comes_back(tmp_path: Path, make) -> None:
    before = make()
    isomorph.from_networkx(before, tmp_path / "n.graphar", "graphar")
    after = isomorph.open(tmp_path / "n.graphar").to_networkx()
    assert after.is_directed() == before.is_directed() and set(after) == set(before)
    ends = (lambda graph: Counter((a, b) for a, b in graph.edges())) if before.is_directed() else (lambda graph: Counter(frozenset(pair) for pair in graph.edges()))
    assert ends(after) == ends(before)
    for node, own in before.nodes(data=True):
        assert all(after.nodes[node][name] == value for name, value in own.items())
    for source, target, own in before.edges(data=True):
        [found] = after.get_edge_data(source, target).values()
        assert all(found[name] == value for name, value in own.items())


def test_igraph_comes_back(tmp_path: Path, social: Path) -> None:
    before = isomorph.open(social).to_igraph()
    assert before.vcount() == 1340 and before.is_directed()
    assert Counter(before.es["relation"])["livesIn"] == isomorph.open(social).edges("livesIn").count()
    isomorph.from_igraph(before, tmp_path / "i.graphar", "graphar")
    after = isomorph.open(tmp_path / "i.graphar").to_igraph()

    def edges(graph: igraph.Graph) -> Counter:
        names = list(zip(graph.vs["type"], graph.vs["key"]))
        return Counter((names[edge.source], edge["relation"], names[edge.target]) for edge in graph.es)

    assert edges(after) == edges(before)


def test_scipy_comes_back(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    before = scipy.sparse.random_array((40, 40), density=0.1, rng=chance).tocsr()
    isomorph.from_scipy(before, tmp_path / "m.parquet", "parquet")
    after, rows, columns = isomorph.open(tmp_path / "m.parquet").to_scipy("edge", weight="weight")
    assert rows == columns == list(range(40)) and (after != before).nnz == 0
    with pytest.raises(isomorph.UsageError):
        isomorph.from_scipy(scipy.sparse.eye_array(2, 3), tmp_path / "w.parquet", "parquet")


def test_parallel_edges_add_up_in_a_matrix(tmp_path: Path) -> None:
    edges = pa.table({"source": ["b", "b", "a"], "target": ["a", "a", "b"], "w": [1, 2, 5]})
    isomorph.write(tmp_path / "p.parquet", nodes={"n": pa.table({"id": ["a", "b"]})}, edges={"t": edges}, to="parquet")
    graph = isomorph.open(tmp_path / "p.parquet")
    assert graph.to_scipy("t")[0].toarray().tolist() == [[0, 1], [2, 0]]
    assert graph.to_scipy("t", weight="w")[0].toarray().tolist() == [[0, 5], [3, 0]]
    with pytest.raises(isomorph.UsageError, match="no property"):
        graph.to_scipy("t", weight="x")


def test_attributes_that_would_be_mixed_up_are_refused(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_node(1, id=5)
    with pytest.raises(isomorph.UsageError, match="attribute id"):
        isomorph.from_networkx(graph, tmp_path / "x.parquet", "parquet")
    other = nx.Graph()
    other.add_edge(1, 2, source="web")
    with pytest.raises(isomorph.UsageError, match="attribute source"):
        isomorph.from_networkx(other, tmp_path / "x.parquet", "parquet")


def test_attributes_with_the_names_of_arguments_stay_attributes(tmp_path: Path) -> None:
    nodes = pa.table({"id": [1, 2], "node_for_adding": [5, None], "self": ["a", "b"]})
    edges = pa.table({"source": [1, 1], "target": [2, 2], "key": [7, 7], "v_for_edge": [8, 9]})
    isomorph.write(tmp_path / "k.parquet", nodes={"n": nodes}, edges={"t": edges}, to="parquet")
    graph = isomorph.open(tmp_path / "k.parquet")
    network = graph.to_networkx()
    assert network.number_of_edges() == 2 and network.nodes[1]["node_for_adding"] == 5
    assert sorted(own["v_for_edge"] for *_, own in network.edges(data=True)) == [8, 9]
    assert {own["key"] for *_, own in network.edges(data=True)} == {7}
    assert sorted(graph.to_igraph().es["v_for_edge"]) == [8, 9] and set(graph.to_igraph().es["relation"]) == {"t"}
    clash = pa.table({"source": [1], "target": [2], "relation": ["x"]})
    isomorph.write(tmp_path / "r.parquet", nodes={"n": nodes}, edges={"t": clash}, to="parquet")
    for convert in (isomorph.open(tmp_path / "r.parquet").to_networkx, isomorph.open(tmp_path / "r.parquet").to_igraph):
        with pytest.raises(isomorph.UsageError, match="attribute relation"):
            convert()
        assert convert(edge_columns=[])
    odd = igraph.Graph([(0, 1)], vertex_attrs={"name": ["a", "b"], "id": [3, 4]})
    with pytest.raises(isomorph.UsageError, match="attribute id"):
        isomorph.from_igraph(odd, tmp_path / "x.parquet", "parquet")


def test_relations_that_differ_by_row_are_those_of_the_edges(fixtures: Path) -> None:
    graph = isomorph.open(fixtures / "nock/01_tiny/tiny.parq")
    network = graph.to_networkx()
    stored = graph.edges(stored=True).select("@relation").to_arrow().column(0).to_pylist()
    assert Counter(own["relation"] for *_, own in network.edges(data=True)) == Counter(stored)
