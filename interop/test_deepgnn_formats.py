"""The stock client of deepgnn-ge 0.1.66 over random graphs in every format and from every kind of place: answers equal those of the published
server, and what the text of the graph says."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph
from deepgnn_servers import client, ours, theirs, told
from environments import python_with

#: The removal of an edge that was not removed, and a node that does not exist.
NEVER, NOBODY = -1, 5000


@pytest.fixture(scope="session")
def deepgnn() -> Path:
    """An interpreter with deepgnn-ge."""
    return python_with("deepgnn", "requirements-deepgnn.txt")


def graph(seed: int, temporal: bool) -> list[dict[str, Any]]:
    """A graph as lines of JSON: two types of nodes, three of edges, weights that 32 bits hold exactly, every kind of feature. Without times, no
    two edges are parallel, so that an edge is named by its ends and type."""
    dice, lines = random.Random(seed), []
    nodes = sorted(dice.sample(range(1000), 24))
    for node in nodes:
        edges: list[dict[str, Any]] = []
        for _ in range(dice.randrange(9)):
            end, kind = dice.choice(nodes), dice.randrange(3)
            if any((edge["dst_id"], edge["edge_type"]) == (end, kind) for edge in edges):
                continue
            edge = {"src_id": node, "dst_id": end, "edge_type": kind, "weight": dice.randrange(1, 40) / 8}
            edge |= {"float_feature": {"0": [dice.random() for _ in range(2)]}, "binary_feature": {"1": f"edge {dice.randrange(99)}"}}
            edge |= {"sparse_int64_feature": {"2": {"coordinates": [[dice.randrange(9)]], "values": [dice.randrange(9)]}}}
            if temporal:
                created = dice.randrange(1, 8)
                edge |= {"created_at": created, "removed_at": NEVER if dice.random() < 0.3 else created + dice.randrange(1, 6)}
            edges.append(edge)
        line: dict[str, Any] = {"node_id": node, "node_type": dice.randrange(2), "node_weight": dice.randrange(1, 40) / 8}
        line |= {"float_feature": {"0": [dice.random() for _ in range(3)]}, "int64_feature": {"1": [dice.randrange(99)]}}
        line |= {"binary_feature": {"2": f"node {node}"}}
        if dice.random() < 0.8:
            points = {"coordinates": [[0, dice.randrange(5)], [1, 4]], "values": [1.5, dice.random()]}
            line |= {"sparse_float_feature": {"3": points}}
        if temporal:
            line |= {"created_at": 0, "removed_at": NEVER}
        lines.append(line | {"edge": edges})
    return lines


class Served:
    """A graph in every format: the text, its binary, and copies of the text."""

    def __init__(self, isomorph: Isomorph, home: Path, lines: list[dict[str, Any]], watermark: int | None) -> None:
        self.lines, self.text = lines, home / "graph.json"
        self.text.write_text("".join(json.dumps(line) + "\n" for line in lines))
        times = [] if watermark is None else ["--watermark", watermark]
        self.binary = isomorph.convert(self.text, home / "binary", "--to", "deepgnn", *times)
        self.parts = isomorph.convert(self.text, home / "parts", "--to", "deepgnn", "--partitions", 3, *times)
        self.copies = [isomorph.convert(self.text, home / name, "--to", to) for to, name in (("nock", "graph.parq"), ("graphar", "graphar"))]

    def questions(self, home: Path, times: list[int], seeds: list[int]) -> Path:
        """A file with everything that the client can ask."""
        path = home / "questions.json"
        edges = [[edge["src_id"], edge["dst_id"], edge["edge_type"]] for line in self.lines for edge in line["edge"]]
        nodes = [line["node_id"] for line in self.lines]
        asked = {"nodes": [*nodes, NOBODY, nodes[3], nodes[3]], "edges": [*edges[:20], [nodes[0], NOBODY, 0]], "edge_types": 3, "count": 3}
        asked |= {"node_features": [0, 1, 2, 3, 9], "edge_features": [0, 1, 2, 9], "sparse": [[0, 3], [1, 3], [2, 9]]}
        path.write_text(json.dumps(asked | {"sparse_edges": [[0, 2], [3, 2]], "times": times, "seeds": seeds}))
        return path


def per_node(answer: list[Any], counts: list[int]) -> list[list[tuple[Any, ...]]]:
    """The neighbours of each node, sorted: their order is that of files, and files of other formats have another one."""
    lists, at = [], 0
    for count in counts:
        lists.append(sorted(zip(*[column[at : at + count] for column in answer])))
        at += count
    return lists


@pytest.mark.parametrize("seed", range(2))
def test_all_calls_over_every_format(deepgnn: Path, isomorph: Isomorph, tmp_path: Path, seed: int) -> None:
    """One graph, all calls that have one answer: exactly that of the published server. Draws by seed from the binary, too."""
    served = Served(isomorph, tmp_path, graph(seed, temporal=False), None)
    questions = served.questions(tmp_path, [], [])
    with theirs(deepgnn, served.binary, "0") as published:
        expected = told(deepgnn, published, questions)
    assert expected["types"] == [line["node_type"] for line in [*served.lines, {"node_type": -7}, served.lines[3], served.lines[3]]]
    for path, *flags in [[served.binary], [served.binary, "--generator", "stable"], [served.text], *[[copy] for copy in served.copies]]:
        with ours(isomorph, path, *flags) as address:
            own = told(deepgnn, address, questions)
        assert own.keys() == expected.keys()
        assert not [name for name in expected if own[name] != expected[name]], (path, flags)


@pytest.mark.parametrize("seed", range(2))
def test_every_draw_of_the_binary_by_its_seed(deepgnn: Path, isomorph: Isomorph, tmp_path: Path, seed: int) -> None:
    """What the published server repeats by seed, ours gives as well: from one server, and from three, ours and theirs mixed."""
    served = Served(isomorph, tmp_path, graph(seed + 10, temporal=False), None)
    questions = served.questions(tmp_path, [], [1, 7, -5])
    with ExitStack() as stack:
        pairs = [(stack.enter_context(theirs(deepgnn, served.binary, "0")), stack.enter_context(ours(isomorph, served.binary)))]
        parts = [str(part) for part in range(3)]
        published = [stack.enter_context(theirs(deepgnn, served.parts, part)) for part in parts]
        own = [stack.enter_context(ours(isomorph, served.parts, "--partitions", part)) for part in parts]
        pairs += [(",".join(published), ",".join(own)), (",".join(published), ",".join([own[0], published[1], own[2]]))]
        for left, right in pairs:
            answers = [told(deepgnn, address, questions) for address in (left, right)]
            if "," in left:
                # The client may request more from one server than it has: theirs leaves zeros in the remaining positions, ours writes −1.
                [answer.pop("all nodes") for answer in answers]
            assert not [name for name in answers[0] if answers[0][name] != answers[1][name]], (left, right)


def alive(edge: dict[str, Any], time: int) -> bool:
    """Whether an edge exists at a time: from its creation until just before its removal, as DeepGNN's documentation says."""
    return edge["created_at"] <= time and (edge["removed_at"] == NEVER or time < edge["removed_at"])


