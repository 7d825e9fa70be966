"""Lazy tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _html, _isomorph
from ._imports import needed
from ._options import passed, unsupported, usage, whole

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Column", "Schema", "Table"]


DIRECTION = "isomorph.direction"
"""The metadata of a table of edges that says ``undirected`` of all of them."""


class Column(NamedTuple):
    """A column of a table."""

    name: str
    type: str
    """Its type, such as ``int64``, ``string``, ``list<string>``: the names that sidecars and ``isomorph info`` use."""
    nullable: bool
    role: str | None
    """Its role in the graph: ``key``, ``source``, ``target``, ``labels``, ``property``, …"""
    kind: str | None
    """The meaning of its cells, if the type does not state it: ``json``, ``term``, ``literal``, …"""


class Schema(Mapping[str, Column]):
    """The columns of a table, by name. Passes as a schema to libraries that know the Arrow protocol."""

    def __init__(self, table: _isomorph.Table) -> None:
        self._table = table
        self._columns = {column[0]: Column(*column) for column in table.schema()}

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __repr__(self) -> str:
        return "\n".join(f"{column.name}: {column.type}" for column in self.values())

    def _repr_html_(self) -> str:
        rows = [(one.name, one.type, one.role, one.kind) for one in self.values()]
        return _html.table("columns", ["name", "type", "role", "kind"], rows)


class Table:
    """A table that is read when something asks for its rows.

    It speaks Arrow's protocol: ``pyarrow.table(t)``, ``polars.DataFrame(t)``, ``duckdb.from_arrow(t)`` and others take it as it is, and nothing is
    copied on the way.
    """

    def __init__(self, table: _isomorph.Table, name: str, again: Callable[[], Table] | None = None) -> None:
        self._table = table
        self._name = name
        self._again = again

    def _shaped(self, table: _isomorph.Table, verb: str, *arguments: Any) -> Table:
        return Table(table, self._name, None if self._again is None else _Shaped(self, verb, arguments))

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return self._name

    @property
    def schema(self) -> Schema:
        """Its columns."""
        return Schema(self._table)

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return [column[0] for column in self._table.schema()]

    @property
    def num_rows(self) -> int | None:
        """Number of rows as its files state it, without reading; see :meth:`count` for a number that is certain."""
        return self._table.num_rows()

    def select(self, *columns: str) -> Table:
        """Some columns, in this order, by name or by role: ``t.select("@source", "since")``.

        A table of which columns were selected cannot get others back.
        """
        if len(columns) == 1 and not isinstance(columns[0], str):
            raise usage("columns are named one by one", "select(*names)")
        known = self._table.schema()
        roles = {f"@{column[3]}" for column in known}
        names = {column[0] for column in known}
        chosen = [name for name in columns if name in names or name in roles]
        if len(chosen) < len(columns):
            missing = next(name for name in columns if name not in names and name not in roles)
            # The compiled module says what is near.
            with passed():
                self._table.select([missing])
            raise usage(f"{missing} was not selected", f"the columns are {', '.join(sorted(names))}")
        with passed():
            return self._shaped(self._table.select(list(columns)), "select", *columns)

    def filter(self, condition: str) -> Table:
        """The rows for which a condition is true: ``t.filter('age > 30 and name like "A%"')``.

        Conditions are those of ``isomorph convert --where``, see ``docs/selection.md``. They may look at columns that are not selected.
        """
        if not isinstance(condition, str):
            raise usage(f"a condition is text, found {type(condition).__name__}")
        with passed():
            return self._shaped(self._table.filter(condition), "filter", condition)

    def limit(self, rows: int) -> Table:
        """The first rows, in the order of the table."""
        rows = whole("a limit", rows)
        return self._shaped(self._table.limit(rows), "limit", rows)

    def head(self, rows: int = 5) -> Table:
        """As :meth:`limit`."""
        return self.limit(rows)

    def count(self) -> int:
        """Number of rows, which are counted unless the number is certain."""
        return self._table.count()

    def collect(self) -> Table:
        """Reads it into memory, once: what is asked of the result is not read again."""
        return Table(self._table.collect(), self._name)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """As a table of pyarrow."""
        library = needed("pyarrow", purpose="to_arrow()")
        table: pa.Table = library.table(self._table.collect())
        return table

    def to_batches(self) -> pa.RecordBatchReader:
        """As a reader of pyarrow, for tables that are larger than the memory."""
        library = needed("pyarrow", purpose="to_batches()")
        reader: pa.RecordBatchReader = library.RecordBatchReader.from_stream(self._table)
        return reader

    def to_pandas(self, **options: Any) -> pd.DataFrame:
        """As a dataframe of pandas. Options are those of ``pyarrow.Table.to_pandas``."""
        needed("pandas", purpose="to_pandas()")
        needed("pyarrow", purpose="to_pandas()")
        table = self.to_arrow()
        with _converting("to_pandas()"):
            frame: pd.DataFrame = table.to_pandas(**options)
        direction = (table.schema.metadata or {}).get(DIRECTION.encode())
        if direction is not None:
            frame.attrs[DIRECTION] = direction.decode()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """As a dataframe of polars."""
        library = needed("polars", purpose="to_polars()")
        self._without_wide_decimals("to_polars()")
        frame: pl.DataFrame = library.DataFrame(self._table.collect())
        return frame

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """As a relation of duckdb, in a connection or the default one."""
        library = needed("duckdb", purpose="to_duckdb()")
        arrow = needed("pyarrow", purpose="to_duckdb()")
        self._without_wide_decimals("to_duckdb()")
        table = self.to_arrow()
        # DuckDB has no half floats.
        halves = {at for at, field in enumerate(table.schema) if arrow.types.is_float16(field.type)}
        for at in halves:
            table = table.set_column(at, table.column_names[at], table.column(at).cast(arrow.float32()))
        relation: duckdb.DuckDBPyRelation = (connection or library).from_arrow(table)
        return relation

    def to_numpy(self) -> dict[str, np.ndarray[Any, Any]]:
        """As an array of numpy for each column. Numbers without nulls are not copied, except to join batches."""
        needed("numpy", purpose="to_numpy()")
        table = self.to_arrow().combine_chunks()
        with _converting("to_numpy()"):
            return {name: column.to_numpy() for name, column in zip(table.column_names, table.columns)}

    def _without_wide_decimals(self, purpose: str) -> None:
        """Fails if a column has decimals of 256 bits, which some libraries take for something else or end the process for."""
        for column in self.schema.values():
            if "decimal256" in column.type:
                raise unsupported(f"{purpose}: the column {column.name} has the type {column.type}", "select(…)    leave the column out", "to_arrow()")

    def __reduce__(self) -> tuple[Any, ...]:
        if self._again is None:
            raise TypeError("a result in memory cannot be pickled: pickle what to_arrow() returns")
        return (_restored, (self._again,))

    def __repr__(self) -> str:
        rows = self.num_rows
        counted = "" if rows is None else f", {rows:,} rows"
        shown = ", ".join(f"{name}: {kind}" for name, kind, *_ in self._table.schema())
        return f"<isomorph.Table {self._name}{counted}: {shown}>"

    def _repr_html_(self) -> str:
        rows = self.num_rows
        counted = "" if rows is None else f" · {rows:,} rows"
        shown = [(one.name, one.type, one.role, one.kind) for one in self.schema.values()]
        return _html.table(f"{self._name}{counted}", ["column", "type", "role", "kind"], shown)


@contextmanager
def _converting(purpose: str) -> Iterator[None]:
    """Values that another library cannot hold are errors of isomorph."""
    try:
        yield
    except (NotImplementedError, OverflowError, ValueError) as error:
        refused = unsupported(f"{purpose}: {error}", "select(…)    leave the column out", "to_arrow()")
        refused.why = str(error)
        raise refused from error


class _Shaped:
    """How a part of a table is made again, after pickling."""

    def __init__(self, table: Table, verb: str, arguments: tuple[Any, ...]) -> None:
        self.table, self.verb, self.arguments = table, verb, arguments

    def __call__(self) -> Table:
        made: Table = getattr(self.table, self.verb)(*self.arguments)
        return made


def _restored(again: Callable[[], Table]) -> Table:
    return again()
