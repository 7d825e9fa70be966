//! Commits that are interrupted at every step, on disks that lose what was not synced; and concurrent writers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "suite/common/mod.rs"]
mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use isomorph_error::Findings;
use isomorph_graphlake::{CompactMode, Lake, OpenOptions, Order, VacuumOptions, WriteOptions};
use isomorph_model::Source;
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::fault::{Disk, Fault, FaultDisk, MemoryDisk, RealDisk};
use isomorph_storage::{Location, SharedRoot};
use object_store::memory::InMemory;

fn insert(lake: &Lake, number: usize) -> isomorph_error::Result<()> {
    let mut transaction = lake.begin()?;
    let subject = format!("http://example.org/s{number}");
    let object = Object::Term("http://example.org/o");
    transaction.insert(&Quad { subject: &subject, predicate: "http://example.org/p", object, graph: None })?;
    transaction.commit().map(drop)
}

fn delete(lake: &Lake, number: usize) -> isomorph_error::Result<()> {
    let mut transaction = lake.begin()?;
    let subject = format!("http://example.org/s{number}");
    let object = Object::Term("http://example.org/o");
    transaction.delete(&Quad { subject: &subject, predicate: "http://example.org/p", object, graph: None })?;
    transaction.commit().map(drop)
}

fn lake(location: &Location) -> Lake {
    Lake::open(location, &OpenOptions::default(), &WriteOptions::default()).unwrap()
}

fn content(path: &Path) -> String {
    let open = common::open(path, &OpenOptions::default()).unwrap();
    common::lines(&open, Order::Subject).unwrap()
}

/// A store of two commits at `path`.
fn store(path: &Path) -> Lake {
    let lake = Lake::create(&Location::from_path(path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    insert(&lake, 1).unwrap();
    insert(&lake, 2).unwrap();
    lake
}

/// Every file below a directory.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![path.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                found.insert(path.to_str().unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn restore(path: &Path, state: &BTreeMap<String, Vec<u8>>) {
    std::fs::remove_dir_all(path).unwrap();
    std::fs::create_dir_all(path).unwrap();
    for (name, bytes) in state {
        let name = Path::new(name);
        std::fs::create_dir_all(name.parent().unwrap()).unwrap();
        std::fs::write(name, bytes).unwrap();
    }
}

/// A disk in memory with these files.
fn in_memory(state: &BTreeMap<String, Vec<u8>>) -> MemoryDisk {
    let disk = MemoryDisk::new(true);
    for (name, bytes) in state {
        let name = Path::new(name);
        let mut ancestors: Vec<&Path> = name.ancestors().skip(1).filter(|path| path.parent().is_some()).collect();
        ancestors.reverse();
        ancestors.into_iter().for_each(|directory| drop(disk.create_dir(directory)));
        let mut file = disk.create_file(name).unwrap();
        std::io::Write::write_all(&mut file, bytes).unwrap();
        file.sync().unwrap();
    }
    disk.settled()
}

type Work = fn(&Lake) -> isomorph_error::Result<()>;

const WORKS: [(&str, Work); 5] = [
    ("an insert", |lake| insert(lake, 3)),
    ("a delete", |lake| delete(lake, 1)),
    // The commit cannot be complete: what was written would have to be read again, and the disk in memory is only for
    // writing.
    ("a bulk load", |lake| {
        let mut transaction = lake.begin()?;
        let mut bulk = transaction.bulk()?;
        for number in 3..6 {
            let subject = format!("http://example.org/s{number}");
            let object = Object::Term("http://example.org/o");
            bulk.push(&Quad { subject: &subject, predicate: "http://example.org/p", object, graph: None })?;
        }
        transaction.insert_bulk(bulk, &|_| Ok(()))?;
        transaction.commit().map(drop)
    }),
    ("a compaction", |lake| lake.compact(CompactMode::Full, &|_| Ok(())).map(drop)),
    ("a vacuum", |lake| {
        let grace = std::time::Duration::ZERO;
        lake.vacuum(&VacuumOptions { keep_last: 1, grace, dry_run: false, ..VacuumOptions::default() }).map(drop)
    }),
];

/// The state of a store after a crash: as before or as after, valid, and the next writer can continue.
fn assert_goes_on(path: &Path, old: &str, new: &str, acknowledged: bool, what: &str) {
    let found = content(path);
    assert!(found == new || !acknowledged && found == old, "{what}: neither old nor new: {found}");
    let lake = lake(&Location::from_path(path));
    insert(&lake, 7).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let after = content(path);
    // A claimed version that is not published is published first.
    let with = |text: &str| {
        let line = "<http://example.org/s7> <http://example.org/p> <http://example.org/o> .\n";
        let mut all: BTreeSet<String> = text.lines().map(|line| format!("{line}\n")).collect();
        all.insert(line.to_owned());
        all.into_iter().collect::<String>()
    };
    assert!(after == with(new) || !acknowledged && found == old && after == with(old), "{what}: then {after}");
    let mut findings = Findings::keeping(3);
    common::open(path, &OpenOptions::default()).unwrap().validate(&mut findings).unwrap();
    let broken: Vec<_> =
        findings.by_rule().flat_map(|(_, kept)| kept).filter(|one| one.rule.id != "GRAPHLAKE-ORPHAN").collect();
    assert!(broken.is_empty(), "{what}: {broken:?}");
}

#[test]
fn a_machine_that_stops_at_any_step_leaves_the_old_state_or_the_new_one() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    store(&path);
    let (before, old) = (files(&path), content(&path));
    for (name, work) in WORKS {
        work(&lake(&Location::from_path(&path))).unwrap();
        let new = content(&path);
        restore(&path, &before);
        let steps = {
            let disk = FaultDisk::new(Arc::new(in_memory(&before)), Fault::None);
            work(&lake(&Location::from_path(&path).on_disk(Arc::new(disk.clone())))).unwrap();
            disk.steps()
        };
        let mut tried = BTreeSet::new();
        for step in 0..=steps {
            // Reads come from the real disk.
            restore(&path, &before);
            let memory = in_memory(&before);
            let disk = FaultDisk::new(Arc::new(memory.clone()), Fault::Kill(step));
            let opened = Lake::open(
                &Location::from_path(&path).on_disk(Arc::new(disk)),
                &OpenOptions::default(),
                &WriteOptions::default(),
            );
            let done = opened.and_then(|lake| work(&lake)).is_ok();
            for state in memory.after_stop() {
                let found = state.files();
                if !tried.insert((done, found.clone())) {
                    continue;
                }
                restore(&path, &found);
                assert_goes_on(&path, &old, &new, done, &format!("{name}, step {step} of {steps}"));
            }
        }
        restore(&path, &before);
        println!("{name}: {} states after {steps} steps", tried.len());
        assert!(tried.len() > 4, "{name}");
    }
}

