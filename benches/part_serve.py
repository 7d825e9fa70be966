"""The DeepGNN server beside the published one: processor time for a request, calls of the stock client, start, memory; clients that come
and go for ten minutes; and a server that is killed and started again under load.

    python benches/part_serve.py COMMAND PYTHON [--nodes 1000000] [--runs 7] [--requests 2000] [--soak 600] [--kills 5]
    python benches/part_serve.py COMMAND PYTHON --smoke     the same work on tiny data: whether it works, not how fast

COMMAND is `isomorph` built with the feature `serve`; PYTHON is an interpreter with deepgnn-ge 0.1.66, for example that of
`cargo xtask interop -k deepgnn`. It makes a graph, converts it, and prints every figure as a table. Both servers serve the same files, in
turns; medians of the runs are printed. Processor times are those of the server's process. The machine should be idle; a million nodes need
2 GB of disk (`--folder`) and about an hour. `--graph` keeps the binary for later runs with the same number of nodes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CLIENT = ROOT / "interop" / "deepgnn_client.py"
TICK = 1 / os.sysconf("SC_CLK_TCK")
#: Nodes of a request, neighbours drawn for each, floats of each.
BATCH, NEIGHBORS, FLOATS = 1024, 10, 64


def text(path: Path, nodes: int) -> None:
    """An edge list: nodes of one type with 64 floats, ten edges each, weights of two decimals."""
    dice = random.Random(nodes)
    numbers = [f"0.{dice.randrange(1000):03}" for _ in range(256)]
    with path.open("w") as file:
        for node in range(nodes):
            floats = ",".join([numbers[byte] for byte in dice.randbytes(FLOATS)])
            file.write(f"{node},-1,0,1.0,float32,{FLOATS},{floats}\n")
            for end in sorted(dice.randrange(nodes) for _ in range(10)):
                file.write(f"{node},0,{end},0.{dice.randrange(1, 100):02}\n")


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: bytes | int) -> bytes:
    """A field of a protobuf message: bytes, or a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def recordings(folder: Path, nodes: int) -> dict[str, Path]:
    """Requests as `isomorph bench serve --recording` takes them: sixteen of each kind."""
    dice = random.Random(7)
    kinds: dict[str, list[tuple[str, bytes]]] = {"weighted 1024 × 10": [], "features 1024 × 64": [], "features 1024 × 128": [], "neighbours 1024 (a step of a walk)": []}
    for seed in range(16):
        ids = b"".join(varint(dice.randrange(nodes)) for _ in range(BATCH))
        weighted = field(1, seed) + field(2, ids) + field(3, varint(0)) + field(7, NEIGHBORS)
        kinds["weighted 1024 × 10"].append(("WeightedSampleNeighbors", weighted))
        # Of the second half, no node has anything: both servers fill it with zeros.
        for floats in FLOATS, 2 * FLOATS:
            size = field(1, 0) + field(2, 4 * floats)
            kinds[f"features 1024 × {floats}"].append(("GetNodeFeatures", field(1, ids) + field(2, size)))
        kinds["neighbours 1024 (a step of a walk)"].append(("GetNeighbors", field(1, ids) + field(2, varint(0))))
    paths = {}
    for at, (kind, calls) in enumerate(kinds.items()):
        document = [{"service": "snark.GraphEngine", "method": method, "request_hex": message.hex()} for method, message in calls]
        paths[kind] = folder / f"recording-{at}.json"
        paths[kind].write_text(json.dumps({"calls": document}))
    return paths


def processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def resident(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


@contextmanager
def started(words: list[str], ready: str) -> Iterator[tuple[int, str, float]]:
    """A server: its process, the line that it prints when it is ready, and the seconds until then."""
    start = time.perf_counter()
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        assert running.stdout is not None
        try:
            line = running.stdout.readline()
            if ready not in line:
                sys.exit(f"{' '.join(words)} did not start")
            yield running.pid, line, time.perf_counter() - start
        finally:
            running.send_signal(signal.SIGKILL)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def measured(command: Path, python: Path, pid: int, address: str, files: dict[str, Path], requests: int, nodes: int) -> dict[str, Any]:
    """What one server does: each kind of request on 1 and on 64 connections, and the work of a trainer."""
    told: dict[str, Any] = {}
    for kind, path in files.items():
        for connections in 1, 64:
            words = [command, "bench", "serve", address, "--recording", path, "--json", "--seconds", 600]
            words += ["--requests", requests, "--connections", connections]
            used = processor(pid)
            done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{address}: {done.stdout}{done.stderr}")
            answer = json.loads(done.stdout)
            milliseconds = 1000 * (processor(pid) - used) / answer["requests"]
            told[f"{kind}, {connections} connections"] = (milliseconds, answer["requests_per_second"], answer["latency"]["p99"])
    calls = max(requests // 10, 20)
    words = [python, CLIENT, "speed", address, nodes, 1, 0, calls, pid]
    done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    told["client"] = json.loads(done.stdout.splitlines()[-1])
    told["resident"] = resident(pid)
    return told


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("command", type=Path)
    options.add_argument("python", type=Path)
    options.add_argument("--nodes", type=int, default=1_000_000, help="with ten edges and 64 floats each")
    options.add_argument("--runs", type=int, default=7)
    options.add_argument("--requests", type=int, default=2000, help="of each kind, in each run")
    options.add_argument("--soak", type=float, default=600, help="seconds that clients come and go; 0: not at all")
    options.add_argument("--kills", type=int, default=5, help="how often the server is killed under load; 0: not at all")
    options.add_argument("--folder", type=Path, help="where data is written; a temporary folder otherwise")
    options.add_argument("--graph", type=Path, help="the binary: used if it exists, otherwise made")
    options.add_argument("--smoke", action="store_true")
    chosen = options.parse_args()
    nodes, runs, requests = (2_000, 1, 200) if chosen.smoke else (chosen.nodes, chosen.runs, chosen.requests)
    soak, kills = (3, 1) if chosen.smoke else (chosen.soak, chosen.kills)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        source, graph = folder / "graph.edgelist", chosen.graph or folder / "graph"
        if not graph.exists():
            text(source, nodes)
            made = [chosen.command, "convert", source, graph, "--to", "deepgnn", "--from", "deepgnn"]
            subprocess.run(list(map(str, made)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
            source.unlink()
        files = recordings(folder, nodes)
        own = [str(chosen.command), "serve", "deepgnn", str(graph), "--address", "127.0.0.1:0", "--json"]
        ours = {"isomorph, the same draws": own, "isomorph, --generator stable": [*own, "--generator", "stable"]}
        told: dict[str, list[dict[str, Any]]] = {}
        for _ in range(runs):
            port = free_port()
            theirs = [str(chosen.python), str(CLIENT), "serve", str(graph), "0", str(port)]
            for server, words in {"published": theirs, **ours}.items():
                with started(words, "ready" if words is theirs else "address") as (pid, line, seconds):
                    address = f"127.0.0.1:{port}" if words is theirs else json.loads(line)["address"]
                    answer = measured(chosen.command, chosen.python, pid, address, files, requests, nodes)
                    told.setdefault(server, []).append({**answer, "ready": seconds})
        size = sum(file.stat().st_size for file in graph.rglob("*")) / 1e6
        print(f"{nodes} nodes, {10 * nodes} edges, {FLOATS} floats of each node: a binary of {size:.0f} MB; medians of {runs}\n")
        if runs:
            show(told)
        if soak:
            visited(chosen.command, chosen.python, graph, soak, 2 if chosen.smoke else 10)
        if kills:
            killed(chosen.command, chosen.python, graph, kills)


def killed(command: Path, python: Path, graph: Path, times: int) -> None:
    """A server that is killed again and again while clients draw, and started at the same address. The clients retry as they do on their own:
    one that gives up, or gets another answer, is a failure. Afterwards the files are what they were."""

    def files() -> dict[str, str]:
        return {str(file.relative_to(graph)): hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(graph.rglob("*")) if file.is_file()}

    before, address = files(), f"127.0.0.1:{free_port()}"
    words = [str(command), "serve", "deepgnn", str(graph), "--address", address, "--json"]
    with started(words, "address"):
        asked = [python, CLIENT, "patient", address, 500 * times]
        trainers = [subprocess.Popen(list(map(str, asked)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(4)]
        for trainer in trainers:
            assert trainer.stdout is not None
            trainer.stdout.readline()
    for _ in range(times - 1):
        with started(words, "address"):
            # Connections that do not retry: they have requests in progress when it is killed.
            load = [command, "bench", "serve", address, "--connections", 60, "--seconds", 60]
            loading = subprocess.Popen(list(map(str, load)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(3)
        loading.kill()
        loading.wait()
    with started(words, "address"):
        failed = sum(not trainer.communicate()[0].strip() or trainer.returncode != 0 for trainer in trainers)
    same = "unchanged" if files() == before else "CHANGED"
    print(f"\nkilled {times} times under load · {failed} of {len(trainers)} clients gave up · files {same}")


def visited(command: Path, python: Path, graph: Path, seconds: float, parts: int) -> None:
    """Clients that come and go: stock clients in four processes, each of which makes one after another, and sixty connections of
    `bench serve`, made anew every few seconds. Prints the memory of our server after each part of the time, and what is left in the end."""
    words = [str(command), "serve", "deepgnn", str(graph), "--address", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--json"]
    with started(words, "address") as (pid, line, _):
        document, memory, failed, calls = json.loads(line), [], 0, 0
        for _ in range(parts):
            end = time.monotonic() + seconds / parts
            visit = [python, CLIENT, "visit", document["address"], seconds / parts]
            visitors = [subprocess.Popen(list(map(str, visit)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(4)]
            while time.monotonic() < end:
                load = [command, "bench", "serve", document["address"], "--connections", 60, "--json", "--seconds", max(1, min(5, round(seconds / 20)))]
                done = subprocess.run(list(map(str, load)), stdin=subprocess.DEVNULL, capture_output=True, text=True)
                failed += done.returncode != 0
                calls += json.loads(done.stdout)["requests"] if done.returncode == 0 else 0
            for visitor in visitors:
                told, _ = visitor.communicate()
                failed += visitor.returncode != 0 or not told.strip()
            memory.append(resident(pid))
        text = urllib.request.urlopen(f"http://{document['metrics']}/metrics").read().decode()
        lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        refused = sum(int(value) for name, value in lines.items() if name.startswith("isomorph_requests_total") and 'code="OK"' not in name)
        print(f"\n64 clients that come and go for {seconds:.0f} s · {calls} requests of `bench serve` · {failed} clients failed · {refused} requests not answered with success")
        print("resident memory, MiB, after each part:", " ".join(f"{megabytes:.1f}" for megabytes in memory))
        print(f"growth from the second part to the last: {100 * (memory[-1] / memory[1] - 1):.1f} %")
        names = "isomorph_connections", "isomorph_requests_running", 'isomorph_samplers{state="kept"}', 'isomorph_samplers{state="remembered"}'
        print("left:", " · ".join(f"{name} {lines[name]}" for name in names), "(at most 64 samplers are kept for the next client)")


def show(told: dict[str, list[dict[str, Any]]]) -> None:
    servers = list(told)
    print(f"| milliseconds of processor time per request · requests/s · p99 in ms | {' | '.join(servers)} |")
    print("|---" * (len(servers) + 1) + "|")

    def row(name: str, cell: Any) -> None:
        print(f"| {name} | {' | '.join(cell(told[server]) for server in servers)} |")

    def middle(values: Any) -> float:
        return statistics.median(values)

    for kind in [kind for kind in told[servers[0]][0] if "connections" in kind]:
        row(kind, lambda runs, kind=kind: " · ".join(f"{middle(run[kind][at] for run in runs):.3g}" for at in range(3)))
    for kind in told[servers[0]][0]["client"]:
        row(
            f"stock client: {kind}, calls/s · ms of processor time · p50 · p99 in ms",
            lambda runs, kind=kind: " · ".join(f"{middle(run['client'][kind][at] for run in runs):.3g}" for at in range(4)),
        )
    row("ready after start, ms", lambda runs: f"{1000 * middle(run['ready'] for run in runs):.0f}")
    row("resident memory, MiB", lambda runs: f"{middle(run['resident'] for run in runs):.0f}")


if __name__ == "__main__":
    main()
