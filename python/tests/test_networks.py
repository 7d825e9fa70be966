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


def test_relations_that_differ_by_row_are_those_of_the_edges(fixtures: Path) -> None:
    graph = isomorph.open(fixtures / "nock/01_tiny/tiny.parq")
    network = graph.to_networkx()
    stored = graph.edges(stored=True).select("@relation").to_arrow().column(0).to_pylist()
    assert Counter(own["relation"] for *_, own in network.edges(data=True)) == Counter(stored)


def small(path: Path, edges: pa.Table, name: str = "mixed") -> isomorph.Graph:
    """A graph with edges of both kinds."""
    nodes = pa.table({"id": [1, 2, 3]})
    directed = pa.table({"source": [1, 2], "target": [2, 3]})
    isomorph.write(path / name, nodes={"n": nodes}, edges={"d": directed, "u": edges}, directed={"u": False}, to="graphar")
    return isomorph.open(path / name)


def test_undirected_edges_among_directed_ones_come_back_as_one(social: Path, tmp_path: Path) -> None:
    network = isomorph.open(social).to_networkx()
    assert sum("reverse" not in own for *_, own in network.edges(data=True)) == 6620
    for name, make in (("n", lambda path: isomorph.from_networkx(network, path, "graphar")), ("i", lambda path: isomorph.from_igraph(isomorph.open(social).to_igraph(), path, "graphar"))):
        assert make(tmp_path / name).edges == 6620
        assert isomorph.diff(social, tmp_path / name).equal
    # Parallel ones, loops, equal and different values, NaN.
    edges = pa.table({"source": [1, 2, 1, 1, 3, 3], "target": [2, 1, 2, 2, 3, 1], "w": [1.0, 1.0, 1.0, float("nan"), 4.0, None]})
    graph = small(tmp_path, edges)
    assert graph.to_networkx().number_of_edges() == 2 + 2 * 5 + 1
    isomorph.from_networkx(graph.to_networkx(), tmp_path / "again", "graphar")
    isomorph.from_igraph(graph.to_igraph(), tmp_path / "third", "graphar")
    assert isomorph.diff(graph, isomorph.open(tmp_path / "again")).equal and isomorph.diff(graph, isomorph.open(tmp_path / "third")).equal


def test_half_of_an_undirected_edge_is_refused(tmp_path: Path) -> None:
    edges = pa.table({"source": [1, 2], "target": [2, 3], "w": [1, 2]})
    for spoil in ("remove", "change"):
        network = small(tmp_path, edges, spoil).to_networkx()
        [(one, other, key)] = [(a, b, k) for a, b, k, own in network.edges(keys=True, data=True) if own.get("reverse") and own["w"] == 2]
        if spoil == "remove":
            network.remove_edge(one, other, key)
        else:
            network[one][other][key]["w"] = 7
        with pytest.raises(isomorph.UsageError, match="not the same both ways"):
            isomorph.from_networkx(network, tmp_path / "x", "graphar")
        assert not (tmp_path / "x").exists()


def test_a_property_that_looks_like_the_mark_is_refused(tmp_path: Path) -> None:
    edges = pa.table({"source": [1], "target": [2], "directed": [False]})
    isomorph.write(tmp_path / "p.parquet", edges={"t": edges}, to="parquet", directed=True)
    for convert in (isomorph.open(tmp_path / "p.parquet").to_networkx, isomorph.open(tmp_path / "p.parquet").to_igraph):
        with pytest.raises(isomorph.UsageError, match="attribute directed"):
            convert()


def test_directions_that_differ_within_a_relation_come_back(tmp_path: Path) -> None:
    before = nx.MultiDiGraph()
    before.add_edge("a", "b", relation="r")
    before.add_edge("b", "c", relation="r", directed=False)
    before.add_edge("c", "b", relation="r", directed=False, reverse=True)
    assert isomorph.from_networkx(before, tmp_path / "r.nock.parq").edges == 2
    after = isomorph.open(tmp_path / "r.nock.parq").to_networkx()
    assert Counter((a, b, own.get("directed", True)) for a, b, own in after.edges(data=True)) == Counter([("a", "b", True), ("b", "c", False), ("c", "b", False)])


