"""The published GraphAr library, as the tests use it.

Its Python interface returns and accepts only integers and text, so other types are read with PyArrow from the
paths that it computes. Its peculiarities that the tests must know are listed in README.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import graphar
from graphar import _core
from graphar.types import AdjListType, FileType, Type

BY_SOURCE = AdjListType.ordered_by_source
BY_DESTINATION = AdjListType.ordered_by_dest


@dataclass
class People:
    """A graph to write: person `i` has the key `3 i` and every eleventh has no name; edges have `since`."""

    count: int
    edges: list[tuple[int, int]]

    @staticmethod
    def name(vertex: int) -> str | None:
        return f"person {vertex}" if vertex % 11 else None

    @staticmethod
    def since(edge: tuple[int, int]) -> int:
        return edge[0] ^ edge[1]

    def neighbours(self, adjacency: AdjListType) -> dict[int, list[int]]:
        """Sorted neighbours of every vertex that has any, in the direction of the adjacency."""
        found = defaultdict(list)
        for source, destination in self.edges:
            if adjacency == BY_SOURCE:
                found[source].append(destination)
            else:
                found[destination].append(source)
        return {vertex: sorted(others) for vertex, others in found.items()}


def write(people: People, folder: Path, vertex_chunk: int, edge_chunk: int) -> Path:
    """Writes the graph with the builders of the library and returns its graph file."""
    version = _core.InfoVersion(1)
    prefix = f"{folder}/"
    key = graphar.Property("id", graphar.DataType(Type.INT64), True, False)
    name = graphar.Property("name", graphar.DataType(Type.STRING))
    group = graphar.PropertyGroup([key, name], FileType.PARQUET, "id_name/")
    person = graphar.VertexInfo("person", vertex_chunk, [group], [], "vertex/person/", version)
    since = graphar.Property("since", graphar.DataType(Type.INT64))
    lists = [graphar.AdjacentList(kind, FileType.PARQUET, f"{kind.name}/") for kind in (BY_SOURCE, BY_DESTINATION)]
    group = graphar.PropertyGroup([since], FileType.PARQUET, "since/")
    sizes = (edge_chunk, vertex_chunk, vertex_chunk)
    knows = graphar.EdgeInfo("person", "knows", "person", *sizes, True, lists, [group], "edge/person_knows_person/", version)

    vertices = graphar.VerticesBuilder.Make(person, prefix)
    for number in range(people.count):
        vertex = graphar.BuilderVertex()
        vertex.AddProperty("id", 3 * number)
        if people.name(number) is not None:
            vertex.AddProperty("name", people.name(number))
        vertices.AddVertex(vertex)
    vertices.Dump()
    for adjacency in (BY_SOURCE, BY_DESTINATION):
        edges = graphar.EdgesBuilder.Make(knows, prefix, adjacency, people.count)
        for pair in people.edges:
            edge = graphar.BuilderEdge(*pair)
            edge.AddProperty("since", people.since(pair))
            edges.AddEdge(edge)
        edges.Dump()

    person.save(f"{prefix}person.vertex.yml")
    knows.save(f"{prefix}person_knows_person.edge.yml")
    # Its own dump of the graph would refer to the two files above with the extension `.yaml`.
    graph = folder / "people.graph.yml"
    graph.write_text(
        "name: people\nvertices:\n  - person.vertex.yml\nedges:\n  - person_knows_person.edge.yml\nversion: gar/v1\n"
    )
    return graph


@dataclass
class Opened:
    """A graph opened by the library."""

    path: str
    info: graphar.GraphInfo

    def vertices(self, kind: str) -> graphar.VerticesCollection:
        return graphar.VerticesCollection.Make(self.info, kind)

    def edges(self, triple: Iterable[str], adjacency: AdjListType) -> graphar.EdgesCollection:
        return graphar.EdgesCollection.Make(self.info, *triple, adjacency)


def open_checked(path: Path) -> Opened:
    """Opens a graph that passes the library's own check. It needs absolute paths."""
    where = str(path.resolve())
    assert _core.check_graph(where), f"`graphar check` refuses {where}"
    return Opened(where, graphar.GraphInfo.load(where))


def vertex(vertices: graphar.VerticesCollection, number: int) -> graphar.Vertex:
    """One vertex. The iterator that `find` returns yields garbage for text; the vertex it wraps does not."""
    return next(vertices.find(number))


def neighbours(edges: graphar.EdgesCollection, adjacency: AdjListType, number: int, count: int) -> list[int]:
    """The first `count` neighbours of a vertex. The library's iterators do not know their end, so the caller gives
    the expected number; each edge has to start at the vertex."""
    by_source = adjacency == BY_SOURCE
    found = (edges.find_src if by_source else edges.find_dst)(number, edges.begin())
    others = []
    for _ in range(count):
        edge = next(found)
        here, other = (edge.source(), edge.destination()) if by_source else (edge.destination(), edge.source())
        assert here == number, f"edge {edge.source()} → {edge.destination()} among those of vertex {number}"
        others.append(other)
    return sorted(others)


def all_edges(edges: graphar.EdgesCollection) -> Iterator[tuple[int, int]]:
    """Both ends of every edge, in the order of the files."""
    for edge in edges:
        yield edge.source(), edge.destination()
