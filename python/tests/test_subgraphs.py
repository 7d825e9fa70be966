"""Mini-batches, compared with a naive oracle over the dataframes that the graph was made of."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import isomorph
import numpy as np
import pyarrow as pa
import pytest
from isomorph.loader import Batch, Feature, NeighborLoader
from scipy.stats import chi2

FORMATS = ["graphar", "parquet", "csv", "nock", "jsonl", "annnet", "graphml"]
ENDINGS = {"nock": "parq"}

Name = tuple[str, str, str]


class Oracle:
    """The edges of a graph by target, as lists of (source, number) for each target, of rows."""

    def __init__(self, sizes: dict[str, int], edges: dict[Name, list[tuple[int, int]]], undirected: set[Name]) -> None:
        self.sizes = sizes
        self.ends: dict[Name, list[tuple[int, int]]] = {}
        for name, pairs in edges.items():
            self.ends[name] = list(pairs)
            if name in undirected and name[0] == name[2]:
                self.ends[name] += [(target, source) for source, target in pairs if source != target]
            elif name in undirected:
                self.ends[name[2], f"rev_{name[1]}", name[0]] = [(target, source) for source, target in pairs]
        self.incoming: dict[Name, list[list[tuple[int, int]]]] = {}
        for name, pairs in self.ends.items():
            lists: list[list[tuple[int, int]]] = [[] for _ in range(sizes[name[2]])]
            for number, (source, target) in enumerate(pairs):
                lists[target].append((source, number))
            self.incoming[name] = lists

    def everything(self, order: list[Name], type: str, seeds: list[int], hops: int) -> tuple[dict[str, list[int]], dict[Name, list[tuple[int, int, int]]]]:
        """All neighbours: nodes by type, and edges as (source position, target position, number)."""
        nodes: dict[str, list[int]] = {name: [] for name in self.sizes}
        position: dict[tuple[str, int], int] = {}
        for row in seeds:
            position.setdefault((type, row), len(nodes[type]))
            nodes[type].append(row)
        found: dict[Name, list[tuple[int, int, int]]] = {name: [] for name in order}
        begin = {name: 0 for name in nodes}
        for _ in range(hops):
            end = {name: len(rows) for name, rows in nodes.items()}
            for name in order:
                for at in range(begin[name[2]], end[name[2]]):
                    for source, number in self.incoming[name][nodes[name[2]][at]]:
                        if (name[0], source) not in position:
                            position[name[0], source] = len(nodes[name[0]])
                            nodes[name[0]].append(source)
                        found[name].append((position[name[0], source], at, number))
            begin = end
        return nodes, found


def made(seed: int, folder: Path) -> tuple[Path, Oracle, dict[str, pa.Table]]:
    """A random graph in a random format."""
    chance = random.Random(seed)
    to = FORMATS[seed % len(FORMATS)]
    types = [f"t{at}" for at in range(chance.randrange(1, 4))]
    nodes, rows = {}, {}
    for type in types:
        count = chance.choice([1, 3, 40])
        keys = chance.sample(range(-1000, 1000), count) if chance.random() < 0.6 else [f"{type} {at}" for at in chance.sample(range(1000), count)]
        nodes[type] = pa.table({"id": keys, "x": np.arange(count) / 2, "y": np.arange(count) % 3})
        rows[type] = {key: at for at, key in enumerate(keys)}
    edges, directed, pairs = {}, {}, {}
    for at in range(chance.randrange(1, 4)):
        name = chance.choice(types), f"r{at}", chance.choice(types)
        count = chance.choice([1, 8, 200])
        ends = [(chance.choice(list(rows[name[0]])), chance.choice(list(rows[name[2]]))) for _ in range(count)]
        edges[name] = pa.table({"source": [one for one, _ in ends], "target": [other for _, other in ends], "w": range(count)})
        directed[name] = to == "csv" or chance.random() < 0.6
        pairs[name] = [(rows[name[0]][one], rows[name[2]][other]) for one, other in ends]
    path = folder / f"graph{seed}.{ENDINGS.get(to, to)}"
    isomorph.write(path, nodes=nodes, edges=edges, directed=directed, to=to)
    graph = isomorph.open(path)
    # Rows are those of the tables that are read, which formats may order.
    again = {type: {key: at for at, key in enumerate(graph.nodes(type).select("@key").to_arrow().column(0).to_pylist())} for type in types}
    sizes = {type: len(nodes[type]) for type in types}
    read: dict[Name, list[tuple[int, int]]] = {}
    for name in edges:
        table = graph.edges(name[1]).select("@source", "@target").to_arrow()
        read[name] = [(again[name[0]][one], again[name[2]][other]) for one, other in zip(*(column.to_pylist() for column in table.columns))]
        keys = [{at: key for key, at in rows[end].items()} for end in (name[0], name[2])]
        expected = Counter((keys[0][one], keys[1][other]) for one, other in pairs[name])
        back = [{at: key for key, at in again[end].items()} for end in (name[0], name[2])]
        assert Counter((back[0][one], back[1][other]) for one, other in read[name]) == expected
    return path, Oracle(sizes, read, {name for name in edges if not directed[name]}), nodes


@pytest.mark.parametrize("seed", range(28))
def test_all_neighbours_are_those_of_the_oracle(seed: int, tmp_path: Path) -> None:
    path, oracle, _ = made(seed, tmp_path)
    chance = random.Random(seed)
    graph = isomorph.open(path)
    weights = {name: graph.edges(name[1].removeprefix("rev_")).select("w").to_arrow().column(0) for name in oracle.ends}
    for hops in (0, 1, 2, 3):
        type = chance.choice(list(oracle.sizes))
        seeds = [chance.randrange(oracle.sizes[type]) for _ in range(chance.randrange(1, 6))]
        loader = NeighborLoader(path, [-1] * hops, nodes=(type, np.array(seeds)), batch_size=100, edge_features={name: {"w": "w"} for name in oracle.ends})
        assert set(loader.prepared.relations) == set(oracle.ends)
        assert {name: relation.edges for name, relation in loader.prepared.relations.items()} == {name: len(ends) for name, ends in oracle.ends.items()}
        batch = next(iter(loader))
        nodes, edges = oracle.everything(list(loader.prepared.relations), type, seeds, hops)
        assert {name: rows.tolist() for name, rows in batch.nodes.items()} == nodes
        for name, expected in edges.items():
            found = zip(*batch.edge_index[name].tolist(), batch.edges[name].tolist())
            assert list(found) == expected, (seed, hops, name)
            w = weights[name].to_pylist()
            assert batch.edge_features[name]["w"].tolist() == [w[row] for row in loader.prepared.rows_of(name, batch.edges[name]).tolist()]
        for name in edges:
            index = [column.tolist() for column in loader.prepared.edge_index(name)]
            assert list(zip(*index)) == oracle.ends[name]
        induced = NeighborLoader(loader.prepared.graph, [-1] * hops, nodes=(type, np.array(seeds)), batch_size=100, subgraph_type="induced")
        batch = next(iter(induced))
        assert {name: rows.tolist() for name, rows in batch.nodes.items()} == nodes
        for name, ends in oracle.ends.items():
            places = [{row: at for at, row in reversed(list(enumerate(nodes[end])))} for end in (name[0], name[2])]
            expected_edges = Counter(
                (places[0][source], at, number)
                for number, (source, target) in enumerate(ends)
                if source in places[0]
                for at, row in enumerate(nodes[name[2]])
                if row == target
            )
            assert Counter(zip(*batch.edge_index[name].tolist(), batch.edges[name].tolist())) == expected_edges


def check(batch: Batch, oracle: Oracle, counts: dict[Name, list[int]], replace: bool, disjoint: bool) -> None:
    """The rules that every batch keeps."""
    owners = batch.owners or {type: np.zeros(len(rows), np.int64) for type, rows in batch.nodes.items()}
    for type, rows in batch.nodes.items():
        first = batch.batch_size if type == batch.input_type else 0
        found = list(zip(rows.tolist(), owners[type].tolist()))
        assert len(set(found[first:])) == len(found) - first and not set(found[first:]) & set(found[:first])
        assert sum(batch.num_sampled_nodes[type]) == len(rows) and batch.num_sampled_nodes[type][0] == first
    assert batch.num_sampled_edges is not None
    starts = {type: np.cumsum([0, *sizes]).tolist() for type, sizes in batch.num_sampled_nodes.items()}
    for name, (sources, targets) in batch.edge_index.items():
        numbers = batch.edges[name]
        assert sum(batch.num_sampled_edges[name]) == len(numbers)
        at = 0
        for hop, count in enumerate(counts[name]):
            own = slice(at, at + batch.num_sampled_edges[name][hop])
            at = own.stop
            begin, end = starts[name[2]][hop], starts[name[2]][hop + 1]
            by_target: dict[int, list[int]] = {}
            for source, target, number in zip(sources[own].tolist(), targets[own].tolist(), numbers[own].tolist()):
                assert begin <= target < end and 0 <= source < starts[name[0]][hop + 2]
                assert oracle.ends[name][number] == (batch.nodes[name[0]][source], batch.nodes[name[2]][target])
                if disjoint:
                    assert owners[name[0]][source] == owners[name[2]][target]
                by_target.setdefault(target, []).append(number)
            for target in range(begin, end):
                degree = len(oracle.incoming[name][batch.nodes[name[2]][target]])
                drawn = by_target.get(target, [])
                expected = degree if count < 0 else (count if degree else 0) if replace else min(count, degree)
                assert len(drawn) == expected, (name, hop)
                if not replace or count < 0:
                    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize("seed", range(100, 121))
def test_draws_keep_the_rules(seed: int, tmp_path: Path) -> None:
    path, oracle, _ = made(seed, tmp_path)
    chance = random.Random(seed)
    for replace in (False, True):
        for disjoint in (False, True):
            hops = chance.randrange(1, 4)
            type = chance.choice(list(oracle.sizes))
            counts = {name: [chance.choice([-1, 0, 1, 2, 5]) for _ in range(hops)] for name in oracle.ends}
            loader = NeighborLoader(path, counts, nodes=type, batch_size=chance.choice([1, 7, 64]), replace=replace, disjoint=disjoint, seed=seed)
            seen = []
            for batch in loader:
                check(batch, oracle, counts, replace, disjoint)
                seen += batch.input_nodes.tolist()
            assert seen == list(range(oracle.sizes[type]))


@pytest.fixture(scope="module")
def star(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A node with nine others that lead to it, two of them twice, and others of one edge."""
    path = tmp_path_factory.mktemp("star") / "star.graphar"
    sources = [*range(1, 10), 1, 2, *range(10, 300)]
    targets = [0] * 11 + [at - 1 for at in range(10, 300)]
    nodes = pa.table({"id": range(300), "x": np.arange(300) * 1.5, "y": [at % 2 for at in range(300)]})
    isomorph.write(path, nodes={"node": nodes}, edges={"to": pa.table({"source": sources, "target": targets, "w": np.arange(301) / 4})}, to="graphar")
    return path


