"""Property graphs as triples, and back: the costs of writing, verifying and reading."""

from __future__ import annotations

import random
import shutil
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from part_lake import middle, size_of

if TYPE_CHECKING:
    from run import Bench

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = pq = None

#: Edges, with a fifth as many nodes; runs.
FULL = (1_000_000, 3)
SMOKE = (2_000, 1)
NODES = {"id": ("int64", "true"), "name": ("string", "false"), "age": ("int64", "false"), "city": ("string", "false")}
EDGES = {"weight": ("double", "false"), "since": ("int64", "false")}


def group(properties: dict[str, tuple[str, str]]) -> str:
    text = f"property_groups:\n  - prefix: {'_'.join(properties)}/\n    file_type: parquet\n    properties:\n"
    for name, (kind, primary) in properties.items():
        nullable = "false" if primary == "true" else "true"
        text += f"      - name: {name}\n        data_type: {kind}\n        is_primary: {primary}\n        is_nullable: {nullable}\n"
    return text + "version: gar/v1\n"


def draw(folder: Path, edges: int) -> None:
    """A GraphAr graph: people with a name, an age and a city, who know each other since a date and with a weight."""
    nodes, dice = edges // 5, random.Random(edges)
    vertices, by_source = folder / "vertex/person", folder / "edge/person_knows_person/unordered_by_source"
    tables = {
        vertices / "id_name_age_city/chunk0": {
            "id": [1_000_003 + 7 * node for node in range(nodes)],
            "name": [f"{dice.choice(['Ann', 'Bob', 'Cid', 'Dora'])} {node}" for node in range(nodes)],
            "age": [dice.randrange(18, 90) for _ in range(nodes)],
            "city": [f"City{dice.randrange(500)}" for _ in range(nodes)],
        },
        by_source / "adj_list/part0/chunk0": {
            "_graphArSrcIndex": [dice.randrange(nodes) for _ in range(edges)],
            "_graphArDstIndex": [dice.randrange(nodes) for _ in range(edges)],
        },
        by_source / "weight_since/part0/chunk0": {
            "weight": [dice.randrange(10_000) / 10_000 for _ in range(edges)],
            "since": [dice.randrange(1950, 2026) for _ in range(edges)],
        },
    }
    for path, columns in tables.items():
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table(columns), path)
    for path, count in (vertices / "vertex_count", nodes), (by_source / "vertex_count", nodes), (by_source / "edge_count0", edges):
        path.write_bytes(struct.pack("<q", count))
    (folder / "people.graph.yml").write_text(
        "name: people\nvertices:\n  - person.vertex.yml\nedges:\n  - person_knows_person.edge.yml\nversion: gar/v1\n"
    )
    (folder / "person.vertex.yml").write_text(f"type: person\nchunk_size: {nodes}\nprefix: vertex/person/\n{group(NODES)}")
    (folder / "person_knows_person.edge.yml").write_text(
        f"src_type: person\nedge_type: knows\ndst_type: person\nchunk_size: {edges}\nsrc_chunk_size: {nodes}\n"
        f"dst_chunk_size: {nodes}\ndirected: true\nprefix: edge/person_knows_person/\nadj_lists:\n  - ordered: false\n"
        f"    aligned_by: src\n    prefix: unordered_by_source/\n    file_type: parquet\n{group(EDGES)}"
    )


def lift(bench: Bench, smoke: bool) -> None:
    """Runs all measurements. Conversions are verified."""
    if pq is None:
        print("SKIPPED: pyarrow is not installed, so there is no property graph to make triples of")
        return
    edges, runs = SMOKE if smoke else FULL
    graph = bench.folder / "people"
    draw(graph, edges)
    lake, text = bench.folder / "people.lake", bench.folder / "people.nt"
    what = f"{edges:,} edges with two properties, {edges // 5:,} nodes with three"
    for target, to, name in (lake, "graphlake", "GraphLake"), (text, "rdf", "N-Triples"):
        convert(bench, graph, target, to, runs, f"GraphAr → {name}, {what}, read back and compared")
        size = (size_of(target) if target.is_dir() else target.stat().st_size) / 1e6
        limit = "≤ 550 MB" if target is text else "–"
        bench.add("  size", limit, f"{size:.0f} MB", size <= 550 if target is text else None)
    for source, name in (lake, "GraphLake"), (text, "N-Triples"):
        for to in "graphar", "nock", "annnet":
            target = bench.folder / f"back-{to}{'.parq' if to == 'nock' else ''}"
            convert(bench, source, target, to, runs, f"{name} → {to}, the same, read back and compared")
            remove(target)
    remove(lake)
    remove(text)


def remove(target: Path) -> None:
    for path in target, target.with_name(f"{target.name}.isomorph"):
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()


def convert(bench: Bench, source: Path, target: Path, to: str, runs: int, work: str) -> None:
    def once(measure):
        remove(target)
        return measure("convert", source, target, "--to", to)

    seconds, processor, _ = middle([once(bench.isomorph) for _ in range(runs)])
    resident = once(bench.resident)
    bench.add(work, "≤ 10 s of processor time", f"{processor:.1f} s; {seconds:.1f} s of wall time", processor <= 10)
    if resident is not None:
        bench.add("  memory that is no file's", "≤ 500 MB", f"{resident:.0f} MB", resident <= 500)
