"""Popular libraries read equal values from our files."""

from __future__ import annotations

from pathlib import Path

import pytest

import pyarrow.dataset as ds
import pyarrow.parquet as pq

from command import Isomorph
from graphs import Graph, graph_of_rows, people

PARTITIONS = 4


@pytest.fixture(scope="module")
def nock(isomorph: Isomorph, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The people in NOCK: one Parquet file, one CSV file, a directory of partitions."""
    folder = tmp_path_factory.mktemp("nock")
    source = people().write_parquet(folder / "source.parq")
    return {
        "parquet": isomorph.convert(source, folder / "people.parq", "--to", "nock"),
        "csv": isomorph.convert(source, folder / "people.csv", "--to", "nock"),
        "parts": isomorph.convert(source, folder / "parts", "--to", "nock", "--partitions", PARTITIONS),
    }


def same(graph: Graph) -> None:
    assert graph.facts() == people().facts()


def test_pandas_by_the_snippets_of_the_specification(nock: dict[str, Path]) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    # The specification also passes `use_nullable_dtypes=True`, which pandas has since removed.
    same(graph_of_rows(pandas.read_parquet(nock["parquet"]).fillna("").to_dict("records")))
    same(graph_of_rows(pandas.read_csv(nock["csv"]).fillna("").to_dict("records")))


def test_polars(nock: dict[str, Path]) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    same(graph_of_rows(polars.read_parquet(nock["parquet"]).to_dicts()))
    same(graph_of_rows(polars.read_csv(nock["csv"]).to_dicts()))
    same(graph_of_rows(polars.scan_parquet(nock["parts"] / "part_*.parq").collect().to_dicts()))


def test_duckdb(nock: dict[str, Path]) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")

    def rows(table: str) -> list[dict]:
        found = duckdb.sql(f"SELECT * FROM {table}")
        return [dict(zip(found.columns, row)) for row in found.fetchall()]

    same(graph_of_rows(rows(f"read_parquet('{nock['parquet']}')")))
    same(graph_of_rows(rows(f"read_csv('{nock['csv']}', header = true)")))
    same(graph_of_rows(rows(f"read_parquet('{nock['parts']}/part_*.parq')")))


def test_pyarrow_dataset_over_a_folder_of_partitions(nock: dict[str, Path]) -> None:
    dataset = ds.dataset(nock["parts"], format="parquet")
    assert len(dataset.files) == PARTITIONS
    schemas = [pq.read_schema(path).remove_metadata() for path in dataset.files]
    assert all(schema == schemas[0] for schema in schemas)
    same(graph_of_rows(dataset.to_table().to_pylist()))


@pytest.mark.parametrize("library", ["pandas", "polars", "duckdb", "pyarrow"])
def test_chunks_of_graphar_are_plain_tables(isomorph: Isomorph, social: Path, tmp_path: Path, library: str) -> None:
    """The chunks of one property group together equal the table that they were written from."""
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    out = isomorph.convert(social, tmp_path / "social", "--to", "graphar", "--vertex-chunk-size", 64)
    (folder,) = {path.parent for path in (out / "vertex" / "city").glob("*/chunk0")} - {out / "vertex" / "city" / "labels"}
    chunks = sorted(folder.glob("chunk*"))
    read = {
        "pandas": lambda: module.concat(map(module.read_parquet, chunks)).to_dict("records"),
        "polars": lambda: module.read_parquet(chunks).to_dicts(),
        "pyarrow": lambda: ds.dataset(list(map(str, chunks)), format="parquet").to_table().to_pylist(),
        "duckdb": lambda: [
            {"name": name, "population": population}
            for name, population in module.sql(f"SELECT name, population FROM read_parquet('{folder}/chunk*')").fetchall()
        ],
    }
    cities = {(row["name"], row["population"]) for row in read[library]()}
    source = ds.dataset(sorted(map(str, (social.parent / "vertex" / "city").glob("*/chunk*"))), format="parquet")
    assert cities == {(row["name"], row["population"]) for row in source.to_table().to_pylist()}


@pytest.mark.parametrize("checksums", [True, False])
def test_a_flipped_bit_is_found_where_pages_have_checksums(
    isomorph: Isomorph, tmp_path: Path, checksums: bool
) -> None:
    table = pq.read_table(people().write_parquet(tmp_path / "people.parq"))
    file = tmp_path / "flipped.parq"
    pq.write_table(table, file, compression="none", use_dictionary=False, write_page_checksum=checksums)
    content = isomorph.content(file)
    data = bytearray(file.read_bytes())
    data[data.index(b"FLOW-MATIC") + 2] ^= 1
    file.write_bytes(data)
    if checksums:
        isomorph.run("digest", file, expect=3)
    else:
        # Only the digest of the graph distinguishes this text from the correct one.
        assert isomorph.content(file) != content
