"""RDF in NOCK in the form of pynock: we read its output, it reads ours, and both have the same content."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

pynock = pytest.importorskip("pynock", reason="pynock is not installed")
rdflib = pytest.importorskip("rdflib", reason="rdflib is not installed")

import pyarrow.parquet as pq  # noqa: E402

from command import Isomorph  # noqa: E402

# By default it writes "05" as "5": a different literal.
rdflib.NORMALIZE_LITERALS = False

EX = "http://example.org/"
BASE = "http://base.example/"
# No blank nodes: pynock chooses their names at random. Each text belongs to one term, because pynock treats equal texts as one node.
PEOPLE = f"""
@prefix ex: <{EX}> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:ann a ex:Person , ex:Author ; ex:name "Ann" ; ex:age 41 ; ex:born "1983-01-02"^^xsd:date ; ex:knows ex:bob , ex:ann .
ex:bob a ex:Person ; ex:name "Bob"@en , "Bobby" ; ex:knows ex:ann .
"""
IRIS = f"@prefix ex: <{EX}> . ex:ann a ex:Person ; ex:knows ex:bob , ex:ann . ex:bob ex:likes ex:ann ."

Rows = tuple[set[str], Counter]


def told(partition: pynock.Partition) -> Rows:
    """Names of nodes, and edges with their relations."""
    edges: Counter = Counter()
    for node in partition.nodes.values():
        for edge in itertools.chain.from_iterable(node.edge_map.values()):
            edges[node.name, partition.edge_rels[edge.rel], partition.nodes[edge.node_id].name] += 1
    return {node.name for node in partition.nodes.values()}, edges


def of_rdf(path: Path) -> pynock.Partition:
    """A text, loaded by pynock."""
    partition = pynock.Partition(part_id=0)
    partition.parse_rows(partition.iter_load_rdf(path, "ttl"))
    return partition


def of_nock(path: Path) -> pynock.Partition:
    """A file, loaded by pynock."""
    partition = pynock.Partition(part_id=0)
    is_csv = path.suffix == ".csv"
    partition.parse_rows(partition.iter_load_csv(path) if is_csv else partition.iter_load_parquet(pq.ParquetFile(path)))
    return partition


def save(partition: pynock.Partition, path: Path) -> Path:
    """A file, saved by pynock."""
    partition.save_file_csv(path) if path.suffix == ".csv" else partition.save_file_parquet(path)
    return path


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["ours.parq", "ours.csv"])
def test_rdf_becomes_the_nodes_and_edges_that_pynock_makes_of_it(isomorph: Isomorph, tmp_path: Path, name: str) -> None:
    there = write(tmp_path / "people.ttl", PEOPLE)
    ours = isomorph.convert(there, tmp_path / name, "--rdf-mode", "pynock")
    isomorph.validate(ours)
    loaded = of_nock(ours)
    assert told(loaded) == told(of_rdf(there))
    assert all(node.is_rdf and not node.prop_map for node in loaded.nodes.values())


@pytest.mark.parametrize("name", ["theirs.parq", "theirs.csv"])
def test_what_pynock_made_of_rdf_becomes_the_triples_that_it_exports(isomorph: Isomorph, tmp_path: Path, name: str) -> None:
    partition = of_rdf(write(tmp_path / "people.ttl", PEOPLE))
    theirs = save(partition, tmp_path / name)
    exported = tmp_path / "exported.nt"
    partition.save_file_rdf(exported, rdf_format="nt")
    # It exports texts of literals as relative IRIs.
    expected = {
        tuple(term if ":" in term else BASE + term for term in line.removesuffix(" .").removeprefix("<").removesuffix(">").split("> <"))
        for line in exported.read_text().splitlines()
        if line
    }
    ours = isomorph.convert(theirs, tmp_path / "ours.nt", "--rdf-mode", "pynock", "--base", BASE)
    found = {tuple(map(str, triple)) for triple in rdflib.Graph().parse(str(ours), format="nt11")}
    assert found == expected


@pytest.mark.parametrize("labels", [[], ["--labels-from", "rdf:type"]], ids=["classes are nodes", "classes are labels"])
@pytest.mark.parametrize("name", ["rich.parq", "rich.csv"])
def test_rich_files_go_through_pynock_and_are_the_same_rdf(
    isomorph: Isomorph, tmp_path: Path, name: str, labels: list[str]
) -> None:
    there = write(tmp_path / "people.ttl", PEOPLE)
    rich = isomorph.convert(there, tmp_path / name, "--rdf-mode", "rich", *labels)
    loaded = of_nock(rich)
    ann = loaded.nodes[loaded.node_names[EX + "ann"]]
    assert ann.prop_map[EX + "age"] == 41 and ann.prop_map[EX + "name"] == "Ann"
    assert ann.prop_map[EX + "born"] == {"@value": "1983-01-02", "@type": "http://www.w3.org/2001/XMLSchema#date"}
    assert ann.label_set - {""} == ({EX + "Person", EX + "Author"} if labels else set())
    # It writes no sidecar, and needs none: names, members and labels define the RDF.
    again = save(loaded, tmp_path / f"again.{name}")
    back = isomorph.convert(again, tmp_path / "back.nq", "--rdf-mode", "rich")
    isomorph.run("diff", there, back, "--sidecar", "ignore")


@pytest.mark.parametrize("mode", ["rich", "pynock"])
def test_graphs_of_iris_alone_are_the_same_in_both_modes(isomorph: Isomorph, tmp_path: Path, mode: str) -> None:
    there = write(tmp_path / "iris.ttl", IRIS)
    theirs = save(of_rdf(there), tmp_path / "theirs.parq")
    back = isomorph.convert(theirs, tmp_path / "back.nt", "--rdf-mode", mode)
    isomorph.run("diff", there, back, "--sidecar", "ignore")
