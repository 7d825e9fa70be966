"""Examples of the documentation run; types are complete."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import isomorph
import pytest

from conftest import ROOT

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.usefixtures("at_root")
def test_the_examples_of_the_page_run() -> None:
    failed, run = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert run > 30 and failed == 0


@pytest.mark.usefixtures("at_root")
def test_the_examples_of_docstrings_run() -> None:
    failed, run = doctest.testmod(isomorph, optionflags=FLAGS)
    assert run > 2 and failed == 0


@pytest.mark.parametrize("name", ["README.md", "python/README.md"])
def test_the_examples_of_readmes_run(name: str, tmp_path: Path) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert programs
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for program in programs:
        subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=120)


def test_the_package_is_fully_typed(tmp_path: Path) -> None:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    used = tmp_path / "used.py"
    used.write_text(
        textwrap.dedent(
            """
            import isomorph

            graph: isomorph.Graph = isomorph.open("g", at=3, memory="2GiB")
            table: isomorph.Table = graph.nodes("person").filter("a > 1").select("a", "b").limit(3)
            names: list[str] = table.columns
            count: int = table.count()
            certificate: isomorph.Certificate = isomorph.convert(graph, "x", progress=True)
            equal: bool | None = certificate.equal
            with isomorph.Lake("x").transaction() as t:
                t.insert("urn:a", "urn:b", isomorph.Literal("c", language="de"))
            try:
                isomorph.validate("x").sound
            except isomorph.NotFoundError as error:
                kind: str = error.kind
            """
        )
    )
    cache = os.environ.get("TMPDIR", str(tmp_path))
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", f"{cache}/mypy-{os.getpid()}"]
    own = subprocess.run([*mypy, "--ignore-missing-imports", "-p", "isomorph"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert own.returncode == 0, own.stdout
    user = subprocess.run([*mypy, str(used)], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert user.returncode == 0, user.stdout
    wrong = used.with_name("wrong.py")
    wrong.write_text('import isomorph\nisomorph.open("g").nodes("person").limit("three")\nisomorph.opne("g")\n')
    found = subprocess.run([*mypy, str(wrong)], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert found.stdout.count("error:") == 2, found.stdout


def test_everything_public_is_documented_and_listed() -> None:
    for name in isomorph.__all__:
        thing = getattr(isomorph, name)
        assert name.startswith("__") or thing.__doc__, name
    assert isomorph.__version__.count(".") == 2
    assert {"graphar", "nock", "rdf"} <= {known.id for known in isomorph.formats()}
