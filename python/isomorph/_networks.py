"""Graphs of other libraries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._imports import needed
from ._options import usage

if TYPE_CHECKING:
    import igraph
    import networkx
    import scipy.sparse

    from ._graph import Graph
    from ._results import Certificate
    from ._table import Table

__all__ = ["from_igraph", "from_networkx", "from_scipy", "to_igraph", "to_networkx", "to_scipy"]


def _columns(table: Table, roles: Sequence[str], wanted: Sequence[str] | None) -> tuple[list[list[Any]], list[str], list[list[Any]]]:
    """The columns of some roles, and those of properties, as lists of Python's own values."""
    schema = table.schema
    # Some edge types have neither keys nor directions of their own.
    present = {column.role: name for name, column in schema.items() if column.role != "property"}
    # Whatever has no place of its own is an attribute: properties, keys of edges, layers.
    properties = [
        name
        for name, column in schema.items()
        if column.role not in roles and column.role != "row" and (wanted is None or name in wanted)
    ]
    named = [present[role] for role in roles if role in present]
    arrow = table.select(*named, *properties).to_arrow()
    values = {name: arrow.column(at).to_pylist() for at, name in enumerate(arrow.column_names)}
    rows = arrow.num_rows
    own = [values[present[role]] if role in present else [None] * rows for role in roles]
    return own, properties, [values[name] for name in properties]


def _nodes(graph: Graph, wanted: Sequence[str] | None) -> list[tuple[str, list[Any], list[dict[str, Any]]]]:
    """For each node type: its name, the keys, the properties of each node without those that are null."""
    found = []
    for table in graph.tables():
        if table.kind != "nodes":
            continue
        own = graph.table(table.name)
        role = "key" if any(column.role == "key" for column in own.schema.values()) else "row"
        (keys, labels), names, columns = _columns(own, [role, "labels"], wanted)
        has_labels = any(column.role == "labels" for column in own.schema.values())
        _free(names, ("type", "labels") if has_labels else ("type",), f"nodes of type {table.type}")
        rows = [{name: value for name, value in zip(names, row) if value is not None} for row in _rows(columns, len(keys))]
        for row, own_labels in zip(rows, labels):
            if own_labels:
                row.setdefault("labels", own_labels)
        found.append((table.type or table.name, keys, rows))
    return found


def _edges(graph: Graph, wanted: Sequence[str] | None) -> list[tuple[str, str, str, list[Any], list[Any], list[Any], list[dict[str, Any]]]]:
    """For each edge type: source type, relation, target type, sources, targets, whether they are directed, properties."""
    stated = {(edge["source"], edge["relation"], edge["target"]): edge["direction"] for edge in graph.info()["edges"]}
    found = []
    for table in graph.tables():
        if table.kind != "edges":
            continue
        own = graph.table(table.name)
        (sources, targets, relations, directed), names, columns = _columns(
            own, ["source", "target", "relation", "directed"], wanted
        )
        is_directed = stated.get((table.source, table.type, table.target)) != "undirected"
        directed = [is_directed if value is None else value for value in directed]
        _free(names, ("relation",), f"edges {table.name}")
        rows = [{name: value for name, value in zip(names, row) if value is not None} for row in _rows(columns, len(sources))]
        for row, relation in zip(rows, relations):
            row["relation"] = table.type if relation is None else relation
        found.append((table.source or "", table.type or "", table.target or "", sources, targets, directed, rows))
    return found


def _rows(columns: list[list[Any]], count: int) -> Any:
    return zip(*columns) if columns else [()] * count


def _free(names: Sequence[str], taken: Sequence[str], what: str) -> None:
    """Fails if an attribute would be mixed up with what its library or this module calls so."""
    for name in names:
        if name in taken:
            raise usage(f"{what} have an attribute {name}, which would be mixed up with another", "node_columns= or edge_columns= without it, or rename it")


def _check(graph: Graph) -> None:
    others = [table.name for table in graph.tables() if table.kind in ("hyperedges", "members")]
    if others:
        raise usage(f"the graph has hyperedges ({', '.join(others)}), which this library has not", "convert it with hyperedges='reify' or 'expand'")


