//! What the tests of this crate share: where the fixtures are, and directories as bytes.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isomorph_deepgnn::{BuildOptions, Built, OpenOptions, Text, build};
use isomorph_error::Result;
use isomorph_storage::{Location, Mode, Staging};

/// The fixtures beside the project, if they are there.
pub fn fixtures() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/deepgnn");
    if root.is_dir() {
        Some(root)
    } else {
        println!("SKIPPED: the fixtures are not at {}", root.display());
        None
    }
}

/// The files of a directory.
pub fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let visible = entries.filter(|entry| entry.file_type().unwrap().is_file());
    visible.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
}

/// Builds the binary of the text at `path`.
pub fn built(path: &Path, out: &Path, open: &OpenOptions, options: &BuildOptions) -> Result<Built> {
    let text = Text::open(&Location::from_path(path), open)?;
    let staging = Staging::directory(&Location::from_path(out), Mode::Replace)?;
    let built = build(&text, &staging, options, &|_| Ok(()))?;
    staging.commit(&["meta.json"])?;
    Ok(built)
}

/// A text of one file in a new directory, with defaults if there are any.
pub fn text(home: &Path, name: &str, text: &str, meta: Option<&str>) -> PathBuf {
    let directory = home.join("text");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(name), text).unwrap();
    if let Some(meta) = meta {
        std::fs::write(directory.join("meta.json"), meta).unwrap();
    }
    directory.join(name)
}
