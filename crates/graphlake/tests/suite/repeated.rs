//! A triple that another writer has put into several files of one version, or twice into one file. A graph is a set: every question
//! has the answer that it has of a store in which the triple is once.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::sync::Arc;

use common::answers::{Asked, Extent, answers, assert_same};
use common::store::{GRAPH, NAME, SNAPSHOT, Store, record};
use common::{broken, lines, open};
use isomorph_error::Severity;
use isomorph_graphlake::{CompactMode, OpenOptions, Order, Tolerance, rules};
use isomorph_model::Source;
use isomorph_model::faces::Object;
use serde_json::json;

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

const LISTS: [&str; 2] = ["so_data_files", "os_data_files"];

/// Three names, by subject: `A`, `B`, `C`; by object they are `A`, `C`, `B`.
fn records(rows: &[usize]) -> Vec<Vec<u8>> {
    let all = [record("urn:a", "one", ""), record("urn:b", "two", ""), record("urn:c", "three", "")];
    rows.iter().map(|row| all[*row].clone()).collect()
}

/// A store with these names in one file of each list, and with more files of the same version.
fn store(own: [&[usize]; 2], more: [&[&[usize]]; 2]) -> Store {
    let mut store = Store::new();
    for (list, rows) in LISTS.into_iter().zip(own) {
        store = store.with_records(list, &records(rows));
    }
    for (list, files) in LISTS.into_iter().zip(more) {
        for (at, rows) in files.iter().enumerate() {
            store = store.with_file(list, &format!("{}-{at}", &list[..2]), &records(rows));
        }
    }
    store
}

fn once() -> Store {
    store([&[A, B, C], &[A, C, B]], [&[], &[]])
}

fn asked<'a>() -> Vec<Asked<'a>> {
    vec![
        ("urn:a", NAME, Object::plain("one", "")),
        ("urn:b", NAME, Object::plain("two", "")),
        ("urn:c", NAME, Object::plain("three", "")),
        ("urn:b", NAME, Object::plain("none", "")),
    ]
}

/// All that is known of a store: what it says to every question, and its numbers.
fn said(store: &Store, options: &OpenOptions) -> Vec<String> {
    let lake = open(&store.path, options).unwrap();
    let errors = lake.about().findings;
    let errors =
        errors.by_rule().filter(|(_, kept)| kept.iter().any(|one| one.rule.severity == Severity::Error)).count();
    assert!(errors == 0 || options.tolerance == Tolerance::Lenient, "{errors} rules");
    let graph = lake.graph();
    let mut all: Vec<String> =
        graph.values.iter().map(|table| format!("{} values of {}", table.rows.unwrap(), table.property.name)).collect();
    all.push(format!("{:?} edges", graph.edge_rows()));
    for order in [Order::Subject, Order::Object] {
        all.push(lines(&lake, order).unwrap());
    }
    all.extend(answers(&Arc::new(lake), &asked(), Extent::Everything));
    let log = store.lake().log(1).unwrap();
    all.push(format!("{:?}", log.iter().map(|event| (event.triples, event.exact)).collect::<Vec<_>>()));
    all
}

/// The same as a writer would write it that claims the order of the files, and gives them names of its own.
fn marked(store: Store) -> Store {
    store.with(SNAPSHOT, |snapshot| {
        let graph = &mut snapshot["graphs"][GRAPH];
        for list in LISTS {
            let files = graph[list].as_array_mut().unwrap();
            for (at, file) in files.iter_mut().enumerate().filter(|(_, file)| file["predicate"] == NAME) {
                (file["sort_order"], file["id"]) =
                    (json!("codepoint"), json!(format!("{}aaaaaaaaaaaa8-{at}", &list[..2])));
            }
        }
        let partition = graph["predicate_index"][NAME].as_str().unwrap().to_owned();
        graph["partitions"][partition]["files"] = json!([]);
    })
}

