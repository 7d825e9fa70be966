"""The command line of isomorph for the tests."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

TIME_LIMIT = 300


class Isomorph:
    """Runs one program; a call that does not end as expected fails the test and shows all its output."""

    def __init__(self, binary: Path, environment: dict[str, str] | None = None) -> None:
        if not binary.is_file():
            raise FileNotFoundError(f"{binary} is not built: run `cargo build`, or set ISOMORPH_BIN")
        self.binary = binary
        self.environment = {**os.environ, **(environment or {})}

    def with_environment(self, environment: dict[str, str]) -> Isomorph:
        """The same command with additional environment variables."""
        return Isomorph(self.binary, environment)

    def run(self, *arguments: object, expect: int = 0) -> str:
        """Returns its standard output."""
        words = [str(self.binary), *map(str, arguments)]
        done = subprocess.run(
            words, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT
        )
        assert done.returncode == expect, (
            f"{' '.join(words)}\nexit code {done.returncode}, expected {expect}\n{done.stdout}\n{done.stderr}"
        )
        return done.stdout

    def json(self, *arguments: object, expect: int = 0) -> Any:
        """The same with `--json`, parsed."""
        return json.loads(self.run(*arguments, "--json", expect=expect))

    def error(self, *arguments: object, expect: int) -> Any:
        """Returns the error document of a call that fails with this code."""
        words = [str(self.binary), *map(str, arguments), "--json"]
        done = subprocess.run(
            words, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT
        )
        assert done.returncode == expect, f"{' '.join(words)}\nexit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stderr)["error"]

    def start(self, *arguments: object) -> subprocess.Popen[bytes]:
        """Starts a call without waiting for it."""
        words = [str(self.binary), *map(str, arguments)]
        return subprocess.Popen(
            words, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def convert(self, source: object, target: object, *flags: object) -> Path:
        """Converts, with a certificate, and returns the target."""
        self.run("convert", source, target, *flags)
        return Path(str(target))

    def content(self, path: object) -> str:
        """Returns the content digest."""
        return self.json("digest", path)["content"]

    def validate(self, path: object) -> None:
        """Fails on any finding that makes a graph invalid."""
        self.run("validate", path)
