"""The stock client of deepgnn-ge 0.1.66 gets the same answers from our server as from the published one, over the same binary."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph
from deepgnn_servers import FIXTURES, HERE, client, free_port, ours, theirs
from environments import python_with

HETERO = {
    "nodes": [10, 11, 99, 13, 1 << 40, 4611686018427387909, 12, 10, -1, 0],
    "edges": [[10, 11, 0], [10, 13, 0], [10, 11, 2], [13, 10, 0], [1 << 40, 10, 1], [99, 10, 0], [11, 99, 0], [10, 11, 1]],
    "edge_types": 3,
    "node_features": [0, 1, 2, 3, 4, 5, 50],
    "edge_features": [0, 1, 2, 9],
    "sparse": [[0, 3], [1, 3], [2, 3], [4, 3], [0, 6]],
    "sparse_edges": [[2, 2], [0, 2], [5, 2]],
    "seeds": [1, 7, -5],
    "count": 4,
}

KARATE = {
    "nodes": [*range(34), 7, 99],
    "edges": [[0, 1, 0], [1, 0, 0], [33, 32, 0], [5, 33, 0], [0, 31, 0]],
    "edge_types": 1,
    "node_features": [0, 1, 2],
    "edge_features": [0],
    "sparse": [],
    "sparse_edges": [],
    "seeds": [0, 3, 12345],
    "count": 10,
}


@pytest.fixture(scope="session")
def deepgnn() -> Path:
    """An interpreter with deepgnn-ge."""
    return python_with("deepgnn", "requirements-deepgnn.txt")


@pytest.fixture(scope="session")
def server(isomorph: Isomorph) -> Isomorph:
    """The command built with the server: the same build as for object stores."""
    return isomorph


def same(python: Path, questions: Path, left: list[str], right: list[str], scattered: bool) -> None:
    """Fails unless the client gets the same answers from both. It merges weighted samples of nodes from several servers in the order of the
    replies, so the order can differ between runs with the same servers, too."""
    told = [json.loads(client(python, "ask", ",".join(servers), questions)) for servers in (left, right)]
    assert told[0].keys() == told[1].keys()
    if len(left) > 1:
        # The client may request more from one server than it has: theirs leaves zeros in the remaining positions, ours writes −1.
        [answer.pop("all nodes") for answer in told]
    names = [name for name in told[0] if not (scattered and name.startswith("weighted"))]
    assert not {name: (told[0][name], told[1][name]) for name in names if told[0][name] != told[1][name]}


@pytest.mark.parametrize(
    ("name", "asked", "parts"),
    [
        ("hetero/bin_linear_p1", HETERO, ["0"]),
        ("hetero/bin_linear_p3", HETERO, ["0,1,2"]),
        ("hetero/bin_edgelist_p3", HETERO, ["0,1,2"]),
        ("hetero/bin_linear_p3", HETERO, ["0", "1", "2"]),
        ("hetero/bin_edgelist_p3", HETERO, ["2", "0,1"]),
        ("karate/bin_linear_p1", KARATE, ["0"]),
        ("karate/bin_edgelist_p3", KARATE, ["0", "1,2"]),
    ],
)
def test_one_answer(deepgnn: Path, server: Isomorph, tmp_path: Path, name: str, asked: dict[str, Any], parts: list[str]) -> None:
    """Everything that the client can request and that the published server answers reproducibly: from ours, theirs, and both together."""
    directory, questions = FIXTURES / name, tmp_path / "questions.json"
    questions.write_text(json.dumps(asked))
    with ExitStack() as stack:
        published = [stack.enter_context(theirs(deepgnn, directory, part)) for part in parts]
        own = [stack.enter_context(ours(server, directory, "--partitions", part)) for part in parts]
        scattered = len(parts) > 1 and "edgelist" in name
        same(deepgnn, questions, published, own, scattered)
        if len(parts) > 1:
            mixed = [own[at] if at % 2 else published[at] for at in range(len(parts))]
            same(deepgnn, questions, published, mixed, scattered)


# Node, −1, type, weight, times, a feature; source, type, target, weight, times of creation and removal, a feature of an edge. The published
# server crashes if features of edges are requested and no edge has any.
TEMPORAL = """\
0,-1,0,1.0,0,-1,float32,1,0.5
0,0,1,0.5,1,5,float32,1,0.5
0,0,2,0.25,3,-1,float32,1,0.5
0,0,3,1.0,7,-1,float32,1,0.5
0,1,4,2.0,2,9,float32,1,0.5
1,-1,0,1.0,0,-1,float32,1,0.5
1,0,0,0.5,4,-1,float32,1,0.5
1,1,2,1.5,6,-1,float32,1,0.5
2,-1,0,1.0,0,-1,float32,1,0.5
3,-1,0,1.0,0,-1,float32,1,0.5
3,0,1,1.0,1,2,float32,1,0.5
4,-1,0,1.0,0,-1,float32,1,0.5
"""


@pytest.mark.parametrize("parts", [["0"], ["0,1"], ["0", "1"]])
def test_at_times(deepgnn: Path, server: Isomorph, isomorph: Isomorph, tmp_path: Path, parts: list[str]) -> None:
    """Neighbours that exist at a time, with the times of their edges, and the latest of them. Not when an edge is removed at exactly that
    time: the published server then returns it among the latest."""
    text, questions, binary = tmp_path / "graph.edgelist", tmp_path / "questions.json", tmp_path / "binary"
    text.write_text(TEMPORAL)
    partitions = 2 if "1" in parts[-1] else 1
    isomorph.convert(text, binary, "--to", "deepgnn", "--temporal", "--watermark", "10", "--partitions", partitions)
    empty = {"sparse": [], "sparse_edges": [], "node_features": [0], "edge_features": [0], "seeds": []}
    asked = {**empty, "nodes": [0, 1, 2, 3, 4, 0, 77], "edges": [[0, 1, 0]], "edge_types": 2, "count": 2, "times": [0, 1, 3, 4, 6, 8, 20]}
    questions.write_text(json.dumps(asked))
    with ExitStack() as stack:
        published = [stack.enter_context(theirs(deepgnn, binary, part)) for part in parts]
        own = [stack.enter_context(ours(server, binary, "--partitions", part)) for part in parts]
        same(deepgnn, questions, published, own, scattered=False)


def test_any_format(deepgnn: Path, server: Isomorph, isomorph: Isomorph, tmp_path: Path) -> None:
    """A graph that is not a binary is served with its own neighbours, in every format alike."""
    graph = FIXTURES / "karate" / "bin_linear_p1"
    questions = tmp_path / "questions.json"
    questions.write_text(json.dumps({**KARATE, "node_features": [0], "edge_features": [0], "seeds": []}))
    exact = ["neighbors", "neighbor counts", "types", "all nodes", "evenly", "edges evenly"]
    told = []
    with ExitStack() as stack:
        published = stack.enter_context(theirs(deepgnn, graph, "0"))
        told.append(json.loads(client(deepgnn, "ask", published, questions)))
        for to, ending in (("nock", ".parq"), ("graphar", "")):
            copy = isomorph.convert(graph, tmp_path / f"karate-{to}{ending}", "--to", to)
            address = stack.enter_context(ours(server, copy))
            told.append(json.loads(client(deepgnn, "ask", address, questions)))
    for name in exact:
        for other in told[1:]:
            if name == "neighbors":
                # Weights of the published engine are differences of sums.
                assert [told[0][name][0], *told[0][name][2:]] == [other[name][0], *other[name][2:]]
                assert other[name][1] == pytest.approx(told[0][name][1], abs=1e-5)
            else:
                assert told[0][name] == other[name], name


def test_a_text_has_the_features_of_its_binary(deepgnn: Path, server: Isomorph, isomorph: Isomorph, tmp_path: Path) -> None:
    """Features have the ids of the format, whatever a graph is served from: a text, its binary, or a copy in another format."""
    text, questions, binary = tmp_path / "graph.edgelist", tmp_path / "questions.json", tmp_path / "binary"
    lines = [f"{node},-1,{node % 2},1.0,float32,3,{node},{node + 0.5},-1,float32,1,{node % 3}\n{node},0,{(node + 1) % 9},1.0,float32,1,{node}\n" for node in range(9)]
    text.write_text("".join(lines))
    isomorph.convert(text, binary, "--to", "deepgnn")
    copies = [isomorph.convert(text, tmp_path / name, "--to", to) for to, name in (("nock", "graph.parq"), ("graphar", "graphar"), ("annnet", "graph.annnet"))]
    empty = {"sparse": [], "sparse_edges": [], "seeds": []}
    asked = {**empty, "nodes": [0, 1, 2, 8], "edges": [[0, 1, 0], [8, 0, 0]], "node_features": [0, 1, 2], "edge_features": [0, 1], "edge_types": 1, "count": 2}
    questions.write_text(json.dumps(asked))
    with ExitStack() as stack:
        published = json.loads(client(deepgnn, "ask", stack.enter_context(theirs(deepgnn, binary, "0")), questions))
        assert len(set(map(str, published["dense"]))) > 1
        for path, *flags in [[text], [text, "--cache", tmp_path / "cache"], [binary], *[[copy] for copy in copies]]:
            own = json.loads(client(deepgnn, "ask", stack.enter_context(ours(server, path, *flags)), questions))
            for name in "dense", "dense of edges", "strings", "strings of edges":
                assert own[name] == published[name], (path, name)
            for name in "node_feature_count", "edge_feature_count":
                assert own["meta"].get(name) == published["meta"].get(name), (path, name)


def test_a_refused_call_is_an_error_and_the_server_goes_on(deepgnn: Path, server: Isomorph) -> None:
    """A count above the limit."""
    with ours(server, FIXTURES / "karate" / "bin_linear_p1") as address:
        assert client(deepgnn, "refused", address).splitlines() == ["refused Exception", "then 10"]


CERTIFICATES = HERE.parent / "crates" / "server" / "tests" / "certificates"


def test_over_tls(deepgnn: Path, server: Isomorph) -> None:
    """The stock client trusts a server by its certificate, and no other."""
    files = ["--tls-cert", CERTIFICATES / "server.pem", "--tls-key", CERTIFICATES / "server.key"]
    with ours(server, FIXTURES / "karate" / "bin_linear_p1", *files) as address:
        port = address.rsplit(":", 1)[1]
        assert client(deepgnn, "encrypted", f"localhost:{port}", CERTIFICATES / "authority.pem") == "34\n"


def test_a_client_goes_on_when_its_server_is_killed_and_started_again(deepgnn: Path, server: Isomorph) -> None:
    """By the client's own retries; its sampler is known to the new server."""
    graph, port = FIXTURES / "karate" / "bin_linear_p1", free_port()
    words = [str(server.binary), "serve", "deepgnn", str(graph), "--address", f"127.0.0.1:{port}", "--json", "--log", "off"]
    drawing = [str(deepgnn), str(HERE / "deepgnn_client.py"), "patient", f"127.0.0.1:{port}", "300"]
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
    with ExitStack() as stack:
        first = stack.enter_context(subprocess.Popen(words, **pipes))
        stack.callback(first.kill)
        assert first.stdout is not None and first.stdout.readline()
        trainer = stack.enter_context(subprocess.Popen(drawing, **pipes, stderr=subprocess.PIPE))
        stack.callback(trainer.kill)
        assert trainer.stdout is not None and trainer.stderr is not None
        assert trainer.stdout.readline() == "first\n"
        first.kill()
        first.wait()
        second = stack.enter_context(subprocess.Popen(words, **pipes))
        stack.callback(second.kill)
        told, errors = trainer.communicate(timeout=120)
        assert trainer.returncode == 0 and told == "300\n", errors[-3000:]


