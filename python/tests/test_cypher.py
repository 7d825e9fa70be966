"""openCypher over graphs."""

from __future__ import annotations

import datetime
import json
import pickle
import random
import warnings
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import isomorph


def test_answers_are_those_of_the_tables(social: Path) -> None:
    graph = isomorph.open(social)
    people = {row["id"]: row for row in graph.nodes("person").to_arrow().to_pylist()}
    answer = graph.cypher("MATCH (p:person) RETURN p.id AS id, p.firstName AS name, p.birthday AS day")
    assert isinstance(answer, isomorph.Table) and answer.columns == ["id", "name", "day"]
    found = answer.to_arrow()
    assert [str(found.schema.field(name).type) for name in found.column_names] == ["int64", "string", "date32[day]"]
    assert {row["id"]: (row["name"], row["day"]) for row in found.to_pylist()} == {key: (row["firstName"], row["birthday"]) for key, row in people.items()}
    lives = Counter(row["target"] for row in graph.edges("livesIn").to_arrow().to_pylist())
    cities = graph.cypher("MATCH (:person)-[:livesIn]->(c) RETURN c.name AS city, count(*) AS n").to_arrow().to_pylist()
    assert sorted(row["n"] for row in cities) == sorted(lives.values())
    assert answer.filter("id < 1007").count() == sum(key < 1007 for key in people)
    assert pickle.loads(pickle.dumps(answer)).count() == len(people)


def test_a_column_has_the_type_of_its_values(social: Path) -> None:
    graph = isomorph.open(social)
    query = """UNWIND range(0, 1) AS i RETURN i, i + 0.5 AS f, CASE i WHEN 0 THEN 1 ELSE 2.5 END AS both, i = 0 AS b, [i, 'a'] AS list,
        CASE i WHEN 0 THEN 'x' ELSE 7 END AS mixed, CASE i WHEN 0 THEN 'x' END AS text, null AS nothing, date('2024-02-29') AS d,
        datetime('2024-02-29T12:00:00+02:00') AS at, localdatetime('2024-02-29T12:00:00') AS local, {k: i} AS map"""
    found = graph.cypher(query).to_arrow()
    types = {field.name: str(field.type) for field in found.schema}
    assert types["i"] == "int64" and types["f"] == types["both"] == "double" and types["b"] == "bool" and types["d"] == "date32[day]"
    assert types["at"] == "timestamp[us, tz=UTC]" and types["local"] == "timestamp[us]"
    first, second = found.to_pylist()
    assert (first["both"], second["both"]) == (1.0, 2.5) and (first["text"], second["text"]) == ("x", None)
    assert json.loads(first["list"]) == [0, "a"] and json.loads(second["map"]) == {"k": 1}
    assert (first["mixed"], second["mixed"]) == ('"x"', "7") and first["nothing"] is None
    assert first["at"] == datetime.datetime(2024, 2, 29, 10, tzinfo=datetime.timezone.utc)


def test_values_are_bound(social: Path) -> None:
    graph = isomorph.open(social)
    assert graph.cypher("MATCH (p:person {id: $id}) RETURN p.firstName AS name", id=1007).to_arrow().to_pydict() == {"name": ["Zo\u00eb"]}
    text = "x' OR true //"
    assert graph.cypher("MATCH (p:person) WHERE p.firstName = $name RETURN p.id", name=text).count() == 0
    sent: dict[str, object] = {"l": [1, None, {"k": "\u00e9\""}], "f": 0.1, "t": True, "n": None}
    back = graph.cypher("RETURN $l AS l, $f AS f, $t AS t, $n AS n", **sent).to_arrow().to_pylist()[0]
    assert json.loads(back["l"]) == sent["l"] and back["f"] == 0.1 and back["t"] is True and back["n"] is None
    for wrong in (2**63, float("nan"), object(), {1: 2}, datetime.date(2024, 1, 1)):
        with pytest.raises(isomorph.UsageError, match="parameter x"):
            graph.cypher("RETURN $x", x=wrong)
    with pytest.raises(isomorph.Error):
        graph.cypher("RETURN $x")


def test_wrong_queries_say_what(social: Path) -> None:
    graph = isomorph.open(social)
    for query in ("MATCH (p:person RETURN p", "RETURN q", "CREATE (a)", "MATCH (a) DELETE a"):
        with pytest.raises(isomorph.Error):
            graph.cypher(query)
    with pytest.raises(isomorph.Error):
        graph.cypher("RETURN 1 / 0")
    with pytest.raises(isomorph.Error, match="time limit"):
        graph.cypher("MATCH (a:person)-[:knows*]->(b:person) RETURN count(*)", timeout=0.05)
    with pytest.warns(UserWarning, match="persn"):
        assert graph.cypher("MATCH (p:persn) RETURN p.id").count() == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph.cypher("MATCH (p:person) RETURN count(*)")


def test_random_patterns_are_those_of_python(tmp_path: Path) -> None:
    dice = random.Random(11)
    nodes = [{"id": at, "n": dice.choice([None, dice.randrange(4)])} for at in range(30)]
    edges = [{"source": dice.randrange(30), "target": dice.randrange(30), "w": dice.randrange(5)} for _ in range(90)]
    isomorph.write(tmp_path / "g", nodes={"thing": pa.Table.from_pylist(nodes)}, edges={("thing", "to", "thing"): pa.Table.from_pylist(edges)}, to="graphar")
    graph, number = isomorph.open(tmp_path / "g"), {row["id"]: row["n"] for row in nodes}
    for _ in range(20):
        low, wanted = dice.randrange(5), dice.randrange(4)
        query = "MATCH (a:thing)-[x:to]->(b:thing)-[y:to]->(c:thing) WHERE x.w >= $low AND c.n = $wanted RETURN a.id AS a, b.id AS b, c.id AS c"
        found = Counter(tuple(row.values()) for row in graph.cypher(query, low=low, wanted=wanted).to_arrow().to_pylist())
        pairs = [(x, y) for x in range(90) for y in range(90) if x != y and edges[x]["target"] == edges[y]["source"]]
        kept = [(edges[x]["source"], edges[x]["target"], edges[y]["target"]) for x, y in pairs if edges[x]["w"] >= low and number[edges[y]["target"]] == wanted]
        assert found == Counter(kept)
