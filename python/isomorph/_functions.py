"""What is done with a graph, or with the place of one."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _isomorph
from ._graph import Graph, validated
from ._options import opening, path_text, usage
from ._progress import Progress
from ._results import Certificate, Diff, Digests, Findings

__all__ = ["convert", "diff", "digest", "info", "open", "validate"]


def open(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    at: int | str | None = None,
    sidecar: str = "auto",
    lenient: bool = False,
    strict: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    base: str | None = None,
    syntax: str | None = None,
    naive: bool = False,
    allow_outside: bool = False,
    namespaces: dict[str, str] | None = None,
) -> Graph:
    """Opens a graph: a file, a directory or a URL, of any format. Reads metadata only.

    :param path: a path, or a URL such as ``s3://bucket/graph``; for a GraphLake store also with a snapshot, ``people.lake@3``
    :param format: the id of its format, if it cannot be told from the files
    :param at: a snapshot of a GraphLake store: a version, a time such as ``"2026-11-22"``, an id
    :param sidecar: use it (``auto``), only its names and types (``schema``), or not at all (``ignore``)
    :param lenient: continue where data breaks rules
    :param strict: refuse whatever the specification forbids (NOCK, GraphLake)
    :param memory: limit of the memory: bytes, or ``"2GiB"``; a quarter of the machine's by default
    :param threads: number of threads; all cores by default
    :param temp_dir: directory of temporary files
    :param base: base IRI of RDF texts
    :param syntax: syntax of an RDF text: ``nt``, ``nq``, ``ttl``, ``trig``, ``rdf``, ``jsonld``
    :param naive: GraphLake: follow the specification literally
    :param allow_outside: tables: a mapping file may name files outside its directory
    :param namespaces: GraphLake: namespaces of short prefixes
    :raises isomorph.Error: if there is no such graph, or its metadata is invalid
    """
    return Graph(
        path,
        format=format,
        at=at,
        sidecar=sidecar,
        lenient=lenient,
        strict=strict,
        memory=memory,
        threads=threads,
        temp_dir=temp_dir,
        base=base,
        syntax=syntax,
        naive=naive,
        allow_outside=allow_outside,
        namespaces=namespaces,
    )


def _opened(graph: str | os.PathLike[str] | Graph, lenient: bool = False) -> Graph:
    if not isinstance(graph, Graph):
        return Graph(graph, lenient=lenient)
    if lenient:
        raise usage("the graph is open already, so lenient comes too late", "isomorph.open(…, lenient=True)")
    return graph


def convert(
    source: str | os.PathLike[str] | Graph,
    destination: str | os.PathLike[str],
    to: str | None = None,
    *,
    lossy: bool = False,
    verify: bool = True,
    replace: bool = False,
    base: str | None = None,
    hyperedges: str = "reify",
    rdf_mode: str | None = None,
    labels_from_type: bool = False,
    lenient: bool = False,
    progress: Progress = None,
) -> Certificate:
    """Converts a graph, reads the output back, and compares digests. What the format cannot store goes into a sidecar beside the output.

    :param to: the id of the format, if the name of the destination does not tell it
    :param lossy: write no sidecar, and list what is lost
    :param verify: whether the output is read back
    :param replace: replace an existing destination
    :param base: beginning of the IRIs of types, properties and keys, if the output is RDF
    :param hyperedges: in a format without hyperedges: ``reify`` (nodes), ``expand`` (edges between members), ``skip``
    :param rdf_mode: RDF and NOCK: ``rich`` or ``pynock``
    :param labels_from_type: RDF: classes become labels
    :param lenient: continue where data breaks rules, as :func:`isomorph.open` does; wrong rows of tables are left out
    :param progress: ``True`` for a bar, or a function of stage, rows, total
    :raises isomorph.Error: if the destination exists, the input cannot be read, or the output differs; then nothing is written
    """
    return _opened(source, lenient).convert(
        destination,
        to,
        lossy=lossy,
        verify=verify,
        replace=replace,
        base=base,
        hyperedges=hyperedges,
        rdf_mode=rdf_mode,
        labels_from_type=labels_from_type,
        progress=progress,
    )


def validate(path: str | os.PathLike[str] | Graph, *, limit: int = 20, **options: Any) -> Findings:
    """Checks every rule of the format of a graph. Lists up to ``limit`` places of each broken rule."""
    if isinstance(path, Graph):
        return path.validate(limit=limit)
    return validated(path_text(path), opening(**options), limit)


def info(path: str | os.PathLike[str] | Graph, **options: Any) -> dict[str, Any]:
    """Describes a graph without reading its rows, as ``isomorph info --json`` does."""
    if isinstance(path, Graph):
        return path.info()
    made: dict[str, Any] = json.loads(_isomorph.info(path_text(path), opening(**options)))
    return made


def digest(graph: str | os.PathLike[str] | Graph, *, progress: Progress = None) -> Digests:
    """128-bit digests of content, order and schema, which are equal in every format."""
    return _opened(graph).digest(progress=progress)


def diff(
    left: str | os.PathLike[str] | Graph, right: str | os.PathLike[str] | Graph, *, limit: int = 20, progress: Progress = None
) -> Diff:
    """The differences of two graphs, with the first ``limit`` elements that differ."""
    return _opened(left).diff(_opened(right), limit=limit, progress=progress)
