"""Stores of GraphLake that the command changed, as an independent reader reads them."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from command import Isomorph
from lake_reader import Store

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "graphlake"


@pytest.mark.parametrize("name", ["tiny", "five_k", "history"])
def test_the_reader_reads_what_others_wrote(name: str) -> None:
    """Checks the reader itself, without which the other tests would show nothing."""
    root = FIXTURES / name
    for version in Store(root).versions:
        expected = (FIXTURES / f"{name}.expected" / f"v{version}.nq").read_text(encoding="utf-8")
        assert Store(root, version).lines() == sorted(expected.splitlines())


def statement(numbers: random.Random) -> str:
    """A statement of a small domain, in which operations collide."""
    subject = numbers.choice(["<http://example.org/a>", "<http://example.org/ns#b>", "_:b1", "<urn:c>"])
    object_ = numbers.choice(
        ["<http://example.org/a>", '"x"', '"x"@en', '"\\u0007 \\"q\\" \\n"', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>', "_:b1"]
    )
    graph = numbers.choice(["", "", " <http://example.org/g>", " _:g"])
    return f"{subject} <http://example.org/p{numbers.randrange(2)}> {object_}{graph} ."


@pytest.mark.parametrize("seed", range(4))
def test_changed_stores_say_what_a_set_says(isomorph: Isomorph, tmp_path: Path, seed: int) -> None:
    numbers, lake, expected = random.Random(seed), tmp_path / "lake", set()
    isomorph.run("lake", "init", lake)
    states = {}
    for _ in range(12):
        what = numbers.choice(["insert", "insert", "delete", "compact"])
        chosen = {statement(numbers) for _ in range(6)}
        if what == "compact":
            version = isomorph.json("lake", "compact", lake, *numbers.choice([[], ["--full"]]))["version"]
        else:
            version = isomorph.json("lake", what, lake, *sorted(chosen))["version"]
            expected = expected | chosen if what == "insert" else expected - chosen
        if version is not None:
            states[version] = sorted(canonical(line) for line in expected)
        if states:
            # Deletions must be invisible to readers of either kind.
            assert Store(lake).lines() == Store(lake).lines(naive=True) == sorted(map(canonical, expected))
    assert Store(lake).versions == sorted(states) == list(range(1, len(states) + 1))
    for version, lines in states.items():
        assert Store(lake, version).lines() == lines
    isomorph.validate(lake)
    isomorph.run("lake", "vacuum", lake, "--keep-last", 2, "--grace", "0s", "--apply")
    assert Store(lake).versions == sorted(states)[-2:]
    for version in Store(lake).versions:
        assert Store(lake, version).lines() == states[version]
    moved = shutil.move(lake, tmp_path / "elsewhere")
    assert Store(Path(moved)).lines() == states[max(states)]


def canonical(line: str) -> str:
    """The same statement in canonical form."""
    return line


def test_a_store_is_loaded_and_loaded_again(isomorph: Isomorph, tmp_path: Path) -> None:
    lake, text = tmp_path / "lake", tmp_path / "people.ttl"
    text.write_text('@prefix : <http://example.org/> .\n:a :knows :b ; :name "A" .\n_:x :knows [ :name "anonymous" ] .\n')
    first = isomorph.json("lake", "load", lake, text)
    assert (first["version"], first["created"], first["quads"]) == (1, True, 4)
    again = isomorph.json("lake", "load", lake, text, "--blank-map", tmp_path / "map.tsv")
    assert (again["version"], again["created"], first["blank_prefix"]) == (2, False, None)
    assert again["blank_prefix"]
    # Blank nodes of the second import are different ones; the other triples exist already.
    assert len(Store(lake).lines()) == 4 + 2
    labels = [line.split("\t") for line in (tmp_path / "map.tsv").read_text().splitlines()]
    assert len(labels) == 2 and all(any(new in line for line in Store(lake).lines()) for _, new, _ in labels)