#[test]
fn a_step_that_fails_leaves_the_old_state_or_the_new_one() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    store(&path);
    let (before, old) = (files(&path), content(&path));
    for (name, work) in WORKS {
        let disk = FaultDisk::new(Arc::new(RealDisk), Fault::None);
        work(&lake(&Location::from_path(&path).on_disk(Arc::new(disk.clone())))).unwrap();
        let new = content(&path);
        for step in 0..disk.steps() {
            for fault in [
                Fault::Fail(step, std::io::ErrorKind::StorageFull),
                Fault::Fail(step, std::io::ErrorKind::Other),
                Fault::FailSyncs(step),
                Fault::ShortWrite(step),
                Fault::Kill(step),
            ] {
                restore(&path, &before);
                let disk = FaultDisk::new(Arc::new(RealDisk), fault);
                let location = Location::from_path(&path).on_disk(Arc::new(disk.clone()));
                let opened = Lake::open(&location, &OpenOptions::default(), &WriteOptions::default());
                let done = opened.and_then(|lake| work(&lake)).is_ok();
                assert_goes_on(&path, &old, &new, done, &format!("{name}, {fault:?}\n{}", disk.log().join("\n")));
            }
        }
        restore(&path, &before);
    }
}

#[test]
fn what_a_writer_claimed_and_did_not_publish_is_published_by_the_next() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = store(&path);
    let listed = std::fs::read(path.join("store.json")).unwrap();
    insert(&lake, 3).unwrap();
    std::fs::write(path.join("store.json"), &listed).unwrap();
    assert_eq!(content(&path).lines().count(), 2);
    insert(&lake, 4).unwrap();
    assert_eq!(content(&path).lines().count(), 4);
    assert_eq!(lake.log(9).unwrap().iter().map(|event| event.version).collect::<Vec<_>>(), [1, 2, 3, 4]);
    // A vacuum leaves such files alone.
    let listed = std::fs::read(path.join("store.json")).unwrap();
    insert(&lake, 5).unwrap();
    std::fs::write(path.join("store.json"), &listed).unwrap();
    let grace = std::time::Duration::ZERO;
    lake.vacuum(&VacuumOptions { grace, dry_run: false, ..VacuumOptions::default() }).unwrap();
    insert(&lake, 6).unwrap();
    assert_eq!(content(&path).lines().count(), 6);
    // A broken claim is completed by nobody.
    std::fs::write(path.join("snapshots/snapshot7.json"), "{").unwrap();
    assert_eq!(insert(&lake, 7).unwrap_err().kind(), isomorph_error::Kind::Incomplete);
}

