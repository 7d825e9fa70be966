"""annnet 0.4.1 reads our output, directory and archive, like its own."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph
from environments import python_with
from grown import EDGES, MORE, grow, parts

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures" / "annnet"
GRAPHS = [
    "aspects_without_nodes",
    "attr_types",
    "backend_pandas",
    "backend_pyarrow",
    "backend_pyarrow_nopolars",
    "direction_none",
    "empty",
    "empty_undirected",
    "everything_flat",
    "everything_multilayer",
    "legacy_vertex_words",
    "one_node",
    "plain_directed",
    "plain_undirected",
]


# Number of generated graphs.
MADE = 40


@pytest.fixture(scope="session")
def annnet() -> Path:
    """An interpreter with annnet, in an environment of its own."""
    return python_with("annnet", "requirements-annnet.txt")


def told(python: Path, script: str, *arguments: object) -> list[Any]:
    """The lines of JSON that a script prints in the environment of annnet."""
    done = subprocess.run([python, HERE / script, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def fixture(name: str) -> Path:
    """A graph that the library wrote."""
    return FIXTURES / name / "graph.annnet.d"


def manifest(graph: Path) -> Any:
    """The manifest of a directory."""
    return json.loads((graph / "manifest.json").read_text())


def matrix(python: Path, graph: Path) -> Any:
    """The incidence matrix as zarr-python reads it."""
    read = (
        "import json, sys, zarr; group = zarr.open_group(sys.argv[1], mode='r');"
        "print(json.dumps({'shape': group.attrs['shape'], 'data': group['data'][:].tolist(),"
        " 'cells': [group['row'][:].tolist(), group['col'][:].tolist()]}))"
    )
    path = graph / "structure" / "incidence.zarr"
    done = subprocess.run([python, "-c", read, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def dumps(python: Path, *paths: Path) -> list[Any]:
    """The graph that annnet restores from each path."""
    return told(python, "annnet_dump.py", *paths)


@pytest.fixture(scope="module")
def made(annnet: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Graphs that annnet generated from numbers."""
    folder = tmp_path_factory.mktemp("made")
    told(annnet, "annnet_random.py", folder, 0, MADE)
    return [folder / str(number) for number in range(MADE)]


def without_conversions(graph: dict[str, Any]) -> dict[str, Any]:
    """The graph without the conversions that isomorph records in its history."""
    entries = [entry for entry in graph["history"] if not entry.get("isomorph_conversion")]
    entries = [{name: value for name, value in entry.items() if name != "isomorph_conversion"} for entry in entries]
    return graph | {"history": entries}


def both(isomorph: Isomorph, name: str, folder: Path) -> tuple[Path, Path, Path]:
    """The fixture, and our output from it: a directory and, from that, an archive."""
    graph = FIXTURES / name / "graph.annnet.d"
    directory = isomorph.convert(graph, folder / "graph", "--to", "annnet", "--compression", "snappy")
    return graph, directory, isomorph.convert(directory, folder / "graph.annnet")


@pytest.mark.parametrize("name", GRAPHS)
def test_what_is_written_is_read_as_the_original(isomorph: Isomorph, annnet: Path, tmp_path: Path, name: str) -> None:
    original, directory, archive = dumps(annnet, *both(isomorph, name, tmp_path))
    assert without_conversions(directory) == original
    assert without_conversions(archive) == without_conversions(directory)
    for written, conversions in ((directory, 1), (archive, 2)):
        told = [entry for entry in written["history"] if entry.get("op") == "isomorph.convert"]
        assert len(told) == conversions, "the reader of annnet shows every conversion"


