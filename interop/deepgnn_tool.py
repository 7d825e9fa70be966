"""Operations of the published DeepGNN on a graph, run in its own environment.

    deepgnn_tool.py convert FORMAT TEXT DIRECTORY PARTITIONS [WATERMARK]
    deepgnn_tool.py answers DIRECTORY PARTITIONS QUESTIONS.json
    deepgnn_tool.py at-times DIRECTORY NODE TIME…
    deepgnn_tool.py draws DIRECTORY PARTITIONS QUESTIONS.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from deepgnn.graph_engine.snark.client import EdgeSampler, MemoryGraph, NodeSampler
from deepgnn.graph_engine.snark.convert import MultiWorkersConverter
from deepgnn.graph_engine.snark.decoders import EdgeListDecoder, JsonDecoder, TsvDecoder

DECODERS = {"json": JsonDecoder, "tsv": TsvDecoder, "edgelist": EdgeListDecoder}


def convert(name: str, text: str, directory: str, partitions: str, watermark: str | None = None) -> None:
    """Converts a text to a binary. One thread reads, so that lines stay in order."""
    Path(directory).mkdir()
    MultiWorkersConverter(
        graph_path=text,
        output_dir=directory,
        decoder=DECODERS[name](),
        partition_count=int(partitions),
        thread_count=1,
        watermark=None if watermark is None else int(watermark),
    ).convert()


def raw(values: Any, dimensions: Any) -> list[str]:
    """The bytes of each feature of each element, one after another, as hexadecimal digits."""
    data, found, at = bytes(np.asarray(values, dtype=np.uint8)), [], 0
    for size in np.asarray(dimensions).reshape(-1):
        found.append(data[at : at + int(size)].hex())
        at += int(size)
    return found


def answers(directory: str, partitions: str, questions: str) -> None:
    """Answers of the engine about nodes and edges, as JSON."""
    asked = json.loads(Path(questions).read_text())
    graph = MemoryGraph(directory, list(range(int(partitions))))
    nodes = np.array(asked["nodes"], dtype=np.int64)
    edges = np.array(asked["edges"], dtype=np.int64).reshape(-1, 3)
    types = list(range(asked["edge_types"]))
    ids, weights, kinds, counts = graph.neighbors(nodes, types)
    told: dict[str, Any] = {
        "meta": json.loads((Path(directory) / "meta.json").read_text()),
        "types": graph.node_types(nodes, -7).tolist(),
        "neighbors": [ids.tolist(), weights.tolist(), kinds.tolist(), counts.tolist()],
        "node_features": raw(*graph.node_string_features(nodes, asked["node_features"], np.uint8)),
        "sampled": graph.weighted_sample_neighbors(nodes, types, 3, seed=5)[0].tolist(),
    }
    if len(edges):
        sources, targets, relations = (np.ascontiguousarray(edges[:, at]) for at in (0, 1, 2))
        told["edge_features"] = raw(
            *graph.edge_string_features(
                sources, targets, relations.astype(np.int32), asked["edge_features"], np.uint8
            )
        )
    print(json.dumps(told))


def draws(directory: str, partitions: str, questions: str) -> None:
    """Draws of the engine with each seed, as JSON."""
    asked = json.loads(Path(questions).read_text())
    graph = MemoryGraph(directory, list(range(int(partitions))))
    nodes = np.array(asked["nodes"], dtype=np.int64)
    types, count = list(range(asked["edge_types"])), asked["count"]
    told: dict[str, Any] = {"counts": graph.neighbor_counts(nodes, types).tolist()}
    for seed in asked["seeds"]:
        own = told[str(seed)] = {}
        ids, weights, kinds = graph.weighted_sample_neighbors(nodes, types, count, seed=seed)
        own["weighted"] = [ids.tolist(), kinds.tolist(), weights.tolist()]
        for name, without in (("uniform", False), ("without-replacement", True)):
            ids, kinds = graph.uniform_sample_neighbors(without, nodes, types, count, seed=seed)[:2]
            own[name] = [ids.tolist(), kinds.tolist()]
        own["nodes"] = NodeSampler(graph, -1).sample(count, seed=seed)[0].tolist()
        sources, targets, kinds = EdgeSampler(graph, -1).sample(count, seed=seed)
        own["edges"] = [sources.tolist(), targets.tolist(), kinds.tolist()]
    print(json.dumps(told))


def at_times(directory: str, node: str, *times: str) -> None:
    """Values of features 0, a text, and 2, of points with two coordinates each, of a node at some times, as JSON."""
    graph = MemoryGraph(directory, [0])
    nodes, asked = np.array([node] * len(times), dtype=np.int64), np.array(times, dtype=np.int64)
    data, lengths = graph.node_string_features(nodes, np.array([0], dtype=np.int32), np.uint8, timestamps=asked)
    ends = np.cumsum(np.asarray(lengths).reshape(-1)).tolist()
    texts = [bytes(np.asarray(data, dtype=np.uint8))[start:end].decode() for start, end in zip([0, *ends], ends)]
    indices, values, _ = graph.node_sparse_features(nodes, np.array([2], dtype=np.int32), np.int32, timestamps=asked)
    points: list[Any] = [[[], []] for _ in times]
    for (query, *point), value in zip(np.asarray(indices[0]).reshape(-1, 3).tolist(), np.asarray(values[0]).reshape(-1).tolist()):
        points[query][0].append(point)
        points[query][1].append(value)
    print(json.dumps({"texts": texts, "points": points}))


if __name__ == "__main__":
    {"convert": convert, "answers": answers, "draws": draws, "at-times": at_times}[sys.argv[1]](*sys.argv[2:])
