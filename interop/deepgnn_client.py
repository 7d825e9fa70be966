"""The published DeepGNN over the network: its server, and the answers that its client gets from any servers. Runs in its own environment.

    deepgnn_client.py serve DIRECTORY PARTITIONS PORT
    deepgnn_client.py ask SERVERS QUESTIONS.json
    deepgnn_client.py draw SERVERS QUESTIONS.json
    deepgnn_client.py totals SERVERS
    deepgnn_client.py refused SERVERS
    deepgnn_client.py speed SERVERS NODES TYPES FEATURE CALLS PROCESS…
    deepgnn_client.py encrypted SERVERS AUTHORITIES.pem
    deepgnn_client.py patient SERVERS CALLS
    deepgnn_client.py visit SERVERS SECONDS
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from deepgnn.graph_engine.snark.client import DistributedGraph, EdgeSampler, NodeSampler


def serve(directory: str, partitions: str, port: str) -> None:
    """Runs the published server until standard input ends."""
    from deepgnn.graph_engine.snark.server import Server

    numbers = [int(number) for number in partitions.split(",")]
    server = Server(directory, numbers, f"127.0.0.1:{port}")
    print("ready", flush=True)
    sys.stdin.read()
    server.reset()


def listed(answer: Any) -> Any:
    """Converts arrays to lists, at any depth."""
    if isinstance(answer, (tuple, list)):
        return [listed(part) for part in answer]
    return answer.tolist() if hasattr(answer, "tolist") else answer


def quick(servers: str) -> DistributedGraph:
    """A client that does not retry: what fails is a failure."""
    options = [("max_attempts", "1"), ("initial_backoff", "1"), ("backoff_multiplier", "1")]
    try:
        return DistributedGraph(servers.split(","), grpc_options=options)
    except KeyError:
        return DistributedGraph(servers.split(","))


def ask(servers: str, questions: str) -> None:
    """All methods of the client, as JSON."""
    asked = json.loads(Path(questions).read_text())
    graph = quick(servers)
    nodes = np.array(asked["nodes"], dtype=np.int64)
    edges = np.array(asked["edges"], dtype=np.int64).reshape(-1, 3)
    sources, targets, kinds = (np.ascontiguousarray(edges[:, at]) for at in (0, 1, 2))
    kinds = kinds.astype(np.int32)
    types, count, meta = list(range(asked["edge_types"])), asked["count"], graph.meta
    features = np.array(asked["node_features"], dtype=np.int32)
    of_edges = np.array(asked["edge_features"], dtype=np.int32)
    sized = np.array([[feature, 12] for feature in features], dtype=np.int32)
    sized_of_edges = np.array([[feature, 12] for feature in of_edges], dtype=np.int32)
    told: dict[str, Any] = {
        "meta": {name: listed(value) for name, value in sorted(vars(meta).items()) if not name.startswith("_") and "path" not in name},
        "counts of types": [graph.get_node_type_count(list(range(meta.node_type_count))), graph.get_edge_type_count(types)],
        "types": listed(graph.node_types(nodes, -7)),
        "neighbors": listed(graph.neighbors(nodes, types)),
        "neighbors created": listed(graph.neighbors(nodes, types, return_edge_created_ts=True)),
        "neighbor counts": listed(graph.neighbor_counts(nodes, types)),
        "dense": listed(graph.node_features(nodes, sized, np.uint8)),
        "dense of edges": listed(graph.edge_features(sources, targets, kinds, sized_of_edges, np.uint8)),
        "strings": listed(graph.node_string_features(nodes, features, np.uint8)),
        "strings of edges": listed(graph.edge_string_features(sources, targets, kinds, of_edges, np.uint8)),
        "sparse": [listed(graph.node_sparse_features(nodes[at : at + 1], features[f : f + 1], np.uint8)) for at, f in asked["sparse"]],
        "sparse of edges": [
            listed(graph.edge_sparse_features(sources[at : at + 1], targets[at : at + 1], kinds[at : at + 1], of_edges[f : f + 1], np.uint8))
            for at, f in asked["sparse_edges"]
        ],
        "pagerank": sorted(np.asarray(graph.ppr_neighbors(nodes, types, count)[1]).reshape(-1).round(5).tolist()),
    }
    for ty in types:
        told[f"neighbors of type {ty}"] = listed(graph.neighbors(nodes, ty))
    for seed in asked["seeds"]:
        told[f"weighted {seed}"] = listed(graph.weighted_sample_neighbors(nodes, types, count, -3, 0.5, -4, seed=seed))
        told[f"uniform {seed}"] = listed(graph.uniform_sample_neighbors(False, nodes, types, count, -3, -4, seed=seed))
        told[f"without {seed}"] = listed(graph.uniform_sample_neighbors(True, nodes, types, count, -3, -4, seed=seed))
        told[f"walk {seed}"] = listed(graph.random_walk(nodes, types, 5, 0.5, 2.0, seed=seed))
        told[f"nodes {seed}"] = listed(NodeSampler(graph, -1).sample(50, seed=seed))
        told[f"edges {seed}"] = listed(EdgeSampler(graph, -1).sample(50, seed=seed))
    # Uniform draws have a different order in each process of the published server: a draw of all nodes is the same set.
    everyone = sum(graph.get_node_type_count([ty]) for ty in range(meta.node_type_count))
    told["all nodes"] = sorted(zip(*listed(NodeSampler(graph, -1, "withoutreplacement").sample(everyone, seed=1))))
    told["evenly"] = sorted(set(listed(NodeSampler(graph, -1, "uniform").sample(2000, seed=1)[0])))
    drawn = listed(EdgeSampler(graph, -1, "uniform").sample(4000, seed=1))
    told["edges evenly"] = sorted(set(zip(*drawn)))
    for time_asked in asked.get("times", []):
        at = np.full(len(nodes), time_asked, dtype=np.int64)
        told[f"at {time_asked}"] = [
            listed(graph.neighbors(nodes, types, timestamps=at, return_edge_created_ts=True)),
            [list(zip(*of_node)) for of_node in zip(*listed(graph.lastn_neighbors(nodes, types, at, count, -3, 0.5, -4, -5, True)))],
        ]
    graph.reset()
    print(json.dumps(told))


def draw(servers: str, questions: str) -> None:
    """How often each element is drawn, by strategy: JSON. Seeds differ, so that draws do not depend on each other."""
    asked = json.loads(Path(questions).read_text())
    graph, types, many = quick(servers), list(range(asked["edge_types"])), asked["draws"]

    def counted(*columns: Any) -> dict[str, int]:
        drawn = zip(*(np.asarray(column).reshape(-1).tolist() for column in columns))
        return dict(Counter(" ".join(map(str, one)) for one in drawn))

    told = {}
    for kind in "weighted", "uniform":
        told[f"nodes {kind}"] = counted(*NodeSampler(graph, -1, kind).sample(many, seed=1))
        told[f"edges {kind}"] = counted(*EdgeSampler(graph, -1, kind).sample(many, seed=1))
    for node in asked["nodes"]:
        nodes = np.full(many // 2, node, dtype=np.int64)
        ids, _, kinds = graph.weighted_sample_neighbors(nodes, types, 2, seed=5)
        told[f"weighted {node}"] = counted(ids, kinds)
        told[f"uniform {node}"] = counted(*graph.uniform_sample_neighbors(False, nodes, types, 2, seed=5))
        told[f"without {node}"] = counted(*graph.uniform_sample_neighbors(True, nodes, types, 2, seed=5))
        told[f"walk {node}"] = counted(graph.random_walk(nodes, types, 1, 1.0, 1.0, seed=5)[:, 1])
    print(json.dumps(told))


def totals(servers: str) -> None:
    """The numbers of nodes and edges, and of the neighbours of all nodes: JSON."""
    graph = quick(servers)
    meta = graph.meta
    nodes = np.arange(1000, dtype=np.int64)
    counts = graph.neighbor_counts(nodes, list(range(meta.edge_type_count)))
    print(json.dumps([meta.node_count, meta.edge_count, int(counts.sum())]))


def refused(servers: str) -> None:
    """The error of the client for a call that is refused, and whether it continues to work."""
    graph = quick(servers)
    nodes = np.arange(2000, dtype=np.int64)
    try:
        graph.weighted_sample_neighbors(nodes, [0], 70_000, seed=1)
        print("answered")
    except Exception as error:  # noqa: BLE001
        print("refused", type(error).__name__)
    print("then", len(graph.node_types(nodes[:10], -7)))


def encrypted(servers: str, authorities: str) -> None:
    """The number of nodes whose types a client gets over TLS, by the certificates of these authorities."""
    graph = DistributedGraph(servers.split(","), ssl_cert=Path(authorities).read_text())
    print(len(graph.node_types(np.arange(34, dtype=np.int64), -7)))


def patient(servers: str, calls: str) -> None:
    """Calls one after another, with the client's own retries. Prints a line after the first, and the number of calls at the end."""
    graph, nodes = DistributedGraph(servers.split(",")), np.arange(34, dtype=np.int64)
    sampler = NodeSampler(graph, -1)
    expected = graph.neighbors(nodes, [0])[0].tolist()
    for call in range(int(calls)):
        assert graph.neighbors(nodes, [0])[0].tolist() == expected
        assert len(sampler.sample(64)[0]) == 64
        if call == 0:
            print("first", flush=True)
        time.sleep(0.01)
    print(calls)