@pytest.mark.parametrize("replace", [False, True])
def test_draws_are_uniform(star: Path, replace: bool) -> None:
    loader = NeighborLoader(star, [4], nodes=("node", np.array([0])), replace=replace, seed=3)
    numbers = loader.prepared.edge_index(("node", "to", "node"))
    own = np.flatnonzero(numbers[1] == 0).tolist()
    assert len(own) == 11
    counts: Counter[int] = Counter()
    pairs: Counter[tuple[int, ...]] = Counter()
    epochs = 5000
    for batch in (loader.batch([0], epoch) for epoch in range(epochs)):
        drawn = batch.edges["node", "to", "node"].tolist()
        counts.update(drawn)
        pairs.update(tuple(sorted((one, other))) for at, one in enumerate(drawn) for other in drawn[:at])
    assert set(counts) == set(own)
    expected = epochs * 4 / 11
    # Without replacement, counts vary less than independent draws would: by 7/10.
    statistic = sum((count - expected) ** 2 / expected for count in counts.values()) / (1 if replace else 0.7)
    assert statistic < chi2.ppf(0.9999, 10), statistic
    if not replace:
        expected = epochs * 6 / 55
        assert len(pairs) == 55 and sum((count - expected) ** 2 / expected for count in pairs.values()) < chi2.ppf(0.9999, 54)


