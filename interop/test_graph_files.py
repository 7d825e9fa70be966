"""Node-link JSON, GEXF and GML: NetworkX and igraph read what we write, and we read what they write."""

from __future__ import annotations

import html
import json
import math
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph
from test_graph_tools import KINDS, facts, graph

nx = pytest.importorskip("networkx", reason="networkx is not installed")


def through(isomorph: Isomorph, tmp_path: Path, first: str, last: str) -> Path:
    """Through another format and back, and read without what lies beside it."""
    isomorph.convert(tmp_path / first, tmp_path / "b.parq")
    isomorph.convert(tmp_path / "b.parq", tmp_path / last, "--to", last.split(".")[1])
    isomorph.run("validate", tmp_path / last)
    isomorph.run("diff", tmp_path / first, tmp_path / last)
    return tmp_path / last


def without_keys(made: Any) -> Any:
    """The same without what other formats call the keys of parallel edges."""
    for *_, data in made.edges(data=True):
        data.pop("xkey", None)
        data.pop("key", None)
    return made


@KINDS
@pytest.mark.parametrize("edges", ["links", "edges"])
def test_node_link_json(isomorph: Isomorph, tmp_path: Path, edges: str, directed: bool, multi: bool) -> None:
    made = graph(5, directed, multi)
    made.graph["title"] = "a \"graph\""
    made.nodes["n1"]["list"] = [1, 2, 3]
    made.nodes["n2"]["nested"] = {"a": [1, None, "x"], "b": {}}
    made.nodes["n3"]["mixed"], made.nodes["n4"]["mixed"] = 1, "1"
    made.nodes["n5"]["large"] = 2**70
    made.nodes["n6"]["limits"], made.nodes["n7"]["limits"] = -math.inf, 0.1
    (tmp_path / "a.json").write_text(json.dumps(nx.node_link_data(made, edges=edges)))
    back = through(isomorph, tmp_path, "a.json", "c.nodelink.json")
    assert facts(without_keys(nx.node_link_graph(json.loads(back.read_text()), edges=edges, multigraph=multi))) == facts(made)
    # Within the format all is as it was.
    isomorph.convert(tmp_path / "a.json", tmp_path / "d.nodelink.json")
    assert json.loads((tmp_path / "d.nodelink.json").read_text()) == json.loads((tmp_path / "a.json").read_text())


@KINDS
@pytest.mark.parametrize("seed", range(2))
def test_gexf(isomorph: Isomorph, tmp_path: Path, seed: int, directed: bool, multi: bool) -> None:
    made = graph(seed, directed, multi)
    nx.write_gexf(made, tmp_path / "a.gexf")
    back = through(isomorph, tmp_path, "a.gexf", "c.gexf")
    assert facts(nx.read_gexf(back)) == facts(nx.read_gexf(tmp_path / "a.gexf"))
    isomorph.convert(tmp_path / "a.gexf", tmp_path / "d.gexf")
    assert facts(nx.read_gexf(tmp_path / "d.gexf")) == facts(nx.read_gexf(tmp_path / "a.gexf"))


def test_gexf_with_times_and_looks(isomorph: Isomorph, tmp_path: Path) -> None:
    made = nx.DiGraph(mode="dynamic")
    made.add_node("a", label="A", viz={"size": 2.5, "color": {"r": 1, "g": 2, "b": 3, "a": 0.5}, "position": {"x": 1.0, "y": 2.0, "z": 0.0}})
    made.add_node("b", label="B", start="2001", end="2005", price=[(1, "2001", "2002"), (2, "2002", "2005")])
    made.add_edge("a", "b", weight=2.0)
    nx.write_gexf(made, tmp_path / "a.gexf")
    isomorph.convert(tmp_path / "a.gexf", tmp_path / "b.gexf")
    left, right = nx.read_gexf(tmp_path / "a.gexf"), nx.read_gexf(tmp_path / "b.gexf")
    assert dict(left.nodes(data=True)) == dict(right.nodes(data=True))
    assert list(left.edges(data=True)) == list(right.edges(data=True))


