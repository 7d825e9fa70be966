//! Texts that are too long for bounds: a shortened text is still a bound, and every look-up, insert and delete finds
//! the triples (R21).
#![allow(clippy::unwrap_used)]

use crate::common;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use common::answers::{Asked, Extent, answers, assert_same};
use common::{broken, open};
use isomorph_graphlake::{CompactMode, DataFile, Lake, OpenOptions, Order, Pattern, TripleId, WriteOptions};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;

/// Bytes of a bound.
const LONGEST: usize = 1024;

/// Texts of lengths around the limit, with characters of each width across it: each with neighbours that have the
/// length of the kept part, or that differ only after the limit.
fn texts(start: &str) -> Vec<String> {
    let mut texts = Vec::new();
    // Characters across the limit; after the last of a width, the next bound is longer, or there is none.
    for last in ["b", "\u{7f}", "é", "\u{7ff}", "€", "\u{d7ff}", "\u{ffff}", "😀", "\u{10ffff}"] {
        for before in LONGEST - 4..=LONGEST {
            let head = format!("{start}{}", "a".repeat(before - start.len()));
            texts.extend([format!("{head}{last}"), format!("{head}{last}tail"), format!("{head}{last}{last}{last}")]);
        }
    }
    for length in [LONGEST - 1, LONGEST, LONGEST + 1, 2 * LONGEST, 300_000] {
        let long = format!("{start}{}", "a".repeat(length - start.len()));
        texts.extend([format!("{long}z"), long]);
    }
    // Only longer texts are greater than this.
    texts.extend([255, 256, 257, 300].map(|length| format!("{start}{}", "\u{10ffff}".repeat(length))));
    texts.extend([start.to_owned() + "a", start.to_owned() + "b"]);
    texts
}

/// A triple: the kinds of its subject and of its object.
type Triple = (String, String, bool);

fn object((_, text, is_literal): &Triple) -> Object<'_> {
    if *is_literal { Object::plain(text, "") } else { Object::Term(text) }
}

fn quad(triple: &Triple) -> Quad<'_> {
    Quad { subject: &triple.0, predicate: "urn:p", object: object(triple), graph: None }
}

fn triples() -> BTreeSet<Triple> {
    let (subjects, objects) = (texts("urn:s:"), texts("urn:o:"));
    let pairs = subjects.iter().zip(objects.iter().rev().chain(&objects));
    let mut all: BTreeSet<Triple> =
        pairs.enumerate().map(|(at, (subject, object))| (subject.clone(), object.clone(), at % 2 == 0)).collect();
    // The same text as IRI and as literal, and a text that many have.
    all.extend(objects.iter().map(|text| ("urn:s:b".to_owned(), text.clone(), false)));
    all.extend(subjects.iter().map(|text| (text.clone(), "urn:o:b".to_owned(), true)));
    all
}

/// Each file's bounds enclose its texts, and are short if a greater short text exists.
fn check_bounds(path: &Path) {
    let lake = open(path, &OpenOptions::default()).unwrap();
    let graph = &lake.snapshot().graphs[0];
    let mut cut = 0;
    for file in [&graph.subject_files, &graph.object_files, &graph.tombstones].into_iter().flatten() {
        let DataFile { min_value: least, max_value: most, .. } = file;
        assert!(least <= most, "{least} {most}");
        assert!(least.len() <= LONGEST, "{}", least.len());
        let only_last = most.chars().skip("urn:s:".len()).all(|one| one == '\u{10ffff}');
        // The next character may be one byte longer.
        assert!(most.len() <= LONGEST + 1 || only_last, "{}: {most}", most.len());
        cut += usize::from(most.len() > 1_000);
    }
    assert!(cut > 0, "no bound is long enough to be cut");
    assert_eq!(broken(path, &OpenOptions::default()), Vec::<&str>::new());
}

