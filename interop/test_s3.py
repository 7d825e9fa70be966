"""One whole conversion from a disk to an object store and back, against a real server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

moto_server = pytest.importorskip("moto.server", reason="moto is not installed")
boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")

from botocore.exceptions import ClientError  # noqa: E402

from command import Isomorph  # noqa: E402
from graphs import people  # noqa: E402

BUCKET = "graphs"
KEYS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "AWS_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a fresh server on the loopback interface."""
    moto = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    yield f"http://{host}:{port}"
    moto.stop()


@pytest.fixture(scope="module")
def client(server: str):
    """A client of another make, and a bucket."""
    made = boto3.client(
        "s3",
        endpoint_url=server,
        region_name=KEYS["AWS_REGION"],
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )
    made.create_bucket(Bucket=BUCKET)
    return made


@pytest.fixture
def remote(cloud_isomorph: Isomorph, server: str, client) -> Isomorph:
    """The command, pointed at the server."""
    return cloud_isomorph.with_environment({**KEYS, "AWS_ENDPOINT_URL": server, "AWS_ALLOW_HTTP": "true"})


NOT_YET = pytest.mark.skip(reason="SKIPPED: a conversion to an object store is proved after it is published; not run here yet")


def test_the_server_honours_conditional_puts(client) -> None:
    """Without this the tests below would say nothing about two writers."""
    client.put_object(Bucket=BUCKET, Key="once", Body=b"first", IfNoneMatch="*")
    with pytest.raises(ClientError) as refused:
        client.put_object(Bucket=BUCKET, Key="once", Body=b"second", IfNoneMatch="*")
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 412
    assert client.get_object(Bucket=BUCKET, Key="once")["Body"].read() == b"first"


@NOT_YET
def test_graphar_goes_to_the_store_and_comes_back(remote: Isomorph, social: Path, tmp_path: Path) -> None:
    there = f"s3://{BUCKET}/social"
    remote.run("convert", social, there, "--to", "graphar")
    assert remote.content(there) == remote.content(social)
    back = remote.convert(there, tmp_path / "back.parq", "--to", "nock")
    assert remote.content(back) == remote.content(social)


@NOT_YET
def test_a_single_file_goes_to_the_store_and_comes_back(remote: Isomorph, client, tmp_path: Path) -> None:
    source = people().write_parquet(tmp_path / "source.parq")
    there = f"s3://{BUCKET}/people.parq"
    remote.run("convert", source, there, "--to", "nock")
    names = [item["Key"] for item in client.list_objects_v2(Bucket=BUCKET, Prefix="people")["Contents"]]
    assert "people.parq" in names and not [name for name in names if name.endswith(".tmp")]
    back = remote.convert(there, tmp_path / "back", "--to", "graphar")
    assert remote.content(back) == remote.content(source)


@NOT_YET
def test_what_is_there_is_not_overwritten(remote: Isomorph, client, tmp_path: Path) -> None:
    client.put_object(Bucket=BUCKET, Key="taken.parq", Body=b"somebody else's")
    source = people().write_parquet(tmp_path / "source.parq")
    remote.run("convert", source, f"s3://{BUCKET}/taken.parq", "--to", "nock", expect=2)
    assert client.get_object(Bucket=BUCKET, Key="taken.parq")["Body"].read() == b"somebody else's"
