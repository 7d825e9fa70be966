"""Python environments of the libraries that need other versions than the environment of the tests."""

from __future__ import annotations

import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Only one process at a time creates an environment: tests run in several. The lock ends with the process that holds it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "a+b") as lock:
        if sys.platform == "win32":
            import msvcrt

            while True:
                try:
                    msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
                    break
                except OSError:
                    time.sleep(1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def python_with(name: str, requirements: str, *packages: str) -> Path:
    """An interpreter with the requirements and packages, created again when they change; if that fails, the test is skipped."""
    folder = Path(sys.prefix).parent / f"interop-{name}-venv"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = (HERE / requirements).read_text() + "".join(f"{package}\n" for package in packages)
    stamp = folder / "made-from.txt"
    with alone(folder):
        if not stamp.is_file() or stamp.read_text() != wanted:
            venv.create(folder, clear=True, with_pip=True)
            install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / requirements]
            done = subprocess.run([*install, *packages], capture_output=True, text=True)
            if done.returncode != 0:
                pytest.skip(f"pip could not install {name}: {done.stderr[-300:]}")
            stamp.write_text(wanted)
    return python