/// Everything that exists is found, and nothing else.
fn check(path: &Path, there: &BTreeSet<Triple>, gone: &[Triple]) {
    let lake = Arc::new(open(path, &OpenOptions::default()).unwrap());
    let find = |pattern: &Pattern<'_>| {
        let mut found = BTreeSet::new();
        lake.matching(pattern, &mut |quad| {
            let (text, is_literal) = match quad.object {
                Object::Term(text) => (text, false),
                Object::Literal { lexical, .. } => (lexical, true),
            };
            assert!(found.insert((quad.subject.to_owned(), text.to_owned(), is_literal)));
            Ok(())
        })
        .unwrap();
        found
    };
    let all = find(&Pattern::default());
    assert!(all == *there, "{} of {}", all.len(), there.len());
    for triple in there.iter().chain(gone) {
        let [subject, object] = [Some(triple.0.as_str()), None].map(|subject| {
            let object = subject.is_none().then(|| object(triple));
            find(&Pattern { subject, object, ..Pattern::default() })
        });
        let expected = |fits: &dyn Fn(&Triple) -> bool| there.iter().filter(|one| fits(one)).cloned().collect();
        let same_subject: BTreeSet<Triple> = expected(&|one| one.0 == triple.0);
        let same_object: BTreeSet<Triple> = expected(&|one| (&one.1, one.2) == (&triple.1, triple.2));
        assert!(subject == same_subject, "{} of {}: {}", subject.len(), same_subject.len(), triple.0);
        assert!(object == same_object, "{} of {}: {}", object.len(), same_object.len(), triple.1);
        let mut by_id = 0;
        let id = TripleId::of(&triple.0, "urn:p", &self::object(triple));
        lake.by_id(&id, &mut |_| {
            by_id += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(by_id, usize::from(there.contains(triple)), "{}", triple.0);
    }
}

/// The same triples in small files, without bounds that are trusted: batches, joins and counts are the same.
fn check_answers(path: &Path, some: &[&Triple]) {
    let asked: Vec<Asked<'_>> = some.iter().map(|triple| (triple.0.as_str(), "urn:p", object(triple))).collect();
    let ask = |path: &Path| {
        let lake = Arc::new(open(path, &OpenOptions::default()).unwrap());
        answers(&lake, &asked, Extent::Everything)
    };
    let found = ask(path);
    let home = common::copy(path);
    let copy = home.path().join("lake");
    let version = open(path, &OpenOptions::default()).unwrap().snapshot().version;
    let name = copy.join(format!("snapshots/snapshot{version}.json"));
    // Bounds and filters are not trusted if the order of a file is not stated.
    let text = std::fs::read_to_string(&name).unwrap();
    let doubtful = text.replace("\"sort_order\":\"codepoint\"", "\"sort_order\":\"unknown\"");
    assert_ne!(doubtful, text);
    std::fs::write(&name, doubtful).unwrap();
    assert_same(&found, &ask(&copy), "without bounds");
}

#[test]
fn texts_that_are_cut_in_bounds_are_found() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let mut there = triples();
    // Several files, so that bounds separate them; most have only a few texts.
    let options = WriteOptions { file_bytes: 16 << 10, threads: 1, ..WriteOptions::default() };
    common::write(&path, &options, |writer| there.iter().try_for_each(|triple| writer.push(&quad(triple)))).unwrap();
    let lake = open(&path, &OpenOptions::default()).unwrap();
    let files = &lake.snapshot().graphs[0];
    assert!(files.subject_files.len() > 10 && files.object_files.len() > 10, "{}", files.subject_files.len());
    check_bounds(&path);
    check(&path, &there, &[]);
    let some: Vec<Triple> = there.iter().step_by(17).cloned().collect();
    check_answers(&path, &some.iter().collect::<Vec<_>>());

    // Existing triples are recognised: inserted again they are counted, and deleted they disappear. Inserted after
    // that, they are live again.
    let place = Location::from_path(&path);
    let lake = Lake::open(&place, &OpenOptions::default(), &options).unwrap();
    let commit = |delete: &[Triple], insert: &[Triple]| {
        let mut transaction = lake.begin().unwrap();
        delete.iter().for_each(|triple| transaction.delete(&quad(triple)).unwrap());
        insert.iter().for_each(|triple| transaction.insert(&quad(triple)).unwrap());
        transaction.commit().unwrap().unwrap()
    };
    let all: Vec<Triple> = there.iter().cloned().collect();
    let done = commit(&[], &all);
    assert_eq!((done.inserted, done.again), (all.len() as u64, Some(all.len() as u64)));
    let gone: Vec<Triple> = all.iter().step_by(3).cloned().collect();
    let done = commit(&gone, &[]);
    assert_eq!((done.deleted, done.missing), (gone.len() as u64, 0));
    gone.iter().for_each(|triple| assert!(there.remove(triple)));
    check(&path, &there, &gone);
    check_bounds(&path);
    let done = commit(&gone[..5], &gone[5..30]);
    assert_eq!((done.deleted, done.missing, done.again), (0, 5, Some(0)));
    there.extend(gone[5..30].iter().cloned());
    check(&path, &there, &gone[..5]);
    check_answers(&path, &gone.iter().step_by(7).collect::<Vec<_>>());

    // After a merge, and in a bulk load, the same.
    lake.compact(CompactMode::Full, &|_| Ok(())).unwrap().commit.unwrap();
    check_bounds(&path);
    check(&path, &there, &gone[..5]);
    let mut transaction = lake.begin().unwrap();
    let mut bulk = transaction.bulk().unwrap();
    gone.iter().for_each(|triple| bulk.push(&quad(triple)).unwrap());
    transaction.insert_bulk(bulk, &|_| Ok(())).unwrap();
    assert_eq!(transaction.commit().unwrap().unwrap().again, Some(25));
    there.extend(gone.iter().cloned());
    check(&path, &there, &[]);
    check_bounds(&path);
    assert_eq!(
        common::lines(&open(&path, &OpenOptions::default()).unwrap(), Order::Object).unwrap().lines().count(),
        all.len()
    );
}