@pytest.mark.parametrize("compression", ["zstd", "lz4", "snappy", "gzip", "none"])
def test_the_matrix_is_opened_and_changes_nothing(
    isomorph: Isomorph, annnet: Path, tmp_path: Path, compression: str
) -> None:
    for name in ("everything_flat", "everything_multilayer", "empty", "legacy_matrix_coeffs"):
        graph = fixture(name)
        flags = ("--to", "annnet", "--compression", compression)
        plain = isomorph.convert(graph, tmp_path / f"{name}-plain", *flags)
        whole = isomorph.convert(graph, tmp_path / name, *flags, "--matrix")
        archive = isomorph.convert(whole, tmp_path / f"{name}.annnet", "--matrix", "--compression", compression)
        without, with_matrix, archived = map(without_conversions, dumps(annnet, plain, whole, archive))
        assert with_matrix == without and archived == without
        assert isomorph.content(whole) == isomorph.content(plain) == isomorph.content(archive)
        cells = matrix(annnet, whole)
        assert cells["shape"] == without["incidence"]["shape"] == manifest(whole)["matrix_shape"]
        assert sum(cells["data"]) == pytest.approx(without["incidence"]["sum_of_cells"])
        assert manifest(whole)["incidence_stored"] is True and manifest(plain)["incidence_stored"] is False
        assert not (plain / "structure" / "incidence.zarr").exists()


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_scipy_takes_the_views_for_look_ups_as_they_are(
    isomorph: Isomorph, annnet: Path, tmp_path: Path, compression: str
) -> None:
    read = (
        "import sys, zarr, numpy, scipy.sparse as sparse; views = [];\n"
        "for name, kind in (('csr', sparse.csr_matrix), ('csc', sparse.csc_matrix)):\n"
        "    group = zarr.open_group(f'{sys.argv[1]}/cache/{name}.zarr', mode='r')\n"
        "    parts = [group[part][:] for part in ('data', 'indices', 'indptr')]\n"
        "    views.append(kind(tuple(parts), shape=group.attrs['shape']).toarray())\n"
        "group = zarr.open_group(f'{sys.argv[1]}/structure/incidence.zarr', mode='r')\n"
        "cells = group['data'][:], (group['row'][:], group['col'][:])\n"
        "stored = sparse.coo_matrix(cells, shape=group.attrs['shape']).toarray()\n"
        "assert all(numpy.array_equal(view.astype('float32'), stored, equal_nan=True) for view in views)\n"
    )
    for name in ("everything_flat", "everything_multilayer", "empty", "plain_undirected"):
        flags = ("--to", "annnet", "--matrix", "--cache", "--compression", compression)
        written = isomorph.convert(fixture(name), tmp_path / name, *flags)
        done = subprocess.run([annnet, "-c", read, written], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        plain = isomorph.convert(fixture(name), tmp_path / f"{name}-plain", "--to", "annnet")
        without, with_views = dumps(annnet, plain, written)
        assert without_conversions(with_views) == without_conversions(without)


def test_members_whose_ids_read_as_json_are_kept(isomorph: Isomorph, annnet: Path, tmp_path: Path) -> None:
    original, directory, archive = dumps(annnet, *both(isomorph, "jsonlike_ids_lossy", tmp_path))
    assert original["edges"]["hd"]["target"] == []
    for written in (directory, archive):
        assert written["edges"]["hd"]["source"] == ["1"]
        assert written["edges"]["hd"]["target"] == ["2", "true"]


def test_graphs_that_are_made_up_are_read_as_the_original(
    isomorph: Isomorph, annnet: Path, made: list[Path], tmp_path: Path
) -> None:
    directories = [isomorph.convert(graph, tmp_path / graph.name, "--to", "annnet") for graph in made]
    archives = [isomorph.convert(graph, tmp_path / f"{graph.name}.annnet") for graph in directories]
    originals = dumps(annnet, *made)
    assert sum(bool(graph["multilayer"]) for graph in originals) > MADE / 4
    assert sum(edge["kind"] == "hyper" for graph in originals for edge in graph["edges"].values()) > MADE / 2
    for original, directory, archive in zip(originals, dumps(annnet, *directories), dumps(annnet, *archives)):
        assert without_conversions(directory) == original
        assert without_conversions(archive) == original


def pairs(isomorph: Isomorph, graph: Path) -> list[Any]:
    """The pairs of hyperedges in our output; both directions of those without a direction, as NetworkX gets them."""
    found = []
    for line in isomorph.run("dump", graph).splitlines():
        element = json.loads(line)
        properties = element.get("properties", {})
        if "edge" not in element or "hyperedge" not in properties:
            continue
        layers = [properties.get("source_layer"), properties.get("target_layer")]
        source, target = ([name, layer] for name, layer in zip(element["ends"], layers))
        found.append([properties["hyperedge"], source, target])
        if not properties["directed"]:
            found.append([properties["hyperedge"], target, source])
    return sorted(found, key=str)


def test_hyperedges_are_expanded_as_annnet_does(
    isomorph: Isomorph, annnet: Path, made: list[Path], tmp_path: Path
) -> None:
    everything = [FIXTURES / f"everything_{kind}" / "graph.annnet.d" for kind in ("flat", "multilayer")]
    graphs = made + [path for path in everything if path.is_dir()]
    expected = told(annnet, "annnet_expand.py", *graphs)
    assert sum(map(len, expected)) > len(graphs)
    for number, (graph, of_annnet) in enumerate(zip(graphs, expected)):
        written = isomorph.convert(graph, tmp_path / str(number), "--to", "graphar", "--hyperedges", "expand")
        assert pairs(isomorph, written) == of_annnet, graph


def test_a_graph_that_grew_is_read_like_one_written_at_once(isomorph: Isomorph, annnet: Path, tmp_path: Path) -> None:
    """Tables that have become directories of files, next to those that the library wrote."""
    grown = tmp_path / "grown"
    shutil.copytree(fixture("everything_flat"), grown)
    grow(isomorph, grown, tmp_path)
    assert grown / "structure" / "edges.parquet" in parts(grown)
    once = isomorph.convert(grown, tmp_path / "once", "--to", "annnet")
    read, expected = (without_conversions(graph) for graph in dumps(annnet, grown, once))
    assert read == expected
    assert len(read["edges"]) > EDGES + MORE
    assert read["edges"]["t20009"]["source"] == ["v2009", "v2014"]


def test_a_matrix_that_grew_is_the_one_that_annnet_computes(isomorph: Isomorph, annnet: Path, tmp_path: Path) -> None:
    """A matrix that the library wrote, and one of ours, with new columns after the existing ones."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    shutil.copytree(FIXTURES / "everything_multilayer" / "graph_matrix.annnet.d", theirs)
    isomorph.convert(fixture("everything_flat"), ours, "--to", "annnet", "--matrix")
    edges = tmp_path / "edges.csv"
    for graph, layered in ((theirs, True), (ours, False)):
        (before,) = dumps(annnet, graph)
        stored = matrix(annnet, graph)
        source, target, *_ = [entity[0] for entity in before["entities"] if entity[2] == "node"]
        names = "id,source,target,weight" + (",source_layer,target_layer" if layered else "")
        places = {entity[0]: "|".join(entity[1]) for entity in reversed(before["entities"])}
        row = f"{source},{target},2.5" + (f",{places[source]},{places[target]}" if layered else "")
        edges.write_text(f"{names}\n" + "".join(f"t{at},{row}\n" for at in range(300)))
        isomorph.run("extend", graph, "--edges", edges)
        isomorph.validate(graph)
        grown, (after,) = matrix(annnet, graph), dumps(annnet, graph)
        count = len(stored["data"])
        assert grown["data"][:count] == stored["data"]
        assert [cells[:count] for cells in grown["cells"]] == stored["cells"]
        assert len(grown["data"]) == count + 600
        assert grown["shape"] == after["incidence"]["shape"] == manifest(graph)["matrix_shape"]
        assert sum(grown["data"]) == pytest.approx(after["incidence"]["sum_of_cells"])
        assert manifest(graph)["incidence_stored"] is True


def test_annnet_does_not_write_over_a_graph_that_grew(isomorph: Isomorph, annnet: Path, tmp_path: Path) -> None:
    """Its writer tries to open a file where a directory is, and fails; a conversion makes every table one file again."""
    grown, again = tmp_path / "grown", tmp_path / "again"
    shutil.copytree(fixture("everything_flat"), grown)
    grow(isomorph, grown, tmp_path)
    write = (
        "import sys; from annnet.io.annnet_format import read, write\n"
        "try: write(read(sys.argv[1]), sys.argv[1], overwrite=True); print('written')\n"
        "except Exception as error: print(type(error).__name__)\n"
    )

    def over(graph: Path) -> str:
        done = subprocess.run([annnet, "-c", write, graph], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[-1]

    (before,) = dumps(annnet, grown)
    assert over(grown) == "IsADirectoryError"
    # The files that it wrote before the failure are of the same graph: nothing is lost.
    (after,) = dumps(annnet, grown)
    assert after["edges"] == before["edges"]
    isomorph.convert(grown, again, "--to", "annnet")
    assert parts(again) == [] and over(again) == "written"
    isomorph.validate(again)


def test_graphs_of_other_formats_become_ordinary_graphs(
    isomorph: Isomorph, annnet: Path, social: Path, tmp_path: Path
) -> None:
    counts = (1340, 6620)
    typed = isomorph.convert(social, tmp_path / "typed.annnet")
    nock = isomorph.convert(social, tmp_path / "social.parq")
    bundled = isomorph.convert(nock, tmp_path / "bundled", "--to", "annnet", "--sidecar", "ignore")
    of_typed, of_bundled = dumps(annnet, typed, bundled)
    for graph in (of_typed, of_bundled):
        assert (len(graph["entities"]), len(graph["edges"])) == counts
        assert {name: (len(own["nodes"]), len(own["edges"])) for name, own in graph["slices"].items()} == {"default": counts}
        assert graph["incidence"]["shape"] == list(counts)
        by_relation: dict[str, list[str]] = {}
        for edge, own in graph["edge_attributes"].items():
            by_relation.setdefault(own["relation"], []).append(edge)
        assert set(by_relation) == {"knows", "livesIn", "wrote", "likes"}
        directed = {name: {graph["edges"][edge]["declared_directed"] for edge in own} for name, own in by_relation.items()}
        assert directed == {"knows": {False}, "livesIn": {True}, "wrote": {True}, "likes": {True}}
        weights = {graph["edges"][edge]["weight"] for edge in by_relation["likes"]}
        assert len(weights) > 1, weights
        edge = next(iter(by_relation["wrote"]))
        source, target = (graph["edges"][edge][side] for side in ("source", "target"))
        assert edge == f"wrote:{source[0]}>{target[0]}"
    # The types are those of the graph, in either shape.
    assert {own["type"] for own in of_typed["node_attributes"].values()} == {"person", "city", "post"}
    assert all("type" not in own and own["labels"] for own in of_bundled["node_attributes"].values())
    city = of_typed["node_attributes"]["city/Accra"]
    assert city["population"] == of_bundled["node_attributes"]["city/Accra"]["population"] > 0
    # With its sidecar, it equals the original graph.
    back = isomorph.convert(typed, tmp_path / "back.graphar")
    assert isomorph.content(back) == isomorph.content(social)
