"""Random SQL: `isomorph sql` over a GraphAr graph answers what DuckDB answers over the flat Parquet export of the same graph.

150 questions; ISOMORPH_QUESTIONS asks for more, ISOMORPH_SEED for others.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import random
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph

duckdb = pytest.importorskip("duckdb")

QUESTIONS = int(os.environ.get("ISOMORPH_QUESTIONS", "150"))
SEED = int(os.environ.get("ISOMORPH_SEED", "20"))
PEOPLE = 300

PGQ = """
CREATE EXTERNAL TABLE person (id BIGINT NOT NULL, name VARCHAR, n BIGINT, score DOUBLE, ok BOOLEAN, born DATE)
  STORED AS CSV LOCATION 'person.csv';
CREATE EXTERNAL TABLE city (town VARCHAR NOT NULL, size BIGINT) STORED AS CSV LOCATION 'city.csv';
CREATE EXTERNAL TABLE knows ("source" BIGINT NOT NULL, target BIGINT NOT NULL, weight DOUBLE, kind VARCHAR)
  STORED AS CSV LOCATION 'knows.csv';
CREATE EXTERNAL TABLE lives ("source" BIGINT NOT NULL, target VARCHAR NOT NULL, since DATE)
  STORED AS CSV LOCATION 'lives.csv';
CREATE PROPERTY GRAPH g
  VERTEX TABLES (person KEY (id), city KEY (town))
  EDGE TABLES (
    knows SOURCE KEY ("source") REFERENCES person (id) DESTINATION KEY (target) REFERENCES person (id),
    lives SOURCE KEY ("source") REFERENCES person (id) DESTINATION KEY (target) REFERENCES city (town));
