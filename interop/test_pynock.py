"""pynock reads our output, and we read its output."""

from __future__ import annotations

from pathlib import Path

import pytest

pynock = pytest.importorskip("pynock", reason="pynock is not installed")

import pyarrow.parquet as pq  # noqa: E402

from command import Isomorph  # noqa: E402
from graphs import Edge, Graph, Node, graph_of_rows, people  # noqa: E402


def partition_of(graph: Graph) -> pynock.Partition:
    """The graph as objects of pynock."""
    partition = pynock.Partition(part_id=0)
    for node in graph.nodes:
        made = partition.find_or_create_node(node.name)
        made.label_set, made.prop_map, made.truth = set(node.labels), dict(node.props), node.truth
    for edge in graph.edges:
        source, target = (partition.find_or_create_node(name) for name in (edge.source, edge.target))
        made = partition.create_edge(source, edge.relation, target)
        made.prop_map, made.truth = dict(edge.props), edge.truth
    return partition


def graph_of(partition: pynock.Partition) -> Graph:
    """The content of the objects of pynock. A node without labels is read from a file with one empty label."""
    graph = Graph([], [])
    for node in partition.nodes.values():
        graph.nodes.append(Node(node.name, frozenset(node.label_set - {""}), node.prop_map, node.truth))
        for edges in node.edge_map.values():
            for edge in edges:
                relation, target = partition.edge_rels[edge.rel], partition.nodes[edge.node_id].name
                graph.edges.append(Edge(node.name, relation, target, edge.prop_map, edge.truth))
    return graph


def load(path: Path) -> pynock.Partition:
    """A file, loaded by pynock."""
    partition = pynock.Partition(part_id=0)
    is_csv = path.suffix == ".csv"
    rows = partition.iter_load_csv(path) if is_csv else partition.iter_load_parquet(pq.ParquetFile(path))
    partition.parse_rows(rows)
    return partition


def save(graph: Graph, path: Path, *, sort: bool = False) -> Path:
    """A file, saved by pynock."""
    partition = partition_of(graph)
    if path.suffix == ".csv":
        partition.save_file_csv(path, sort=sort)
    else:
        partition.save_file_parquet(path, sort=sort)
    return path


@pytest.mark.parametrize("name", ["people.parq", "people.csv"])
def test_pynock_reads_what_we_write(isomorph: Isomorph, tmp_path: Path, name: str) -> None:
    source = people().write_parquet(tmp_path / "source.parq")
    ours = isomorph.convert(source, tmp_path / name, "--to", "nock")
    # pynock overwrites the truth of a node with that of an edge to it, so truth is compared on rows below.
    assert graph_of(load(ours)).facts(node_truth=False) == people().facts(node_truth=False)


def test_our_rows_say_the_truth_of_every_node(isomorph: Isomorph, tmp_path: Path) -> None:
    source = people().write_parquet(tmp_path / "source.parq")
    ours = isomorph.convert(source, tmp_path / "people.parq", "--to", "nock")
    assert graph_of_rows(pq.read_table(ours).to_pylist()).facts() == people().facts()


def test_pynock_reads_the_example_converted_from_graphar(isomorph: Isomorph, social: Path, tmp_path: Path) -> None:
    graph = graph_of(load(isomorph.convert(social, tmp_path / "social.parq", "--to", "nock")))
    counts = isomorph.json("info", social)
    assert len(graph.nodes) == sum(kind["count"] for kind in counts["nodes"])
    assert len(graph.edges) == sum(kind["count"] for kind in counts["edges"])
    people_of = [node for node in graph.nodes if "person" in node.labels]
    assert people_of and all("firstName" in node.props for node in people_of)


@pytest.mark.parametrize("name", ["theirs.parq", "theirs.csv"])
@pytest.mark.parametrize("sort", [False, True], ids=["in order", "sorted"])
def test_we_read_what_pynock_writes(isomorph: Isomorph, tmp_path: Path, name: str, sort: bool) -> None:
    theirs = save(people(), tmp_path / name, sort=sort)
    isomorph.validate(theirs)
    plain = people().write_parquet(tmp_path / "plain.parq")
    assert isomorph.content(theirs) == isomorph.content(plain)
    isomorph.run("diff", theirs, plain)


def test_a_change_made_with_pynock_is_found(isomorph: Isomorph, tmp_path: Path) -> None:
    changed = people()
    changed.edges[0].props["since"] = 1944
    before = save(people(), tmp_path / "before.parq")
    after = save(changed, tmp_path / "after.parq")
    assert isomorph.content(before) != isomorph.content(after)
    isomorph.run("diff", before, after, expect=1)


def test_a_file_of_ours_survives_pynock(isomorph: Isomorph, tmp_path: Path) -> None:
    graph = people()
    for thing in [*graph.nodes, *graph.edges]:
        thing.truth = 1.0
    source = graph.write_parquet(tmp_path / "source.parq")
    ours = isomorph.convert(source, tmp_path / "ours.parq", "--to", "nock")
    again = tmp_path / "again.parq"
    load(ours).save_file_parquet(again)
    assert isomorph.content(again) == isomorph.content(source)


@pytest.mark.parametrize("name", ["nodes.parq", "nodes.csv"])
def test_a_file_of_nodes_only_is_read(isomorph: Isomorph, tmp_path: Path, name: str) -> None:
    graph = Graph(people().nodes, [])
    theirs = save(graph, tmp_path / name)
    isomorph.validate(theirs)
    assert isomorph.content(theirs) == isomorph.content(graph.write_parquet(tmp_path / "plain.parq"))
    assert graph_of(load(isomorph.convert(theirs, tmp_path / "ours.parq", "--to", "nock"))).facts() == graph.facts()


def test_an_empty_file_is_an_empty_graph(isomorph: Isomorph, tmp_path: Path) -> None:
    theirs = save(Graph([], []), tmp_path / "empty.parq")
    ours = isomorph.convert(theirs, tmp_path / "ours.parq", "--to", "nock")
    assert pq.read_table(ours).num_rows == 0
    assert load(ours).nodes == {}


def test_partitions_of_pynock_are_one_graph(isomorph: Isomorph, tmp_path: Path) -> None:
    graph = people()
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(2):
        own = {node.name for at, node in enumerate(graph.nodes) if at % 2 == number}
        edges = [edge for edge in graph.edges if edge.source in own]
        part = partition_of(Graph([node for node in graph.nodes if node.name in own], edges))
        for node in part.nodes.values():
            node.shadow = -1 if node.name in own else 1 - number
        part.save_file_parquet(folder / f"part_{number}.parq")
    assert isomorph.content(folder) == isomorph.content(graph.write_parquet(tmp_path / "whole.parq"))
    whole = isomorph.convert(folder, tmp_path / "ours.parq", "--to", "nock")
    assert graph_of(load(whole)).facts(node_truth=False) == graph.facts(node_truth=False)
