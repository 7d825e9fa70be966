"""annnet 0.4.1 reads what we write, directory and archive, as it reads what it wrote itself."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent.parent / "shared" / "fixtures" / "annnet"
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


@pytest.fixture(scope="session")
def annnet() -> Path:
    """An interpreter that has annnet, beside the environment of the other tests."""
    folder = Path(sys.prefix).parent / "interop-annnet-venv"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    requirements = HERE / "requirements-annnet.txt"
    stamp = folder / "made-from.txt"
    if not stamp.is_file() or stamp.read_text() != requirements.read_text():
        venv.create(folder, clear=True, with_pip=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements]
        done = subprocess.run(install, capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"pip could not install annnet: {done.stderr[-300:]}")
        stamp.write_text(requirements.read_text())
    return python


def dumps(python: Path, *paths: Path) -> list[Any]:
    """What annnet restores from each path."""
    done = subprocess.run([python, HERE / "annnet_dump.py", *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def without_spans(value: Any) -> Any:
    """Spans of time as numbers of microseconds: Parquet has no such type, and we write what we read."""
    if isinstance(value, dict):
        if value.get("$") == "timedelta":
            return int(value["v"])
        return {name: without_spans(item) for name, item in value.items()}
    return [without_spans(item) for item in value] if isinstance(value, list) else value


def both(isomorph: Isomorph, name: str, folder: Path) -> tuple[Path, Path, Path]:
    """The fixture, and what we make of it: a directory and, from that, an archive."""
    if not FIXTURES.is_dir():
        pytest.skip(f"the fixtures are not at {FIXTURES}")
    graph = FIXTURES / name / "graph.annnet.d"
    directory = isomorph.convert(graph, folder / "graph", "--to", "annnet", "--compression", "snappy")
    return graph, directory, isomorph.convert(directory, folder / "graph.annnet")


@pytest.mark.parametrize("name", GRAPHS)
def test_what_is_written_is_read_as_the_original(isomorph: Isomorph, annnet: Path, tmp_path: Path, name: str) -> None:
    original, directory, archive = dumps(annnet, *both(isomorph, name, tmp_path))
    assert directory == without_spans(original)
    assert archive == directory


def test_members_whose_ids_read_as_json_are_kept(isomorph: Isomorph, annnet: Path, tmp_path: Path) -> None:
    original, directory, archive = dumps(annnet, *both(isomorph, "jsonlike_ids_lossy", tmp_path))
    assert original["edges"]["hd"]["target"] == []
    for written in (directory, archive):
        assert written["edges"]["hd"]["source"] == ["1"]
        assert written["edges"]["hd"]["target"] == ["2", "true"]
