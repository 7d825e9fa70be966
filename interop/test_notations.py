"""NetworkX, SciPy and igraph read the matrices, adjacency lists, networks and METIS graphs that we write, and we read theirs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph
from test_graph_tools import KINDS, facts, graph

nx = pytest.importorskip("networkx", reason="networkx is not installed")


@KINDS
@pytest.mark.parametrize("seed", range(2))
def test_adjacency_lists_of_networkx(isomorph: Isomorph, tmp_path: Path, seed: int, directed: bool, multi: bool) -> None:
    made = graph(seed, directed, multi, of_nodes=False)
    for _, _, data in made.edges(data=True):
        data.clear()
    made.add_node("alone")
    nx.write_adjlist(made, tmp_path / "a.adjlist")
    flags = [] if directed else ["--undirected"]
    isomorph.convert(tmp_path / "a.adjlist", tmp_path / "b.parq", *flags)
    isomorph.convert(tmp_path / "b.parq", tmp_path / "c.adjlist")
    assert facts(nx.read_adjlist(tmp_path / "c.adjlist", create_using=type(made))) == facts(made)
    isomorph.run("validate", tmp_path / "c.adjlist")


@KINDS
@pytest.mark.parametrize("seed", range(2))
def test_multiline_lists_of_networkx(isomorph: Isomorph, tmp_path: Path, seed: int, directed: bool, multi: bool) -> None:
    made = graph(seed, directed, multi, of_nodes=False)
    for _, _, data in made.edges(data=True):
        # NetworkX loses these in its own files.
        data["kind"] = "".join(data["kind"].split()).replace("#", "")
    nx.write_multiline_adjlist(made, tmp_path / "a.multiline_adjlist")
    flags = [] if directed else ["--undirected"]
    isomorph.convert(tmp_path / "a.multiline_adjlist", tmp_path / "b.parq", *flags)
    isomorph.convert(tmp_path / "b.parq", tmp_path / "c.multiline_adjlist")
    back = nx.read_multiline_adjlist(tmp_path / "c.multiline_adjlist", create_using=type(made))
    assert facts(back) == facts(made)


def test_texts_that_networkx_loses_in_its_own_multiline_lists(isomorph: Isomorph, tmp_path: Path) -> None:
    made = graph(1, True, True)
    nx.write_graphml(made, tmp_path / "a.graphml")
    isomorph.convert(tmp_path / "a.graphml", tmp_path / "b.multiline_adjlist", "--lossy")
    back = nx.read_multiline_adjlist(tmp_path / "b.multiline_adjlist", create_using=nx.MultiDiGraph)
    kinds = sorted(data["kind"] for _, _, data in made.edges(data=True))
    assert sorted(data["kind"] for _, _, data in back.edges(data=True)) == kinds


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_matrices_of_scipy(isomorph: Isomorph, tmp_path: Path, field: str, symmetric: bool) -> None:
    scipy_io = pytest.importorskip("scipy.io", reason="scipy is not installed")
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    draw = random.Random(3)
    cells = {(draw.randrange(9), draw.randrange(9)): draw.randrange(1, 9) for _ in range(20)}
    if symmetric:
        lower = {(max(ends), min(ends)): value for ends, value in cells.items()}
        cells = {**lower, **{(column, row): value for (row, column), value in lower.items()}}
    rows, columns = zip(*cells)
    kind = float if field == "real" else int
    values = [1 if field == "pattern" else value / 4 if field == "real" else value for value in cells.values()]
    matrix = sparse.coo_matrix((values, (rows, columns)), shape=(9, 9), dtype=kind)
    scipy_io.mmwrite(tmp_path / "a.mtx", matrix, field=field, symmetry="symmetric" if symmetric else "general")
    isomorph.convert(tmp_path / "a.mtx", tmp_path / "b.parq")
    isomorph.convert(tmp_path / "b.parq", tmp_path / "c.mtx.gz")
    isomorph.run("diff", tmp_path / "a.mtx", tmp_path / "c.mtx.gz")
    back = scipy_io.mmread(tmp_path / "c.mtx.gz")
    assert back.dtype.kind == ("f" if field in {"real", "pattern"} else "i")
    assert (back.toarray() == matrix.toarray()).all()


@pytest.mark.parametrize("directed", [True, False])
def test_networks_of_networkx(isomorph: Isomorph, tmp_path: Path, directed: bool) -> None:
    made = graph(5, directed, True)
    for _, data in made.nodes(data=True):
        # NetworkX writes texts alone, and has no empty ones or escapes.
        texts = {name: str(value).replace('"', "").replace("\t", "").replace("'", "") for name, value in data.items()}
        data.clear()
        data.update({name: value for name, value in texts.items() if value.strip()})
    for _, _, data in made.edges(data=True):
        kind = data["kind"].replace('"', "").replace("\t", "").replace("'", "")
        data["kind"] = kind if kind.strip() else "x"
        data.setdefault("weight", 1.0)
    nx.write_pajek(made, tmp_path / "a.net")
    isomorph.convert(tmp_path / "a.net", tmp_path / "b.parq")
    isomorph.convert(tmp_path / "b.parq", tmp_path / "c.net")
    isomorph.run("diff", tmp_path / "a.net", tmp_path / "c.net")
    back, there = nx.read_pajek(tmp_path / "c.net"), nx.read_pajek(tmp_path / "a.net")
    said = lambda data: sorted((name, str(value)) for name, value in data.items() if name != "id")
    nodes = lambda graph: sorted((name, said(data)) for name, data in graph.nodes(data=True))
    edges = lambda graph: sorted((*sorted(ends), said(data)) for *ends, data in graph.edges(data=True))
    assert (back.is_directed(), len(nodes(back)), len(edges(back))) == (directed, 12, 30)
    assert [name for name, _ in nodes(back)] == [name for name, _ in nodes(there)]
    assert [edge[:2] for edge in edges(back)] == [edge[:2] for edge in edges(there)]


def test_networks_of_igraph(isomorph: Isomorph, tmp_path: Path) -> None:
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    made = igraph.Graph.Erdos_Renyi(n=20, m=40, directed=True, loops=True)
    made.vs["id"] = [f"node {at}" for at in range(20)]
    made.es["weight"] = [at / 4 for at in range(40)]
    made.write_pajek(str(tmp_path / "a.net"))
    isomorph.convert(tmp_path / "a.net", tmp_path / "b.graphml")
    isomorph.convert(tmp_path / "b.graphml", tmp_path / "c.net")
    back = igraph.Graph.Read_Pajek(str(tmp_path / "c.net"))
    assert (back.vcount(), back.is_directed()) == (20, True)
    edges = lambda graph: sorted((edge.tuple, edge["weight"]) for edge in graph.es)
    assert edges(back) == edges(made)


def test_metis_is_the_graph(isomorph: Isomorph, tmp_path: Path) -> None:
    made = nx.gnm_random_graph(15, 30, seed=4)
    names = {node: node + 1 for node in made}
    made = nx.relabel_nodes(made, names)
    lines = [f"{len(made)} {made.number_of_edges()}"]
    lines += [" ".join(str(other) for other in sorted(made[node])) for node in sorted(made)]
    (tmp_path / "a.metis").write_text("\n".join(lines) + "\n")
    isomorph.convert(tmp_path / "a.metis", tmp_path / "b.graphml")
    there = nx.relabel_nodes(nx.read_graphml(tmp_path / "b.graphml"), int)
    assert nx.utils.graphs_equal(nx.Graph(there.edges()), nx.Graph(made.edges()))
    isomorph.convert(tmp_path / "b.graphml", tmp_path / "c.metis")
    assert (tmp_path / "c.metis").read_text() == (tmp_path / "a.metis").read_text()


def test_relations_are_values_of_edges_in_pajek(isomorph: Isomorph, tmp_path: Path) -> None:
    made = nx.MultiDiGraph()
    made.add_edge("a", "b", relation="knows")
    made.add_edge("b", "c", relation="likes")
    nx.write_graphml(made, tmp_path / "a.graphml")
    isomorph.convert(tmp_path / "a.graphml", tmp_path / "b.net")
    back = nx.read_pajek(tmp_path / "b.net")
    edges = sorted((*ends, data["relation"]) for *ends, data in back.edges(data=True))
    assert (sorted(back), edges) == (["a", "b", "c"], [("a", "b", "knows"), ("b", "c", "likes")])


@pytest.mark.parametrize(
    "values",
    [
        {"x": 1.5},
        {"y": 2.0},
        {"x": 1.5, "y": 2.5},
        {"x": 1, "y": 2, "z": 3},
        {"x": 1.0, "y": 2.0, "z": 3.0, "shape": "box", "c": "red"},
        {"x": 1.5, "c": "red"},
        {"shape": "box"},
        {"size": 3, "c": "red"},
    ],
)
def test_places_in_pajek(isomorph: Isomorph, tmp_path: Path, values: dict[str, Any]) -> None:
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    made = nx.MultiDiGraph()
    made.add_node("a", **values)
    # A node that lacks what the other has, but has another value; the same for edges.
    made.add_node("b", d="e")
    made.add_edge("a", "b", weight=2.5, kind="k")
    made.add_edge("b", "a", kind="l")
    nx.write_graphml(made, tmp_path / "a.graphml")
    isomorph.convert(tmp_path / "a.graphml", tmp_path / "b.net")
    isomorph.run("diff", tmp_path / "a.graphml", tmp_path / "b.net")
    back = nx.read_pajek(tmp_path / "b.net")
    as_read = {name: float(value) if name in {"x", "y"} else str(value) for name, value in values.items()}
    assert as_read.items() <= back.nodes["a"].items()
    assert back.nodes["b"]["d"] == "e"
    assert [data["kind"] for _, _, data in sorted(back.edges(data=True))] == ["k", "l"]
    assert back["a"]["b"][0]["weight"] == 2.5
    there = igraph.Graph.Read_Pajek(str(tmp_path / "b.net"))
    attributes = there.vs[0].attributes()
    for name, value in values.items():
        # igraph keeps its own names for coordinates and colours.
        found = attributes.get(name, attributes.get(f"{name}_"))
        assert str(found) == str(float(value) if name in {"x", "y"} else value), (name, attributes)
    assert there.es["weight"] == [2.5, 1.0] and there.es["kind"] == ["k", "l"]


def test_names_with_commas_before_dictionaries(isomorph: Isomorph, tmp_path: Path) -> None:
    made = nx.DiGraph()
    made.add_edge("Smith,John", "Doe,Jane", weight=1)
    made.add_edge("a,b", "true", value=True)
    nx.write_edgelist(made, tmp_path / "a.edges")
    isomorph.convert(tmp_path / "a.edges", tmp_path / "b.graphml")
    assert facts(nx.read_graphml(tmp_path / "b.graphml")) == facts(made)
