"""Results: certificates, findings, differences, digests, commits."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from . import _html
from ._errors import Place

__all__ = ["Certificate", "Commit", "Diff", "Digests", "Finding", "Findings", "Snapshot"]


@dataclass(frozen=True)
class Digests:
    """128-bit digests of a graph, as 32 hexadecimal digits. They are equal in every format."""

    content: str
    """What the graph holds."""
    order: str
    """Positions that have a meaning."""
    schema: str
    """Types and declarations."""

    def _repr_html_(self) -> str:
        return _html.table("digests", ["of", "digest"], [(name, getattr(self, name)) for name in ("content", "order", "schema")])


@dataclass(frozen=True)
class Finding:
    """A broken rule, at one place."""

    rule: str
    """Stable id, which ``isomorph explain`` knows."""
    severity: str
    """``error``, ``warning`` or ``note``."""
    says: str
    """The rule."""
    message: str
    """What is wrong here."""
    place: Place
    count: int
    """How often the rule is broken; only the first places are among the findings."""


class Findings(list[Finding]):
    """Findings of a validation, worst first."""

    sound: bool
    """Whether no rule of severity ``error`` is broken."""

    def __init__(self, found: list[Finding], sound: bool) -> None:
        super().__init__(found)
        self.sound = sound

    def __reduce__(self) -> tuple[Any, ...]:
        return (Findings, (list(self), self.sound))

    def _repr_html_(self) -> str:
        rows = [(one.severity, one.rule, one.message, one.place) for one in self]
        title = "sound" if self.sound else "unsound"
        return _html.table(f"{title} · {len(self)} findings", ["severity", "rule", "what", "where"], rows)


def findings(documents: list[dict[str, Any]]) -> list[Finding]:
    """The findings of a document."""
    found = []
    for rule in documents:
        for place in rule["places"]:
            known = {name: place.get(name) for name in ("file", "row", "line", "offset", "field")}
            found.append(
                Finding(rule["rule"], rule["severity"], rule["says"], place["message"], Place(**known), rule["count"])
            )
    return found


@dataclass(frozen=True)
class Certificate:
    """What a conversion did, and the proof that it lost nothing."""

    source_format: str
    to: str
    destination: str
    equal: bool | None
    """Whether the output, read back, equals the input; ``None`` if it was not verified."""
    source: Digests | None
    result: Digests | None
    nodes: int
    edges: int
    triples: int | None
    sidecar: tuple[str, ...]
    """Entries of the sidecar: what the format itself cannot store."""
    lost: tuple[str, ...]
    """What was lost, if no sidecar was written."""
    files: int
    bytes: int
    seconds: float
    findings: tuple[Finding, ...] = field(default=(), repr=False)

    @classmethod
    def _of(cls, text: str) -> Certificate:
        made = json.loads(text)
        digests = {name: Digests(**made[name]) if made[name] else None for name in ("source", "result")}
        return cls(
            source_format=made["from"],
            to=made["to"],
            destination=made["destination"],
            equal=made["equal"],
            source=digests["source"],
            result=digests["result"],
            nodes=made["nodes"],
            edges=made["edges"],
            triples=made["triples"],
            sidecar=tuple(made["carried"]),
            lost=tuple(made["lost"]),
            files=made["files"],
            bytes=made["bytes"],
            seconds=made["seconds"],
            findings=tuple(findings(made["findings"])),
        )

    def _repr_html_(self) -> str:
        words = {True: "verified: output equals input", False: "output differs", None: "not verified"}
        rows: list[tuple[str, object]] = [
            ("destination", self.destination),
            ("nodes", self.nodes),
            ("edges", self.edges),
            ("files", self.files),
            ("bytes", self.bytes),
            ("seconds", round(self.seconds, 3)),
        ]
        rows += [("sidecar", entry) for entry in self.sidecar]
        rows += [("lost", entry) for entry in self.lost]
        return _html.table(f"{self.source_format} → {self.to} · {words[self.equal]}", ["", ""], rows)


@dataclass(frozen=True)
class Diff:
    """Differences of two graphs. True if there are any."""

    equal: bool
    """Whether the contents are equal."""
    order_equal: bool
    schema_equal: bool
    lines: tuple[dict[str, Any], ...] = field(repr=False)
    """Numbers of facts by kind, type and property, on both sides."""
    elements: tuple[dict[str, Any], ...]
    """The first elements that differ."""
    differing: int | None
    """Number of elements that differ."""

    @classmethod
    def _of(cls, text: str) -> Diff:
        made = json.loads(text)
        return cls(
            equal=made["equal"],
            order_equal=made["order_equal"],
            schema_equal=made["schema_equal"],
            lines=tuple(made["lines"]),
            elements=tuple(made["elements"]),
            differing=made["differing"],
        )

    def __bool__(self) -> bool:
        return not self.equal

    def _repr_html_(self) -> str:
        rows = [(one["kind"], one["type"], one["identity"], one["left"], one["right"]) for one in self.elements]
        title = "equal" if self.equal else f"{self.differing} elements differ"
        return _html.table(title, ["kind", "type", "identity", "left", "right"], rows)


@dataclass(frozen=True)
class Commit:
    """A transaction that was committed."""

    version: int
    id: str
    timestamp: int
    """Milliseconds since 1970."""
    inserted: int
    """Triples that were written; some of them may have existed before."""
    deleted: int
    """Triples that existed and were deleted."""
    missing: int
    """Triples to be deleted that did not exist."""
    files: int
    bytes: int

    @classmethod
    def _of(cls, made: dict[str, Any]) -> Commit:
        return cls(**{name: made[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Snapshot:
    """One snapshot in the log of a store."""

    version: int
    id: str
    timestamp: int
    """Milliseconds since 1970."""
    graphs: int
    triples: int
    exact: bool
    """Whether that number is exact; otherwise it is an upper bound."""
    files: int
    bytes: int
    changes: tuple[dict[str, Any], ...]
    """What it changed, by graph."""

    @classmethod
    def _of(cls, made: dict[str, Any]) -> Snapshot:
        known = {name: made[name] for name in cls.__dataclass_fields__}
        return cls(**{**known, "changes": tuple(made["changes"])})


