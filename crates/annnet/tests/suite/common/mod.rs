//! Shared by the tests of this crate: the location of the fixtures, and a graph in their representation.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod archives;
pub mod build;
pub mod cells;
pub mod changes;
pub mod graphs;
pub mod view;
pub mod write;

use std::path::{Path, PathBuf};

use isomorph_annnet::{Annnet, AnnnetWriter, OpenOptions, WriteOptions};
use isomorph_error::Result;
use isomorph_model::{Delivery, Request, Source, Tables};
use isomorph_storage::{Location, Mode, Staging};
use serde_json::Value;

/// The fixtures of this format.
pub fn fixtures() -> PathBuf {
    isomorph_fixtures::fixture("annnet")
}

/// Opens the graph at `path`.
pub fn open(path: &Path) -> Result<Annnet> {
    Annnet::open(&Location::from_path(path), &OpenOptions::default())
}

/// Writes `source` to `path`, in batches of at most this many rows.
pub fn write(source: &dyn Source, path: &Path, options: &WriteOptions, piece: usize) -> Result<Vec<(String, u64)>> {
    write_to(source, &Location::from_path(path), options, piece)
}

/// Writes `source` to a location of any kind.
pub fn write_to(
    source: &dyn Source,
    location: &Location,
    options: &WriteOptions,
    piece: usize,
) -> Result<Vec<(String, u64)>> {
    let staging = match options.archive {
        true => Staging::file(location, Mode::CreateNew)?,
        false => Staging::directory(location, Mode::CreateNew)?,
    };
    let mut sink = AnnnetWriter::create(&staging, source.graph(), options)?;
    for (number, delivery) in sink.deliveries().into_iter().enumerate() {
        let tables = match delivery {
            Delivery::Nodes(ty) => Tables::Nodes(ty),
            Delivery::EdgesWithKeys(ty) => Tables::Edges(ty),
            _ => Tables::Rest,
        };
        for mut part in source.scan(&Request::of(tables))? {
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

/// What the published library read from a fixture.
pub fn expected(fixture: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(fixture.join("expected.json")).unwrap()).unwrap()
}

/// Copies a directory.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}
