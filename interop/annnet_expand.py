"""The pairs that annnet itself makes from hyperedges, in the environment of annnet: `python annnet_expand.py PATH...`.

Prints one JSON array per path and line: hyperedge, and both ends, each with its layer if the graph has any. For a pair without a
direction, NetworkX gets both directions.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import annnet
from annnet.adapters.networkx_adapter import to_nx
from annnet.core import _structure


def end(key: Any) -> list[Any]:
    """An end, with its layer if it has one."""
    return [key[0], list(key[1])] if isinstance(key, tuple) else [key, None]


def pairs(graph: Any) -> list[Any]:
    """Each pair of each hyperedge."""
    hyperedges = {edge.id for edge in _structure.iter_edges(graph) if edge.kind == "hyper"}
    expanded, _ = to_nx(graph, directed=True, hyperedges="expand", coefficients="drop")
    edges = expanded.edges(keys=True)
    return sorted(([name, end(source), end(target)] for source, target, name in edges if name in hyperedges), key=str)


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(json.dumps(pairs(annnet.AnnNet.read(path))))
