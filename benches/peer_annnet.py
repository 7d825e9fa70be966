"""Measures how annnet itself reads and writes a graph; runs in its own environment.

    python peer_annnet.py GRAPH [TARGET...]   reads GRAPH, then writes it to each TARGET; prints one line of JSON

A target that ends in `.annnet` is one zip file. Times are those of this process alone, without the imports. The peak
of memory is taken after the read.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import annnet


def measured(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Seconds and processor seconds of some work, and its result."""
    start, processor = time.perf_counter(), time.process_time()
    answer = work()
    return {"seconds": time.perf_counter() - start, "processor": time.process_time() - processor}, answer


def main() -> None:
    path, *targets = sys.argv[1:]
    read, graph = measured(lambda: annnet.read(path))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    writes = [measured(lambda target=target: graph.write(target, overwrite=True))[0] for target in targets]
    answer = {"nodes": len(graph.N), "edges": len(graph.E)}
    print(json.dumps({"read": read, "peak": peak, "writes": writes, "answer": answer}))


if __name__ == "__main__":
    main()
