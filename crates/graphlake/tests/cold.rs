//! What a first look-up reads, on disks and from afar: an index, and then what is wanted.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use isomorph_graphlake::{
    Bindings, GraphLake, Lake, OpenOptions, Pattern, Place, Question, Solutions, Terms, TripleId, WriteOptions,
};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;
use object_store::memory::InMemory;

fn node(number: usize) -> String {
    format!("http://example.org/node/{number:07}")
}

/// So many triples of two predicates, one with resources and one with literals, each.
fn each(count: usize, take: &mut dyn FnMut(&Quad<'_>)) {
    for number in 0..count {
        let (subject, object) = (node(number), node(number.wrapping_mul(31) % count));
        take(&Quad { subject: &subject, predicate: "urn:p", object: Object::Term(&object), graph: None });
        let object = Object::plain(&object, "urn:d");
        take(&Quad { subject: &subject, predicate: "urn:q", object, graph: None });
    }
}

/// How many reads one look-up took in a store that was just opened, and how many bytes.
fn cost(location: &Location, look: impl FnOnce(&GraphLake) -> usize) -> (u64, u64, usize) {
    let lake = GraphLake::open(location, &OpenOptions { survey_up_to: 0, ..OpenOptions::default() }).unwrap();
    let (reads, bytes) = (lake.reads(), lake.bytes_read());
    let found = look(&lake);
    (lake.reads() - reads, lake.bytes_read() - bytes, found)
}

fn count(lake: &GraphLake, pattern: &Pattern<'_>) -> usize {
    let mut found = 0;
    lake.matching(pattern, &mut |_| {
        found += 1;
        Ok(())
    })
    .unwrap();
    found
}

/// Every kind of look-up in a store of two predicates with one file of each order.
fn check(location: &Location, number: usize, size: u64) {
    let (subject, partner) = (node(number), node(number * 31));
    let literal = Object::plain(&partner, "urn:d");
    let (s, o) = (Some(subject.as_str()), Some(literal));
    for (pattern, files, expected) in [
        (Pattern { subject: s, predicate: Some("urn:p"), ..Pattern::default() }, 1, 1),
        (Pattern { object: o, predicate: Some("urn:q"), ..Pattern::default() }, 1, 1),
        (Pattern { subject: s, ..Pattern::default() }, 2, 2),
        (Pattern { object: o, ..Pattern::default() }, 2, 1),
        (Pattern { subject: Some("urn:none"), ..Pattern::default() }, 0, 0),
    ] {
        let (reads, bytes, found) = cost(location, |lake| count(lake, &pattern));
        assert_eq!(found, expected, "{pattern:?}");
        assert!(reads <= 4 * files && bytes < size, "{reads} reads of {bytes} bytes for {pattern:?}");
    }
    let id = TripleId::of(&subject, "urn:q", &literal);
    let (reads, _, found) = cost(location, |lake| {
        let mut found = 0;
        lake.by_id(&id, &mut |_| {
            found += 1;
            Ok(())
        })
        .unwrap();
        found
    });
    assert_eq!(found, 1);
    assert!(reads <= 4 * 2, "{reads} reads by id");
}

#[test]
fn a_first_look_up_reads_a_file_four_times_at_most() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    // So many that an index is longer than what is read of it first.
    let all = 120_000;
    common::write(&path, &WriteOptions::default(), |writer| {
        let mut done = Ok(());
        each(all, &mut |quad| {
            if done.is_ok() {
                done = writer.push(quad);
            }
        });
        done
    })
    .unwrap();
    let location = Location::from_path(&path);
    let lake = common::open(&path, &OpenOptions::default()).unwrap();
    let sizes = lake.snapshot().graphs[0].subject_files.iter().map(|file| file.size);
    check(&location, 3_000, sizes.min().unwrap());
}

#[test]
fn from_afar_ranges_are_read_together() {
    let location = Location::parse("s3://bucket/lake").unwrap().on_store(Arc::new(InMemory::new()));
    let lake = Lake::create(&location, &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let mut transaction = lake.begin().unwrap();
    each(20_000, &mut |quad| transaction.insert(quad).unwrap());
    transaction.commit().unwrap();
    let size = GraphLake::open(&location, &OpenOptions::default()).unwrap().snapshot().graphs[0].subject_files[0].size;
    assert!(size > 400_000, "{size}");
    check(&location, 500, size);
    // Many bindings that lie apart: an index, and then all of their blocks at once.
    let mut terms = Terms::default();
    (0..10).for_each(|number| terms.push_resource(&node(number * 1_997)).unwrap());
    let question =
        Question { subject: Place::Column(0), predicate: Place::Term(Object::Term("urn:p")), ..Question::default() };
    let bindings = Arc::new(Bindings::new(vec![terms]).unwrap());
    let (reads, _, found) = cost(&location, |lake| {
        let mut solutions = Solutions::new(lake, &question, bindings).unwrap();
        let mut found = 0;
        while let Some(batch) = solutions.next_batch().unwrap() {
            found += batch.rows.len();
        }
        found
    });
    assert_eq!(found, 10);
    assert!(reads <= 4, "{reads}");
}