#[test]
fn what_was_claimed_in_an_object_store_is_published_by_the_next() {
    let place =
        Location::parse("s3://bucket/lake").unwrap().on_store(isomorph_network::client(Arc::new(InMemory::new())));
    Lake::create(&place, &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let (own, files) = (lake(&place), SharedRoot::open(&place).unwrap());
    for number in 1..4 {
        insert(&own, number).unwrap();
    }
    // A writer that stops after its claim, whatever it did, leaves the list as it was.
    let works: [Work; 4] = [
        |lake| insert(lake, 4),
        |lake| delete(lake, 1),
        |lake| lake.compact(CompactMode::Full, &|_| Ok(())).map(drop),
        |lake| insert(lake, 1),
    ];
    let numbers = || {
        let open = isomorph_graphlake::GraphLake::open(&place, &OpenOptions::default()).unwrap();
        let lines = common::lines(&open, Order::Subject).unwrap();
        lines
            .lines()
            .map(|line| line.trim_start_matches("<http://example.org/s").split('>').next().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let expected = ["1 2 3 4 10", "10 11 2 3 4", "10 11 12 2 3 4", "1 10 11 12 13 2 3 4"];
    for ((work, next), expected) in works.into_iter().zip(10..).zip(expected) {
        let listed = files.read("store.json", 1 << 20).unwrap().unwrap();
        let before = numbers();
        work(&own).unwrap();
        files.update("store.json", 1 << 20, &mut |_| Ok(Some(listed.to_vec()))).unwrap();
        assert_eq!(numbers(), before, "nothing is to be seen of it");
        insert(&lake(&place), next).unwrap();
        let sorted = |text: &str| text.split(' ').map(str::to_owned).collect::<BTreeSet<_>>();
        assert_eq!(sorted(&numbers()), sorted(expected));
    }
    let log = own.log(100).unwrap();
    assert_eq!(log.iter().map(|event| event.version).collect::<Vec<_>>(), (1..=11).collect::<Vec<_>>());
    assert_eq!(log.last().map(|event| (event.triples, event.exact)), Some((8, true)));
    // Of many triples, existing ones are not looked up: each would take requests.
    let mut counted = Vec::new();
    for many in [16, 17] {
        let mut transaction = own.begin().unwrap();
        for number in 1..=many {
            let subject = format!("http://example.org/s{number}");
            let object = Object::Term("http://example.org/o");
            transaction
                .insert(&Quad { subject: &subject, predicate: "http://example.org/p", object, graph: None })
                .unwrap();
        }
        counted.push(transaction.commit().unwrap().unwrap().again);
    }
    assert_eq!(counted, [Some(8), None]);
    assert_eq!(own.log(1).unwrap().pop().map(|event| (event.triples, event.exact)), Some((17, true)));
}

#[test]
fn what_is_deleted_while_files_are_merged_stays_deleted() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let merging = store(&path);
    insert(&merging, 3).unwrap();
    let other = lake(&Location::from_path(&path));
    let meets = std::sync::Once::new();
    let done = merging
        .compact(CompactMode::Full, &|_| {
            meets.call_once(|| {
                delete(&other, 2).unwrap();
                insert(&other, 9).unwrap();
            });
            Ok(())
        })
        .unwrap();
    let commit = done.commit.unwrap();
    assert_eq!((commit.version, commit.lost), (6, 1));
    let found: BTreeSet<String> = content(&path).lines().map(|line| line[21..22].to_owned()).collect();
    assert_eq!(found.into_iter().collect::<String>(), "139");
    let log = other.log(2).unwrap();
    assert_eq!(log.iter().map(|event| (event.triples, event.exact)).collect::<Vec<_>>(), [(3, true), (3, true)]);
    assert_goes_on(&path, "", &content(&path), true, "a compaction that met others");
    // And what others have merged meanwhile stays merged.
    let before = content(&path);
    let meets = std::sync::Once::new();
    let late = merging.compact(CompactMode::Full, &|_| {
        meets.call_once(|| drop(other.compact(CompactMode::Full, &|_| Ok(())).unwrap()));
        Ok(())
    });
    let late = late.unwrap();
    assert_eq!((late.commit.is_none(), late.merged, late.left), (true, 0, 0));
    assert_eq!(content(&path), before);
}

#[test]
fn a_version_that_is_claimed_too_late_does_not_count() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = store(&path);
    let subject = "http://example.org/late";
    let mut late = lake.begin().unwrap();
    let object = Object::Term("http://example.org/o");
    late.insert(&Quad { subject, predicate: "http://example.org/p", object, graph: None }).unwrap();
    for number in 3..6 {
        insert(&lake, number).unwrap();
    }
    // The version that it would have claimed is free again.
    let grace = std::time::Duration::ZERO;
    lake.vacuum(&VacuumOptions { keep_last: 1, grace, dry_run: false, ..VacuumOptions::default() }).unwrap();
    let done = late.commit().unwrap().unwrap();
    assert_eq!((done.version, done.lost), (6, 1));
    assert!(content(&path).contains(subject) && content(&path).lines().count() == 6);
    assert!(!path.join("snapshots/snapshot3.json").exists());
}

#[test]
fn unknown_names_stay() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = store(&path);
    let edit = |name: &str, from: &str, to: &str| {
        let text = std::fs::read_to_string(path.join(name)).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(path.join(name), text.replacen(from, to, 1)).unwrap();
    };
    edit("store.json", "{\"format_version\"", "{\"theirs\": {\"a\":[1.50]},\"format_version\"");
    edit("store.json", "{\"id\":\"snapshot1\"", "{\"tag\":\"first\",\"id\":\"snapshot1\"");
    edit("snapshots/snapshot2.json", "\"predicate_index\"", "\"owner\":  {\"x\": 1e3},\"predicate_index\"");
    edit("snapshots/snapshot2.json", "\"is_inverse\"", "\"colour\":\"red\",\"is_inverse\"");
    insert(&lake, 3).unwrap();
    let store = std::fs::read_to_string(path.join("store.json")).unwrap();
    assert!(store.contains("\"theirs\":{\"a\":[1.5]}") && store.contains("\"tag\":\"first\""), "{store}");
    let snapshot = std::fs::read_to_string(path.join("snapshots/snapshot3.json")).unwrap();
    // Not even their white space and their numbers are changed.
    assert!(snapshot.contains("{\"x\": 1e3}"), "{snapshot}");
    assert!(snapshot.contains("\"colour\":\"red\""), "{snapshot}");
}

