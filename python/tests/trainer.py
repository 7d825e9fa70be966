"""A trainer of DeepGNN that draws the same batches from the published server and from isomorph's. Runs in the environment of the published package.

trainer.py BINARY OTHER: a binary, and the same graph in another format. Prints what was compared, as JSON.
"""

from __future__ import annotations

import json
import sys
from collections import Counter

import numpy as np
from deepgnn.graph_engine.snark.client import DistributedGraph, EdgeSampler, MemoryGraph, NodeSampler
from deepgnn.graph_engine.snark.server import Server as Published

import isomorph.deepgnn as deepgnn

FEATURES = np.array([[0, 3]], dtype=np.int32)


def batch(graph: MemoryGraph, seed: int) -> list[np.ndarray]:
    """What a step needs: nodes, edges, neighbours by weight and in two hops, a walk, features."""
    nodes = NodeSampler(graph, [0, 1]).sample(16, seed=seed)[0].astype(np.int64)
    edges = EdgeSampler(graph, [0, 1]).sample(8, seed=seed + 1)
    near = graph.weighted_sample_neighbors(nodes, [0, 1], 5, seed=seed + 2)
    second = graph.weighted_sample_neighbors(near[0].reshape(-1), [0], 3, seed=seed + 3)
    walks = graph.random_walk(nodes, [0, 1], 3, 0.5, 2.0, seed=seed + 4)
    return [nodes, *edges, *near[:3], *second[:3], walks, graph.node_features(near[0].reshape(-1), FEATURES, np.float32), graph.node_types(nodes, -1)]


def same(left: MemoryGraph, right: MemoryGraph, steps: int) -> int:
    """The number of arrays that are equal in all steps."""
    count = 0
    for seed in range(1, steps + 1):
        for own, other in zip(batch(left, seed * 10), batch(right, seed * 10), strict=True):
            np.testing.assert_array_equal(own, other)
            count += 1
    return count


def shares(graph: MemoryGraph, node: int, draws: int) -> dict[int, float]:
    """How often each neighbour is drawn by weight."""
    found = graph.weighted_sample_neighbors(np.full(draws, node, dtype=np.int64), [0, 1], 1, seed=99)[0].reshape(-1)
    return {int(key): number / draws for key, number in Counter(found.tolist()).items()}


def main(binary: str, other: str) -> None:
    published = Published(binary, [0], "127.0.0.1:45671")
    client = DistributedGraph(["127.0.0.1:45671"])
    with deepgnn.Server(binary, [0], "127.0.0.1:0") as server:
        result = {"distributed": same(client, DistributedGraph([server.address]), 200)}
        again = server.address
    local = deepgnn.MemoryGraph(binary)
    result["local"] = same(client, local, 20)
    result["port_is_free"] = deepgnn.Server(binary, [0], again).address == again
    # A graph of another format draws by its own generator: the same shares, not the same draws.
    with deepgnn.Server(other, [0]) as server:
        own = DistributedGraph([server.address])
        nodes = np.arange(40, dtype=np.int64)
        for left, right in zip(client.neighbors(nodes, [0, 1])[:4], own.neighbors(nodes, [0, 1])[:4], strict=True):
            np.testing.assert_array_equal(np.sort(left), np.sort(right))
        np.testing.assert_array_equal(client.node_features(nodes, FEATURES, np.float32), own.node_features(nodes, FEATURES, np.float32))
        expected, found = shares(client, 0, 20_000), shares(own, 0, 20_000)
        result["difference"] = max(abs(expected.get(key, 0) - found.get(key, 0)) for key in expected.keys() | found.keys())
    published.reset()
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
