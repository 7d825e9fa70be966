"""annnet 0.1.1 and 0.2.0 read our output in the layout of the specification's text like their own."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph
from environments import python_with
from grown import EDGES, MORE, grow, parts
from test_annnet import without_conversions

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures" / "annnet"
VERSIONS = ["0.1.1", "0.2.0"]
# Written by 0.1.1.
OWN = ["flat", "weighted_slices", "multilayer", "empty"]
# Written by 0.4.1.
NEW = ["everything_flat", "everything_multilayer", "attr_types", "direction_none", "one_node", "empty_undirected"]
# A graph of the second generation, made while the test runs.
WRITE_02 = """
import sys
from annnet.core.graph import AnnNet
from annnet.io.annnet_format import write
graph = AnnNet(directed=True)
graph.add_vertices([{"vertex_id": "a", "label": "A"}, {"vertex_id": "b"}, {"vertex_id": "c"}, {"vertex_id": "d"}])
graph.add_edges("a", "b", edge_id="e1", weight=0.5)
graph.add_edges("b", "c", edge_id="e2", directed=False)
graph.add_edges("c", "c", edge_id="loop")
graph.add_edges(["a", "b"], ["c"], edge_id="h1", weight=2.0)
graph.add_edges(["a", "b", "d"], edge_id="h2")
graph.add_edges("a", "d", edge_id="entity", as_entity=True)
graph.graph_attributes["title"] = "v1b"
for path in sys.argv[1:]:
    write(graph, path)
