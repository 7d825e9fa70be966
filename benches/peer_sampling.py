"""Measures how DeepGNN's engine samples a graph, through Python and through its C interface.

    python peer_sampling.py GRAPH BATCHES [FEATURES]

GRAPH is a directory that `isomorph-bench sampling-make` wrote; with FEATURES it has float features of 128
numbers. Prints one line of JSON: medians in microseconds, `_c` without the Python layer, whose arrays are made once then, and
what it answers to the first batch. Batches are those of `isomorph-bench sampling-run`: 1024 nodes, ten neighbours for each, walks of five steps.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from ctypes import POINTER, c_bool, c_float, c_int32, c_int64, c_size_t, c_uint8

import numpy as np
from deepgnn.graph_engine.snark import client

BATCH, COUNT, STEPS = 1024, 10, 5
MASK = (1 << 64) - 1


def batches(number: int, nodes: int) -> list[np.ndarray]:
    """The nodes that `isomorph-bench sampling-run` draws."""
    state, drawn = 7, []
    for _ in range(number):
        batch = []
        for _ in range(BATCH):
            state ^= state >> 12
            state = (state ^ (state << 25)) & MASK
            state ^= state >> 27
            batch.append(((state * 0x2545F4914F6CDD1D) & MASK) % nodes)
        drawn.append(np.array(batch, dtype=np.int64))
    return drawn


def median(number: int, call: Callable[[int], object]) -> float:
    """The median time of a call, in microseconds."""
    for at in range(number // 5 + 1):
        call(at % number)
    times = []
    for at in range(number):
        start = time.perf_counter()
        call(at)
        times.append((time.perf_counter() - start) * 1e6)
    return round(statistics.median(times), 1)


def checksum(numbers: np.ndarray) -> str:
    """The sum of numbers times their positions, modulo 2⁶⁴."""
    numbers = numbers.ravel().astype(np.uint64)
    with np.errstate(over="ignore"):
        return str(int((numbers * np.arange(1, len(numbers) + 1, dtype=np.uint64)).sum(dtype=np.uint64)))


def pointer(array: np.ndarray, kind: type) -> object:
    return array.ctypes.data_as(POINTER(kind))


def main() -> None:
    path, number, features = sys.argv[1], int(sys.argv[2]), len(sys.argv) > 3
    start = time.perf_counter()
    graph = client.MemoryGraph(path, [0])
    report: dict[str, float | str] = {"open_ms": round((time.perf_counter() - start) * 1e3, 1)}
    nodes = batches(number, graph.meta.node_count)
    random.seed(1)
    report["weighted_us"] = median(number, lambda at: graph.weighted_sample_neighbors(nodes[at], [0], COUNT, seed=at))
    report["uniform_us"] = median(
        number, lambda at: graph.uniform_sample_neighbors(False, nodes[at], [0], COUNT, seed=at)
    )
    report["without_replacement_us"] = median(
        number, lambda at: graph.uniform_sample_neighbors(True, nodes[at], [0], COUNT, seed=at)
    )
    report["full_us"] = median(number, lambda at: graph.neighbors(nodes[at], [0]))
    report["walk_us"] = median(number, lambda at: graph.random_walk(nodes[at], [0], STEPS, 1.0, 1.0, seed=at))
    report["walk_biased_us"] = median(number, lambda at: graph.random_walk(nodes[at], [0], STEPS, 0.5, 2.0, seed=at))
    if features:
        wanted = np.array([[0, 128]], dtype=np.int32)
        report["features_us"] = median(number, lambda at: graph.node_features(nodes[at], wanted, np.float32))
        report["values"] = checksum(np.asarray(graph.node_features(nodes[0], wanted, np.float32)).view(np.uint32))
    report["neighbours"] = checksum(np.asarray(graph.weighted_sample_neighbors(nodes[0], [0], COUNT, seed=0)[0]))
    sampler = client.NodeSampler(graph, [0])
    report["nodes_us"] = median(number, lambda at: sampler.sample(BATCH, seed=at))
    edge_sampler = client.EdgeSampler(graph, [0])
    report["edges_us"] = median(number, lambda at: edge_sampler.sample(BATCH, seed=at))

    # The C interface only.
    library, handle, types = graph.lib, graph.g_, (c_int32 * 1)(0)
    ids, kinds = np.empty(BATCH * COUNT, np.int64), np.empty(BATCH * COUNT, np.int32)
    weights, walks = np.empty(BATCH * COUNT, np.float32), np.empty(BATCH * (STEPS + 1), np.int64)
    ids_at, kinds_at, weights_at = pointer(ids, c_int64), pointer(kinds, c_int32), pointer(weights, c_float)
    given = [pointer(batch, c_int64) for batch in nodes]
    one, count, size = c_size_t(1), c_size_t(COUNT), c_size_t(BATCH)
    nothing = (c_int64(-1), c_float(0.0), c_int32(-1))

    def weighted(at: int) -> None:
        library.WeightedSampleNeighbor(
            handle, c_bool(False), c_int64(at), given[at], size, types, one, None, count,
            ids_at, kinds_at, weights_at, None, *nothing,
        )  # fmt: skip

    def uniform(at: int, without: bool = False) -> None:
        library.UniformSampleNeighbor(
            handle, c_bool(without), c_bool(False), c_int64(at), given[at], size, types, one, None, count,
            ids_at, kinds_at, None, nothing[0], nothing[2],
        )  # fmt: skip

    def walk(at: int) -> None:
        library.RandomWalk(
            handle, c_int64(at), c_float(1.0), c_float(1.0), c_int64(-1), given[at], size, None, types, one,
            c_size_t(STEPS), pointer(walks, c_int64),
        )  # fmt: skip

    report["weighted_c_us"] = median(number, weighted)
    report["uniform_c_us"] = median(number, uniform)
    report["without_replacement_c_us"] = median(number, lambda at: uniform(at, True))
    report["walk_c_us"] = median(number, walk)
    if features:
        values = np.empty(BATCH * 128, np.float32)
        asked = np.array([[0, 512]], dtype=np.int32)

        def node_features(at: int) -> None:
            library.GetNodeFeature(
                handle, given[at], size, None, pointer(asked, c_int32), one,
                pointer(values, c_uint8), c_size_t(values.nbytes),
            )  # fmt: skip

        report["features_c_us"] = median(number, node_features)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
