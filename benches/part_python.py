"""The Python package beside polars, pyarrow and PyTorch Geometric, on the same files, in turns.

    python benches/part_python.py [--nodes 1000000] [--edges 10000000] [--rows 5000000] [--runs 7] [--batches 200] [--folder DIR] [--only NAME …]
    python benches/part_python.py --smoke     the same work on tiny data: whether it works, not how fast

Python has the package isomorph, built for release, with polars and pyarrow; the loaders also need torch, torch_geometric and its sampler
(`python/train/requirements.txt` and `python python/train/peer_sampler.py`), and are compared with a loader in numpy if those are missing. Prints one line of JSON for each measurement. Answers
are compared: the run fails if they differ. Each measurement is a process of its own.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

#: What a measured program begins with: a clock, and the proportional share of the memory of all its processes.
START = """
import json, os, sys, time

def pss():
    def of(pid):
        total = 0
        try:
            with open(f"/proc/{pid}/smaps_rollup") as lines:
                total = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
            with open(f"/proc/{pid}/task/{pid}/children") as children:
                return total + sum(of(child) for child in children.read().split())
        except (OSError, StopIteration):
            return total
    return of(os.getpid())

path = sys.argv[1]
"""

COLUMN = {
    "isomorph": """
import isomorph, polars
start = time.perf_counter()
frame = isomorph.open(path).nodes("row").select("x").to_polars()
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "answer": [frame.height, float(frame["x"].sum())]}))
""",
    "polars": """
import glob, polars
files = sorted(glob.glob(path + "/vertex/row/*/chunk*"), key=lambda file: int(file.rsplit("chunk", 1)[1]))
start = time.perf_counter()
frame = polars.scan_parquet([file for file in files if "x" in polars.read_parquet_schema(file)], glob=False).select("x").collect()
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "answer": [frame.height, float(frame["x"].sum())]}))
""",
}

EDGES = {
    "isomorph": """
import isomorph, numpy as np
from isomorph._isomorph import edge_rows
start = time.perf_counter()
ends = edge_rows(isomorph.open(path)._graph, 0)
index = np.stack(ends[:2])
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "answer": [index.shape[1], int(index[0].sum()), int(index[1].sum())]}))
""",
    "pyarrow": """
import glob, numpy as np, pyarrow.dataset as ds
files = sorted(glob.glob(path + "/edge/*/ordered_by_source/adj_list/part*/chunk*"))
start = time.perf_counter()
table = ds.dataset(files).to_table(columns=["_graphArSrcIndex", "_graphArDstIndex"])
index = np.stack([column.to_numpy() for column in table.columns])
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "answer": [index.shape[1], int(index[0].sum()), int(index[1].sum())]}))
""",
}

#: Arguments: the graph, a directory with prepared files, batches, workers.
LOADER = {
    "isomorph": """
import isomorph, numpy as np, torch, torch_geometric
from isomorph.pyg import Sampler, stores
from torch_geometric.loader import NodeLoader
torch.set_num_threads(1)
before = pss()
cache, batches, workers = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
start = time.perf_counter()
own = stores(path, {"x": [f"f{at}" for at in range(64)]}, cache=cache)
own[0].prepared.feature("node", "x", own[0].features["node"]["x"])
prepared = time.perf_counter() - start
nodes = torch.from_numpy(np.random.default_rng(0).permutation(own[0].prepared.node_types["node"]))[: batches * 1024]
loader = NodeLoader(own, Sampler(own, [15, 10], seed=1), input_nodes=nodes, batch_size=1024, num_workers=workers)
""",
    "pyg": """
