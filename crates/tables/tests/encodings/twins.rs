//! Real files of other writers: the ORC, CSV and JSON chunks of a public graph equal their Parquet counterparts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use bytes::Bytes;
use isomorph_storage::Blob;
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader};

use crate::samples::read;

fn graph() -> Option<PathBuf> {
    isomorph_fixtures::public_data("graphar-testing/ldbc_sample")
}

/// The chunks below `directory`, relative to it.
fn chunks(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("chunk")) {
                found.push(path.strip_prefix(directory).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

fn open(path: &Path, encoding: Encoding, options: &ReadOptions) -> TableReader {
    let bytes = Bytes::from(std::fs::read(path).unwrap());
    TableReader::open(Blob::from_bytes(&path.to_string_lossy(), &bytes), encoding, options).unwrap()
}

/// Compares the chunks in `folder` with their counterparts; returns how many there were.
fn compare(folder: &str, encoding: Encoding) -> usize {
    let Some(graph) = graph() else { return usize::MAX };
    // The rows of each directory in both formats: edges at the end of one writer's chunk are at the start of the other's
    // next chunk.
    let mut rows: BTreeMap<PathBuf, [Vec<String>; 2]> = BTreeMap::new();
    let mut compared = 0;
    for chunk in chunks(&graph.join(folder)) {
        // The JSON sample has capital letters in its directory names.
        let twin =
            graph.join("parquet").join(chunk.to_string_lossy().replace("Person", "person").replace("Knows", "knows"));
        if !twin.is_file() {
            continue;
        }
        let twin = open(&twin, Encoding::Parquet, &ReadOptions::default());
        let nullable = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
        let declared: Schema = Schema::new(twin.schema().fields().iter().map(nullable).collect::<Vec<_>>());
        let options =
            if encoding.is_text() { ReadOptions::declared(Arc::new(declared)) } else { ReadOptions::default() };
        let own = read(&open(&graph.join(folder).join(&chunk), encoding, &options), &Selection::all()).unwrap();
        let twin = read(&twin, &Selection::all()).unwrap();
        // Newer writers fill up the last table of offsets.
        let is_offsets = own.schema().column_with_name("_graphArOffset").is_some();
        assert!(is_offsets || own.num_rows() == twin.num_rows(), "{}", chunk.display());
        let least = own.num_rows().min(twin.num_rows());
        let (own, twin) = (own.slice(0, least), twin.slice(0, least));
        let schema = own.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let [ours, theirs] = rows.entry(chunk.parent().unwrap().to_owned()).or_default();
        ours.extend(rows_of(&own, &names));
        theirs.extend(rows_of(&twin, &names));
        compared += 1;
    }
    for (directory, [mut ours, mut theirs]) in rows {
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs, "{}", directory.display());
    }
    compared
}

/// The rows as text.
fn rows_of(batch: &RecordBatch, names: &[&str]) -> Vec<String> {
    let columns: Vec<_> = names.iter().map(|name| batch.column_by_name(name).unwrap()).collect();
    let cell = |row: usize, column: &ArrayRef| arrow_cast::display::array_value_to_string(column, row).unwrap();
    let row = |row: usize| columns.iter().map(|column| cell(row, column)).collect::<Vec<_>>().join("|");
    (0..batch.num_rows()).map(row).collect()
}

#[test]
fn orc_says_what_parquet_says() {
    assert!(compare("orc", Encoding::Orc) >= 40);
}

#[test]
fn csv_says_what_parquet_says() {
    assert!(compare("csv", Encoding::Csv) >= 40);
}

#[test]
fn json_says_what_parquet_says() {
    assert!(compare("json", Encoding::JsonLines) >= 20);
}
