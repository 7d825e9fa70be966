"""Graphs on a plain web server, read in place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("werkzeug", reason="werkzeug is not installed")

from command import Isomorph  # noqa: E402
from servers import serving, static  # noqa: E402


@pytest.fixture
def site(social: Path) -> Iterator[str]:
    """The address of the example's directory."""
    with serving(static(social.parent, ranges=True)) as address:
        yield address


def test_graphar_is_read_by_its_graph_file(isomorph: Isomorph, site: str, social: Path, tmp_path: Path) -> None:
    there = f"{site}/{social.name}"
    assert isomorph.content(there) == isomorph.content(social)
    asked = ["Lisbon", "--type", "city", "--in"]
    here = isomorph.json("neighbors", social, *asked)["neighbors"]
    assert here and isomorph.json("neighbors", there, *asked)["neighbors"] == here
    copy = isomorph.convert(there, tmp_path / "copy.parq")
    isomorph.run("diff", social, copy, "--exact")


def test_a_single_file_is_read_with_what_is_carried(isomorph: Isomorph, social: Path, tmp_path: Path) -> None:
    copy = isomorph.convert(social, tmp_path / "social.parq")
    with serving(static(tmp_path, ranges=True)) as address:
        there = f"{address}/{copy.name}"
        assert isomorph.json("info", there)["carry"]["of"] == "graphar"
        isomorph.run("diff", social, there, "--exact")
        isomorph.validate(there)


def test_what_cannot_be_done_is_said(isomorph: Isomorph, site: str, social: Path, tmp_path: Path) -> None:
    assert isomorph.error("info", f"{site}/nothing.parq", expect=3)["kind"] == "not-found"
    assert isomorph.error("info", f"{site}/nothing.graph.yml", expect=3)["kind"] == "not-found"
    assert isomorph.error("convert", social, f"{site}/new.parq", expect=2)["kind"] == "usage"
    named = isomorph.error("info", f"{site}/", "--from", "graphar", expect=3)
    assert "graph.yml" in named["try"][0]


def test_a_server_without_ranges_is_refused_and_not_believed(
    isomorph: Isomorph, social: Path, tmp_path: Path
) -> None:
    copy = isomorph.convert(social, tmp_path / "social.parq")
    with serving(static(tmp_path, ranges=False)) as address:
        error = isomorph.error("info", f"{address}/{copy.name}", expect=3)
    assert error["kind"] == "unsupported" and "range" in error["try"][0]