@pytest.mark.parametrize(
    ("spells", "read"),
    [
        ([("1", "2"), ("3", None)], [("1", "2"), ("3", "None")]),
        ([("1", "2")], [(1.0, 2.0)]),
        ([("2001-01-01", "2002-01-01")], [("2001-01-01", "2002-01-01")]),
    ],
)
def test_spells_of_networkx(isomorph: Isomorph, tmp_path: Path, spells: Any, read: Any) -> None:
    """In GEXF 1.1, NetworkX writes no format of times; in 1.2, it cannot read times without one."""
    made = nx.Graph()
    made.add_node("a", slices=spells)
    made.add_edge("a", "b")
    nx.write_gexf(made, tmp_path / "a.gexf", version="1.1draft")
    isomorph.convert(tmp_path / "a.gexf", tmp_path / "b.gexf")
    assert nx.read_gexf(tmp_path / "b.gexf").nodes["a"]["spells"] == read


@pytest.mark.parametrize("label", [1, 2.5, True, [1, "x"]])
def test_labels_that_are_no_texts(isomorph: Isomorph, tmp_path: Path, label: Any) -> None:
    document = {"directed": True, "nodes": [{"id": "a", "label": label}], "edges": []}
    (tmp_path / "a.json").write_text(json.dumps(document))
    isomorph.convert(tmp_path / "a.json", tmp_path / "b.gexf", "--from", "nodelink")
    assert nx.read_gexf(tmp_path / "b.gexf").nodes["a"]["label"] == json.dumps(label)
    isomorph.run("diff", tmp_path / "a.json", tmp_path / "b.gexf")


@KINDS
@pytest.mark.parametrize("seed", range(2))
def test_gml_of_networkx(isomorph: Isomorph, tmp_path: Path, seed: int, directed: bool, multi: bool) -> None:
    made = graph(seed, directed, multi)
    for _, data in made.nodes(data=True):
        # NetworkX writes these as integers, and larger ones as texts.
        data["ok"], data["age"] = int(data["ok"]), data.get("age", 0) % 1000
    nx.write_gml(made, tmp_path / "a.gml")
    back = through(isomorph, tmp_path, "a.gml", "c.gml")
    assert facts(without_keys(nx.read_gml(back))) == facts(made)
    isomorph.convert(tmp_path / "a.gml", tmp_path / "d.gml")
    assert facts(nx.read_gml(tmp_path / "d.gml")) == facts(made)


@KINDS
def test_gml_of_igraph(isomorph: Isomorph, tmp_path: Path, directed: bool, multi: bool) -> None:
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    made = igraph.Graph.from_networkx(graph(7, directed, multi))
    del made.vs["ok"]
    made.write_gml(str(tmp_path / "a.gml"))
    isomorph.convert(tmp_path / "a.gml", tmp_path / "b.gml")

    def shown(path: Path) -> tuple[Any, ...]:
        graph = igraph.Graph.Read_GML(str(path))
        nodes = [{name: own[name] for name in graph.vs.attributes()} for own in graph.vs]
        edges = [(own.tuple, {name: own[name] for name in graph.es.attributes()}) for own in graph.es]
        # References by number, which NetworkX needs, are left as they are by igraph.
        return graph.is_directed(), html.unescape(repr(nodes)), html.unescape(repr(edges))

    assert shown(tmp_path / "b.gml") == shown(tmp_path / "a.gml")


def test_node_link_json_of_d3(isomorph: Isomorph, tmp_path: Path) -> None:
    text = {"nodes": [{"name": "a", "group": 1}, {"name": "b", "group": 2}], "links": [{"source": 0, "target": 1, "value": 3}]}
    (tmp_path / "miserables.json").write_text(json.dumps(text))
    lines = [json.loads(line) for line in isomorph.run("dump", tmp_path / "miserables.json").splitlines()]
    assert len(lines) >= 3
    isomorph.convert(tmp_path / "miserables.json", tmp_path / "b.nodelink.json")
    back = json.loads((tmp_path / "b.nodelink.json").read_text())
    assert [node["id"] for node in back["nodes"]] == [0, 1]
    assert back["links"] == text["links"]