def to_networkx(graph: Graph, node_columns: Sequence[str] | None, edge_columns: Sequence[str] | None) -> networkx.MultiDiGraph[Any]:
    """See :meth:`isomorph.Graph.to_networkx`."""
    nx = needed("networkx", purpose="to_networkx()")
    _check(graph)
    types, edges = _nodes(graph, node_columns), _edges(graph, edge_columns)
    single = len(types) == 1
    all_directed = [directed for *_, own, _rows_of in edges for directed in own]
    made = nx.MultiDiGraph() if not all_directed or any(all_directed) else nx.MultiGraph()

    def name(type: str, key: Any) -> Any:
        return key if single else (type, key)

    for type, keys, rows in types:
        for key, row in zip(keys, rows):
            # Not as keyword arguments: an attribute can have the name of one.
            made.add_nodes_from([(name(type, key), {"type": type, **row})])
    for source_type, relation, target_type, sources, targets, directed, rows in edges:
        for source, target, is_directed, row in zip(sources, targets, directed, rows):
            ends = name(source_type, source), name(target_type, target)
            made.add_edges_from([(*ends, row)])
            if made.is_directed() and not is_directed and ends[0] != ends[1]:
                # An edge without a direction, among edges with one: both ways.
                made.add_edges_from([(ends[1], ends[0], row)])
    return made


def to_igraph(graph: Graph, node_columns: Sequence[str] | None, edge_columns: Sequence[str] | None) -> igraph.Graph:
    """See :meth:`isomorph.Graph.to_igraph`."""
    ig = needed("igraph", purpose="to_igraph()")
    _check(graph)
    types, edges = _nodes(graph, node_columns), _edges(graph, edge_columns)
    at: dict[tuple[str, Any], int] = {}
    attributes: dict[str, list[Any]] = {"type": [], "key": []}
    for type, keys, rows in types:
        for key, row in zip(keys, rows):
            _free(list(row), ("key",), f"nodes of type {type}")
            _append(attributes, {"type": type, "key": key}, row, len(at))
            at[type, key] = len(at)
    every_directed = [directed for *_, own, _rows_of in edges for directed in own]
    is_directed = not every_directed or any(every_directed)
    pairs: list[tuple[int, int]] = []
    of_edges: dict[str, list[Any]] = {"relation": []}
    for source_type, relation, target_type, sources, targets, directed, rows in edges:
        for source, target, own_direction, row in zip(sources, targets, directed, rows):
            one, other = at[source_type, source], at[target_type, target]
            both = is_directed and not own_direction and one != other
            for ends in [(one, other), (other, one)] if both else [(one, other)]:
                _append(of_edges, {}, row, len(pairs))
                pairs.append(ends)
    for columns, count in ((attributes, len(at)), (of_edges, len(pairs))):
        for values in columns.values():
            values.extend([None] * (count - len(values)))
    return ig.Graph(n=len(at), edges=pairs, directed=is_directed, vertex_attrs=attributes, edge_attrs=of_edges)


def _append(columns: dict[str, list[Any]], own: dict[str, Any], row: dict[str, Any], count: int) -> None:
    for name, value in {**row, **own}.items():
        values = columns.setdefault(name, [])
        values.extend([None] * (count - len(values)))
        values.append(value)


def to_scipy(graph: Graph, relation: str | None, source: str | None, target: str | None, weight: str | None) -> tuple[scipy.sparse.csr_array, list[Any], list[Any]]:
    """See :meth:`isomorph.Graph.to_scipy`."""
    sparse = needed("scipy.sparse", "scipy", purpose="to_scipy()")
    np = needed("numpy", purpose="to_scipy()")
    info = graph._only("edges", "relation", relation, source, target, False)
    table = graph.table(info.name)
    (sources, targets), _, values = _columns(table, ["source", "target"], [weight] if weight else [])
    if weight and not values:
        raise usage(f"edges {info.name} have no property {weight}", f"the columns are {', '.join(table.columns)}")

    def keys(type: str | None) -> list[Any]:
        nodes = graph.nodes(type)
        role = "key" if any(column.role == "key" for column in nodes.schema.values()) else "row"
        found: list[Any] = nodes.select(f"@{role}").to_arrow().column(0).to_pylist()
        return found

    rows = keys(info.source)
    columns = rows if info.target == info.source else keys(info.target)
    of_rows = {key: at for at, key in enumerate(rows)}
    of_columns = {key: at for at, key in enumerate(columns)}
    one = np.fromiter((of_rows[key] for key in sources), dtype=np.int64, count=len(sources))
    other = np.fromiter((of_columns[key] for key in targets), dtype=np.int64, count=len(targets))
    if weight and any(value is None for value in values[0]):
        raise usage(f"{weight} is null for some edges", "filter them, and use the table")
    data = np.asarray(values[0]) if weight else np.ones(len(sources), dtype=np.int64)
    matrix = sparse.csr_array((data, (one, other)), shape=(len(rows), len(columns)))
    matrix.sum_duplicates()
    return matrix, rows, columns