import warnings
import isomorph, numpy as np, torch, torch_geometric
import peer_sampler
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader
warnings.filterwarnings("ignore")
peer_sampler.use()
torch.set_num_threads(1)
before = pss()
cache, batches, workers = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
start = time.perf_counter()
from isomorph.pyg import to_pyg
data = to_pyg(isomorph.open(path), {"x": [f"f{at}" for at in range(64)]})
prepared = time.perf_counter() - start
nodes = torch.from_numpy(np.random.default_rng(0).permutation(data.num_nodes))[: batches * 1024]
loader = NeighborLoader(data, [15, 10], input_nodes=nodes, batch_size=1024, num_workers=workers)
""",
}
EPOCH = """
start, edges, total, most = time.perf_counter(), 0, 0, 0
for number, batch in enumerate(loader):
    edges += batch.edge_index.shape[1]
    total += batch.n_id.shape[0]
    assert batch.x.shape == (batch.n_id.shape[0], 64)
    if number % 20 == 10:
        most = max(most, pss())
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "prepared": prepared, "megabytes": (max(most, pss()) - before) / 1024, "answer": [edges, total]}))
"""
SAMPLER = {
    "isomorph": """
sampler = loader.node_sampler
start, edges = time.perf_counter(), 0
for at in range(0, len(nodes), 1024):
    edges += len(sampler._sample(nodes[at : at + 1024]).row)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "answer": [edges]}))
""",
}
SAMPLER["pyg"] = SAMPLER["isomorph"]

#: A sampler of two hops in numpy, for environments without torch.
NUMPY = """
import isomorph, numpy as np
from isomorph.loader import NeighborLoader
cache, batches = sys.argv[2], int(sys.argv[3])
loader = NeighborLoader(path, [15, 10], nodes="node", seed=1, cache=cache)
nodes = np.random.default_rng(0).permutation(loader.prepared.node_types["node"])[: batches * 1024]
"""
NAIVE = {
    "isomorph": NUMPY + """
start, edges = time.perf_counter(), 0
for at in range(0, len(nodes), 1024):
    edges += sum(map(len, loader.batch(nodes[at : at + 1024]).edges.values()))
print(json.dumps({"seconds": time.perf_counter() - start, "answer": [edges]}))
""",
    "numpy": NUMPY + """
starts, sources, _ = loader.prepared.by_target(next(iter(loader.prepared.relations)))
chance = np.random.default_rng(1)
start, edges = time.perf_counter(), 0
for at in range(0, len(nodes), 1024):
    frontier, known = nodes[at : at + 1024], set(nodes[at : at + 1024].tolist())
    for count in (15, 10):
        found = []
        for node in frontier.tolist():
            own = sources[starts[node] : starts[node + 1]]
            found.append(own if len(own) <= count else chance.choice(own, count, replace=False))
        drawn = np.concatenate(found)
        edges += len(drawn)
        frontier = np.array([node for node in dict.fromkeys(drawn.tolist()) if node not in known], dtype=np.int64)
        known.update(frontier.tolist())
print(json.dumps({"seconds": time.perf_counter() - start, "answer": [edges]}))
""",
}

IMPORTS = {
    "isomorph": "start = time.perf_counter()\nimport isomorph\nprint(json.dumps({'seconds': time.perf_counter() - start, 'answer': []}))",
}


#: Where the sampler of PyTorch Geometric is found.
TRAIN = str(Path(__file__).resolve().parent.parent / "python" / "train")


def run(code: str, *words: object) -> dict[str, Any]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [TRAIN, os.environ.get("PYTHONPATH")]))}
    done = subprocess.run([sys.executable, "-c", START + code, *map(str, words)], stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(work: str, programs: dict[str, str], runs: int, words: list[object], target: str, met: Any, *, exact: bool) -> None:
    """Runs the programs in turns, and prints their medians and the ratio of the first to the second."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in programs}
    for _ in range(runs):
        for name, code in programs.items():
            found[name].append(run(code, *words))
    answers = [results[0]["answer"] for results in found.values()]
    for answer in answers[1:]:
        close = answer == answers[0] if exact else all(abs(one - other) < 0.03 * abs(other) for one, other in zip(answers[0], answer, strict=True))
        assert close, (work, answers)
    medians = {name: {key: statistics.median(result[key] for result in results) for key in results[0] if key != "answer"} for name, results in found.items()}
    for name, values in medians.items():
        print(json.dumps({"work": work, "by": name, **values, "answer": found[name][0]["answer"]}), flush=True)
    print(json.dumps({"target": target, **met(list(medians.values()))}), flush=True)


def at_most(limit: float) -> Any:
    def met(medians: list[dict[str, float]]) -> dict[str, Any]:
        ratio = medians[0]["seconds"] / medians[1]["seconds"]
        return {"ratio": round(ratio, 3), "met": ratio <= limit}

    return met