def memory(process: int) -> int:
    """Resident memory in KiB."""
    line = next(line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="only Linux tells the memory of a process")
def test_many_clients_leave_nothing(deepgnn: Path, server: Isomorph) -> None:
    """Stock clients that come and go in four processes, beside 64 connections of `bench serve` at times: no failed call, no sampler left, and
    memory that does not grow. Ten seconds, or as long as ISOMORPH_SOAK says: 600 is the long version."""
    seconds = float(os.environ.get("ISOMORPH_SOAK", "10"))
    graph = FIXTURES / "karate" / "bin_linear_p1"
    words = [str(server.binary), "serve", "deepgnn", str(graph), "--address", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--json"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        try:
            assert running.stdout is not None
            document = json.loads(running.stdout.readline())
            used = []
            for share in (0.2, 0.4, 0.4):
                visit = [str(deepgnn), str(HERE / "deepgnn_client.py"), "visit", document["address"], str(share * seconds)]
                load = [str(server.binary), "bench", "serve", document["address"], "--connections", "64", "--seconds", "2", "--json"]
                visitors = [subprocess.Popen(visit, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
                loaded = subprocess.run(load, stdin=subprocess.DEVNULL, capture_output=True, text=True)
                assert loaded.returncode == 0, loaded.stdout + loaded.stderr
                for visitor in visitors:
                    told, errors = visitor.communicate()
                    assert visitor.returncode == 0 and int(told) > 0, errors[-3000:]
                used.append(memory(running.pid))
            metrics = urllib.request.urlopen(f"http://{document['metrics']}/metrics").read().decode()
            lines = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if not line.startswith("#"))
            assert lines["isomorph_connections"] == "0" and lines["isomorph_requests_running"] == "0"
            assert lines['isomorph_samplers{state="remembered"}'] == "0" and int(lines['isomorph_samplers{state="kept"}']) <= 3
            assert not [line for line in lines if line.startswith("isomorph_requests_total") and 'code="OK"' not in line]
            # From the second part on, within 5 % and what an allocator keeps in one MiB.
            assert used[2] <= used[1] * 1.05 + 1024, used
        finally:
            running.kill()


def test_the_comparison_of_both_servers_runs(deepgnn: Path, server: Isomorph, tmp_path: Path) -> None:
    """`benches/part_serve.py` on tiny data: every figure is there, no client fails, and nothing is left."""
    words = [sys.executable, str(HERE.parent / "benches" / "part_serve.py"), str(server.binary), str(deepgnn), "--smoke", "--folder", str(tmp_path)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    for figure in "weighted 1024 × 10, 64 connections", "features 1024 × 128, 1 connections", "stock client: walk", "ready after start", "resident memory, MiB, after each":
        assert figure in done.stdout, done.stdout
    assert "0 clients failed · 0 requests not answered" in done.stdout and "isomorph_connections 0" in done.stdout, done.stdout
