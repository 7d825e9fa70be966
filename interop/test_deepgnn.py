"""deepgnn-ge 0.1.66 writes the same bytes as we do, reads the texts that we write, and its engine answers from our binary."""

from __future__ import annotations

import json
import random
import struct
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.ipc
import pytest

from command import Isomorph
from environments import python_with

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures" / "deepgnn"

# Number of generated graphs.
MADE = 6

NODE_FEATURES = {0: "float32", 1: "int64", 2: "text", 3: "float64", 4: "float16", 5: "sparse-float32"}
EDGE_FEATURES = {0: "float32", 1: "text"}
FORMATS = {"float32": "f", "float64": "d", "float16": "e", "int64": "q"}
KEYS = {"float32": "float", "float64": "double", "float16": "float16", "int64": "int64"}


@pytest.fixture(scope="session")
def deepgnn() -> Path:
    """An interpreter with deepgnn-ge, in an environment of its own."""
    return python_with("deepgnn", "requirements-deepgnn.txt")


def tool(python: Path, *arguments: object) -> str:
    """Runs the published library. Its converter hangs if it fails, so there is a time limit."""
    words = [str(python), str(HERE / "deepgnn_tool.py"), *map(str, arguments)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(directory: Path) -> dict[str, bytes]:
    """The files of a binary."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


def same(ours: Path, theirs: Path) -> None:
    """Fails unless two binaries have the same bytes."""
    left, right = files(ours), files(theirs)
    assert sorted(left) == sorted(right)
    for name, data in left.items():
        assert data == right[name], name


def fixture(name: str) -> Path:
    """A text or a binary of the fixtures."""
    return FIXTURES / name


def feature(dice: random.Random, ty: str, simple: bool) -> Any:
    """A value of a feature, exact in its type."""
    if ty == "text":
        return "".join(dice.choice("abcé x" if simple else "abcé漢\\\"',;|:\t x\n\u2028") for _ in range(dice.randint(1, 6)))
    if ty.startswith("sparse"):
        points = dice.randint(1, 3)
        return {
            "coordinates": [[dice.randint(0, 9), dice.randint(0, 1 << 40)] for _ in range(points)],
            "values": [dice.randint(-8, 8) / 4 for _ in range(points)],
        }
    count = dice.randint(1, 4)
    if ty == "int64":
        return [dice.randint(-(1 << 63), (1 << 63) - 1) for _ in range(count)]
    return [dice.choice([0.0, -0.0, 0.25, -3.5, 100.0]) for _ in range(count)]


def stored(ty: str, value: Any) -> str:
    """The bytes of a feature in the binary."""
    if ty == "text":
        return value.encode().hex()
    if ty.startswith("sparse"):
        flat = [number for point in value["coordinates"] for number in point]
        values = value["values"]
        return struct.pack(f"<II{len(flat)}q{len(values)}f", len(flat), 2, *flat, *values).hex()
    return struct.pack(f"<{len(value)}{FORMATS[ty]}", *value).hex()


def members(dice: random.Random, types: dict[int, str], simple: bool, own: dict[int, Any]) -> dict[str, Any]:
    """Features in their JSON form; records them in `own`."""
    found: dict[str, dict[str, Any]] = {}
    for number, ty in types.items():
        if dice.random() < 0.6 and not (simple and ty.startswith("sparse")):
            value = feature(dice, ty, simple)
            own[number] = value
            word = "binary" if ty == "text" else KEYS.get(ty) or f"sparse_{KEYS[ty.removeprefix('sparse-')]}"
            found.setdefault(f"{word}_feature", {})[str(number)] = value
    return found


class Made:
    """A generated graph, as a text in JSON, and its content. Weights and their sums are exact in 32 bits."""

    def __init__(self, seed: int, path: Path) -> None:
        dice = random.Random(seed)
        # In every second graph only what TSV and EdgeList can store.
        self.simple = seed % 2 == 0
        self.path = path
        ids = sorted(dice.sample(range(1 << 40), 40))
        self.nodes: dict[int, tuple[int, dict[int, Any]]] = {}
        self.edges: dict[tuple[int, int, int], tuple[float, dict[int, Any]]] = {}
        lines = []
        for node in ids:
            own: dict[int, Any] = {}
            ty = dice.randint(0, 2)
            record = {"node_id": node, "node_type": ty, "node_weight": dice.randint(0, 40) / 8}
            record |= members(dice, NODE_FEATURES, self.simple, own)
            self.nodes[node] = (ty, own)
            ends = {(dice.randint(0, 2), dice.choice([*ids, 7])) for _ in range(dice.randint(0, 9))}
            record["edge"] = []
            for relation, target in sorted(ends):
                features: dict[int, Any] = {}
                weight = dice.randint(1, 40) / 8
                edge = {"src_id": node, "dst_id": target, "edge_type": relation, "weight": weight}
                record["edge"].append(edge | members(dice, EDGE_FEATURES, self.simple, features))
                self.edges[node, target, relation] = (weight, features)
            lines.append(json.dumps(record))
        path.write_text("\n".join(lines) + "\n")

    def expected(self) -> dict[str, Any]:
        """The expected answers of the engine."""
        ids, weights, types, counts = [], [], [], []
        for node in self.nodes:
            own = sorted((relation, target) for source, target, relation in self.edges if source == node)
            ids += [target for _, target in own]
            types += [relation for relation, _ in own]
            weights += [self.edges[node, target, relation][0] for relation, target in own]
            counts.append(len(own))

        def features(values: dict[int, Any], kinds: dict[int, str]) -> list[str]:
            return [stored(ty, values[number]) if number in values else "" for number, ty in kinds.items()]

        node_features = [text for _, own in self.nodes.values() for text in features(own, NODE_FEATURES)]
        edge_features = [text for _, own in self.edges.values() for text in features(own, EDGE_FEATURES)]
        return {
            "types": [ty for ty, _ in self.nodes.values()],
            "neighbors": [ids, weights, types, counts],
            "node_features": node_features,
            "edge_features": edge_features,
        }

    def ask(self, python: Path, binary: Path, partitions: int) -> dict[str, Any]:
        """The answers of the engine about a binary."""
        questions = self.path.with_suffix(".questions")
        questions.write_text(
            json.dumps(
                {
                    "nodes": list(self.nodes),
                    "edges": list(self.edges),
                    "edge_types": 3,
                    "node_features": list(NODE_FEATURES),
                    "edge_features": list(EDGE_FEATURES),
                }
            )
        )
        return json.loads(tool(python, "answers", binary, partitions, questions).splitlines()[-1])


@pytest.mark.parametrize("name", ["karate/graph.json", "karate/graph.tsv", "karate/graph.edgelist", "hetero/graph.json", "hetero/graph.edgelist"])
@pytest.mark.parametrize("partitions", [1, 3])
def test_texts_become_the_bytes_of_its_converter(
    deepgnn: Path, isomorph: Isomorph, tmp_path: Path, name: str, partitions: int
) -> None:
    text = fixture(name)
    ours = isomorph.convert(text, tmp_path / "ours", "--to", "deepgnn", "--partitions", partitions)
    tool(deepgnn, "convert", text.suffix[1:], text, tmp_path / "theirs", partitions)
    same(ours, tmp_path / "theirs")


@pytest.mark.parametrize("seed", range(MADE))
def test_graphs_that_are_made_up(deepgnn: Path, isomorph: Isomorph, tmp_path: Path, seed: int) -> None:
    made = Made(seed, tmp_path / "made.json")
    expected = made.expected()
    for partitions in (1, 3):
        how = ("--to", "deepgnn", "--partitions", partitions)
        ours = isomorph.convert(made.path, tmp_path / f"ours{partitions}", *how)
        tool(deepgnn, "convert", "json", made.path, tmp_path / f"theirs{partitions}", partitions)
        same(ours, tmp_path / f"theirs{partitions}")
        told = made.ask(deepgnn, ours, partitions)
        assert {key: told[key] for key in expected} == expected
        # Its texts, in every format that can store them, give the same binary with its converter as with ours.
        formats = ["json", "edgelist", "tsv"] if made.simple else ["json"]
        for name in formats if partitions == 1 else []:
            text = isomorph.convert(made.path, tmp_path / f"text.{name}", "--to", "deepgnn")
            tool(deepgnn, "convert", name, text, tmp_path / f"of_{name}", partitions)
            again = isomorph.convert(text, tmp_path / f"again_{name}", *how)
            same(again, tmp_path / f"of_{name}")
            assert made.ask(deepgnn, again, partitions)["neighbors"] == expected["neighbors"]
            # In several files, which its converter reads one after another.
            several = isomorph.convert(made.path, tmp_path / f"several_{name}", "--to", "deepgnn", "--text", name, "--partitions", 11)
            tool(deepgnn, "convert", name, several, tmp_path / f"of_several_{name}", 2)
            same(isomorph.convert(several, tmp_path / f"again_several_{name}", "--to", "deepgnn", "--partitions", 2), tmp_path / f"of_several_{name}")
    # Partitioned again from the binary: weights of nodes are not in it, everything else is.
    anew = isomorph.convert(tmp_path / "ours3", tmp_path / "anew", "--to", "deepgnn", "--partitions", 2, "--dispatch", "id")
    told = made.ask(deepgnn, anew, 2)
    assert {key: told[key] for key in expected} == expected


def test_times_are_those_of_its_converter(deepgnn: Path, isomorph: Isomorph, tmp_path: Path) -> None:
    lines = []
    for node in range(12):
        edges = [
            {"src_id": node, "dst_id": (node * 7 + step) % 12, "edge_type": step % 2, "weight": 1.5, "created_at": step * 3 + 2}
            | ({"removed_at": 40 + step} if step % 3 else {})
            for step in range(6)
        ]
        record = {"node_id": node, "node_type": 0, "node_weight": 1.0, "created_at": 1, "edge": edges}
        lines.append(json.dumps(record | {"removed_at": 60} if node % 2 else record))
    text = tmp_path / "times.json"
    text.write_text("\n".join(lines) + "\n")
    ours = isomorph.convert(text, tmp_path / "ours", "--to", "deepgnn", "--watermark", 50)
    tool(deepgnn, "convert", "json", text, tmp_path / "theirs", 1, 50)
    same(ours, tmp_path / "theirs")
    # A binary is written again with its times and its watermark.
    again = isomorph.convert(ours, tmp_path / "again", "--to", "deepgnn")
    for name in ("edge_0_0.timestamp", "edge_0_0.index", "neighbors_0_0.index"):
        assert (again / name).read_bytes() == (ours / name).read_bytes(), name
    assert json.loads((again / "meta.json").read_text())["watermark"] == 50


def test_its_engine_reads_texts_and_points_at_times(deepgnn: Path, isomorph: Isomorph, tmp_path: Path) -> None:
    # Its documentation mentions them, but its converter lacks them.
    record = {
        "node_id": 42,
        "node_type": 0,
        "node_weight": 1.0,
        "created_at": 13,
        "binary_feature": {"0": [{"values": ["xbox"], "created_at": 20}, {"values": ["microsoft"]}]},
        "float_feature": {"1": [{"values": [0.5, 2.0], "created_at": 15}, {"values": [4.0], "created_at": 17}]},
        "sparse_int32_feature": {
            "2": [
                {"coordinates": [[5, 13], [7, 25]], "values": [-1, 1024]},
                {"coordinates": [[4, 2]], "values": [2], "created_at": 21},
            ]
        },
        "edge": [{"src_id": 42, "dst_id": 42, "edge_type": 0, "weight": 1.0}],
    }
    text = tmp_path / "times.json"
    text.write_text(json.dumps(record) + "\n")
    ours = isomorph.convert(text, tmp_path / "ours", "--to", "deepgnn", "--watermark", 50)
    told = json.loads(tool(deepgnn, "at-times", ours, 42, 13, 16, 21).splitlines()[-1])
    assert told["texts"] == ["microsoft", "microsoft", "xbox"]
    assert told["points"] == [
        [[[5, 13], [7, 25]], [-1, 1024]],
        [[[5, 13], [7, 25]], [-1, 1024]],
        [[[4, 2]], [2]],
    ]


@pytest.mark.parametrize(("seed", "partitions"), [(0, 1), (1, 3), (2, 2)])
def test_our_engine_draws_what_its_engine_draws(
    deepgnn: Path, isomorph: Isomorph, tmp_path: Path, seed: int, partitions: int
) -> None:
    made = Made(seed, tmp_path / "made.json")
    binary = isomorph.convert(made.path, tmp_path / "binary", "--to", "deepgnn", "--partitions", partitions)
    nodes, seeds, count = [*made.nodes], [0, 42, -7, (1 << 63) - 1], 10
    # For a node that does not exist the engine has no neighbours; we return an error. 7 exists: edges end in it.
    isomorph.run("sample", binary, "neighbors", *nodes, 8, expect=3)
    assert not isomorph.json("sample", binary, "neighbors", 7)["rows"]
    questions = tmp_path / "draws.json"
    questions.write_text(json.dumps({"nodes": nodes, "edge_types": 3, "count": count, "seeds": seeds}))
    told = json.loads(tool(deepgnn, "draws", binary, partitions, questions).splitlines()[-1])

    def ask(what: str, *words: object) -> list[dict[str, Any]]:
        return isomorph.json("sample", binary, what, *words)["rows"]

    everything = ask("neighbors", *nodes, "--strategy", "all")
    assert [sum(row["node"] == node for row in everything) for node in nodes] == told["counts"]
    for number in seeds:
        own, how = told[str(number)], ("--seed", number, "--generator", "deepgnn", "--count", count)
        for strategy in ("weighted", "uniform", "without-replacement"):
            rows = ask("neighbors", *nodes, "--strategy", strategy, *how)
            ids, kinds, *weights = own[strategy]
            # If there is nothing to draw, it inserts a default and we have no row.
            drawn = [
                (node, neighbor, kind)
                for node, of_node, types in zip(nodes, ids, kinds)
                for neighbor, kind in zip(of_node, types)
                if kind >= 0
            ]
            assert [(row["node"], row["neighbor"], row["type"]) for row in rows] == drawn, (strategy, number)
            for of_all in weights:
                flat = [weight for of_node, types in zip(of_all, kinds) for weight, kind in zip(of_node, types) if kind >= 0]
                assert [row["weight"] for row in rows] == pytest.approx(flat, rel=1e-6)
        assert [row["node"] for row in ask("nodes", *how)] == own["nodes"]
        found = ask("edges", *how)
        assert [[row[name] for row in found] for name in ("source", "target", "type")] == own["edges"]
    # Features: those of nodes by the types in the sidecar of the binary, those of edges by named types.
    for node, (_, features) in list(made.nodes.items())[:5]:
        names = [str(number) for number, ty in NODE_FEATURES.items() if not ty.startswith("sparse")]
        used = [name for name in names if any(int(name) in own for _, own in made.nodes.values())]
        row = ask("features", node, "--features", ",".join(used))[0]
        for name in used:
            value = features.get(int(name))
            assert row[name] == (pytest.approx(value) if isinstance(value, list) else value), (node, name)
    for (source, target, relation), (_, features) in list(made.edges.items())[:5]:
        row = ask("features", "--edge", source, target, relation, "--features", "0,1:text")[0]
        value = features.get(0)
        assert row["0"] == (value if value is None else pytest.approx(value)), (source, target, relation)
        assert row["1"] == features.get(1)


def test_answers_in_arrow_are_those_in_json(deepgnn: Path, isomorph: Isomorph, tmp_path: Path) -> None:
    """pyarrow reads the output of `sample --arrow`, for everything that can be drawn."""
    made = Made(4, tmp_path / "made.json")
    binary = isomorph.convert(made.path, tmp_path / "binary", "--to", "deepgnn", "--partitions", 2)
    nodes = list(made.nodes)[:6]
    used = [str(number) for number in NODE_FEATURES if any(number in own for _, own in made.nodes.values())]
    edges = [word for edge in list(made.edges)[:3] for word in ("--edge", *edge)]
    questions = [
        ("nodes", "--count", 7),
        ("edges", "--count", 7),
        ("neighbors", *nodes),
        ("neighbors", *nodes, "--strategy", "pagerank"),
        ("neighbors", *nodes, "--strategy", "all"),
        ("walk", *nodes),
        ("features", *nodes, "--features", ",".join(used)),
        ("features", *edges, "--features", "0,1:text"),
    ]
    for number, question in enumerate(questions):
        path = tmp_path / f"{number}.arrow"
        shown = isomorph.json("sample", binary, *question)["rows"]
        isomorph.json("sample", binary, *question, "--arrow", path)
        with pyarrow.ipc.open_file(path) as file:
            rows = file.read_all().to_pylist()
        assert len(rows) == len(shown) and list(rows[0]) == list(shown[0]), question
        for row, other in zip(rows, shown):
            for name, cell in row.items():
                assert plain(cell) == approximately(other[name]), (question, name)


def plain(cell: Any) -> Any:
    return cell.hex() if isinstance(cell, bytes) else cell


def approximately(value: Any) -> Any:
    """32-bit floats are printed with fewer digits than the same values with 64 bits."""
    if isinstance(value, dict):
        return {name: approximately(part) for name, part in value.items()}
    if isinstance(value, float) or isinstance(value, list) and value and isinstance(value[0], float):
        return pytest.approx(value, rel=1e-6)
    return value
