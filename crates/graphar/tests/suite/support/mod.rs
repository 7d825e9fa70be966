//! Shared code of the tests.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod checksum;
pub mod digest;
pub mod pump;
pub mod social;

use std::path::{Path, PathBuf};

use isomorph_graphar::{GraphAr, OpenOptions};
use isomorph_storage::Location;

/// Returns the directory of the public sample graphs, if it exists.
pub fn samples() -> Option<PathBuf> {
    isomorph_fixtures::public_data("graphar-testing")
}

pub fn open(path: &Path, options: &OpenOptions) -> GraphAr {
    GraphAr::open(&Location::from_path(path), options).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()))
}

/// Returns every file below `directory` with its bytes.
pub fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let root = isomorph_storage::Root::open(&Location::from_path(directory)).unwrap();
    let names = root.list("").unwrap();
    names.into_iter().map(|entry| (entry.name.clone(), root.read(&entry.name, 1 << 30).unwrap().to_vec())).collect()
}
