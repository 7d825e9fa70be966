//! Compaction concurrent with writers that change the same predicates: it is made on top of their changes, and repeated
//! if they replaced the files being merged; quads are the same before and after. Also what the log reports.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use common::{lines, open};
use isomorph_error::Result;
use isomorph_graphlake::{CompactMode, Compacted, Lake, OpenOptions, Order, VacuumOptions, What, WriteOptions};
use isomorph_model::Source;
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;

fn lake(path: &Path) -> Lake {
    let (place, options) = (Location::from_path(path), OpenOptions::default());
    let writing = WriteOptions { threads: 1, ..WriteOptions::default() };
    Lake::open(&place, &options, &writing).or_else(|_| Lake::create(&place, &options, &writing)).unwrap()
}

fn quad<'a>(predicate: &'a str, text: &'a str) -> Quad<'a> {
    Quad { subject: "urn:s", predicate, object: Object::plain(text, ""), graph: None }
}

fn commit(lake: &Lake, deleted: &[Quad<'_>], inserted: &[Quad<'_>]) {
    let mut transaction = lake.begin().unwrap();
    transaction.delete_insert(deleted.iter().copied(), inserted.iter().copied()).unwrap();
    transaction.commit().unwrap();
}

/// A store of several versions of two predicates, with a deletion in each.
fn store(path: &Path) -> Lake {
    let lake = lake(path);
    for text in ["1", "2", "3"] {
        commit(&lake, &[], &[quad("urn:p", text), quad("urn:q", text)]);
    }
    commit(&lake, &[quad("urn:p", "2"), quad("urn:q", "2")], &[]);
    lake
}

/// The contents, by both orders, with both ways of reading deletions.
fn there(path: &Path) -> String {
    let all = [Order::Subject, Order::Object].map(|order| {
        let read =
            |naive| lines(&open(path, &OpenOptions { naive, ..OpenOptions::default() }).unwrap(), order).unwrap();
        assert_eq!(read(true), read(false));
        read(false)
    });
    assert_eq!(all[0], all[1]);
    let mut findings = isomorph_error::Findings::keeping(5);
    open(path, &OpenOptions::default()).unwrap().validate(&mut findings).unwrap();
    assert!(findings.worst() < Some(isomorph_error::Severity::Error), "{findings:?}");
    all[0].clone()
}

/// Compacts everything, while `meanwhile` runs once for each predicate and order that is merged.
fn compact(lake: &Lake, meanwhile: impl Fn(u32)) -> Result<Compacted> {
    let times = Cell::new(0);
    lake.compact(CompactMode::Full, &|_| {
        meanwhile(times.replace(times.get() + 1));
        Ok(())
    })
}

#[test]
fn a_writer_that_deletes_and_adds_again_keeps_nobody_from_merging() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let ours = store(&path);
    let other = lake(&path);
    let before = there(&path);
    let done = compact(&ours, |time| {
        // Deletions that are being merged are rewritten, and new ones are added.
        commit(&other, &[quad("urn:p", "1")], &[quad("urn:p", "2")]);
        commit(&other, &[quad("urn:p", "2")], &[quad("urn:p", "1")]);
        assert!(time < 10, "merged again and again");
    })
    .unwrap();
    assert_eq!((done.predicates, done.left), (2, 0));
    assert!(done.commit.unwrap().lost > 0);
    assert_eq!(there(&path), before);
}

#[test]
fn what_another_compaction_has_merged_is_not_merged_into_it() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let ours = store(&path);
    let before = there(&path);
    let done = compact(&ours, |time| {
        if time == 3 {
            lake(&path).compact(CompactMode::Full, &|_| Ok(())).unwrap().commit.unwrap();
        }
    })
    .unwrap();
    // Nothing is left to do.
    assert_eq!((done.commit, done.predicates, done.left), (None, 0, 0));
    assert_eq!(there(&path), before);
}