def test_the_matrix_of_an_undirected_relation_is_symmetric(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    ends = chance.integers(1, 4, size=(2, 30))
    graph = small(tmp_path, pa.table({"source": ends[0], "target": ends[1], "w": chance.integers(-9, 9, size=30)}))
    matrix, rows, _ = graph.to_scipy("u", weight="w")
    naive = np.zeros((3, 3), dtype=np.int64)
    for row in graph.edges("u").to_arrow().to_pylist():
        one, other = rows.index(row["source"]), rows.index(row["target"])
        naive[one, other] += row["w"]
        if one != other:
            naive[other, one] += row["w"]
    assert (matrix.toarray() == naive).all() and (matrix.toarray() == matrix.toarray().T).all()
    assert graph.to_scipy("d")[0].toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    ("values", "type", "sum"),
    [([2**63 - 1, 1], pa.int64(), None), ([2**64 - 1, 1], pa.uint64(), None), ([2**63 - 1, 2, -2], pa.int64(), 2**63 - 1), ([127, 127], pa.int8(), 254), ([2**64 - 2, 1], pa.uint64(), 2**64 - 1), ([-(2**63), -1], pa.int64(), None)],
)
def test_sums_of_a_matrix_are_right_or_refused(tmp_path: Path, values: list[int], type: pa.DataType, sum: int | None) -> None:
    edges = pa.table({"source": [0] * len(values), "target": [1] * len(values), "w": pa.array(values, type)})
    isomorph.write(tmp_path / "s.parquet", edges={"t": edges}, to="parquet")
    graph = isomorph.open(tmp_path / "s.parquet")
    if sum is None:
        with pytest.raises(isomorph.UsageError, match="sum of parallel edges"):
            graph.to_scipy("t", weight="w")
    else:
        assert int(graph.to_scipy("t", weight="w")[0].toarray()[0, 1]) == sum
    with pytest.raises(isomorph.UsageError, match="not a number"):
        isomorph.write(tmp_path / "t.parquet", edges={"t": pa.table({"source": [1], "target": [2], "w": ["x"]})}, to="parquet")
        isomorph.open(tmp_path / "t.parquet").to_scipy("t", weight="w")


def test_vertices_with_false_types_keep_them(tmp_path: Path) -> None:
    isomorph.from_igraph(igraph.Graph.Full_Bipartite(2, 1), tmp_path / "b", "graphar")
    assert sorted(isomorph.open(tmp_path / "b").schema.nodes) == ["False", "True"]
    odd = igraph.Graph([(0, 1)], vertex_attrs={"type": [0, None]})
    isomorph.from_igraph(odd, tmp_path / "o", "graphar")
    assert sorted(isomorph.open(tmp_path / "o").schema.nodes) == ["0", "node"]


def test_what_is_not_written_is_warned_of(tmp_path: Path) -> None:
    network = nx.MultiDiGraph(title="T")
    network.add_edge("a", "b", key="bought", relation=None)
    with pytest.warns(UserWarning) as told:
        isomorph.from_networkx(network, tmp_path / "w", "graphar")
    assert [str(one.message) for one in told] == ["attributes of the graph ('title'): not written", "keys of edges ('bought'): not written"]
    assert isomorph.open(tmp_path / "w").schema.edges == (("node", "edge", "node"),)
    with pytest.warns(UserWarning, match="attributes of the graph"):
        graph = igraph.Graph([(0, 1)])
        graph["title"] = "T"
        isomorph.from_igraph(graph, tmp_path / "i", "graphar")


def test_the_one_type_of_all_nodes_comes_back(tmp_path: Path) -> None:
    network = nx.DiGraph([("a", "b")])
    nx.set_node_attributes(network, "person", "type")
    isomorph.from_networkx(network, tmp_path / "p", "graphar")
    graph = isomorph.open(tmp_path / "p")
    assert graph.schema.nodes == ("person",)
    isomorph.from_networkx(graph.to_networkx(), tmp_path / "q", "graphar")
    assert isomorph.diff(graph, isomorph.open(tmp_path / "q")).equal