"""

TOWNS = ["Basel", "Bern", "Zürich", "Ulm", "Aix", "a", "A", "Lund"]
NUMBERS = ["-3", "-1", "0", "1", "2", "5", "7", "40", "9223372036854775807"]
FLOATS = ["0.0", "-0.0", "1.5", "-2.25", "'NaN'::double", "'inf'::double", "'-inf'::double", "3", "1e300", "0.1"]
TEXTS = ["'a'", "''", "'b%'", "'Ä'", "'A'", "'a_b'", "'zz'"]
DATES = ["date '1970-01-01'", "date '2001-02-03'", "date '1899-12-31'", "date '2050-01-01'"]


def write(folder: Path, dice: random.Random) -> None:
    """A graph with awkward values."""

    def cell(values: list[Any]) -> str:
        return "" if dice.random() < 0.2 else str(dice.choice(values))

    with open(folder / "person.csv", "w", encoding="utf-8") as out:
        out.write("id,name,n,score,ok,born\n")
        for key in range(PEOPLE):
            name = cell(['"a"', '""', '"b%"', '"Ä"', '"A"', '"a_b"'])
            score = cell(["0.0", "-0.0", "1.5", "-2.25", "NaN", "inf", "-inf", "3.0", "0.1"])
            born = cell(["1970-01-01", "2001-02-03", "1899-12-31", "2001-02-04"])
            out.write(f"{key},{name},{cell(NUMBERS)},{score},{cell(['true', 'false'])},{born}\n")
    with open(folder / "city.csv", "w", encoding="utf-8") as out:
        out.write("town,size\n")
        out.writelines(f"{town},{cell([1, 2, 2, 100])}\n" for town in TOWNS)
    with open(folder / "knows.csv", "w", encoding="utf-8") as out:
        out.write("source,target,weight,kind\n")
        for _ in range(3000):
            target = dice.randrange(40) * dice.randrange(7)
            out.write(f"{dice.randrange(PEOPLE)},{target},{cell(['0.0', '-0.0', '1.5', 'NaN', '2.5'])},{cell(['x', 'y', 'z'])}\n")
    with open(folder / "lives.csv", "w", encoding="utf-8") as out:
        out.write("source,target,since\n")
        for _ in range(400):
            out.write(f"{dice.randrange(PEOPLE)},{dice.choice(TOWNS)},{cell(['1999-01-01', '2005-05-05'])}\n")
    (folder / "graph.pgq").write_text(PGQ, encoding="utf-8")


COLUMNS = {
    "p": [("id", ["7", "0", "299", "300", "-1", "150"]), ("n", NUMBERS), ("score", FLOATS), ("name", TEXTS), ("born", DATES)],
    "k": [("_source", ["7", "0", "299", "-1", "150"]), ("_target", ["7", "0", "1", "12", "35"]), ("weight", FLOATS),
          ("kind", ["'x'", "'y'", "'Z'"])],
    "l": [("_source", ["7", "0", "299"]), ("_target", ["'Basel'", "'a'", "'none'"]), ("since", DATES)],
    "c": [("town", ["'Basel'", "'a'", "'A'"]), ("size", ["1", "2", "100"])],
}


def condition(dice: random.Random, alias: str, depth: int = 2) -> str:
    """A condition on the columns of a table."""
    if depth and dice.random() < 0.35:
        one, other = condition(dice, alias, depth - 1), condition(dice, alias, depth - 1)
        return dice.choice([f"({one} and {other})", f"({one} or {other})", f"not ({one})"])
    column, values = dice.choice(COLUMNS[alias])
    name, value, other = f"{alias}.{column}", dice.choice(values), dice.choice(values)
    forms = [f"{name} {dice.choice(['=', '<>', '<', '<=', '>', '>='])} {value}"] * 4
    forms += [f"{name} is null", f"{name} is not null", f"{name} between {value} and {other}"]
    forms += [f"{name} in ({value}, {other})", f"{name} not in ({value}, {other})"]
    if value.startswith("'") and "::" not in value:
        pattern = dice.choice(["'a%'", "'%b%'", "'_'", "'%'", "''"])
        forms += [f"{name} like {pattern}", f"{name} not like {pattern}", f"length({name}) > 1"]
    forms += [f"{name} is {dice.choice(['', 'not '])}distinct from {value}"] * 2
    if depth and dice.random() < 0.3:
        # How strongly the operators bind.
        return f"({forms[-1]} {dice.choice(['and', 'or'])} {condition(dice, alias, 0)} {dice.choice(['and', 'or'])} {forms[0]})"
    if alias == "p":
        forms += ["p.ok", "not p.ok", "p.ok = true"]
    return dice.choice(forms)


def length(alias: str) -> str:
    """An interval of each row: of those some are written in several ways."""
    ways = ["'1 day'", "'24 hours'", "'36 hours'", "'1 month'", "'30 days'", "'-1 day'", "'720 hours'"]
    cases = " ".join(f"when {at} then interval {way}" for at, way in enumerate(ways))
    return f"(case {alias}.id % 8 {cases} end)"


def of_intervals(dice: random.Random) -> str:
    """A question about intervals, which compare by length. (In DuckDB `least` and `greatest` do not: there the least of 36 hours and a day is 36 hours.)"""
    p, start = condition(dice, "p"), dice.randrange(PEOPLE)
    i, j = length("p"), length("q")
    bound = f"interval '{dice.choice(['1 day', '23 hours', '31 days', '0 days', '1500 minutes'])}'"
    op = dice.choice(["=", "<>", "<", "<=", ">", ">="])
    return dice.choice([
        f"select min(p.id), count(*), max({i}) {op} {bound} as m from person p where {p} group by {i}",
        f"select count(distinct {i}), min({i}) {op} {bound} as m, max({i}) {op} {bound} as n from person p where {p}",
        f"select p.ok, count(distinct {i}), min({i}) {op} {bound} as m from person p where {p} group by p.ok",
        f"select count(*) from (select distinct {i} as i, p.ok from person p where {p}) t",
        f"select p.id, rank() over (order by {i} nulls last) as r, count(*) over (partition by {i}) as c from person p where {p}",
        f"select p.id, max({i}) over (order by p.id rows between 2 preceding and current row) {op} {bound} as m from person p where {p}",
        f"select p.id, q.id as other from person p join person q on {i} = {j} where q.id < 9 and {p}",
        f"select p.id from person p where {i} {dice.choice(['in', 'not in'])} (select {j} from person q where q.id between {start} and {start + 3} and q.id % 8 < 7)",
        f"select p.id, case {i} when {bound} then 1 else 0 end as c, nullif({i}, {bound}) is null as z from person p where {p}",
        f"select p.id from person p where {p} order by {i} nulls last, p.id limit {dice.randrange(1, 20)}",
        f"select count(*), p.ok from person p where {p} group by grouping sets (({i}, p.ok), ({i}), (p.ok))",
        f"select count(*) from (select {i} as i from person p where {p} {dice.choice(['union', 'intersect', 'except'])} select {j} from person q where q.id < {start}) t",
    ])


def of_windows(dice: random.Random) -> str:
    """A question with windows, or groups of several kinds."""
    p = condition(dice, "p")
    by = dice.choice(["partition by p.ok ", "partition by p.name ", ""])
    order = f"{by}order by p.id"
    unit = dice.choice(["rows", "range", "groups"])
    frame = f"{unit} between {dice.choice(['unbounded preceding', '3 preceding', 'current row'])} and {dice.choice(['current row', '2 following', 'unbounded following'])}"
    sets = dice.choice([
        "rollup (p.ok, p.name)", "cube (p.ok, p.name)", "grouping sets ((p.ok), (p.name, p.ok), ())", "grouping sets ((p.name), (p.ok))",
    ])
    value, filtered = dice.choice(["p.n", "p.id", "p.born"]), condition(dice, "p", 0)
    return dice.choice([
        f"select p.id, lag({value}) over ({order}) as a, lead({value}, 2) over ({order}) as b from person p where {p}",
        f"select p.id, first_value({value}) over ({order} {frame}) as a, last_value({value}) over ({order} {frame}) as b from person p where {p}",
        f"select p.id, ntile(3) over ({order}) as a, dense_rank() over ({by}order by p.born nulls first) as b from person p where {p}",
        f"select p.id, percent_rank() over ({by}order by p.n nulls last) as a, cume_dist() over ({by}order by p.n nulls last) as b from person p where {p}",
        f"select p.id, count({value}) over ({order} {frame}) as a, min({value}) over ({order} {frame}) as b, max(p.name) over ({order} {frame}) as c from person p where {p}",
        f"select p.id, sum(p.id) over ({order} {frame}) as a, nth_value({value}, 2) over ({order} {frame}) as b from person p where {p}",
        f"select p.id, sum(p.id) filter (where {filtered}) over ({order}) as a from person p where {p}",
        f"select p.ok, p.name, count(*), sum(p.id), max({value}) from person p where {p} group by {sets}",
        f"select p.ok, p.name, grouping(p.ok) as g, grouping(p.name) as h, count({value}) from person p where {p} group by {sets}",
        f"select p.ok, count(*), count(*) filter (where {filtered}) as f from person p where {p} group by {sets} having count(*) > 2",
        f"select * from (select p.id, row_number() over ({by}order by p.n desc nulls last, p.id) as r from person p where {p}) t where r < 3",
        f"select p.ok, rank() over (order by count(*), p.ok nulls last) as r, count(*) from person p where {p} group by p.ok",
    ])


def question(dice: random.Random) -> str:
    """A question whose rows have no order, or a whole one."""
    kind = dice.randrange(6)
    if kind < 2:
        return of_intervals(dice) if kind else of_windows(dice)
    p, k, l, c = (condition(dice, alias) for alias in "pklc")
    start = dice.randrange(PEOPLE)
    op = dice.choice(["=", "<>", "<", "<=", ">", ">="])
    every, side = dice.choice(["any", "all"]), dice.choice(["left", "right", "full", "inner"])
    # The engine refuses a merged column in WHERE of the other joins.
    merged = "where id > 3" if side in ("right", "full") else ""
    frame = f"rows between {dice.randrange(1, 4)} preceding and {dice.choice(['current row', '1 following'])}"
    some, other = f"(select id, score, n from person p where {p} and id < 40) x", "(select id, score, ok from person where id between 20 and 60) y"
    return dice.choice([
        f"select p.id from person p where p.id {op} {every}(select id from person where id {dice.choice(['<', '>', '='])} {start}) and {p}",
        f"select p.id from person p where p.n {op} {every}(select p.n from person p where {p})",
        f"select p.id from person p where p.score {op} {every}(select score from person where id < {start} and score is not null)",
        f"select id, n, ok from {some} {side} join {other} using (id)",
        f"select * from {some} {side} join {other} using (id)",
        f"select id, count(*), count(n), count(ok) from {some} {side} join {other} using (id) {merged} group by id",
        f"select id, n, ok from {some} natural {side} join (select id, ok from person where id between 20 and 60) y",
        f"select score, count(*) from {some} {side} join {other} using (score) group by score",
        f"select p.score, p.ok from person p where {p} {dice.choice(['intersect', 'except'])} all select q.score, q.ok from person q where q.id < {start}",
        f"select p.n from person p where {p} {dice.choice(['intersect', 'except'])} all select q.n from person q where q.id < {start}",
        f"select p.id, count(*) over (order by p.id {frame}) as c, sum(p.id) over (order by p.id {frame}) as s, min(p.n) over (order by p.id {frame}) as m from person p where {p}",
        f"select p.id, rank() over (order by p.score nulls last) as r, count(*) over (partition by p.score) as c from person p where {p}",
        f"select p.id, sum(p.score) over (order by p.id {frame}) as s, avg(p.score) over (order by p.id {frame}) as a from person p where p.score in (0.0, 1.5, -2.25, 3.0)",
        f"select p.id, q.id as other from person p join person q on p.score = q.score where q.id < 9 and {p} order by p.id, q.id limit 1000",
        f"select count(distinct p.score), count(distinct p.n) from person p where {p}",
        f"select p.id, case p.score when 0.0 then 'zero' when 1.5 then 'more' else 'other' end as c, nullif(p.score, 0.0) is null as z from person p where {p}",
        f"select p.score, p.id from person p where {p} order by p.score nulls last, p.id desc limit {dice.randrange(1, 20)}",
        f"select p.id from person p where p.score in (select score from person where id < {start}) and {p}",
        f"select p.id, p.name, p.n, p.score, p.ok, p.born from person p where {p}",
        f"select count(*), count(p.n), min(p.n), max(p.born), min(p.name), sum(p.id) from person p where {p}",
        "select count(*), min(id), max(id), count(n), min(born), max(name) from person",
        f"select p.name, p.ok, count(*), sum(p.id) from person p where {p} group by p.name, p.ok having count(*) > 1",
        f"select k._source, k._target, k.weight from knows k where {k}",
        f"select p.id, k._target, k.kind from person p join knows k on k._source = p.id where {p} and {k}",
        f"select p.id, q.id as other from person p join knows k on k._source = p.id join person q on q.id = k._target where {p} and {k}",
        f"select b._target, count(*) from knows k join knows b on b._source = k._target where k._source = {start} and {k} group by 1",
        f"select p.id, count(k._target) from person p left join knows k on k._target = p.id and {k} where {p} group by p.id",
        f"select p.id from person p where {dice.choice(['exists', 'not exists'])} (select 1 from knows k where k._source = p.id and {k}) and {p}",
        f"select p.id from person p where {p} {dice.choice(['union', 'union all', 'intersect', 'except'])} select k._target from knows k where {k}",
        f"select p.id, p.n from person p where {p} order by p.n desc nulls last, p.id limit {dice.randrange(1, 20)} offset {dice.randrange(3)}",
        f"select distinct c.town, l.since from city c join lives l on l._target = c.town where {c} and {l}",
        f"select c.size, count(distinct l._source) from city c left join lives l on l._target = c.town where {c} group by c.size",
        f"select p.id, row_number() over (partition by p.ok order by p.n nulls first, p.id) as r from person p where {p}",
        f"with r as (select l._source as id, count(*) as towns from lives l where {l} group by 1) select towns, count(*) from r group by towns",
        f"select case when {p} then 'yes' else 'no' end as said, count(*) from person p group by 1",
        f"select p.id, (select count(*) from knows k where k._source = p.id and {k}) as n from person p where {p}",
        f"select p.id from person p where p.id in (select k._target from knows k where {k}) and {p}",
        f"select p.id from person p full join lives l on l._source = p.id and {l} where {p}",
    ])


def plain(value: Any) -> Any:
    """A value as both can say it."""
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, dt.date):
        return value.isoformat()
    return value


def rows(values: Any, ordered: bool) -> list[str]:
    found = [json.dumps([plain(value) for value in row], ensure_ascii=False) for row in values]
    return found if ordered else sorted(found)


def test_random_questions(isomorph: Isomorph, tmp_path: Path) -> None:
    dice = random.Random(SEED)
    source = tmp_path / "source"
    source.mkdir()
    write(source, dice)
    flat = isomorph.convert(source, tmp_path / "flat", "--to", "parquet")
    graph = isomorph.convert(source, tmp_path / "graph", "--to", "graphar", "--vertex-chunk", "64", "--edge-chunk", "256")
    database = duckdb.connect()
    for table in ("person", "city"):
        database.execute(f"create table {table} as select * from '{flat}/{table}.parquet'")
    for table in ("knows", "lives"):
        renamed = 'select "source" as _source, target as _target, * exclude ("source", target)'
        database.execute(f"create table {table} as {renamed} from '{flat}/{table}.parquet'")
    answered = 0
    for number in range(QUESTIONS):
        text = question(dice)
        expected = database.execute(text).fetchall()
        found = json.loads(isomorph.run("sql", graph, text, "--format", "json"))
        ordered = "limit" in text
        assert rows([row.values() for row in found], ordered) == rows(expected, ordered), f"question {number}: {text}"
        answered += bool(expected)
    assert answered * 2 > QUESTIONS, f"only {answered} of {QUESTIONS} questions have rows"