#[test]
fn a_triple_in_several_files_counts_once() {
    let options = OpenOptions::default();
    let lenient = OpenOptions { tolerance: Tolerance::Lenient, ..OpenOptions::default() };
    let expected = said(&once(), &options);
    type Files<'a> = &'a [&'a [usize]];
    let cases: [(&str, Files<'_>, Files<'_>); 6] = [
        ("both orders", &[&[B]], &[&[B]]),
        ("by subject", &[&[B, C]], &[]),
        ("by object", &[], &[&[C]]),
        ("different ones", &[&[B]], &[&[C]]),
        ("more than once", &[&[B], &[B, C]], &[&[C, B]]),
        ("every one", &[&[A, B, C]], &[]),
    ];
    for (what, by_subject, by_object) in cases {
        for is_marked in [false, true] {
            let make = || {
                let store = store([&[A, B, C], &[A, C, B]], [by_subject, by_object]);
                if is_marked { marked(store) } else { store }
            };
            let store = make();
            let what = format!("{what}, marked {is_marked}");
            assert_same(&said(&store, &options), &expected, &what);
            assert_same(&said(&store, &lenient), &expected, &what);
            assert_eq!(store.broken(), Vec::<&str>::new(), "{what}");
            // Merged, they are in one file of each order.
            store.lake().compact(CompactMode::Full, &|_| Ok(())).unwrap();
            assert_same(&said(&store, &options), &expected, &what);
            let mut found = broken(&store.path, &options);
            found.retain(|rule| *rule != "GRAPHLAKE-ORPHAN");
            assert_eq!(found, Vec::<&str>::new(), "{what}");
        }
    }
}

#[test]
fn orders_that_hold_different_triples_are_found_though_their_numbers_are_those_of_repeats() {
    // Four records by subject, and three by object: one triple is missing there, and one by subject.
    let store = store([&[A, B], &[A, C, B]], [&[&[A], &[B]], &[]]);
    assert!(store.broken().contains(&"GRAPHLAKE-ORDERS-DIFFER"), "{:?}", store.broken());
    let lake = open(&store.path, &OpenOptions::default()).unwrap();
    assert_eq!(lake.about().findings.count(&rules::ORDERS_DIFFER), 1);
    // Neither order is merged for both.
    let error = store.compact().unwrap_err();
    assert_eq!(error.broken_rule(), Some(&rules::ORDERS_DIFFER), "{error:?}");
    // Three and three.
    let store = self::store([&[A, B], &[A, C, B]], [&[&[B]], &[]]);
    assert!(store.broken().contains(&"GRAPHLAKE-ORDERS-DIFFER"), "{:?}", store.broken());
}

/// However many records a predicate has: the limit for lenient readers is set to nothing here.
#[test]
fn repeated_triples_are_told_from_missing_ones_whatever_their_number() {
    let options = OpenOptions { survey_up_to: 0, ..OpenOptions::default() };
    let lenient = OpenOptions { tolerance: Tolerance::Lenient, ..options.clone() };
    let findings = |store: &Store, options: &OpenOptions| open(&store.path, options).unwrap().about().findings;
    let repeated = store([&[A, B, C], &[A, C, B]], [&[&[B, C]], &[]]);
    assert_eq!(findings(&repeated, &options).count(&rules::ORDERS_DIFFER), 0);
    let lake = open(&repeated.path, &options).unwrap();
    assert_eq!(lines(&lake, Order::Subject).unwrap(), once().lines(Order::Subject).unwrap());
    // A lenient reader does not look, and reads the same.
    assert_eq!(findings(&repeated, &lenient).count(&rules::ORDERS_DIFFER), 1);
    let lake = open(&repeated.path, &lenient).unwrap();
    assert_eq!(lines(&lake, Order::Subject).unwrap(), once().lines(Order::Subject).unwrap());
    let missing = store([&[A, B], &[A, C, B]], [&[&[A], &[B]], &[]]);
    assert_eq!(findings(&missing, &options).count(&rules::ORDERS_DIFFER), 1);
}

#[test]
fn a_triple_twice_in_one_file_breaks_a_rule_and_counts_once_to_the_lenient() {
    let lenient = OpenOptions { tolerance: Tolerance::Lenient, ..OpenOptions::default() };
    let mut expected = said(&once(), &lenient);
    let number = expected.pop();
    assert_eq!(number.as_deref(), Some("[(6, true)]"));
    for (by_subject, by_object) in
        [(&[A, B, B, C][..], &[A, C, B][..]), (&[A, B, C], &[A, C, C, B]), (&[A, B, B, C], &[A, C, B, B])]
    {
        let store = store([by_subject, by_object], [&[], &[]]);
        let what = format!("{by_subject:?} {by_object:?}");
        for (order, rows) in [(Order::Subject, by_subject), (Order::Object, by_object)] {
            let read = store.lines(order);
            // Where the orders have different numbers of records, the one with more is read for both.
            if rows.len() > 3 {
                assert_eq!(read.unwrap_err().broken_rule().unwrap().id, "GRAPHLAKE-ORDER", "{what} {order:?}");
            }
        }
        let found = store.broken();
        assert!(found.contains(&"GRAPHLAKE-ORDER"), "{what}: {found:?}");
        let mut said = said(&store, &lenient);
        // What a strict reader cannot read by subject is not counted: an upper bound.
        let number = if by_subject.len() > 3 { "[(7, false)]" } else { "[(6, true)]" };
        assert_eq!(said.pop().as_deref(), Some(number), "{what}");
        assert_same(&said, &expected, &what);
    }
}