@pytest.mark.parametrize("make", [lambda: nx.Graph([(1, 2), ("1", 2)]), lambda: nx.Graph([(2**64, 1)]), lambda: nx.Graph([(1, 2, {"w": 1}), (2, 3, {"w": "a"})])])
def test_values_of_several_types_are_errors_that_name_the_attribute(tmp_path: Path, make) -> None:
    with pytest.raises(isomorph.UsageError, match="values of (id|w) do not fit"):
        isomorph.from_networkx(make(), tmp_path / "x", "graphar")


def test_matrices_that_are_none_are_refused(tmp_path: Path) -> None:
    for matrix in (np.eye(2), scipy.sparse.eye_array(2, dtype=complex)):
        with pytest.raises(isomorph.UsageError):
            isomorph.from_scipy(matrix, tmp_path / "x", "graphar")


def test_graphs_that_igraph_read_are_written(tmp_path: Path) -> None:
    network = nx.Graph([("n7", "n9")])
    nx.write_graphml(network, tmp_path / "g.graphml")
    read = igraph.Graph.Read_GraphML(str(tmp_path / "g.graphml"))
    assert read.vs["id"] == ["n7", "n9"]
    isomorph.from_igraph(read, tmp_path / "g", "graphar")
    assert isomorph.open(tmp_path / "g").nodes().to_arrow().column("id").to_pylist() == ["n7", "n9"]
    for attributes, columns in (
        ({"name": ["a", "b"], "id": [3, 4]}, {"key": ["a", "b"], "id": [3, 4]}),
        ({"key": [8, 9], "id": ["x", "x"]}, {"key": [8, 9], "id": ["x", "x"]}),
        ({"id": ["x", "x"]}, {"key": [0, 1], "id": ["x", "x"]}),
        ({"id": [0.0, 1.0]}, {"key": [0, 1], "id": [0.0, 1.0]}),
        ({"name": ["a", "b"], "id": [3, 4], "label": [5, 6]}, {"key": ["a", "b"], "id": [3, 4], "label": [5, 6]}),
    ):
        name = "-".join(f"{name}{values[1]}" for name, values in attributes.items())
        isomorph.from_igraph(igraph.Graph([(0, 1)], vertex_attrs=attributes), tmp_path / name, "graphar")
        graph = isomorph.open(tmp_path / name)
        assert graph.nodes().to_arrow().to_pydict() == columns
        assert graph.nodes().schema["key"].role == "key" and graph.edges().to_arrow().num_rows == 1


def test_integers_of_64_bits_are_keys(tmp_path: Path) -> None:
    network = nx.Graph([(2**63, 5), (2**64 - 1, 2**63)])
    isomorph.from_networkx(network, tmp_path / "u", "graphar")
    graph = isomorph.open(tmp_path / "u")
    assert sorted(graph.nodes().to_arrow().column("id").to_pylist()) == [5, 2**63, 2**64 - 1]
    assert {frozenset(edge) for edge in graph.to_networkx().edges()} == {frozenset(edge) for edge in network.edges()}
    with pytest.raises(isomorph.UsageError, match="values of id do not fit into one column: the integers from -1 to 9223372036854775808 fit into neither"):
        isomorph.from_networkx(nx.Graph([(2**63, -1)]), tmp_path / "x", "graphar")


def test_nodes_and_attributes_that_no_column_has_say_so(tmp_path: Path) -> None:
    with pytest.raises(isomorph.UsageError, match="the node True is a boolean"):
        isomorph.from_networkx(nx.Graph([(True, 2)]), tmp_path / "x", "graphar")
    odd = nx.Graph([(1, 2)])
    odd.nodes[1][5] = "a"
    with pytest.raises(isomorph.UsageError, match="an attribute is called 5"):
        isomorph.from_networkx(odd, tmp_path / "x", "graphar")
    odd = nx.Graph()
    odd.add_edge(1, 2, **{"w": 1})
    odd[1][2][None] = "a"
    with pytest.raises(isomorph.UsageError, match="an attribute is called None"):
        isomorph.from_networkx(odd, tmp_path / "x", "graphar")
    assert not list(tmp_path.iterdir())