@pytest.mark.parametrize("seed", range(2))
def test_times_over_every_format(deepgnn: Path, isomorph: Isomorph, tmp_path: Path, seed: int) -> None:
    """Neighbours at each time, their number and the latest: those that the text states, in every format; from the binary exactly as from the
    published server, order and ties included. Only where an edge is removed at the very time, the published server still counts it among the
    latest, unlike its own list of neighbours and its documentation; ours does not."""
    lines = graph(seed + 20, temporal=True)
    served, times, count = Served(isomorph, tmp_path, lines, 20), list(range(15)), 3
    questions = served.questions(tmp_path, times, [])
    asked = json.loads(questions.read_text())
    with theirs(deepgnn, served.binary, "0") as published:
        expected = told(deepgnn, published, questions)
    edges = {line["node_id"]: line["edge"] for line in lines}
    differing = equal = 0
    for path, *flags in [[served.binary], [served.binary, "--generator", "stable"], [served.text], *[[copy] for copy in served.copies]]:
        with ours(isomorph, path, *flags) as address:
            own = told(deepgnn, address, questions)
        exact = path == served.binary and not flags
        # The order of neighbours is that of times in the binary alone; PageRank adds up in the order of neighbours.
        ordered = {"neighbors", "neighbors created", "pagerank", "meta", *[f"neighbors of type {ty}" for ty in range(3)]}
        for name in expected.keys() - {f"at {time}" for time in times} - (set() if exact else ordered):
            assert own[name] == expected[name], (path, name)
        for time in times:
            (ids, weights, kinds, counts, created), latest = own[f"at {time}"]
            lists = per_node([ids, kinds, weights, created], counts)
            for node, found in zip(asked["nodes"], lists):
                there = [edge for edge in edges.get(node, []) if alive(edge, time)]
                assert found == sorted((edge["dst_id"], edge["edge_type"], edge["weight"], edge["created_at"]) for edge in there)
            if exact:
                assert [ids, weights, kinds, counts, created] == expected[f"at {time}"][0]
            for node, found, theirs_found in zip(asked["nodes"], latest, expected[f"at {time}"][1]):
                found = [tuple(slot) for slot in found]
                there = [edge for edge in edges.get(node, []) if alive(edge, time)]
                newest = sorted((edge["created_at"] for edge in there), reverse=True)[:count]
                kept = [slot for slot in found if slot[0] != -3]
                # The times are those of the newest edges, and each slot is one of the edges.
                assert sorted((slot[3] for slot in kept), reverse=True) == newest
                stated = Counter((edge["dst_id"], edge["weight"], edge["edge_type"], edge["created_at"]) for edge in there)
                assert not Counter(kept) - stated, (path, node, time)
                assert found[len(kept) :] == [(-3, 0.5, -4, -5)] * (count - len(kept))
                if exact and not any(edge["removed_at"] == time for edge in edges.get(node, [])):
                    assert found == [tuple(slot) for slot in theirs_found], (node, time)
                    equal += 1
                elif exact:
                    differing += found != [tuple(slot) for slot in theirs_found]
    assert equal > 200 and differing > 0


