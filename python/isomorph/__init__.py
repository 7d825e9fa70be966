"""isomorph: graphs of any format as dataframes.

>>> import isomorph
>>> social = isomorph.open("examples/social")
>>> social.format
'graphar'
>>> social.nodes("person").filter('gender = "female"').limit(2).select("id", "firstName").to_arrow().num_rows
2
"""

from __future__ import annotations

from typing import NamedTuple

from . import _isomorph
from ._errors import (
    AlreadyExistsError,
    CancelledError,
    ConflictError,
    Error,
    IncompleteError,
    IsomorphIOError,
    MalformedError,
    NoSpaceError,
    NotFoundError,
    Place,
    PoisonedError,
    StaleSidecarError,
    TooLargeError,
    UnsupportedError,
    UsageError,
    WouldLoseError,
)
from ._functions import convert, diff, digest, info, open, validate
from ._graph import Graph, GraphSchema, TableInfo
from ._lake import Lake, Literal, Transaction
from ._networks import from_igraph, from_networkx, from_scipy
from ._results import Certificate, Commit, Diff, Digests, Finding, Findings, Snapshot
from ._table import Column, Schema, Table
from ._write import write

__version__: str = _isomorph.__version__

__all__ = [
    "AlreadyExistsError",
    "CancelledError",
    "Certificate",
    "Column",
    "Commit",
    "ConflictError",
    "Diff",
    "Digests",
    "Error",
    "Finding",
    "Findings",
    "Format",
    "Graph",
    "GraphSchema",
    "IncompleteError",
    "IsomorphIOError",
    "Lake",
    "Literal",
    "MalformedError",
    "NoSpaceError",
    "NotFoundError",
    "Place",
    "PoisonedError",
    "Schema",
    "Snapshot",
    "StaleSidecarError",
    "Table",
    "TableInfo",
    "TooLargeError",
    "Transaction",
    "UnsupportedError",
    "UsageError",
    "WouldLoseError",
    "__version__",
    "convert",
    "diff",
    "digest",
    "formats",
    "from_igraph",
    "from_networkx",
    "from_scipy",
    "info",
    "open",
    "validate",
    "write",
]


class Format(NamedTuple):
    """A format that isomorph reads."""

    id: str
    name: str
    usual_names: list[str]


def formats() -> list[Format]:
    """The formats: the ids that ``format=`` and ``to=`` take."""
    return [Format(*known) for known in _isomorph.formats()]
