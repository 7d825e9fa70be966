"""Measures the performance targets, and the published libraries, on the same bytes, in the same run.

    cargo xtask bench                 builds for release, makes the Python environment, runs this
    python benches/run.py --smoke     the same work on tiny data: seconds, for tests

Every line has a target, what was measured, and both answers: a faster wrong answer would be seen.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
THREADS = 2

from part_annnet import ANNNET, PROCESSOR_TICK, annnet
from part_lake import lake, large
from part_lift import lift

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = pq = None
try:
    import pynock
except ImportError:
    pynock = None
try:
    import graphar
    from graphar.types import AdjListType
except ImportError:
    graphar = None


@dataclass
class Sizes:
    """The sizes of the measurements."""

    nock_rows: int
    pynock_rows: int
    edges: int
    vertices: int
    lookups: int
    peer_lookups: int
    runs: int
    annnet: tuple[int, int, int]
    annnet_large: tuple[int, int, int]
    annnet_runs: int
    #: Nodes, with ten edges each; nodes for DeepGNN's own converter; nodes of the large graph.
    deepgnn: int
    deepgnn_peer: int
    deepgnn_large: int
    #: Nodes of the sampled graph, with ten edges each; nodes of the graph with features; batches of a run.
    sampling: tuple[int, int, int]


#: Runs a command and prints its seconds, processor seconds and peak kilobytes. A child's peak starts with the memory of
#: its parent, which is large here, so a small process starts the command.
LAUNCHER = """
import resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
seconds = time.perf_counter() - start
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(code)
"""
MET = {True: "met", False: "not met", None: ""}
#: Vertices, edges and hyperedges of the annnet graphs; the library takes a minute for the first, so it runs less often.
FULL = Sizes(
    1_000_000, 100_000, 5_000_000, 500_000, 4_000, 20, 5, (100_000, 1_000_000, 1_000), (2_000_000, 20_000_000, 20_000), 3,
    1_000_000, 100_000, 10_000_000, (1_000_000, 50_000, 200),
)  # fmt: skip
SMOKE = Sizes(4_000, 1_000, 20_000, 2_000, 20, 2, 1, (100, 1_000, 10), (200, 2_000, 20), 1, 300, 100, 500, (300, 200, 3))
#: The environment of deepgnn-ge: that of `interop/test_deepgnn.py`.
DEEPGNN = Path(sys.prefix).parent / "interop-deepgnn-venv" / ANNNET.parent.name / ANNNET.name


@dataclass
class Line:
    """One line of the table."""

    work: str
    target: str
    measured: str
    met: bool | None
    answers: str = ""


class Bench:
    """The programs and folders of the measurements."""

    def __init__(self, sizes: Sizes, folder: Path, tool: Path, command: Path) -> None:
        self.sizes, self.folder, self.tool, self.command = sizes, folder, tool, command
        self.lines: list[Line] = []

    def measure(self, *arguments: object) -> Any:
        """Runs one measurement of the Rust tool."""
        words = [str(self.tool), *map(str, arguments)]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}\n{done.stderr}")
        return json.loads(done.stdout)

    def isomorph(self, *arguments: object) -> tuple[float, float, float]:
        """Seconds, processor seconds and peak megabytes of one run of the command."""
        return self.run([str(self.command), *map(str, arguments)])

    def run(self, words: list[str]) -> tuple[float, float, float]:
        """The same of any program."""
        done = subprocess.run([sys.executable, "-I", "-S", "-c", LAUNCHER, *words], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}\n{done.stderr}")
        seconds, processor, peak = map(float, done.stdout.split())
        return seconds, processor, peak / 1024

    def resident(self, *arguments: object) -> float | None:
        """Peak anonymous memory in MiB of one run of the command; None if the system does not report it."""
        words = [str(self.command), *map(str, arguments)]
        most = 0
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while process.poll() is None:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            except OSError:
                status = []
            kept = [line.split() for line in status if line.startswith(("RssAnon", "RssShmem"))]
            most = max(most, sum(int(line[1]) for line in kept))
            time.sleep(0.01)
        if process.returncode != 0:
            sys.exit(f"{' '.join(words)} failed")
        return most / 1024 or None

    def add(self, work: str, target: str, measured: str, met: bool | None, answers: str = "") -> None:
        line = Line(work, target, measured, None if self.sizes is SMOKE else met, answers)
        self.lines.append(line)
        print(show(line), flush=True)


def show(line: Line) -> str:
    text = f"{line.work}\n    target {line.target} · measured {line.measured} · {MET[line.met]}".rstrip(" ·")
    return f"{text}\n    answers {line.answers}" if line.answers else text


def median(work: Callable[[], Any], runs: int) -> tuple[float, Any]:
    """Median seconds, and the last result."""
    times, answer = [], None
    for _ in range(runs):
        start = time.perf_counter()
        answer = work()
        times.append(time.perf_counter() - start)
    return statistics.median(times), answer


def nock(bench: Bench) -> None:
    """Reading NOCK, compared with a bare read of the file and with pynock."""
    sizes = bench.sizes
    file = bench.folder / "million.parq"
    made = bench.measure("nock-make", sizes.nock_rows, file)
    read = bench.measure("nock-read", file, sizes.runs, THREADS)
    ours, bare = read["seconds"], read["bare_seconds"]
    answer = read["answer"]
    same = answer == {"nodes": made["nodes"], "edges": made["edges"]} and read["bare_answer"]["rows"] == made["rows"]
    bench.add(
        f"NOCK Parquet, {sizes.nock_rows:,} rows, full read into the model, {THREADS} threads",
        "≤ 2 × a bare Arrow read",
        f"{ours * 1e3:.0f} ms, bare {bare * 1e3:.0f} ms: {ours / bare:.2f} ×{processor(read)}",
        ours <= 2 * bare,
        f"{answer} and {read['bare_answer']}{'' if same else ' DIFFER'}",
    )
    if pq is not None:
        theirs, table = median(lambda: pq.read_table(file), sizes.runs)
        bench.add("  the same file by PyArrow", "–", f"{theirs * 1e3:.0f} ms", None, f"{table.num_rows} rows")
    if pynock is not None:
        small = bench.folder / "small.parq"
        made = bench.measure("nock-make", sizes.pynock_rows, small)
        theirs, partition = median(lambda: pynock_read(small), 1)
        rates = sizes.nock_rows / ours, sizes.pynock_rows / theirs
        counts = len(partition.nodes), sum(len(e) for n in partition.nodes.values() for e in n.edge_map.values())
        bench.add(
            f"  beside pynock on {sizes.pynock_rows:,} rows",
            "≥ 400 ×",
            f"{rates[0] / 1e6:.2f} M rows/s, pynock {rates[1]:,.0f} rows/s: {rates[0] / rates[1]:,.0f} ×",
            rates[0] >= 400 * rates[1],
            f"{made['nodes']} nodes and {made['edges']} edges were written, pynock has {counts[0]} and {counts[1]}",
        )
    convert_nock(bench, file)


def processor(measured: dict[str, Any]) -> str:
    """Processor times of isomorph and the peer, which are comparable on a busy machine, too."""
    ours, bare = measured["processor"]
    return f"; processor time {ours * 1e3:.0f} and {bare * 1e3:.0f} ms" if bare else ""


def pynock_read(file: Path) -> Any:
    partition = pynock.Partition(part_id=0)
    partition.parse_rows(partition.iter_load_parquet(pq.ParquetFile(file)))
    return partition


def convert_nock(bench: Bench, file: Path) -> None:
    """NOCK to GraphAr, with and without verification."""
    certified, plain = [], []
    for number in range(bench.sizes.runs):
        for flags, runs in ([], certified), (["--no-verify"], plain):
            target = bench.folder / f"graphar-{number}-{len(flags)}"
            runs.append(bench.isomorph("convert", file, target, "--to", "graphar", *flags))
            shutil.rmtree(target)
    seconds, processor, peak = (statistics.median(values) for values in zip(*certified, strict=True))
    without, processor_without, _ = (statistics.median(values) for values in zip(*plain, strict=True))
    rows = f"{bench.sizes.nock_rows:,} rows"
    measured = f"{seconds:.2f} s, processor time {processor:.2f} s"
    bench.add(f"NOCK → GraphAr, {rows}, certificate included", "≤ 2 s", measured, seconds <= 2)
    bench.add("  peak memory", "≤ 300 MB", f"{peak:.0f} MB", peak <= 300)
    share = seconds / without - 1
    measured = f"{without:.2f} s without: {share:.0%} on top; processor time {processor / processor_without - 1:.0%}"
    bench.add("  certificate", "≤ 50 % on top", measured, share <= 0.5)


def edges(bench: Bench) -> None:
    """An edge table to GraphAr, and reading the result."""
    sizes = bench.sizes
    table, graph = bench.folder / "edges.parquet", bench.folder / "edges"
    bench.measure("edges-make", sizes.edges, sizes.vertices, table)
    wrote = bench.measure("edges-write", table, sizes.vertices, graph, sizes.runs, THREADS)
    rate = sizes.edges / wrote["seconds"]
    bench.add(
        f"edge table → GraphAr, {sizes.edges:,} edges, {sizes.vertices:,} vertices, both orders, offsets, one property",
        "≥ 4 M edges/s",
        f"{wrote['seconds']:.2f} s: {rate / 1e6:.2f} M edges/s, {wrote['bytes'] / 1e6:.0f} MB; processor time {wrote['processor']:.2f} s",
        rate >= 4e6,
        f"{wrote['edges']} edges",
    )
    scan = bench.measure("graph-scan", graph, sizes.runs)
    rates = sizes.edges / scan["seconds"], sizes.edges / scan["bare_seconds"]
    same = scan["answer"] == scan["bare_answer"]
    bench.add(
        "full scan of that adjacency, one thread",
        "≥ 100 M edges/s",
        f"{rates[0] / 1e6:.0f} M edges/s, parquet crate {rates[1] / 1e6:.0f}{processor(scan)}",
        rates[0] >= 100e6,
        f"{scan['answer']} {'both' if same else 'DIFFERS FROM'} {'' if same else scan['bare_answer']}".strip(),
    )
    neighbours(bench, "our files", graph, 30e-6)
    cold = bench.measure("graph-neighbours", graph, min(sizes.lookups, 200))["cold_bytes"]
    bench.add("  cold, after metadata", "≤ 128 KiB read", f"{cold / 1024:.0f} KiB", cold <= 128 << 10)
    if pq is not None:
        for name, compression, target in ("uncompressed", "none", 150e-6), ("ZSTD", "zstd", 1.5e-3):
            foreign = bench.folder / f"foreign-{compression}"
            as_the_library_writes(graph, foreign, compression)
            neighbours(bench, f"{name} files as the C++ library writes them, with page index", foreign, target)
            shutil.rmtree(foreign)


def as_the_library_writes(graph: Path, foreign: Path, compression: str) -> None:
    """The graph with every chunk written by Arrow's C++ writer with its defaults, as the C++ library does."""
    shutil.copytree(graph, foreign)
    for path in foreign.rglob("chunk*"):
        if path.is_file():
            table = pq.read_table(pa.BufferReader(path.read_bytes()))
            pq.write_table(table, path, compression=compression, write_page_index=True, row_group_size=max(len(table), 1))


