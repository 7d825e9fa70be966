"""Graphs of other libraries."""

from __future__ import annotations

import decimal
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._imports import needed
from ._options import unsupported, usage

if TYPE_CHECKING:
    import igraph
    import networkx
    import scipy.sparse

    from ._graph import Graph
    from ._results import Certificate
    from ._table import Table
    from ._write import EdgeName

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
    values = {name: _values(arrow.column(at), name, table.name) for at, name in enumerate(arrow.column_names)}
    rows = arrow.num_rows
    own = [values[present[role]] if role in present else [None] * rows for role in roles]
    return own, properties, [values[name] for name in properties]


def _values(column: Any, name: str, table: str) -> list[Any]:
    """The values of a column as Python's own."""
    try:
        found: list[Any] = column.to_pylist()
        return found
    except (OverflowError, ValueError) as error:
        raise unsupported(f"{table}: a value of {name} is none of Python: {error}", "node_columns= or edge_columns= without it") from error


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
    stated = _directions(graph)
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


def _free(names: Sequence[str], taken: Sequence[str], what: str, hint: str = "node_columns= or edge_columns= without it, or rename it") -> None:
    """Fails if an attribute would be mixed up with what its library or this module calls so."""
    for name in names:
        if name in taken:
            raise usage(f"{what} have an attribute {name}, which would be mixed up with another", hint)


def _check(graph: Graph) -> None:
    others = [table.name for table in graph.tables() if table.kind in ("hyperedges", "members")]
    if others:
        raise usage(f"the graph has hyperedges ({', '.join(others)}), which this library has not", "convert it with hyperedges='reify' or 'expand'")


