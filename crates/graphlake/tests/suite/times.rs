//! Versions and times of snapshots ascend, whatever the clock says (R5).
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::{broken, copy, fixtures, lines, open};
use isomorph_graphlake::{At, CompactMode, Lake, OpenOptions, Order, WriteOptions};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;
use serde_json::{Value, json};

/// A writer whose clock shows this many milliseconds since 1970, or before.
fn at(path: &Path, clock: i64) -> Lake {
    let span = Duration::from_millis(clock.unsigned_abs());
    let time: SystemTime = if clock < 0 { UNIX_EPOCH - span } else { UNIX_EPOCH + span };
    let writing = WriteOptions { time: Some(time), threads: 1, ..WriteOptions::default() };
    Lake::open(&Location::from_path(path), &OpenOptions::default(), &writing).unwrap()
}

/// Inserts the triple with that number; returns the version and the time of the snapshot.
fn insert(lake: &Lake, number: i64) -> (i64, i64) {
    let mut transaction = lake.begin().unwrap();
    let object = format!("{number}");
    let quad = Quad { subject: "urn:s", predicate: "urn:p", object: Object::plain(&object, ""), graph: None };
    transaction.insert(&quad).unwrap();
    let done = transaction.commit().unwrap().unwrap();
    (done.version, done.timestamp)
}

fn listed(path: &Path) -> Vec<(i64, i64)> {
    let lake = open(path, &OpenOptions::default()).unwrap();
    lake.store().snapshots.iter().map(|entry| (entry.version, entry.timestamp)).collect()
}

#[test]
fn times_grow_where_the_clock_does_not() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    drop(Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap());
    // Forward, twice the same, before the last snapshot, before 1970, and forward again.
    let clocks = [5_000, 9_000, 9_000, 9_000, 3, -77_000, 9_003, 20_000];
    let times = [5_000, 9_000, 9_001, 9_002, 9_003, 9_004, 9_005, 20_000];
    let mut expected = Vec::new();
    for (number, (clock, time)) in (1..).zip(clocks.into_iter().zip(times)) {
        assert_eq!(insert(&at(&path, clock), number), (number, time));
        expected.push((number, time));
    }
    // Compactions, copies, drops and bulk loads use the same clock.
    let merged = at(&path, 10).compact(CompactMode::Full, &|_| Ok(())).unwrap().commit.unwrap();
    expected.push((9, 20_001));
    assert_eq!((merged.version, merged.timestamp), (9, 20_001));
    let lake = at(&path, 20_001);
    let mut copied = lake.begin().unwrap();
    copied.copy_graph(None, Some("urn:g")).unwrap();
    copied.drop_graph(None).unwrap();
    assert_eq!(copied.commit().unwrap().unwrap().timestamp, 20_002);
    let mut loaded = lake.begin().unwrap();
    let mut bulk = loaded.bulk().unwrap();
    bulk.push(&Quad { subject: "urn:s", predicate: "urn:p", object: Object::Term("urn:o"), graph: None }).unwrap();
    loaded.insert_bulk(bulk, &|_| Ok(())).unwrap();
    assert_eq!(loaded.commit().unwrap().unwrap().timestamp, 20_003);
    expected.extend([(10, 20_002), (11, 20_003)]);
    assert_eq!(listed(&path), expected);
    assert_eq!(broken(&path, &OpenOptions::default()), Vec::<&str>::new());

    // So that each time has one snapshot.
    for pair in expected.windows(2) {
        let ([(version, time), (_, next)], path) = ([pair[0], pair[1]], &path);
        let version_at = |time| open(path, &OpenOptions { at: At::Time(time), ..OpenOptions::default() });
        for moment in [time, next - 1] {
            assert_eq!(version_at(moment).unwrap().snapshot().version, version, "at {moment}");
        }
    }
    assert!(open(&path, &OpenOptions { at: At::Time(4_999), ..OpenOptions::default() }).is_err());
    assert_eq!(
        open(&path, &OpenOptions { at: At::Time(i64::MAX), ..OpenOptions::default() }).unwrap().snapshot().version,
        11
    );
}

#[test]
fn writers_at_one_time_get_different_times() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    drop(Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || (0..5).for_each(|number| _ = insert(&at(path, 1_000), writer * 5 + number)));
        }
    });
    assert_eq!(listed(&path), (0..20).map(|at| (at + 1, 1_000 + at)).collect::<Vec<_>>());
    // A writer that began before another one and commits after it gets a later time, too.
    let (early, late) = (at(&path, 1_000), at(&path, 900_000));
    let mut transaction = early.begin().unwrap();
    let object = Object::Term("urn:early");
    transaction.insert(&Quad { subject: "urn:s", predicate: "urn:p", object, graph: None }).unwrap();
    assert_eq!(insert(&late, 99), (21, 900_000));
    let done = transaction.commit().unwrap().unwrap();
    assert_eq!((done.version, done.timestamp, done.lost), (22, 900_001, 1));
}

#[test]
fn times_are_later_than_all_that_the_list_says() {
    let root = fixtures();
    let home = copy(&root.join("tiny"));
    let path = home.path().join("lake");
    // A foreign list: its times are texts, and descend.
    let name = path.join("store.json");
    let mut store: Value = serde_json::from_slice(&std::fs::read(&name).unwrap()).unwrap();
    let snapshot = path.join("snapshots/snapshot1.json");
    let mut first: Value = serde_json::from_slice(&std::fs::read(&snapshot).unwrap()).unwrap();
    let mut second = first.clone();
    first["timestamp"] = json!(1_700_000_080_000_i64);
    std::fs::write(&snapshot, first.to_string()).unwrap();
    (second["id"], second["version"]) = (json!("snapshot2"), json!("2"));
    second["timestamp"] = json!(1_700_000_070_000_i64);
    std::fs::write(path.join("snapshots/snapshot2.json"), second.to_string()).unwrap();
    store["snapshots"] = json!([
        { "id": "snapshot2", "version": "2", "timestamp": "1700000070000" },
        { "id": "snapshot1", "version": 1, "timestamp": "1700000080000", "by": "others" },
    ]);
    std::fs::write(&name, store.to_string()).unwrap();
    let before = lines(&open(&path, &OpenOptions::default()).unwrap(), Order::Subject).unwrap();
    assert_eq!(insert(&at(&path, 1_000), 3), (3, 1_700_000_080_001));
    let after = |time| open(&path, &OpenOptions { at: At::Time(time), ..OpenOptions::default() }).unwrap();
    assert_eq!(after(1_700_000_080_001).snapshot().version, 3);
    assert_eq!(lines(&after(1_700_000_080_000), Order::Subject).unwrap(), before);
    // Members of other writers stay as they were.
    let written: Value = serde_json::from_slice(&std::fs::read(&name).unwrap()).unwrap();
    assert_eq!(written["snapshots"][0], store["snapshots"][0]);
    assert_eq!(written["snapshots"][1], store["snapshots"][1]);
}
