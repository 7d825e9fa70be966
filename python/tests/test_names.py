"""Properties that are called as roles of columns are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import isomorph

NODES = {"@key": [80, 90], "@row": [5, 6], "@labels": ["x", "y"], "_row": [7, 8], "_labels": ["p", "q"], "row": [1, 0], "key": [3, 4], "@property": [2, 1], "@id": [4, 4]}
EDGES = {"@source": [70, 71], "@target": [72, 73], "@key": [74, 75], "@relation": ["u", "v"], "@directed": [True, False], "_source": [76, 77], "_target": [78, 79], "@row": [1, 2], "_key": [5, 5]}


def odd(path: Path, to: str = "graphar") -> isomorph.Graph:
    """A graph whose properties have the names of roles."""
    nodes = pa.table({"id": [1, 2], **NODES})
    edges = pa.table({"source": [1, 2], "target": [2, 2], **EDGES})
    assert isomorph.write(path, nodes={"thing": nodes}, edges={"ties": edges}, to=to).equal
    return isomorph.open(path)


def quoted(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


@pytest.mark.parametrize("to", ["graphar", "parquet", "nock", "csv"])
def test_every_way_to_read_gives_the_property(tmp_path: Path, to: str) -> None:
    graph = odd(tmp_path / ("g.parq" if to == "nock" else "g"), to)
    for table, own, sql, pattern in ((graph.nodes(), NODES, "thing", "(n)"), (graph.edges(), EDGES, "ties", "()-[n]->()")):
        whole = table.to_arrow()
        for name, values in own.items():
            assert whole.column(name).to_pylist() == values, name
            assert table.select(name).to_arrow().to_pydict() == {name: values}, name
            found = graph.cypher(f"MATCH {pattern} RETURN n.`{name}` AS v").to_arrow().column("v").to_pylist()
            assert sorted(found) == sorted(values), name
            wanted, number = quoted(values[0]), values.count(values[0])
            assert table.filter(f"`{name}` = {wanted}").count() == number, name
            assert graph.cypher(f"MATCH {pattern} WHERE n.`{name}` = {wanted} RETURN 1").count() == number, name
            assert graph.sql(f'select * from {sql} where "{name}" = {wanted}').count() == number, name
            assert graph.sql(f'select "{name}" as v from {sql} order by v').to_arrow().column("v").to_pylist() == sorted(values), name
        assert set(own) <= set(graph.sql(f"select * from {sql}").columns)


def test_other_libraries_get_the_property(tmp_path: Path) -> None:
    graph = odd(tmp_path / "g")
    network = graph.to_networkx()
    assert [own for _, own in network.nodes(data=True)] == [{"type": "thing", **dict(zip(NODES, row))} for row in zip(*NODES.values())]
    assert [own for *_, own in network.edges(data=True)] == [{"relation": "ties", **dict(zip(EDGES, row))} for row in zip(*EDGES.values())]
    plain = graph.to_igraph
    with pytest.raises(isomorph.UsageError, match="attribute key"):
        plain()
    assert plain(node_columns=["@key"]).vs["@key"] == [80, 90] and plain(node_columns=[]).es["@source"] == [70, 71]
    matrix, rows, _ = graph.to_scipy(weight="@source")
    assert rows == [1, 2] and matrix.toarray().tolist() == [[0, 70], [0, 71]]
    near = graph.neighbors(1, columns=["@source", "@key"]).to_arrow().to_pydict()
    assert near["neighbor"] == [2] and near["@source"] == [70] and near["@key"] == [74]
    assert graph.part(where={"thing": "`@key` = 80"}).nodes().to_arrow().column("id").to_pylist() == [1]
    assert graph.part(where={"thing": "id = 1"}).nodes().to_arrow().column("@key").to_pylist() == [80]
    assert graph.part(where={"ties": "`@target` = 73"}).edges().to_arrow().column("source").to_pylist() == [2]
    for key in (1, 2):
        assert graph.cypher("MATCH (n {id: $id}) RETURN n.`@key` AS k", id=key).to_arrow().to_pydict() == {"k": [70 + 10 * key]}


def test_roles_are_roles_where_no_property_is_called_so(tmp_path: Path) -> None:
    nodes = pa.table({"id": [1, 2], "l": [["A"], None]})
    isomorph.write(tmp_path / "g", nodes=nodes, edges=pa.table({"source": [1], "target": [2]}), labels="l", to="graphar")
    graph = isomorph.open(tmp_path / "g")
    assert graph.nodes().select("@key").columns == ["id"] and graph.nodes().filter("@key = 2").count() == 1
    assert graph.edges().select("@target").columns == ["target"] and graph.nodes().filter("has label A").count() == 1


def test_labels_are_not_mixed_up_with_a_property(tmp_path: Path) -> None:
    for labels in (None, "l"):
        nodes = pa.table({"id": [1, 2], "@labels": [["A"], ["B"]], "l": [["A"], ["A"]]})
        isomorph.write(tmp_path / str(labels), nodes=nodes, labels=labels, to="graphar")
        table = isomorph.open(tmp_path / str(labels)).nodes()
        with pytest.raises(isomorph.UnsupportedError, match="a property of node is called @labels"):
            table.filter("has label A").count()
