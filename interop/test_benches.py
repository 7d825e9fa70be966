"""The benchmarks run on tiny data, and no answer differs from that of the compared library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import Isomorph

RUN = Path(__file__).resolve().parent.parent / "benches" / "run.py"


def test_the_benchmarks_run(isomorph: Isomorph, tmp_path: Path) -> None:
    if not os.environ.get("ISOMORPH_BENCH_BIN"):
        pytest.skip("ISOMORPH_BENCH_BIN is not set (`cargo xtask interop` sets it)")
    environment = {**os.environ, "ISOMORPH_BIN": str(isomorph.binary)}
    words = [sys.executable, str(RUN), "--smoke", "--folder", str(tmp_path)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    for work in ("full read into the model", "edge table", "full scan", "warm p50, our files"):
        assert work in done.stdout
