//! How a graph is written, and what came of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use isomorph_annnet::WriteOptions;

/// Options that give the same bytes at any time.
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
