"""Stores of GraphLake in object stores: several writers, compaction and vacuum, against real servers on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from command import Isomorph
from object_stores import STORES, ObjectStore, door

KNOWS = "<http://example.org/knows>"


@pytest.fixture(scope="module", params=sorted(STORES))
def store(request: pytest.FixtureRequest) -> Iterator[ObjectStore]:
    """A new server of each kind."""
    with STORES[request.param]() as made:
        yield made


@pytest.fixture
def remote(isomorph: Isomorph, store: ObjectStore) -> Isomorph:
    """The command, configured for the server."""
    return isomorph.with_environment(store.environment(store.address))


def person(number: int) -> str:
    """A statement."""
    return f"<http://example.org/p{number}> {KNOWS} <http://example.org/p{number + 1}> ."


def found(command: Isomorph, place: str, *more: object) -> list[str]:
    """All `knows` pairs, as sorted lines."""
    told = command.json("match", place, f"? {KNOWS} ?", "--limit", 1000, *more)
    assert told["more"] == 0
    return sorted(f"{one['subject']} {one['predicate']} {one['object']} ." for one in told["triples"])


def test_the_server_honours_conditions(store: ObjectStore) -> None:
    """Without this the tests below would show nothing about several writers."""
    status, tag = store.put("once", b"first", {"If-None-Match": "*"})
    assert status == 200 and tag
    # Azure answers that it already exists, S3 that the condition does not hold.
    assert store.put("once", b"second", {"If-None-Match": "*"})[0] in (409, 412)
    assert store.get("once") == b"first"
    status, second = store.put("once", b"second", {"If-Match": tag})
    assert status == 200 and second != tag
    assert store.put("once", b"third", {"If-Match": tag})[0] == 412
    assert store.get("once") == b"second"


def test_a_store_lives_there(remote: Isomorph, store: ObjectStore, tmp_path: Path) -> None:
    there = store.url("lives")
    remote.run("lake", "init", there)
    remote.run("lake", "init", there, expect=2)
    text = tmp_path / "people.nt"
    text.write_text("".join(person(number) + "\n" for number in range(500)))
    assert remote.json("lake", "load", there, text)["version"] == 1
    everybody = sorted(person(number) for number in range(500))
    assert found(remote, there) == everybody
    assert remote.json("lake", "delete", there, person(3), person(7))["deleted"] == 2
    after = sorted(set(everybody) - {person(3), person(7)})
    assert found(remote, there) == after
    assert found(remote, f"{there}@1") == everybody
    compacted = remote.json("lake", "compact", there, "--full")
    assert (compacted["version"], compacted["triples"], compacted["forgotten_deletions"]) == (3, 498, 2)
    remote.validate(there)
    before = set(store.names("lives/"))
    assert remote.json("lake", "vacuum", there, "--keep-last", 1, "--grace", "0s")["files"]
    assert set(store.names("lives/")) == before, "without --apply nothing is removed"
    remote.run("lake", "vacuum", there, "--keep-last", 1, "--grace", "0s", "--apply")
    assert set(store.names("lives/")) < before
    assert found(remote, there) == after
    assert remote.error("match", f"{there}@1", f"? {KNOWS} ?", expect=3)["kind"] == "not-found"
    remote.validate(there)
    # The same on a disk: the objects of the server are a store like any other.
    assert remote.json("digest", there)["content"] == remote.json("digest", at_home(remote, tmp_path, after))["content"]


def at_home(command: Isomorph, folder: Path, lines: list[str]) -> Path:
    """A store on the disk with these statements."""
    text, lake = folder / "after.nt", folder / "lake"
    text.write_text("".join(line + "\n" for line in lines))
    command.run("lake", "load", lake, text)
    return lake


def test_a_new_store_is_loaded_there(remote: Isomorph, store: ObjectStore, tmp_path: Path) -> None:
    text = tmp_path / "people.nt"
    text.write_text("".join(person(number) + "\n" for number in range(100)))
    done = remote.json("lake", "load", store.url("new"), text)
    assert (done["version"], done["created"]) == (1, True)
    assert len(found(remote, store.url("new"))) == 100
    remote.validate(store.url("new"))


def test_writers_at_the_same_time_lose_nothing(remote: Isomorph, store: ObjectStore) -> None:
    there = store.url("crowded")
    remote.run("lake", "init", there)
    rounds, writers = 3, 2
    for first in range(0, rounds * writers, writers):
        running = [remote.start("lake", "insert", there, person(first + one)) for one in range(writers)]
        assert [one.wait() for one in running] == [0] * writers
    assert found(remote, there) == sorted(person(number) for number in range(rounds * writers))
    versions = [event["version"] for event in remote.json("lake", "log", there)]
    assert sorted(versions) == list(range(1, rounds * writers + 1)), "no gaps"
    remote.validate(there)


def test_who_comes_too_late_begins_again(isomorph: Isomorph, remote: Isomorph, store: ObjectStore) -> None:
    there = store.url("late")
    remote.run("lake", "insert", there, person(0), expect=3)
    remote.run("lake", "init", there)
    remote.run("lake", "insert", there, person(0))
    faster: list[str] = []

    def before(method: str, path: str) -> None:
        # Just before it claims version 2, another writer makes it.
        if method == "PUT" and path.endswith("/snapshot2.json") and not faster:
            faster.append(path)
            remote.run("lake", "insert", there, person(1))

    with door(store, before) as address:
        late = isomorph.with_environment(store.environment(address))
        assert late.json("lake", "insert", there, person(2))["version"] == 3
    assert faster
    assert found(remote, there) == [person(0), person(1), person(2)]
    assert found(remote, f"{there}@2") == [person(0), person(1)]


def test_what_a_killed_writer_claimed_is_published(
    isomorph: Isomorph, remote: Isomorph, store: ObjectStore
) -> None:
    there = store.url("killed")
    remote.run("lake", "init", there)
    remote.run("lake", "insert", there, person(0))

    def before(method: str, path: str) -> None:
        # Version 2 is claimed; it is listed only when store.json is put.
        if method == "PUT" and path.endswith("/store.json") and killed.poll() is None:
            killed.kill()
            killed.wait()
            raise ConnectionAbortedError("nobody waits for an answer")

    with door(store, before) as address:
        doomed = isomorph.with_environment(store.environment(address))
        killed = doomed.start("lake", "insert", there, person(1))
        assert killed.wait() != 0
    assert found(remote, there) == [person(0)], "it was not acknowledged"
    assert remote.json("lake", "insert", there, person(2))["version"] == 3
    assert found(remote, there) == [person(0), person(1), person(2)]
    remote.validate(there)
