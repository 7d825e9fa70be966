"""Numbers beyond all bounds are exceptions, and never end the process."""

from __future__ import annotations

from pathlib import Path

import isomorph
import pytest


@pytest.fixture(scope="module")
def graph(social: Path) -> isomorph.Graph:
    return isomorph.open(social, memory="256MiB")


@pytest.mark.parametrize("count", [2**33, 2**40, 2**62])
@pytest.mark.parametrize("strategy", ["uniform", "weighted"])
def test_counts_beyond_the_memory_are_refused(graph: isomorph.Graph, count: int, strategy: str) -> None:
    for draw in (
        lambda: graph.sample([1007], count, relation="knows", type="person", strategy=strategy),
        lambda: graph.sample_nodes(count, strategy="uniform"),
        lambda: graph.sample_edges(count, strategy="uniform"),
    ):
        with pytest.raises(isomorph.TooLargeError) as error:
            draw()
        assert "draw fewer in one request" in error.value.hints
    assert graph.sample([1007], 3, relation="knows", type="person").count() == 3


@pytest.mark.parametrize("strategy", ["top", "without-replacement"])
def test_lists_of_neighbours_have_room_for_the_count(graph: isomorph.Graph, strategy: str) -> None:
    with pytest.raises(isomorph.TooLargeError):
        graph.sample([1007], 2**40, relation="knows", type="person", strategy=strategy)


def test_without_replacement_there_are_no_more_than_all(graph: isomorph.Graph) -> None:
    assert graph.sample_nodes(2**40, strategy="without-replacement").count() == 1340
    # Edges without a direction can be drawn from both ends.
    assert graph.sample_edges(2**40, strategy="without-replacement").count() == 8970


def test_walks_beyond_the_memory_are_refused(graph: isomorph.Graph) -> None:
    with pytest.raises(isomorph.TooLargeError):
        graph.walk([1007] * 1000, 2**16 - 1, relation="knows", type="person")


@pytest.mark.parametrize(
    "ask",
    [
        lambda graph: graph.sample_nodes(-1),
        lambda graph: graph.sample_nodes(0),
        lambda graph: graph.sample_nodes(2**63),
        lambda graph: graph.sample_nodes(1.5),
        lambda graph: graph.sample_nodes(True),
        lambda graph: graph.sample_nodes(1, seed=2**64),
        lambda graph: graph.walk([1007], 2**31, type="person"),
        lambda graph: graph.neighbors(1007, type="person", limit=-1),
        lambda graph: graph.neighbors(row=-1, type="person"),
        lambda graph: graph.part(limit=-1),
        lambda graph: graph.part(sample=-1),
        lambda graph: graph.nodes("person").limit(2**64),
        lambda graph: graph.nodes("person").limit(-1),
        lambda graph: graph.diff(graph, limit=-1),
        lambda graph: graph.validate(limit=-1),
        lambda graph: isomorph.open(graph.location, threads=-1),
        lambda graph: isomorph.open(graph.location, memory=-1),
    ],
)
def test_numbers_out_of_range_are_errors_of_isomorph(graph: isomorph.Graph, ask) -> None:
    with pytest.raises(isomorph.UsageError):
        ask(graph)


def test_a_query_beyond_its_time_is_cancelled(graph: isomorph.Graph) -> None:
    with pytest.raises(isomorph.CancelledError):
        graph.cypher("MATCH (a), (b), (c), (d) RETURN count(*) AS n, max(a.id + b.id + c.id + d.id) AS m", timeout=1e-3)
