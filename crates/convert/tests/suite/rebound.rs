//! Binds sidecars again: those of older versions too, and only if the files contain nothing that they do not read.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use isomorph_convert::{OpenOptions, Opened, Registry, Silent, sidecar};
use isomorph_fixtures::fixture;
use isomorph_storage::{Budget, Location, Resources};
use serde_json::Value;

fn resources() -> Resources {
    Resources { threads: 2, budget: Budget::new(1 << 30), ..Resources::of_this_machine().unwrap() }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}

/// The sidecar of the data at `path`, if there is one.
fn document(path: &Path) -> Option<PathBuf> {
    let inside = path.join("_isomorph/carry.json");
    let mut name = path.file_name().unwrap().to_owned();
    name.push(".isomorph");
    let beside = path.with_file_name(name).join("carry.json");
    [inside, beside].into_iter().find(|document| document.is_file())
}

/// Changes the hash of one file in a sidecar; returns whether the sidecar has the digests of its graph.
fn made_stale(document: &Path) -> bool {
    let mut sidecar: Value = serde_json::from_slice(&fs::read(document).unwrap()).unwrap();
    sidecar["files"][0]["tail"] = "0".repeat(64).into();
    fs::write(document, sidecar.to_string()).unwrap();
    sidecar.get("digests").is_some()
}

#[test]
fn whatever_an_older_version_wrote_is_bound_again() {
    let home = tempfile::tempdir().unwrap();
    copy(&fixture("sidecars"), home.path());
    let expected = fs::read(home.path().join("expected.json")).unwrap();
    let expected: serde_json::Map<String, Value> = serde_json::from_slice(&expected).unwrap();
    let (mut bound, mut failed) = (0, Vec::new());
    for path in expected.keys() {
        let place = home.path().join(path);
        let Some(document) = document(&place) else { continue };
        if !made_stale(&document) {
            continue;
        }
        let place = Location::from_path(&place);
        match sidecar::rebind(&place, &Registry::standard(), &resources(), &Silent) {
            Err(error) => failed.push(format!("{path}: {error}")),
            Ok(_) => {
                Opened::open(&place, &OpenOptions::default()).unwrap_or_else(|error| panic!("{path}: {error}"));
                bound += 1;
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(bound >= 49, "{bound} sidecars");
}
