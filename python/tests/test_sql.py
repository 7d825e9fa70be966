"""SQL over the tables of graphs."""

from __future__ import annotations

import datetime
import pickle
import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import isomorph


def test_answers_are_those_of_the_tables(social: Path) -> None:
    graph = isomorph.open(social)
    people = graph.nodes("person").to_arrow().to_pylist()
    answer = graph.sql("select gender, count(*) as people from person group by gender order by gender").to_arrow()
    assert answer.to_pydict() == {
        "gender": sorted({row["gender"] for row in people}),
        "people": [count for _, count in sorted(Counter(row["gender"] for row in people).items())],
    }
    lives = {row["source"]: row["target"] for row in graph.edges("livesIn").to_arrow().to_pylist()}
    joined = graph.sql("select p.id, l._target as city from person p join livesIn l on l._source = p.id").to_arrow().to_pylist()
    assert {row["id"]: row["city"] for row in joined} == lives and len(joined) == len(lives)


def test_an_answer_is_a_table(social: Path) -> None:
    graph = isomorph.open(social)
    answer = graph.sql("select id, firstName, birthday from person")
    assert answer.columns == ["id", "firstName", "birthday"] and answer.num_rows is None and answer.count() == 500
    part = answer.filter("id >= 1007 and id < 1100").select("id").limit(3)
    assert part.to_arrow().column_names == ["id"] and part.count() == 3
    assert all(1007 <= row["id"] < 1100 for row in part.to_arrow().to_pylist())
    assert answer.filter("id < 0").to_arrow().num_rows == 0
    again = pickle.loads(pickle.dumps(part))
    assert again.count() == 3
    with pytest.raises(isomorph.UsageError, match="no column"):
        answer.select("name")


def test_values_are_bound(social: Path) -> None:
    graph = isomorph.open(social)
    by_key = graph.sql("select firstName from person where id = $id", id=1007)
    assert by_key.to_arrow().to_pydict() == {"firstName": ["Zo\u00eb"]}
    text = "x' or '1' = '1"
    assert graph.sql("select id from person where firstName = $name", name=text).count() == 0
    day = datetime.date(1995, 1, 1)
    young = sum(row["birthday"] >= day for row in graph.nodes("person").to_arrow().to_pylist())
    assert graph.sql("select id from person where birthday >= $day", day=day).count() == young
    assert graph.sql("select id from person where id = any($ids)", ids=[1007, 1021, None]).count() == 2
    assert graph.sql("select id from person where firstName in ($names)", names=["Zo\u00eb", 'a"b']).count() == 12
    assert graph.sql("select id from person where birthday = any($days)", days=[datetime.date(1984, 5, 10), day]).count() >= 1
    assert graph.sql("select id from person where $id is null or id = $id", id=None).count() == 500
    with pytest.raises(isomorph.UsageError, match="has a list inside"):
        graph.sql("select id from person where id = any($ids)", ids=[[1]])
    with pytest.raises(isomorph.UsageError, match="no value"):
        graph.sql("select id from person where id = $id")
    with pytest.raises(isomorph.UsageError, match="parameter id"):
        graph.sql("select id from person where id = $id", id=[1])


def test_wrong_queries_are_errors_before_anything_is_read(social: Path) -> None:
    graph = isomorph.open(social)
    for query in ("selec 1", "select nothing from person", "select 1 from nobody"):
        with pytest.raises(isomorph.UsageError):
            graph.sql(query)
    for query in ("delete from person", "create table t as select 1", "copy person to 'x.csv'"):
        with pytest.raises(isomorph.Error):
            graph.sql(query)
    with pytest.raises(isomorph.Error):
        graph.sql("select 1 / (id - id) from person").to_arrow()


def test_random_groups_are_those_of_python(tmp_path: Path) -> None:
    dice = random.Random(5)
    rows = [{"id": at, "group": dice.choice(["a", "b", None]), "n": dice.choice([None, dice.randrange(-9, 9)])} for at in range(400)]
    path = tmp_path / "graph"
    isomorph.write(path, nodes={"thing": pa.Table.from_pylist(rows)}, to="graphar")
    answer = isomorph.open(path).sql('select "group" as g, count(*) as rows, count(n) as known, sum(n) as total from thing group by "group"')
    found = {row["g"]: (row["rows"], row["known"], row["total"]) for row in answer.to_arrow().to_pylist()}
    for group in ("a", "b", None):
        own = [row["n"] for row in rows if row["group"] == group]
        known = [n for n in own if n is not None]
        assert found.pop(group) == (len(own), len(known), sum(known))
    assert not found
