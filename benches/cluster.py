"""One executor against two, each of one thread: a join of edges with their sources, grouped by a property.

python benches/cluster.py ISOMORPH [EDGES [RUNS]]    ISOMORPH is built with the feature `cluster`

Runs alternate, and every answer is compared with that of one process. Only ratios are meant: executors share the machine.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

#: The weights of each age are whole numbers, so that sums do not depend on the order of rows.
QUESTIONS = {
    "sql": """select p.age, count(*) as edges, sum(e.weight) as weight
from knows e join person p on e._source = p.id group by p.age order by p.age""",
    "cypher": """MATCH (p:person)-[e:knows]->() RETURN p.age AS age, count(*) AS edges, sum(e.weight) AS weight ORDER BY age""",
}
#: Into how many parts each is divided. A part of openCypher reads all nodes.
PARTS = {"sql": "8", "cypher": "2"}
#: Edges in a chunk: many more chunks than threads.
CHUNK = 1 << 17


def graph(binary: str, folder: Path, edges: int) -> Path:
    """A GraphAr graph of people with an age who know each other, with a fifth as many people."""
    dice, people, tables, path = random.Random(edges), edges // 5, folder / "tables", folder / "graph"
    tables.mkdir()
    with (tables / "person.csv").open("w") as file:
        file.write("id,age\n")
        file.writelines(f"{7 * node + 3},{dice.randrange(18, 90)}\n" for node in range(people))
    with (tables / "knows.csv").open("w") as file:
        file.write("source,target,weight\n")
        for _ in range(edges):
            source, target = 7 * dice.randrange(people) + 3, 7 * dice.randrange(people) + 3
            file.write(f"{source},{target},{dice.randrange(100)}\n")
    (tables / "graph.pgq").write_text(
        """CREATE EXTERNAL TABLE person (id BIGINT NOT NULL, age BIGINT) STORED AS CSV LOCATION 'person.csv' OPTIONS ('format.has_header' 'true');
CREATE EXTERNAL TABLE knows ("source" BIGINT NOT NULL, target BIGINT NOT NULL, weight BIGINT) STORED AS CSV LOCATION 'knows.csv' OPTIONS ('format.has_header' 'true');
CREATE PROPERTY GRAPH g VERTEX TABLES (person KEY (id) LABEL person PROPERTIES (age))
EDGE TABLES (knows SOURCE KEY ("source") REFERENCES person (id) DESTINATION KEY (target) REFERENCES person (id) LABEL knows PROPERTIES (weight));
"""
    )
    chunks = ["--edge-chunk", str(CHUNK), "--vertex-chunk", str(CHUNK)]
    subprocess.run([binary, "convert", tables, path, "--to", "graphar", *chunks], check=True, capture_output=True)
    shutil.rmtree(tables)
    return path


class Process:
    """`isomorph cluster …` until it is left."""

    def __init__(self, binary: str, words: list[str]) -> None:
        self.child = subprocess.Popen([binary, "cluster", *words, "--json"], stdout=subprocess.PIPE, text=True)
        self.address = json.loads("".join(iter(self.child.stdout.readline, "}\n")) + "}")["address"]

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.terminate()
        self.child.wait()


def ask(binary: str, language: str, path: Path, more: list[str]) -> tuple[float, str]:
    start = time.perf_counter()
    words = [binary, language, path, QUESTIONS[language], "--format", "csv", *more]
    answer = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return time.perf_counter() - start, answer


def main(binary: str, edges: int = 10_000_000, runs: int = 5) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        path = graph(binary, Path(folder), edges)
        clusters = {}
        for number in (1, 2):
            scheduler = running.enter_context(Process(binary, ["scheduler", "--bind", "127.0.0.1:0"]))
            words = ["executor", "--scheduler", scheduler.address, "--threads", "1", "--allow", folder]
            for _ in range(number):
                running.enter_context(Process(binary, words))
            clusters[number] = scheduler.address
        for language, parts in PARTS.items():
            alone, expected = ask(binary, language, path, [])
            times: dict[int, list[float]] = {1: [], 2: []}
            # The first run of each opens the graph.
            for run in range(runs + 1):
                for number, address in clusters.items():
                    seconds, answer = ask(binary, language, path, ["--cluster", address, "--partitions", parts])
                    assert answer == expected, f"{language}: {number} executors answer something else"
                    if run:
                        times[number].append(seconds)
            print(f"{language}, without a cluster: {alone:.2f} s")
            for number, all_times in times.items():
                every = ", ".join(f"{seconds:.2f}" for seconds in all_times)
                print(f"{language}, {number} executors: {statistics.median(all_times):.2f} s  ({every})")
            ratios = ", ".join(f"{one / two:.2f}" for one, two in zip(times[1], times[2]))
            ratio = statistics.median(times[1]) / statistics.median(times[2])
            print(f"{language}, ratio of medians {ratio:.2f}, of pairs {ratios}")
        print(f"{edges} edges, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main(sys.argv[1], *(int(word) for word in sys.argv[2:4]))
