"""An independent reader of GraphLake stores, written from the description of the format: no code of isomorph, only Python.

It reads all metadata and every file from start to end, and checks what it can on the way: sizes, counts, the order of
records, bounds, and that the files of both orders have the same triples.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
DEFAULT_GRAPHS = {"urn:x-arq:DefaultGraph", "", "urn:x-rdflib:default"}


@dataclass(frozen=True)
class Triple:
    """Texts as a file has them; `datatype` is None for terms that are not literals."""

    subject: str
    object: str
    datatype: str | None

    def object_key(self) -> tuple[bytes, int, bytes]:
        return self.object.encode(), int(self.datatype is not None), (self.datatype or "").encode()

    def key(self, inverse: bool) -> tuple:
        parts = (self.subject.encode(), self.object_key())
        return parts[::-1] if inverse else parts


def unique(pairs: list[tuple[str, object]]) -> dict:
    """An object without repeated names."""
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"a name stands twice: {names}"
    return dict(pairs)


def load(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=unique)


def records(content: bytes, prefixes: dict[int, str]) -> Iterator[Triple]:
    """The records of a file."""
    at = 0

    def number() -> int:
        nonlocal at
        (value,) = struct.unpack_from("<i", content, at)
        at += 4
        return value

    def text() -> str:
        nonlocal at
        length = number()
        assert 0 <= length <= len(content) - at
        at += length
        return content[at - length : at].decode("utf-8")

    def term() -> str:
        prefix = number()
        return (prefixes[prefix] if prefix else "") + text()

    while at < len(content):
        subject = term()
        kind = content[at]
        at += 1
        assert kind in (0, 1)
        if kind == 0:
            yield Triple(subject, term(), None)
        else:
            value, datatype = text(), term()
            yield Triple(subject, value, "" if datatype == XSD_STRING else datatype)


class Store:
    """A store, and one of its snapshots: by default the one with the greatest version."""

    def __init__(self, root: Path, version: int | None = None) -> None:
        self.root = root
        store = load(root / "store.json")
        assert store["format_version"].split(".")[:2] == ["0", "1"]
        listed = {entry["version"]: entry for entry in store["snapshots"]}
        assert len(listed) == len(store["snapshots"])
        times = [listed[number]["timestamp"] for number in sorted(listed)]
        assert times == sorted(times)
        self.versions = sorted(listed)
        entry = listed[self.versions[-1] if version is None else version]
        self.snapshot = load(root / "snapshots" / f"{entry['id']}.json")
        assert {name: self.snapshot[name] for name in ("id", "version", "timestamp")} == entry

    def read(self, file: dict) -> list[Triple]:
        """The triples of a file, checked against its metadata."""
        content = (self.root / file["path"]).read_bytes()
        triples = list(records(content, {number: text for text, number in file["prefix_map"].items()}))
        assert (len(content), len(triples)) == (file["size"], file["triple_count"])
        assert file["prefixes"] == sorted(file["prefix_map"], key=file["prefix_map"].get)
        keys = [triple.key(file["is_inverse"]) for triple in triples]
        assert all(one < next for one, next in zip(keys, keys[1:])), "not in order"
        firsts = [(triple.object if file["is_inverse"] else triple.subject).encode() for triple in triples]
        low, high = file["min_value"].encode(), file["max_value"].encode()
        assert all(low <= first <= high for first in firsts), "not within its bounds"
        return triples

    def living(self, graph: dict, inverse: bool, naive: bool) -> dict[str, set[Triple]]:
        """The live triples of a graph by predicate, according to the files of one order.

        A triple is deleted if a tombstone has it whose version is greater than that of its newest copy; for naive readers, if any has it.
        """
        copies: dict[tuple[str, Triple], int] = {}
        for file in graph["os_data_files" if inverse else "so_data_files"]:
            assert file["is_inverse"] is inverse and file["snapshot_version"] <= self.snapshot["version"]
            for triple in self.read(file):
                key = (file["predicate"], triple)
                copies[key] = max(copies.get(key, 0), file["snapshot_version"])
        dead: dict[tuple[str, Triple], int] = {}
        for file in graph["tombstone_files"]:
            if file["is_inverse"] is inverse:
                for triple in self.read(file):
                    key = (file["predicate"], triple)
                    dead[key] = max(dead.get(key, 0), file["snapshot_version"])
        living: dict[str, set[Triple]] = {}
        for key, version in copies.items():
            if key not in dead or (not naive and version >= dead[key]):
                living.setdefault(key[0], set()).add(key[1])
        return living

    def lines(self, naive: bool = False) -> list[str]:
        """The live quads as sorted lines of canonical N-Quads; both orders must be equal."""
        lines = []
        for name, graph in self.snapshot["graphs"].items():
            by_subject, by_object = (self.living(graph, inverse, naive) for inverse in (False, True))
            assert by_subject == by_object, f"the orders of {name} differ"
            assert set(by_subject) <= set(graph["predicate_index"])
            listed = {name for partition in graph["partitions"].values() for name in partition["files"]}
            files = graph["so_data_files"] + graph["os_data_files"] + graph["tombstone_files"]
            assert listed == {file["id"] for file in files}
            for predicate, partition in graph["predicate_index"].items():
                # The numbers that isomorph stores next to the names of files, unless a writer without them has changed the files.
                stated = graph["partitions"].get(partition, {}).get("living_count")
                triples = by_subject.get(predicate, set())
                literals = sum(one.datatype is not None for one in triples)
                if stated is not None and not naive:
                    said = stated, graph["partitions"][partition]["living_literal_count"]
                    assert said == (len(triples), literals), f"{predicate} in {name}: {said}"
            end = "" if name in DEFAULT_GRAPHS else f"{term(name)} "
            for predicate, triples in by_subject.items():
                lines += [f"{term(one.subject)} {term(predicate)} {value(one)} {end}." for one in triples]
        return sorted(lines)


def term(text: str) -> str:
    return text if text.startswith("_:") else f"<{text}>"


def value(triple: Triple) -> str:
    if triple.datatype is None:
        return term(triple.object)
    named = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
    code = lambda c: named.get(ord(c)) or (f"\\u{ord(c):04X}" if ord(c) < 32 or ord(c) == 127 else c)  # noqa: E731
    text = '"' + "".join(map(code, triple.object)) + '"'
    kind, _, tag = triple.datatype.partition("@")
    if tag and kind in (f"{RDF}langString", f"{RDF}dirLangString"):
        return f"{text}@{tag}"
    return text + (f"^^<{triple.datatype}>" if triple.datatype else "")
