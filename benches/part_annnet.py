"""annnet, compared with its own library."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from run import Bench

#: Resolution of processor times, in seconds: smaller times are 0.
PROCESSOR_TICK = 0.01
#: The environment of annnet, which needs other versions than the rest: that of `interop/test_annnet.py`.
ANNNET = Path(sys.prefix).parent / "interop-annnet-venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
PEER = Path(__file__).resolve().parent / "peer_annnet.py"


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def annnet(bench: Bench) -> None:
    """annnet, compared with its own library: both read the files that the library wrote, and write the same graph."""
    sizes = bench.sizes
    drawn, graph = bench.folder / "drawn", "{:,} vertices, {:,} edges, {:,} hyperedges".format(*sizes.annnet)
    made = bench.measure("annnet-make", *sizes.annnet, drawn, sizes.runs)
    packed = bench.measure("annnet-make", *sizes.annnet, bench.folder / "drawn.annnet", sizes.runs)
    peers, theirs = [], bench.folder / "theirs"
    for _ in range(sizes.annnet_runs if ANNNET.is_file() else 0):
        words = [ANNNET, PEER, drawn, theirs, bench.folder / "theirs.annnet"]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        peers.append(json.loads(done.stdout))
    if not peers:
        print("SKIPPED: annnet is not installed (`cargo xtask interop -k annnet` does it), its lines have no peer")
    source = theirs if peers else drawn
    read = bench.measure("annnet-read", source, sizes.runs)
    runs = [bench.isomorph("digest", source) for _ in range(sizes.runs)]
    _, digest, peak = (statistics.median(values) for values in zip(*runs, strict=True))

    def beside(ours: float, of: Callable[[Any], float]) -> tuple[str, float | None]:
        """The processor seconds of the library for the same work, and the ratio."""
        if not peers:
            return "", None
        other = statistics.median(of(peer) for peer in peers)
        times = other / max(ours, PROCESSOR_TICK)
        return f"; annnet {other:.1f} s: {times:.0f} ×", times

    text, times = beside(read["processor"], lambda peer: peer["read"]["processor"])
    found, other = read["answer"], peers[0]["answer"] if peers else {}
    count = {"nodes": found["nodes"], "edges": found["edges"] + found["hyperedges"]}
    bench.add(
        f"annnet, {graph}: full read, processor time",
        "≥ 60 × less",
        f"{read['processor']:.2f} s{text}",
        times and times >= 60,
        f"{count} and {other}{' DIFFER' if other and other != count else ''}",
    )
    text, _ = beside(digest, lambda peer: peer["read"]["processor"])
    bench.add("  the same with a digest of everything, the whole process", "–", f"{digest:.2f} s{text}", None)
    theirs_peak = f", annnet {peers[0]['peak']:,.0f} MB" if peers else ""
    bench.add("  its peak memory", "≤ 300 MB", f"{peak:.0f} MB{theirs_peak}", peak <= 300)
    for at, (what, own) in enumerate([("directory", made), ("one zip file", packed)]):
        text, times = beside(own["processor"], lambda peer, at=at: peer["writes"][at]["processor"])
        bench.add(
            f"  writing it from memory, {what}, processor time",
            "≥ 30 × less",
            f"{own['processor']:.2f} s, of which drawing it {own['drawing']:.2f} s{text}",
            times and times >= 30,
        )
    converted = bench.folder / "converted"
    runs = []
    for _ in range(sizes.runs):
        shutil.rmtree(converted, ignore_errors=True)
        runs.append(bench.isomorph("convert", source, converted, "--to", "annnet"))
    seconds, processor, peak = (statistics.median(values) for values in zip(*runs, strict=True))
    text, _ = beside(processor, lambda peer: peer["read"]["processor"] + peer["writes"][0]["processor"])
    measured = f"{processor:.2f} s{text}; {seconds:.2f} s by the clock, {peak:.0f} MB"
    bench.add("  annnet → annnet, read back and compared, processor time", "–", measured, None)
    own, other = size_of(converted), size_of(theirs) if peers else 0
    bench.add("  size on disk", "≤ annnet's", f"{own / 1e6:.1f} MB, annnet {other / 1e6:.1f} MB", not peers or own <= other)
    look_ups(bench, converted)
    appends(bench, converted)
    large(bench)


def look_ups(bench: Bench, graph: Path) -> None:
    """The edges of random nodes, with and without the look-up views."""
    cached = bench.folder / "cached"
    runs = [bench.isomorph("convert", graph, cached, "--to", "annnet", "--cache", "--no-verify")]
    found = bench.measure("annnet-neighbours", cached, bench.sizes.lookups)
    plain = bench.measure("annnet-neighbours", graph, min(bench.sizes.lookups, 20))
    out, into = found["out"], found["in"]
    same = found["first"][:20] == plain["first"][:20]
    size = size_of(cached / "cache") / 1e6
    bench.add(
        "  edges of a random node with cache/csr.zarr, warm p50, all attributes",
        "≤ 200 µs",
        f"{out['p50'] * 1e6:.0f} µs out (p99 {out['p99'] * 1e6:.0f} µs), {into['p50'] * 1e6:.0f} µs in; "
        f"without it {plain['out']['p50'] * 1e3:.0f} ms; the cache takes {size:.1f} MB and {runs[0][1]:.1f} s to write with the graph",
        out["p50"] <= 200e-6,
        f"{out['edges']} and {into['edges']} edges, {'the same without the cache' if same else 'DIFFER without the cache'}",
    )


def appends(bench: Bench, graph: Path) -> None:
    """Appends a thousand edges in place, in the layouts that support it."""
    vertices, count, _ = bench.sizes.annnet
    step, more = max(1, vertices // 97), 1_000
    table = bench.folder / "more.csv"
    rows = (f"new{at},v{at * step % vertices:07},v{(at * 31 + 7) % vertices:07},{at / 8}\n" for at in range(more))
    table.write_text("id,source,target,weight\n" + "".join(rows))
    # In the layout of the specification, the table of each fact grows, and the incidence matrix.
    for layout in ("v2", "1.1"):
        grown = bench.folder / f"grown-{layout}"
        bench.isomorph("convert", graph, grown, "--to", "annnet", "--layout", layout, "--no-verify")
        before = {path: path.stat().st_ino for path in grown.rglob("*") if path.is_file()}
        edges = bench.measure("annnet-read", grown, 1)["answer"]["edges"]
        words = [bench.command, "extend", grown, "--edges", table, "--json"]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        told = json.loads(done.stdout)
        # The printed size is that of new or changed files, not of renamed ones.
        kept = set(before.values())
        new = [path.stat() for path in grown.rglob("*") if path.is_file() and "_isomorph" not in path.parts]
        found = sum(own.st_size for own in new if own.st_ino not in kept)
        added = bench.measure("annnet-read", grown, 1)["answer"]["edges"] - edges
        share = told["bytes"] / told["graph_bytes"]
        sound = added == more and found == told["bytes"]
        bench.add(
            f"annnet, layout {layout}: append {more:,} edges to {count:,}: bytes written",
            "≤ 5 % of the graph",
            f"{told['bytes'] / 1e3:,.0f} KB of {told['graph_bytes'] / 1e6:.1f} MB: {share:.2%}, {told['files']} files; {told['seconds']:.2f} s",
            share <= 0.05,
            f"{added:,} edges more, {found:,} bytes in new files{'' if sound else ' DIFFER'}",
        )


def large(bench: Bench) -> None:
    """A large graph within a small memory budget."""
    large, copy = bench.folder / "large", bench.folder / "large-copy"
    bench.measure("annnet-make", *bench.sizes.annnet_large, large, 1)
    for work, words in [("digest", ["digest", large]), ("annnet → annnet", ["convert", large, copy, "--to", "annnet"])]:
        resident = bench.resident(*words, "--memory", "512MiB")
        bench.add(
            f"annnet, {bench.sizes.annnet_large[1]:,} edges, {work} with --memory 512MiB: anonymous and shared memory",
            "≤ 640 MiB",
            f"{resident:.0f} MiB" if resident else "not measured: this system does not say",
            resident <= 640 if resident else None,
        )