#[test]
fn a_predicate_that_others_replace_again_and_again_is_left_and_the_others_are_merged() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let ours = store(&path);
    let other = lake(&path);
    let before = there(&path);
    let text = Cell::new(10);
    let done = compact(&ours, |_| {
        // Another version of one predicate, which another, faster compaction merges.
        let new = text.replace(text.get() + 1).to_string();
        let mut transaction = other.begin().unwrap();
        transaction.drop_graph(None).unwrap();
        for predicate in ["urn:p", "urn:q"] {
            transaction.insert(&quad(predicate, &new)).unwrap();
        }
        transaction.commit().unwrap();
        commit(&other, &[], &[quad("urn:p", "more"), quad("urn:q", "more")]);
    })
    .unwrap();
    assert!(done.left > 0 && done.commit.is_none(), "{done:?}");
    let after = there(&path);
    assert!(after != before && after.contains("more"), "{after}");
}

#[test]
fn writers_and_compactions_beside_one_another_all_come_to_their_end() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    store(&path);
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let path = &path;
            scope.spawn(move || {
                let lake = lake(path);
                let own = format!("of {writer}");
                for _ in 0..8 {
                    commit(&lake, &[], &[quad("urn:p", &own), quad("urn:q", "2")]);
                    commit(&lake, &[quad("urn:p", &own), quad("urn:q", "2")], &[]);
                }
                commit(&lake, &[], &[quad("urn:p", &own)]);
            });
        }
        let path = &path;
        scope.spawn(move || {
            let lake = lake(path);
            (0..9).for_each(|_| drop(lake.compact(CompactMode::Full, &|_| Ok(())).unwrap()));
        });
    });
    let found = there(&path);
    for text in ["of 0", "of 1", "of 2", "1", "3"] {
        assert!(found.contains(&format!("<urn:s> <urn:p> \"{text}\"")), "{found}");
    }
    assert!(!found.contains("<urn:q> \"2\""), "{found}");
}

#[test]
fn the_log_counts_nothing_where_nothing_was_inserted() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = store(&path);
    compact(&lake, |_| {}).unwrap();
    let last = |lake: &Lake| lake.log(1).unwrap().remove(0);
    let event = last(&lake);
    assert_eq!((event.after, event.changes.len()), (Some(4), 1));
    let change = &event.changes[0];
    assert_eq!((change.what, change.inserted, change.deleted), (What::Compacted, 0, 0));
    // A graph that replaces another is not merged.
    let mut transaction = lake.begin().unwrap();
    transaction.insert(&Quad { graph: Some("urn:g"), ..quad("urn:p", "x") }).unwrap();
    transaction.commit().unwrap();
    let mut transaction = lake.begin().unwrap();
    transaction.copy_graph(None, Some("urn:g")).unwrap();
    transaction.commit().unwrap();
    let event = last(&lake);
    assert_eq!((event.changes[0].what, event.changes[0].inserted), (What::Changed, 4));
    // What was before the first remaining version is unknown.
    let options = VacuumOptions { keep_last: 1, grace: Duration::ZERO, dry_run: false, ..VacuumOptions::default() };
    lake.vacuum(&options).unwrap();
    let event = last(&lake);
    assert_eq!((event.version, event.after, event.changes.len()), (7, None, 0));
}

#[test]
fn drafts_of_the_list_that_a_killed_writer_left_are_removed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = store(&path);
    let (draft, foreign) = (path.join(".store.json.0123456789ab-1-0123456789abcdef.tmp"), path.join(".store.json.bak"));
    [&draft, &foreign].iter().for_each(|path| std::fs::write(path, "{}").unwrap());
    let mut options = VacuumOptions { dry_run: false, ..VacuumOptions::default() };
    assert_eq!(lake.vacuum(&options).unwrap().young, 1, "somebody may be about to rename it");
    assert!(draft.exists());
    options.grace = Duration::ZERO;
    let removed = lake.vacuum(&options).unwrap().files;
    assert_eq!(removed, [draft.file_name().unwrap().to_str().unwrap()]);
    assert!(!draft.exists() && foreign.exists() && path.join("store.json").exists());
}
