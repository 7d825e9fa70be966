//! Damaged binaries: an error or another graph, never a panic, and no allocation beyond the size of the files.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::path::Path;

use common::{built, files, text};
use isomorph_deepgnn::{BuildOptions, DeepGnn, OpenOptions};
use isomorph_error::{Error, Findings};
use isomorph_model::{Request, Source, Tables};
use isomorph_storage::Location;

const GRAPH: &str = "-1 1 0 1.0 float32 2 1 2 binary_feature 1 ab 1 2 0 .5 uint8 3,3 0 4 10 1 1 1 1 3 1 .25
-1 2 1 1.0 float32 1 7
-1 3 0 2.0 2 9 0 1 int64 1 5
";

fn options() -> OpenOptions {
    let types = |types: &[(u32, &str)]| types.iter().map(|(id, ty)| (*id, ty.parse().unwrap())).collect();
    OpenOptions {
        node_features: types(&[(0, "float32"), (1, "text")]),
        edge_features: types(&[(0, "sparse-uint8")]),
        ..OpenOptions::default()
    }
}

/// Opens and reads everything.
fn read(path: &Path, options: &OpenOptions) -> Result<u64, Error> {
    let graph = DeepGnn::open(&Location::from_path(path), options)?;
    let mut rows = 0;
    for mut part in graph.scan(&Request::of(Tables::All))? {
        part.read(&mut |batch| {
            rows += batch.rows() as u64;
            Ok(())
        })?;
    }
    graph.validate(&mut Findings::default())?;
    Ok(rows)
}

fn binary(home: &Path, name: &str) -> std::path::PathBuf {
    let path = text(home, "graph.linear", GRAPH, None);
    let out = home.join(name);
    let options = BuildOptions { watermark: Some(9), ..BuildOptions::default() };
    built(&path, &out, &OpenOptions::default(), &options).unwrap();
    out
}

#[test]
fn a_sound_binary_is_read() {
    let home = tempfile::tempdir().unwrap();
    let path = binary(home.path(), "sound");
    assert_eq!(read(&path, &OpenOptions::default()).unwrap(), 3 + 3);
    // The edge of the third node has a dense feature where a sparse one is declared.
    let error = read(&path, &options()).unwrap_err();
    assert_eq!(error.broken_rule().unwrap().id, "DEEPGNN-BOUNDS");
}

#[test]
fn files_that_are_missing_or_too_short_are_named() {
    let home = tempfile::tempdir().unwrap();
    let path = binary(home.path(), "cut");
    for (name, bytes) in files(&path) {
        if name.ends_with(".alias") {
            continue;
        }
        let file = path.join(&name);
        std::fs::remove_file(&file).unwrap();
        let error = read(&path, &OpenOptions::default()).unwrap_err();
        assert!(error.to_string().contains(&name) || name == "meta.json", "{name}: {error}");
        for length in 0..bytes.len() {
            std::fs::write(&file, &bytes[..length]).unwrap();
            let error = read(&path, &OpenOptions::default()).unwrap_err();
            let rule = error.broken_rule().map(|rule| rule.id);
            assert!(matches!(rule, Some("DEEPGNN-BOUNDS" | "DEEPGNN-META")), "{name} {length}: {error}");
        }
        std::fs::write(&file, &bytes).unwrap();
    }
    read(&path, &OpenOptions::default()).unwrap();
}

#[test]
fn every_changed_byte_is_survived() {
    let home = tempfile::tempdir().unwrap();
    let path = binary(home.path(), "changed");
    let (mut refused, mut read_on) = (0, 0);
    for (name, bytes) in files(&path) {
        for at in 0..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                std::fs::write(path.join(&name), &changed).unwrap();
                for options in [OpenOptions::default(), options()] {
                    match read(&path, &options) {
                        Ok(_) => read_on += 1,
                        Err(_) => refused += 1,
                    }
                }
            }
        }
        std::fs::write(path.join(&name), &bytes).unwrap();
    }
    assert!(refused > 500 && read_on > 100, "{refused} {read_on}");
}

#[test]
fn older_metadata_is_read() {
    let home = tempfile::tempdir().unwrap();
    let path = binary(home.path(), "old");
    std::fs::remove_file(path.join("meta.json")).unwrap();
    for version in ["", "v1\n"] {
        std::fs::write(
            path.join("meta.txt"),
            format!("{version}3\n3\n2\n2\n2\n1\n1\n0\n3.0\n1.0\n1.5\n.25\n2\n1\n2\n1\n"),
        )
        .unwrap();
        assert_eq!(read(&path, &OpenOptions::default()).unwrap(), 6);
    }
}