"""


@pytest.fixture(scope="session")
def pythons() -> dict[str, Path]:
    """An interpreter for each version, in separate environments."""
    return {version: python_with(f"annnet-{version}", "requirements-annnet-old.txt", f"annnet=={version}") for version in VERSIONS}


def fixture(name: str) -> Path:
    """A graph that the library wrote."""
    return FIXTURES / name / "graph.annnet.d"


def dumps(python: Path, *paths: Path) -> list[Any]:
    """The graph that the version restores from each path, or its error."""
    done = subprocess.run([python, HERE / "annnet_old_dump.py", *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def comparable(graph: Any) -> Any:
    """Without the conversions that isomorph records, and without what the text leaves open: whether ordinary edges have the type
    `binary`, and the column of a loop, which 0.1.1 fills with +w, 0.2.0 with -w, and we with the sum of both ends."""
    assert "error" not in graph, graph
    graph = without_conversions(graph)
    loops = {name for name, edge in graph["edges"].items() if edge["source"] == edge["target"]}
    edges = {}
    for name, edge in graph["edges"].items():
        kind = edge["kind"] if edge["kind"] in ("hyper", "intra", "inter", "coupling") else "binary"
        edges[name] = {**edge, "kind": kind, "target": edge["target"] or None}
    cells = [cell for cell in graph["cells"] if cell[1] not in loops]
    entities = {name: "edge" if kind == "edge_entity" else kind for name, kind in graph["entities"].items()}
    return {**graph, "edges": edges, "cells": cells, "entities": entities}


def settled(graph: Any) -> Any:
    """With everything in the default slice, as these versions have it in memory: their files may omit edges, and nodes that are edges,
    and reading the files adds these."""
    default = {**graph["slices"]["default"], "edges": sorted(graph["edges"]), "vertices": sorted(graph["entities"])}
    return {**graph, "slices": {**graph["slices"], "default": default}}


def both(isomorph: Isomorph, graph: Path, folder: Path) -> tuple[Path, Path]:
    """The graph in the layout of the text: a directory and an archive."""
    flags = ("--to", "annnet", "--layout", "1.1")
    directory = isomorph.convert(graph, folder / "graph", *flags)
    assert isomorph.content(directory) == isomorph.content(graph)
    return directory, isomorph.convert(directory, folder / "graph.annnet", "--layout", "1.1", "--compression", "snappy")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", OWN)
def test_graphs_of_that_time_are_read_as_before(
    isomorph: Isomorph, pythons: dict[str, Path], tmp_path: Path, name: str, version: str
) -> None:
    graph = fixture(f"v1_0.1.1/{name}")
    before, *after = map(comparable, dumps(pythons[version], graph, *both(isomorph, graph, tmp_path)))
    if name == "weighted_slices":
        # Its writer stores weights in the table of attributes; ours also stores them with the memberships.
        assert before["weights"] == {}
        before["weights"] = {"s1": {"e1": 0.25}}
    for one in after:
        assert settled(one) == settled(before)


def test_a_graph_of_02_is_read_and_written_back(isomorph: Isomorph, pythons: dict[str, Path], tmp_path: Path) -> None:
    graph, archive = tmp_path / "v1b", tmp_path / "v1b.annnet"
    done = subprocess.run([pythons["0.2.0"], "-c", WRITE_02, graph, archive], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (graph / "structure" / "entity_index.parquet").is_file()
    isomorph.validate(graph)
    assert isomorph.content(archive) == isomorph.content(graph)
    before, *after = map(comparable, dumps(pythons["0.2.0"], graph, *both(isomorph, graph, tmp_path)))
    for one in after:
        assert settled(one) == settled(before)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", NEW)
def test_graphs_of_today_are_read_by_the_older_libraries(
    isomorph: Isomorph, pythons: dict[str, Path], tmp_path: Path, name: str, version: str
) -> None:
    expected = json.loads((FIXTURES / name / "expected.json").read_text())
    directory, archive = map(without_conversions, dumps(pythons[version], *both(isomorph, fixture(name), tmp_path)))
    assert archive == directory
    graph = comparable(directory)
    bare = lambda end: end if isinstance(end, str) else end[0]  # noqa: E731
    assert set(graph["edges"]) == {edge["id"] for edge in expected["edges"]}
    for edge in expected["edges"]:
        found = graph["edges"][edge["id"]]
        sides = [found["source"], found["target"]]
        sides = [[] if side is None else [side] if isinstance(side, str) else side for side in sides]
        wanted = [sorted(map(bare, edge[side])) for side in ("source", "target")]
        if edge["kind"] == "hyper" and any(end.startswith("{") for side in sides for end in side):
            # The text cannot store members in several layers: they are in the form of later layouts.
            sides = [[json.loads(end)["node"] for end in side] for side in sides]
        assert [sorted(side) for side in sides] == wanted, edge["id"]
        assert found["weight"] == edge["weight"] or isinstance(edge["weight"], dict), edge["id"]
    assert graph["directed"] == expected["directed"] and graph["version"] == expected["graph_version"]
    assert set(graph["slices"]) == set(expected["slices"])
    for slice_id, own in expected["slices"].items():
        assert set(graph["slices"][slice_id]["edges"]) == set(own["edges"])
        assert set(graph["slices"][slice_id]["vertices"]) == set(own["nodes"])
    said = {name for name, row in expected["node_attributes"].items() if row}
    assert set(graph["vertices"]) == said
    if version == "0.2.0" and graph["aspects"][0]:
        # The text has no index of placements: this version places every node at the placeholder first, and leaves it there.
        assert [end for end, layer in graph["presence"] if set(layer) == {"_"}]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["everything_flat", "everything_multilayer"])
def test_a_graph_that_grew_is_read_like_one_written_at_once(
    isomorph: Isomorph, pythons: dict[str, Path], tmp_path: Path, name: str, version: str
) -> None:
    """Tables that have become directories, a matrix with additional columns, checksums that were computed again."""
    flags = ("--to", "annnet", "--layout", "1.1")
    grown = isomorph.convert(fixture(name), tmp_path / "grown", *flags)
    grow(isomorph, grown, tmp_path)
    assert grown / "structure" / "edge_definitions.parquet" in parts(grown)
    once = isomorph.convert(grown, tmp_path / "once", *flags)
    read, expected = (without_conversions(graph) for graph in dumps(pythons[version], grown, once))
    assert read == expected
    assert len(read["edges"]) > EDGES + MORE
    sums = [line.split("  ") for line in (grown / "audit" / "checksums.sha256").read_text().splitlines()]
    assert len(sums) > 20
    for digest, file in sums:
        assert hashlib.sha256((grown / file).read_bytes()).hexdigest() == digest, file
