"""Workbooks that pandas writes, and tables in many files as Polars, DuckDB and PyArrow write them, are the graph that single CSV files are."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from command import Isomorph

NODES: dict[str, list[Any]] = {
    "id": list(range(1, 51)),
    "name": [f"n{at}" if at % 7 else "0012" for at in range(50)],
    "age": [at * 3 - 20 for at in range(50)],
    "height": [at / 4 + 0.125 for at in range(50)],
    "born": [dt.date(1970, 1, 1) + dt.timedelta(days=400 * at) for at in range(50)],
    "ok": [at % 3 == 0 for at in range(50)],
}
EDGES: dict[str, list[Any]] = {
    "source": [at % 50 + 1 for at in range(200)],
    "target": [at * 7 % 50 + 1 for at in range(200)],
    "w": [at / 8 + 0.5 for at in range(200)],
}


@pytest.fixture(scope="module")
def content(isomorph: Isomorph, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest of the content of the graph, read from two CSV files."""
    folder = tmp_path_factory.mktemp("csv")
    for name, table in (("nodes", NODES), ("edges", EDGES)):
        rows = zip(*table.values())
        lines = [",".join(table), *(",".join(str(cell) for cell in row) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return isomorph.content(folder)


@pytest.mark.parametrize(("name", "engine"), [("x.xlsx", "openpyxl"), ("y.xlsx", "xlsxwriter"), ("z.ods", "odf")])
def test_workbooks_of_pandas(isomorph: Isomorph, content: str, tmp_path: Path, name: str, engine: str) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip(engine, reason=f"{engine} is not installed")
    with pandas.ExcelWriter(tmp_path / name, engine=engine) as out:
        for sheet, table in (("nodes", NODES), ("edges", EDGES)):
            pandas.DataFrame(table).to_excel(out, sheet_name=sheet, index=False)
    assert isomorph.content(tmp_path / name) == content
    # What comes out is what pandas reads from the workbook.
    out = isomorph.convert(tmp_path / name, tmp_path / "out", "--to", "parquet")
    found, wanted = pandas.read_parquet(out / "node.parquet"), pandas.read_excel(tmp_path / name, sheet_name="nodes")
    for column in NODES:
        cells = [cell.date() if column == "born" and hasattr(cell, "date") else cell for cell in wanted[column]]
        assert list(found[column]) == cells, column


def test_workbooks_for_pandas_and_polars(isomorph: Isomorph, content: str, tmp_path: Path) -> None:
    """A workbook that isomorph writes has the values and types of the tables, and what pandas writes of it is the same graph."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    (tmp_path / "csv").mkdir()
    for name, table in (("nodes", NODES), ("edges", EDGES)):
        pandas.DataFrame(table).to_csv(tmp_path / "csv" / f"{name}.csv", index=False)
    book = isomorph.convert(tmp_path / "csv", tmp_path / "book.xlsx")
    assert isomorph.content(book) == content
    frames = pandas.read_excel(book, sheet_name=None, dtype={"name": str})
    assert list(frames) == ["node", "edge", "graph.pgq"]
    for name, table in (("node", NODES), ("edge", EDGES)):
        for column, wanted in table.items():
            found = list(frames[name][column])
            assert [cell.date() if column == "born" else cell for cell in found] == wanted, column
    assert str(frames["node"]["id"].dtype) == "int64" and str(frames["node"]["ok"].dtype) == "bool"
    with pandas.ExcelWriter(tmp_path / "again.xlsx") as out:
        for sheet, name in (("nodes", "node"), ("edges", "edge")):
            frames[name].to_excel(out, sheet_name=sheet, index=False)
    assert isomorph.content(tmp_path / "again.xlsx") == content


def test_texts_and_numbers_in_cells(isomorph: Isomorph, tmp_path: Path) -> None:
    """openpyxl reads texts as texts, never as formulas, and what a spreadsheet would round as text."""
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    rows = ["id,text,large,day", "1,=1+1,9007199254740991,2020-02-29", '2,"a\nb",9007199254740993,1899-12-31', "3,<&>,-1,"]
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "nodes.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "csv" / "edges.csv").write_text("source,target\n1,2\n", encoding="utf-8")
    book = isomorph.convert(tmp_path / "csv", tmp_path / "book.xlsx")
    sheet = openpyxl.load_workbook(book)["node"]
    found = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert found == [
        ["id", "text", "large", "day"],
        [1, "=1+1", 9007199254740991, dt.datetime(2020, 2, 29)],
        [2, "a\nb", "9007199254740993", "1899-12-31"],
        [3, "<&>", -1, None],
    ]
    assert sheet["B2"].data_type != "f"
    # Saved by openpyxl it is the same graph, by the mapping in it.
    saved = openpyxl.load_workbook(book)
    saved.save(tmp_path / "saved.xlsx")
    assert isomorph.content(tmp_path / "saved.xlsx") == isomorph.content(book)


def test_datasets_of_pyarrow(isomorph: Isomorph, content: str, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    dataset = pytest.importorskip("pyarrow.dataset", reason="pyarrow is not installed")
    for kind in ("parquet", "arrow", "csv"):
        for name, table in (("nodes", NODES), ("edges", EDGES)):
            options = {"max_rows_per_file": 16, "max_rows_per_group": 16}
            dataset.write_dataset(pyarrow.table(table), tmp_path / kind / name, format=kind, **options)
            assert len(list((tmp_path / kind / name).iterdir())) > 3
        assert isomorph.content(tmp_path / kind) == content, kind


def test_files_of_polars(isomorph: Isomorph, content: str, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    for kind, writer in (("parquet", "write_parquet"), ("csv", "write_csv"), ("arrow", "write_ipc")):
        for name, table in (("nodes", NODES), ("edges", EDGES)):
            folder = tmp_path / kind / name
            folder.mkdir(parents=True)
            for at, part in enumerate(polars.DataFrame(table).iter_slices(13)):
                getattr(part, writer)(folder / f"part-{at:05}.{kind}")
            # What Spark leaves beside its parts.
            (folder / "_SUCCESS").touch()
            (folder / f".part-00000.{kind}.crc").touch()
        assert isomorph.content(tmp_path / kind) == content, kind


def test_files_of_duckdb(isomorph: Isomorph, content: str, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    for name, table in (("nodes", NODES), ("edges", EDGES)):
        rows = pyarrow.table(table)
        duckdb.sql(f"COPY (SELECT * FROM rows) TO '{tmp_path / name}' (FORMAT parquet, PER_THREAD_OUTPUT)")
        assert rows.num_rows == len(table[next(iter(table))])
    assert isomorph.content(tmp_path) == content
    # And back: DuckDB reads the mapping's files by the same pattern.
    found = duckdb.sql(f"SELECT count(*), sum(age) FROM '{tmp_path}/nodes/*.parquet'").fetchall()
    assert found == [(50, sum(NODES["age"]))]


def test_rows_are_set_aside_and_listed(isomorph: Isomorph, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "people.csv").write_text("id:ID,age:int\n1,7\n2,x\n1,9\n3,\n", encoding="utf-8")
    (folder / "knows.csv").write_text(":START_ID,:END_ID,:TYPE\n1,3,K\n1,2,K\n9,1,K\n", encoding="utf-8")
    assert isomorph.error("convert", folder, tmp_path / "strict", "--to", "csv", expect=3)
    out = isomorph.convert(folder, tmp_path / "out", "--to", "csv", "--lenient")


    listed = [json.loads(line) for line in (tmp_path / "out.set-aside.jsonl").read_text(encoding="utf-8").splitlines()]
    found = sorted((row["file"], row["line"], row["rule"]) for row in listed)
    assert found == [
        ("knows.csv", 3, "FLAT-END"),
        ("knows.csv", 4, "FLAT-END"),
        ("people.csv", 3, "TEXT-VALUE"),
        ("people.csv", 4, "FLAT-KEY"),
    ]
    assert (out / "people.csv").read_text(encoding="utf-8").splitlines() == ["id,age", "1,7", "3,"]