def likely(name: str, drawn: dict[str, int], weights: dict[str, float]) -> None:
    """Fails if counts differ from what these weights make likely: χ² beyond what happens once in a million times."""
    assert not drawn.keys() - weights.keys(), (name, drawn.keys() - weights.keys())
    draws, total, chi = sum(drawn.values()), sum(weights.values()), 0.0
    for key, weight in weights.items():
        expected = draws * weight / total
        chi += (drawn.get(key, 0) - expected) ** 2 / expected
    freedom = max(len(weights) - 1, 1)
    limit = freedom * (1 - 2 / (9 * freedom) + 4.75 * math.sqrt(2 / (9 * freedom))) ** 3
    assert chi <= limit, f"{name}: χ² is {chi:.1f}, above {limit:.1f}"


def test_draws_over_every_format(deepgnn: Path, isomorph: Isomorph, tmp_path: Path) -> None:
    """Samples of nodes, edges and neighbours, and steps of walks, are as likely as the text says: from the published server, from the binary with
    both generators, from the text and from its copies."""
    served = Served(isomorph, tmp_path, graph(30, temporal=False), None)
    busiest = sorted(served.lines, key=lambda line: -len(line["edge"]))[:2]
    questions = tmp_path / "draws.json"
    questions.write_text(json.dumps({"nodes": [line["node_id"] for line in busiest], "edge_types": 3, "draws": 20_000}))
    weights: dict[str, dict[str, float]] = {}
    of_nodes = {f"{line['node_id']} {line['node_type']}": line["node_weight"] for line in served.lines}
    all_edges = [edge for line in served.lines for edge in line["edge"]]
    of_edges = {f"{edge['src_id']} {edge['dst_id']} {edge['edge_type']}": edge["weight"] for edge in all_edges}
    for what, by_weight in ("nodes", of_nodes), ("edges", of_edges):
        weights |= {f"{what} weighted": by_weight, f"{what} uniform": dict.fromkeys(by_weight, 1.0)}
    for line in busiest:
        node, near = line["node_id"], {f"{edge['dst_id']} {edge['edge_type']}": edge["weight"] for edge in line["edge"]}
        weights |= {f"weighted {node}": near, f"uniform {node}": dict.fromkeys(near, 1.0), f"without {node}": dict.fromkeys(near, 1.0)}
        # A walk does not stay where it begins.
        steps: Counter[str] = Counter()
        for edge in line["edge"]:
            steps[str(edge["dst_id"])] += edge["weight"] if edge["dst_id"] != node else 0
        weights[f"walk {node}"] = {end: weight for end, weight in steps.items() if weight}

    def check(whose: str, address: str) -> None:
        drawn = json.loads(client(deepgnn, "draw", address, questions))
        assert drawn.keys() == weights.keys()
        for name, counts in drawn.items():
            likely(f"{whose}: {name}", counts, weights[name])

    with theirs(deepgnn, served.binary, "0") as published:
        check("published", published)
    for path, *flags in [[served.binary], [served.binary, "--generator", "stable"], [served.text], *[[copy] for copy in served.copies]]:
        with ours(isomorph, path, *flags) as address:
            check(f"{path} {flags}", address)


