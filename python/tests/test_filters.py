"""Filters on random data, compared with pandas."""

from __future__ import annotations

import random
from pathlib import Path

import isomorph
import pandas as pd
import pyarrow as pa
import pytest

from conftest import columns

COMPARED = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "=": "eq", "!=": "ne"}


@pytest.fixture(scope="module", params=["graphar", "parquet", "nock"])
def graph(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[isomorph.Table, pd.DataFrame]:
    """A table of a file of each format, and the same rows in pandas."""
    made = columns(3, 700)
    kept = ["flag", "int", "big", "double", "text", "day"] if request.param != "nock" else ["flag", "int", "big", "text"]
    rows = pa.table({"id": pa.array(range(700)), **{name: made[name] for name in kept}})
    path = tmp_path_factory.mktemp("filters") / f"graph.{'parq' if request.param == 'nock' else request.param}"
    isomorph.write(path, nodes={"thing": rows}, to=request.param)
    return isomorph.open(path).nodes("thing"), rows.to_pandas(types_mapper=pd.ArrowDtype)


def condition(chance: random.Random, frame: pd.DataFrame, depth: int) -> tuple[str, pd.Series]:
    """A random condition as text, and the rows for which it is true, false or unknown, as pandas sees it."""
    kind = chance.random()
    if depth > 0 and kind < 0.45:
        (left, one), (right, other) = condition(chance, frame, depth - 1), condition(chance, frame, depth - 1)
        return (f"({left} and {right})", one & other) if chance.random() < 0.5 else (f"({left} or {right})", one | other)
    if depth > 0 and kind < 0.55:
        text, of = condition(chance, frame, depth - 1)
        return f"not ({text})", ~of
    names = [name for name in ("int", "big", "double", "text") if name in frame]
    name = chance.choice(names)
    column = frame[name]
    if kind < 0.65:
        return (f"{name} is null", column.isna().astype("boolean[pyarrow]"))
    sign = chance.choice(list(COMPARED))
    if name == "text":
        value = chance.choice(["", "tea", "a,b", "漢字", "null", "zzz"])
        return f"text {sign} '{value}'", getattr(column, COMPARED[sign])(value)
    value = chance.choice([-50, -3, 0, 1, 7, 49, 2**53, 2**53 + 1] if name != "double" else [-1.5, 0.0, 1.5, 3.25])
    text = f"{name} {sign} {value}"
    return text, getattr(column, COMPARED[sign])(value)


def test_filters_give_the_rows_that_pandas_gives(graph: tuple[isomorph.Table, pd.DataFrame]) -> None:
    table, frame = graph
    chance = random.Random(5)
    for _ in range(150):
        text, passing = condition(chance, frame, 3)
        expected = frame["id"][passing.fillna(False).astype(bool)].tolist()
        found = table.filter(text).select("id").to_arrow().column(0).to_pylist()
        assert sorted(map(int, found)) == sorted(expected), text
        assert table.filter(text).count() == len(expected), text


def test_filters_add_up_and_look_at_columns_that_are_not_selected(graph: tuple[isomorph.Table, pd.DataFrame]) -> None:
    table, frame = graph
    found = table.filter("int > 0").filter('text = "tea"').select("id")
    expected = frame["id"][(frame["int"] > 0).fillna(False) & (frame["text"] == "tea").fillna(False)].tolist()
    assert sorted(map(int, found.to_arrow().column(0).to_pylist())) == sorted(expected)
    assert found.select("id").filter("int < 10").count() <= len(expected)
    with pytest.raises(isomorph.UsageError, match="not selected"):
        found.select("int")
    with pytest.raises(isomorph.UsageError, match="filter after a limit"):
        table.limit(3).filter("int > 0")
    assert table.limit(5).limit(9).count() == 5 == table.limit(9).limit(5).count()
    assert table.filter("int > 0").limit(0).to_arrow().num_rows == 0


@pytest.mark.parametrize("wrong", ["", "int >", "int > 'x'", "nothing = 1", "int = 1 and", "((((", "text > 5 5", "\x00"])
def test_wrong_conditions_are_exceptions(graph: tuple[isomorph.Table, pd.DataFrame], wrong: str) -> None:
    with pytest.raises(isomorph.UsageError):
        graph[0].filter(wrong).to_arrow()


def test_the_same_filters_work_on_results_in_memory(graph: tuple[isomorph.Table, pd.DataFrame]) -> None:
    table, frame = graph
    held = table.collect()
    chance = random.Random(6)
    for _ in range(40):
        text, _passing = condition(chance, frame, 2)
        assert repr(held.filter(text).to_arrow().to_pylist()) == repr(table.filter(text).to_arrow().to_pylist()), text
    assert repr(held.limit(3).to_arrow().to_pylist()) == repr(table.limit(3).to_arrow().to_pylist())
