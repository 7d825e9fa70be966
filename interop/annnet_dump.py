"""The graph that annnet restores from a file, as plain values: the canonical form of the fixtures, for comparison.

Runs in the environment of annnet: `python annnet_dump.py PATH...` prints one JSON object per path and line.
Edges are keyed by id and have no column number, because the model has no order across kinds of edges.
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
import sys
from typing import Any

import annnet
from annnet.core import _structure


def plain(value: Any) -> Any:
    """Converts values that JSON cannot hold to `{"$": type, "v": text}`."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in sorted(value.items(), key=lambda pair: str(pair[0]))}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"$": "float", "v": str(value)}
    if isinstance(value, bytes):
        return {"$": "bytes", "v": value.hex()}
    if isinstance(value, datetime.timedelta):
        return {"$": "timedelta", "v": str(value // datetime.timedelta(microseconds=1))}
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time, decimal.Decimal)):
        return {"$": type(value).__name__.lower(), "v": str(value)}
    return value


def present(row: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The attributes of a row: values that are not keys, null or NaN."""
    missing = lambda value: value is None or isinstance(value, float) and math.isnan(value)  # noqa: E731
    return plain({name: value for name, value in row.items() if name not in keys and not missing(value)})


def rows(table: Any) -> list[dict[str, Any]]:
    """A table of any backend as records."""
    return table.to_dicts() if hasattr(table, "to_dicts") else table.to_pylist()


def dump(graph: Any) -> dict[str, Any]:
    """Everything in the graph."""
    flat = not graph.aspects

    def end(key: Any) -> Any:
        name, layer = key if _structure.is_entity_key(key) else (key, ("_",))
        return name if flat else [name, list(layer)]

    edges = {}
    policies = _structure.edge_policies(graph) or {}
    for edge in _structure.iter_edges(graph, include_placeholders=True):
        sides = _structure.edge_sides(graph, edge.id)
        coefficients = _structure.edge_coefficients(graph, edge.id)
        edges[edge.id] = plain(
            {
                "kind": edge.kind,
                "weight": edge.weight,
                "declared_directed": edge.declared_directed,
                "source": sorted((end(key) for key in sides.source), key=str),
                "target": sorted((end(key) for key in sides.target), key=str),
                "ml_kind": edge.ml_kind,
                "ml_layers": edge.ml_layers,
                "coefficients": sorted(([end(key), value] for key, value in coefficients.items()), key=str)
                if coefficients
                else None,
                "policy": policies.get(edge.id),
            }
        )
    matrix = graph.S.tocoo()
    slices = list(graph.slices.list(include_default=True))
    return {
        "directed": graph.directed,
        "graph_version": graph._version,
        "active_slice": graph._current_slice,
        "default_slice": graph._default_slice,
        "slice_order": slices,
        "entities": [[ref.id, list(ref.layer), ref.kind] for ref in _structure.iter_entities(graph)],
        "edges": edges,
        "incidence": {"shape": list(graph.S.shape), "sum_of_cells": float(sum(map(float, matrix.data)))},
        "node_attributes": {row["node_id"]: present(row, "node_id") for row in rows(graph._node_table)},
        "edge_attributes": {row["edge_id"]: present(row, "edge_id") for row in rows(graph._edge_table)},
        "slice_attributes": {row["slice_id"]: present(row, "slice_id") for row in rows(graph.slice_attributes)},
        "edge_slice_attributes": sorted(
            ([row["slice_id"], row["edge_id"], present(row, "slice_id", "edge_id")] for row in rows(graph.edge_slice_attributes)),
            key=str,
        ),
        "slices": {
            name: {
                "nodes": sorted(map(str, graph._slices[name]["nodes"])),
                "edges": sorted(graph._slices[name]["edges"]),
            }
            for name in slices
        },
        "uns": plain(graph.uns),
        "history": plain(list(graph._history)),
        "snapshots": plain(
            [
                {key: sorted(value) if isinstance(value, (set, frozenset)) else value for key, value in one.items()}
                for one in graph._snapshots
            ]
        ),
        "multilayer": multilayer(graph),
    }


def multilayer(graph: Any) -> dict[str, Any]:
    """Aspects, layers and their attributes."""
    if not graph.aspects:
        return {}
    manifest = annnet.io._shared.common.serialize_multilayer_manifest(
        graph,
        table_to_rows=rows,
        serialize_edge_layers=annnet.io._shared.common.serialize_edge_layers,
    )
    unordered = {"VM", "node_layer_attrs", "layer_tuple_attrs", "layer_attributes"}
    return {
        name: sorted(plain(value), key=str) if name in unordered and isinstance(value, list) else plain(value)
        for name, value in manifest.items()
    }


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(json.dumps(dump(annnet.AnnNet.read(path)), sort_keys=True))
