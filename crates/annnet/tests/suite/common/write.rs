//! Writing a graph and examining the result.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use arrow_array::Array;
use isomorph_annnet::{Annnet, WriteOptions};
use isomorph_model::Source;
use isomorph_storage::{Blob, Location};
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader};

use super::open;
use super::view::{View, differences};

/// Options for reproducible bytes.
pub fn options() -> WriteOptions {
    WriteOptions { created: Some(UNIX_EPOCH + Duration::from_micros(1_500_000)), ..WriteOptions::default() }
}

/// Bytes of all files below a directory.
pub fn bytes(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                all.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    all
}

/// Returns how the graph at a location differs from what the library read from the fixture.
pub fn differing(place: &Path, source: &Annnet) -> Vec<String> {
    let mut found = Vec::new();
    let written = open(place).unwrap();
    differences("", &View::of(&written).value(), &View::of(source).value(), &mut found);
    if written.graph() != source.graph() {
        found.push("the descriptions differ".to_owned());
    }
    found
}

/// A column of a table, as text.
pub fn column(table: &Path, name: &str) -> Vec<String> {
    let blob = Blob::open(&Location::from_path(table)).unwrap();
    let reader = TableReader::open(blob, Encoding::Parquet, &ReadOptions::default()).unwrap();
    let selection = Selection::all().columns([name]);
    let batches = reader.batches(&selection).unwrap();
    batches
        .flat_map(|batch| {
            let batch = batch.unwrap();
            let cells = batch.column(0);
            let text = |row| arrow_cast::display::array_value_to_string(cells, row).unwrap();
            (0..cells.len()).map(text).collect::<Vec<_>>()
        })
        .collect()
}
