"""`stats`, `paths`, `rank` and `components` give what networkx gives, on random graphs of each kind.

networkx's fast PageRank needs scipy; the one in Python is the same, and is compared.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph

nx = pytest.importorskip("networkx", reason="networkx is not installed")
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python  # noqa: E402

KINDS = pytest.mark.parametrize(("directed", "multi"), [(True, True), (True, False), (False, True), (False, False)])
SEEDS = pytest.mark.parametrize("seed", range(4))


def written(folder: Path, seed: int, directed: bool, multi: bool) -> tuple[Any, Path]:
    """A random graph with loops, parallel edges, dead ends and lonely nodes, and its GraphML file."""
    draw = random.Random(seed)
    kinds = {(True, True): nx.MultiDiGraph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph, (False, False): nx.Graph}
    made = kinds[directed, multi]()
    names = [f"n{at}" for at in range(40)]
    made.add_nodes_from(names, label="x")
    for _ in range(draw.choice([30, 60, 120])):
        made.add_edge(draw.choice(names[:35]), draw.choice(names[:35]), weight=draw.choice([0.5, 1.0, 2.25, 4.0]))
    path = folder / "graph.graphml"
    nx.write_graphml(made, path)
    return made, path


@KINDS
@SEEDS
def test_pagerank(isomorph: Isomorph, tmp_path: Path, seed: int, directed: bool, multi: bool) -> None:
    made, path = written(tmp_path, seed, directed, multi)
    own = {row["key"]: row["rank"] for row in isomorph.json("rank", path, "--tolerance", "1e-13", "--iterations", "1000")}
    peer = _pagerank_python(made, tol=1e-14, max_iter=1000, weight=None)
    assert own.keys() == peer.keys()
    assert all(abs(own[name] - rank) < 1e-9 for name, rank in peer.items())


@KINDS
@SEEDS
def test_components(isomorph: Isomorph, tmp_path: Path, seed: int, directed: bool, multi: bool) -> None:
    made, path = written(tmp_path, seed, directed, multi)
    of = nx.weakly_connected_components if directed else nx.connected_components
    peer = sorted((sorted(part) for part in of(made)), key=lambda part: (-len(part), part))
    own: dict[int, list[str]] = {}
    for row in isomorph.json("components", path, "--each"):
        own.setdefault(row["component"], []).append(row["key"])
    assert sorted((sorted(part) for part in own.values()), key=lambda part: (-len(part), part)) == peer
    sizes = [row["nodes"] for row in isomorph.json("components", path)]
    assert sizes == [len(part) for part in peer]


@KINDS
@SEEDS
def test_shortest_paths(isomorph: Isomorph, tmp_path: Path, seed: int, directed: bool, multi: bool) -> None:
    made, path = written(tmp_path, seed, directed, multi)
    draw = random.Random(seed)
    for weight in (None, "weight"):
        start, goal = draw.choice(list(made)), draw.choice(list(made))
        try:
            # In a multigraph, paths that use other parallel edges are listed again.
            peer = sorted({tuple(found) for found in nx.all_shortest_paths(made, start, goal, weight=weight)})
        except nx.NetworkXNoPath:
            peer = []
        flags = ["--weight", weight] if weight else []
        rows = isomorph.json("paths", path, start, goal, "--all", *flags, expect=0 if peer else 1)
        own: dict[int, list[str]] = {}
        for row in rows:
            own.setdefault(row["path"], []).append(row["key"])
        assert sorted(tuple(found) for found in own.values()) == peer
        if weight and peer:
            length = nx.shortest_path_length(made, start, goal, weight=weight)
            assert max(row["distance"] for row in rows) == length


@KINDS
@SEEDS
def test_statistics(isomorph: Isomorph, tmp_path: Path, seed: int, directed: bool, multi: bool) -> None:
    made, path = written(tmp_path, seed, directed, multi)
    own = isomorph.json("stats", path)
    degrees = sorted(degree for _, degree in made.degree())
    assert (own["nodes"], own["edges"]) == (made.number_of_nodes(), made.number_of_edges())
    assert own["isolated"] == nx.number_of_isolates(made)
    assert own["loops"] == nx.number_of_selfloops(made)
    assert (own["degree"]["min"], own["degree"]["max"]) == (degrees[0], degrees[-1])
    assert own["degree"]["median"] == degrees[(len(degrees) + 1) // 2 - 1]
    for bar in own["degree"]["histogram"]:
        assert bar["count"] == sum(bar["from"] <= degree <= bar["to"] for degree in degrees)
    if directed:
        assert own["out_degree"]["max"] == max(degree for _, degree in made.out_degree())
        assert own["in_degree"]["max"] == max(degree for _, degree in made.in_degree())
        plain = nx.DiGraph(made)
        plain.remove_edges_from(list(nx.selfloop_edges(plain)))
        assert abs(own["reciprocity"] - nx.overall_reciprocity(plain)) < 1e-12
    else:
        assert own["out_degree"] is None and own["reciprocity"] is None
    distinct = {(one, other) if directed else frozenset((one, other)) for one, other in made.edges()}
    assert own["parallel"] == made.number_of_edges() - len(distinct)
