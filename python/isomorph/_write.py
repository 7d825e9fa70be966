"""Graphs from dataframes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from . import _isomorph
from ._errors import Error
from ._options import opening, passed, path_text, usage, writing
from ._progress import Progress, shown
from ._results import Certificate
from ._table import DIRECTION

__all__ = ["write"]

EdgeName = str | tuple[str, str, str]
"""A relation; or source type, relation, target type."""


def write(
    path: str | os.PathLike[str],
    *,
    nodes: Mapping[str, Any] | Any | None = None,
    edges: Mapping[EdgeName, Any] | Any | None = None,
    to: str | None = None,
    name: str | None = None,
    key: str | Mapping[str, str] | None = None,
    labels: str | Mapping[str, str] | None = None,
    source: str | None = None,
    target: str | None = None,
    directed: bool | str | Mapping[EdgeName, bool | str] | None = None,
    lossy: bool = False,
    verify: bool = True,
    replace: bool = False,
    base: str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Certificate:
    """Writes dataframes as a graph of any format, and verifies it. Dataframes are whatever speaks Arrow's protocol: of pandas, polars,
    pyarrow, duckdb, and tables of isomorph.

    :param path: the destination; its name tells the format, as for :func:`isomorph.convert`
    :param nodes: a dataframe for each node type; or one dataframe, of the type ``node``. Without it, the nodes are the ends of the edges
    :param edges: a dataframe for each relation, or for each ``(source type, relation, target type)``; or one dataframe, of the relation ``edge``
    :param name: name of the graph
    :param key: the column of keys, integers or text, for all types or by type; ``id`` or ``key`` by default
    :param labels: the column of labels, lists of text, for all types or by type
    :param source: the column of the keys of sources; ``source``, ``src`` or ``from`` by default
    :param target: the column of the keys of targets; ``target``, ``dst`` or ``to`` by default
    :param directed: whether edges have a direction, or the column of booleans that says it of each edge; for all or by relation, named as in ``edges``.
        By default tables of isomorph say it themselves, and other edges have one
    :raises isomorph.Error: if a column is missing, a key is null or occurs twice, an edge has an end that is no node, or an option names a type
        that is not there
    """
    given_nodes = []
    types = [type for type, _ in _by_name(nodes, "nodes", "node")]
    relations = [relation for relation, _ in _by_name(edges, "edges", "edge")]
    _known("key", key, types, "node type")
    _known("labels", labels, types, "node type")
    _known("directed", directed, relations, "relation")
    if not (directed is None or isinstance(directed, (bool, str, Mapping))):
        raise usage(f"directed must be a bool, the name of a column, or a dict of these, found {_called(directed)}")
    for type, table in _by_name(nodes, "nodes", "node"):
        if not isinstance(type, str):
            raise usage(f"a node type is text, found {type!r}")
        given_nodes.append(
            {"name": type, "table": _table(table, f"nodes of type {type}"), "key": _of(key, type), "labels": _of(labels, type)}
        )
    given_edges = []
    for relation, table in _by_name(edges, "edges", "edge"):
        parts = (None, relation, None) if isinstance(relation, str) else relation
        if not (isinstance(parts, tuple) and len(parts) == 3 and all(part is None or isinstance(part, str) for part in parts)):
            raise usage(f"edges are named by a relation, or by (source type, relation, target type); found {relation!r}")
        is_directed = directed.get(relation) if isinstance(directed, Mapping) else directed
        if not (is_directed is None or isinstance(is_directed, (bool, str))):
            raise usage(f"directed of {relation!r} must be a bool or the name of a column, found {_called(is_directed)}")
        if is_directed is None and _is_of_pandas(table) and table.attrs.get(DIRECTION) == "undirected":
            is_directed = False
        given_edges.append(
            {
                "source_type": parts[0],
                "relation": parts[1],
                "target_type": parts[2],
                "table": _table(table, f"edges {parts[1]}"),
                "source": source,
                "target": target,
                "directed": is_directed,
            }
        )
    limits = opening(memory=memory, threads=threads, temp_dir=temp_dir)
    how = writing(to=to, lossy=lossy, verify=verify, replace=replace, base=base)
    with shown(progress) as tell, passed():
        try:
            return Certificate._of(_isomorph.write(path_text(path), name, given_nodes, given_edges, how, limits, tell))
        except TypeError as error:
            if error.__cause__ is None or not re.search(r"failed to extract field \w+\.table", str(error)):
                raise
            raise usage(f"a table has a type that Arrow does not know: {error.__cause__}") from error


def _by_name(given: Any, option: str, only: str) -> list[tuple[Any, Any]]:
    if given is None:
        return []
    if isinstance(given, Mapping):
        return list(given.items())
    if _speaks_arrow(given):
        return [(only, given)]
    raise usage(f"{option} must be a dataframe or a dict of dataframes, found {type(given).__name__}")


def _speaks_arrow(table: Any) -> bool:
    return hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")


def _is_of_pandas(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "reset_index")


def _table(table: Any, what: str) -> Any:
    if _is_of_pandas(table):
        # Arrow's protocol leaves the index out. An index with a name is a column that somebody made.
        named = [name for name in table.index.names if name is not None and name not in table.columns]
        if named:
            table = table.reset_index(level=named)
    if not _speaks_arrow(table):
        raise usage(
            f"{what}: {type(table).__name__} does not speak Arrow's protocol", "a dataframe of pandas, polars, pyarrow or duckdb"
        )
    if not hasattr(table, "__arrow_c_stream__"):
        return table
    if type(table).__module__.partition(".")[0] == "polars" and hasattr(table, "schema"):
        # What polars hands over for these is not a type of Arrow, or where objects are in its memory.
        for name, kind in table.schema.items():
            found = _innermost(kind)
            if found in ("Int128", "UInt128"):
                raise usage(f"{what}: the column {name} has 128-bit integers", "integers of 64 bits, or decimals")
            if found == "Object":
                raise usage(f"{what}: the column {name} has the type Object of polars, whose values only Python knows", "a column of texts or numbers")
        # Its columns of nothing but nulls have a buffer that Arrow's protocol does not have. They become text without values.
        untyped = {name: _typed(kind) for name, kind in table.schema.items() if "Null" in str(kind)}
        table = table.cast(untyped) if untyped else table
    try:
        return _Stream(table.__arrow_c_stream__())
    except (Error, KeyboardInterrupt):
        raise
    except Exception as error:
        error_text = ", ".join(str(part) for part in error.args) or _called(error)
        refused = usage(f"{what}: {error_text}")
        refused.why = str(error)
        raise refused from error


def _innermost(kind: Any) -> str:
    """The name of a type of polars; of lists, that of what they consist of."""
    inner = getattr(kind, "inner", None)
    return str(kind.base_type()) if inner is None else _innermost(inner)


def _typed(kind: Any) -> Any:
    """A type of polars, in which nulls without a type are texts."""
    polars = sys.modules["polars"]
    if kind == polars.Null:
        return polars.String
    return polars.List(_typed(kind.inner)) if isinstance(kind, polars.List) else kind


class _Stream:
    """A table that a library has handed over."""

    def __init__(self, stream: object) -> None:
        self._stream = stream

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._stream


def _called(value: object) -> str:
    return value.__class__.__name__


def _known(option: str, given: Any, names: list[Any], word: str) -> None:
    """Fails if a dict has a name that nothing has: it would be ignored."""
    for name in given if isinstance(given, Mapping) else ():
        if name not in names:
            # Imported for a mistake alone: it takes a thirtieth of the time that importing isomorph may take.
            import difflib

            near = difflib.get_close_matches(str(name), [str(one) for one in names], 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise usage(f"{option}: there is no {word} {name!r}{meant}", f"one of {', '.join(repr(one) for one in names) or 'none'}")


def _of(option: str | Mapping[str, str] | None, type: str) -> str | None:
    return option.get(type) if isinstance(option, Mapping) else option
