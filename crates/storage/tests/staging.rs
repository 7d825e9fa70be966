//! What a writer sees of the publish protocol on a healthy disk.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Read, Write};

use isomorph_error::Kind;
use isomorph_storage::{Blob, Location, Mode, Root, Staging};

#[test]
fn a_directory_appears_whole_and_in_one_step() {
    let home = tempfile::tempdir().unwrap();
    let place = Location::from_path(&home.path().join("graph"));
    let staging = Staging::directory(&place, Mode::CreateNew).unwrap();
    let mut chunk = staging.create("vertex/person/chunk0").unwrap();
    chunk.write_all(b"rows").unwrap();
    assert_eq!(chunk.finish().unwrap().size, 4);
    staging.create("graph.yml").unwrap().finish().unwrap();
    assert_eq!(Root::open(&place).unwrap_err().kind(), Kind::NotFound);
    staging.commit(&["graph.yml"]).unwrap();
    let root = Root::open(&place).unwrap();
    let names: Vec<String> = root.list("").unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["graph.yml", "vertex/person/chunk0"]);
    let mut text = String::new();
    root.file("vertex/person/chunk0").unwrap().reader().read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), root.bytes_read()), ("rows", 4));
}

#[test]
fn a_dropped_staging_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let place = Location::from_path(&home.path().join("graph.parquet"));
    let staging = Staging::file(&place, Mode::CreateNew).unwrap();
    staging.create("graph.parquet").unwrap().write_all(b"half").unwrap();
    drop(staging);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn create_new_refuses_what_exists() {
    let home = tempfile::tempdir().unwrap();
    let place = Location::from_path(&home.path().join("graph.parquet"));
    std::fs::write(place.as_path().unwrap(), b"old").unwrap();
    assert_eq!(Staging::file(&place, Mode::CreateNew).unwrap_err().kind(), Kind::AlreadyExists);
    let staging = Staging::file(&place, Mode::Replace).unwrap();
    let mut file = staging.create("").unwrap();
    file.write_all(b"new").unwrap();
    file.finish().unwrap();
    staging.commit(&[]).unwrap();
    assert_eq!(&Blob::open(&place).unwrap().read_all(10).unwrap()[..], b"new");
}
