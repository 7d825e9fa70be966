"""Small property graphs in plain Python, with their rows according to the NOCK specification."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Row = Mapping[str, Any]

#: The specification's columns and physical types.
SCHEMA = pa.schema(
    [
        pa.field("src_name", pa.string(), nullable=False),
        pa.field("edge_id", pa.int32()),
        pa.field("rel_name", pa.string()),
        pa.field("dst_name", pa.string()),
        pa.field("truth", pa.float32()),
        pa.field("shadow", pa.int32()),
        pa.field("is_rdf", pa.bool_()),
        pa.field("labels", pa.string()),
        pa.field("props", pa.string()),
    ]
)


@dataclass
class Node:
    """A node; `name` is its key."""

    name: str
    labels: frozenset[str] = frozenset()
    props: dict[str, Any] = field(default_factory=dict)
    truth: float = 1.0


@dataclass
class Edge:
    """A directed edge. Parallel edges are different edges."""

    source: str
    relation: str
    target: str
    props: dict[str, Any] = field(default_factory=dict)
    truth: float = 1.0


@dataclass
class Graph:
    """Nodes and edges in the order of a file."""

    nodes: list[Node]
    edges: list[Edge]

    def facts(self, *, node_truth: bool = True) -> list[tuple]:
        """Everything in the graph, as a list that compares equal for equal graphs."""
        nodes = [
            ("node", n.name, tuple(sorted(n.labels)), text(n.props), n.truth if node_truth else None) for n in self.nodes
        ]
        edges = [("edge", e.source, e.relation, e.target, text(e.props), e.truth) for e in self.edges]
        return sorted(nodes) + sorted(edges)

    def rows(self) -> Iterable[dict[str, Any]]:
        """One row for each node, followed by one for each of its edges."""
        edges_of: dict[str, list[Edge]] = {}
        for edge in self.edges:
            edges_of.setdefault(edge.source, []).append(edge)
        for node in self.nodes:
            labels = ",".join(sorted(node.labels))
            yield row(node.name, -1, "", "", node.truth, labels, node.props)
            for number, edge in enumerate(edges_of.get(node.name, [])):
                yield row(node.name, number, edge.relation, edge.target, edge.truth, "", edge.props)

    def write_parquet(self, path: Path) -> Path:
        """Writes it with the specification's types, with plain PyArrow."""
        pq.write_table(pa.Table.from_pylist(list(self.rows()), schema=SCHEMA), path)
        return path


def row(source: str, number: int, relation: str, target: str, truth: float, labels: str, props: dict) -> dict[str, Any]:
    """One row of the table."""
    return {
        "src_name": source,
        "edge_id": number,
        "rel_name": relation,
        "dst_name": target,
        "truth": truth,
        "shadow": -1,
        "is_rdf": False,
        "labels": labels,
        "props": json.dumps(props, separators=(",", ":"), ensure_ascii=False) if props else "",
    }


def text(props: Mapping[str, Any]) -> str:
    """Compact JSON with sorted members, for comparisons: 1 and 1.0 differ, order and spacing do not matter."""
    return json.dumps(props, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def graph_of_rows(rows: Iterable[Row]) -> Graph:
    """Reads rows by the rules of the specification. Shadow rows represent nodes of another partition."""
    graph = Graph([], [])
    for line in rows:
        props = json.loads(present(line["props"]) or "{}") or {}
        if line["edge_id"] >= 0:
            relation = present(line["rel_name"])
            graph.edges.append(Edge(line["src_name"], relation, line["dst_name"], props, float(line["truth"])))
        elif line["shadow"] < 0:
            labels = frozenset(filter(None, present(line["labels"]).split(",")))
            graph.nodes.append(Node(line["src_name"], labels, props, float(line["truth"])))
    return graph


def present(value: Any) -> str:
    """Text, with every form of a missing value as the empty text."""
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if missing else str(value)


def people() -> Graph:
    """A dozen nodes and edges with content that is easily lost: several labels, JSON of every kind, integers beyond 64 bits,
    text with every separator, parallel edges, a self loop, a blank relation, a node without edges.

    Truth values are exact in 32 bits. No text has one of the two patterns that pynock 1.2.1 damages when it writes
    (a quote before a colon and a blank, a comma and a blank before a quote).
    """
    nodes = [
        Node("Ada", frozenset({"Person", "Author"}), {"born": 1815, "height": 1.65, "alive": False, "site": None}),
        Node("Grace Hopper", frozenset({"Person"}), {"langs": ["COBOL", "FLOW-MATIC"], "rank": {"navy": 8, "grades": [1, 2]}}),
        Node("Zoë ☃", frozenset({"Person"}), {"note": "snow ☃ and 東京", "empty": ""}, truth=0.5),
        Node("comma, name", frozenset({"Odd"}), {"big": 2**70, "small": -(2**63)}),
        Node('quote "name"', frozenset(), {"says": 'an "odd" one'}),
        Node("line\nbreak", frozenset({"Odd"})),
        Node("tab\tname"),
        Node(" blank before", frozenset({"Odd"})),
        Node("-1", frozenset({"Number"}), {"value": -1}),
        Node("alone", frozenset({"Person", "Isolated"}), {"friends": []}, truth=0.25),
    ]
    edges = [
        Edge("Ada", "knows", "Grace Hopper", {"since": 1943, "weight": 0.5}),
        Edge("Ada", "knows", "Grace Hopper", {"since": 1952}, truth=0.75),
        Edge("Ada", "knows", "Zoë ☃"),
        Edge("Ada", "", "-1"),
        Edge("Grace Hopper", "wrote", 'quote "name"', {"pages": 200, "tags": ["a", "b"]}, truth=0.125),
        Edge("Grace Hopper", "knows", "Ada"),
        Edge("Zoë ☃", "likes", "Zoë ☃", {"much": True}),
        Edge("comma, name", "next to", "line\nbreak"),
        Edge("line\nbreak", "next to", "tab\tname", {"text": "two\nlines"}),
        Edge("-1", "precedes", " blank before", {"by": 1}),
    ]
    return Graph(nodes, edges)
