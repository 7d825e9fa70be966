//! Versions and times at the limit of 64 bits: nothing can follow them, and writers report that.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::path::Path;

use common::{lines, open, write};
use isomorph_error::{Error, Kind};
use isomorph_graphlake::{At, CompactMode, Lake, OpenOptions, Order, WriteOptions};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;

const QUAD: Quad<'_> = Quad { subject: "urn:s", predicate: "urn:p", object: Object::Term("urn:o"), graph: None };

/// A store whose only snapshot has this version and this time.
fn store(path: &Path, version: i64, timestamp: i64) {
    write(path, &WriteOptions::default(), |writer| writer.push(&QUAD)).unwrap();
    let change = |name: &str, to: &str| {
        let text = fs::read_to_string(path.join(name)).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let entry = if json["snapshots"].is_array() { &mut json["snapshots"][0] } else { &mut json };
        entry["id"] = format!("snapshot{version}").into();
        (entry["version"], entry["timestamp"]) = (version.into(), timestamp.into());
        fs::remove_file(path.join(name)).unwrap();
        fs::write(path.join(to), json.to_string()).unwrap();
    };
    change("store.json", "store.json");
    change("snapshots/snapshot1.json", &format!("snapshots/snapshot{version}.json"));
}

fn lake(path: &Path) -> Lake {
    Lake::open(&Location::from_path(path), &OpenOptions::default(), &WriteOptions::default()).unwrap()
}

fn insert(path: &Path) -> Result<i64, Error> {
    let lake = lake(path);
    let mut transaction = lake.begin()?;
    transaction.insert(&Quad { object: Object::Term("urn:other"), ..QUAD })?;
    Ok(transaction.commit()?.unwrap().version)
}

#[test]
fn nothing_comes_after_the_last_version_and_the_last_moment() {
    let home = tempfile::tempdir().unwrap();
    for (at, version, timestamp, field) in [(0, i64::MAX, 7, "version"), (1, 7, i64::MAX, "timestamp")] {
        let path = home.path().join(at.to_string());
        store(&path, version, timestamp);
        let before = lines(&open(&path, &OpenOptions::default()).unwrap(), Order::Subject).unwrap();
        let refused = insert(&path).unwrap_err();
        assert_eq!((refused.kind(), refused.place().field.as_deref()), (Kind::TooLarge, Some(field)), "{refused:?}");
        assert!(refused.place().file.as_ref().unwrap().contains(&format!("snapshot{version}.json")), "{refused:?}");
        assert!(refused.hints().any(|hint| hint.starts_with("isomorph convert")), "{refused:?}");
        // With one file in each order there is nothing to merge; what is not needed is not refused.
        assert!(lake(&path).compact(CompactMode::Full, &|_| Ok(())).unwrap().commit.is_none());
        assert_eq!(lines(&open(&path, &OpenOptions::default()).unwrap(), Order::Subject).unwrap(), before);
    }
}

#[test]
fn the_last_but_one_has_one_after_it() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    store(&path, i64::MAX - 1, i64::MAX - 1);
    assert_eq!(insert(&path).unwrap(), i64::MAX);
    let now = open(&path, &OpenOptions { at: At::Time(i64::MAX), ..OpenOptions::default() }).unwrap();
    assert_eq!(lines(&now, Order::Subject).unwrap().lines().count(), 2);
    let before = open(&path, &OpenOptions { at: At::Time(i64::MAX - 1), ..OpenOptions::default() }).unwrap();
    assert_eq!(lines(&before, Order::Subject).unwrap().lines().count(), 1);
    assert_eq!(insert(&path).unwrap_err().kind(), Kind::TooLarge);
}
