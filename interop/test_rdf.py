"""RDF texts and the published libraries: what one writes the other reads, and both say the same."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

ox = pytest.importorskip("pyoxigraph", reason="pyoxigraph is not installed")
rdflib = pytest.importorskip("rdflib", reason="rdflib is not installed")

from rdflib.compare import isomorphic  # noqa: E402

from command import Isomorph  # noqa: E402

# By default it writes "05" as "5": another literal.
rdflib.NORMALIZE_LITERALS = False

FORMATS = {
    "nt": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "ttl": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "rdf": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
}
RDFLIB = {"nt": "nt11", "nq": "nquads", "ttl": "turtle", "trig": "trig", "rdf": "xml", "jsonld": "json-ld"}
GRAPHS = {"nq", "trig", "jsonld"}
XSD = "http://www.w3.org/2001/XMLSchema#"


def quads(seed: int, graphs: bool) -> list[ox.Quad]:
    """Random quads: every kind of term that RDF 1.1 has, and texts that need escapes."""
    pick = random.Random(seed)
    iris = [ox.NamedNode(f"http://example.org/{name}") for name in ["a", "b#c", "d/e", "é", "f?g=1&h=2", "i.j-k"]]
    nodes = [*iris, *(ox.BlankNode(f"n{number}") for number in range(4))]
    texts = ["", "plain", "a\"b\\c", "tab\tline\nend", "<&>", "漢字 😀", "  spaces  ", "]]>"]
    literals = [
        *(ox.Literal(text) for text in texts),
        ox.Literal("chat", language="fr"),
        ox.Literal("colour", language="en-gb"),
        *(ox.Literal(text, datatype=ox.NamedNode(XSD + name)) for text, name in
          [("05", "integer"), ("1.50", "decimal"), ("true", "boolean"), ("1E3", "double"), ("2020-01-01", "date")]),
    ]
    predicates = [ox.NamedNode(f"http://example.org/p/{name}") for name in ["knows", "name", "x1", "é"]]
    names = [ox.DefaultGraph(), ox.NamedNode("http://example.org/g"), ox.BlankNode("g0")] if graphs else [ox.DefaultGraph()]
    found = {
        ox.Quad(pick.choice(nodes), pick.choice(predicates), pick.choice(nodes + literals), pick.choice(names))
        for _ in range(60)
    }
    return sorted(found, key=str)


def canonical(found: object) -> set[str]:
    """The lines of a graph with canonical labels."""
    dataset = ox.Dataset(found)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return {str(quad) for quad in dataset}


def write(path: Path, kind: str, all_quads: list[ox.Quad]) -> Path:
    ox.serialize(all_quads if kind in GRAPHS else [quad.triple for quad in all_quads], str(path), FORMATS[kind])
    return path


@pytest.mark.parametrize("source, target", list(itertools.product(FORMATS, FORMATS)))
def test_texts_mean_the_same_to_pyoxigraph(isomorph: Isomorph, tmp_path: Path, source: str, target: str) -> None:
    graphs = source in GRAPHS and target in GRAPHS
    for seed in range(2):
        written = quads(seed, graphs)
        there = write(tmp_path / f"{seed}.{source}", source, written)
        made = tmp_path / f"made{seed}.{target}"
        isomorph.run("convert", there, made)
        read = list(ox.parse(path=str(made), format=FORMATS[target]))
        assert canonical(read) == canonical(written)


@pytest.mark.parametrize("kind", list(FORMATS))
def test_texts_mean_the_same_to_rdflib(isomorph: Isomorph, tmp_path: Path, kind: str) -> None:
    # It writes numbers in forms of its own.
    numbers = {XSD + name for name in ["integer", "decimal", "double"]}
    written = [
        quad
        for quad in quads(7, False)
        if not (isinstance(quad.object, ox.Literal) and quad.object.datatype.value in numbers)
    ]
    there = write(tmp_path / "there.nt", "nt", written)
    made = isomorph.convert(there, tmp_path / f"made.{kind}")
    dataset = rdflib.Dataset()
    graph = dataset.default_graph
    (dataset if kind in GRAPHS else graph).parse(str(made), format=RDFLIB[kind])
    expected = rdflib.Graph(bind_namespaces="none").parse(str(there), format="nt11")
    assert isomorphic(graph, expected)
    if kind == "jsonld":
        return  # Its writer of JSON-LD leaves statements about blank nodes out.
    back = tmp_path / f"back.{kind}"
    (dataset if kind in GRAPHS else graph).serialize(str(back), format=RDFLIB[kind])
    isomorph.run("diff", there, back, "--rdfc")


def test_canonical_labels_are_those_of_pyoxigraph(isomorph: Isomorph, tmp_path: Path) -> None:
    """The digest with canonical labels is the digest of what pyoxigraph makes canonical."""
    for seed in range(20):
        written = quads(100 + seed, True)
        there = write(tmp_path / f"{seed}.nq", "nq", written)
        dataset = ox.Dataset(written)
        dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
        named = write(tmp_path / f"{seed}.canonical.nq", "nq", sorted(dataset, key=str))
        assert isomorph.json("digest", there, "--rdfc")["content"] == isomorph.json("digest", named)["content"]


def test_triple_terms_go_through_every_syntax_that_has_them(isomorph: Isomorph, tmp_path: Path) -> None:
    text = '<urn:r> <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <urn:a> <urn:b> "c"@en--ltr )>> .\n'
    (tmp_path / "a.nq").write_text(text)
    for kind in ["nt", "ttl", "trig", "rdf"]:
        made = tmp_path / f"made.{kind}"
        isomorph.run("convert", tmp_path / "a.nq", made)
        read = list(ox.parse(path=str(made), format=FORMATS[kind]))
        assert canonical(read) == canonical(ox.parse(input=text, format=ox.RdfFormat.N_QUADS))
