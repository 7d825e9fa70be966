//! Stores for which other writers wrote one order only, or less of one: every question has the same answer as with both
//! orders.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use common::answers::{Asked, Extent, answers, assert_same};
use common::{broken, open, write};
use isomorph_graphlake::{CompactMode, Lake, OpenOptions, VacuumOptions, WriteOptions, rules};
use isomorph_model::Source;
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Budget, Location};
use serde_json::Value;

const BY_SUBJECT: &str = "http://example.org/by-subject";
const BY_OBJECT: &str = "http://example.org/by-object";
const BOTH: &str = "http://example.org/both";

/// A store of 12,180 triples in two graphs, 42 of which were deleted again: files that are large enough for an index,
/// deletions, and triples that were added later.
fn store() -> (tempfile::TempDir, PathBuf) {
    store_of(&WriteOptions::default())
}

fn store_of(options: &WriteOptions) -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let each = |number: usize, take: &mut dyn FnMut(&Quad<'_>)| {
        let (subject, other) =
            (format!("http://example.org/s{:04}", number / 3), format!("http://example.org/o{number}"));
        let object = match number % 2 {
            0 => Object::Term(&other),
            _ => Object::Literal { lexical: &other, datatype: "", language: None, direction: None },
        };
        for graph in [None, Some("http://example.org/g")] {
            for predicate in [BY_SUBJECT, BY_OBJECT, BOTH] {
                take(&Quad { subject: &subject, predicate, object, graph });
            }
        }
    };
    write(&path, options, |writer| {
        (0..2000).try_for_each(|number| {
            let mut done = Ok(());
            each(number, &mut |quad| done = std::mem::replace(&mut done, Ok(())).and_then(|()| writer.push(quad)));
            done
        })
    })
    .unwrap();
    let lake = lake(&path);
    let mut deletion = lake.begin().unwrap();
    (0..2000).step_by(300).for_each(|number| each(number, &mut |quad| deletion.delete(quad).unwrap()));
    assert_eq!(deletion.commit().unwrap().unwrap().deleted, 42);
    let mut later = lake.begin().unwrap();
    (0..3000).skip(1990).step_by(33).for_each(|number| each(number, &mut |quad| later.insert(quad).unwrap()));
    assert!(later.commit().unwrap().unwrap().inserted > 100);
    (home, path)
}

fn lake(path: &Path) -> Lake {
    let options = WriteOptions { threads: 1, ..WriteOptions::default() };
    Lake::open(&Location::from_path(path), &OpenOptions::default(), &options).unwrap()
}

/// The files of a predicate that are removed.
#[derive(Clone, Copy)]
enum Lost {
    All,
    /// All of this version.
    Version(i64),
    /// The first one.
    First,
}

/// Removes files of a predicate from a list of each graph of the newest snapshot.
fn drop_files(path: &Path, list: &str, predicate: &str, lost: Lost) {
    let name = path.join("snapshots/snapshot3.json");
    let mut snapshot: Value = serde_json::from_slice(&std::fs::read(&name).unwrap()).unwrap();
    for graph in snapshot["graphs"].as_object_mut().unwrap().values_mut() {
        let mut dropped = HashSet::new();
        graph[list].as_array_mut().unwrap().retain(|file| {
            let is_of = match lost {
                Lost::All => true,
                Lost::Version(version) => file["snapshot_version"] == version,
                Lost::First => dropped.is_empty(),
            };
            let drop = file["predicate"] == predicate && is_of;
            if drop {
                dropped.insert(file["id"].clone());
            }
            !drop
        });
        assert!(!dropped.is_empty());
        for partition in graph["partitions"].as_object_mut().unwrap().values_mut() {
            partition["files"].as_array_mut().unwrap().retain(|id| !dropped.contains(id));
        }
    }
    std::fs::write(name, snapshot.to_string()).unwrap();
}

fn asked<'a>() -> Vec<Asked<'a>> {
    vec![
        ("http://example.org/s0007", BY_SUBJECT, Object::Term("http://example.org/o22")),
        (
            "http://example.org/s0007",
            BY_OBJECT,
            Object::Literal { lexical: "http://example.org/o23", datatype: "", language: None, direction: None },
        ),
        // Deleted again.
        ("http://example.org/s0100", BY_OBJECT, Object::Term("http://example.org/o300")),
        ("http://example.org/s0101", BOTH, Object::Term("http://example.org/o304")),
        ("http://example.org/none", BY_OBJECT, Object::Term("http://example.org/none")),
    ]
}

fn said(path: &Path, options: &OpenOptions) -> Vec<String> {
    let lake = open(path, options).unwrap();
    let about = lake.about().layout;
    let mut all = answers(&Arc::new(lake), &asked(), Extent::Everything);
    // The number of records is reported for both alike.
    all.extend(about.split(" · ").filter(|part| part.contains("record") || part.contains("delet")).map(str::to_owned));
    all
}

/// The store, and stores without one order: completely, in the first version, or in one of many files.
fn both(lost: Lost) -> [(tempfile::TempDir, PathBuf); 2] {
    let bytes = if matches!(lost, Lost::First) { 16 << 10 } else { WriteOptions::default().file_bytes };
    let options = WriteOptions { file_bytes: bytes, ..WriteOptions::default() };
    let (sound, less) = (store_of(&options), store_of(&options));
    drop_files(&less.1, "os_data_files", BY_SUBJECT, lost);
    drop_files(&less.1, "so_data_files", BY_OBJECT, lost);
    [sound, less]
}

