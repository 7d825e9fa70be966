"""Graphs of annnet that were extended in place by vertices and edges, so that large tables become directories of files."""

from __future__ import annotations

from pathlib import Path

from command import Isomorph

#: Vertices that are added, and edges in two steps.
VERTICES = 3000
EDGES = 12_000
MORE = 100


def rows(start: int, count: int) -> str:
    """Edges from number `start` on as CSV; every eleventh is a hyperedge."""

    def row(at: int) -> str:
        if at % 11 == 0:
            return f"t{at},,,1,v{at % VERTICES}|v{(at + 5) % VERTICES}\n"
        return f"t{at},v{at % VERTICES},v{at * 7919 % VERTICES},{at * 31 % 1009},\n"

    return "id,source,target,weight,members\n" + "".join(row(at) for at in range(start, start + count))


def grow(isomorph: Isomorph, graph: Path, folder: Path) -> None:
    """Extends a graph in two steps; `folder` is for the tables."""
    vertices, first, more = (folder / f"{name}.csv" for name in ("vertices", "first", "more"))
    vertices.write_text("id,age\n" + "".join(f"v{at},{at % 90}\n" for at in range(VERTICES)))
    first.write_text(rows(0, EDGES))
    more.write_text(rows(20_000, MORE))
    isomorph.run("extend", graph, "--vertices", vertices, "--edges", first)
    isomorph.run("extend", graph, "--edges", more)
    isomorph.validate(graph)


def parts(graph: Path) -> list[Path]:
    """The tables that are directories of files."""
    return sorted(path for path in graph.rglob("*.parquet") if path.is_dir())
