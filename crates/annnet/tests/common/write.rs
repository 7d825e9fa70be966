//! Writing a graph, and looking at what came of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use isomorph_annnet::{AnnnetWriter, WriteOptions};
use isomorph_error::Result;
use isomorph_model::{Delivery, Request, Source, Tables};
use isomorph_storage::{Location, Mode, Staging};

/// Options that give the same bytes at any time.
pub fn options() -> WriteOptions {
    WriteOptions { created: Some(UNIX_EPOCH + Duration::from_micros(1_500_000)), ..WriteOptions::default() }
}

/// Writes `source` to `path`, in pieces of so many rows.
pub fn write(source: &dyn Source, path: &Path, options: &WriteOptions, piece: usize) -> Result<Vec<(String, u64)>> {
    let location = Location::from_path(path);
    let staging = match options.archive {
        true => Staging::file(&location, Mode::CreateNew)?,
        false => Staging::directory(&location, Mode::CreateNew)?,
    };
    let mut sink = AnnnetWriter::create(&staging, source.graph(), options)?;
    for (number, delivery) in sink.deliveries().into_iter().enumerate() {
        let tables = match delivery {
            Delivery::Nodes(ty) => Tables::Nodes(ty),
            Delivery::EdgesWithKeys(ty) => Tables::Edges(ty),
            _ => Tables::Rest,
        };
        for part in source.scan(&Request::of(tables))? {
            part.read(&mut |batch| {
                let starts = (0..batch.rows()).step_by(piece);
                starts
                    .map(|at| batch.slice(at, piece.min(batch.rows() - at)))
                    .try_for_each(|own| sink.write(number, own))
            })?;
        }
    }
    let written = sink.finish()?;
    staging.commit(&[])?;
    Ok(written.files)
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
