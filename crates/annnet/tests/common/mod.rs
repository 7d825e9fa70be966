//! What the tests of this crate share: where the fixtures are, and a graph as they write it down.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod archives;
pub mod build;
pub mod cells;
pub mod view;
pub mod write;

use std::path::{Path, PathBuf};

use isomorph_annnet::{Annnet, OpenOptions};
use isomorph_error::Result;
use isomorph_storage::Location;
use serde_json::Value;

/// The fixtures beside the project, if they are there.
pub fn fixtures() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/annnet");
    if root.is_dir() {
        Some(root)
    } else {
        println!("SKIPPED: the fixtures are not at {}", root.display());
        None
    }
}

/// Opens what is at `path`.
pub fn open(path: &Path) -> Result<Annnet> {
    Annnet::open(&Location::from_path(path), &OpenOptions::default())
}

/// What the published library read from a fixture.
pub fn expected(fixture: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(fixture.join("expected.json")).unwrap()).unwrap()
}

/// A copy of a directory.
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
