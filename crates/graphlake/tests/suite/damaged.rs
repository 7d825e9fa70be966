//! Changed bytes in files of triples: every reader of a whole file reports them, and no writer copies them into new
//! files.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::{Path, PathBuf};

use common::store::{NAME, SNAPSHOT, Store, everything_in, file};
use common::{lines, open};
use isomorph_error::{Error, Result};
use isomorph_graphlake::{CompactMode, GraphLake, Lake, OpenOptions, Order, WriteOptions, rules};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::{Request, Source, Tables};
use isomorph_storage::Location;
use serde_json::json;

fn lake(path: &Path) -> Lake {
    let options = WriteOptions { threads: 1, ..WriteOptions::default() };
    Lake::open(&Location::from_path(path), &OpenOptions::default(), &options).unwrap()
}

/// A store of several versions, with literals, links and deletions.
fn store(path: &Path) {
    let options = WriteOptions::default();
    let lake = Lake::create(&Location::from_path(path), &OpenOptions::default(), &options).unwrap();
    for version in 0..4u32 {
        let mut transaction = lake.begin().unwrap();
        for number in 0..30u32 {
            let (subject, text) = (format!("http://example.org/n{number}"), format!("{version} {number}"));
            let link = format!("http://example.org/n{}", (number + version) % 30);
            let quad = |predicate, object| Quad { subject: &subject, predicate, object, graph: None };
            transaction.insert(&quad("urn:text", Object::plain(&text, ""))).unwrap();
            transaction.insert(&quad("urn:link", Object::Term(&link))).unwrap();
            if version > 0 && number % 5 == 0 {
                let old = format!("{} {number}", version - 1);
                transaction.delete(&quad("urn:text", Object::plain(&old, ""))).unwrap();
            }
        }
        transaction.commit().unwrap();
    }
}

/// Files of triples, and their index files, in a fixed order.
fn data(path: &Path) -> Vec<PathBuf> {
    everything_in(&path.join("graphs")).into_iter().map(|(path, _)| path).collect()
}

/// Reads everything in the form of the model, as a conversion and a digest do.
fn scanned(path: &Path) -> Result<u64> {
    let lake = open(path, &OpenOptions::default())?;
    let mut rows = 0;
    for mut part in lake.scan(&Request::of(Tables::All))? {
        part.read(&mut |batch| {
            rows += batch.rows() as u64;
            Ok(())
        })?;
    }
    Ok(rows)
}

fn names_a_file(error: &Error, changed: &Path) {
    let name = changed.file_name().unwrap().to_str().unwrap();
    let (place, orders) = (error.to_string(), error.broken_rule() == Some(&rules::ORDERS_DIFFER));
    assert!(orders || place.contains(name), "{place}, and not {name}");
}

/// Pseudo-random numbers, the same in each run.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn a_changed_byte_is_an_error_or_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    store(&path);
    let [subject, object] = [Order::Subject, Order::Object].map(|order| {
        let lake = open(&path, &OpenOptions::default()).unwrap();
        lines(&lake, order).unwrap()
    });
    assert_eq!(subject, object);
    let rows = scanned(&path).unwrap();
    let (files, mut drawn, mut found) = (data(&path), Drawn(7), [0; 2]);
    for _ in 0..150 {
        let changed = &files[drawn.below(files.len())];
        let whole = std::fs::read(changed).unwrap();
        let (at, bit) = (drawn.below(whole.len()), drawn.below(8));
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << bit;
        std::fs::write(changed, &bytes).unwrap();
        for order in [Order::Subject, Order::Object] {
            match open(&path, &OpenOptions::default()).and_then(|lake| lines(&lake, order)) {
                Ok(lines) => assert!(lines == subject, "{} at {at}", changed.display()),
                Err(error) => names_a_file(&error, changed),
            }
        }
        match scanned(&path) {
            Ok(count) => assert_eq!(count, rows),
            Err(error) => {
                found[0] += 1;
                names_a_file(&error, changed);
            }
        }
        // Every file of triples is merged, so that no change is missed.
        let is_beside = changed.extension().is_some_and(|ending| ending == "glx");
        match lake(&path).compact(CompactMode::Full, &|_| Ok(())) {
            Ok(_) => assert!(is_beside, "{} at {at}, bit {bit}", changed.display()),
            Err(error) => {
                found[1] += 1;
                names_a_file(&error, changed);
            }
        }
        std::fs::write(changed, &whole).unwrap();
    }
    assert!(found[0] > 20 && found[1] > 100, "{found:?}");
}

#[test]
fn orders_that_differ_are_not_merged_where_nothing_states_a_checksum() {
    let alice = |name: &[u8]| {
        let subject = b"http://example.org/alice";
        let text = |text: &[u8]| [&(text.len() as u32).to_le_bytes()[..], text].concat();
        [&[0; 4][..], &text(subject), &[1], &text(name), &[0; 4], &text(b"")].concat()
    };
    let store = Store::new().with_records("so_data_files", &[alice(b"Alice")]);
    let store = store.with_records("os_data_files", &[alice(b"Alise")]).with(SNAPSHOT, |snapshot| {
        for graph in snapshot["graphs"].as_object_mut().unwrap().values_mut() {
            for partition in graph["partitions"].as_object_mut().unwrap().values_mut() {
                partition.as_object_mut().unwrap().remove("living_of");
            }
        }
    });
    // A second version, so that there is something to merge.
    let lake = store.lake();
    let mut transaction = lake.begin().unwrap();
    let quad =
        Quad { subject: "http://example.org/new", predicate: NAME, object: Object::plain("New", ""), graph: None };
    transaction.insert(&quad).unwrap();
    transaction.commit().unwrap();
    let before = store.metadata();
    let error = store.compact().unwrap_err();
    assert_eq!(error.broken_rule(), Some(&rules::ORDERS_DIFFER), "{error}");
    assert!(error.to_string().contains(NAME), "{error}");
    assert!(store.metadata() == before);
}

