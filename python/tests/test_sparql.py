"""SPARQL over graphs."""

from __future__ import annotations

import datetime
import decimal
import pickle
from pathlib import Path

import pyarrow as pa
import pytest

import isomorph

XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"PREFIX e: <http://e/> PREFIX xsd: <{XSD}> "


@pytest.fixture
def graph(tmp_path: Path) -> isomorph.Graph:
    text = """
        @prefix e: <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        e:a e:n 1 ; e:x 1.5e0 ; e:d 1.50 ; e:b true ; e:t "one" ; e:day "2024-02-29"^^xsd:date ;
            e:at "2024-02-29T12:00:00.5+02:00"^^xsd:dateTime ; e:knows e:b ; e:any e:b .
        e:b e:n "18446744073709551615"^^xsd:integer ; e:x "INF"^^xsd:double ; e:d -20.125 ; e:b "0"^^xsd:boolean ; e:t "" ;
            e:day "1582-01-01"^^xsd:date ; e:at "1600-01-01T00:00:00Z"^^xsd:dateTime ; e:knows e:a ; e:any "b"@en .
    """
    path = tmp_path / "graph.ttl"
    path.write_text(text)
    return isomorph.open(path)


def column(graph: isomorph.Graph, name: str, **options: bool) -> tuple[str, list[object]]:
    answer = graph.sparql(f"{PREFIXES} SELECT ?v {{ ?s e:{name} ?v }} ORDER BY ?s", **options)
    assert isinstance(answer, isomorph.Table)
    table = answer.to_arrow()
    return str(table.schema.field("v").type), table["v"].to_pylist()


def test_a_column_has_the_type_of_its_terms(graph: isomorph.Graph) -> None:
    utc = datetime.timezone.utc
    assert column(graph, "n") == ("uint64", [1, 18446744073709551615])
    assert column(graph, "x") == ("double", [1.5, float("inf")])
    assert column(graph, "d") == ("decimal128(5, 3)", [decimal.Decimal("1.500"), decimal.Decimal("-20.125")])
    assert column(graph, "b") == ("bool", [True, False])
    assert column(graph, "t") == ("string", ["one", ""])
    assert column(graph, "day") == ("date32[day]", [datetime.date(2024, 2, 29), datetime.date(1582, 1, 1)])
    first = datetime.datetime(2024, 2, 29, 10, 0, 0, 500000, tzinfo=utc)
    assert column(graph, "at") == ("timestamp[us, tz=UTC]", [first, datetime.datetime(1600, 1, 1, tzinfo=utc)])
    assert column(graph, "knows") == ("string", ["http://e/b", "http://e/a"])


def test_terms_of_several_kinds_are_not_mixed_up(graph: isomorph.Graph) -> None:
    assert column(graph, "any") == ("string", ["<http://e/b>", '"b"@en'])
    assert column(graph, "t", terms=True) == ("string", ['"one"', '""'])
    assert column(graph, "b", terms=True) == ("string", [f'"true"^^<{XSD}boolean>', f'"0"^^<{XSD}boolean>'])
    assert column(graph, "none") == ("string", [])


def test_what_is_not_bound_is_null(graph: isomorph.Graph) -> None:
    answer = graph.sparql(PREFIXES + "SELECT ?s ?v ?w { ?s e:n ?n OPTIONAL { ?s e:any ?v FILTER isIRI(?v) } } ORDER BY ?s")
    assert isinstance(answer, isomorph.Table)
    assert answer.to_arrow().to_pydict() == {"s": ["http://e/a", "http://e/b"], "v": ["http://e/b", None], "w": [None, None]}


def test_the_forms_of_a_query(graph: isomorph.Graph) -> None:
    assert graph.sparql(PREFIXES + "ASK { e:a e:knows e:b }") is True
    assert graph.sparql(PREFIXES + "ASK { e:a e:knows e:a }") is False
    built = graph.sparql(PREFIXES + 'CONSTRUCT { ?s e:is "x" } { ?s e:n 1 }')
    assert isinstance(built, isomorph.Table)
    assert built.to_arrow().to_pylist() == [{"subject": "<http://e/a>", "predicate": "<http://e/is>", "object": '"x"'}]
    counted = graph.sparql("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
    assert isinstance(counted, isomorph.Table)
    assert counted.to_arrow().to_pydict() == {"n": [18]}
    assert counted.filter("n > 17").count() == 1 and counted.filter("n > 18").count() == 0
    assert pickle.loads(pickle.dumps(counted)).to_arrow().to_pydict() == {"n": [18]}


def test_values_are_bound(graph: isomorph.Graph) -> None:
    asked = PREFIXES + "SELECT ?s { ?s ?p ?value }"
    for value, expected in [
        ("http://e/b", ["http://e/a"] * 2),
        (isomorph.Literal("one"), ["http://e/a"]),
        (isomorph.Literal("b", language="en"), ["http://e/b"]),
        (True, ["http://e/a"]),
        (decimal.Decimal("1.50"), ["http://e/a"]),
        (datetime.date(2024, 2, 29), ["http://e/a"]),
        (isomorph.Literal('" } { ?s ?p ?o } #\\'), []),
        ("http://e/> ?o . ?a ?b <http://e/b", None),
    ]:
        if expected is None:
            with pytest.raises(isomorph.Error):
                graph.sparql(asked, value=value)
            continue
        answer = graph.sparql(asked, value=value)
        assert isinstance(answer, isomorph.Table)
        assert answer.to_arrow()["s"].to_pylist() == expected, value
    with pytest.raises(isomorph.UsageError, match="not an IRI"):
        graph.sparql(asked, value="one")


def test_wrong_queries_say_where(graph: isomorph.Graph) -> None:
    with pytest.raises(isomorph.Error, match="line 1|1:"):
        graph.sparql("SELECT ?s WHERE { ?s ?p }")
    with pytest.raises(isomorph.UsageError, match="timeout"):
        graph.sparql("ASK {}", timeout=-1.0)
    with pytest.raises(isomorph.CancelledError):
        # 18 triples to the twelfth: no machine counts them within the time.
        product = " . ".join(f"?s{i} ?p{i} ?o{i}" for i in range(12))
        graph.sparql(f"SELECT (COUNT(*) AS ?n) {{ {product} }}", timeout=0.05)


def test_a_property_graph_answers_as_its_tables_do(social: Path) -> None:
    graph = isomorph.open(social)
    people = graph.nodes("person").to_arrow()
    asked = "SELECT ?p ?name ?day { ?p a g:person ; g:firstName ?name ; g:birthday ?day }"
    answer = graph.sparql(asked, prefixes={"g": "urn:x-isomorph:"})
    assert isinstance(answer, isomorph.Table)
    found = answer.to_arrow()
    rows = zip(people["id"].to_pylist(), people["firstName"].to_pylist(), people["birthday"].to_pylist())
    assert pa.types.is_date32(found.schema.field("day").type)
    assert sorted(found.to_pylist(), key=str) == sorted(({"p": f"urn:x-isomorph:person/{i}", "name": n, "day": d} for i, n, d in rows), key=str)