def _frame(rows: list[dict[str, Any]]) -> Any:
    """A table of rows that may lack columns."""
    pa = needed("pyarrow", purpose="writing a graph of another library")
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def from_networkx(graph: networkx.Graph[Any], path: str | os.PathLike[str], to: str | None = None, *, relation: str = "edge", **options: Any) -> Certificate:
    """Writes a graph of networkx. Nodes become nodes of one type, ``node``, with the key ``id``; if they are pairs of type and key, as
    :meth:`isomorph.Graph.to_networkx` makes them, nodes of these types. The attribute ``relation`` of an edge is its relation."""
    from ._write import write

    pairs = bool(graph) and all(isinstance(node, tuple) and len(node) == 2 and isinstance(node[0], str) for node in graph)

    def split(node: Any) -> tuple[str, Any]:
        return node if pairs else ("node", node)

    nodes: dict[str, list[dict[str, Any]]] = {}
    for node, attributes in graph.nodes(data=True):
        type, key = split(node)
        own = {name: value for name, value in attributes.items() if not (name == "type" and value == type)}
        if "id" in own and own["id"] != key:
            raise usage(f"the node {key!r} has an attribute id, which would be mixed up with its key", "rename the attribute")
        nodes.setdefault(type, []).append({**own, "id": key})
    edges: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for source, target, attributes in graph.edges(data=True):
        (source_type, one), (target_type, other) = split(source), split(target)
        own = dict(attributes)
        kind = str(own.pop("relation", relation))
        for taken in ("source", "target"):
            if taken in own:
                raise usage(f"an edge has an attribute {taken}, which would be mixed up with its end", "rename the attribute")
        edges.setdefault((source_type, kind, target_type), []).append({"source": one, "target": other, **own})
    return write(
        path,
        nodes={type: _frame(rows) for type, rows in nodes.items()},
        edges={type: _frame(rows) for type, rows in edges.items()},
        to=to,
        key="id",
        source="source",
        target="target",
        directed=graph.is_directed(),
        **options,
    )


def from_igraph(graph: igraph.Graph, path: str | os.PathLike[str], to: str | None = None, *, relation: str = "edge", **options: Any) -> Certificate:
    """Writes a graph of igraph. The key of a vertex is its attribute ``key`` or ``name``, or its index; its type is its attribute ``type``.
    The attribute ``relation`` of an edge is its relation."""
    from ._write import write

    key = next((name for name in ("key", "name") if name in graph.vs.attributes()), None)
    ends: list[tuple[str, Any]] = []
    nodes: dict[str, list[dict[str, Any]]] = {}
    for vertex in graph.vs:
        own = dict(vertex.attributes())
        type = str(own.pop("type", None) or "node")
        own_key = vertex.index if key is None else own.pop(key)
        _free(list(own), ("id",), "vertices")
        ends.append((type, own_key))
        nodes.setdefault(type, []).append({**own, "id": own_key})
    edges: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for edge in graph.es:
        own = dict(edge.attributes())
        kind = str(own.pop("relation", None) or relation)
        _free(list(own), ("source", "target"), "edges")
        (source_type, one), (target_type, other) = ends[edge.source], ends[edge.target]
        edges.setdefault((source_type, kind, target_type), []).append({**own, "source": one, "target": other})
    return write(
        path,
        nodes={type: _frame(rows) for type, rows in nodes.items()},
        edges={type: _frame(rows) for type, rows in edges.items()},
        to=to,
        key="id",
        source="source",
        target="target",
        directed=graph.is_directed(),
        **options,
    )


def from_scipy(matrix: Any, path: str | os.PathLike[str], to: str | None = None, *, relation: str = "edge", weight: str = "weight", **options: Any) -> Certificate:
    """Writes a square sparse matrix of scipy: a node for each row, an edge for each stored entry, with the entry as its weight."""
    np = needed("numpy", purpose="from_scipy()")
    pa = needed("pyarrow", purpose="from_scipy()")
    from ._write import write

    if matrix.shape[0] != matrix.shape[1]:
        raise usage(f"the matrix must be square, found {matrix.shape[0]} × {matrix.shape[1]}")
    own = matrix.tocoo()
    return write(
        path,
        nodes={"node": pa.table({"id": np.arange(matrix.shape[0], dtype=np.int64)})},
        edges={relation: pa.table({"source": own.row.astype(np.int64), "target": own.col.astype(np.int64), weight: own.data})},
        to=to,
        key="id",
        source="source",
        target="target",
        **options,
    )