def same(one: Batch, other: Batch) -> bool:
    dictionaries = [(one.nodes, other.nodes), (one.edges, other.edges), (one.edge_index, other.edge_index)]
    dictionaries += [(one.features[type], other.features[type]) for type in one.features]
    return all(left.keys() == right.keys() and all(np.array_equal(left[key], right[key]) for key in left) for left, right in dictionaries)


def batches(loader: NeighborLoader) -> list[Batch]:
    return list(loader)


def test_a_seed_gives_the_same_batches_in_threads_and_processes(star: Path) -> None:
    def loader(**options: Any) -> NeighborLoader:
        return NeighborLoader(star, [3, 2], batch_size=32, shuffle=True, features={"x": "x"}, seed=5, **options)

    expected = batches(loader())
    assert [batch.input_nodes.tolist() for batch in expected] != [batch.input_nodes.tolist() for batch in batches(NeighborLoader(star, [3, 2], batch_size=32, seed=5))]
    assert sorted(row for batch in expected for row in batch.input_nodes.tolist()) == list(range(300))
    for workers in (1, 3):
        found = batches(loader(workers=workers))
        assert len(found) == len(expected) and all(map(same, found, expected))
    mine = loader()
    for method in ["fork", "spawn"] if hasattr(os, "fork") else ["spawn"]:
        with multiprocessing.get_context(method).Pool(2) as pool:
            for found in pool.map(batches, [mine] * 2):
                assert len(found) == len(expected) and all(map(same, found, expected))
    # Another epoch, another seed.
    first, second = batches(mine), batches(mine)
    assert all(map(same, first, expected)) and not all(map(same, second, expected))
    other = batches(NeighborLoader(star, [3, 2], batch_size=32, shuffle=True, features={"x": "x"}, seed=6))
    assert not all(map(same, other, expected))


