//! Every snapshot of the fixtures yields the expected quads, in every way of reading.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::collections::BTreeMap;

use common::{broken, fixtures, lines, open};
use isomorph_graphlake::{At, Bloom, OpenOptions, Order, Tolerance, TripleId};
use isomorph_model::faces::Object;
use serde_json::Value;

const STORES: [&str; 3] = ["tiny", "five_k", "history"];

/// Versions of a store with their known contents.
fn versions(store: &str) -> BTreeMap<i64, Value> {
    let summary = std::fs::read(fixtures().join(format!("{store}.expected/summary.json"))).unwrap();
    let summary: BTreeMap<String, Value> = serde_json::from_slice(&summary).unwrap();
    summary.into_iter().map(|(version, about)| (version.parse().unwrap(), about)).collect()
}

#[test]
fn every_snapshot_yields_its_quads_in_both_orders() {
    let root = fixtures();
    for store in STORES {
        for (version, about) in versions(store) {
            let expected = std::fs::read_to_string(root.join(format!("{store}.expected/v{version}.nq"))).unwrap();
            for tolerance in [Tolerance::Strict, Tolerance::Normal, Tolerance::Lenient] {
                let options = OpenOptions { at: At::Version(version), tolerance, ..OpenOptions::default() };
                let lake = open(&root.join(store), &options).unwrap();
                for order in [Order::Subject, Order::Object] {
                    let found = lines(&lake, order).unwrap();
                    assert!(found == expected, "{store} version {version} {order:?} {tolerance:?}");
                }
                assert_eq!(expected.lines().count() as u64, about["quads"].as_u64().unwrap());
            }
        }
    }
}

#[test]
fn a_literal_reader_sees_what_it_must() {
    let root = fixtures();
    let mut differing = 0;
    for (version, about) in versions("history") {
        let options = OpenOptions { at: At::Version(version), naive: true, ..OpenOptions::default() };
        let lake = open(&root.join("history"), &options).unwrap();
        let differs = about["naive_reader_differs"].as_bool().unwrap();
        let name = if differs { format!("v{version}.naive-reader.nq") } else { format!("v{version}.nq") };
        let expected = std::fs::read_to_string(root.join("history.expected").join(name)).unwrap();
        assert!(lines(&lake, Order::Subject).unwrap() == expected, "version {version} by subject");
        assert!(lines(&lake, Order::Object).unwrap() == expected, "version {version} by object");
        differing += usize::from(differs);
    }
    assert_eq!(differing, 9, "versions 4 to 12");
}

#[test]
fn a_store_travels_in_time() {
    let root = fixtures();
    let at = |at: At| open(&root.join("history"), &OpenOptions { at, ..OpenOptions::default() });
    let version = |found: At| at(found).unwrap().snapshot().version;
    for (number, about) in versions("history") {
        let time = about["timestamp"].as_i64().unwrap();
        assert_eq!(version(At::Time(time)), number);
        assert_eq!(version(At::Time(time + 1)), number);
        assert_eq!(version(At::Id(format!("snapshot{number}"))), number);
    }
    assert_eq!(version(At::Current), 12);
    assert_eq!(version("3".parse().unwrap()), 3);
    assert_eq!(version("@1700000180001".parse().unwrap()), 3);
    for missing in [At::Version(13), At::Version(0), At::Time(1_699_999_999_999), At::Id("snapshot13".to_owned())] {
        let error = at(missing.clone()).err().unwrap();
        assert_eq!(error.kind(), isomorph_error::Kind::NotFound, "{missing:?}");
        assert!(error.hints().any(|hint| hint.contains("versions 1 to 12")), "{error:?}");
    }
}

#[test]
fn the_fixtures_break_no_rule() {
    let root = fixtures();
    for store in STORES {
        // One of its commits deletes a triple and inserts it again.
        let noted: &[&str] = if store == "history" { &["GRAPHLAKE-TOMBSTONE"] } else { &[] };
        assert_eq!(broken(&root.join(store), &OpenOptions::default()), noted, "{store}");
    }
}

#[test]
fn filters_and_ids_have_the_bytes_that_they_must() {
    let root = fixtures();
    let vectors: Value = serde_json::from_slice(&std::fs::read(root.join("bloom_vectors.json")).unwrap()).unwrap();
    let mut filter = Bloom::with_blocks(vectors["nblocks"].as_u64().unwrap() as usize);
    for key in vectors["keys"].as_array().unwrap() {
        filter.add(key.as_str().unwrap().as_bytes());
    }
    assert_eq!(filter.to_text(), vectors["base64"].as_str().unwrap());
    assert_eq!(Bloom::parse(&filter.to_text()).as_ref(), Some(&filter));
    let absent = vectors["absent"].as_object().unwrap();
    assert!(!absent.is_empty() && absent.keys().all(|key| !filter.may_have(key.as_bytes())));

    let vectors: Value = serde_json::from_slice(&std::fs::read(root.join("triple_ids.json")).unwrap()).unwrap();
    let literal = |lexical, datatype, language, direction| Object::Literal { lexical, datatype, language, direction };
    let xsd = isomorph_model::xsd::INTEGER;
    let (s, p) = ("http://example.org/s", "http://example.org/p");
    let triples = [
        (s, Object::Term("http://example.org/o")),
        (s, Object::plain("a\"\\\n\t\u{1}é", isomorph_model::xsd::STRING)),
        (s, Object::plain("42", xsd)),
        (s, Object::plain("hi", "")),
        (s, literal("hi", "", Some("en-GB"), None)),
        (s, literal("hi", "", Some("ar"), Some("rtl"))),
        ("_:x1", Object::Term("_:x2")),
    ];
    let vectors = vectors.as_array().unwrap();
    assert_eq!(vectors.len(), triples.len());
    for (vector, (subject, object)) in vectors.iter().zip(triples) {
        assert_eq!(TripleId::of(subject, p, &object).to_string(), vector["id"].as_str().unwrap(), "{vector}");
    }
}
