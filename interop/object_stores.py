"""Object stores on the loopback interface, each with a small client that is independent of ours."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import os
import re
import subprocess
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from typing import Protocol

import pytest

from servers import Application, serving

BUCKET = "lakes"

# The account that every Azure emulator has, and its key: both are public.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

# How long a server may take to start, in seconds.
BEGINNING = 60


class ObjectStore(Protocol):
    """Operations of the tests on a store without the command."""

    address: str

    def url(self, name: str) -> str:
        """The location of objects with this prefix, as an argument of the command."""

    def environment(self, address: str) -> dict[str, str]:
        """The environment variables that point the command to the server, or to a proxy."""

    def put(self, name: str, content: bytes, condition: dict[str, str]) -> tuple[int, str]:
        """Puts an object conditionally; returns the status and the new tag."""

    def get(self, name: str) -> bytes:
        """The content of an object."""

    def names(self, prefix: str) -> list[str]:
        """Every object whose name has this prefix."""


class S3:
    """A bucket of moto."""

    def __init__(self, address: str) -> None:
        import boto3

        self.address = address
        self.keys = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "AWS_REGION": "us-east-1"}
        self.client = boto3.client(
            "s3",
            endpoint_url=address,
            region_name=self.keys["AWS_REGION"],
            aws_access_key_id=self.keys["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.keys["AWS_SECRET_ACCESS_KEY"],
        )
        self.client.create_bucket(Bucket=BUCKET)

    def url(self, name: str) -> str:
        return f"s3://{BUCKET}/{name}"

    def environment(self, address: str) -> dict[str, str]:
        return {**self.keys, "AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true"}

    def put(self, name: str, content: bytes, condition: dict[str, str]) -> tuple[int, str]:
        from botocore.exceptions import ClientError

        named = {key.replace("-", ""): value for key, value in condition.items()}
        try:
            done = self.client.put_object(Bucket=BUCKET, Key=name, Body=content, **named)
        except ClientError as error:
            done = error.response
        return done["ResponseMetadata"]["HTTPStatusCode"], done.get("ETag", "")

    def get(self, name: str) -> bytes:
        return self.client.get_object(Bucket=BUCKET, Key=name)["Body"].read()

    def names(self, prefix: str) -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return [item["Key"] for page in pages for item in page.get("Contents", [])]


class Azure:
    """A container of Azurite, accessed with the shared key of its account."""

    def __init__(self, address: str) -> None:
        self.address = address
        status, _, content = self.ask("PUT", f"/{BUCKET}", {"restype": "container"})
        assert status == 201, content

    def url(self, name: str) -> str:
        return f"az://{BUCKET}/{name}"

    def environment(self, address: str) -> dict[str, str]:
        return {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": address}

    def put(self, name: str, content: bytes, condition: dict[str, str]) -> tuple[int, str]:
        headers = {"x-ms-blob-type": "BlockBlob", **condition}
        status, told, _ = self.ask("PUT", f"/{BUCKET}/{name}", {}, headers, content)
        # 201 here is 200 in S3.
        return (200 if status == 201 else status), told.get("etag", "")

    def get(self, name: str) -> bytes:
        status, _, content = self.ask("GET", f"/{BUCKET}/{name}", {})
        assert status == 200, content
        return content

    def names(self, prefix: str) -> list[str]:
        names, marker = [], ""
        while True:
            query = {"restype": "container", "comp": "list", "prefix": prefix}
            status, _, content = self.ask("GET", f"/{BUCKET}", query | ({"marker": marker} if marker else {}))
            assert status == 200, content
            text = content.decode()
            names += re.findall(r"<Name>([^<]*)</Name>", text)
            following = re.search(r"<NextMarker>([^<]+)</NextMarker>", text)
            if not following:
                return names
            marker = following[1]

    def ask(
        self, method: str, path: str, query: dict[str, str], headers: dict[str, str] | None = None, body: bytes = b""
    ) -> tuple[int, dict[str, str], bytes]:
        """One signed request; returns the status, the headers in lower case and the content."""
        sent = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2023-11-03"}
        sent |= {name.lower(): value for name, value in (headers or {}).items()}
        if method == "PUT":
            sent |= {"content-type": "application/octet-stream", "content-length": str(len(body))}
        signed = "content-encoding content-language content-length content-md5 content-type date".split()
        signed += "if-modified-since if-match if-none-match if-unmodified-since range".split()
        values = [sent.get(name, "") if sent.get(name) != "0" else "" for name in signed]
        own = [f"{name}:{sent[name]}" for name in sorted(sent) if name.startswith("x-ms-")]
        # Servers with the account in the path have it twice in the signed text.
        resource = [f"/{ACCOUNT}/{ACCOUNT}{path}", *(f"{name}:{query[name]}" for name in sorted(query))]
        text = "\n".join([method, *values, *own, *resource])
        code = hmac.new(base64.b64decode(ACCOUNT_KEY), text.encode(), hashlib.sha256).digest()
        sent["authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(code).decode()}"
        address = f"{self.address}/{ACCOUNT}{path}?{urllib.parse.urlencode(query)}"
        return exchange(method, address, sent, body if method == "PUT" else None)


def exchange(
    method: str, address: str, headers: dict[str, str], body: bytes | None
) -> tuple[int, dict[str, str], bytes]:
    """One request; returns the status, the headers in lower case and the content."""
    parts = urllib.parse.urlsplit(address)
    # No additional headers are sent: the signature covers the exact request.
    asking = http.client.HTTPConnection(parts.netloc)
    asking.putrequest(method, f"{parts.path}?{parts.query}", skip_host="host" in headers, skip_accept_encoding=True)
    for name, value in headers.items():
        asking.putheader(name, value)
    asking.endheaders(body)
    with asking.getresponse() as answer:
        told = {name.lower(): value for name, value in answer.getheaders()}
        done = answer.status, told, answer.read()
    asking.close()
    return done


@contextmanager
def moto() -> Iterator[S3]:
    """A new server that implements S3."""
    server = pytest.importorskip("moto.server", reason="moto is not installed")
    pytest.importorskip("boto3", reason="boto3 is not installed")
    threaded = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    threaded.start()
    host, port = threaded.get_host_and_port()
    try:
        yield S3(f"http://{host}:{port}")
    finally:
        threaded.stop()


@contextmanager
def azurite() -> Iterator[Azure]:
    """A new server that implements Azure's protocol for blobs."""
    program = os.environ.get("ISOMORPH_AZURITE")
    if not program:
        pytest.skip("no Azurite: ISOMORPH_AZURITE is not set (`cargo xtask interop` sets it where there is npm)")
    words = [program, "--inMemoryPersistence", "--blobHost", "127.0.0.1", "--blobPort", "0", "--skipApiVersionCheck"]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # A server without output is killed, which ends the loop that reads its output.
    late = threading.Timer(BEGINNING, running.kill)
    late.start()
    try:
        said = []
        for line in running.stdout:
            said.append(line)
            if found := re.search(r"listens on (http://127\.0\.0\.1:\d+)", line):
                break
        else:
            raise AssertionError(f"Azurite did not begin:\n{''.join(said)}")
        late.cancel()
        # Further output is ignored, but the pipe must not fill up.
        threading.Thread(target=running.stdout.read, daemon=True).start()
        yield Azure(found[1])
    finally:
        late.cancel()
        running.kill()
        running.wait()


STORES = {"moto": moto, "azurite": azurite}


@contextmanager
def door(store: ObjectStore, before: Callable[[str, str], None]) -> Iterator[str]:
    """The address of a proxy of a store: `before` is called with the method and path of each request first."""

    def application(environ: dict, start_response: Callable) -> list[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        # A chunked body has no stated length.
        size = None if environ.get("wsgi.input_terminated") else int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(size) if method in ("PUT", "POST") else b""
        before(method, path)
        headers = {
            name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")
        }
        headers = {name: value for name, value in headers.items() if name not in ("connection", "transfer-encoding")}
        if method in ("PUT", "POST"):
            headers["content-length"] = str(len(body))
        if environ.get("CONTENT_TYPE"):
            headers["content-type"] = environ["CONTENT_TYPE"]
        # The path as it was received: the signature covers its spelling.
        address = store.address + environ["RAW_URI"]
        status, told, content = exchange(method, address, headers, body if method in ("PUT", "POST") else None)
        told = {name: value for name, value in told.items() if name not in ("connection", "transfer-encoding")}
        if method != "HEAD":
            told["content-length"] = str(len(content))
        start_response(f"{status} as the store says", list(told.items()))
        return [content]

    made: Application = application
    with serving(made) as address:
        yield address
