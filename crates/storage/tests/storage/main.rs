//! The public interface of locations, bytes and publishing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod budgets;
mod leftovers;
mod locations;
mod reading;
mod sandbox;
mod staging;
mod workplaces;

use isomorph_storage::{FileDigest, Location, StagedFile};
use std::io::Write;
use std::path::Path;

/// Writes and finishes a staged file.
fn fill(mut file: StagedFile, bytes: &[u8]) -> FileDigest {
    file.write_all(bytes).unwrap();
    file.finish().unwrap()
}

fn place(path: &Path) -> Location {
    Location::from_path(path)
}
