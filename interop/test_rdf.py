"""RDF texts and the published libraries: each reads what the other writes, and both have the same content."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

ox = pytest.importorskip("pyoxigraph", reason="pyoxigraph is not installed")
rdflib = pytest.importorskip("rdflib", reason="rdflib is not installed")

from rdflib.compare import isomorphic  # noqa: E402

from command import Isomorph  # noqa: E402

# By default it writes "05" as "5": a different literal.
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
    """Random quads: every kind of term of RDF 1.1, and texts that need escapes."""
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
    # It writes numbers in its own canonical forms.
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
    """The digest with canonical labels equals the digest of the canonical form that pyoxigraph makes."""
    for seed in range(20):
        written = quads(100 + seed, True)
        there = write(tmp_path / f"{seed}.nq", "nq", written)
        dataset = ox.Dataset(written)
        dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
        named = write(tmp_path / f"{seed}.canonical.nq", "nq", sorted(dataset, key=str))
        assert isomorph.json("digest", there, "--rdfc")["content"] == isomorph.json("digest", named)["content"]


def quads_of_today(seed: int, syntaxes: set[str]) -> list[ox.Quad]:
    """Random quads with the additions of RDF 1.2, as far as all of these syntaxes have them: texts with a direction, triples as objects."""
    pick = random.Random(seed)
    directed = [
        ox.Literal("chat", language="fr", direction=ox.BaseDirection.LTR),
        ox.Literal("\u0634\u0627\u064a", language="ar", direction=ox.BaseDirection.RTL),
    ]
    found = [
        ox.Quad(quad.subject, quad.predicate, pick.choice(directed), quad.graph_name) if pick.random() < 0.3 else quad
        for quad in quads(seed, syntaxes <= GRAPHS)
    ]
    if "jsonld" in syntaxes:
        return found
    reifies = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies")
    for number, quad in enumerate(pick.sample(found, 12)):
        triple = quad.triple
        if number % 3 == 0:
            triple = ox.Triple(triple.subject, triple.predicate, triple)
        reifier = ox.BlankNode(f"r{number}") if number % 2 else ox.NamedNode(f"http://example.org/r{number}")
        found.append(ox.Quad(reifier, reifies, triple, quad.graph_name))
    return found


@pytest.mark.parametrize("source, target", list(itertools.product(FORMATS, FORMATS)))
def test_what_rdf_1_2_adds_goes_through_every_syntax_that_has_it(
    isomorph: Isomorph, tmp_path: Path, source: str, target: str
) -> None:
    written = quads_of_today(11, {source, target})
    there = write(tmp_path / f"there.{source}", source, written)
    made = isomorph.convert(there, tmp_path / f"made.{target}")
    assert canonical(ox.parse(path=str(made), format=FORMATS[target])) == canonical(written)


@pytest.mark.parametrize("kind", sorted(GRAPHS))
def test_named_graphs_mean_the_same_to_rdflib(isomorph: Isomorph, tmp_path: Path, kind: str) -> None:
    # No blank nodes, whose names it chooses at random, and no numbers, which it writes in its own forms.
    written = [quad for quad in quads(5, True) if not any(part in str(quad) for part in ["_:", f"<{XSD}"])]
    there = write(tmp_path / "there.nq", "nq", written)
    made = isomorph.convert(there, tmp_path / f"made.{kind}")
    dataset, expected = rdflib.Dataset(), rdflib.Dataset()
    dataset.parse(str(made), format=RDFLIB[kind])
    expected.parse(str(there), format="nquads")
    assert set(dataset.quads()) == set(expected.quads()) and len(written) == len(set(expected.quads())) > 5
    if kind == "jsonld":
        return  # Its writer of JSON-LD gives the default graph a name.
    back = tmp_path / f"back.{kind}"
    expected.serialize(str(back), format=RDFLIB[kind])
    isomorph.run("diff", there, back, "--rdfc")


@pytest.mark.parametrize("kind", ["nt", "nq", "ttl", "trig", "rdf"])
def test_property_graphs_are_rdf_that_libraries_query(isomorph: Isomorph, social: Path, tmp_path: Path, kind: str) -> None:
    made = isomorph.convert(social, tmp_path / f"social.{kind}", "--base", "http://example.org/")
    store = ox.Store()
    store.bulk_load(path=str(made), format=FORMATS[kind])
    counts = isomorph.json("info", social)
    for ty in counts["nodes"]:
        asked = store.query(f"SELECT (COUNT(?n) AS ?c) {{ ?n a <http://example.org/{ty['type']}> }}")
        assert int(next(iter(asked))["c"].value) == ty["count"]
    assert len(store) == len(list(ox.parse(path=str(made), format=FORMATS[kind])))
    isomorph.run("diff", social, made)


def test_property_graphs_are_json_ld_with_statements_about_edges(isomorph: Isomorph, social: Path, tmp_path: Path) -> None:
    """JSON-LD has no triple terms: rdflib and pyoxigraph read the properties of an edge as those of an `rdf:Statement`."""
    made = isomorph.convert(social, tmp_path / "social.jsonld", "--base", "http://example.org/")
    graph = rdflib.Dataset(default_union=True).parse(str(made), format="json-ld")
    store = ox.Store()
    store.bulk_load(path=str(made), format=FORMATS["jsonld"])
    (likes,) = (kind["count"] for kind in isomorph.json("info", social)["edges"] if kind["relation"] == "likes")
    asked = """PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> PREFIX : <http://example.org/>
        SELECT (COUNT(*) AS ?c) { ?s :likes ?o .
          ?e a rdf:Statement ; rdf:subject ?s ; rdf:predicate :likes ; rdf:object ?o ; :weight ?w }"""
    assert int(next(iter(graph.query(asked)))[0]) == int(next(iter(store.query(asked)))["c"].value) == likes > 0
    isomorph.run("diff", social, made)
    # The same for NOCK, whose properties are JSON objects.
    nock = isomorph.convert(social, tmp_path / "social.parq", "--lossy")
    made = isomorph.convert(nock, tmp_path / "nock.jsonld")
    assert len(rdflib.Dataset().parse(str(made), format="json-ld")) > likes
    isomorph.run("diff", nock, made)


TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
CLASSES = [ox.NamedNode(f"http://example.org/{name}") for name in ["Person", "Author", "City"]]


def classed(seed: int, kind: str) -> list[ox.Quad]:
    """Random quads whose nodes have no class, one, or several."""
    pick = random.Random(seed)
    found = quads(seed, kind in GRAPHS)
    nodes = sorted({quad.subject for quad in found}, key=str)
    of_classes = {ox.Quad(node, TYPE, cls) for node in nodes for cls in CLASSES if pick.random() < 0.4}
    return [*found, *sorted(of_classes, key=str)]


@pytest.mark.parametrize("target", ["there.graphar", "there.annnet", "there.parq", "there.deepgnn"])
@pytest.mark.parametrize("kind", ["nq", "ttl", "lake"])
def test_classes_are_node_types_and_come_back(isomorph: Isomorph, tmp_path: Path, kind: str, target: str) -> None:
    source = "nq" if kind == "lake" else kind
    written = classed(31, source)
    there = write(tmp_path / f"a.{source}", source, written)
    if kind == "lake":
        there = isomorph.convert(there, tmp_path / "a.lake")
    names = [] if target.endswith(".parq") else ["--type-names", "http://example.org/Person=person"]
    made = isomorph.convert(there, tmp_path / target, "--node-type-from", "label", *names)
    if target.endswith(".graphar"):
        store = ox.Store()
        store.extend(written)
        asked = store.query("SELECT (COUNT(?n) AS ?c) { ?n a <http://example.org/Person> }")
        of_types = {ty["type"]: ty["count"] for ty in isomorph.json("info", made, "--sidecar", "ignore")["nodes"]}
        assert of_types["person"] == int(next(iter(asked))["c"].value) > 0
    back = isomorph.convert(made, tmp_path / f"back.{source}")
    assert canonical(ox.parse(path=str(back), format=FORMATS[source])) == canonical(written)


def test_broken_pieces_are_skipped_and_nothing_else(isomorph: Isomorph, tmp_path: Path) -> None:
    """Texts of the libraries with broken elements and nodes between their own."""
    written = quads(3, False)
    graph = rdflib.Graph(bind_namespaces="none").parse(str(write(tmp_path / "a.nt", "nt", written)), format="nt11")
    sound = graph.serialize(format="xml")
    places = [at for at in range(len(sound)) if sound.startswith("  <rdf:Description", at)]
    broken = ["<rdf:li/>", "<rdf:Description rdf:about='a b'/>", "<rdf:Description><rdf:value>1</rdf:wrong></rdf:Description>"]
    text = sound
    for place, piece in zip(reversed(places[1:4]), broken, strict=True):
        text = text[:place] + piece + text[place:]
    there = tmp_path / "broken.rdf"
    there.write_text(text, encoding="utf-8")
    isomorph.run("convert", there, tmp_path / "refused.nq", expect=3)
    made = isomorph.convert(there, tmp_path / "made.nq", "--lenient")
    assert canonical(ox.parse(path=str(made), format=ox.RdfFormat.N_QUADS)) == canonical(ox.parse(sound, format=ox.RdfFormat.RDF_XML))
    sound = ox.serialize(written, format=ox.RdfFormat.JSON_LD).decode()
    entries = json.loads(sound)
    for at, piece in [(1, {"@id": 1}), (0, {"http://example.org/p": {"@value": []}})]:
        entries.insert(at, piece)
    there = tmp_path / "broken.jsonld"
    there.write_text(json.dumps(entries), encoding="utf-8")
    error = isomorph.error("convert", there, tmp_path / "refused.nq", expect=3)
    assert error["rule"] == "RDF-SYNTAX"
    made = isomorph.convert(there, tmp_path / "made2.nq", "--lenient")
    assert canonical(ox.parse(path=str(made), format=ox.RdfFormat.N_QUADS)) == canonical(ox.parse(sound, format=ox.RdfFormat.JSON_LD))


def test_a_text_that_is_loaded_twice_has_nodes_of_its_own(isomorph: Isomorph, tmp_path: Path) -> None:
    """Replaces blank nodes, inside triple terms as well; all other terms are kept."""
    written = quads_of_today(13, {"nq"})
    there = write(tmp_path / "there.nq", "nq", written)
    lake = tmp_path / "a.lake"
    isomorph.run("lake", "load", lake, there)
    prefix = isomorph.json("lake", "load", lake, there)["blank_prefix"]
    made = isomorph.convert(lake, tmp_path / "made.nq")

    def renamed(term: object) -> object:
        if isinstance(term, ox.BlankNode):
            return ox.BlankNode(prefix + term.value)
        if isinstance(term, ox.Triple):
            return ox.Triple(*(renamed(part) for part in term))
        return term

    twice = {*written, *(ox.Quad(*(renamed(part) for part in quad)) for quad in written)}
    assert set(ox.parse(path=str(made), format=ox.RdfFormat.N_QUADS)) == twice


PEOPLE = "id,name\n1,Ann\n2,Bo\n3,Zürich 日本\n"
KNOWS = [(1, 2, 2010), (2, 3, 2011), (2, 3, 2012), (3, 3, 2013)]
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def statements(dataset: Any, form: str) -> list[tuple[str, str, str]]:
    """Source, target and `since` of each edge, as a person who knows the form asks for them."""
    base = "http://example.org/"
    subject = {
        "reification": "?e rdf:subject ?s ; rdf:predicate b:edge ; rdf:object ?o . ?e b:since ?since",
        "singleton": "?s ?e ?o . ?e rdf:singletonPropertyOf b:edge . ?e b:since ?since",
        "named-graph": "GRAPH ?e { ?s b:edge ?o } ?e b:since ?since",
    }[form]
    rows = dataset.query(f"PREFIX b: <{base}> PREFIX rdf: <{RDF}> SELECT ?s ?o ?since {{ {subject} }}")
    return sorted(tuple(str(cell) for cell in row) for row in rows)


@pytest.mark.parametrize(
    ("form", "kind"),
    [("reification", "nt"), ("reification", "ttl"), ("reification", "rdf"), ("singleton", "ttl"), ("singleton", "nt"),
     ("named-graph", "nq"), ("named-graph", "trig"), ("drop", "nt"), ("drop", "ttl")],
)
def test_a_property_graph_is_rdf_1_1(isomorph: Isomorph, tmp_path: Path, form: str, kind: str) -> None:
    """rdflib, which refuses RDF 1.2, opens it and finds nodes, edges and properties of edges; so does pyoxigraph."""
    source = tmp_path / "people"
    source.mkdir()
    (source / "nodes.csv").write_text(PEOPLE, encoding="utf-8")
    (source / "edges.csv").write_text("source,target,since\n" + "".join(f"{a},{b},{c}\n" for a, b, c in KNOWS))
    text = tmp_path / f"people.{kind}"
    isomorph.run("convert", source, text, "--rdf", "1.1", "--edge-properties", form, "--base", "http://example.org/")
    dataset = rdflib.Dataset(default_union=False)
    dataset.parse(text, format=RDFLIB[kind])
    edge = rdflib.URIRef("http://example.org/edge")
    plain = {(str(s), str(o)) for s, o in dataset.default_graph.subject_objects(edge)}
    if kind in GRAPHS or form != "named-graph":
        node = "http://example.org/node/"
        assert plain == {(f"{node}{a}", f"{node}{b}") for a, b, _ in KNOWS}
        names = {str(o) for o in dataset.default_graph.objects(None, rdflib.URIRef("http://example.org/name"))}
        assert names == {"Ann", "Bo", "Zürich 日本"}
    if form != "drop":
        expected = sorted((f"{node}{a}", f"{node}{b}", str(c)) for a, b, c in KNOWS)
        assert statements(dataset, form) == expected
        isomorph.run("diff", source, text)
    assert not any(isinstance(quad.object, ox.Triple) for quad in ox.parse(path=str(text), format=FORMATS[kind]))