@pytest.fixture
def store() -> Iterator[Any]:
    """A server that implements S3."""
    from object_stores import moto

    with moto() as store:
        yield store


def test_graphs_in_an_object_store_and_on_a_web_server(deepgnn: Path, isomorph: Isomorph, store: Any, tmp_path: Path) -> None:
    """`s3://` and `http://` answer as the same files on a disk: a binary whole and by partition, a text, NOCK, and in the store GraphAr; a kept
    graph is read again if its object changes."""
    pytest.importorskip("werkzeug", reason="werkzeug is not installed")
    from servers import serving, static

    served = Served(isomorph, tmp_path, graph(40, temporal=False), None)
    questions = served.questions(tmp_path, [], [3])
    paths = [served.binary, served.parts, served.text, *served.copies]
    remote = isomorph.with_environment(store.environment(store.address))
    bucket = store.url("").split("/")[2]
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path, *path.parent.glob(f"{path.name}.isomorph/*")]:
            if file.is_file():
                store.client.put_object(Bucket=bucket, Key=str(file.relative_to(tmp_path)), Body=file.read_bytes())
    with serving(static(tmp_path, ranges=True)) as site:
        for path in paths:
            name = path.relative_to(tmp_path)
            with ours(isomorph, path) as address:
                expected = told(deepgnn, address, questions)
            places = [(remote, store.url(str(name)))]
            # A web server lists nothing, which a GraphAr graph with a sidecar needs.
            if not any(path.glob("*.graph.yml")):
                places.append((isomorph, f"{site}/{name}"))
            for server, there in places:
                with ours(server, there) as address:
                    assert told(deepgnn, address, questions) == expected, there
    with ours(remote, store.url("parts"), "--partitions", "1") as there, ours(isomorph, served.parts, "--partitions", "1") as here:
        own, expected = (told(deepgnn, address, questions) for address in (there, here))
        assert own == expected
    # The cache is bound to the objects: a change is noticed at the next start.
    cache = tmp_path / "cache"
    types = []
    for text in served.text.read_bytes(), served.text.read_bytes().replace(b'"node_type": 0', b'"node_type": 1'):
        store.client.put_object(Bucket=bucket, Key="graph.json", Body=text)
        for _ in range(2):
            with ours(remote, store.url("graph.json"), "--cache", cache) as address:
                types.append(told(deepgnn, address, questions)["types"])
    assert types[0] == types[1] != types[2] == types[3] and 0 not in types[2]


def test_a_lake_is_served_at_a_snapshot(deepgnn: Path, isomorph: Isomorph, tmp_path: Path) -> None:
    """`LAKE@1` and `--at 1` serve the first snapshot although there is a second; a kept one is not taken for another."""
    lake, text, more = tmp_path / "lake", tmp_path / "first.nt", tmp_path / "second.nt"
    name = "<http://example.org/{}>".format
    first = [(1, 2), (2, 3), (3, 1)]
    second = [(1, 4), (4, 5), (5, 1), (2, 1)]
    for path, edges in (text, first), (more, second):
        path.write_text("".join(f"{name(a)} {name('knows')} {name(b)} .\n" for a, b in edges))
        isomorph.run("lake", "load", lake, path)
    counts, cache = {}, tmp_path / "cache"
    for path, *flags in [[f"{lake}@1"], [lake, "--at", "1"], [lake], [f"{lake}@2"]]:
        for kept in [], ["--cache", cache], ["--cache", cache]:
            with ours(isomorph, path, *flags, *kept) as address:
                asked = client(deepgnn, "totals", address)
            counts.setdefault((str(path), *flags), []).append(json.loads(asked))
    one, two = [[3, 3, 3]] * 3, [[5, 7, 7]] * 3
    assert list(counts.values()) == [one, one, two, two], counts
    # The second snapshot while a server of the first one runs.
    with ours(isomorph, f"{lake}@1") as address:
        isomorph.run("lake", "insert", lake, f"{name(7)} {name('knows')} {name(8)} .")
        assert json.loads(client(deepgnn, "totals", address)) == [3, 3, 3]
    with ours(isomorph, lake, "--cache", cache) as address:
        assert json.loads(client(deepgnn, "totals", address)) == [7, 8, 8]
