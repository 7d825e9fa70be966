//! Damaged or hostile stores are not written to, and nothing outside a store is read, written or removed.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::PathBuf;
use std::time::Duration;

use common::store::{GRAPH, NAME, SNAPSHOT, Store, everything_in, file};
use common::{lines, open};
use isomorph_error::Kind;
use isomorph_graphlake::{At, OpenOptions, Order, VacuumOptions};
use isomorph_model::faces::{Object, Quad};
use serde_json::{Value, json};

/// The text of a value in which the object at `wanted` repeats its first name.
fn twice(value: &Value, at: &str, wanted: &str) -> String {
    match value {
        Value::Object(members) => {
            let text = |(name, value): (&String, &Value)| {
                format!("{}:{}", Value::from(name.as_str()), twice(value, &format!("{at}/{name}"), wanted))
            };
            let mut all: Vec<String> = members.iter().map(text).collect();
            if at == wanted {
                all.push(members.iter().next().map(text).unwrap());
            }
            format!("{{{}}}", all.join(","))
        }
        Value::Array(items) => {
            let text = |(number, value)| twice(value, &format!("{at}/{number}"), wanted);
            format!("[{}]", items.iter().enumerate().map(text).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

#[test]
fn a_name_that_stands_twice_is_written_on_by_nobody() {
    let store = Store::new();
    let snapshot = store.json(SNAPSHOT);
    let default = &snapshot["graphs"][GRAPH];
    let at = default["so_data_files"].as_array().unwrap().iter().position(|file| file["predicate"] == NAME).unwrap();
    let partition = default["partitions"].as_object().unwrap().keys().next().unwrap();
    let graph = format!("/graphs/{GRAPH}");
    let mut cases = vec![("store.json", String::new()), ("store.json", "/snapshots/0".to_owned())];
    let inside = [
        String::new(),
        "/graphs".to_owned(),
        graph.clone(),
        format!("{graph}/predicate_index"),
        format!("{graph}/partitions"),
        format!("{graph}/partitions/{partition}"),
        format!("{graph}/so_data_files/{at}"),
        format!("{graph}/so_data_files/{at}/prefix_map"),
    ];
    cases.extend(inside.map(|place| (SNAPSHOT, place)));
    for (name, place) in cases {
        let store = Store::new();
        let text = twice(&store.json(name), "", &place);
        std::fs::write(store.path.join(name), text).unwrap();
        let before = store.metadata();
        let read = store.lines(Order::Subject).unwrap_err();
        assert_eq!(read.broken_rule().unwrap().id, "GRAPHLAKE-JSON", "{name} {place}");
        let written = store.change().unwrap_err();
        assert_eq!(written.broken_rule().unwrap().id, "GRAPHLAKE-JSON", "{name} {place}: {written:?}");
        assert_eq!(written.place().file.as_deref(), Some(name), "{place}");
        assert!(store.vacuum().is_err(), "{name} {place}");
        assert!(store.metadata() == before, "{name} {place}");
    }
}

#[test]
fn a_snapshot_that_is_missing_is_not_built_upon() {
    let store = Store::new();
    let expected = store.lines(Order::Subject).unwrap();
    // The current one.
    let store = store.with("store.json", |store| {
        let snapshots = store["snapshots"].as_array_mut().unwrap();
        snapshots.push(json!({ "id": "snapshot2", "version": 2, "timestamp": 1_800_000_000_000i64 }));
    });
    let before = store.everything();
    for error in [
        store.lines(Order::Subject).unwrap_err(),
        store.change().unwrap_err(),
        store.compact().unwrap_err(),
        store.lake().log(9).unwrap_err(),
        store.vacuum().unwrap_err(),
    ] {
        assert_eq!(
            (error.kind(), error.broken_rule().unwrap().id),
            (Kind::Incomplete, "GRAPHLAKE-STORE-ENTRY"),
            "{error:?}"
        );
        assert_eq!(error.place().file.as_deref(), Some("snapshots/snapshot2.json"));
    }
    assert!(store.everything() == before, "nothing was written or removed");
    let first = OpenOptions { at: At::Version(1), ..OpenOptions::default() };
    assert_eq!(lines(&open(&store.path, &first).unwrap(), Order::Subject).unwrap(), expected);

    // An older one: the others are read and written; while it is listed, it is unknown which files it needs.
    let store = Store::new();
    store.change().unwrap();
    store.change().unwrap();
    let after = store.lines(Order::Subject).unwrap();
    std::fs::remove_file(store.path.join("snapshots/snapshot2.json")).unwrap();
    assert_eq!(store.lines(Order::Subject).unwrap(), after);
    let before = store.everything();
    let keep = VacuumOptions { keep_last: 9, grace: Duration::ZERO, dry_run: false, ..VacuumOptions::default() };
    for error in [store.lake().log(9).unwrap_err(), store.lake().vacuum(&keep).unwrap_err()] {
        assert_eq!(
            (error.kind(), error.broken_rule().unwrap().id),
            (Kind::Incomplete, "GRAPHLAKE-STORE-ENTRY"),
            "{error:?}"
        );
    }
    assert!(store.everything() == before);
    assert_eq!(store.change().unwrap().version, 4);
    // Once expired, it is not missed.
    assert_eq!(store.vacuum().unwrap().snapshots, [1, 2, 3]);
    assert_eq!(store.lake().log(9).unwrap().len(), 1);
    assert_eq!(store.lines(Order::Subject).unwrap(), after);
}

/// A fake data file lies outside, so that a reader that left the store would find what it expects.
fn escaping(path: &str) -> Store {
    let mut inside = PathBuf::new();
    let store = Store::new().with(SNAPSHOT, |snapshot| {
        inside = PathBuf::from(file(snapshot, "so_data_files")["path"].as_str().unwrap());
        file(snapshot, "so_data_files")["path"] = json!(path);
    });
    std::fs::rename(store.path.join(inside), store.home.path().join("outside.bin")).unwrap();
    store
}

#[test]
fn nothing_outside_is_read_written_or_removed() {
    let absolute = |store: &Store| store.home.path().join("outside.bin").to_str().unwrap().to_owned();
    for path in
        ["../outside.bin", "graphs/../../outside.bin", "./../outside.bin", "absolute", "link", "C:\\outside.bin"]
    {
        let mut store = escaping(path);
        if path == "absolute" {
            let path = absolute(&store);
            store = store.with(SNAPSHOT, |snapshot| file(snapshot, "so_data_files")["path"] = json!(path));
        }
        #[cfg(unix)]
        if path == "link" {
            std::os::unix::fs::symlink("../outside.bin", store.path.join("link")).unwrap();
        }
        let before = store.metadata();
        let refused = |error: isomorph_error::Error| {
            assert!(matches!(error.kind(), Kind::Malformed | Kind::Incomplete), "{path}: {error:?}");
        };
        refused(store.lines(Order::Subject).unwrap_err());
        // What is to be deleted must be looked up.
        refused(store.change().unwrap_err());
        assert!(store.metadata() == before, "{path}");
        let lake = store.lake();
        let mut copied = lake.begin().unwrap();
        copied.copy_graph(None, Some("urn:copy")).unwrap();
        // A copy lists the files of its original; nothing is read.
        if let Ok(done) = copied.commit() {
            assert_eq!(done.unwrap().version, 2);
            refused(store.lines(Order::Subject).unwrap_err());
        }
        // Vacuum removes only what is in the store, if anything.
        drop(store.vacuum());
        assert!(store.home.path().join("outside.bin").is_file(), "{path}");
    }
}

#[test]
fn a_snapshot_outside_is_neither_read_nor_removed() {
    for id in ["../../outside", "../outside", "a/../../../outside", "/outside", "", ".", "a\\b", "a\u{0}b"] {
        let store = Store::new();
        let mut snapshot = store.json(SNAPSHOT);
        (snapshot["id"], snapshot["version"]) = (json!(id), json!(2));
        for outside in [store.home.path().join("outside.json"), store.path.join("outside.json")] {
            std::fs::write(outside, snapshot.to_string()).unwrap();
        }
        let entry = json!({ "id": id, "version": 2, "timestamp": 1_800_000_000_000i64 });
        let store = store.with("store.json", |list| list["snapshots"].as_array_mut().unwrap().push(entry));
        let before = store.everything();
        assert!(store.lines(Order::Subject).is_err(), "{id:?}");
        assert!(store.change().is_err(), "{id:?}");
        assert!(store.compact().is_err(), "{id:?}");
        assert!(store.everything() == before, "{id:?}");
        // When it expires, its entry is removed, and nothing outside.
        let last = json!({ "id": "snapshot1", "version": 1, "timestamp": 1 });
        let store = store.with("store.json", |list| {
            (list["snapshots"][0], list["snapshots"][1]["version"]) = (last, json!(0));
        });
        let vacuumed = store.vacuum();
        assert!(store.home.path().join("outside.json").is_file(), "{id:?}: {vacuumed:?}");
        assert!(store.path.join("outside.json").is_file(), "{id:?}: {vacuumed:?}");
    }
}

#[test]
fn names_of_others_are_no_directories() {
    for id in
        ["../../escaped", "..", ".", "/escaped", "a/../../../escaped", "a\\..\\escaped", "", "a\u{0}b", "CON", "~"]
    {
        for of_graph in [false, true] {
            let store = Store::new().with(SNAPSHOT, |snapshot| {
                let graph = &mut snapshot["graphs"][GRAPH];
                if of_graph {
                    graph["id"] = json!(id);
                } else {
                    let own = graph["predicate_index"][NAME].as_str().unwrap().to_owned();
                    graph["predicate_index"][NAME] = json!(id);
                    let partitions = graph["partitions"].as_object_mut().unwrap();
                    let files = partitions.remove(&own).unwrap();
                    partitions.insert(id.to_owned(), files);
                }
            });
            let before = store.everything();
            let what = format!("{id:?}, of the graph: {of_graph}");
            // Directories are named so that names cannot lead out.
            let done = store.change().unwrap();
            assert_eq!((done.version, done.deleted), (2, 1), "{what}");
            assert!(store.lines(Order::Subject).unwrap().contains("New"), "{what}");
            store.compact().unwrap();
            assert!(store.lines(Order::Subject).unwrap().contains("New"), "{what}");
            assert_eq!(store.broken(), Vec::<&str>::new(), "{what}");
            let mut outside = store.everything();
            outside.retain(|(path, _)| !path.starts_with(&store.path));
            assert!(outside.is_empty(), "{what}: {outside:?}");
            let old = |(path, _): &&(PathBuf, Vec<u8>)| path.extension().is_some_and(|one| one == "bin");
            for (path, bytes) in before.iter().filter(old) {
                assert!(&std::fs::read(path).unwrap() == bytes, "{what}: {path:?}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn directories_that_are_links_lead_no_writer_out() {
    for name in ["graphs", "snapshots"] {
        let store = Store::new();
        let outside = store.home.path().join("outside");
        std::fs::rename(store.path.join(name), &outside).unwrap();
        std::os::unix::fs::symlink("../outside", store.path.join(name)).unwrap();
        let before = everything_in(&outside);
        assert!(store.lines(Order::Subject).is_err(), "{name}");
        assert!(store.change().is_err(), "{name}");
        // New triples are written without reading any file of triples.
        let lake = store.lake();
        let new = Quad { subject: "urn:s", predicate: "urn:new", object: Object::Term("urn:o"), graph: None };
        let inserted = lake.begin().and_then(|mut transaction| {
            transaction.insert(&new)?;
            transaction.commit()
        });
        assert!(inserted.is_err(), "{name}: {inserted:?}");
        drop((store.compact(), store.vacuum()));
        let after = everything_in(&outside);
        assert!(before == after, "{name}: {after:?}");
    }
}

#[test]
fn metadata_that_was_cut_or_flipped_ends_in_an_error_or_an_answer() {
    let sound = Store::new();
    let expected = sound.lines(Order::Subject).unwrap();
    let mut answered = 0;
    for name in ["store.json", SNAPSHOT] {
        let file = sound.path.join(name);
        let bytes = std::fs::read(&file).unwrap();
        let mut broken: Vec<Vec<u8>> = (0..bytes.len()).step_by(13).map(|end| bytes[..end].to_vec()).collect();
        for at in (0..bytes.len()).step_by(3) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            broken.push(flipped);
        }
        for (number, bytes) in broken.iter().enumerate() {
            std::fs::write(&file, bytes).unwrap();
            match sound.lines(Order::Subject) {
                // Names, filters and numbers that do not affect reading may differ now.
                Ok(_) => answered += 1,
                Err(error) => {
                    let kinds = [Kind::Malformed, Kind::Incomplete, Kind::NotFound, Kind::TooLarge];
                    assert!(kinds.contains(&error.kind()), "{name} {number}: {error:?}");
                }
            }
            // Writers parse it in another way.
            if number % 20 == 0 {
                let copy = common::copy(&sound.path);
                let store = Store { path: copy.path().join("lake"), home: copy };
                if store.change().is_ok() {
                    drop(store.lines(Order::Subject));
                }
            }
        }
        std::fs::write(&file, &bytes).unwrap();
    }
    assert!(answered > 0);
    assert_eq!(sound.lines(Order::Subject).unwrap(), expected);
}