def neighbours(bench: Bench, name: str, graph: Path, target: float) -> None:
    """Neighbours of random vertices, compared with the published library on the same files."""
    found = bench.measure("graph-neighbours", graph, bench.sizes.lookups)
    full = found["with_properties"]
    theirs = peer_neighbours(graph, found["first"][: bench.sizes.peer_lookups])
    bench.add(
        f"neighbours of a random vertex, warm p50, {name}",
        f"≤ {target * 1e6:,.0f} µs",
        f"with the property {full['p50'] * 1e6:.1f} µs (p99 {full['p99'] * 1e6:.0f} µs){theirs[0]}",
        full["p50"] <= target,
        f"{full['edges']} edges, targets add up to {full['sum']}{theirs[1]}",
    )


def peer_neighbours(graph: Path, first: list[tuple[int, int, int]]) -> tuple[str, str]:
    """The published library's time for a look-up, and whether its results equal ours. Its iterators do not know their
    end, so it gets the number of edges of each vertex."""
    if graphar is None:
        return "", ""
    (file,) = graph.glob("*.graph.yml")
    info = graphar.GraphInfo.load(str(file.resolve()))
    edges = graphar.EdgesCollection.Make(info, "person", "knows", "person", AdjListType.ordered_by_source)
    times, different = [], 0
    for vertex, count, total in first:
        start = time.perf_counter()
        found = edges.find_src(vertex, edges.begin())
        targets = [edge.destination() for edge in (next(found) for _ in range(count)) if edge.source() == vertex]
        times.append(time.perf_counter() - start)
        different += len(targets) != count or sum(targets) != total
    answers = "the same" if different == 0 else f"DIFFER for {different}"
    return f"; graphar wheel {statistics.median(times) * 1e3:.1f} ms", f"; the wheel's answers for {len(first)} are {answers}"