def test_the_files_of_a_loader_are_shared_and_removed(star: Path, tmp_path: Path) -> None:
    loader = NeighborLoader(isomorph.open(star, temp_dir=tmp_path), [2], batch_size=50, features={"x": ["x", "y"]})
    expected = batches(loader)
    folders = list(tmp_path.iterdir())
    assert len(folders) == 1
    again = pickle.loads(pickle.dumps(loader))
    assert again.prepared._root == loader.prepared._root and list(tmp_path.iterdir()) == folders
    again.epoch = 0
    assert all(map(same, batches(again), expected))
    if hasattr(os, "fork"):
        child = os.fork()
        if child == 0:
            del loader, again
            os._exit(0)
        os.waitpid(child, 0)
        assert list(tmp_path.iterdir()) == folders
    text = pickle.dumps(loader)
    del loader, again
    assert not list(tmp_path.iterdir())
    # Whoever loads a pickle after that prepares the graph again.
    late = pickle.loads(text)
    late.epoch = 0
    assert all(map(same, batches(late), expected)) and len(list(tmp_path.iterdir())) == 1


def test_a_cache_is_used_until_the_graph_changes(tmp_path: Path) -> None:
    path, cache = tmp_path / "g.csv", tmp_path / "cache"

    def write(edges: list[tuple[int, int]]) -> None:
        table = pa.table({"source": [one for one, _ in edges], "target": [other for _, other in edges]})
        isomorph.write(path, nodes={"n": pa.table({"id": range(9), "x": range(9)})}, edges={"e": table}, to="csv", replace=True)

    write([(1, 0), (2, 0)])
    loader = NeighborLoader(path, [-1], nodes=("n", [0]), features={"x": "x"}, cache=cache)
    assert next(iter(loader)).features["n"]["x"].tolist() == [0, 1, 2]
    root = Path(loader.prepared._root)
    before = {file: file.stat().st_mtime_ns for file in root.rglob("*") if file.is_file()}
    del loader
    again = NeighborLoader(path, [-1], nodes=("n", [0]), features={"x": "x"}, cache=cache)
    assert next(iter(again)).nodes["n"].tolist() == [0, 1, 2]
    assert {file: file.stat().st_mtime_ns for file in root.rglob("*") if file.is_file()} == before
    write([(3, 0), (2, 0), (4, 0)])
    changed = NeighborLoader(path, [-1], nodes=("n", [0]), features={"x": "x"}, cache=cache)
    assert next(iter(changed)).nodes["n"].tolist() == [0, 3, 2, 4]
    # What was open stays what it was.
    again.epoch = 0
    assert next(iter(again)).nodes["n"].tolist() == [0, 1, 2]