#[test]
fn one_order_answers_for_both() {
    [Lost::All, Lost::Version(1), Lost::First].into_iter().for_each(answers_for_both);
}

fn answers_for_both(lost: Lost) {
    let [(_sound_home, sound), (_home, path)] = both(lost);
    for naive in [false, true] {
        let options = OpenOptions { naive, ..OpenOptions::default() };
        assert_same(&said(&path, &options), &said(&sound, &options), &format!("naive {naive}"));
    }
    let mut found = broken(&path, &OpenOptions::default());
    found.retain(|rule| *rule != "GRAPHLAKE-ORPHAN");
    assert_eq!(found, ["GRAPHLAKE-ORDERS-DIFFER"]);
    let noticed = open(&path, &OpenOptions::default()).unwrap().about().findings;
    assert_eq!(noticed.by_rule().map(|(_, kept)| kept[0].rule.id).collect::<Vec<_>>(), ["GRAPHLAKE-ORDERS-DIFFER"]);
    let records =
        |path| lake(path).log(1).unwrap().into_iter().map(|event| (event.records, event.triples)).collect::<Vec<_>>();
    assert_eq!(records(&path), records(&sound));
}

#[test]
fn nothing_is_added_to_one_order_and_compaction_writes_both() {
    [Lost::All, Lost::Version(1), Lost::First].into_iter().for_each(compaction_writes_both);
}

fn compaction_writes_both(lost: Lost) {
    let [(_sound_home, sound), (_home, path)] = both(lost);
    let lake = lake(&path);
    let quad = |predicate| {
        let (subject, object) = ("http://example.org/new", Object::Term("http://example.org/new"));
        Quad { subject, predicate, object, graph: None }
    };
    for predicate in [BY_SUBJECT, BY_OBJECT] {
        for delete in [false, true] {
            let mut transaction = lake.begin().unwrap();
            if delete { transaction.delete(&quad(predicate)) } else { transaction.insert(&quad(predicate)) }.unwrap();
            let error = transaction.commit().unwrap_err();
            assert_eq!(error.broken_rule(), Some(&rules::ORDERS_DIFFER), "{error:?}");
            assert!(error.hints().any(|hint| hint.contains("compact")), "{error:?}");
        }
    }
    let mut other = lake.begin().unwrap();
    other.insert(&quad(BOTH)).unwrap();
    assert_eq!(other.commit().unwrap().unwrap().inserted, 1);
    let mut undo = lake.begin().unwrap();
    undo.delete(&quad(BOTH)).unwrap();
    undo.commit().unwrap();
    let done = lake.compact(CompactMode::Full, &|_| Ok(())).unwrap();
    assert!(done.commit.is_some());
    // Old snapshots are as they were.
    lake.vacuum(&VacuumOptions { keep_last: 1, grace: Duration::ZERO, dry_run: false, ..VacuumOptions::default() })
        .unwrap();
    assert_eq!(broken(&path, &OpenOptions::default()), Vec::<&str>::new());
    self::lake(&sound).compact(CompactMode::Full, &|_| Ok(())).unwrap();
    let options = OpenOptions::default();
    assert_same(&said(&path, &options), &said(&sound, &options), "compacted");
    let mut transaction = lake.begin().unwrap();
    transaction.insert(&quad(BY_OBJECT)).unwrap();
    assert_eq!(transaction.commit().unwrap().unwrap().inserted, 1);
}

#[test]
fn what_does_not_fit_into_memory_is_refused() {
    let (_home, path) = store();
    drop_files(&path, "so_data_files", BY_OBJECT, Lost::All);
    let options = OpenOptions { budget: Budget::new(270_000), ..OpenOptions::default() };
    let lake = open(&path, &options).unwrap();
    let error = lake.quads(isomorph_graphlake::Order::Subject, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), isomorph_error::Kind::TooLarge, "{error:?}");
}

/// If each order lacks triples of the other, no read is complete, and nothing merges it.
#[test]
fn orders_that_lack_different_triples_are_found_and_left() {
    let (_home, path) = store_of(&WriteOptions { file_bytes: 16 << 10, ..WriteOptions::default() });
    drop_files(&path, "os_data_files", BOTH, Lost::First);
    drop_files(&path, "so_data_files", BOTH, Lost::Version(3));
    let noticed = open(&path, &OpenOptions::default()).unwrap().about().findings;
    assert_eq!(noticed.count(&rules::ORDERS_DIFFER), 2, "one for each graph");
    let lake = lake(&path);
    let error = lake.compact(CompactMode::Full, &|_| Ok(())).unwrap_err();
    assert_eq!(error.broken_rule(), Some(&rules::ORDERS_DIFFER), "{error:?}");
    let mut transaction = lake.begin().unwrap();
    let object = Object::Term("http://example.org/new");
    transaction.insert(&Quad { subject: "http://example.org/new", predicate: BOTH, object, graph: None }).unwrap();
    let error = transaction.commit().unwrap_err();
    assert!(error.hints().any(|hint| hint.contains("validate")), "{error:?}");
}
