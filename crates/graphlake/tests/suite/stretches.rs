//! A large predicate in sections: in sequence they are the whole, and records out of order are found in them, too.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::Path;

use common::open;
use isomorph_graphlake::{GraphLake, Lake, OpenOptions, Order, WriteOptions, push_quad, rules};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;

/// Three triples for each of the subjects, with texts so long that files are divided.
const TRIPLES: u32 = 12_000;

fn subject(number: u32) -> String {
    format!("urn:{:05}", number / 3)
}

fn text(number: u32) -> String {
    format!("{number} {}", "x".repeat(2_000))
}

/// A store of one large predicate and a small one.
fn large(path: &Path) -> GraphLake {
    common::write(path, &WriteOptions::default(), |writer| {
        for number in 0..TRIPLES {
            let (subject, text) = (subject(number), text(number));
            let object = Object::plain(&text, "");
            writer.push(&Quad { subject: &subject, predicate: "urn:p", object, graph: None })?;
            if number % 100 == 0 {
                let object = Object::Term("urn:o");
                writer.push(&Quad { subject: &subject, predicate: "urn:q", object, graph: Some("urn:g") })?;
            }
        }
        Ok(())
    })
    .unwrap();
    open(path, &OpenOptions::default()).unwrap()
}

fn whole(lake: &GraphLake) -> Vec<String> {
    let mut lines = Vec::new();
    lake.quads(Order::Subject, &mut |quad| {
        lines.push(String::new());
        push_quad(lines.last_mut().unwrap(), &quad);
        Ok(())
    })
    .unwrap();
    lines
}

/// The lines of each section.
fn divided(lake: &GraphLake) -> isomorph_error::Result<Vec<Vec<String>>> {
    let read = |section| {
        let mut lines = Vec::new();
        lake.statements_of(section, &mut |quad| {
            lines.push(String::new());
            push_quad(lines.last_mut().unwrap(), &quad);
            Ok(())
        })?;
        Ok(lines)
    };
    lake.divided_sections()?.iter().map(read).collect()
}

#[test]
fn stretches_are_the_whole_in_its_order() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = large(&path);
    assert_eq!(lake.sections(Order::Subject).len(), 2);
    let check = |lake: &GraphLake, triples: u32| {
        let (whole, parts) = (whole(lake), divided(lake).unwrap());
        assert!(parts.len() > 2, "{}", parts.len());
        assert!(parts.iter().all(|part| part.len() >= 100), "{:?}", parts.iter().map(Vec::len).collect::<Vec<_>>());
        assert_eq!(whole.len(), (triples + TRIPLES / 100) as usize);
        assert!(parts.concat() == whole);
    };
    check(&lake, TRIPLES);
    // Newer files and deleted triples overlap the sections.
    let lake = Lake::open(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let mut transaction = lake.begin().unwrap();
    for number in (0..TRIPLES).step_by(7) {
        let (subject, text) = (subject(number), text(number));
        let quad = |object| Quad { subject: &subject, predicate: "urn:p", object, graph: None };
        transaction.delete(&quad(Object::plain(&text, ""))).unwrap();
        transaction.insert(&quad(Object::plain("new", ""))).unwrap();
        transaction.insert(&quad(Object::Term("urn:new"))).unwrap();
    }
    transaction.commit().unwrap();
    let gone = TRIPLES.div_ceil(7);
    check(&open(&path, &OpenOptions::default()).unwrap(), TRIPLES + gone);
}

#[test]
fn a_subject_that_is_out_of_order_ends_the_reading_of_stretches() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = large(&path);
    let file = &lake.snapshot().graphs[0].subject_files[0];
    let file = path.join(file.path.trim_start_matches('/'));
    let mut bytes = std::fs::read(&file).unwrap();
    // Before the text of a literal: the number of the subject's prefix, the length of the rest of the subject and that
    // rest, a byte that says that a literal follows, the length of its text.
    let prefix_of = |number: u32| {
        let text = text(number);
        let end = bytes.windows(text.len()).position(|here| here == text.as_bytes()).unwrap() - 5;
        let says = |rest: &usize| bytes[end - rest - 4..end - rest] == (*rest as u32).to_le_bytes();
        let at = end - (0..6).find(says).unwrap() - 8;
        at..at + 4
    };
    // In the middle of the first section, a subject that belongs in the last.
    let (early, late) = (prefix_of(300), prefix_of(TRIPLES - 1));
    assert_ne!(bytes[early.clone()], bytes[late.clone()]);
    bytes.copy_within(late, early.start);
    std::fs::write(&file, bytes).unwrap();
    let lake = open(&path, &OpenOptions::default()).unwrap();
    let error = divided(&lake).err().unwrap();
    assert_eq!(error.broken_rule(), Some(&rules::ORDER), "{error:?}");
}
