"""Random conditions with nulls: `in`, `not in` and rows, in lists and subqueries, within each other; several lists of literals; and subqueries of two tables. `isomorph sql` keeps the rows that DuckDB keeps.

200 conditions; ISOMORPH_CONDITIONS asks for more, ISOMORPH_SEED for others. DuckDB takes a null inside of a row for a value, so rows are compared there value by value,
as SQL says.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from command import Isomorph

duckdb = pytest.importorskip("duckdb")

CONDITIONS = int(os.environ.get("ISOMORPH_CONDITIONS", "200"))
SEED = int(os.environ.get("ISOMORPH_SEED", "7"))
# Conditions of one question: each is a query that is united with the others.
AT_ONCE = 20

TABLES = {
    "l": "(values (1,1,2),(2,1,null),(3,null,2),(4,null,null),(5,2,3),(6,3,1),(7,2,2),(8,3,3)) l(k,a,b)",
    "r": "(values (1,1,2),(2,2,null),(3,null,3),(4,3,1),(5,2,2)) r(k,a,b)",
    "s": "(values (1,2,1),(2,3,3),(3,1,1)) s(k,a,b)",
    "n": "(values (1,null,1),(2,null,null)) n(k,a,b)",
}


@dataclass
class Both:
    """A condition as we write it, and as DuckDB gets it."""

    own: str
    plain: str

    def of(self, text: str) -> Both:
        """A text with this condition in the place of `@`."""
        return Both(text.replace("@", self.own), text.replace("@", self.plain))


def same(text: str) -> Both:
    return Both(text, text)


def value(dice: random.Random, scope: list[str]) -> str:
    if dice.random() < 0.2:
        return dice.choice(["1", "2", "null", "3"])
    return f"{dice.choice(scope)}.{dice.choice('ab')}"


def equal(row: tuple[str, str], other: tuple[str, str]) -> str:
    return f"({row[0]} = {other[0]} and {row[1]} = {other[1]})"


def condition(dice: random.Random, scope: list[str], depth: int, used: tuple[str, ...] = ("l",)) -> Both:
    """A condition on the tables of `scope`: the nearest one is the last, and a subquery can name only the next one outside."""
    if depth and dice.random() < 0.5:
        one, other = condition(dice, scope, depth - 1, used), condition(dice, scope, depth - 1, used)
        return dice.choice([
            one.of("not (@)"),
            Both(f"({one.own} and {other.own})", f"({one.plain} and {other.plain})"),
            Both(f"({one.own} or {other.own})", f"({one.plain} or {other.plain})"),
            one.of("((@) is null)"),
            one.of("((@) is not false)"),
        ])
    negated = dice.choice(["", "not "])
    form = dice.randrange(6)
    if form == 0:
        return same(f"{value(dice, scope)} {dice.choice(['=', '<>', '<', '>='])} {value(dice, scope)}")
    if form == 1:
        return same(f"{value(dice, scope)} {negated}in ({value(dice, scope)}, {dice.choice(['1', 'null', '2'])})")
    row = (value(dice, scope[-1:]), value(dice, scope[-1:]))
    if form == 2:
        items = [(value(dice, scope), dice.choice(["1", "2", "null"])) for _ in range(dice.randrange(1, 4))]
        own = f"({row[0]}, {row[1]}) {negated}in ({', '.join(f'({x}, {y})' for x, y in items)})"
        return Both(own, f"({negated}({' or '.join(equal(row, item) for item in items)}))")
    table = dice.choice([name for name in TABLES if name not in used] or [""])
    if not table:
        return same(f"{value(dice, scope)} is null")
    # Whether the subquery depends on rows outside.
    inner = [scope[-1], table] if dice.random() < 0.4 else [table]
    few = same(f"{table}.k < {dice.randrange(1, 6)}")
    where = condition(dice, inner, depth - 1, (*used, table)) if depth and dice.random() < 0.7 else few
    if form == 3:
        return where.of(f"{value(dice, scope[-1:])} {negated}in (select {table}.a from {TABLES[table]} where @)")
    found = (f"{table}.a", f"{table}.b")
    own = f"({row[0]}, {row[1]}) {negated}in (select {found[0]}, {found[1]} from {TABLES[table]} where {where.own})"
    exists = f"exists (select 1 from {TABLES[table]} where ({where.plain}) and @)"
    is_equal = equal(row, found)
    is_in = f"case when {exists.replace('@', is_equal)} then true when {exists.replace('@', f'{is_equal} is null')} then null else false end"
    return Both(own, f"({negated}({is_in}))")


def of_lists(dice: random.Random, depth: int) -> Both:
    """Lists of literals, and what becomes one: some say the same of one value, some exclude each other."""
    if depth and dice.random() < 0.75:
        one, other = of_lists(dice, depth - 1), of_lists(dice, depth - 1)
        return same(dice.choice([f"not ({one.own})", f"({one.own} and {other.own})", f"({one.own} or {other.own})"]))
    asked = f"l.{dice.choice('aab')}"
    items = ", ".join(dice.sample("1234", dice.randrange(1, 4)))
    return same(
        dice.choice([
            f"{asked} in ({items})",
            f"{asked} not in ({items})",
            f"{asked} = {items[0]}",
            f"{asked} <> {items[0]}",
            f"({asked} in ({items})) is null",
            dice.choice(["true", "false", "null::boolean"]),
        ])
    )


def kept(conditions: list[str]) -> str:
    """The rows that each condition keeps, with the number of the condition."""
    each = (f"select {at} as c, l.k as k from {TABLES['l']} where {text}" for at, text in enumerate(conditions))
    return " union all ".join(each)


def of_two_tables(dice: random.Random) -> Both:
    """A condition with a subquery of two tables, whose columns are called alike, and which depends on the outer row by both."""
    one, other, third = dice.sample(["r", "s", "n"], 3)
    form = dice.randrange(5)
    # One value needs conditions that a join by keys can have.
    operators = ["="] if form == 4 else ["=", "<>", "<", ">="]
    parts = [f"{table}.{dice.choice('ab')} {dice.choice(operators)} l.{dice.choice('kab')}" for table in (one, other)]
    if form != 4:
        for _ in range(dice.randrange(3)):
            where = f"{third}.{dice.choice('kab')} = {dice.choice([one, other])}.{dice.choice('kab')}"
            parts.append(f"{dice.choice(['', 'not '])}exists (select 1 from {TABLES[third]} where {where})")
        dice.shuffle(parts)
    where = parts[0]
    for part in parts[1:]:
        where = f"({where} {'and' if form == 4 else dice.choice(['and', 'and', 'or'])} {part})"
    rows = f"from {TABLES[one]}, {TABLES[other]} where {where}"
    column = f"{dice.choice([one, other])}.{dice.choice('ab')}"
    negated = dice.choice(["", "not "])
    return same([
        f"{negated}exists (select 1 {rows})",
        f"({negated}exists (select {column} {rows}) or l.k = 1)",
        f"l.{dice.choice('ab')} {negated}in (select {column} {rows})",
        f"(l.{dice.choice('ab')} {negated}in (select {column} {rows}) or l.k = 1)",
        f"(select count({column}) {rows}) > {dice.randrange(3)}",
    ][form])


def compare(isomorph: Isomorph, social: Path, conditions: list[Both]) -> int:
    """Both keep the same rows. Returns how many of the conditions keep some rows and not others."""
    database = duckdb.connect()
    answered = 0
    for first in range(0, len(conditions), AT_ONCE):
        batch = conditions[first : first + AT_ONCE]
        expected = sorted(database.execute(kept([one.plain for one in batch])).fetchall())
        rows = json.loads(isomorph.run("sql", social, kept([one.own for one in batch]), "--format", "json"))
        found = sorted((row["c"], row["k"]) for row in rows)
        for at, one in enumerate(batch):
            mine, other = ([k for c, k in all_rows if c == at] for all_rows in (found, expected))
            assert mine == other, f"condition {first + at}: {one.own}\n{one.plain}"
            answered += bool(other) and len(other) < 8
    return answered


def test_random_conditions(isomorph: Isomorph, social: Path) -> None:
    dice = random.Random(SEED)
    answered = compare(isomorph, social, [condition(dice, ["l"], 3) for _ in range(CONDITIONS)])
    assert answered * 3 > CONDITIONS, f"only {answered} of {CONDITIONS} conditions keep some rows and not others"


def test_random_subqueries_of_two_tables(isomorph: Isomorph, social: Path) -> None:
    dice = random.Random(SEED)
    answered = compare(isomorph, social, [of_two_tables(dice) for _ in range(CONDITIONS)])
    assert answered * 3 > CONDITIONS, f"only {answered} of {CONDITIONS} conditions keep some rows and not others"


def test_random_lists(isomorph: Isomorph, social: Path) -> None:
    dice = random.Random(SEED)
    compare(isomorph, social, [of_lists(dice, 4) for _ in range(CONDITIONS)])