def test_rows_are_read_in_any_order(tmp_path: Path) -> None:
    """Rows near each other are read together, also across the borders of what is read at once."""
    from isomorph._isomorph import RowsFile

    dice = np.random.default_rng(3)
    for width, count in (1, 70_000), (8, 70_000), (256, 9000), (5000, 300), (300_000, 5):
        content = dice.integers(0, 256, (count, width), dtype=np.uint8)
        path = tmp_path / f"{width}.rows"
        path.write_bytes(b"seven.." + content.tobytes())
        file = RowsFile(str(path), width, 7)
        kinds = [[], [count - 1], [0, 0, 1, 0], np.arange(count), np.arange(count)[::-1], np.arange(1, count, 2), dice.integers(0, count, 40_000 // (1 + width // 1000)), dice.integers(0, count, 7)]
        for rows in map(np.asarray, kinds):
            out = np.empty((len(rows), width), dtype=np.uint8)
            file.read(rows.astype(np.int64), out.reshape(-1))
            assert np.array_equal(out, content[rows.astype(np.int64)]), (width, len(rows))
        for row in -1, count:
            with pytest.raises(isomorph.UsageError, match=f"row {row} does not exist: there are {count}"):
                file.read(np.array([0, row]), np.empty(2 * width, dtype=np.uint8))


def test_features_are_those_of_the_tables(star: Path, tmp_path: Path) -> None:
    graph = isomorph.open(star)
    names = [f"f{at}" for at in range(40)]
    nodes = pa.table({"id": range(500), **{name: np.random.default_rng(at).normal(size=500) for at, name in enumerate(names)}, "l": pa.array([[at, at + 1] for at in range(500)], pa.list_(pa.int32())), "b": [at % 3 == 0 for at in range(500)]})
    edges = pa.table({"source": np.arange(2000) * 7 % 500, "target": np.arange(2000) * 11 % 500, "w": np.arange(2000) / 8})
    path = tmp_path / "wide.graphar"
    isomorph.write(path, nodes={"n": nodes}, edges={"e": edges}, directed=False, to="graphar")
    features = {"x": names, "single": Feature(names, "float32"), "l": "l", "b": "b", "mixed": ["f0", "b"]}
    loader = NeighborLoader(path, [5, 5], nodes=("n", np.arange(0, 500, 3)), batch_size=64, features=features, edge_features={"w": "w"})
    table = isomorph.open(path).nodes("n").to_arrow()
    w = isomorph.open(path).edges("e").to_arrow().column("w").to_numpy()
    x = np.stack([table.column(name).to_numpy() for name in names], axis=1)
    seen = 0
    for batch in loader:
        rows, own = batch.nodes["n"], batch.features["n"]
        seen += len(rows)
        assert own["x"].dtype == np.float64 and np.array_equal(own["x"], x[rows])
        assert own["single"].dtype == np.float32 and np.array_equal(own["single"], x[rows].astype(np.float32))
        assert own["l"].dtype == np.int32 and own["l"].tolist() == [table.column("l")[row].as_py() for row in rows.tolist()]
        assert own["b"].dtype == bool and own["b"].tolist() == [row % 3 == 0 for row in np.array(table.column("id"))[rows].tolist()]
        assert np.array_equal(own["mixed"], np.stack([x[rows, 0], own["b"]], axis=1))
        relation = ("n", "e", "n")
        numbers = loader.prepared.rows_of(relation, batch.edges[relation])
        assert np.array_equal(batch.edge_features[relation]["w"], w[numbers]) and (batch.edges[relation] >= 2000).any()
    assert seen > 500 and graph.nodes().count() == 300


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"num_neighbors": [1.5]}, "must be an integer"),
        ({"num_neighbors": [-2]}, "-1 for all"),
        ({"num_neighbors": {("node", "of", "node"): [1]}}, "there are no edges"),
        ({"nodes": "nobody"}, "there is no node type 'nobody'"),
        ({"nodes": ("node", [300])}, "rows from 0 to 299"),
        ({"nodes": ("node", [-1])}, "rows from 0 to 299"),
        ({"nodes": ("node", np.array([True]))}, "a mask must have"),
        ({"nodes": ("node", np.array([0.5]))}, "must be rows"),
        ({"batch_size": 0}, "batch_size"),
        ({"subgraph_type": "bidirectional"}, "directional, induced"),
        ({"subgraph_type": "induced", "disjoint": True}, "not supported"),
        ({"features": {"x": "nothing"}}, "nothing"),
        ({"features": {"x": Feature("x", "int32")}}, "floats"),
        ({"features": {"other": {"x": "x"}, "node": {}}}, "there are no node types 'other'"),
        ({"features": {"x": "labels"}}, "labels"),
        ({"features": {"x": 3}}, "x must be the name of a column"),
        ({"features": 3}, "features must be a mapping"),
        ({"num_neighbors": 5}, "must be a list, found int"),
        ({"num_neighbors": None}, "must be a list, found NoneType"),
        ({"num_neighbors": [2**63]}, "must be from 0 to 4294967295"),
    ],
)
def test_what_cannot_be_drawn_is_refused(star: Path, options: dict[str, Any], text: str) -> None:
    arguments: dict[str, Any] = {"num_neighbors": [2], **options}
    with pytest.raises(isomorph.UsageError, match=text):
        list(NeighborLoader(star, arguments.pop("num_neighbors"), **arguments))


