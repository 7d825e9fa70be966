"""Random graphs in every format: tables and neighbours, compared with the dataframes that they were made of."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import isomorph
import pyarrow as pa
import pytest

from conftest import columns

FORMATS = ["graphar", "parquet", "arrow", "nock", "jsonl", "csv", "graphml", "annnet", "graphlake", "rdf"]
ENDINGS = {"nock": "parq", "rdf": "nt"}

Edges = dict[tuple[str, str, str], pa.Table]


def keys_of(chance: random.Random, rows: int) -> pa.Array:
    if chance.random() < 0.5:
        return pa.array(chance.sample(range(-(10**6), 10**6), rows), chance.choice([pa.int64(), pa.int32()]))
    return pa.array([chance.choice("abcé漢 \"'<&") + str(at) for at in range(rows)], pa.string())


def made(seed: int) -> tuple[dict[str, pa.Table], Edges]:
    """One to three node types, up to three edge types, some of them empty, with some of all columns."""
    chance = random.Random(seed)
    nodes: dict[str, pa.Table] = {}
    for number in range(chance.randrange(1, 4)):
        keys = keys_of(chance, chance.choice([0, 1, 2, 17, 200]))
        own = columns(seed * 7 + number, len(keys))
        names = chance.sample(sorted(own), chance.randrange(6))
        table = pa.table({"id": keys, **{name: own[name] for name in names}})
        nodes[f"t{number}"] = pa.Table.from_batches(table.to_batches(max_chunksize=chance.randrange(1, 50)), table.schema)
    edges: Edges = {}
    for number in range(chance.randrange(4)):
        ends = chance.choice(list(nodes)), chance.choice(list(nodes))
        keys = [nodes[end].column("id") for end in ends]
        count = chance.choice([0, 1, 5, 300]) if all(map(len, keys)) else 0
        own = columns(seed * 11 + number, count)
        names = chance.sample(sorted(own), chance.randrange(4))
        source, target = (pa.array([chance.choice(of).as_py() for _ in range(count)], of.type) for of in keys)
        edges[ends[0], f"r{number}", ends[1]] = pa.table({"source": source, "target": target, **{name: own[name] for name in names}})
    return nodes, edges


def role(table: isomorph.Table, role: str) -> str:
    return next(column.name for column in table.schema.values() if column.role == role)


def without_nul(tables: dict[Any, pa.Table]) -> dict[Any, pa.Table]:
    """XML has no character U+0000."""
    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("\0", "")
        return [clean(one) for one in value] if isinstance(value, list) else value

    return {
        name: pa.table({field.name: pa.array([clean(value) for value in table.column(field.name).to_pylist()], field.type) for field in table.schema})
        for name, table in tables.items()
    }


@pytest.mark.parametrize("to", FORMATS)
def test_tables_come_back(tmp_path: Path, to: str) -> None:
    for seed in range(6):
        nodes, edges = made(seed)
        if to == "graphml":
            nodes, edges = without_nul(nodes), without_nul(edges)
        path = tmp_path / f"{seed}.{ENDINGS.get(to, to)}"
        assert isomorph.write(path, nodes=nodes, edges=edges, to=to).equal
        graph = isomorph.open(path)
        for name, expected in nodes.items():
            table = graph.nodes(name)
            key = role(table, "key")
            found = {str(row[key]): row for row in table.to_arrow().to_pylist()}
            assert len(found) == expected.num_rows == table.count()
            for row in expected.to_pylist():
                same = found[str(row["id"])]
                for column in expected.column_names[1:]:
                    assert repr(same[column]) == repr(row[column]), (seed, name, column)
        for (source, relation, target), expected in edges.items():
            if expected.num_rows == 0 and to in ("nock", "graphlake", "rdf"):
                continue  # a relation without edges may be unknown there
            table = graph.edges(relation, source=source, target=target)
            ends, names = [role(table, "source"), role(table, "target")], expected.column_names[2:]

            def rows(of: pa.Table, ends: list[str], names: list[str] = names) -> list[str]:
                return sorted(repr([*(str(row[end]) for end in ends), *(row[name] for name in names)]) for row in of.to_pylist())

            assert rows(table.to_arrow(), ends) == rows(expected, ["source", "target"]), (seed, relation)


def expected_neighbors(edges: Edges, directed: dict[Any, bool], type: str, key: Any, side: str) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for name, table in edges.items():
        source_type, relation, target_type = name
        for row in table.to_pylist():
            source, target, weight = row["source"], row["target"], row["w"]
            is_source, is_target = (source_type, source) == (type, key), (target_type, target) == (type, key)
            if not directed[name]:
                # A loop counts once.
                for is_end, other in [(is_source, target), (is_target and not is_source, source)]:
                    found[str(other), relation, "none", weight] += is_end
            else:
                found[str(target), relation, "out", weight] += is_source and side != "in"
                found[str(source), relation, "in", weight] += is_target and side != "out"
    return +found


@pytest.mark.parametrize("to", ["graphar", "parquet", "nock", "graphml", "annnet", "graphlake"])
def test_neighbors_are_those_of_the_edges(tmp_path: Path, to: str) -> None:
    for seed in range(4):
        chance = random.Random(seed)
        types = [f"t{at}" for at in range(chance.randrange(1, 3))]
        keys = {type: chance.sample(range(100), 12) if chance.random() < 0.5 else [f"k{at}é" for at in range(12)] for type in types}
        edges: Edges = {}
        for number in range(3):
            one, other, count = chance.choice(types), chance.choice(types), chance.choice([3, 40])
            ends = {"source": chance.choices(keys[one], k=count), "target": chance.choices(keys[other], k=count)}
            edges[one, f"r{number}", other] = pa.table({**ends, "w": chance.choices(range(5), k=count)})
        directed = {name: name[0] != name[2] or chance.random() < 0.6 for name in edges}
        path = tmp_path / f"{seed}.{ENDINGS.get(to, to)}"
        isomorph.write(path, nodes={type: pa.table({"id": of}) for type, of in keys.items()}, edges=edges, directed=directed, to=to)
        graph = isomorph.open(path)
        for type, of in keys.items():
            for key in chance.sample(of, 4):
                for side in ("out", "in", "both"):
                    rows = graph.neighbors(key, type=type, side=side).to_arrow().to_pylist()
                    found = Counter((str(row["neighbor"]), row["relation"], row["direction"], row["w"]) for row in rows)
                    assert found == expected_neighbors(edges, directed, type, key, side), (seed, type, key, side)
