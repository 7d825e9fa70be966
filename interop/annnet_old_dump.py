"""The graph that annnet 0.1.1 or 0.2.0 restores from a file, as plain values that refer to elements by name, not by row.

Runs in the environment of that version: `python annnet_old_dump.py PATH...` prints one JSON object per path and line: the graph,
or `{"error": ...}` with the exception that its reader raises.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any


def read(path: str) -> Any:
    """Reads a graph with the reader of the installed version; the public function of 0.2.0 imports a module that no longer exists."""
    try:
        from annnet.io.annnet_format import read as reader
    except ModuleNotFoundError:
        from annnet.io.io_annnet import read as reader
    return reader(path)


def plain(value: Any) -> Any:
    """Values that JSON can hold; sets and mappings in a fixed order."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in sorted(value.items(), key=lambda pair: str(pair[0]))}
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "item"):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def rows(table: Any, key: str) -> dict[str, Any]:
    """A table of attributes by key, without missing values: some writers have rows for all elements, others only for those with any."""
    missing = lambda value: value is None or isinstance(value, float) and math.isnan(value)  # noqa: E731
    found = {
        str(row[key]): plain({name: value for name, value in row.items() if name != key and not missing(value)})
        for row in table.to_dicts()
    }
    return {name: row for name, row in found.items() if row}


def edges(graph: Any) -> dict[str, Any]:
    """Edges by id, of either version."""
    found: dict[str, Any] = {}
    if hasattr(graph, "_edges") and not hasattr(graph, "_nl_to_row"):
        for name, record in graph._edges.items():
            found[name] = {
                "source": plain(record.src),
                "target": plain(record.tgt),
                "weight": plain(record.weight),
                "directed": record.directed,
                "kind": record.etype,
            }
        return found
    for name, (source, target, _) in graph.edge_definitions.items():
        members = graph.hyperedge_definitions.get(name)
        if members is not None:
            directed = members["directed"]
            source = sorted(map(str, members["head"] if directed else members["members"]))
            target = sorted(map(str, members["tail"])) if directed else None
        found[name] = {
            "source": source,
            "target": target,
            "weight": plain(graph.edge_weights.get(name)),
            "directed": graph.edge_directed.get(name),
            "kind": graph.edge_kind.get(name),
        }
    return found


def cells(graph: Any) -> list[Any]:
    """The matrix by names: entity, edge, value."""
    if hasattr(graph, "_row_to_entity"):
        entity, edge = {row: key[0] for row, key in graph._row_to_entity.items()}, graph._col_to_edge
    else:
        entity, edge = graph.idx_to_entity, graph.idx_to_edge
    matrix = graph._matrix.tocoo()
    return sorted(
        [entity[int(row)], edge[int(column)], plain(float(value))]
        for row, column, value in zip(matrix.row, matrix.col, matrix.data)
    )


def dump(graph: Any) -> dict[str, Any]:
    """Everything in the graph."""
    if hasattr(graph, "_entities"):
        entities = {name: record.kind for (name, _), record in graph._entities.items()}
        attributes = lambda record: record["attributes"] if hasattr(record, "__getitem__") else {}  # noqa: E731
    else:
        entities = dict(graph.entity_types)
        attributes = lambda record: record["attributes"]  # noqa: E731
    return {
        "directed": graph.directed,
        "version": graph._version,
        "entities": plain(entities),
        "edges": plain(edges(graph)),
        "cells": cells(graph),
        "presence": plain({(name, tuple(layer)) for name, layer in graph._VM}),
        "edge_layers": plain({name: graph.edge_layers[name] for name in edges(graph) if graph.edge_layers.get(name)}),
        "aspects": plain([graph.aspects, graph.elem_layers]),
        "aspect_attributes": plain(graph._aspect_attrs),
        "layer_attributes": plain(graph._layer_attrs),
        "vertices": rows(graph.vertex_attributes, "vertex_id"),
        "edge_attributes": rows(graph.edge_attributes, "edge_id"),
        "slice_attributes": rows(graph.slice_attributes, "slice_id"),
        "slices": {
            name: plain({"vertices": one["vertices"], "edges": one["edges"], "attributes": attributes(one)})
            for name, one in graph._slices.items()
        },
        "weights": plain({name: dict(one) for name, one in graph.slice_edge_weights.items()}),
        "uns": plain(graph.graph_attributes),
        "history": [plain({key: value for key, value in row.items() if value is not None}) for row in graph._history],
    }


if __name__ == "__main__":
    for path in sys.argv[1:]:
        try:
            print(json.dumps(dump(read(path)), sort_keys=True))
        except Exception as error:  # noqa: BLE001
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
