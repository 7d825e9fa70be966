"""Pickles, forks, spawns, threads, interrupts, memory, imports."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import isomorph
import pyarrow as pa
import pytest

from conftest import ROOT


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph whose reading takes a while: many chunks, and text that is parsed on all threads."""
    folder = tmp_path_factory.mktemp("large")
    rows = 80_000
    ids = pa.array(range(rows))
    nodes = pa.table({"id": ids, "name": pa.array([f"name {at}" for at in range(rows)])})
    edges = pa.table({"source": ids, "target": pa.array([(at * 7919) % rows for at in range(rows)]), "w": ids})
    isomorph.write(folder / "large.csv", nodes={"thing": nodes}, edges={"ties": edges}, to="csv", verify=False)
    return folder / "large.csv"


def test_graphs_tables_and_lakes_are_pickled_by_place(tmp_path: Path, social: Path) -> None:
    graph = isomorph.open(social, memory="1GiB", threads=1)
    again = pickle.loads(pickle.dumps(graph))
    assert again.location == graph.location and again._options == {**graph._options, "format": "graphar"}
    assert again.digest() == graph.digest()
    table = graph.nodes("person").filter("id > 1100").select("id", "firstName").limit(7)
    copy = pickle.loads(pickle.dumps(table))
    assert copy.to_arrow().equals(table.to_arrow()) and copy.columns == ["id", "firstName"]
    with pytest.raises(TypeError, match="to_arrow"):
        pickle.dumps(table.collect())
    lake = isomorph.Lake(tmp_path / "lake", create=True)
    with lake.transaction() as t:
        t.insert("urn:a", "urn:p", 1)
    old = pickle.dumps(lake.open())
    with pickle.loads(pickle.dumps(lake)).transaction() as t:
        t.insert("urn:b", "urn:p", 2)
    # A pickle means the snapshot that was open.
    assert pickle.loads(old).at == 1 and lake.open().at == 2
    error = pytest.raises(isomorph.NotFoundError, isomorph.open, tmp_path / "none").value
    restored = pickle.loads(pickle.dumps(error))
    assert type(restored) is type(error) and (restored.kind, restored.place, restored.hints) == (error.kind, error.place, error.hints)
    certificate = isomorph.convert(social, tmp_path / "s.parq")
    assert pickle.loads(pickle.dumps(certificate)) == certificate