#[test]
fn records_are_counted_where_a_whole_file_is_read() {
    let store = Store::new().with(SNAPSHOT, |snapshot| {
        let file = file(snapshot, "so_data_files");
        file["triple_count"] = json!(3);
        file.as_object_mut().unwrap().remove("checksum");
    });
    let error = store.lines(Order::Subject).unwrap_err();
    assert_eq!(error.broken_rule(), Some(&rules::COUNT), "{error}");
}

/// A store of one predicate that is so large that it is read in sections.
fn large(path: &Path) -> GraphLake {
    common::write(path, &WriteOptions::default(), |writer| {
        for number in 0..12_000u32 {
            let (subject, text) = (format!("urn:{number:05}"), format!("{number} {}", "x".repeat(2_000)));
            let object = Object::plain(&text, "");
            writer.push(&Quad { subject: &subject, predicate: "urn:p", object, graph: None })?;
        }
        Ok(())
    })
    .unwrap();
    open(path, &OpenOptions::default()).unwrap()
}

#[test]
fn a_changed_byte_is_found_where_a_file_is_read_in_stretches() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let file = large(&path).snapshot().graphs[0].subject_files[0].path.clone();
    let file = path.join(file);
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.len() / 2;
    let at = at + bytes[at..].iter().position(|byte| *byte == b'x').unwrap();
    bytes[at] = b'y';
    // Forward, backward, and twice with the same opened store: whichever section comes last reports it, and all that
    // come after it.
    std::fs::write(&file, &bytes).unwrap();
    let lake = open(&path, &OpenOptions { survey_up_to: 0, ..OpenOptions::default() }).unwrap();
    let read = |backward: bool| -> Result<()> {
        let mut parts = lake.scan(&Request::of(Tables::All))?;
        assert!(parts.len() > 2, "{}", parts.len());
        if backward {
            parts.reverse();
        }
        parts.iter_mut().try_for_each(|part| part.read(&mut |_| Ok(())))
    };
    for backward in [true, false, true] {
        let error = read(backward).unwrap_err();
        assert_eq!(error.broken_rule(), Some(&rules::CHECKSUM), "{error}");
        names_a_file(&error, &file);
    }
    bytes[at] = b'x';
    std::fs::write(&file, &bytes).unwrap();
    let lake = open(&path, &OpenOptions::default()).unwrap();
    let before = lake.bytes_read();
    for mut part in lake.scan(&Request::of(Tables::All)).unwrap().into_iter().rev() {
        part.read(&mut |_| Ok(())).unwrap();
    }
    // In the worst order some of the waiting sections are read twice; in the natural order only the ends of sections
    // are.
    let size = bytes.len() as u64;
    assert!(lake.bytes_read() - before < 2 * size);
    let lake = open(&path, &OpenOptions { survey_up_to: 0, ..OpenOptions::default() }).unwrap();
    let before = lake.bytes_read();
    for mut part in lake.scan(&Request::of(Tables::All)).unwrap() {
        part.read(&mut |_| Ok(())).unwrap();
    }
    let read = lake.bytes_read() - before;
    assert!(read < size + size / 20, "{read} of {size}");
}

#[test]
fn what_waits_for_its_turn_leaves_memory_to_others() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    drop(large(&path));
    let budget = isomorph_storage::Budget::new(16 << 20);
    let options = OpenOptions { survey_up_to: 0, budget: budget.clone(), ..OpenOptions::default() };
    let lake = open(&path, &options).unwrap();
    // All except the first: nothing of it can be hashed.
    for mut part in lake.scan(&Request::of(Tables::All)).unwrap().into_iter().skip(1) {
        part.read(&mut |_| Ok(())).unwrap();
    }
    assert!(budget.used() < 4 << 20, "{}", budget.used());
    for mut part in lake.scan(&Request::of(Tables::All)).unwrap() {
        part.read(&mut |_| Ok(())).unwrap();
    }
}

#[test]
fn a_prefix_that_was_changed_is_not_believed_in_a_file_of_ours() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    store(&path);
    let name = path.join("snapshots/snapshot4.json");
    let text = std::fs::read_to_string(&name).unwrap();
    let changed = text.replace("\"prefix_map\":{\"http://example.org/\"", "\"prefix_map\":{\"hvtp://example.org/\"");
    assert_ne!(text, changed);
    std::fs::write(&name, &changed).unwrap();
    let read = |options: &OpenOptions| lines(&open(&path, options).unwrap(), Order::Subject);
    let error = read(&OpenOptions::default()).unwrap_err();
    assert_eq!(error.broken_rule(), Some(&rules::PREFIXES_CHANGED), "{error}");
    assert!(lake(&path).compact(CompactMode::Full, &|_| Ok(())).is_err());
    let lenient = OpenOptions { tolerance: isomorph_graphlake::Tolerance::Lenient, ..OpenOptions::default() };
    // They are in order, whatever they begin with.
    assert!(read(&lenient).unwrap().contains("<hvtp://example.org/"));
    // For files of other writers, prefix_map counts.
    std::fs::write(&name, changed.replace("\"sort_order\"", "\"order of others\"")).unwrap();
    assert!(read(&OpenOptions::default()).unwrap().contains("<hvtp://example.org/"));
}
