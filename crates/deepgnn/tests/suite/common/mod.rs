//! Shared by the tests of this crate: the location of the fixtures, and directories as bytes.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isomorph_deepgnn::{BuildOptions, Built, DeepGnnWriter, OpenOptions, Text, WriteOptions, build};
use isomorph_error::Result;
use isomorph_model::{Delivery, Request, Source, Tables};
use isomorph_storage::{Location, Mode, Staging};

/// The fixtures of this format.
pub fn fixtures() -> PathBuf {
    isomorph_fixtures::fixture("deepgnn")
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

/// Writes a graph, as the pipeline would, in batches of at most `rows` rows.
pub fn written(source: &dyn Source, out: &Path, options: &WriteOptions, rows: usize) -> Result<()> {
    let location = Location::from_path(out);
    let staging = match options.text {
        Some(_) if options.parts.is_none() => Staging::file(&location, Mode::Replace)?,
        _ => Staging::directory(&location, Mode::Replace)?,
    };
    let mut sink = DeepGnnWriter::create(&staging, source.graph(), options)?;
    for (number, delivery) in sink.deliveries().into_iter().enumerate() {
        let tables = match delivery {
            Delivery::Nodes(ty) => Tables::Nodes(ty),
            Delivery::EdgesAsTheyCome(ty) => Tables::Edges(ty),
            other => panic!("{other:?} is not what this sink should ask for"),
        };
        for mut part in source.scan(&Request::of(tables).in_batches_of(rows))? {
            part.read(&mut |batch| sink.write(number, batch))?;
        }
    }
    sink.finish()?;
    staging.commit(if options.text.is_some() { &[] } else { &["meta.json"] })?;
    Ok(())
}

/// Compares two directories, file by file.
pub fn compare(ours: &Path, theirs: &Path, what: &str) {
    let (ours, theirs) = (files(ours), files(theirs));
    let names: Vec<_> = ours.keys().collect();
    assert_eq!(names, theirs.keys().collect::<Vec<_>>(), "{what}");
    for (name, bytes) in &ours {
        if name == "meta.json" {
            assert_eq!(String::from_utf8_lossy(bytes), String::from_utf8_lossy(&theirs[name]), "{what}");
        }
        assert!(*bytes == theirs[name], "{what}: {name} differs: {bytes:?} {:?}", theirs[name]);
    }
}