@pytest.mark.parametrize("ending", ["gexf", "gml", "net", "multiline_adjlist"])
def test_parallel_edges_of_networkx_stay_apart(isomorph: Isomorph, tmp_path: Path, ending: str) -> None:
    made = nx.MultiDiGraph()
    made.add_edge("a", "b", key="x", w=1)
    made.add_edge("a", "b", key="y", w=2)
    (tmp_path / "a.nodelink.json").write_text(json.dumps(nx.node_link_data(made, edges="edges")))
    isomorph.convert(tmp_path / "a.nodelink.json", tmp_path / f"b.{ending}")
    read = {
        "gexf": nx.read_gexf,
        "gml": nx.read_gml,
        "net": nx.read_pajek,
        "multiline_adjlist": lambda path: nx.read_multiline_adjlist(path, create_using=nx.MultiDiGraph),
    }[ending]
    back = read(tmp_path / f"b.{ending}")
    assert sorted((*ends, int(data["w"])) for *ends, data in back.edges(data=True)) == [("a", "b", 1), ("a", "b", 2)]


@pytest.mark.parametrize("ending", ["graphml", "gexf", "gml", "nodelink.json", "net"])
@pytest.mark.parametrize("name", ["key", "networkx_key"])
def test_properties_called_like_keys_merge_no_edges(isomorph: Isomorph, tmp_path: Path, ending: str, name: str) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "nodes.csv").write_text("id\n1\n2\n")
    (tables / "edges.csv").write_text(f"source,target,{name}\n1,2,a\n1,2,a\n1,2,b\n")
    out = tmp_path / f"b.{ending}"
    isomorph.convert(tables, out)
    read = {
        "graphml": nx.read_graphml,
        "gexf": nx.read_gexf,
        "gml": nx.read_gml,
        "nodelink.json": lambda path: nx.node_link_graph(json.loads(path.read_text()), edges="edges"),
        "net": nx.read_pajek,
    }[ending]
    edges = list(read(out).edges(data=True))
    assert sorted(value for *_, data in edges for own, value in data.items() if own.endswith(name)) == ["a", "a", "b"]


def test_gml_of_networkx_with_values_of_several_kinds(isomorph: Isomorph, tmp_path: Path) -> None:
    made = nx.Graph()
    values = [1, "2", "true", "[1]", "hello", ["x"]]
    for at, value in enumerate(values):
        made.add_node(f"n{at}", p=value)
    nx.write_gml(made, tmp_path / "a.gml")
    isomorph.convert(tmp_path / "a.gml", tmp_path / "b.nodelink.json")
    back = json.loads((tmp_path / "b.nodelink.json").read_text())
    assert [node["p"] for node in back["nodes"]] == values


WRONG = {
    "gml": ("graph [ directed 1 {} ]", 'node [ id {} label "n{}" ]', "edge [ source {} target {} ]"),
    "graphml": ('<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">{}</graph></graphml>', '<node id="{}"/>', '<edge source="{}" target="{}"/>'),
}


@pytest.mark.parametrize("form", WRONG)
@pytest.mark.parametrize("rule", ["ID", "END"])
def test_repeated_ids_and_missing_nodes(isomorph: Isomorph, tmp_path: Path, form: str, rule: str) -> None:
    """In GML, both libraries refuse what we refuse. In GraphML they guess, and agree with us about the rest."""
    frame, node, edge = WRONG[form]
    nodes, edges = ([0, 1, 0], [(0, 1)]) if rule == "ID" else ([0, 1], [(0, 1), (1, 7)])
    records = [node.format(id, at) for at, id in enumerate(nodes)] + [edge.format(*ends) for ends in edges]
    path = tmp_path / f"a.{form}"
    path.write_text(frame.format("\n".join(records)))
    assert isomorph.error("digest", path, expect=3)["rule"] == f"{form.upper()}-{rule}"
    if form == "gml":
        with pytest.raises(nx.NetworkXError):
            nx.read_gml(path)
        igraph = pytest.importorskip("igraph", reason="igraph is not installed")
        with pytest.raises(igraph.InternalError):
            igraph.Graph.Read(str(path), format="gml")
    isomorph.run("convert", path, tmp_path / "b.graphml", "--lenient")
    back = nx.read_graphml(tmp_path / "b.graphml")
    assert len(back) == 2 and len(back.edges) == 1
    if form == "graphml":
        guessed = nx.read_graphml(path)
        assert set(back) <= set(guessed) and set(back.edges) <= set(guessed.edges)