def draw(path: Path, nodes: int) -> None:
    """Writes a Linear text: nodes of one type, ten edges each, weights with two decimals."""
    dice = random.Random(nodes)
    with path.open("w") as file:
        for node in range(nodes):
            ends = sorted(dice.randrange(nodes) for _ in range(10))
            edges = " ".join(f"{node} {end} 0 0.{dice.randrange(1, 100):02}" for end in ends)
            file.write(f"-1 {node} 0 1.5 {edges}\n")


def deepgnn(bench: Bench) -> None:
    """DeepGNN's converter and ours convert the same texts to a binary; the bytes are compared."""
    sizes = bench.sizes
    binary, how = bench.folder / "binary", ["--to", "deepgnn", "--no-verify"]

    def ours(text: Path) -> tuple[float, float, float]:
        runs = []
        for _ in range(sizes.runs):
            shutil.rmtree(binary, ignore_errors=True)
            runs.append(bench.isomorph("convert", text, binary, *how))
        return tuple(statistics.median(values) for values in zip(*runs, strict=True))

    linear = bench.folder / "drawn.linear"
    draw(linear, sizes.deepgnn)
    seconds, processor, peak = ours(linear)
    bench.add(
        f"DeepGNN, Linear → binary, {sizes.deepgnn:,} nodes, {sizes.deepgnn * 10:,} edges, synced",
        "≤ 2.5 s, ≤ 400 MB",
        f"{seconds:.2f} s, {processor:.2f} s of processor time, {peak:.0f} MB (its converter reads no Linear)",
        seconds <= 2.5 and peak <= 400,
    )
    draw(linear, sizes.deepgnn_peer)
    if not DEEPGNN.is_file():
        print("SKIPPED: deepgnn-ge is not installed (`cargo xtask interop -k deepgnn` does it), its lines have no peer")
    for name in ("json", "tsv", "edgelist"):
        text, theirs = bench.folder / f"drawn.{name}", bench.folder / "theirs.deepgnn"
        bench.isomorph("convert", linear, text, *how)
        _, processor, _ = ours(text)
        measured, met, answers = f"{processor:.2f} s", None, ""
        if DEEPGNN.is_file():
            peers = []
            for _ in range(min(sizes.runs, 3)):
                shutil.rmtree(theirs, ignore_errors=True)
                words = [DEEPGNN, ROOT / "interop" / "deepgnn_tool.py", "convert", name, text, theirs, 1]
                peers.append(bench.run(list(map(str, words)))[1])
            times = statistics.median(peers) / max(processor, PROCESSOR_TICK)
            measured += f"; deepgnn-ge {statistics.median(peers):.1f} s: {times:.0f} ×"
            files = [{path.name: path.read_bytes() for path in made.iterdir() if path.is_file()} for made in (binary, theirs)]
            met, answers = times >= 40, f"{len(files[0])} files, {'the same bytes' if files[0] == files[1] else 'DIFFER'}"
        bench.add(
            f"  {name}, {sizes.deepgnn_peer:,} nodes, {sizes.deepgnn_peer * 10:,} edges, processor time, starting included",
            "≥ 40 × less",
            measured,
            met,
            answers,
        )
    draw(linear, sizes.deepgnn_large)
    shutil.rmtree(binary, ignore_errors=True)
    anew = bench.folder / "anew"
    for work, words in [("Linear → binary", [linear, binary]), ("binary → 3 partitions", [binary, anew, "--partitions", 3])]:
        resident = bench.resident("convert", *words, *how, "--memory", "512MiB")
        bench.add(
            f"  {sizes.deepgnn_large * 10:,} edges, {work}, with --memory 512MiB: anonymous and shared memory",
            "≤ 640 MiB",
            f"{resident:.0f} MiB" if resident else "not measured: this system does not say",
            resident <= 640 if resident else None,
        )


