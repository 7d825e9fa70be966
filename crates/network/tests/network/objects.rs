//! Object stores, tested with the library's store in memory.

use std::io::{Read, Write};
use std::sync::Arc;

use isomorph_error::Kind;
use isomorph_storage::{Blob, Location, Mode, Redo, Root, Staging};
use object_store::memory::InMemory;

use crate::{fill, on};

fn lake() -> Location {
    on("s3://lake/data", Arc::default())
}

/// Every object in the bucket.
fn objects(place: &Location) -> Vec<String> {
    let bucket = place.parent().unwrap();
    match Root::open(&bucket) {
        Ok(root) => root.list("").unwrap().into_iter().map(|entry| entry.name).collect(),
        Err(error) => {
            assert_eq!(error.kind(), Kind::NotFound);
            Vec::new()
        }
    }
}

fn put(place: &Location, name: &str, bytes: &[u8]) {
    let staging = Staging::file(&place.join(name).unwrap(), Mode::Replace).unwrap();
    fill(staging.create("").unwrap(), bytes);
    staging.commit(&[]).unwrap();
}

/// More than fits into one or two parts.
fn large() -> Vec<u8> {
    (0..20_000_000_u32).map(|index| (index % 251) as u8).collect()
}

#[test]
fn a_directory_is_written_and_read() {
    let place = lake();
    assert_eq!(Root::open(&place).unwrap_err().kind(), Kind::NotFound);
    let staging = Staging::directory(&place, Mode::CreateNew).unwrap();
    let large = large();
    let digest = fill(staging.create("a/large").unwrap(), &large);
    assert_eq!((digest.size, digest.blake3), (20_000_000, *blake3::hash(&large).as_bytes()));
    fill(staging.create("a/b/small").unwrap(), b"small");
    fill(staging.create("graph.yml").unwrap(), b"name: g");
    fill(staging.companion().create("carry.json").unwrap(), b"{}");
    assert_eq!(objects(&place), [""; 0], "nothing is visible before the commit");
    assert_eq!(staging.commit(&["graph.yml"]).unwrap().files, 4);
    assert_eq!(objects(&place), ["data.isomorph/carry.json", "data/a/b/small", "data/a/large", "data/graph.yml"]);

    let root = Root::open(&place).unwrap();
    let names: Vec<_> = root.list_dir("a").unwrap().into_iter().map(|entry| (entry.name, entry.is_dir)).collect();
    assert_eq!(names, [("a/b".to_owned(), true), ("a/large".to_owned(), false)]);
    let blob = root.file("a/large").unwrap();
    assert_eq!(blob.size(), 20_000_000);
    assert!(blob.read_all(20_000_000).unwrap() == large);
    let ranges = [19_999_990..20_000_000, 0..10, 9_000_000..9_000_001, 5..5];
    for (range, bytes) in ranges.iter().zip(blob.read_ranges(&ranges).unwrap()) {
        assert_eq!(bytes, large[range.start as usize..range.end as usize]);
    }
    let mut all = Vec::new();
    blob.reader().read_to_end(&mut all).unwrap();
    assert!(all == large);
    assert_eq!(root.file("none").unwrap_err().kind(), Kind::NotFound);
    assert!(root.file("../x").is_err());
}

#[test]
fn an_object_that_changes_is_noticed() {
    let place = lake();
    put(&place, "x", b"old text");
    let blob = Blob::open(&place.join("x").unwrap()).unwrap();
    assert_eq!(&blob.read(0..3).unwrap()[..], b"old");
    put(&place, "x", b"new text");
    assert_eq!(blob.read(0..3).unwrap_err().kind(), Kind::Conflict);
    assert_eq!(blob.check_unchanged().unwrap_err().kind(), Kind::Conflict);
}

#[test]
fn what_is_not_proved_is_taken_back() {
    let disk = tempfile::tempdir().unwrap();
    for place in [lake(), Location::from_path(&disk.path().join("data"))] {
        let written = || {
            let staging = Staging::directory(&place, Mode::CreateNew).unwrap();
            fill(staging.create("chunk").unwrap(), b"rows");
            fill(staging.create("graph.yml").unwrap(), b"name: g");
            fill(staging.companion().create("carry.json").unwrap(), b"{}");
            staging
        };
        let read = |location: &Location| Root::open(location)?.read("graph.yml", 10);
        let refused = written().commit_proved(&["graph.yml"], |location| {
            read(location)?;
            Err::<(), _>(isomorph_error::Error::malformed("another graph"))
        });
        assert_eq!(refused.unwrap_err().message(), "another graph");
        assert_eq!(Root::open(&place).unwrap_err().kind(), Kind::NotFound);
        let (published, proof) = written().commit_proved(&["graph.yml"], read).unwrap();
        assert_eq!((published.files, &proof[..]), (3, &b"name: g"[..]));
        assert_eq!(&read(&place).unwrap()[..], b"name: g");
    }
}

#[test]
fn an_aborted_run_deletes_what_it_wrote() {
    let place = lake();
    let staging = Staging::directory(&place, Mode::CreateNew).unwrap();
    // More than is held in memory, so that some of it becomes visible early.
    let part = vec![7; 5_000_000];
    for number in 0..16 {
        fill(staging.create(&format!("chunk{number:02}")).unwrap(), &part);
    }
    fill(staging.create("large").unwrap(), &large());
    let mut half = staging.create("half").unwrap();
    half.write_all(&large()).unwrap();
    let visible = objects(&place);
    assert!(!visible.is_empty() && visible.len() < 16, "{visible:?}");
    drop((half, staging));
    assert_eq!(objects(&place), [""; 0]);
}

