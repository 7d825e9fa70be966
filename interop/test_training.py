"""Every command of docs/training.md works: three servers, one trainer with the stock client, tokens and TLS."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from command import Isomorph
from environments import python_with

PAGE = Path(__file__).resolve().parent.parent / "docs" / "training.md"

# Runs to its end even if a command fails, and stops the servers that the page starts.
SCRIPT = "set -euo pipefail\ntrap 'kill $(jobs -p)' EXIT\n"


def free_ports(count: int) -> list[int]:
    """Ports that are free now, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


def test_the_page_about_training(isomorph: Isomorph, tmp_path: Path) -> None:
    for tool in "bash", "curl", "openssl":
        if shutil.which(tool) is None:
            pytest.skip(f"the program `{tool}` is not installed")
    python = python_with("deepgnn", "requirements-deepgnn.txt")
    page = PAGE.read_text()
    wanted = sorted(set(re.findall(r"\b(?:5005\d|910\d)\b", page)))
    assert len(wanted) == 10
    for port, free in zip(wanted, free_ports(len(wanted)), strict=True):
        page = re.sub(rf"\b{port}\b", str(free), page)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "isomorph").symlink_to(isomorph.binary)
    # Not a link: an interpreter finds its environment by its own path.
    (tools / "python").write_text(f'#!/bin/sh\nexec "{python}" "$@"\n')
    (tools / "python").chmod(0o755)
    for name, text in re.findall(r"```python\n# (\S+\.py)\n(.*?)```", page, re.DOTALL):
        (tmp_path / name).write_text(text)
    lines = [line for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    assert len(commands) >= 15
    # What servers print goes to files: the end of the script must not wait for it.
    commands = [f"{command.removesuffix('&')} > server-{at}.txt 2>&1 &" if command.endswith("&") else command for at, command in enumerate(commands)]
    environment = {**isomorph.environment, "PATH": f"{tools}:{isomorph.environment['PATH']}"}
    script = SCRIPT + "\n".join(commands) + "\n"
    with subprocess.Popen(
        ["bash", "-c", script], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            printed, errors = running.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGTERM)
            raise
    assert running.returncode == 0, printed + errors
    for line in lines:
        assert line.startswith("$ ") or line in printed, line
    served = "".join(path.read_text() for path in sorted(tmp_path.glob("server-*.txt")))
    assert served.count("listens") == 5, served
