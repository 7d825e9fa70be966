"""The server and the local graph of DeepGNN, in this process and over a graph of any format.

Code for ``deepgnn.graph_engine.snark`` runs with one import changed::

    import isomorph.deepgnn as server
    s = server.Server("/data/cora", [0], "127.0.0.1:12345")

The server answers the client of the published package (``deepgnn-ge``); ``MemoryGraph`` needs that package.
"""

from __future__ import annotations

import ipaddress
import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from . import _isomorph
from ._options import opening, path_text, usage

__all__ = ["MemoryGraph", "Server"]

Partition = int | tuple[str, int]
"""The number of a partition of a binary, or its directory and number."""


class Server:
    """A server of DeepGNN that runs until :meth:`reset`, or until the process ends.

    :param meta_path: a DeepGNN binary, or a graph of any other format: a path, or a URL such as ``s3://bucket/graph``
    :param partitions: partitions of a binary to serve; ``None`` is ``[0]``, as in the published package. A graph of another format has one
    :param hostname: host and port to listen at; port 0 takes any free one, see :attr:`address`
    :param ssl_config: ``ssl_key``, ``ssl_cert`` and ``ssl_root`` (authorities of clients, may be left out), each a file, which is read
        again when it changes, or its text
    :param storage_type: without effect: files are mapped, so a graph need not fit into memory
    :param config_path: without effect
    :param stream: without effect
    :param skip_feature_loading: without effect: features are read when they are asked for
    :param skip_temporal_loading: without effect
    :param generator: ``deepgnn`` draws what the published server draws with the same seed (the default for binaries); ``stable``
        draws alike whatever the partitions and threads
    :param token_file: a file of tokens, one on each line; a client must send one. The published client cannot
    :param insecure: do not warn if other machines can read the graph
    :param options: as for :func:`isomorph.open`: ``memory``, ``threads``, ``lenient``, ``at``, …
    """

    def __init__(
        self,
        meta_path: str | os.PathLike[str],
        partitions: Sequence[Partition] | None = None,
        hostname: str = "127.0.0.1:0",
        ssl_config: Mapping[str, str] | None = None,
        storage_type: int | None = None,
        config_path: str = "",
        stream: bool = False,
        skip_feature_loading: bool = False,
        skip_temporal_loading: bool = False,
        *,
        generator: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        insecure: bool = False,
        **options: Any,
    ) -> None:
        path = path_text(meta_path)
        self._texts: tempfile.TemporaryDirectory[str] | None = None
        served = {
            "address": hostname,
            "partitions": _partitions(path, partitions),
            "generator": generator,
            "tls": None if ssl_config is None else self._tls(ssl_config),
            "tokens": None if token_file is None else path_text(token_file),
        }
        if not insecure and _is_open(hostname) and ssl_config is None:
            message = f"the server at {hostname} is not encrypted, and everybody on the network can read the graph; insecure=True says that this is meant"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
        self._server: _isomorph.Server | None = _isomorph.Server(path, opening(**options), served)
        self._address = self._server.address

    def _tls(self, config: Mapping[str, str]) -> tuple[str, str, str | None]:
        """Files of certificate, key and authorities. The server reads files again, so texts become files that live as long as it does."""
        if not {"ssl_key", "ssl_cert"} <= set(config) <= {"ssl_key", "ssl_cert", "ssl_root"}:
            found = ", ".join(sorted(config)) or "nothing"
            raise usage(f"ssl_config has ssl_key, ssl_cert and, for clients with certificates, ssl_root; found {found}")
        files: dict[str, str] = {}
        for name, value in config.items():
            files[name] = path_text(value)
            if "-----BEGIN" in value:
                # Nobody else may read this directory.
                self._texts = self._texts or tempfile.TemporaryDirectory(prefix="isomorph-")
                files[name] = str(Path(self._texts.name) / name)
                Path(files[name]).write_text(value)
        return files["ssl_cert"], files["ssl_key"], files.get("ssl_root")

    @property
    def address(self) -> str:
        """Host and port."""
        return self._address

    def reset(self) -> None:
        """Stops: running requests may end, and the address is free afterwards."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()
        if self._texts is not None:
            self._texts.cleanup()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.reset()

    def __repr__(self) -> str:
        return f"<isomorph.deepgnn.Server {self._address}{'' if self._server else ' (stopped)'}>"


def _partitions(path: str, partitions: Sequence[Partition] | None) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    one: object
    for one in [0] if partitions is None else partitions:
        folder, number = one if isinstance(one, tuple) and len(one) == 2 else (path, one)
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**32:
            raise usage(f"a partition is a number, or a directory and a number; found {one!r}")
        found.append((path_text(folder), number))
    if not found:
        raise usage("a server needs at least one partition", "partitions=[0]")
    return found


def _is_open(hostname: str) -> bool:
    """Whether other machines reach an address."""
    host = hostname.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True


def __getattr__(name: str) -> Any:
    if name != "MemoryGraph":
        raise AttributeError(f"module {__name__} has no attribute {name}")
    try:
        from deepgnn.graph_engine.snark.client import DistributedGraph
    except ImportError as error:
        raise ImportError("isomorph.deepgnn.MemoryGraph needs the package deepgnn-ge: pip install deepgnn-ge") from error

    class MemoryGraph(DistributedGraph):  # type: ignore[misc]
        """The published client's local graph over a graph of any format, asked through a server in this process.

        :param meta_path: as for :class:`Server`
        :param partitions: as for :class:`Server`
        :param options: further options of :class:`Server`
        """

        def __init__(self, meta_path: str | os.PathLike[str], partitions: Sequence[Partition] | None = None, **options: Any) -> None:
            self._own = Server(meta_path, partitions, **options)
            super().__init__([self._own.address])

        def reset(self) -> None:
            super().reset()
            self._own.reset()

    MemoryGraph.__module__ = __name__
    MemoryGraph.__qualname__ = "MemoryGraph"
    globals()[name] = MemoryGraph
    return MemoryGraph