#[test]
fn writers_in_threads_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let disk = Location::from_path(&home.path().join("lake"));
    let memory =
        Location::parse("s3://bucket/lake").unwrap().on_store(isomorph_network::client(Arc::new(InMemory::new())));
    for place in [disk, memory] {
        Lake::create(&place, &OpenOptions::default(), &WriteOptions::default()).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let place = place.clone();
                scope.spawn(move || {
                    let own = lake(&place);
                    for number in 0..25 {
                        insert(&own, writer * 100 + number).unwrap();
                        if number % 10 == 9 && writer == 0 {
                            // Another compaction may have been faster.
                            if let Err(error) = own.compact(CompactMode::Full, &|_| Ok(())) {
                                assert_eq!(error.kind(), isomorph_error::Kind::Conflict);
                            }
                        }
                        if number % 5 == 4 {
                            delete(&own, writer * 100 + number).unwrap();
                        }
                    }
                });
            }
        });
        let own = lake(&place);
        let versions: Vec<i64> = own.log(1000).unwrap().iter().map(|event| event.version).collect();
        assert!(versions.len() >= 120 && versions.iter().zip(1..).all(|(version, at)| *version == at), "{versions:?}");
        let open = isomorph_graphlake::GraphLake::open(&place, &OpenOptions::default()).unwrap();
        assert_eq!(common::lines(&open, Order::Subject).unwrap().lines().count(), 80);
        assert_eq!(common::lines(&open, Order::Object).unwrap().lines().count(), 80);
    }
}
