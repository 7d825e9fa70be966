"""GraphLake, compared with pyoxigraph: loading, size, look-ups, dumps, small transactions."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from run import Bench

try:
    import pyoxigraph
except ImportError:
    pyoxigraph = None

PEER = Path(__file__).resolve().parent / "peer_lake.py"

#: Triples loaded without and with the peer; look-ups; files of the transactions, and triples in each; runs.
FULL = (10_000_000, 4_000_000, 2_000, (20, 1_000, 1_000), 3)
SMOKE = (6_000, 3_000, 20, (2, 40, 5), 1)
#: The large load and its budget.
LARGE = 100_000_000


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def middle(runs: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Medians of seconds, processor seconds and megabytes."""
    seconds, processor, peak = (statistics.median(values) for values in zip(*runs, strict=True))
    return seconds, processor, peak


def load(bench: Bench, text: Path, store: Path, *flags: str) -> tuple[float, float, float]:
    shutil.rmtree(store, ignore_errors=True)
    return bench.isomorph("lake", "load", store, text, *flags)


def peer(*arguments: object) -> dict[str, Any]:
    words = [sys.executable, str(PEER), *map(str, arguments)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def count_of(bench: Bench, store: Path) -> int:
    """The number of distinct triples of a store that was loaded once."""
    words = [str(bench.command), "lake", "log", str(store), "--json"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    (only,) = json.loads(done.stdout)
    return only["triples"]


def lake(bench: Bench, smoke: bool) -> None:
    """Runs all measurements of GraphLake."""
    alone, beside, look_ups, transactions, runs = SMOKE if smoke else FULL
    if pyoxigraph is None:
        print("SKIPPED: pyoxigraph is not installed, its lines are left out")
    for predicates in 12, 200:
        text = bench.folder / "alone.nt"
        made = bench.measure("triples-make", alone, predicates, text)
        own(bench, text, made, predicates, runs)
        text.unlink()
        shutil.rmtree(bench.folder / "own.lake")
        text = bench.folder / "beside.nt"
        made = bench.measure("triples-make", beside, predicates, text)
        both(bench, text, made, predicates, look_ups, runs)
        text.unlink()
    commits, files, triples = transactions
    made = bench.measure("lake-commit", files, triples, bench.folder / "commits.lake", commits)
    bench.add(
        f"a durable transaction of one triple, {files:,} files of {triples:,} triples",
        "≤ 40 ms",
        f"{made['median_seconds'] * 1e3:.1f} ms, at worst {made['worst_seconds'] * 1e3:.1f} ms",
        made["median_seconds"] <= 0.04,
    )


def own(bench: Bench, text: Path, made: dict[str, Any], predicates: int, runs: int) -> None:
    """Loads with and without filters of ids, in turns."""
    store, triples = bench.folder / "own.lake", made["triples"]
    with_ids, without = [], []
    for _ in range(runs):
        without.append(load(bench, text, store, "--no-id-filters"))
        with_ids.append(load(bench, text, store))
    shutil.rmtree(store)
    resident = bench.resident("lake", "load", store, text)
    what = f"bulk load, {triples:,} triples of {predicates} predicates"
    for name, measured, target in ("", with_ids, 500_000), (", without filters of ids", without, 1_000_000):
        seconds, processor, peak = middle(measured)
        rate = triples / seconds
        bench.add(
            f"{what}{name}",
            f"≥ {target:,} triples/s",
            f"{seconds:.2f} s: {rate / 1e3:,.0f} k triples/s; processor time {processor:.2f} s; {peak:,.0f} MB, mapped files included",
            rate >= target,
        )
    if resident is not None:
        bench.add("  memory that is no file's", "≤ 1,000 MB", f"{resident:,.0f} MB", resident <= 1_000)
    size, literal = size_of(store), made["bytes_of_a_literal"]
    bench.add(
        f"  size, texts of literals {literal:.0f} bytes on average",
        "≤ the text",
        f"{size / 1e6:,.0f} MB, text {made['bytes'] / 1e6:,.0f} MB: {size / made['bytes']:.2f} ×",
        size <= made["bytes"],
    )
    out = bench.folder / "own.nq"
    writes = []
    for _ in range(runs):
        out.unlink(missing_ok=True)
        writes.append(bench.isomorph("convert", store, out, "--no-verify"))
    seconds, processor, peak = middle(writes)
    rate = triples / seconds
    measured = f"{seconds:.2f} s: {rate / 1e6:.2f} M triples/s; processor time {processor:.2f} s; {peak:,.0f} MB"
    bench.add("  written out as N-Quads", "≥ 2 M triples/s", measured, rate >= 2e6)
    out.unlink()


def both(bench: Bench, text: Path, made: dict[str, Any], predicates: int, look_ups: int, runs: int) -> None:
    """The same with pyoxigraph, alternately; results are compared."""
    store, other, triples = bench.folder / "ours.lake", bench.folder / "theirs", made["triples"]
    ours, plain, theirs = [], [], []
    for _ in range(runs):
        plain.append(load(bench, text, store, "--no-id-filters"))
        ours.append(load(bench, text, store))
        if pyoxigraph is not None:
            shutil.rmtree(other, ignore_errors=True)
            theirs.append(peer("load", text, other))
    keys, dump, own_dump = (bench.folder / name for name in ("keys.json", "theirs.nq", "ours.nq"))
    found = bench.measure("triples-look-ups", store, triples, look_ups)
    keys.write_text(json.dumps(found["keys"]))
    own_runs = []
    for _ in range(runs):
        own_dump.unlink(missing_ok=True)
        own_runs.append(bench.isomorph("convert", store, own_dump, "--no-verify"))
    (seconds, processor, _), (plain_seconds, plain_processor, _) = middle(ours), middle(plain)
    work = f"{triples:,} triples of {predicates} predicates beside pyoxigraph"
    count = count_of(bench, store)
    asked: dict[str, Any] = {}
    if theirs:
        asked = peer("ask", other, keys, dump)
        peer_seconds, peer_processor = (statistics.median(run[name] for run in theirs) for name in ("seconds", "processor"))
        differ = "" if count == theirs[0]["triples"] else " DIFFER"
        bench.add(
            f"bulk load, {work}",
            "≥ 4 × Store.bulk_load",
            f"{seconds:.2f} s, pyoxigraph {peer_seconds:.2f} s: {peer_seconds / seconds:.1f} ×; processor time {processor:.1f} and "
            f"{peer_processor:.1f} s; without filters of ids {plain_seconds:.2f} s, {peer_seconds / plain_seconds:.1f} ×, {plain_processor:.1f} s",
            peer_seconds >= 4 * seconds,
            f"{count:,} and {theirs[0]['triples']:,} triples{differ}",
        )
        size, peer_size = size_of(store), size_of(other)
        measured = f"{size / 1e6:,.0f} MB, pyoxigraph {peer_size / 1e6:,.0f} MB: {size / peer_size:.2f} ×"
        bench.add("  size on disk", "≤ 0.65 × pyoxigraph's", measured, size <= 0.65 * peer_size)
        own_seconds, own_processor, _ = middle(own_runs)
        # Both are canonical if no text has an escape; the orders differ.
        same = sorted(own_dump.open("rb")) == sorted(dump.open("rb"))
        theirs_dump = asked["dump"]
        bench.add(
            "  written out as N-Quads",
            "≥ 2 M triples/s",
            f"{count / own_seconds / 1e6:.2f} M triples/s, pyoxigraph {count / theirs_dump['seconds'] / 1e6:.2f}; "
            f"processor time {own_processor:.1f} and {theirs_dump['processor']:.1f} s",
            count / own_seconds >= 2e6,
            f"the lines {'are the same' if same else 'DIFFER'}",
        )
    targets = [
        ("subject_predicate", "by subject and predicate", 50e-6),
        ("object_predicate", "by object and predicate", 50e-6),
        ("subject", f"by subject, {predicates} predicates", 2e-3),
        ("id", "by id", 1e-3),
    ]
    for name, what, target in targets:
        own_found, peer_found = found[name], asked.get(name)
        text_of_peer = f", pyoxigraph {peer_found['p50'] * 1e6:.0f} µs by way of Python" if peer_found else ""
        differ = peer_found is not None and peer_found["found"] != own_found["found"]
        beside_it = f" and {peer_found['found']:,}" if peer_found else ""
        bench.add(
            f"  look-up {what}, warm p50",
            f"≤ {target * 1e6:,.0f} µs",
            f"{own_found['p50'] * 1e6:.0f} µs (p99 {own_found['p99'] * 1e6:.0f} µs){text_of_peer}",
            own_found["p50"] <= target,
            f"{own_found['found']:,} triples{beside_it}{' DIFFER' if differ else ''}",
        )
    scans(bench, store, triples, runs)
    for path in store, other:
        shutil.rmtree(path, ignore_errors=True)
    for path in keys, dump, own_dump:
        path.unlink(missing_ok=True)


def scans(bench: Bench, store: Path, triples: int, runs: int) -> None:
    """Queries on one thread and on two, alternately; and the commands `match --count` and `validate`."""

    def add(work: str, one: dict[str, float], two: dict[str, float], answers: str = "") -> None:
        measured = (
            f"one thread {one['seconds']:.2f} s, two {two['seconds']:.2f} s: {one['seconds'] / max(two['seconds'], 1e-9):.2f} ×; "
            f"processor time {one['processor']:.2f} and {two['processor']:.2f} s"
        )
        bench.add(f"  {work}", "all cores", measured, None, answers)

    found = bench.measure("triples-scans", store, triples, runs, 2)
    for name, work in (
        ("scan", "all triples of a predicate"),
        ("count", "their number"),
        ("batch", "a batch of 100,000 subjects and a predicate"),
        ("join", "a join of two patterns by their subjects"),
    ):
        one, two = found[name]["one"], found[name]["more"]
        differ = "" if one["rows"] == two["rows"] else f" and {two['rows']:,} DIFFER"
        add(work, one, two, f"{one['rows']:,} rows{differ}")
    for work, words in (
        ("`match '?x _ ?x' --count`, which reads everything", ("match", store, "?x _ ?x", "--count")),
        ("`validate`", ("validate", store)),
    ):
        timed: dict[int, list[tuple[float, float, float]]] = {1: [], 2: []}
        for _ in range(runs):
            for threads, taken in timed.items():
                taken.append(bench.isomorph(*words, "--threads", threads))
        sides = [dict(zip(("seconds", "processor"), middle(taken)[:2], strict=True)) for taken in timed.values()]
        add(work, *sides)


def large(bench: Bench, triples: int = LARGE) -> None:
    """A hundred million triples within 1 GiB. The text takes 9 GB, the work four times as much."""
    text, store = bench.folder / "large.nt", bench.folder / "large.lake"
    bench.measure("triples-make", triples, 200, text)
    resident = bench.resident("lake", "load", store, text, "--memory", "1GiB")
    text.unlink()
    count = count_of(bench, store)
    measured = f"{resident or 0:,.0f} MiB, {size_of(store) / 1e9:.1f} GB on disk"
    work = f"{triples:,} triples of 200 predicates within 1 GiB: memory that is no file's"
    bench.add(work, "≤ 1,229 MiB", measured, resident is not None and resident <= 1_229, f"{count:,} triples")
    shutil.rmtree(store)