def test_a_pickle_means_the_same_in_another_directory(social: Path, tmp_path: Path) -> None:
    code = textwrap.dedent(
        f"""
        import os, pickle, isomorph
        os.chdir({str(ROOT)!r})
        graph = isomorph.open("examples/social")
        text = pickle.dumps(graph)
        os.chdir({str(tmp_path)!r})
        assert pickle.loads(text).nodes("city").count() == graph.nodes("city").count() > 0
        """
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def work(graph: isomorph.Graph, path: str) -> tuple[int, str, int]:
    """Everything that uses threads: a scan, a conversion, a sample."""
    rows = graph.edges("ties").to_arrow().num_rows
    digest = graph.digest().content
    isomorph.convert(graph, path, "nock", verify=False)
    return rows, digest, graph.sample_nodes(3, seed=1).count()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_does_what_its_parent_did(large: Path, tmp_path: Path) -> None:
    graph = isomorph.open(large)
    expected = work(graph, str(tmp_path / "parent.parq"))
    open_stream = graph.nodes("thing").to_batches()
    open_stream.read_next_batch()
    context = multiprocessing.get_context("fork")
    pool = context.Pool(2)
    try:
        jobs = [pool.apply_async(work, (graph, str(tmp_path / f"{at}.parq"))) for at in range(2)]
        assert [job.get(timeout=180) for job in jobs] == [expected, expected]
    finally:
        pool.terminate()
    # The child has the same objects, too: not only pickled ones.
    lake = isomorph.Lake(tmp_path / "lake", create=True)
    begun = lake.transaction().__enter__()
    begun.insert("urn:a", "urn:p", 1)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            ok = graph.edges("ties").to_arrow().num_rows == expected[0] and graph.digest().content == expected[1]
            try:
                while True:
                    open_stream.read_next_batch()
            except StopIteration:
                ok = False
            except Exception as error:
                ok = ok and "forked" in str(error)
            try:
                begun.insert("urn:b", "urn:p", 2)
                ok = False
            except isomorph.UsageError:
                pass
            with lake.transaction() as own:
                own.insert("urn:child", "urn:p", 3)
            code = 0 if ok else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert begun.commit() is not None
    assert lake.log()[-1].triples == 2
    rest = open_stream.read_all().num_rows
    assert rest > 0


def test_a_spawned_child_gets_a_pickle(large: Path, tmp_path: Path) -> None:
    code = textwrap.dedent(
        f"""
        import multiprocessing, isomorph
        def count(table):
            return table.count(), table.to_arrow().num_rows
        if __name__ == "__main__":
            table = isomorph.open({str(large)!r}).nodes("thing").filter("id < 1000")
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                assert pool.map(count, [table] * 4) == [(1000, 1000)] * 4
        """
    )
    (tmp_path / "spawned.py").write_text(code)
    subprocess.run([sys.executable, str(tmp_path / "spawned.py")], check=True, timeout=180)


def test_many_threads_read_one_graph(large: Path) -> None:
    graph = isomorph.open(large)
    expected = graph.nodes("thing").filter("id < 777").to_arrow()
    wrong: list[object] = []

    def read(number: int) -> None:
        try:
            for _ in range(2):
                if not graph.nodes("thing").filter("id < 777").to_arrow().equals(expected):
                    wrong.append(number)
                graph.neighbors(number).to_arrow()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(12)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_other_threads_run_while_one_reads(large: Path) -> None:
    graph = isomorph.open(large)
    done, steps = threading.Event(), 0
    thread = threading.Thread(target=lambda: (graph.digest(), done.set()))
    thread.start()
    while not done.is_set():
        steps += 1
    thread.join()
    # With the interpreter's lock, this loop would have stood still until the end.
    assert steps > 1000


def test_what_progress_raises_stops_the_work(large: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []

    def progress(*step: object) -> None:
        told.append(step)  # type: ignore[arg-type]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        isomorph.convert(large, tmp_path / "never.graphar", "graphar", progress=progress)
    assert not list(tmp_path.iterdir()) and len(told) == 1 and told[0][0] and isinstance(told[0][1], int)
    stages: list[str] = []
    isomorph.digest(large, progress=lambda stage, *_rows: stages.append(stage))
    assert stages and set(stages) <= {"read", "nodes", "edges", "keys"}, set(stages)
    assert isomorph.digest(large, progress=True).content == isomorph.digest(large).content


INTERRUPTED = """
    import os, signal, sys, threading, time, isomorph
    graph = isomorph.open({large!r})
    started = []
    def progress(stage, rows, total):
        if not started:
            started.append(stage)
            os.kill(os.getpid(), signal.SIGINT)
    try:
        {call}
    except KeyboardInterrupt:
        left = sorted(os.listdir({folder!r}))
        print("interrupted", left)
        sys.exit(0)
    sys.exit(3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no signals")
@pytest.mark.parametrize(
    "call",
    [
        "isomorph.convert(graph, {out!r}, 'graphar', progress=progress)",
        "[graph.digest(progress=progress) for _ in range(50)]",
    ],
)
def test_ctrl_c_stops_and_leaves_nothing(large: Path, tmp_path: Path, call: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    code = textwrap.dedent(INTERRUPTED).format(large=str(large), folder=str(out), call=call.format(out=str(out / "x.graphar")))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180)
    assert run.returncode == 0 and run.stdout.strip() == "interrupted []", (run.stdout, run.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no signals")
def test_ctrl_c_ends_waiting_for_a_graph_that_is_opened(tmp_path: Path) -> None:
    # Opening this format reads all of it.
    rows = range(100_000)
    graph = {"nodes": [{"id": at, "name": f"n{at}"} for at in rows], "links": [{"source": at, "target": at * 7 % 100_000} for at in rows]}
    (tmp_path / "g.json").write_text(json.dumps({"directed": True, "multigraph": False, "graph": {}, **graph}))
    code = textwrap.dedent(
        f"""
        import os, signal, sys, threading, isomorph
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            for _ in range(1000):
                isomorph.open({str(tmp_path / "g.json")!r}).part(sample=10)
        except KeyboardInterrupt:
            sys.exit(0)
        sys.exit(3)
        """
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, (run.returncode, run.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no signals")
def test_ctrl_c_stops_a_consumer_of_the_stream(large: Path) -> None:
    code = textwrap.dedent(
        f"""
        import os, signal, sys, threading, pyarrow, isomorph
        graph = isomorph.open({str(large)!r})
        table = graph.nodes("thing")
        pid, going = os.getpid(), threading.Event()
        def strike():
            going.wait()
            os.kill(pid, signal.SIGINT)
        threading.Thread(target=strike, daemon=True).start()
        try:
            going.set()
            while True:
                pyarrow.table(table)
        except KeyboardInterrupt:
            sys.exit(0)
        except BaseException as error:
            # The interrupt is raised as soon as the consumer has returned.
            try:
                for _ in range(1000): pass
            except KeyboardInterrupt:
                sys.exit(0)
            sys.exit(4)
        """
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180)
    assert run.returncode in (0, -signal.SIGINT), run.stderr


def resident() -> int:
    """Resident memory of this process in KiB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="this system does not say how much memory is used")
def test_memory_does_not_grow(social: Path, tmp_path: Path) -> None:
    def once(number: int = 0) -> None:
        with isomorph.open(social) as graph:
            pa.table(graph.nodes("city").limit(1))
            if number % 10 == 0:
                graph.nodes("city").to_arrow()
                graph.neighbors(1007, type="person", limit=1)
                with pytest.raises(isomorph.Error):
                    isomorph.open(tmp_path / "none")

    for _ in range(100):
        once()
    gc.collect()
    before = resident()
    for number in range(1000):
        once(number)
    gc.collect()
    grown = resident() - before
    assert grown < 20_000, f"{grown} KiB more after 1000 graphs"


def test_nothing_heavy_is_imported(social: Path) -> None:
    code = textwrap.dedent(
        f"""
        import sys, isomorph
        graph = isomorph.open({str(social)!r})
        graph.nodes("person").filter("id > 3").count(), graph.digest(), graph._repr_html_(), graph.neighbors(1007, type="person")
        heavy = {{"pandas", "polars", "numpy", "pyarrow", "duckdb", "networkx", "igraph", "scipy", "tqdm", "torch", "multiprocessing", "asyncio"}}
        loaded = heavy & set(sys.modules)
        assert not loaded, loaded
        """
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_missing_library_is_named(social: Path) -> None:
    code = textwrap.dedent(
        f"""
        import sys, isomorph
        for name in ("pandas", "polars", "pyarrow", "duckdb", "numpy", "networkx", "igraph", "scipy"):
            sys.modules[name] = None
        graph = isomorph.open({str(social)!r})
        table = graph.nodes("city")
        for call, name in [(table.to_pandas, "pandas"), (table.to_polars, "polars"), (table.to_arrow, "pyarrow"), (table.to_duckdb, "duckdb"),
                           (table.to_numpy, "numpy"), (graph.to_networkx, "networkx"), (graph.to_igraph, "igraph"), (graph.to_scipy, "scipy")]:
            try:
                call()
            except ModuleNotFoundError as error:
                assert f"pip install {{name}}" in str(error), error
            else:
                raise AssertionError(name)
        """
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
