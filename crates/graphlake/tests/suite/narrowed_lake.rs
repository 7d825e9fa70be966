//! Scans of triples with some ends, or some predicates: what they give is what a look at each finds, and little else is read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use arrow_array::StringArray;
use arrow_array::cast::AsArray;
use common::{open, write};
use isomorph_graphlake::{GraphLake, OpenOptions, WriteOptions};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::{Batch, Ends, Narrowing, Predicate, Request, Set, Source, Tables, Way};

const SUBJECTS: u64 = 30_000;

fn name(kind: &str, number: u64) -> String {
    format!("urn:{kind}:{number:06}")
}

/// Subject, predicate and object of each triple that comes, sorted; and how many bytes were read.
fn scan(lake: &GraphLake, request: &Request) -> (Vec<[String; 3]>, u64) {
    let before = lake.bytes_read();
    let mut found = Vec::new();
    for batch in lake.scan(request).unwrap().into_iter().flatten() {
        let Batch::Edges(edges) = batch.unwrap() else { panic!("no edges") };
        let (Ends::Keys(source), Ends::Keys(target)) = (&edges.source, &edges.target) else { panic!("rows") };
        let (source, target) = (source.as_string::<i32>(), target.as_string::<i32>());
        let relations = edges.relations.unwrap();
        for row in 0..edges.rows {
            let relation = relations.names.value(relations.index.value(row) as usize);
            found.push([source.value(row), relation, target.value(row)].map(str::to_owned));
        }
    }
    found.sort();
    (found, lake.bytes_read() - before)
}

fn narrowed(filter: Predicate) -> Request {
    Request::of(Tables::Edges(0)).narrowed(Narrowing { filter: Some(filter), ..Narrowing::least() })
}

#[test]
fn ends_and_predicates_lead_to_their_triples() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    write(&path, &WriteOptions::default(), |writer| {
        for predicate in ["urn:p", "urn:q", "urn:r"] {
            for number in 0..SUBJECTS {
                let object = name("o", number * 7919 % SUBJECTS);
                let subject = name("s", number);
                let quad = Quad { subject: &subject, predicate, object: Object::Term(&object), graph: None };
                writer.push(&quad)?;
            }
        }
        Ok(())
    })
    .unwrap();
    let lake = open(&path, &OpenOptions::default()).unwrap();
    let (all, bytes) = scan(&lake, &Request::of(Tables::Edges(0)));
    assert_eq!(all.len() as u64, 3 * SUBJECTS);
    for (column, kind, at) in [(Narrowing::SOURCE, "s", 0), (Narrowing::TARGET, "o", 2)] {
        assert_eq!(lake.look_up_cost(Tables::Edges(0), column).way, Way::Sorted);
        for numbers in [vec![], vec![12_345], (0..SUBJECTS).step_by(3).collect()] {
            let mut asked: Vec<String> = numbers.iter().map(|number| name(kind, *number)).collect();
            asked.push("<<( no term".to_owned());
            let set = Set::of(&StringArray::from(asked.clone())).unwrap();
            let (mut found, few) = scan(&lake, &narrowed(Predicate::In { column: column.to_owned(), set }));
            asked.sort();
            found.retain(|triple| asked.binary_search(&triple[at]).is_ok());
            let expected: Vec<_> =
                all.iter().filter(|triple| asked.binary_search(&triple[at]).is_ok()).cloned().collect();
            assert_eq!(found, expected, "{column}: {} keys", asked.len());
            // Of each predicate a block is read, which is a part of so small a file.
            assert!(asked.len() > 2 || few * 4 < bytes, "{column}: {few} of {bytes} bytes");
        }
    }
    let one = Predicate::equal(Narrowing::RELATION, "urn:q");
    let (found, few) = scan(&lake, &narrowed(one));
    let expected: Vec<_> = all.iter().filter(|triple| triple[1] == "urn:q").cloned().collect();
    assert_eq!(found, expected);
    assert!(few * 5 < bytes * 2, "{few} of {bytes} bytes");
}
