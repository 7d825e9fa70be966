"""Measures pyoxigraph with the same text: a bulk load into a store on disk, look-ups, a dump. Prints one line of JSON.

    peer_lake.py load TEXT STORE            loads
    peer_lake.py ask STORE KEYS DUMP        looks up the keys (JSON: subject and predicate), then writes N-Quads
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from pathlib import Path

from pyoxigraph import NamedNode, RdfFormat, Store

#: Number of results after which a look-up ends, as in `src/triples.rs`.
MOST = 1_000


def spent() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def load(text: str, folder: str) -> dict[str, float]:
    start, processor = time.perf_counter(), spent()
    store = Store(folder)
    store.bulk_load(path=text, format=RdfFormat.N_TRIPLES)
    store.flush()
    seconds, processor = time.perf_counter() - start, spent() - processor
    count = len(store)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "processor": processor, "triples": count, "peak": peak}


def look_up(store: Store, subject: NamedNode, predicate: NamedNode | None) -> tuple[float, int]:
    start, found = time.perf_counter(), 0
    for _ in store.quads_for_pattern(subject, predicate, None, None):
        found += 1
        if found == MOST:
            break
    return time.perf_counter() - start, found


def ask(folder: str, keys: str, dump: str) -> dict[str, object]:
    store = Store(folder)
    answer: dict[str, object] = {}
    terms = [(NamedNode(subject), NamedNode(predicate)) for subject, predicate in json.loads(Path(keys).read_text())]
    for name, bound in ("subject_predicate", True), ("subject", False):
        for _ in range(2):
            runs = [look_up(store, subject, predicate if bound else None) for subject, predicate in terms]
        answer[name] = {"p50": statistics.median(seconds for seconds, _ in runs), "found": sum(found for _, found in runs)}
    start, processor = time.perf_counter(), spent()
    store.dump(output=dump, format=RdfFormat.N_QUADS)
    answer["dump"] = {"seconds": time.perf_counter() - start, "processor": spent() - processor}
    return answer


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    print(json.dumps((load if what == "load" else ask)(*arguments)))
