"""The server and the local graph of DeepGNN, against the published package."""

from __future__ import annotations

import json
import os
import pickle
import random
import socket
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import isomorph
from isomorph import deepgnn

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "interop"))


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    """A binary of one partition, made from a text that is beside it."""
    dice = random.Random(3)
    lines = []
    for node in range(40):
        numbers = ",".join(f"{dice.random():.3f}" for _ in range(3))
        lines.append(f"{node},-1,{node % 2},{1 + node % 3}.0,float32,3,{numbers}")
        for end in sorted(dice.sample(range(40), 6)):
            lines += [f"{node},{dice.randrange(2)},{end},{dice.randrange(1, 5)}.0"]
    text = tmp_path / "graph.edgelist"
    text.write_text("\n".join(sorted(lines, key=lambda line: (int(line.split(",")[0]), line.split(",")[1] != "-1", line.split(",")[1]))) + "\n")
    isomorph.convert(text, tmp_path / "binary", to="deepgnn")
    return tmp_path / "binary"


def test_a_trainer_draws_what_it_draws_from_the_published_server(binary: Path, tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("the published package is for Linux")
    from environments import python_with

    python = python_with("deepgnn", "requirements-deepgnn.txt")
    isomorph.convert(binary, tmp_path / "other", to="graphar")
    # The package alone: its neighbours in this environment are of other versions.
    package = tmp_path / "package"
    package.mkdir()
    (package / "isomorph").symlink_to(Path(isomorph.__file__).parent)
    command = [python, Path(__file__).with_name("trainer.py"), binary, tmp_path / "other"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(package)}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.splitlines()[-1])
    arrays = result["distributed"] // 200
    assert arrays >= 12 and result["local"] == arrays * 20 and result["port_is_free"]
    assert result["difference"] < 0.02


def test_a_server_stops_and_its_address_is_free(binary: Path) -> None:
    server = deepgnn.Server(binary, [0], "127.0.0.1:0")
    host, port = server.address.rsplit(":", 1)
    socket.create_connection((host, int(port)), timeout=5).close()
    with pytest.raises(isomorph.Error, match="cannot listen"):
        deepgnn.Server(binary, [0], server.address)
    server.reset()
    server.reset()
    assert "stopped" in repr(server)
    deepgnn.Server(binary, [0], server.address).reset()


def test_what_cannot_be_served_is_an_error(binary: Path, tmp_path: Path) -> None:
    for partitions in ([1], [0, 7], [0, 0], [(str(tmp_path / "nowhere"), 0)]):
        with pytest.raises(isomorph.Error):
            deepgnn.Server(binary, partitions)
    for partitions in ([], [-1], ["0"], [True]):
        with pytest.raises(isomorph.UsageError):
            deepgnn.Server(binary, partitions)  # type: ignore[arg-type]
    with pytest.raises(isomorph.NotFoundError):
        deepgnn.Server(tmp_path / "nothing", [0])
    with pytest.raises(isomorph.UsageError, match="address"):
        deepgnn.Server(binary, [0], "nowhere")
    with pytest.raises(isomorph.UsageError, match="ssl_config"):
        deepgnn.Server(binary, [0], ssl_config={"ssl_key": "key"})
    with pytest.raises(isomorph.UsageError, match="binaries"):
        deepgnn.Server(ROOT / "examples" / "social", [0], generator="deepgnn")
    with pytest.raises(isomorph.Error):
        deepgnn.Server(ROOT / "examples" / "social", [1])
    with pytest.raises(TypeError):
        pickle.dumps(deepgnn.Server(binary))


def test_partitions_may_be_in_several_directories(binary: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for file in list(binary.iterdir()):
        if not file.is_dir() and file.name not in ("meta.json", "meta.txt"):
            file.rename(other / file.name)
    with pytest.raises(isomorph.Error):
        deepgnn.Server(binary, [0])
    deepgnn.Server(binary, [(str(other), 0)]).reset()


def test_an_open_address_is_told(binary: Path) -> None:
    with pytest.warns(RuntimeWarning, match="everybody on the network"):
        deepgnn.Server(binary, [0], "0.0.0.0:0").reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        deepgnn.Server(binary, [0], "0.0.0.0:0", insecure=True).reset()
        deepgnn.Server(binary, [0], "localhost:0").reset()


def test_the_local_graph_names_the_package_that_it_needs() -> None:
    with pytest.raises(ImportError, match="pip install deepgnn-ge"):
        deepgnn.MemoryGraph
    with pytest.raises(AttributeError):
        deepgnn.nothing
