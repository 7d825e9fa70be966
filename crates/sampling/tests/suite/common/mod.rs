//! Shared code of the tests.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use isomorph_deepgnn::{BuildOptions, OpenOptions, Text, build};
use isomorph_sampling::{Graph, GraphOptions, Hold};
use isomorph_storage::{Budget, Location, Mode, Scratch, Staging};
use serde_json::Value;

/// Returns the directory of the DeepGNN fixtures.
pub fn fixtures() -> PathBuf {
    isomorph_fixtures::fixture("deepgnn")
}

/// Calls `check` with each binary of the fixtures for which the published engine's answers are known.
pub fn each_fixture(check: impl Fn(&str, &Path, &Value)) {
    let root = fixtures();
    let mut seen = 0;
    for group in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for path in std::fs::read_dir(group).unwrap().map(|entry| entry.unwrap().path()) {
            let Some(name) = path.to_str().and_then(|path| path.strip_suffix(".expected.json")) else { continue };
            let expected: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            check(name, Path::new(name), &expected);
            seen += 1;
        }
    }
    assert!(seen >= 14, "{seen} binaries with answers");
}

/// Returns the options for tests.
pub fn options() -> GraphOptions {
    GraphOptions::new(&Budget::new(64 << 20), &Scratch::new(None).unwrap())
}

/// Opens a binary, mapped or copied depending on the length of its name.
pub fn opened(path: &Path) -> Arc<Graph> {
    let hold = if path.as_os_str().len().is_multiple_of(2) { Hold::Mapped } else { Hold::Copied };
    Arc::new(Graph::open(&Location::from_path(path), &GraphOptions { hold, ..options() }).unwrap())
}

pub fn ids(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
}

pub fn types(value: &Value) -> Vec<i32> {
    ids(value).into_iter().map(|ty| ty as i32).collect()
}

pub fn floats(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap() as f32).collect()
}

pub fn rows(value: &Value) -> Vec<Vec<i64>> {
    value.as_array().unwrap().iter().map(ids).collect()
}

/// A binary built from a Linear text in a temporary directory.
pub struct Built {
    pub path: PathBuf,
    _home: tempfile::TempDir,
}

impl Built {
    /// Builds it with this number of partitions.
    pub fn of(linear: &str, partitions: u32) -> Built {
        Built::with(linear, "linear", partitions, None)
    }

    /// Builds it from a text of some format, with times if there is a watermark.
    pub fn with(text: &str, extension: &str, partitions: u32, watermark: Option<i64>) -> Built {
        let home = tempfile::tempdir().unwrap();
        let (source, path) = (home.path().join(format!("graph.{extension}")), home.path().join("graph"));
        std::fs::write(&source, text).unwrap();
        let text = Text::open(&Location::from_path(&source), &OpenOptions::default()).unwrap();
        let staging = Staging::directory(&Location::from_path(&path), Mode::CreateNew).unwrap();
        let options = BuildOptions { partitions, watermark, ..BuildOptions::default() };
        build(&text, &staging, &options, &|_| Ok(())).unwrap();
        staging.commit(&["meta.json"]).unwrap();
        Built { path, _home: home }
    }

    /// Returns a copy without tables for weighted sampling.
    pub fn without_tables(&self) -> Built {
        self.copy(|name| !name.ends_with(".alias"))
    }

    /// Returns a copy of some of its files.
    pub fn copy(&self, keep: impl Fn(&str) -> bool) -> Built {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("graph");
        std::fs::create_dir(&path).unwrap();
        for entry in std::fs::read_dir(&self.path).unwrap().map(|entry| entry.unwrap()) {
            if keep(entry.file_name().to_str().unwrap()) {
                std::fs::copy(entry.path(), path.join(entry.file_name())).unwrap();
            }
        }
        Built { path, _home: home }
    }
}
