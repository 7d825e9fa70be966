"""A complete conversion from a disk to an object store and back, against a real server on this machine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

moto_server = pytest.importorskip("moto.server", reason="moto is not installed")
boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")

from botocore.exceptions import ClientError  # noqa: E402
from moto.server import DomainDispatcherApplication, create_backend_app  # noqa: E402

from command import Isomorph  # noqa: E402
from graphs import people  # noqa: E402
from servers import serving  # noqa: E402

BUCKET = "graphs"
KEYS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "AWS_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a new server on the loopback interface."""
    moto = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    yield f"http://{host}:{port}"
    moto.stop()


@pytest.fixture(scope="module")
def client(server: str):
    """An independent client, and a bucket."""
    made = boto3.client(
        "s3",
        endpoint_url=server,
        region_name=KEYS["AWS_REGION"],
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )
    made.create_bucket(Bucket=BUCKET)
    return made


def names(client, prefix: str) -> list[str]:
    """Every object whose key has this prefix."""
    return [item["Key"] for item in client.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", [])]


@contextmanager
def watched(refuses: Callable[[int], bool | None]) -> Iterator[str]:
    """The address of a proxy of the same store, which calls `refuses` for each put, with its number."""
    moto = DomainDispatcherApplication(create_backend_app)
    puts = 0

    def door(environ, start_response):
        nonlocal puts
        if environ["REQUEST_METHOD"] == "PUT":
            puts += 1
            if refuses(puts):
                start_response("503 Service Unavailable", [])
                return []
        return moto(environ, start_response)

    with serving(door) as address:
        yield address


@pytest.fixture
def remote(isomorph: Isomorph, server: str, client) -> Isomorph:
    """The command, configured for the server."""
    return at(isomorph, server)


def at(command: Isomorph, server: str) -> Isomorph:
    """The command, configured for a server."""
    return command.with_environment({**KEYS, "AWS_ENDPOINT_URL": server, "AWS_ALLOW_HTTP": "true"})


def test_the_server_honours_conditional_puts(client) -> None:
    """Without this the tests below would show nothing about two writers."""
    client.put_object(Bucket=BUCKET, Key="once", Body=b"first", IfNoneMatch="*")
    with pytest.raises(ClientError) as refused:
        client.put_object(Bucket=BUCKET, Key="once", Body=b"second", IfNoneMatch="*")
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 412
    assert client.get_object(Bucket=BUCKET, Key="once")["Body"].read() == b"first"


def test_graphar_goes_to_the_store_and_comes_back(remote: Isomorph, social: Path, tmp_path: Path) -> None:
    there = f"s3://{BUCKET}/social"
    remote.run("convert", social, there, "--to", "graphar")
    assert remote.content(there) == remote.content(social)
    back = remote.convert(there, tmp_path / "back.parq", "--to", "nock")
    assert remote.content(back) == remote.content(social)


def test_a_single_file_goes_to_the_store_and_comes_back(remote: Isomorph, client, tmp_path: Path) -> None:
    source = people().write_parquet(tmp_path / "source.parq")
    there = f"s3://{BUCKET}/people.parq"
    remote.run("convert", source, there, "--to", "nock")
    # What the file cannot declare is in its sidecar; there are no other objects.
    assert set(names(client, "people")) <= {"people.parq", "people.parq.isomorph/carry.json"}
    back = remote.convert(there, tmp_path / "back", "--to", "graphar")
    assert remote.content(back) == remote.content(source)


def test_what_is_there_is_not_overwritten(remote: Isomorph, client, tmp_path: Path) -> None:
    client.put_object(Bucket=BUCKET, Key="taken.parq", Body=b"somebody else's")
    source = people().write_parquet(tmp_path / "source.parq")
    remote.run("convert", source, f"s3://{BUCKET}/taken.parq", "--to", "nock", expect=2)
    assert client.get_object(Bucket=BUCKET, Key="taken.parq")["Body"].read() == b"somebody else's"


def test_what_is_carried_lies_beside_a_single_file(remote: Isomorph, client, social: Path, tmp_path: Path) -> None:
    there = f"s3://{BUCKET}/carried.parq"
    remote.run("convert", social, there)
    assert names(client, "carried") == ["carried.parq", "carried.parq.isomorph/carry.json"]
    assert remote.json("info", there)["carry"] == {"of": "graphar", "stale": False, "differences": []}
    remote.run("diff", social, there, "--exact")
    remote.run("convert", there, tmp_path / "back", "--to", "graphar")
    remote.run("diff", social, tmp_path / "back", "--exact")


def test_a_graph_is_looked_at_where_it_lies(remote: Isomorph, client, social: Path) -> None:
    there = f"s3://{BUCKET}/looked/at"
    remote.run("convert", social, there, "--to", "graphar", "--keep-layout")
    graph_file = next(name for name in names(client, "looked/at/") if name.endswith(".graph.yml"))
    for place in (there, f"{there}/", f"s3://{BUCKET}/{graph_file}"):
        here, away = remote.json("info", social), remote.json("info", place)
        for edge in here["edges"] + away["edges"]:
            edge.pop("stored")
        for what in ("name", "files", "layout", "nodes", "edges", "findings"):
            assert away[what] == here[what], what
    remote.validate(there)
    asked = ["Lisbon", "--type", "city", "--in"]
    assert remote.json("neighbors", there, *asked)["neighbors"] == remote.json("neighbors", social, *asked)["neighbors"]
    assert remote.run("dump", there) == remote.run("dump", social)


def test_a_difference_is_found_across_places(remote: Isomorph, tmp_path: Path) -> None:
    graph = people()
    source = graph.write_parquet(tmp_path / "source.parq")
    there = f"s3://{BUCKET}/edited.parq"
    graph.nodes[0].props["edited"] = True
    remote.run("convert", graph.write_parquet(tmp_path / "edited.parq"), there)
    found = remote.json("diff", source, there, expect=1)
    assert found["differing"] == 1 and graph.nodes[0].name in found["elements"][0]["identity"]


def test_partitions_are_written_and_read(remote: Isomorph, client, tmp_path: Path) -> None:
    source = people().write_parquet(tmp_path / "source.parq")
    there = f"s3://{BUCKET}/parts"
    remote.run("convert", source, there, "--to", "nock", "--partitions", 3)
    assert len([name for name in names(client, "parts/") if name.endswith(".parq")]) == 3
    assert remote.content(there) == remote.content(source)


def test_a_graph_is_replaced_whole(remote: Isomorph, client, social: Path, tmp_path: Path) -> None:
    there = f"s3://{BUCKET}/again"
    remote.run("convert", social, there, "--to", "graphar", "--vertex-chunk", 100)
    before = names(client, "again/")
    remote.run("convert", social, there, "--to", "graphar", expect=2)
    assert names(client, "again/") == before
    remote.run("convert", social, there, "--to", "graphar", "--replace")
    assert len(names(client, "again/")) < len(before)
    remote.run("diff", social, there)


def annnet_there_and_here(remote: Isomorph, social: Path, name: str, layout: str, folder: Path) -> tuple[str, Path, Path]:
    """An annnet graph in the store, the same on the disk, and a table for an edge that may be added to both."""
    there, here, table = f"s3://{BUCKET}/{name}", folder / name, folder / f"{name}.csv"
    for place in (there, here):
        remote.run("convert", social, place, "--to", "annnet", "--layout", layout, "--lossy", "--epoch", 0)
    nodes = [json.loads(line) for line in remote.run("dump", here).splitlines() if line.startswith('{"node"')]
    table.write_text(f"id,source,target\nextra,{nodes[0]['key']},{nodes[1]['key']}\n")
    return there, here, table


@pytest.mark.parametrize("layout", ["v2", "1.1"])
def test_an_annnet_graph_is_changed_where_it_lies(
    remote: Isomorph, client, social: Path, tmp_path: Path, layout: str
) -> None:
    name = f"grows-{layout}"
    there, here, table = annnet_there_and_here(remote, social, name, layout, tmp_path)

    def tags() -> dict[str, str]:
        found = client.list_objects_v2(Bucket=BUCKET, Prefix=f"{name}/").get("Contents", [])
        return {item["Key"]: item["ETag"] for item in found}

    before = tags()
    told = remote.json("extend", there, "--edges", table)
    remote.run("extend", here, "--edges", table)
    after = tags()
    changed = {key for key, tag in after.items() if before.get(key) != tag}
    assert len(changed) == told["files"] < len(after)
    assert not [key for key in after if ".parquet/" in key], "objects do not become directories"
    assert f"{name}/structure/entity_index.parquet" not in changed
    remote.validate(there)
    assert remote.content(there) == remote.content(here)


def test_of_two_changes_of_an_annnet_graph_one_is_refused(
    isomorph: Isomorph, remote: Isomorph, client, social: Path, tmp_path: Path
) -> None:
    counted: list[int] = []
    there, _, table = annnet_there_and_here(remote, social, "counted", "v2", tmp_path)
    with watched(counted.append) as door:
        at(isomorph, door).run("extend", there, "--edges", table)
    there, _, table = annnet_there_and_here(remote, social, "raced", "v2", tmp_path)
    manifest = client.get_object(Bucket=BUCKET, Key="raced/manifest.json")["Body"].read()

    def faster(put: int) -> bool:
        # Another writer's manifest arrives just before ours, which comes last.
        if put == counted[-1]:
            client.put_object(Bucket=BUCKET, Key="raced/manifest.json", Body=manifest + b"\n")
        return False

    with watched(faster) as door:
        error = at(isomorph, door).error("extend", there, "--edges", table, expect=5)
    assert error["kind"] == "conflict"
    assert client.get_object(Bucket=BUCKET, Key="raced/manifest.json")["Body"].read() == manifest + b"\n"


def test_nothing_to_be_seen_after_a_kill(isomorph: Isomorph, remote: Isomorph, client, social: Path) -> None:
    counted = []
    with watched(counted.append) as door:
        at(isomorph, door).run("convert", social, f"s3://{BUCKET}/whole", "--to", "graphar")
    last = len(counted)
    assert last > 20
    for number in (1, last // 2, last):
        there = f"s3://{BUCKET}/killed-{number}"

        def kill(put: int, number: int = number) -> bool:
            if put == number:
                os.kill(running.pid, signal.SIGKILL)
                running.wait()
            return put >= number

        with watched(kill) as door:
            running = at(isomorph, door).start("convert", social, there, "--to", "graphar")
            assert running.wait() == -signal.SIGKILL
        assert not [name for name in names(client, f"killed-{number}/") if name.endswith(".graph.yml")]
        remote.run("info", there, expect=3)
        remote.run("convert", social, there, "--to", "graphar", "--replace")
        remote.run("diff", social, there)


def test_an_interrupted_conversion_deletes_what_it_wrote(isomorph: Isomorph, client, social: Path) -> None:
    there = f"s3://{BUCKET}/interrupted"

    def interrupt(put: int) -> None:
        if put == 10:
            os.kill(running.pid, signal.SIGINT)

    with watched(interrupt) as door:
        running = at(isomorph, door).start("convert", social, there, "--to", "graphar")
        assert running.wait() == 5
    assert names(client, "interrupted") == []


def test_a_store_that_cannot_be_reached_is_an_error(isomorph: Isomorph, social: Path) -> None:
    nowhere = at(isomorph, "http://127.0.0.1:1")
    error = nowhere.error("info", f"s3://{BUCKET}/people.parq", expect=5)
    assert error["kind"] == "io" and error["why"]


def test_a_bucket_that_is_not_there_is_an_error(remote: Isomorph, social: Path) -> None:
    error = remote.error("convert", social, "s3://no-such-bucket/social", "--to", "graphar", expect=3)
    assert error["kind"] == "not-found"
