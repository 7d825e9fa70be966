"""GraphLake stores."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from . import _isomorph
from ._graph import Graph
from ._options import passed, path_text, size, usage, whole
from ._progress import Progress, shown
from ._results import Commit, Snapshot
from ._terms import Literal, Object, object_of

__all__ = ["Lake", "Literal", "Transaction"]

def _statement(statement: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(statement) not in (3, 4):
        raise usage(f"a statement is (subject, predicate, object) or (subject, predicate, object, graph); found {len(statement)} terms")
    subject, predicate, value = statement[:3]
    graph = statement[3] if len(statement) == 4 else None
    return (subject, predicate, object_of(value), graph)


class Transaction:
    """A change of a store that is made completely or not at all. :meth:`Lake.transaction` begins one."""

    def __init__(self, transaction: _isomorph.Transaction) -> None:
        self._transaction = transaction
        self._ended = False
        self.committed: Commit | None = None
        """What was committed; ``None`` before, and if there was nothing to change."""

    def insert(self, subject: str, predicate: str, object: Object, graph: str | None = None) -> None:
        """Inserts a statement. A subject or an object that is text is an IRI, or a blank node such as ``_:a``; other values are literals."""
        self._edit([_statement((subject, predicate, object, graph))], True)

    def delete(self, subject: str, predicate: str, object: Object, graph: str | None = None) -> None:
        """Deletes a statement, if it exists."""
        self._edit([_statement((subject, predicate, object, graph))], False)

    def insert_many(self, statements: Iterable[tuple[Any, ...]]) -> int:
        """Inserts statements: tuples of subject, predicate, object, and possibly a graph. Returns their number."""
        return self._many(statements, True)

    def delete_many(self, statements: Iterable[tuple[Any, ...]]) -> int:
        """Deletes statements. Returns their number, whether they existed or not."""
        return self._many(statements, False)

    def _many(self, statements: Iterable[tuple[Any, ...]], insert: bool) -> int:
        done, some = 0, []
        for statement in statements:
            some.append(_statement(tuple(statement)))
            if len(some) == 1024:
                done += self._edit(some, insert)
                some = []
        return done + self._edit(some, insert)

    def _edit(self, statements: list[tuple[Any, ...]], insert: bool) -> int:
        with passed():
            return self._transaction.edit(statements, insert)

    def insert_text(self, text: str, syntax: str = "nq", *, base: str | None = None) -> int:
        """Inserts the statements of a text: ``nt``, ``nq``, ``ttl``, ``trig``, ``rdf`` or ``jsonld``. Returns their number."""
        return self._transaction.edit_text(text, syntax, True, base)

    def delete_text(self, text: str, syntax: str = "nq", *, base: str | None = None) -> int:
        """Deletes the statements of a text. Returns their number, whether they existed or not."""
        return self._transaction.edit_text(text, syntax, False, base)

    def commit(self) -> Commit | None:
        """Commits now, and ends the transaction. ``None`` if there was nothing to change."""
        self._ended = True
        made = self._transaction.commit()
        self.committed = None if made is None else Commit._of(json.loads(made))
        return self.committed

    def rollback(self) -> None:
        """Ends the transaction without a change."""
        self._ended = True
        self._transaction.rollback()


class _Begun:
    """``with lake.transaction() as t:`` commits at the end, and changes nothing if an exception is raised."""

    def __init__(self, lake: _isomorph.Lake) -> None:
        self._lake = lake
        self._transaction: Transaction | None = None

    def __enter__(self) -> Transaction:
        self._transaction = Transaction(self._lake.begin())
        return self._transaction

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        transaction, self._transaction = self._transaction, None
        if transaction is None or transaction._ended:
            return
        if kind is None:
            transaction.commit()
        else:
            transaction.rollback()


class Lake:
    """A GraphLake store that is changed in place.

    :param create: creates an empty store at a path where nothing is
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = False,
        memory: int | str | None = None,
        threads: int | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        self._limits = (size(memory), whole("threads", threads, bits=32), None if temp_dir is None else path_text(temp_dir))
        self._lake = _isomorph.Lake(path_text(path), create, *self._limits)

    @property
    def location(self) -> str:
        """Where it is."""
        return self._lake.location

    def transaction(self) -> _Begun:
        """``with lake.transaction() as t:`` commits at the end of the block, and changes nothing if an exception is raised. What was
        committed is ``t.committed`` then."""
        return _Begun(self._lake)

    def load(
        self,
        *texts: str | os.PathLike[str],
        syntax: str | None = None,
        graph: str | None = None,
        base: str | None = None,
        lenient: bool = False,
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Loads RDF texts in one transaction."""
        with shown(progress) as tell:
            made: dict[str, Any] = json.loads(
                _isomorph.load_lake(
                    self.location, [path_text(text) for text in texts], syntax, graph, base, lenient, *self._limits, tell
                )
            )
            return made

    def log(self, limit: int = 100) -> list[Snapshot]:
        """The last snapshots, the newest last."""
        return [Snapshot._of(made) for made in json.loads(self._lake.log(whole("limit", limit)))]

    def compact(self, *, full: bool = False, progress: Progress = None) -> dict[str, Any]:
        """Merges small files. The quads of the store do not change."""
        with shown(progress) as tell:
            made: dict[str, Any] = json.loads(self._lake.compact(full, tell))
            return made

    def at(self, snapshot: int | str | None = None, **options: Any) -> Graph:
        """A snapshot as a graph, by version, time or id; the latest one by default."""
        return Graph(self.location, at=snapshot, **options)

    def open(self, **options: Any) -> Graph:
        """The latest snapshot as a graph."""
        return self.at(None, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.location, self._limits))

    def __repr__(self) -> str:
        return f"<isomorph.Lake {self.location}>"


def _restored(location: str, limits: tuple[Any, ...]) -> Lake:
    return Lake(location, memory=limits[0], threads=limits[1], temp_dir=limits[2])
