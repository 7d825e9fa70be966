"""PageRank of a graph in GraphAr, beside twenty products of a sparse matrix of scipy, both with reading.

    python benches/part_algorithms.py COMMAND BENCH [--nodes 1000000] [--edges 10000000] [--runs 5] [--folder DIR]
    python benches/part_algorithms.py COMMAND BENCH --smoke     the same work on tiny data: whether it works, not how fast

COMMAND is the `isomorph` command, BENCH the program `isomorph-bench`, both built for release; Python has pyarrow and scipy. Prints one line of JSON for each measurement. The ten
greatest ranks are compared: the run fails if they differ. scipy reads two columns of integers from one Parquet file, which is less than a graph; isomorph reads its GraphAr files, and looks no key up.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

#: Runs a command and prints its seconds, processor seconds and peak kilobytes, as in `run.py`.
LAUNCHER = """
import resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
seconds = time.perf_counter() - start
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.stdout.flush()
sys.stdout.buffer.write(done.stdout)
sys.exit(done.returncode)
"""

#: Twenty iterations of PageRank as products of a matrix in rows.
PEER = """
import sys, json
import numpy as np, pyarrow.parquet as pq, scipy.sparse as sparse
table = pq.read_table(sys.argv[1], columns=["src", "dst"])
n = int(sys.argv[2])
source, target = (table.column(at).to_numpy() for at in (0, 1))
degrees = np.bincount(source, minlength=n)
matrix = sparse.csr_matrix((np.ones(len(source)), (target, source)), shape=(n, n))
share = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
ranks = np.full(n, 1 / n)
for _ in range(20):
    sink = ranks[degrees == 0].sum()
    ranks = 0.15 / n + 0.85 * (matrix @ (ranks * share) + sink / n)
top = np.lexsort((np.arange(n), -ranks))[:10]
print(json.dumps([[int(node), float(ranks[node])] for node in top]))
"""


def run(*words: object) -> tuple[float, float, float, str]:
    """Seconds, processor seconds, megabytes, output."""
    done = subprocess.run([sys.executable, "-c", LAUNCHER, *map(str, words)], stdout=subprocess.PIPE, text=True, check=True)
    first, _, rest = done.stdout.partition("\n")
    seconds, processor, kilobytes = map(float, first.split())
    return seconds, processor, kilobytes / 1024, rest


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("bench")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--smoke", action="store_true")
    args = parser.parse_args()
    if args.smoke:
        args.nodes, args.edges, args.runs = 1000, 10_000, 1
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        table, graph = Path(folder) / "edges.parquet", Path(folder) / "graph"
        subprocess.run([args.bench, "edges-make", str(args.edges), str(args.nodes), table], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([args.bench, "edges-write", table, str(args.nodes), graph, "1", "2"], check=True, stdout=subprocess.DEVNULL)
        own = [args.command, "rank", graph, "--iterations", "20", "--tolerance", "0", "--top", "10", "--format", "json"]
        own += ["--memory", "512MiB", "--threads", "2"]
        peer = [sys.executable, "-c", PEER, table, args.nodes]
        results: dict[str, list[tuple[float, float, float]]] = {"isomorph": [], "scipy": []}
        for _ in range(args.runs):
            *measured, answer = run(*own)
            results["isomorph"].append(tuple(measured))
            *measured, other = run(*peer)
            results["scipy"].append(tuple(measured))
        ours = [[row["key"], row["rank"]] for row in json.loads(answer)]
        theirs = json.loads(other)
        for (node, rank), (other_node, other_rank) in zip(ours, theirs, strict=True):
            assert abs(rank - other_rank) < 1e-9 * rank, (ours, theirs)
            assert node == other_node or abs(rank - other_rank) < 1e-12, (ours, theirs)
        medians = {name: [statistics.median(column) for column in zip(*runs, strict=True)] for name, runs in results.items()}
        ratio = medians["isomorph"][0] / medians["scipy"][0]
        for name, (seconds, processor, megabytes) in medians.items():
            print(json.dumps({"work": "pagerank, 20 iterations", "by": name, "seconds": seconds, "processor": processor, "megabytes": megabytes}))
        print(json.dumps({"target": "at most 2 times scipy, within 512 MiB", "ratio": ratio, "met": ratio <= 2 and medians["isomorph"][2] <= 512, "answers": "equal"}))
        for algorithm in ("components", "clustering", "communities", "statistics"):
            seconds, processor, megabytes, told = run(args.bench, "algorithms", graph, algorithm, 512 << 20, 2)
            print(json.dumps({**json.loads(told), "processor": processor, "megabytes": megabytes}))


if __name__ == "__main__":
    main()