def _mark(row: dict[str, Any], what: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The attributes of an edge without a direction among edges with one, which is there both ways: of the first, of the second."""
    _free(list(row), ("directed", "reverse"), what)
    return {**row, "directed": False}, {**row, "directed": False, "reverse": True}


def _unmarked(row: dict[str, Any], what: str, is_directed: bool) -> None:
    """Fails if an edge would look like one without a direction."""
    if is_directed and row.get("directed") is False:
        _free(["directed"], ("directed",), what)


def _oriented(ends: tuple[str, str], row: dict[str, Any], what: str) -> dict[str, Any]:
    """The attributes of an edge of a graph without directions. Its library may exchange the ends, so the attribute ``source_type`` says which one is
    the source where they have different types."""
    if ends[0] == ends[1]:
        return row
    _free(list(row), ("source_type",), what)
    return {**row, "source_type": ends[0]}


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
            if is_directed or not made.is_directed():
                _unmarked(row, f"edges {relation}", made.is_directed())
                own = row if made.is_directed() else _oriented((source_type, target_type), row, f"edges {relation}")
                made.add_edges_from([(*ends, own)])
                continue
            forth, back = _mark(row, f"edges {relation}")
            made.add_edges_from([(*ends, forth)])
            if ends[0] != ends[1]:
                made.add_edges_from([(ends[1], ends[0], back)])
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
            _unmarked(row, f"edges {relation}", is_directed)
            ways = [((one, other), row if is_directed else _oriented((source_type, target_type), row, f"edges {relation}"))]
            if is_directed and not own_direction:
                forth, back = _mark(row, f"edges {relation}")
                ways = [((one, other), forth), ((other, one), back)][: 1 if one == other else 2]
            for ends, own in ways:
                _append(of_edges, {}, own, len(pairs))
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
    (sources, targets, directed), _, values = _columns(table, ["source", "target", "directed"], [weight] if weight else [])
    if weight and not values:
        raise usage(f"edges {info.name} have no property {weight}", f"the columns are {', '.join(table.columns)}")

    def keys(type: str | None) -> list[Any]:
        nodes = graph.nodes(type)
        of_role = {column.role: name for name, column in nodes.schema.items()}
        found: list[Any] = nodes.select(of_role.get("key") or of_role["row"]).to_arrow().column(0).to_pylist()
        return found

    rows = keys(info.source)
    columns = rows if info.target == info.source else keys(info.target)
    of_rows = {key: at for at, key in enumerate(rows)}
    of_columns = {key: at for at, key in enumerate(columns)}
    one = np.fromiter((of_rows[key] for key in sources), dtype=np.int64, count=len(sources))
    other = np.fromiter((of_columns[key] for key in targets), dtype=np.int64, count=len(targets))
    if weight and any(value is None for value in values[0]):
        raise usage(f"{weight} is null for some edges", "filter them, and use the table")
    data = _weights(np, values[0], weight) if weight else np.ones(len(sources), dtype=np.int64)
    is_directed = _directions(graph).get((info.source, info.type, info.target)) != "undirected"
    if info.target == info.source:
        undirected = np.fromiter((not (is_directed if value is None else value) for value in directed), dtype=bool, count=len(sources))
        # A loop has one place.
        again = undirected & (one != other)
        one, other = np.concatenate([one, other[again]]), np.concatenate([other, one[again]])
        data = np.concatenate([data, data[again]])
    if data.dtype.kind in "iu":
        _sums_fit(np, one * len(columns) + other, data, weight)
    matrix = sparse.csr_array((data, (one, other)), shape=(len(rows), len(columns)))
    matrix.sum_duplicates()
    return matrix, rows, columns


def _directions(graph: Graph) -> dict[tuple[str | None, str | None, str | None], str]:
    """Whether the edges of a type have a direction, where it is the same for all."""
    return {(edge["source"], edge["relation"], edge["target"]): edge["direction"] for edge in graph.info()["edges"]}


def _weights(np: Any, values: list[Any], name: str) -> Any:
    """Weights as an array of integers if all are, otherwise of floats."""
    if not all(isinstance(value, (bool, int, float, decimal.Decimal)) for value in values):
        raise usage(f"{name} is not a number for some edges", "a column of integers or floats")
    if all(isinstance(value, (bool, int)) for value in values):
        bits = np.int64 if all(value < 2**63 for value in values) else np.uint64
        return np.array([int(value) for value in values], dtype=bits)
    return np.array([float(value) for value in values], dtype=np.float64)


def _sums_fit(np: Any, places: Any, data: Any, name: str | None) -> None:
    """Fails if a sum of parallel edges is beyond the integers of the matrix, where it would begin again from the other end."""
    if not len(data):
        return
    largest = max(abs(int(data.min())), abs(int(data.max())))
    bounds = np.iinfo(data.dtype)
    if largest * len(data) <= int(bounds.max):
        return
    sums: dict[int, int] = {}
    for place, value in zip(places.tolist(), data.tolist()):
        sums[place] = sums.get(place, 0) + value
    # Sums on the way to the last one can be beyond, too; they come back.
    if any(not int(bounds.min) <= value <= int(bounds.max) for value in sums.values()):
        raise usage(f"{name}: the sum of parallel edges is beyond {bounds.dtype.name}", "a column of floats", "filter the edges, and use the table")


def _array(values: list[Any], name: str, what: str) -> Any:
    """The values of an attribute as a column."""
    pa = needed("pyarrow", purpose="writing a graph of another library")
    try:
        return pa.array(values, _unsigned(values, pa))
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        refused = usage(f"{what}: the values of {name} do not fit into one column: {error}", "values of one type")
        refused.why = str(error)
        raise refused from error


def _unsigned(values: list[Any], pa: Any) -> Any:
    """The type of integers of which some need the 64th bit for their value; ``None`` for other values, whose type is found by looking at them."""
    own = [value for value in values if value is not None]
    if all(isinstance(value, int) and not isinstance(value, bool) for value in own) and any(value >= 2**63 for value in own):
        if min(own) < 0 or max(own) >= 2**64:
            raise OverflowError(f"the integers from {min(own)} to {max(own)} fit into neither int64 nor uint64")
        return pa.uint64()
    return None


def _frame(rows: list[dict[str, Any]], what: str) -> Any:
    """A table of rows that may lack columns."""
    pa = needed("pyarrow", purpose="writing a graph of another library")
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        if not isinstance(name, str):
            raise usage(f"{what}: an attribute is called {name!r}, which is no text", "rename it")
    return pa.table({name: _array([row.get(name) for row in rows], name, what) for name in names})


class _Edges:
    """Edges of another library, by source type, relation and target type."""

    def __init__(self, is_directed: bool) -> None:
        self.is_directed = is_directed
        self.rows: dict[tuple[str, str, str], list[tuple[dict[str, Any], bool]]] = {}
        self.reverse: list[tuple[tuple[str, str, str], dict[str, Any]]] = []

    def add(self, source: tuple[str, Any], target: tuple[str, Any], relation: str, own: dict[str, Any]) -> None:
        """Adds one; two that :func:`to_networkx` made of one are one again."""
        kind = relation if own.get("relation") is None else str(own["relation"])
        own = {name: value for name, value in own.items() if name != "relation"}
        if not self.is_directed and source[0] != target[0] and own.get("source_type", "") in (None, source[0], target[0]):
            # What to_networkx and to_igraph add; igraph has every attribute for every edge.
            if own.pop("source_type") == target[0]:
                source, target = target, source
        elif not self.is_directed and own.get("source_type", "") is None:
            del own["source_type"]
        _free(list(own), ("source", "target"), "edges", "rename it")
        is_directed = self.is_directed
        if is_directed and own.get("directed") is False:
            is_directed = False
            del own["directed"]
            if own.pop("reverse", None) is True:
                row = {"source": target[1], "target": source[1], **own}
                self.reverse.append(((target[0], kind, source[0]), row))
                return
        elif is_directed and own.get("directed", "") is None:
            # igraph has every attribute for every edge.
            own = {name: value for name, value in own.items() if not (name in ("directed", "reverse") and value is None)}
        row = {"source": source[1], "target": target[1], **own}
        self.rows.setdefault((source[0], kind, target[0]), []).append((row, is_directed))

    def _check(self) -> None:
        """Fails if one of two ways was removed or changed: then it is unclear what edge is meant."""
        left: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for name, rows in self.rows.items():
            for row, is_directed in rows:
                is_loop = name[0] == name[2] and row["source"] == row["target"]
                if self.is_directed and not is_directed and not is_loop:
                    left.setdefault((name, row["source"], row["target"]), []).append(row)
        for name, row in self.reverse:
            known = left.get((name, row["source"], row["target"]), [])
            if row not in known:
                raise self._unpaired(name, row)
            known.remove(row)
        for (name, *_), alone in left.items():
            # An edge that somebody marked without adding the other way is one edge, too.
            if alone and self.reverse:
                raise self._unpaired(name, alone[0])

    def _unpaired(self, name: tuple[str, str, str], row: dict[str, Any]) -> Exception:
        message = f"edges {name[1]}: an edge without a direction between {row['source']!r} and {row['target']!r} is not the same both ways"
        return usage(message, "change or remove both edges, or set directed=True on the one that is left and remove its reverse")

    def tables(self) -> tuple[dict[EdgeName, Any], dict[EdgeName, bool | str]]:
        """The tables, and whether their edges have a direction; the column that says it, if it differs by edge."""
        self._check()
        tables: dict[EdgeName, Any] = {}
        directed: dict[EdgeName, bool | str] = {}
        for name, rows in self.rows.items():
            own = [is_directed for _, is_directed in rows]
            tables[name] = _frame([row for row, _ in rows], f"edges {name[1]}")
            directed[name] = all(own)
            if len(set(own)) > 1:
                column = "directed"
                while column in tables[name].column_names:
                    column = f"_{column}"
                tables[name] = tables[name].append_column(column, [own])
                directed[name] = column
        return tables, directed


def _lost(what: str) -> None:
    warnings.warn(f"{what}: not written", UserWarning, stacklevel=3)


def _some(names: Any) -> str:
    return ", ".join(repr(name) for name in list(names)[:5])


def from_networkx(graph: networkx.Graph[Any], path: str | os.PathLike[str], to: str | None = None, *, relation: str = "edge", **options: Any) -> Certificate:
    """Writes a graph of networkx. Nodes become nodes of one type, ``node``, or the text that is the attribute ``type`` of all of them, with the
    key ``id``; if they are pairs of type and key, as :meth:`isomorph.Graph.to_networkx` makes them, nodes of these types. Lists of text
    in the attribute ``labels`` are labels. The attribute ``relation`` of an edge is its relation. Two edges that ``to_networkx`` made of one without a direction (``directed``, ``reverse``) become one.
    Where no edge has a direction, ``source_type`` says which of two nodes of different types is the source.

    Attributes of the graph and keys of parallel edges that somebody chose are not written, and warned of."""
    pairs = bool(graph) and all(isinstance(node, tuple) and len(node) == 2 and isinstance(node[0], str) for node in graph)

    kinds = [attributes.get("type") for _, attributes in graph.nodes(data=True)]
    only = kinds[0] if kinds and isinstance(kinds[0], str) and all(kind == kinds[0] for kind in kinds) else "node"
    if graph.graph:
        _lost(f"attributes of the graph ({_some(graph.graph)})")
    if graph.is_multigraph():
        # Those that nobody chose count the edges between two nodes.
        chosen = [key for one, other, key in graph.edges(keys=True) if not isinstance(key, int) or key >= graph.number_of_edges(one, other)]
        if chosen:
            _lost(f"keys of edges ({_some(dict.fromkeys(chosen))})")

    def split(node: Any) -> tuple[str, Any]:
        return node if pairs else (only, node)

    nodes: dict[str, list[dict[str, Any]]] = {}
    for node, attributes in graph.nodes(data=True):
        type, key = split(node)
        _no_boolean(key)
        own = {name: value for name, value in attributes.items() if not (name == "type" and value == type)}
        if "id" in own and own["id"] != key:
            raise usage(f"the node {key!r} has an attribute id, which would be mixed up with its key", "rename the attribute")
        nodes.setdefault(type, []).append({**own, "id": key})
    edges = _Edges(graph.is_directed())
    for source, target, attributes in graph.edges(data=True):
        edges.add(split(source), split(target), relation, attributes)
    return _write(path, nodes, edges, to, options)


def _no_boolean(key: Any) -> None:
    if isinstance(key, bool):
        raise usage(f"the node {key} is a boolean, but keys are integers or texts", "1, or 'True'")


def _write(
    path: str | os.PathLike[str], nodes: dict[str, list[dict[str, Any]]], edges: _Edges, to: str | None, options: dict[str, Any], key: str = "id"
) -> Certificate:
    from ._write import write

    frames = {type: _frame(rows, f"nodes of type {type}") for type, rows in nodes.items()}
    tables, directed = edges.tables()
    labels = {type: "labels" for type, rows in nodes.items() if _are_labels([row.get("labels") for row in rows])}
    return write(
        path, nodes=frames, edges=tables, to=to, key=key, labels=labels, source="source", target="target", directed=directed, **options
    )


def _are_labels(values: list[Any]) -> bool:
    """Whether an attribute is what :func:`to_networkx` makes of labels: lists of texts."""
    are_texts = all(value is None or isinstance(value, (list, tuple)) and all(isinstance(text, str) for text in value) for value in values)
    return are_texts and any(values)


def from_igraph(graph: igraph.Graph, path: str | os.PathLike[str], to: str | None = None, *, relation: str = "edge", **options: Any) -> Certificate:
    """Writes a graph of igraph. The key of a vertex is its attribute ``key``, ``name``, or ``id`` if all values of it differ, or its index; its type is
    the text of its attribute ``type``, ``node`` if it has none. An ``id`` that is not the key, such as those that igraph adds to graphs that it
    reads from GraphML and GML, is a property. The attribute ``relation`` of an edge is its relation. Two edges that
    :meth:`isomorph.Graph.to_igraph` made of one without a direction become one. Attributes of the graph are not written, and warned of."""
    if graph.attributes():
        _lost(f"attributes of the graph ({_some(graph.attributes())})")
    names = graph.vs.attributes()
    key = next((name for name in ("key", "name") if name in names), None)
    if key is None and "id" in names and _are_keys(graph.vs["id"]):
        key = "id"
    # The column of keys is called as no attribute is.
    called = next(name for name in ("id", "key", *(f"key_{at}" for at in range(2, len(names) + 4))) if name == key or name not in names)
    ends: list[tuple[str, Any]] = []
    nodes: dict[str, list[dict[str, Any]]] = {}
    for vertex in graph.vs:
        own = dict(vertex.attributes())
        kind = own.pop("type", None)
        type = "node" if kind is None else str(kind)
        own_key = vertex.index if key is None else own.pop(key)
        _no_boolean(own_key)
        ends.append((type, own_key))
        nodes.setdefault(type, []).append({**own, called: own_key})
    edges = _Edges(graph.is_directed())
    for edge in graph.es:
        edges.add(ends[edge.source], ends[edge.target], relation, edge.attributes())
    return _write(path, nodes, edges, to, options, called)


def _are_keys(values: list[Any]) -> bool:
    """Whether values are texts, or integers, that all differ."""
    is_int = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
    return (is_int or all(isinstance(value, str) for value in values)) and len(set(values)) == len(values)


def from_scipy(matrix: Any, path: str | os.PathLike[str], to: str | None = None, *, relation: str = "edge", weight: str = "weight", **options: Any) -> Certificate:
    """Writes a square sparse matrix of scipy: a node for each row, an edge for each stored entry, with the entry as its weight."""
    np = needed("numpy", purpose="from_scipy()")
    pa = needed("pyarrow", purpose="from_scipy()")
    from ._write import write

    if not hasattr(matrix, "tocoo"):
        raise usage(f"a sparse matrix of scipy is needed, found {type(matrix).__name__}", "scipy.sparse.coo_array(…)")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise usage(f"the matrix must be square, found {' × '.join(str(side) for side in matrix.shape)}")
    own = matrix.tocoo()
    return write(
        path,
        nodes={"node": pa.table({"id": np.arange(matrix.shape[0], dtype=np.int64)})},
        edges={relation: pa.table({"source": own.row.astype(np.int64), "target": own.col.astype(np.int64), weight: _entries(own.data, weight)})},
        to=to,
        key="id",
        source="source",
        target="target",
        **options,
    )


def _entries(data: Any, name: str) -> Any:
    if data.dtype.kind not in "biuf":
        raise usage(f"the entries are {data.dtype.name}, which no column of {name} can hold", "real numbers")
    return data
