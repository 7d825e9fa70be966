"""Lakes: transactions, the log, compaction, snapshots."""

from __future__ import annotations

import datetime
import decimal
import random
import threading
from pathlib import Path

import isomorph
import pytest

EX = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"


def triples(graph: isomorph.Graph, path: Path) -> set[str]:
    """The statements of a graph, as lines of N-Triples."""
    graph.convert(path)
    return set(path.read_text(encoding="utf-8").splitlines())


def test_values_of_python_become_literals(tmp_path: Path) -> None:
    lake = isomorph.Lake(tmp_path / "lake", create=True)
    values = [
        (isomorph.Literal("tea"), '"tea"'),
        (isomorph.Literal("Tee", language="de"), '"Tee"@de'),
        (isomorph.Literal("5", datatype=XSD + "byte"), f'"5"^^<{XSD}byte>'),
        (True, f'"true"^^<{XSD}boolean>'),
        (2**70, f'"{2**70}"^^<{XSD}integer>'),
        (0.1, f'"0.1"^^<{XSD}double>'),
        (float("nan"), f'"NaN"^^<{XSD}double>'),
        (decimal.Decimal("1.50"), f'"1.50"^^<{XSD}decimal>'),
        (datetime.date(2024, 2, 29), f'"2024-02-29"^^<{XSD}date>'),
        (EX + "bob", f"<{EX}bob>"),
        ("_:b", "_:b"),
    ]
    with lake.transaction() as t:
        for value, _ in values:
            t.insert(EX + "ann", EX + "p", value)
    assert t.committed is not None and t.committed.inserted == len(values)
    expected = {f"<{EX}ann> <{EX}p> {text} ." for _, text in values}
    assert triples(lake.open(), tmp_path / "all.nt") == expected


def test_an_exception_leaves_everything_as_it_was(tmp_path: Path) -> None:
    lake = isomorph.Lake(tmp_path / "lake", create=True)
    with lake.transaction() as t:
        t.insert(EX + "a", EX + "p", 1)
    with pytest.raises(RuntimeError), lake.transaction() as t:
        t.insert(EX + "b", EX + "p", 2)
        raise RuntimeError
    assert t.committed is None
    for work in (lambda: t.insert(EX + "c", EX + "p", 3), t.commit):
        with pytest.raises(isomorph.UsageError, match="ended"):
            work()
    assert [snapshot.version for snapshot in lake.log()] == [1]
    with lake.transaction() as t:
        pass
    assert t.committed is None and len(lake.log()) == 1
    for wrong in [("no iri", EX + "p", 1), (EX + "s", EX + "p", "text"), (EX + "s", EX + "p", None), (EX + "s", EX + "p", 1, "no iri")]:
        with pytest.raises((isomorph.Error, TypeError)), lake.transaction() as t:
            t.insert(*wrong)
    assert len(lake.log()) == 1


def test_random_transactions_against_a_set(tmp_path: Path) -> None:
    lake = isomorph.Lake(tmp_path / "lake", create=True)
    chance, held, history = random.Random(2), set(), {}
    for _ in range(8):
        with lake.transaction() as t:
            changes = [
                (chance.random() < 0.7, (EX + str(chance.randrange(6)), EX + "p" + str(chance.randrange(2)), chance.randrange(5)))
                for _ in range(40)
            ]
            for insert, statement in changes:
                (t.insert if insert else t.delete)(*statement)
                (held.add if insert else held.discard)(statement)
        history[lake.log()[-1].version] = set(held)
    for version, expected in history.items():
        texts = {f'<{s}> <{p}> "{o}"^^<{XSD}integer> .' for s, p, o in expected}
        assert triples(lake.at(version), tmp_path / f"{version}.nt") == texts
    before = lake.open().digest()
    done = lake.compact(full=True)
    assert done["commit"] is not None and lake.open().digest() == before
    assert lake.log()[-1].changes[0]["what"] == "compacted"
    assert lake.log(limit=2)[-1].version == lake.log()[-1].version and len(lake.log(limit=2)) == 2


def test_texts_many_statements_and_loads(tmp_path: Path) -> None:
    lake = isomorph.Lake(tmp_path / "lake", create=True)
    with lake.transaction() as t:
        assert t.insert_text(f"@prefix : <{EX}> . :a :p :b, :c ; :q 5 .", "ttl") == 3
        assert t.insert_many((EX + f"n{at}", EX + "p", at) for at in range(3000)) == 3000
    with lake.transaction() as t:
        assert t.delete_text(f"<{EX}a> <{EX}p> <{EX}b> .", "nt") == 1
        with pytest.raises(isomorph.MalformedError) as wrong:
            t.insert_text("<a> <b", "nt")
        assert wrong.value.place.line == 1
        t.rollback()
    assert lake.open().stored if hasattr(lake.open(), "stored") else True
    (tmp_path / "more.ttl").write_text(f"<{EX}x> <{EX}y> <{EX}z> .")
    assert lake.load(tmp_path / "more.ttl")["quads"] == 1
    assert lake.log()[-1].triples == 3004
    fresh = isomorph.Lake(tmp_path / "lake")
    assert fresh.log()[-1].version == lake.log()[-1].version


def test_writers_in_threads_all_commit(tmp_path: Path) -> None:
    isomorph.Lake(tmp_path / "lake", create=True)

    def write(number: int) -> None:
        lake = isomorph.Lake(tmp_path / "lake")
        for step in range(3):
            with lake.transaction() as t:
                t.insert(EX + f"w{number}", EX + "p", step)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    log = isomorph.Lake(tmp_path / "lake").log()
    assert [snapshot.version for snapshot in log] == list(range(1, 13)) and log[-1].triples == 12


def test_snapshots_are_opened_by_version_and_path(tmp_path: Path) -> None:
    lake = isomorph.Lake(tmp_path / "lake", create=True)
    for number in range(3):
        with lake.transaction() as t:
            t.insert(EX + "a", EX + "p", number)
    assert [lake.at(version).at for version in (1, 2, 3)] == [1, 2, 3]
    assert lake.open().at == 3 and isomorph.open(f"{tmp_path}/lake@2").at == 2
    with pytest.raises(isomorph.NotFoundError):
        lake.at(9)
    with pytest.raises(isomorph.UsageError, match="twice"):
        isomorph.open(f"{tmp_path}/lake@2", at=1)
    with pytest.raises(isomorph.NotFoundError):
        isomorph.Lake(tmp_path / "none")
    with pytest.raises(isomorph.AlreadyExistsError):
        isomorph.Lake(tmp_path / "lake", create=True)


@pytest.mark.parametrize(
    "term",
    [
        isomorph.Literal("x", language="not a lang!"),
        isomorph.Literal("x", language=""),
        isomorph.Literal("x", language="abcdefghijk"),
        isomorph.Literal("x", language="en-"),
        isomorph.Literal("x", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"),
        isomorph.Literal("x", "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"),
        "_:a b",
        "_:",
        "_:a.",
    ],
)
def test_terms_that_no_text_can_say_are_refused_at_insert(tmp_path: Path, term) -> None:
    lake = isomorph.Lake(tmp_path / "l.lake", create=True)
    with pytest.raises(isomorph.Error), lake.transaction() as t:
        t.insert("http://e/s", "http://e/p", term)
    with lake.transaction() as t:
        t.insert("http://e/s", "http://e/p", isomorph.Literal("x", language="de-AT-1996"))
        t.insert("_:a.b-c", "http://e/p", "_:é0")
    assert isomorph.validate(tmp_path / "l.lake").sound
    assert isomorph.convert(tmp_path / "l.lake", tmp_path / "l.nt").equal