def forget(folder: Path) -> None:
    """Removes files from the system's cache, if possible, so that the next reader decides how they are cached."""
    for path in folder.iterdir() if hasattr(os, "posix_fadvise") else ():
        with path.open("r+b") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def sampling(bench: Bench) -> None:
    """The sampling engine and DeepGNN's, alternately, without its Python layer where possible."""
    nodes, with_features, batches = bench.sizes.sampling
    graph, features, shuffled = (bench.folder / name for name in ("sampled", "features", "shuffled"))
    bench.measure("sampling-make", nodes, nodes * 10, 0, graph, "sorted")
    bench.measure("sampling-make", with_features, with_features * 10, 128, features, "sorted")
    bench.measure("sampling-make", nodes, nodes * 10, 0, shuffled, "shuffled")
    for path in graph, features, shuffled:
        forget(path)
    bench.measure("sampling-run", graph, batches, 1, "sorted")
    if not DEEPGNN.is_file():
        print("SKIPPED: deepgnn-ge is not installed (`cargo xtask interop -k deepgnn` does it), its lines have no peer")
    ours: dict[tuple[Path, int], list[dict[str, Any]]] = {}
    theirs: dict[Path, list[dict[str, Any]]] = {}
    for _ in range(bench.sizes.runs):
        for path, more in (graph, []), (features, ["features"]):
            for threads in 1, THREADS:
                ours.setdefault((path, threads), []).append(bench.measure("sampling-run", path, batches, threads, "sorted"))
            if DEEPGNN.is_file():
                words = [DEEPGNN, ROOT / "benches" / "peer_sampling.py", path, batches, *more]
                done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True)
                theirs.setdefault(path, []).append(json.loads(done.stdout.splitlines()[-1]))

    def add(work: str, path: Path, name: str, times: float, answer: str = "") -> None:
        one, two = (statistics.median(run[f"{name}_us"] for run in ours[path, threads]) for threads in (1, THREADS))
        measured, met, answers = f"{one:.0f} µs; {THREADS} threads {two:.0f} µs", None, ""
        if path in theirs:
            key = f"{name}_c_us" if f"{name}_c_us" in theirs[path][0] else f"{name}_us"
            peer = statistics.median(run[key] for run in theirs[path])
            measured += f"; deepgnn-ge {peer:.0f} µs: {peer / one:.1f} ×"
            met = peer / one >= times
            if answer:
                same = ours[path, 1][0][answer] == theirs[path][0][answer]
                answers = "the same answer by the compatible generator" if same else "answers DIFFER"
        bench.add(f"  batches of 1024, one thread: {work}", f"≥ {times:g} × as fast", measured, met, answers)

    for path, order, size in (graph, "in order", nodes), (shuffled, "shuffled", nodes):
        run = bench.measure("sampling-run", path, 1, 1, "shuffled" if path == shuffled else "sorted")
        first, anew, keep = run["open_ms"], run["open_anew_ms"], run["open_keep_ms"]
        measured = f"{first:.1f} ms; without the file beside it {anew:.1f} ms, with writing it {keep:.1f} ms"
        bench.add(f"sampling: opening {size:,} nodes, {size * 10:,} edges, ids {order}", "≤ 50 ms", measured, first <= 50)
    add("ten neighbours by weight", graph, "weighted", 2, "neighbours")
    add("ten neighbours, evenly", graph, "uniform", 2)
    add("the same without replacement", graph, "without_replacement", 2)
    for work, name in (
        ("16,384 nodes, ten neighbours by weight", "weighted_many"),
        ("16,384 nodes, all neighbours", "full_many"),
        ("64 nodes, PageRank", "pagerank"),
    ):
        one, two = (statistics.median(run[f"{name}_us"] for run in ours[graph, threads]) for threads in (1, THREADS))
        measured = f"{one:.0f} µs; {THREADS} threads {two:.0f} µs: {one / two:.2f} ×"
        bench.add(f"  {work}, {THREADS} threads", "≥ 1.6 × as fast as one", measured, one / two >= 1.6)
    add("walks of five steps", graph, "walk", 10)
    add("walks of five steps, p = 0.5, q = 2", graph, "walk_biased", 10)
    add("128 floats of each node", features, "features", 4, "values")
    add("nodes by weight", graph, "nodes", 1)
    add("edges by weight", graph, "edges", 1)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--smoke", action="store_true", help="tiny data: whether it works, not how fast")
    options.add_argument("--only", choices=["nock", "edges", "annnet", "deepgnn", "sampling", "lake", "lift"], help="one part of it")
    options.add_argument("--large", action="store_true", help="of lake only 100,000,000 triples within 1 GiB, which take 30 GB of disk")
    options.add_argument("--folder", type=Path, help="where data is written; a temporary folder otherwise")
    chosen = options.parse_args()
    built = ROOT / "target" / "release"
    tool = Path(os.environ.get("ISOMORPH_BENCH_BIN", built / "isomorph-bench"))
    command = Path(os.environ.get("ISOMORPH_BIN", built / "isomorph"))
    for binary in tool, command:
        if not binary.is_file():
            sys.exit(f"{binary} is not built: `cargo xtask bench` builds it")
    for name, module in ("pyarrow", pa), ("pynock", pynock), ("graphar", graphar):
        if module is None:
            print(f"SKIPPED: {name} is not installed, its lines are left out")
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        bench = Bench(SMOKE if chosen.smoke else FULL, Path(folder), tool, command)
        triples = large if chosen.large else lambda bench: lake(bench, chosen.smoke)
        lifted = lambda bench: lift(bench, chosen.smoke)
        parts = (
            ("nock", nock), ("edges", edges), ("annnet", annnet), ("deepgnn", deepgnn), ("sampling", sampling),
            ("lake", triples), ("lift", lifted),
        )  # fmt: skip
        for name, part in parts:
            if chosen.only in (None, name):
                part(bench)
    differing = [line.work for line in bench.lines if "DIFFER" in line.answers]
    if differing:
        sys.exit(f"answers differ: {differing}")
    print("\n| work | target | measured | |\n|---|---|---|---|")
    for line in bench.lines:
        print(f"| {line.work.strip()} | {line.target} | {line.measured} | {MET[line.met]} |")


if __name__ == "__main__":
    main()
