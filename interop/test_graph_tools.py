"""NetworkX and igraph read what we write, and we read what they write: the same nodes, edges and attributes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph

nx = pytest.importorskip("networkx", reason="networkx is not installed")

TEXTS = ["", "plain", "0012", "true", "NaN", "  two  blanks ", "it's \"q\"", "a&b<c>", "Zürich 日本", "tab\tin", "#1"]


def graph(seed: int, directed: bool, multi: bool, of_nodes: bool = True) -> Any:
    """A random graph, with loops, holes and attributes of each type."""
    draw = random.Random(seed)
    kinds = {(True, True): nx.MultiDiGraph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph, (False, False): nx.Graph}
    made = kinds[directed, multi]()
    names = [f"n{at}" for at in range(12)]
    for name in names if of_nodes else []:
        made.add_node(name, text=draw.choice(TEXTS), ok=draw.random() < 0.5)
        if draw.random() < 0.7:
            made.nodes[name]["age"] = draw.randrange(-(2**40), 2**40)
        if draw.random() < 0.7:
            made.nodes[name]["score"] = draw.choice([0.1, -2.5, 1e300, 3.0])
    for at in range(30):
        data: dict[str, Any] = {"kind": draw.choice(TEXTS)}
        if draw.random() < 0.8:
            data["weight"] = round(draw.random(), 6)
        # A name for every node, in the first edges.
        ends = (names[at % 12], draw.choice(names))
        made.add_edge(*ends, **data)
    return made


def facts(made: Any) -> tuple[Any, ...]:
    """Nodes and edges with what is said of them; keys of parallel edges are numbers that mean nothing."""

    def said(data: dict[str, Any]) -> str:
        return json.dumps({name: value for name, value in data.items() if name != "id"}, sort_keys=True)

    edges = []
    for source, target, data in made.edges(data=True):
        ends = (source, target) if made.is_directed() else tuple(sorted((source, target)))
        edges.append((*ends, said(data)))
    return made.is_directed(), sorted((name, said(data)) for name, data in made.nodes(data=True)), sorted(edges)


KINDS = pytest.mark.parametrize(("directed", "multi"), [(True, True), (True, False), (False, True), (False, False)])


@KINDS
@pytest.mark.parametrize("seed", range(3))
def test_graphml_of_networkx(isomorph: Isomorph, tmp_path: Path, seed: int, directed: bool, multi: bool) -> None:
    made = graph(seed, directed, multi)
    nx.write_graphml(made, tmp_path / "a.graphml")
    # Through another format, and read without what lies beside it.
    isomorph.convert(tmp_path / "a.graphml", tmp_path / "b.parq")
    isomorph.convert(tmp_path / "b.parq", tmp_path / "c.graphml")
    assert facts(nx.read_graphml(tmp_path / "c.graphml", force_multigraph=multi)) == facts(made)
    isomorph.run("diff", tmp_path / "a.graphml", tmp_path / "c.graphml")
    isomorph.run("validate", tmp_path / "c.graphml")


@KINDS
def test_graphml_of_igraph(isomorph: Isomorph, tmp_path: Path, directed: bool, multi: bool) -> None:
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    made = graph(7, directed, multi)
    there = igraph.Graph.from_networkx(made)
    there.write_graphml(str(tmp_path / "a.graphml"))
    isomorph.convert(tmp_path / "a.graphml", tmp_path / "b.graphml.gz")
    isomorph.convert(tmp_path / "b.graphml.gz", tmp_path / "c.graphml")
    back = igraph.Graph.Read_GraphML(str(tmp_path / "c.graphml"))

    def shown(graph: Any) -> tuple[Any, ...]:
        nodes = [{name: own[name] for name in graph.vs.attributes() if name != "id"} for own in graph.vs]
        edges = [(own.tuple, {name: own[name] for name in graph.es.attributes() if name != "id"}) for own in graph.es]
        return graph.is_directed(), repr(nodes), repr(edges)

    # Both as igraph reads its own file: it writes 15 digits, and gives every attribute to every node.
    assert shown(back) == shown(igraph.Graph.Read_GraphML(str(tmp_path / "a.graphml")))


@KINDS
@pytest.mark.parametrize("seed", range(3))
def test_edge_lists_of_networkx(isomorph: Isomorph, tmp_path: Path, seed: int, directed: bool, multi: bool) -> None:
    made = graph(seed, directed, multi, of_nodes=False)
    for _, _, data in made.edges(data=True):
        # NetworkX loses these in its own files.
        data["kind"] = " ".join(data["kind"].split()).replace("#", "")
    nx.write_edgelist(made, tmp_path / "a.edges")
    flags = [] if directed else ["--undirected"]
    isomorph.convert(tmp_path / "a.edges", tmp_path / "b.parq", *flags)
    isomorph.convert(tmp_path / "b.parq", tmp_path / "c.edges")
    back = nx.read_edgelist(tmp_path / "c.edges", create_using=type(made))
    assert facts(back) == facts(made)


def test_texts_that_networkx_loses_in_its_own_edge_lists(isomorph: Isomorph, tmp_path: Path) -> None:
    made = graph(1, True, True)
    nx.write_graphml(made, tmp_path / "a.graphml")
    isomorph.convert(tmp_path / "a.graphml", tmp_path / "b.edges", "--lossy")
    back = nx.read_edgelist(tmp_path / "b.edges", create_using=nx.MultiDiGraph)
    kinds = sorted(data["kind"] for _, _, data in made.edges(data=True))
    assert sorted(data["kind"] for _, _, data in back.edges(data=True)) == kinds


def test_weights(isomorph: Isomorph, tmp_path: Path) -> None:
    made = nx.DiGraph()
    made.add_weighted_edges_from([("1", "2", 0.5), ("2", "3", 1.0), ("10", "1", 2.25)])
    nx.write_weighted_edgelist(made, tmp_path / "a.edges")
    isomorph.convert(tmp_path / "a.edges", tmp_path / "b.edges")
    back = nx.read_weighted_edgelist(tmp_path / "b.edges", create_using=nx.DiGraph)
    assert facts(back) == facts(made)
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    # igraph's reader of such lists does not skip comments.
    lines = (tmp_path / "b.edges").read_text().splitlines(keepends=True)
    (tmp_path / "c.ncol").write_text("".join(line for line in lines if not line.startswith("#")))
    there = igraph.Graph.Read_Ncol(str(tmp_path / "c.ncol"), weights=True, directed=True)
    assert (there.vcount(), sorted(there.es["weight"])) == (4, [0.5, 1.0, 2.25])


def test_the_example_in_graphml(isomorph: Isomorph, social: Path, tmp_path: Path) -> None:
    flags = ["--types", "wrote,livesIn"]
    isomorph.convert(social, tmp_path / "social.graphml", *flags)
    there = nx.read_graphml(tmp_path / "social.graphml", force_multigraph=True)
    lines = [json.loads(line) for line in isomorph.run("dump", social, *flags).splitlines()]
    edges = [line for line in lines if "edge" in line]
    assert there.number_of_edges() == len(edges)
    assert there.number_of_nodes() == len([line for line in lines if "node" in line])
    assert {data["relation"] for _, _, data in there.edges(data=True)} == {"wrote", "livesIn"}
    ages = {data["type"] for _, data in there.nodes(data=True)}
    assert ages == {"person", "post", "city"}
