"""Graphs prepared for mini-batches: edges by their target, and features, in files that all workers of a trainer map."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _isomorph
from ._errors import ConflictError
from ._graph import Graph
from ._imports import needed
from ._options import path_text, system, usage
from ._progress import Progress, shown
from ._table import Table

if TYPE_CHECKING:
    import numpy as np

__all__ = ["EdgeType", "Feature", "Features", "Prepared", "Relation", "batches_of", "by_type", "warn_of_hyperedges"]

EdgeType = tuple[str, str, str]
"""Source type, relation, target type."""


class Feature(NamedTuple):
    """Columns of a table as an array of numbers: ``Feature(["age", "height"], "float32")``."""

    columns: Sequence[str] | str
    """A column of numbers or of lists of equally many numbers; or several columns of numbers, side by side."""
    dtype: str | None = None
    """The type of the array, by default that of the columns. Floats may be rounded to it; integers must fit."""


Features = Mapping[str, "Feature | Sequence[str] | str"]
"""Arrays by name: ``{"x": ["age", "height"], "y": "label"}``."""


class Relation(NamedTuple):
    """The edges of a relation."""

    source: int
    name: str
    target: int
    edges: int
    forward: int
    """Edges in the direction of their rows. The others are those without a direction, a second time."""
    edge_type: int


class Prepared:
    """The edges of a graph by their target, and features, in a directory.

    It is pickled by place and options: a worker maps the files that its parent made. They are removed with the object of the process that made
    them, unless ``cache`` keeps them.
    """

    def __init__(
        self,
        graph: Graph | str | os.PathLike[str],
        cache: str | os.PathLike[str] | None = None,
        *,
        progress: Progress = None,
        _root: tuple[str, str] | None = None,
    ) -> None:
        needed("numpy", purpose="drawing subgraphs")
        self.graph = graph if isinstance(graph, Graph) else Graph(graph)
        self._cache = None if cache is None else os.path.abspath(path_text(cache))
        # A pickle means the files that its maker read, even if the graph has changed since.
        self._input = _input_of(self.graph) if _root is None else _root[1]
        self._read: dict[str, tuple[Any, _isomorph.RowsFile | None]] = {}
        self._root, self._topology = self._opened(None if _root is None else _root[0], progress)
        self.node_types: dict[str, int] = dict(self._topology.nodes())
        self._relations = [Relation(*relation) for relation in self._topology.relations()]
        names = list(self.node_types)
        self.relations: dict[EdgeType, Relation] = {
            (names[one.source], one.name, names[one.target]): one for one in self._relations
        }

    def _opened(self, root: str | None, progress: Progress) -> tuple[str, _isomorph.Topology]:
        memory = self.graph._options["memory"]
        if root is None and self._cache is not None:
            place = json.dumps([self.graph.location, self.graph._part, _read_with(self.graph)], sort_keys=True, default=str)
            root = os.path.join(self._cache, hashlib.sha256(place.encode()).hexdigest()[:32])
        if root is not None:
            found = _isomorph.Topology.open(_topology(root), self._input, memory)
            if found is not None:
                return root, found
        self._input = _input_of(self.graph)
        if self._cache is None:
            # The directory of the process that made this object is gone, or there was none.
            with system():
                root = tempfile.mkdtemp(prefix="isomorph-", dir=self.graph._options["temp_dir"])
            weakref.finalize(self, _remove, root, os.getpid())
        assert root is not None
        warn_of_hyperedges(self.graph)
        with system():
            os.makedirs(root, exist_ok=True)
        with shown(progress) as tell:
            _isomorph.prepare(self.graph._graph, _topology(root), self._input, tell)
        if _input_of(self.graph) != self._input:
            shutil.rmtree(_topology(root), ignore_errors=True)
            raise _conflict(self.graph)
        found = _isomorph.Topology.open(_topology(root), self._input, memory)
        if found is None:
            raise _conflict(self.graph)
        return root, found

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.graph, self._cache, (self._root, self._input)))

    def __repr__(self) -> str:
        return f"<isomorph prepared {self.graph.location}>"

    # Subgraphs.

    def draw(
        self,
        seeds: Mapping[str, np.ndarray[Any, Any]],
        counts: Sequence[Sequence[int]],
        *,
        replace: bool,
        disjoint: bool,
        induced: bool,
        seed: int,
        epoch: int,
    ) -> tuple[Any, ...]:
        """Draws a subgraph: see the class ``Topology`` of the compiled module."""
        np = needed("numpy", purpose="drawing subgraphs")
        names = list(self.node_types)
        given = [(names.index(type), np.ascontiguousarray(rows, dtype=np.int64)) for type, rows in seeds.items()]
        asked = {
            "seeds": given,
            "counts": [list(hops) for hops in counts],
            "replacement": replace,
            "disjoint": disjoint,
            "induced": induced,
            "seed": seed % 2**64,
            "epoch": epoch % 2**64,
        }
        return self._topology.draw(asked)

    def counts(self, given: Sequence[int] | Mapping[EdgeType, Sequence[int]]) -> list[list[int]]:
        """The numbers of neighbours for each relation and hop."""
        if isinstance(given, Mapping):
            unknown = [name for name in given if name not in self.relations]
            if unknown:
                raise usage(f"there are no edges {unknown[0]!r}", f"the edges are {self._edges()}")
            missing = [name for name in self.relations if name not in given]
            if missing:
                raise usage(f"the number of neighbours for edges {missing[0]!r} is missing", "[0, …] to leave them out")
            by_relation = [given[name] for name in self.relations]
        else:
            by_relation = [given for _ in self.relations]
        for counts in by_relation:
            if isinstance(counts, str) or not isinstance(counts, Iterable):
                raise usage(f"numbers of neighbours must be a list, found {type(counts).__name__}", "[15, 10]    one for each hop")
        all_counts = [list(counts) for counts in by_relation]
        for counts in all_counts:
            for count in counts:
                if isinstance(count, bool) or not hasattr(count, "__index__"):
                    raise usage(f"a number of neighbours must be an integer, found {type(count).__name__}", "-1 for all neighbours")
                if not -1 <= count < 2**32:
                    raise usage(f"a number of neighbours must be from 0 to {2**32 - 1}, or -1 for all; found {count}")
        if len({len(counts) for counts in all_counts}) > 1:
            raise usage("all edges need numbers of neighbours for the same number of hops", "0 where a hop follows none of them")
        return [[int(count) for count in counts] for counts in all_counts]

    def _edges(self) -> str:
        return ", ".join("_".join(name) for name in list(self.relations)[:10])

    def is_homogeneous(self) -> bool:
        """Whether there is one node type, and at most one relation."""
        return len(self.node_types) == 1 and len(self.relations) <= 1

    def edge_index(self, name: EdgeType) -> tuple[Any, Any]:
        """Rows of the sources and of the targets of all edges of a relation, by their numbers."""
        return self._topology.edges(list(self.relations).index(name))

    def by_target(self, name: EdgeType) -> tuple[Any, Any, Any]:
        """Where the edges of each target start, their sources, and their numbers if these are not their positions."""
        return self._topology.by_target(list(self.relations).index(name))

    def rows_of(self, name: EdgeType, edges: np.ndarray[Any, Any]) -> Any:
        """The rows of edges in the table of edges."""
        return self._topology.rows_of(list(self.relations).index(name), edges)

    # Features.

    def table_of(self, type: str | EdgeType) -> Table:
        """The table of a node type or of edges."""
        if isinstance(type, str):
            if type not in self.node_types:
                raise usage(f"there is no node type {type!r}", f"the node types are {', '.join(self.node_types)}")
            return self.graph.nodes(type)
        if type not in self.relations:
            raise usage(f"there are no edges {type!r}", f"the edges are {self._edges()}")
        tables = [table for table in self.graph.tables() if table.kind == "edges"]
        return self.graph.table(tables[self.relations[type].edge_type].name)

    def feature(self, type: str | EdgeType, name: str, feature: Feature) -> Any:
        """An array of a table, mapped; it is written first if nobody did."""
        return self._file(type, name, feature)[0]

    def take(self, type: str | EdgeType, name: str, feature: Feature, rows: np.ndarray[Any, Any], out: np.ndarray[Any, Any] | None = None) -> Any:
        """Rows of an array of a table, by the rows of nodes or the numbers of edges; ``out`` has room for them."""
        np = needed("numpy", purpose="reading features")
        array, file = self._file(type, name, feature)
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        if not isinstance(type, str):
            rows = self.rows_of(type, rows)
        if out is None:
            out = np.empty((len(rows), *array.shape[1:]), dtype=array.dtype)
        if file is None:
            if len(rows) and (int(rows.min()) < 0 or int(rows.max()) >= len(array)):
                raise usage(f"rows must be from 0 to {len(array) - 1}")
            out[...] = array[rows]
            return out
        file.read(rows, out.reshape(-1).view(np.uint8))
        return out

    def _file(self, type: str | EdgeType, name: str, feature: Feature) -> tuple[Any, _isomorph.RowsFile | None]:
        np = needed("numpy", purpose="reading features")
        key = json.dumps([type, list(_columns(feature)), isinstance(feature.columns, str), feature.dtype])
        found = self._read.get(key)
        if found is None:
            path = os.path.join(self._root, f"{hashlib.sha256((self._input + key).encode()).hexdigest()[:32]}.npy")
            if not os.path.exists(path):
                self._write(path, type, name, feature)
            rows = self._rows(type)
            # An empty array can be neither mapped nor read by position.
            array = np.load(path, mmap_mode="r" if rows else None, allow_pickle=False)
            width = array.dtype.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))
            found = array, _isomorph.RowsFile(path, width, array.offset) if rows and width else None
            self._read[key] = found
        return found

    def _write(self, path: str, type: str | EdgeType, name: str, feature: Feature) -> None:
        np = needed("numpy", purpose="reading features")
        rows = self._rows(type)
        shape: tuple[int, ...] | None = None
        done = 0
        with system():
            descriptor, aside = tempfile.mkstemp(dir=self._root, suffix=".part")
        try:
            # Written, not mapped: where a disk is full, a write fails, and a map ends the process.
            with open(descriptor, "wb") as out:
                for batch in batches_of(self.table_of(type), name, feature):
                    if shape is None:
                        shape = batch.shape[1:]
                        header = {"descr": np.lib.format.dtype_to_descr(batch.dtype), "fortran_order": False, "shape": (rows, *shape)}
                        with system():
                            np.lib.format.write_array_header_1_0(out, header)
                    if batch.shape[1:] != shape:
                        raise usage(f"{name}: lists of {feature.columns} have {shape[0]} and {batch.shape[1]} numbers", "lists of one length")
                    done += len(batch)
                    if done > rows:
                        raise _conflict(self.graph)
                    with system():
                        out.write(np.ascontiguousarray(batch).data)
                with system():
                    out.flush()
            if done != rows:
                raise _conflict(self.graph)
            with system():
                os.replace(aside, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(aside)

    def _rows(self, type: str | EdgeType) -> int:
        if isinstance(type, str):
            return self.node_types[type]
        relation = self.relations[type]
        same = [one.forward for one in self._relations if one.edge_type == relation.edge_type]
        return max(same)


def _columns(feature: Feature) -> list[str]:
    return [feature.columns] if isinstance(feature.columns, str) else list(feature.columns)


def batches_of(table: Table, name: str, feature: Feature) -> Iterator[Any]:
    """The columns of a feature, batch after batch, as arrays; at least one batch."""
    np = needed("numpy", purpose="reading features")
    pa = needed("pyarrow", purpose="reading features")
    columns = _columns(feature)
    if not columns:
        raise usage(f"{name} has no columns")
    reader = table.select(*columns).to_batches()
    wanted = None if feature.dtype is None else np.dtype(feature.dtype)
    own = [_type_of(np, pa, field, name) for field in reader.schema]
    if wanted is None:
        # Of the declared types, so that all batches have the same.
        wanted = np.result_type(*own)
    empty = True
    for batch in reader:
        empty = False
        arrays = [_array(np, pa, column, field.name, name) for column, field in zip(batch.columns, reader.schema)]
        yield _converted(np, arrays, wanted, name, isinstance(feature.columns, str))
    if empty:
        arrays = [np.empty(0, dtype=type) for type in own]
        yield _converted(np, arrays, wanted, name, isinstance(feature.columns, str))


def _type_of(np: Any, pa: Any, field: Any, name: str) -> Any:
    """The type of numbers that a column has."""
    type = field.type
    if pa.types.is_list(type) or pa.types.is_large_list(type) or pa.types.is_fixed_size_list(type):
        type = type.value_type
    if pa.types.is_boolean(type):
        return np.dtype(bool)
    if pa.types.is_integer(type) or pa.types.is_floating(type):
        return np.dtype(type.to_pandas_dtype())
    raise usage(f"{name}: column {field.name} has {field.type}, not numbers", "a column of numbers, or of lists of numbers")


def _array(np: Any, pa: Any, column: Any, own: str, name: str) -> Any:
    """A column as an array of one or two dimensions."""
    if column.null_count:
        raise usage(f"{name}: column {own} has nulls", "a part of the graph in which it has none: graph.part(where=…)")
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type) or pa.types.is_fixed_size_list(column.type)):
        return column.to_numpy(zero_copy_only=False)
    lengths = column.value_lengths() if hasattr(column, "value_lengths") else None
    values = column.flatten()
    if values.null_count:
        raise usage(f"{name}: lists of {own} have nulls")
    width = column.type.list_size if lengths is None else (lengths[0].as_py() if len(column) else 0)
    if width * len(column) != len(values) or (lengths is not None and len(lengths.unique()) > 1):
        raise usage(f"{name}: lists of {own} have different lengths", "lists of one length")
    return values.to_numpy(zero_copy_only=False).reshape(len(column), width)


def _converted(np: Any, arrays: list[Any], wanted: Any, name: str, is_one: bool) -> Any:
    made = [_exact(np, array, wanted, name) for array in arrays]
    if is_one:
        return made[0]
    if any(array.ndim > 1 for array in made):
        raise usage(f"{name}: lists beside other columns", "one column of lists, or columns of numbers")
    return np.stack(made, axis=1)


def _exact(np: Any, array: Any, wanted: Any, name: str) -> Any:
    """Numbers of another type. Floats may be rounded to floats; everything else must stay what it is."""
    if array.dtype == wanted:
        return array
    if array.dtype.kind == "f" and wanted.kind != "f":
        raise usage(f"{name} has floats, which {wanted.name} cannot represent", "a type of floats")
    if array.dtype.kind in "iu" and wanted.kind in "iu" and len(array):
        bounds = np.iinfo(wanted)
        if int(array.min()) < bounds.min or int(array.max()) > bounds.max:
            raise usage(f"{name} has a number that {wanted.name} cannot represent")
    converted = array.astype(wanted)
    # Up to this number, every integer is a float.
    if array.dtype.kind in "iu" and wanted.kind not in "iu":
        limit = 2 ** (np.finfo(wanted).nmant + 1) if wanted.kind == "f" else 1
        if len(array) and (int(array.max()) > limit or int(array.min()) < (-limit if wanted.kind == "f" else 0)):
            raise usage(f"{name} has an integer that {wanted.name} cannot represent", "float64, or a column of floats")
    return converted


def warn_of_hyperedges(graph: Graph) -> None:
    """Says that hyperedges are left out, if there are any."""
    names = [table.name for table in graph.tables() if table.kind == "hyperedges" and table.num_rows != 0]
    if names:
        message = f"hyperedges ({', '.join(names[:5])}) are not edges between two nodes, and left out; a conversion with hyperedges='expand' makes edges of them"
        warnings.warn(message, UserWarning, stacklevel=4)


def by_type(features: Mapping[Any, Any] | None, types: Sequence[Any], what: str) -> dict[Any, dict[str, Feature]]:
    """Features by type. With one type, it need not be named."""
    if not isinstance(features or {}, Mapping):
        raise usage(f"features must be a mapping of names to columns, found {features.__class__.__name__}", '{"x": ["age", "height"]}')
    given: dict[Any, Any] = dict(features or {})
    if given and not any(key in types for key in given) and len(types) == 1:
        given = {types[0]: given}
    made: dict[Any, dict[str, Feature]] = {}
    for type, own in given.items():
        if type not in types:
            raise usage(f"there are no {what} {type!r}", f"the types are {', '.join(str(known) for known in list(types)[:10])}")
        if not isinstance(own, Mapping):
            raise usage(f"the features of {what} {type!r} must be a mapping of names to columns", '{"x": ["age", "height"]}')
        made[type] = {name: _feature(name, one) for name, one in own.items()}
    return made


def _feature(name: str, given: Any) -> Feature:
    feature = given if isinstance(given, Feature) else Feature(given)
    columns = feature.columns
    if not isinstance(columns, str) and not (isinstance(columns, Sequence) and all(isinstance(column, str) for column in columns)):
        raise usage(f"{name} must be the name of a column, or a list of names; found {columns!r}")
    return feature


def _topology(root: str) -> str:
    return os.path.join(root, "topology")


def _input_of(graph: Graph) -> str:
    """What tells whether the files of a graph are those that were read before."""
    location = graph.location
    found: list[tuple[str, int, int]] = []
    if "://" in location:
        # Nothing is known of files elsewhere: they are read again by every process that has no files yet.
        return json.dumps([location, graph._part, _read_with(graph), os.urandom(16).hex()], default=str)
    for place in (Path(location), Path(f"{location}.isomorph")):
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        for file in files:
            with contextlib.suppress(OSError):
                known = file.stat()
                if not file.is_dir():
                    found.append((str(file), known.st_size, known.st_mtime_ns))
    return json.dumps([location, graph._part, _read_with(graph), found], default=str)


def _read_with(graph: Graph) -> dict[str, Any]:
    """The options that change what is read."""
    return {name: value for name, value in graph._pinned().items() if name not in ("memory", "threads", "temp_dir")}


def _conflict(graph: Graph) -> ConflictError:
    message = "the graph was changed while it was read"
    error = ConflictError(f"{message}: {graph.location}")
    error.kind, error.message = "conflict", message
    return error


def _remove(root: str, process: int) -> None:
    # A forked child has the object, but not the files.
    if os.getpid() == process:
        shutil.rmtree(root, ignore_errors=True)


def _restored(graph: Graph, cache: str | None, root: tuple[str, str]) -> Prepared:
    return Prepared(graph, cache, _root=root)
