"""DeepGNN servers, ours and the published one, each for the duration of one test, and the stock client."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from command import Isomorph

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures" / "deepgnn"


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def theirs(python: Path, directory: Path, partitions: str) -> Iterator[str]:
    """The published server, and its address."""
    port = free_port()
    words = [str(python), str(HERE / "deepgnn_client.py"), "serve", str(directory), partitions, str(port)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        assert running.stdout is not None
        try:
            assert running.stdout.readline() == "ready\n"
            yield f"127.0.0.1:{port}"
        finally:
            running.kill()


@contextmanager
def ours(server: Isomorph, path: object, *flags: object) -> Iterator[str]:
    """Our server, and its address. It stops on request, and reports that it did."""
    words = [str(server.binary), "serve", "deepgnn", str(path), "--address", "127.0.0.1:0", "--json", *map(str, flags)]
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, env=server.environment, **pipes) as running:
        assert running.stdout is not None and running.stderr is not None
        try:
            line = running.stdout.readline()
            assert line, running.stderr.read()
            yield json.loads(line)["address"]
            running.send_signal(signal.SIGTERM)
            assert running.wait(timeout=30) == 0, running.stderr.read()
        finally:
            running.kill()


def client(python: Path, *arguments: object) -> str:
    """The output of the stock client."""
    words = [str(python), str(HERE / "deepgnn_client.py"), *map(str, arguments)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def told(python: Path, address: str, questions: Path) -> dict[str, Any]:
    """The answers of a server to all methods of the stock client."""
    return json.loads(client(python, "ask", address, questions))