def faster(least: float, memory: float | None = None) -> Any:
    def met(medians: list[dict[str, float]]) -> dict[str, Any]:
        ratio = medians[1]["seconds"] / medians[0]["seconds"]
        made: dict[str, Any] = {"ratio": round(ratio, 3), "met": ratio >= least}
        if memory is not None:
            share = medians[0]["megabytes"] / medians[1]["megabytes"]
            made |= {"memory": round(share, 3), "met": made["met"] and share <= memory}
        return made

    return met


def make(folder: Path, args: argparse.Namespace) -> tuple[Path, Path, Path]:
    """The graphs; what is there already is kept."""
    import isomorph
    import numpy as np
    import pyarrow as pa

    chance = np.random.default_rng(5)
    rows, edges, graph = (folder / f"{name}-{args.nodes}-{args.edges}-{args.rows}.graphar" for name in ("rows", "edges", "graph"))
    if not rows.exists():
        table = pa.table({"id": np.arange(args.rows), "x": chance.normal(size=args.rows), "z": chance.normal(size=args.rows)})
        isomorph.write(rows, nodes={"row": table}, to="graphar", verify=False)
    ends = chance.integers(0, args.nodes, (2, args.edges))
    table = pa.table({"source": ends[0], "target": ends[1]})
    if not edges.exists():
        isomorph.write(edges, nodes={"node": pa.table({"id": np.arange(args.nodes)})}, edges={"to": table}, to="graphar", verify=False)
    if not graph.exists():
        nodes = pa.table({"id": np.arange(args.nodes), **{f"f{at}": chance.normal(size=args.nodes).astype(np.float32) for at in range(64)}})
        isomorph.write(graph, nodes={"node": nodes}, edges={"to": table}, to="graphar", verify=False)
    return rows, edges, graph


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--smoke", action="store_true")
    args = parser.parse_args()
    if args.smoke:
        args.nodes, args.edges, args.rows, args.runs, args.batches = 3000, 30_000, 5000, 1, 3

    def wanted(name: str) -> bool:
        return not args.only or name in args.only

    has_peer = all(importlib.util.find_spec(name) for name in ("torch", "torch_geometric"))
    if has_peer:
        sys.path.insert(0, TRAIN)
        import peer_sampler

        has_peer = peer_sampler.use()
    with tempfile.TemporaryDirectory(dir=args.folder) as temporary:
        folder = args.folder or Path(temporary)
        rows, edges, graph = make(folder, args)
        cache = folder / "cache"
        if wanted("import"):
            seconds = statistics.median(run(IMPORTS["isomorph"], "")["seconds"] for _ in range(args.runs))
            print(json.dumps({"work": "import isomorph", "seconds": seconds}))
            print(json.dumps({"target": "at most 60 ms", "met": seconds <= 0.06}), flush=True)
        if wanted("column"):
            measure("open, one column of all nodes to polars", COLUMN, args.runs, [rows], "at most 1.1 times polars", at_most(1.1), exact=False)
        if wanted("edges"):
            measure("all edges to an array of two rows", EDGES, args.runs, [edges], "at most 1.3 times pyarrow", at_most(1.3), exact=True)
        if wanted("numpy") or (wanted("sampler") and not has_peer):
            measure("subgraphs of [15, 10]", NAIVE, min(args.runs, 3), [graph, cache, min(args.batches, 10)], "at least 20 times numpy", faster(20), exact=False)
        if has_peer:
            words = [graph, cache, args.batches]
            if wanted("sampler"):
                programs = {name: LOADER[name] + SAMPLER[name] for name in LOADER}
                measure("sampler alone, [15, 10]", programs, args.runs, [*words, 0], "at least 2 times PyG in memory", faster(2), exact=False)
            if wanted("loader"):
                programs = {name: LOADER[name] + EPOCH for name in LOADER}
                measure("loader, [15, 10], 64 features, 2 workers", programs, args.runs, [*words, 2], "at least PyG in memory, with a quarter of its memory", faster(1, 0.25), exact=False)


if __name__ == "__main__":
    main()