def test_columns_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    nodes = pa.table({"id": [1, 2, 3], "hole": [1.0, None, 2.0], "text": ["a", "b", "c"], "ragged": [[1], [1, 2], [3]], "big": [2**53 + 1, 0, 1], "f": [0.5, 1.5, 2.5]})
    isomorph.write(tmp_path / "g.parquet", nodes={"n": nodes}, edges={"e": pa.table({"source": [1], "target": [2]})}, to="parquet")
    for feature, text in [("hole", "nulls"), ("text", "not numbers"), ("ragged", "lengths"), (["big", "f"], "cannot represent"), (Feature("big", "float64"), "cannot represent"), (Feature("big", "int8"), "cannot represent")]:
        with pytest.raises(isomorph.UsageError, match=text):
            list(NeighborLoader(tmp_path / "g.parquet", [1], features={"x": feature}))
    batch = next(iter(NeighborLoader(tmp_path / "g.parquet", [1], features={"x": "big"})))
    assert batch.features["n"]["x"].dtype == np.int64 and 2**53 + 1 in batch.features["n"]["x"].tolist()


def test_empty_types_and_relations(tmp_path: Path) -> None:
    ends = pa.table({"source": pa.array([], pa.int64()), "target": pa.array([], pa.int64())})
    empty = pa.table({"id": pa.array([], pa.int64()), "x": pa.array([], pa.float32())})
    path = tmp_path / "g.graphar"
    isomorph.write(path, nodes={"a": pa.table({"id": [5, 6], "x": [0.5, 1.5]}), "b": empty}, edges={("a", "r", "a"): ends, ("b", "s", "a"): ends}, to="graphar")
    batch = next(iter(NeighborLoader(path, [3, -1], nodes="a", features={"a": {"x": "x"}, "b": {"x": "x"}})))
    assert batch.nodes["a"].tolist() == [0, 1] and batch.nodes["b"].tolist() == []
    assert all(index.shape == (2, 0) for index in batch.edge_index.values())
    assert batch.features["b"]["x"].shape == (0,) and batch.features["a"]["x"].tolist() == [0.5, 1.5]
    assert list(NeighborLoader(path, [1], nodes="b")) == []


def test_damaged_files_are_errors(star: Path, tmp_path: Path) -> None:
    for name in ("starts", "sources"):
        loader = NeighborLoader(star, [-1], cache=tmp_path / name)
        file = Path(loader.prepared._root) / "topology" / f"0.{name}"
        data = bytearray(file.read_bytes())
        data[4:8] = b"\xff\xff\xff\xff"
        # Another file in its place: what is mapped stays as it is.
        file.unlink()
        file.write_bytes(bytes(data))
        with pytest.raises(isomorph.MalformedError, match="do not match"):
            list(NeighborLoader(star, [-1], cache=tmp_path / name))
        file.write_bytes(bytes(data[:-1]))
        with pytest.raises(isomorph.MalformedError, match="prepare the graph again"):
            NeighborLoader(star, [-1], cache=tmp_path / name)
        assert len(list(loader)) == 1