#[test]
fn of_two_new_writers_the_second_fails_and_harms_nothing() {
    let place = lake();
    let begin = |name: &str| {
        let staging = Staging::directory(&place, Mode::CreateNew).unwrap();
        fill(staging.create(name).unwrap(), name.as_bytes());
        fill(staging.create("graph.yml").unwrap(), name.as_bytes());
        staging
    };
    let (first, second) = (begin("one"), begin("two"));
    first.commit(&["graph.yml"]).unwrap();
    assert_eq!(second.commit(&["graph.yml"]).unwrap_err().kind(), Kind::AlreadyExists);
    assert_eq!(objects(&place), ["data/graph.yml", "data/one"]);
    assert_eq!(&Root::open(&place).unwrap().read("graph.yml", 10).unwrap()[..], b"one");
    assert_eq!(Staging::directory(&place, Mode::CreateNew).unwrap_err().kind(), Kind::AlreadyExists);
    let inside = place.join("one").unwrap();
    assert_eq!(Staging::file(&inside, Mode::CreateNew).unwrap_err().kind(), Kind::AlreadyExists);
}

#[test]
fn replacing_removes_what_is_no_longer_there() {
    let place = lake();
    for names in [["a", "graph.yml"], ["b", "graph.yml"]] {
        let staging = Staging::directory(&place, Mode::Replace).unwrap();
        for name in names {
            fill(staging.create(name).unwrap(), name.as_bytes());
        }
        fill(staging.companion().create(names[0]).unwrap(), b"{}");
        staging.commit(&["graph.yml"]).unwrap();
    }
    assert_eq!(objects(&place), ["data.isomorph/b", "data/b", "data/graph.yml"]);
}

#[test]
fn a_manifest_that_could_not_be_kept_back_is_an_error() {
    let place = lake();
    let staging = Staging::directory(&place, Mode::CreateNew).unwrap();
    fill(staging.create("graph.yml").unwrap(), b"too early");
    let part = vec![7; 5_000_000];
    for number in 0..16 {
        fill(staging.create(&format!("chunk{number:02}")).unwrap(), &part);
    }
    let error = staging.commit(&["graph.yml"]).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.hints().any(|hint| hint.contains("after everything else")));
    assert_eq!(objects(&place), [""; 0]);
}

#[test]
fn several_objects_change_and_the_rest_stays() {
    let place = lake();
    for name in ["graph.yml", "v/0", "gone/0"] {
        put(&place, name, b"old");
    }
    let root = Root::open(&place).unwrap();
    let redo = Redo::begin(&root).unwrap();
    fill(redo.create("v/1").unwrap(), b"new");
    fill(redo.create("graph.yml").unwrap(), b"new");
    redo.remove("gone").unwrap();
    redo.commit(&["graph.yml"]).unwrap();
    assert_eq!(objects(&place), ["data/graph.yml", "data/v/0", "data/v/1"]);
    assert_eq!(&root.read("graph.yml", 10).unwrap()[..], b"new");
}

#[test]
fn web_servers_are_read_only() {
    let place = on("https://example.org/x", Arc::default());
    assert_eq!(Staging::file(&place, Mode::Replace).unwrap_err().kind(), Kind::Usage);
    assert_eq!(Redo::begin(&Root::open(&place).unwrap()).unwrap_err().kind(), Kind::Usage);
}

#[test]
fn a_web_server_is_read_by_name_and_never_listed() {
    let store = Arc::new(InMemory::new());
    put(&on("s3://lake/site", store.clone()), "a/b.yml", b"text");
    let site = on("http://lake.example/site", store);
    let root = Root::open(&site).unwrap();
    assert_eq!(&root.read("a/b.yml", 10).unwrap()[..], b"text");
    assert_eq!(root.file("a/c.yml").unwrap_err().kind(), Kind::NotFound);
    for listed in [root.list("").map(drop), root.list_dir("a").map(drop), Staging::file(&site, Mode::Replace).map(drop)]
    {
        assert!(matches!(listed.unwrap_err().kind(), Kind::Unsupported | Kind::Usage));
    }
}

#[test]
fn a_change_is_refused_when_somebody_was_faster() {
    let place = lake();
    put(&place, "v/1", b"old");
    put(&place, "graph.yml", b"old");
    let read = |name: &str| Root::open(&place).unwrap().read(name, 10).unwrap();
    let begin = |expected: &isomorph_storage::Fingerprint| {
        let redo = Redo::begin(&Root::open(&place).unwrap()).unwrap();
        fill(redo.create("v/1").unwrap(), b"new");
        fill(redo.create("graph.yml").unwrap(), b"new");
        redo.expect("graph.yml", expected).unwrap();
        redo
    };
    let before = Root::open(&place).unwrap().file("graph.yml").unwrap().opened_as().clone();
    let late = begin(&before);
    put(&place, "graph.yml", b"other");
    assert_eq!(late.commit(&["graph.yml"]).unwrap_err().kind(), Kind::Conflict);
    assert_eq!(&read("graph.yml")[..], b"other", "the manifest is that of the faster writer");
    let now = Root::open(&place).unwrap().file("graph.yml").unwrap().opened_as().clone();
    begin(&now).commit(&["graph.yml"]).unwrap();
    assert_eq!((&read("v/1")[..], &read("graph.yml")[..]), (&b"new"[..], &b"new"[..]));
}
