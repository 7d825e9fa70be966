"""Graphs."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _html, _isomorph, _networks
from ._options import flag, number, opening, passed, path_text, text, usage, whole, writing
from ._parameters import Key, as_json, bound, key_text, keys_of
from ._progress import Progress, shown
from ._results import Certificate, Diff, Digests, Findings
from ._results import findings as findings_of
from ._table import Table
from ._terms import Object, written

if TYPE_CHECKING:
    import igraph
    import networkx
    import scipy.sparse
    import torch_geometric.data

__all__ = ["Graph", "GraphSchema", "TableInfo"]

class TableInfo(NamedTuple):
    """What a table of a graph holds."""

    name: str
    """Unique in the graph."""
    kind: str
    """``nodes``, ``edges``, ``hyperedges``, ``members``, ``values``, ``groups`` or ``memberships``."""
    type: str | None
    """The node type, or the relation of the edges (``None`` if each row has its own)."""
    source: str | None
    """The node type of the sources of edges."""
    target: str | None
    num_rows: int | None
    """Number of rows, if it is known without reading."""


class GraphSchema(NamedTuple):
    """The types of a graph."""

    nodes: tuple[str, ...]
    """Names of node types."""
    edges: tuple[tuple[str, str, str], ...]
    """Source type, relation, target type."""

    def _repr_html_(self) -> str:
        return _html.schema_picture(self.nodes, self.edges)


class Graph:
    """A graph of any format. :func:`isomorph.open` opens one.

    Its tables are those with declared types: one for each node type and edge type, with a column for each property. Formats that
    declare no types (NOCK, RDF, the relations of DeepGNN) are surveyed when a table is first asked for, which reads the graph two to three
    times; ``stored=True`` gives the tables that the format itself has, without a survey.
    """

    def __init__(self, path: str | os.PathLike[str], **options: Any) -> None:
        self._options = opening(**options)
        self._part: dict[str, Any] | None = None
        with passed():
            self._graph = _isomorph.Graph(path_text(path), self._options)
        self._listed: dict[bool, list[TableInfo]] = {}

    # What it is.

    @property
    def location(self) -> str:
        """Where it is: an absolute path, or a URL."""
        return self._graph.location

    @property
    def format(self) -> str:
        """Id of the format of its files: ``graphar``, ``nock``, ``rdf``, …"""
        return self._graph.stored_as

    @property
    def origin(self) -> str:
        """Id of the format that it was converted from, if a sidecar says so: ``arrow`` for dataframes. Otherwise :attr:`format`."""
        return self._graph.format

    @property
    def at(self) -> int | None:
        """The version of the snapshot, of a GraphLake store."""
        return self._graph.at

    @property
    def schema(self) -> GraphSchema:
        """Its node types and edge types."""
        tables = self.tables()
        nodes = tuple(table.type or table.name for table in tables if table.kind == "nodes")
        edges = tuple(
            (table.source or "", table.type or "", table.target or "") for table in tables if table.kind == "edges"
        )
        return GraphSchema(nodes, edges)

    def info(self) -> dict[str, Any]:
        """What is known without reading rows, as ``isomorph info --json`` says it."""
        self._check_open()
        made: dict[str, Any] = json.loads(_isomorph.info(self._place(), self._pinned()))
        return made

    # Tables.

    def tables(self, *, stored: bool = False, progress: Progress = None) -> list[TableInfo]:
        """All tables: of nodes, edges, hyperedges and their members, values, groups and their members."""
        self._check_open()
        if stored not in self._listed:
            with shown(progress) as tell:
                self._listed[stored] = [TableInfo(*table) for table in self._graph.tables(stored, tell)]
        return list(self._listed[stored])

    def table(self, name: str, *, stored: bool = False) -> Table:
        """A table by its name."""
        with passed():
            return Table(self._graph.table(name, stored), name, _Named(self, name, stored))

    def nodes(self, type: str | None = None, *, stored: bool = False) -> Table:
        """The nodes of a type, which can be omitted if there is only one."""
        return self.table(self._only("nodes", "node type", type, None, None, stored).name, stored=stored)

    def edges(
        self, relation: str | None = None, *, source: str | None = None, target: str | None = None, stored: bool = False
    ) -> Table:
        """The edges of a relation, or of a table ``source_relation_target``. If edges of one relation are between several node types, say
        which: ``g.edges("likes", target="post")``."""
        return self.table(self._only("edges", "relation", relation, source, target, stored).name, stored=stored)

    def _only(
        self, kind: str, word: str, type: str | None, source: str | None, target: str | None, stored: bool
    ) -> TableInfo:
        known = [table for table in self.tables(stored=stored) if table.kind == kind]
        found = [
            table
            for table in known
            if (type is None or table.type == type)
            and (source is None or table.source == source)
            and (target is None or table.target == target)
        ]
        if not found and type is not None and source is None and target is None:
            found = [table for table in known if table.name == type]
        names = ", ".join(table.name for table in known[:20]) or "none"
        if not found:
            asked = " ".join(repr(part) for part in (source, type, target) if part is not None)
            raise usage(f"there is no {word} {asked}".rstrip(), f"the tables of {kind} are {names}")
        if len(found) > 1:
            several = ", ".join(table.name for table in found[:20])
            what = f"several tables of {kind}" if type is None else f"several tables of {kind} for {type!r}"
            hint = "source= and target=, or one of the names" if kind == "edges" else "one of the names"
            raise usage(f"there are {what}: {several}", hint)
        return found[0]

    def counts(self, *, stored: bool = False) -> dict[str, int]:
        """Number of rows of each table; counted where it is not certain."""
        return {table.name: self.table(table.name, stored=stored).count() for table in self.tables(stored=stored)}

    # Questions.

    def neighbors(
        self,
        key: Key | None = None,
        *,
        row: int | None = None,
        type: str | None = None,
        relation: str | None = None,
        side: str = "both",
        columns: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> Table:
        """The neighbours of a node over its edges, read from where these are stored: ``neighbor`` (key), ``type``, ``relation``,
        ``direction`` (``out``, ``in``, ``none``), and the properties of the edges. Hyperedges are not followed.

        :param key: the node's key; or its position, as ``row``
        :param type: its type, which can be omitted if there is only one
        :param relation: only edges of this relation
        :param side: ``out``, ``in`` or ``both``; undirected edges are always included
        :param columns: only these properties
        :param limit: at most so many neighbours
        """
        if (key is None) == (row is None):
            raise usage("a node is named by its key, or by row=")
        asked = {
            "key": None if key is None else key_text(key),
            "row": whole("row", row),
            "node_type": type,
            "relation": relation,
            "side": side,
            "columns": None if columns is None else list(columns),
            "limit": whole("limit", limit),
        }
        with passed():
            return Table(self._graph.neighbors(asked), "neighbors")

    def sql(self, query: str, /, **parameters: object) -> Table:
        """The answer to an SQL query over the tables of this graph, evaluated when it is read: ``g.sql("select … where id = $id", id=7)``.

        Node types are tables of this name, edge types ``source_relation_target`` or the relation, with ``_source`` and ``_target``. It
        reads only. Half of the graph's memory is the engine's; what does not fit is sorted on disk.

        :param parameters: values for ``$name`` in the query: numbers, texts, booleans, dates, times, ``None``, and lists of these where a list can
            stand (``id = any($ids)``). They are bound, never part of the text
        """
        values = [(name, bound(name, value)) for name, value in parameters.items()]
        query = text("query", query)
        with passed():
            return Table(self._graph.sql(query, values), "sql", _Asked(Graph.sql, self, query, parameters))

    def cypher(self, query: str, /, *, timeout: float | None = None, **parameters: object) -> Table:
        """The answer to an openCypher query: ``g.cypher("MATCH (a:person {id: $id})-[:knows]->(b) RETURN b.id, count(*) AS n", id=7)``.

        A column of values of one type has that type. Nodes, relationships, paths, lists, maps, and values of several types are JSON. The query is
        evaluated now, and the answer is held in memory. Labels, types and properties that the graph does not have match nothing, and are
        warned of.

        :param timeout: seconds after which the query is stopped, with a :class:`CancelledError`
        :param parameters: values for ``$name`` in the query (others are ignored): numbers, texts, booleans, None, lists and dicts of these. They are bound, never part of the text
        """
        with passed():
            values = [(name, as_json(name, value)) for name, value in parameters.items()]
            answer, notes = self._graph.cypher({"query": query, "parameters": values, "timeout": number("timeout", timeout)})
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=2)
        return Table(answer, "cypher", _Asked(Graph.cypher, self, query, {"timeout": timeout, **parameters}))

    def sparql(
        self,
        query: str,
        /,
        *,
        prefixes: dict[str, str] | None = None,
        base: str | None = None,
        terms: bool = False,
        timeout: float | None = None,
        **parameters: Object,
    ) -> Table | bool:
        """The answer to a SPARQL query over this graph as RDF: a table, or for ASK a bool.

        SELECT gives a column for each variable. Terms of one kind in all rows become values: IRIs and texts are text, numbers, booleans, dates and
        times what they are. A variable that has several kinds has terms in the syntax of N-Triples, such as ``<http://example.org/a>`` and
        ``"a"@en``. CONSTRUCT and DESCRIBE give ``subject``, ``predicate`` and ``object`` in that syntax. The query is evaluated now, and
        the answer is held in memory.

        :param prefixes: prefixes beside those of the query and of ``open(namespaces=…)``
        :param base: the beginning of relative IRIs in the query, and of the IRIs that a graph of another format gets
        :param terms: write every cell in the syntax of N-Triples, whatever it is
        :param timeout: seconds after which the query is stopped
        :param parameters: values of variables: an IRI as text, a :class:`Literal`, a number, a bool, a date. They are bound, never part of the text.
            Variables called as other parameters of this method cannot be bound
        """
        options: dict[str, Any] = {"prefixes": prefixes, "base": base, "terms": terms, "timeout": timeout}
        asked = {
            "query": query,
            "parameters": [(name, written(name, value)) for name, value in parameters.items()],
            "prefixes": list({**dict(self._options["namespaces"]), **(prefixes or {})}.items()),
            "base": base if base is not None else self._options["base"],
            "as_terms": flag("terms", terms),
            "timeout": number("timeout", timeout),
        }
        with passed():
            answer = self._graph.sparql(asked)
        if isinstance(answer, bool):
            return answer
        return Table(answer, "sparql", _Asked(Graph.sparql, self, query, {**options, **parameters}))

    def sample(
        self,
        keys: Key | Iterable[Key],
        count: int | None = None,
        *,
        strategy: str = "uniform",
        relation: str | Sequence[str] | None = None,
        type: str | None = None,
        time: str | int | None = None,
        seed: int = 0,
    ) -> Table:
        """Draws neighbours of nodes. Equal seeds give equal results, on any machine and with any number of threads.

        A DeepGNN binary is sampled where it is; any other graph is read into memory by the first call.

        :param keys: the nodes
        :param count: neighbours of each node: 10 by default, and all of them for ``strategy="all"``
        :param strategy: ``uniform`` or ``weighted`` (with replacement), ``without-replacement``, ``top`` (the heaviest), ``last`` (the most
            recent), ``pagerank``, ``all``
        :param relation: only edges of these relations
        :param type: the type of the nodes, if several types have such keys
        :param time: only edges that exist at this time
        """
        return self._draw("neighbors", keys_of(keys), count, strategy, relation, type, time, seed)

    def sample_nodes(
        self, count: int = 10, *, strategy: str = "uniform", type: str | Sequence[str] | None = None, seed: int = 0
    ) -> Table:
        """Draws nodes of the whole graph: ``uniform``, ``weighted``, or ``without-replacement``."""
        return self._draw("nodes", [], count, strategy, type, None, None, seed)

    def sample_edges(
        self, count: int = 10, *, strategy: str = "uniform", relation: str | Sequence[str] | None = None, seed: int = 0
    ) -> Table:
        """Draws edges of the whole graph: ``uniform``, ``weighted``, or ``without-replacement``."""
        return self._draw("edges", [], count, strategy, relation, None, None, seed)

    def walk(
        self,
        keys: Key | Iterable[Key],
        length: int = 5,
        *,
        p: float = 1.0,
        q: float = 1.0,
        relation: str | Sequence[str] | None = None,
        type: str | None = None,
        time: str | int | None = None,
        seed: int = 0,
    ) -> Table:
        """Random walks from nodes, as node2vec draws them: ``p`` makes returning, ``q`` moving away less likely."""
        return self._draw("walks", keys_of(keys), None, "weighted", relation, type, time, seed, length, p, q)

    def _draw(
        self,
        what: str,
        nodes: list[Key],
        count: int | None,
        strategy: str,
        types: str | Sequence[str] | None,
        node_type: str | None,
        time: str | int | None,
        seed: int,
        length: int = 1,
        p: float = 1.0,
        q: float = 1.0,
    ) -> Table:
        asked = {
            "what": what,
            "nodes": [key_text(node) for node in nodes],
            "count": whole("count", count, least=1),
            "strategy": strategy,
            "types": [types] if isinstance(types, str) else None if types is None else list(types),
            "node_type": node_type,
            "time": None if time is None else str(time),
            "length": whole("length", length, bits=16),
            "back": number("p", p),
            "away": number("q", q),
            "seed": whole("seed", seed, least=-(2**63)),
        }
        with passed():
            return Table(self._graph.draw(asked), what)

    # Whole graphs.

    def part(
        self,
        *,
        types: str | Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        where: Mapping[str, str] | str | Sequence[str] | None = None,
        sample: int | None = None,
        seed: int = 0,
        limit: int | None = None,
        keep_dangling: bool = False,
    ) -> Graph:
        """A part of it, which is a graph like any other: read, converted, compared. ``docs/selection.md`` says what each restriction means.

        :param types: only these node types and the edges between them; or only these edge types and the nodes at their ends
        :param columns: only these properties, by name or as ``type.name``
        :param where: conditions by type: ``{"person": "age < 30"}``, or texts as the command takes them: ``"person: age < 30"``
        :param sample: so many random nodes of each type; the choice depends on keys and ``seed`` only
        :param limit: the first nodes of each type
        :param keep_dangling: keep edges that lose one end
        """
        if self._part is not None:
            raise usage("a part of a part", "all restrictions in one part(…)")
        conditions = [where] if isinstance(where, str) else list(where or [])
        if isinstance(where, Mapping):
            conditions = [f"`{type.replace('`', '``')}`: {condition}" for type, condition in where.items()]
        part = {
            "types": [types] if isinstance(types, str) else None if types is None else list(types),
            "columns": None if columns is None else list(columns),
            "conditions": conditions,
            "limit": whole("limit", limit),
            "sample": whole("sample", sample),
            "seed": whole("seed", seed, bits=64),
            "keep_dangling": flag("keep_dangling", keep_dangling),
        }
        self._check_open()
        return _restored(self._place(), self._pinned(), part)

    def convert(self, path: str | os.PathLike[str], to: str | None = None, *, progress: Progress = None, **options: Any) -> Certificate:
        """Converts it, and verifies the output. See :func:`isomorph.convert`."""
        with shown(progress) as tell, passed():
            return Certificate._of(self._graph.convert(path_text(path), writing(to=to, **options), tell))

    def digest(self, *, progress: Progress = None) -> Digests:
        """128-bit digests of content, order and schema, which are equal in every format."""
        with shown(progress) as tell:
            return Digests(**json.loads(self._graph.digest(tell)))

    def stats(self, *, relation: str | Sequence[str] | None = None, progress: Progress = None) -> dict[str, Any]:
        """Counts, degrees, components and columns, as ``isomorph stats --json`` says them (``docs/algorithms.md``). Reads the graph once.

        :param relation: only edges of this relation, or of these, are walked
        """
        relations = None if relation is None else {relation} if isinstance(relation, str) else set(relation)
        with shown(progress) as tell:
            made: dict[str, Any] = json.loads(_isomorph.statistics(self._graph, relations, tell))
        return made

    def diff(self, other: Graph, *, limit: int = 20, progress: Progress = None) -> Diff:
        """The differences from another graph, with the first ``limit`` elements that differ."""
        with shown(progress) as tell:
            return Diff._of(_isomorph.diff(self._graph, other._graph, whole("limit", limit), tell))

    def validate(self, *, limit: int = 20) -> Findings:
        """Checks every rule of its format, reading everything. Lists up to ``limit`` places of each broken rule."""
        self._check_open()
        return validated(self._place(), self._pinned(), limit)  # of all of it: rules are those of files

    # Other libraries.

    def to_networkx(self, *, node_columns: Sequence[str] | None = None, edge_columns: Sequence[str] | None = None) -> networkx.MultiDiGraph[Any]:
        """As a ``MultiDiGraph`` of networkx, or a ``MultiGraph`` if no edge has a direction. Nodes are keys; with several node types, pairs of
        type and key. Nodes have ``type``, edges ``relation``.

        Among edges with a direction, one without becomes two, one each way, so that whatever follows edges finds it from both ends. Both have
        the attribute ``directed=False``, and the second also ``reverse=True``: leave it out to count edges. :func:`isomorph.from_networkx` makes
        one edge of the two. In a ``MultiGraph``, which exchanges ends, edges between nodes of two types have the attribute ``source_type``."""
        return _networks.to_networkx(self, node_columns, edge_columns)

    def to_igraph(self, *, node_columns: Sequence[str] | None = None, edge_columns: Sequence[str] | None = None) -> igraph.Graph:
        """As a graph of igraph. Vertices have ``type`` and ``key``, edges ``relation``. Edges without a direction among others are as in
        :meth:`to_networkx`."""
        return _networks.to_igraph(self, node_columns, edge_columns)

    def to_scipy(self, relation: str | None = None, *, source: str | None = None, target: str | None = None, weight: str | None = None) -> tuple[scipy.sparse.csr_array, list[Any], list[Any]]:
        """The edges of one table as a sparse matrix of scipy: a row for each source, a column for each target; and the keys of both. Parallel
        edges are added up; a sum that its type cannot hold is an error. An edge without a direction is in both places, so that the matrix of an
        undirected relation within one node type is symmetric; one from a node to itself is there once."""
        return _networks.to_scipy(self, relation, source, target, weight)

    def to_pyg(
        self,
        features: Mapping[str, Any] | None = None,
        edge_features: Mapping[Any, Any] | None = None,
        *,
        homogeneous: bool | None = None,
        progress: Progress = None,
    ) -> torch_geometric.data.Data | torch_geometric.data.HeteroData:
        """As a ``HeteroData`` of PyTorch Geometric in memory, or a ``Data`` if there is one node type and one relation. Nodes are numbered by their
        rows. :mod:`isomorph.pyg` trains from the files instead.

        Edges without a direction are there twice: the second time from target to source, after all others, or, between nodes of two types, as
        ``rev_`` and their relation. Loops are there once.

        :param features: tensors by node type and name, of columns of numbers or of lists of equally many numbers:
            ``{"paper": {"x": ["a", "b"], "y": "label"}}``; the type can be left out if there is one
        :param edge_features: the same for edges, by source type, relation and target type
        :param homogeneous: whether to make a ``Data``
        """
        from .pyg import to_pyg

        return to_pyg(self, features, edge_features, homogeneous=homogeneous, progress=progress)

    # Its life.

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._graph.closed

    def close(self) -> None:
        """Closes its files. Its tables cannot be read any more."""
        self._graph.close()

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _check_open(self) -> None:
        if self.closed:
            raise usage("the graph is closed", "open it again")

    def _place(self) -> str:
        return self._graph.location

    def _pinned(self) -> dict[str, Any]:
        """The options, with the snapshot that is open."""
        pinned = {**self._options, "at": None if self.at is None else str(self.at)}
        return {**pinned, "format": pinned["format"] or self._graph.stored_as}

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self._place(), self._pinned(), self._part))

    def __repr__(self) -> str:
        at = "" if self.at is None else f"@{self.at}"
        part = "" if self._part is None else " part"
        return f"<isomorph.Graph {self.format} {self.location}{at}{part}{' closed' if self.closed else ''}>"

    def _repr_html_(self) -> str:
        if self.closed:
            return f"<div>{escape(repr(self)[1:-1])}</div>"
        tables = self.tables()
        rows = [(one.name, one.kind, one.source, one.type, one.target, one.num_rows) for one in tables]
        header = ["table", "kind", "source", "type", "target", "rows"]
        return self.schema._repr_html_() + _html.table(repr(self)[1:-1], header, rows)


class _Named:
    """How a table is made again, after pickling."""

    def __init__(self, graph: Graph, name: str, stored: bool) -> None:
        self.graph, self.name, self.stored = graph, name, stored

    def __call__(self) -> Table:
        return self.graph.table(self.name, stored=self.stored)


class _Asked:
    """How an answer is made again, after pickling."""

    def __init__(self, ask: Callable[..., Table | bool], graph: Graph, query: str, options: dict[str, Any]) -> None:
        self.ask, self.graph, self.query, self.options = ask, graph, query, options

    def __call__(self) -> Table:
        answer = self.ask(self.graph, self.query, **self.options)
        assert isinstance(answer, Table)
        return answer


def _restored(place: str, options: dict[str, Any], part: dict[str, Any] | None) -> Graph:
    graph = Graph.__new__(Graph)
    graph._options = options
    graph._part = part
    with passed():
        graph._graph = _isomorph.Graph(place, options, part)
    graph._listed = {}
    return graph


def validated(place: str, options: dict[str, Any], limit: int) -> Findings:
    """The broken rules of the graph at a place."""
    made = json.loads(_isomorph.validate(place, options, whole("limit", limit)))
    return Findings(findings_of(made["findings"]), made["sound"])