def visit(servers: str, seconds: str) -> None:
    """Clients that come and go one after another: each draws for a moment. Prints their number; one failed call is an error."""
    end, visits, nodes = time.monotonic() + float(seconds), 0, np.arange(34, dtype=np.int64)
    while time.monotonic() < end:
        graph = quick(servers)
        for kind in "weighted", "uniform":
            sampler = NodeSampler(graph, -1, kind)
            for _ in range(5):
                drawn = sampler.sample(64)[0]
                graph.weighted_sample_neighbors(drawn, [0], 10)
        graph.random_walk(nodes, [0], 5, 1.0, 1.0)
        graph.reset()
        visits += 1
    print(visits)


def speed(servers: str, nodes: str, types: str, feature: str, calls: str, *processes: str) -> None:
    """For each kind of work of a trainer, in batches of 1024: calls per second, milliseconds of processor time of the servers per call (their
    process numbers are given), and the milliseconds within which 50 and 99 of 100 calls are answered: as JSON."""
    graph, last = DistributedGraph(servers.split(",")), int(nodes)
    dice, kinds = np.random.default_rng(7), list(range(int(types)))
    sampler = NodeSampler(graph, -1)
    batch = lambda: dice.integers(0, last, 1024, dtype=np.int64)  # noqa: E731
    size = np.array([[int(feature), 64]], dtype=np.int32)
    kinds_of_calls: dict[str, Callable[[], object]] = {
        "weighted": lambda: graph.weighted_sample_neighbors(batch(), kinds, 10, seed=3),
        "uniform": lambda: graph.uniform_sample_neighbors(False, batch(), kinds, 10, seed=3),
        "neighbors": lambda: graph.neighbors(batch(), kinds),
        "walk": lambda: graph.random_walk(batch(), kinds, 5, 1.0, 1.0, seed=3),
        "features": lambda: graph.node_features(batch(), size, np.float32),
        "nodes": lambda: sampler.sample(1024, seed=3),
    }

    def processor() -> float:
        fields = [Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split() for process in processes]
        return sum(int(of[11]) + int(of[12]) for of in fields) / os.sysconf("SC_CLK_TCK")

    told = {}
    for name, call in kinds_of_calls.items():
        call()
        start, used, took = time.perf_counter(), processor(), []
        for _ in range(int(calls)):
            begun = time.perf_counter()
            call()
            took.append(1000 * (time.perf_counter() - begun))
        seconds, used = time.perf_counter() - start, processor() - used
        took.sort()
        slow = [round(took[min(len(took) - 1, len(took) * share // 100)], 3) for share in (50, 99)]
        told[name] = [round(int(calls) / seconds), round(1000 * used / int(calls), 3), *slow]
    print(json.dumps(told))


if __name__ == "__main__":
    tasks = [serve, ask, draw, totals, refused, speed, encrypted, patient, visit]
    {task.__name__: task for task in tasks}[sys.argv[1]](*sys.argv[2:])