def test_numbers_of_edges_that_are_gone_are_an_error(tmp_path: Path) -> None:
    """They are read by position, so that a file that becomes shorter is noticed, and does not end the process."""
    dice = np.random.default_rng(8)
    edges = pa.table({"source": dice.integers(0, 50, 900), "target": dice.integers(0, 50, 900)})
    isomorph.write(tmp_path / "g.csv", nodes={"n": pa.table({"id": range(50)})}, edges={"e": edges}, to="csv")
    for induced in ("directional", "induced"):
        loader = NeighborLoader(tmp_path / "g.csv", [-1], cache=tmp_path / induced, subgraph_type=induced)
        (batch,) = loader
        ends = np.stack([edges["source"].to_numpy(), edges["target"].to_numpy()])
        for numbers, index in zip(batch.edges.values(), batch.edge_index.values()):
            assert len(numbers) == 900 and np.array_equal(batch.nodes["n"][index], ends[:, numbers])
        with open(Path(loader.prepared._root) / "topology" / "0.numbers", "r+b") as file:
            file.truncate(30)
        with pytest.raises(isomorph.Error, match="numbers"):
            list(loader)


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no limits of files")
def test_features_that_do_not_fit_on_the_disk_are_an_error(tmp_path: Path) -> None:
    import resource

    nodes = pa.table({"id": range(3000), "x": np.arange(3000.0)})
    isomorph.write(tmp_path / "g.csv", nodes={"n": nodes}, edges={"e": pa.table({"source": [1], "target": [2]})}, to="csv")
    loader = NeighborLoader(tmp_path / "g.csv", [1], features={"x": "x"}, cache=tmp_path / "cache")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 13, before[1]))
    try:
        with pytest.raises(isomorph.IsomorphIOError):
            list(loader)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list((tmp_path / "cache").rglob("*.part"))
    assert len(list(loader)) == 3
    with pytest.raises(isomorph.Error, match="cache"):
        (tmp_path / "file").write_text("")
        NeighborLoader(tmp_path / "g.csv", [1], cache=tmp_path / "file" / "cache")


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no signals")
def test_ctrl_c_ends_a_draw(tmp_path: Path) -> None:
    path = tmp_path / "dense.graphar"
    rows = 1500
    nodes = pa.table({"id": range(rows)})
    edges = pa.table({"source": np.repeat(np.arange(rows), 100), "target": (np.arange(rows * 100) * 7919) % rows})
    isomorph.write(path, nodes={"n": nodes}, edges={"e": edges}, to="graphar", verify=False)
    code = textwrap.dedent(
        f"""
        import os, signal, sys, threading, isomorph
        from isomorph.loader import NeighborLoader
        loader = NeighborLoader({str(path)!r}, [-1, -1, 1], replace=True, disjoint=True, batch_size=1500)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            for _ in range(1000):
                list(loader)
        except KeyboardInterrupt:
            sys.exit(0)
        sys.exit(3)
        """
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, (run.returncode, run.stderr)


def test_statistics_are_those_of_the_command(star: Path) -> None:
    found = isomorph.open(star).stats()
    assert (found["nodes"], found["edges"], found["parallel"], found["isolated"]) == (300, 301, 2, 0)
    assert found["in_degree"]["max"] == 11
    assert isomorph.open(star).stats(relation="to") == found
    with pytest.raises(isomorph.UsageError):
        isomorph.open(star).stats(relation="from")


def test_hyperedges_are_left_out_with_a_warning(fixtures: Path) -> None:
    graph = isomorph.open(fixtures / "sidecars" / "multilayer" / "annnet.annnet")
    with pytest.warns(UserWarning, match=r"hyperedges \(hyperedge, placeholder\).*left out"):
        loader = NeighborLoader(graph, [-1, -1], nodes="node")
    nodes = graph.nodes("node").count()
    assert next(iter(loader)).batch_size == nodes
    assert loader.prepared.relations["node", "edge", "node"].forward == graph.edges("edge").count()
