"""Random SPARQL over random graphs: the answers are those of pyoxigraph on the same N-Quads.

100 queries; ISOMORPH_SPARQL_QUERIES states another number.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

ox = pytest.importorskip("pyoxigraph", reason="pyoxigraph is not installed")

from command import Isomorph  # noqa: E402

QUERIES = int(os.environ.get("ISOMORPH_SPARQL_QUERIES", "100"))
XSD = "http://www.w3.org/2001/XMLSchema#"
NODES = [f"<urn:n{number}>" for number in range(6)]
PREDICATES = [f"<urn:p{number}>" for number in range(4)]
GRAPHS = ["<urn:g0>", "<urn:g1>"]
# Only in canonical spelling: pyoxigraph stores values, isomorph spellings.
LITERALS = [
    '"a"', '"b"@en', '"b"@de', '"x\\ny"',
    *(f'"{text}"^^<{XSD}{name}>' for text, name in
      [("1", "integer"), ("2", "integer"), ("-3", "integer"), ("1.5", "decimal"), ("true", "boolean"),
       ("2020-01-01T00:00:00Z", "dateTime"), ("2020-02-01", "date"), ("PT1H", "dayTimeDuration"), ("2020", "gYear")]),
]
QUOTED = ["<<( <urn:n0> <urn:p0> <urn:n1> )>>", '<<( <urn:n2> <urn:p1> "b"@en )>>']
VARIABLES = ["?a", "?b", "?c"]


@pytest.fixture(scope="module")
def asks(isomorph: Isomorph) -> Isomorph:
    """The command, if it was built with the query engine."""
    done = subprocess.run([str(isomorph.binary), "sparql", "-", "ASK {}", "--from", "rdf", "--syntax", "nt"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if "without the query engine" in done.stderr:
        pytest.skip("the command has no feature `query`")
    return isomorph


def graph(pick: random.Random) -> str:
    lines = set()
    for _ in range(pick.randint(5, 40)):
        of = pick.choice([NODES, NODES, NODES, LITERALS, LITERALS, QUOTED])
        name = pick.choice(["", "", *GRAPHS])
        lines.add(f"{pick.choice(NODES)} {pick.choice(PREDICATES)} {pick.choice(of)} {name} .\n")
    return "".join(sorted(lines))


def triple(pick: random.Random) -> str:
    subject = pick.choice([*VARIABLES, *VARIABLES, *NODES])
    thing = pick.choice([*VARIABLES, *VARIABLES, *NODES, *LITERALS, "<<( ?a ?p ?b )>>"])
    one, two = pick.choice(PREDICATES), pick.choice(PREDICATES)
    predicate = pick.choice([one, one, one, one, "?p", f"{one}/{two}", f"({one}|^{two})", f"{one}+", f"({one}/{two}?)*", f"!({one}|^{two})"])
    return f"{subject} {predicate} {thing} . "


def condition(pick: random.Random) -> str:
    left, right = pick.choice(VARIABLES), pick.choice(VARIABLES)
    return pick.choice([
        f"{left} = {right}", f"{left} < 2", f"BOUND({left})", f'LANG({left}) = "en"', f"isTriple({left})",
        f"EXISTS {{ {left} {pick.choice(PREDICATES)} ?z }}", f"NOT EXISTS {{ ?z ?y {left} }}",
        f'REGEX(STR({left}), "n[0-3]$")', f"{left} IN ({pick.choice(NODES)}, 1)",
    ])


def group(pick: random.Random, depth: int) -> str:
    text = "{ " + "".join(triple(pick) for _ in range(pick.randint(1, 2)))
    for _ in range(pick.randint(0, 2) if depth else 0):
        inner = group(pick, depth - 1)
        text += pick.choice([
            f"OPTIONAL {inner} ", f"{inner} UNION {group(pick, depth - 1)} ", f"MINUS {inner} ", f"FILTER({condition(pick)}) ",
            f"GRAPH {pick.choice(['?g', *GRAPHS])} {inner} ", f"VALUES ?a {{ {pick.choice(NODES)} {pick.choice(NODES)} }} ",
            f"BIND(STR({pick.choice(VARIABLES)}) AS ?e{pick.randint(0, 10**9)}) ",
            f"{{ SELECT ?a (COUNT(*) AS ?n{pick.randint(0, 10**9)}) WHERE {inner} GROUP BY ?a }} ",
        ])
    return text + "} "


def query(pick: random.Random) -> str:
    body = group(pick, 2)
    return pick.choice([
        f"SELECT * WHERE {body}", f"SELECT * WHERE {body}", f"ASK {body}",
        f"SELECT DISTINCT ?a ?b WHERE {body} ORDER BY ?a ?b", f"SELECT ?a ?b FROM <urn:g0> FROM <urn:g1> WHERE {body}",
        f"SELECT ?a (COUNT(DISTINCT ?b) AS ?n) (SUM(?c) AS ?s) WHERE {body} GROUP BY ?a HAVING(COUNT(*) > 1)",
        f"CONSTRUCT {{ ?a <urn:made> ?b . ?b ?p ?c }} WHERE {body}", f"DESCRIBE ?a WHERE {body}",
    ])


def of_json(text: str) -> object:
    """An answer in the W3C's JSON: what it says, without the order of solutions."""
    document = json.loads(text)
    if "boolean" in document:
        return document["boolean"]
    return sorted(json.dumps(row, sort_keys=True) for row in document["results"]["bindings"])


@pytest.mark.parametrize("seed", range(QUERIES))
def test_answers_are_those_of_pyoxigraph(asks: Isomorph, tmp_path: Path, seed: int) -> None:
    pick = random.Random(seed)
    text, question = graph(pick), query(pick)
    store = ox.Store()
    store.load(input=text.encode(), format=ox.RdfFormat.N_QUADS)
    try:
        expected = store.query(question)
    except SyntaxError:
        # A variable may be assigned twice.
        (tmp_path / "a.nq").write_text(text)
        asks.error("sparql", tmp_path / "a.nq", question, expect=2)
        return
    places = [tmp_path / "a.nq"]
    places[0].write_text(text)
    if seed % 5 == 0:
        places.append(asks.convert(places[0], tmp_path / "a.lake"))
        places.append(asks.convert(places[0], tmp_path / "a.graphar"))
    is_graph = isinstance(expected, ox.QueryTriples)
    if is_graph:
        wanted: object = sorted({str(one) for one in expected})
    else:
        wanted = of_json(expected.serialize(format=ox.QueryResultsFormat.JSON).decode())
    for place in places:
        if is_graph:
            lines = asks.run("sparql", place, question, "--format", "nt").encode()
            found: object = sorted({str(quad.triple) for quad in ox.parse(lines, format=ox.RdfFormat.N_TRIPLES)})
        else:
            no = 1 if wanted is False else 0
            found = of_json(asks.run("sparql", place, question, "--format", "json", expect=no))
        assert found == wanted, f"{place}\n{question}\n{text}"
