//! Stores as other writers may have written them: what is allowed is read and changed, what is wrong is found or
//! refused.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::sync::Arc;

use common::answers::{Asked, Extent, answers, assert_same};
use common::store::{GRAPH, NAME, SNAPSHOT, Store, record};
use common::{copy, fixtures, lines, open};
use isomorph_graphlake::{
    Bloom, CompactMode, InGraph, Lake, OpenOptions, Order, Pattern, Tolerance, TripleId, WriteOptions,
};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;
use serde_json::{Value, json};

const LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";

#[test]
fn empty_files_hold_nothing() {
    let store = Store::new();
    let expected = store.lines(Order::Subject).unwrap();
    // One next to other files, and the only ones of a predicate and of a graph; deletions, too.
    let empty = |predicate: &str, graph: &str, id: &str, is_inverse: bool| {
        json!({
            "id": id, "predicate": predicate, "snapshot_version": 1, "is_inverse": is_inverse,
            "path": format!("graphs/{id}.bin"), "size": 0, "triple_count": 0, "max_value": "", "min_value": "",
            "bloom_filter": "", "graph": graph, "original_graph": graph, "prefix_map": {}, "prefixes": [],
        })
    };
    let store = store.with(SNAPSHOT, |snapshot| {
        let default = &mut snapshot["graphs"][GRAPH];
        let own = |predicate: &str, id: &str, inverse| empty(predicate, "urn:x-arq:DefaultGraph", id, inverse);
        for (list, id, inverse) in [("so_data_files", "a", false), ("os_data_files", "b", true)] {
            let files = default[list].as_array_mut().unwrap();
            files.push(own(NAME, id, inverse));
            files.push(own("urn:nothing", &format!("{id}{id}"), inverse));
        }
        default["tombstone_files"] = json!([own(NAME, "t", false), own(NAME, "tt", true)]);
        default["predicate_index"]["urn:nothing"] = json!("nothing");
        snapshot["graphs"]["urn:empty"] = json!({
            "id": "empty", "predicate_index": { "urn:nothing": "nothing" },
            "so_data_files": [empty("urn:nothing", "urn:empty", "e", false)],
            "os_data_files": [empty("urn:nothing", "urn:empty", "ee", true)],
        });
    });
    for id in ["a", "b", "aa", "bb", "t", "tt", "e", "ee"] {
        std::fs::write(store.path.join(format!("graphs/{id}.bin")), "").unwrap();
    }
    let check = |expected: &str| {
        for order in [Order::Subject, Order::Object] {
            assert_eq!(store.lines(order).unwrap(), expected, "{order:?}");
        }
        assert_eq!(store.broken(), Vec::<&str>::new());
        let lake = Arc::new(open(&store.path, &OpenOptions::default()).unwrap());
        let name = Object::plain("Alice", "");
        let asked: [Asked<'_>; 2] =
            [("http://example.org/alice", NAME, name), ("http://example.org/alice", "urn:nothing", name)];
        let said = answers(&lake, &asked, Extent::Everything);
        let nothing: Vec<&String> = said.iter().filter(|one| one.starts_with("1 pattern 3")).collect();
        assert!(nothing[0].contains(": 0 lines"), "{nothing:?}");
        assert!(said.iter().all(|one| !one.contains("Malformed") && !one.contains("Incomplete")), "{said:#?}");
        assert_eq!(lake.snapshot().graphs.len(), 3);
    };
    check(&expected);
    // Changed and merged, there are no empty files of a changed predicate any more, and no new ones.
    let changed = store.change().unwrap();
    assert_eq!((changed.deleted, changed.missing, changed.again), (1, 0, Some(0)));
    let after = store.lines(Order::Subject).unwrap();
    assert_ne!(after, expected);
    check(&after);
    store.lake().compact(CompactMode::Full, &|_| Ok(())).unwrap().commit.unwrap();
    check(&after);
    let lake = open(&store.path, &OpenOptions::default()).unwrap();
    let default = lake.snapshot().graphs.iter().find(|graph| graph.name == "urn:x-arq:DefaultGraph").unwrap();
    let left = [&default.subject_files, &default.object_files, &default.tombstones]
        .map(|files| files.iter().filter(|file| file.predicate == NAME).count());
    assert_eq!(left, [1, 1, 0]);
    // A file that should be empty but is not.
    std::fs::write(store.path.join("graphs/e.bin"), "x").unwrap();
    assert_eq!(store.broken(), ["GRAPHLAKE-FILE"]);
}

#[test]
fn broken_records_are_told_with_their_place() {
    let good = [record("urn:a", "one", ""), record("urn:b", "two", ""), record("urn:c", "three", "urn:d")];
    let start = good[0].len() + good[1].len();
    let flipped = |at: usize, byte: u8| {
        let mut record = good[2].clone();
        record[at] = byte;
        record
    };
    let datatype = good[2].len() - 13;
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("cut in a length", good[2][..6].to_vec()),
        ("cut in a text", good[2][..10].to_vec()),
        ("cut before the datatype", good[2][..datatype].to_vec()),
        ("one byte short", good[2][..good[2].len() - 1].to_vec()),
        ("an unknown prefix", flipped(0, 9)),
        ("a prefix below zero", flipped(3, 0xff)),
        ("a length below zero", flipped(7, 0xff)),
        ("a length beyond the end", flipped(6, 1)),
        ("no UTF-8", flipped(8, 0xff)),
        ("neither a literal nor none", flipped(13, 2)),
        ("an unknown prefix of a datatype", flipped(datatype, 5)),
        ("an empty subject", [&[0; 8][..], &good[2][13..]].concat()),
    ];
    for (what, last) in cases {
        let records = [good[0].clone(), good[1].clone(), last];
        let store = Store::new().with_records("so_data_files", &records);
        // As many by object, so that neither order is treated as the complete one.
        let store = store.with_records("os_data_files", &[good[0].clone(), good[2].clone(), good[1].clone()]);
        let found = store.found();
        let (_, place) = found.iter().find(|(rule, _)| *rule == "GRAPHLAKE-RECORD").unwrap_or_else(|| {
            unreachable!("{what}: {found:?}");
        });
        let name = place.file.as_deref().unwrap();
        assert!(store.path.join(name).is_file() && name.ends_with(".bin"), "{what}: {name}");
        assert_eq!((place.offset, place.row), (Some(start as u64), Some(2)), "{what}");
        // Every reader gets the same error.
        let error = store.lines(Order::Subject).unwrap_err();
        assert_eq!(error.broken_rule().unwrap().id, "GRAPHLAKE-RECORD", "{what}");
        assert_eq!(error.place(), place, "{what}");
        // The other order is complete.
        assert!(store.lines(Order::Object).is_ok(), "{what}");
    }
}

#[test]
fn a_language_that_is_missing_is_told() {
    let tags = format!("{LANG_STRING}@EN-gb");
    let records = [
        record("urn:a", "bare", LANG_STRING),
        record("urn:b", "plain", ""),
        record("urn:c", "text", "http://www.w3.org/2001/XMLSchema#string"),
        record("urn:d", "tagged", &tags),
    ];
    let store = Store::new().with_records("so_data_files", &records);
    let by_object = [0, 1, 3, 2].map(|at: usize| records[at].clone());
    let store = store.with_records("os_data_files", &by_object);
    let found = store.found();
    assert_eq!(found.iter().map(|(rule, _)| *rule).collect::<Vec<_>>(), ["GRAPHLAKE-LANGUAGE"; 2], "{found:?}");
    for (_, place) in &found {
        assert!(place.file.as_deref().is_some_and(|name| name.ends_with(".bin")), "{place:?}");
        assert_eq!(place.row, Some(0));
    }
    // It is plain text, and is found as such, also by its id; so are explicit xsd:string and languages in upper case.
    let lake = open(&store.path, &OpenOptions::default()).unwrap();
    let english = Object::Literal { lexical: "tagged", datatype: "", language: Some("en-gb"), direction: None };
    for (subject, object, line) in [
        ("urn:a", Object::plain("bare", ""), "\"bare\""),
        ("urn:c", Object::plain("text", ""), "\"text\""),
        ("urn:d", english, "\"tagged\"@en-gb"),
    ] {
        for pattern in [
            Pattern { subject: Some(subject), object: Some(object), ..Pattern::default() },
            Pattern { object: Some(object), graph: InGraph::Default, ..Pattern::default() },
        ] {
            let mut found = Vec::new();
            lake.matching(&pattern, &mut |quad| {
                let mut text = String::new();
                isomorph_graphlake::push_quad(&mut text, &quad);
                found.push(text);
                Ok(())
            })
            .unwrap();
            assert_eq!(found, [format!("<{subject}> <{NAME}> {line} .")], "{pattern:?}");
        }
        let mut found = 0;
        let count = &mut |_: Quad<'_>| {
            found += 1;
            Ok(())
        };
        lake.by_id(&TripleId::of(subject, NAME, &object), count).unwrap();
        assert_eq!(found, 1, "{subject}");
    }
    // And it is deleted as such.
    let writer = store.lake();
    let mut transaction = writer.begin().unwrap();
    let bare = Quad { subject: "urn:a", predicate: NAME, object: Object::plain("bare", ""), graph: None };
    transaction.delete(&bare).unwrap();
    assert_eq!(transaction.commit().unwrap().unwrap().deleted, 1);
    for order in [Order::Subject, Order::Object] {
        let left = store.lines(order).unwrap();
        assert!(!left.contains("bare") && left.contains("\"text\""), "{order:?}: {left}");
    }
    // Strict reading accepts no warnings.
    let strict = OpenOptions { tolerance: Tolerance::Strict, ..OpenOptions::default() };
    assert!(open(&store.path, &strict).is_ok(), "it is found when records are read");
}

#[test]
fn versions_of_the_format_are_read_or_refused() {
    let expected = Store::new().lines(Order::Subject).unwrap();
    let lenient = OpenOptions { tolerance: Tolerance::Lenient, ..OpenOptions::default() };
    let with = |version: &Value| Store::new().with("store.json", |store| store["format_version"] = version.clone());
    for version in ["0.1", "0.1.0", "0.1.7", "0.1.12"] {
        let store = with(&json!(version));
        assert_eq!(store.lines(Order::Subject).unwrap(), expected, "{version}");
        assert_eq!(store.broken(), Vec::<&str>::new(), "{version}");
        // Writers that change it keep its contents.
        assert_eq!(store.change().unwrap().version, 2);
        let kept: Value = serde_json::from_slice(&std::fs::read(store.path.join("store.json")).unwrap()).unwrap();
        assert_eq!(kept["format_version"], version);
    }
    for version in [json!("0.2"), json!("0.10"), json!("1.0"), json!("0.1x"), json!(""), json!(" 0.1"), json!(0.1)] {
        let store = with(&version);
        let error = store.lines(Order::Subject).unwrap_err();
        assert_eq!(error.broken_rule().unwrap().id, "GRAPHLAKE-FORMAT-VERSION", "{version}");
        assert!(error.place().file.as_deref() == Some("store.json"), "{:?}", error.place());
        // Nobody writes to what cannot be understood.
        let before = store.everything();
        let refused = |error: isomorph_error::Error| error.broken_rule().unwrap().id;
        assert_eq!(refused(store.change().unwrap_err()), "GRAPHLAKE-FORMAT-VERSION", "{version}");
        let lake = store.lake();
        assert_eq!(refused(lake.compact(CompactMode::Full, &|_| Ok(())).unwrap_err()), "GRAPHLAKE-FORMAT-VERSION");
        assert_eq!(refused(lake.log(9).unwrap_err()), "GRAPHLAKE-FORMAT-VERSION");
        assert!(store.everything() == before, "{version}");
        assert_eq!(lines(&open(&store.path, &lenient).unwrap(), Order::Subject).unwrap(), expected, "{version}");
    }
    let missing = Store::new().with("store.json", |store| {
        store.as_object_mut().unwrap().remove("format_version");
    });
    assert_eq!(missing.broken(), ["GRAPHLAKE-FORMAT-VERSION"]);
}

#[test]
fn filters_and_bounds_of_others_may_lie() {
    let root = fixtures();
    let home = copy(&root.join("five_k"));
    let path = home.path().join("lake");
    let honest = Arc::new(open(&root.join("five_k"), &OpenOptions::default()).unwrap());
    let mut quads = Vec::new();
    honest
        .quads(Order::Subject, &mut |quad| {
            if let Object::Literal { lexical, datatype: "", language: None, .. } | Object::Term(lexical) = quad.object {
                let is_literal = matches!(quad.object, Object::Literal { .. });
                quads.push((quad.subject.to_owned(), quad.predicate.to_owned(), lexical.to_owned(), is_literal));
            }
            Ok(())
        })
        .unwrap();
    let some = quads.iter().step_by(quads.len() / 6);
    let asked: Vec<Asked<'_>> = some
        .map(|(subject, predicate, text, is_literal)| {
            let object = if *is_literal { Object::plain(text, "") } else { Object::Term(text.as_str()) };
            (subject.as_str(), predicate.as_str(), object)
        })
        .collect();
    let expected = answers(&honest, &asked, Extent::Everything);
    let name = path.join(SNAPSHOT);
    let text = std::fs::read(&name).unwrap();
    // Filters in our own format that exclude everything, bounds that exclude everything, or that are swapped.
    let nothing = Bloom::with_blocks(1).to_text();
    for (least, most, filter) in [
        ("~", "~~", nothing.as_str()),
        ("z", "a", "SGVsbG8sIFdvcmxkIQ=="),
        ("", "", "no Base64"),
        ("", "\u{10ffff}", ""),
    ] {
        let mut snapshot: Value = serde_json::from_slice(&text).unwrap();
        let lie = |file: &mut Value| {
            (file["min_value"], file["max_value"]) = (json!(least), json!(most));
            (file["bloom_filter"], file["id_bloom_filter"]) = (json!(filter), json!(filter));
            for name in ["sort_order", "checksum", "literal_count"] {
                file.as_object_mut().unwrap().remove(name);
            }
        };
        for graph in snapshot["graphs"].as_object_mut().unwrap().values_mut() {
            for list in ["so_data_files", "os_data_files"] {
                graph[list].as_array_mut().unwrap().iter_mut().for_each(lie);
            }
        }
        std::fs::write(&name, snapshot.to_string()).unwrap();
        let lying = Arc::new(open(&path, &OpenOptions::default()).unwrap());
        assert_same(&answers(&lying, &asked, Extent::Everything), &expected, &format!("{least} {most} {filter}"));
    }
    // Writers use the actual records, too.
    let mut snapshot: Value = serde_json::from_slice(&std::fs::read(&name).unwrap()).unwrap();
    for graph in snapshot["graphs"].as_object_mut().unwrap().values_mut() {
        for list in ["so_data_files", "os_data_files"] {
            for file in graph[list].as_array_mut().unwrap() {
                (file["min_value"], file["max_value"]) = (json!("~"), json!("~"));
                (file["bloom_filter"], file["id_bloom_filter"]) = (json!(nothing), json!(nothing));
            }
        }
    }
    std::fs::write(&name, snapshot.to_string()).unwrap();
    let place = Location::from_path(&path);
    let lake = Lake::open(&place, &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let mut all = Vec::new();
    let mut transaction = lake.begin().unwrap();
    honest
        .quads(Order::Subject, &mut |quad| {
            let mut line = String::new();
            isomorph_graphlake::push_quad(&mut line, &quad);
            match all.len() % 2 {
                0 => transaction.delete(&quad)?,
                _ => transaction.insert(&quad)?,
            }
            all.push(line);
            Ok(())
        })
        .unwrap();
    let done = transaction.commit().unwrap().unwrap();
    let (deleted, inserted) = (all.len().div_ceil(2) as u64, (all.len() / 2) as u64);
    assert_eq!((done.deleted, done.missing), (deleted, 0));
    assert_eq!((done.inserted, done.again), (inserted, Some(inserted)));
    let mut left: Vec<String> = all.iter().skip(1).step_by(2).map(|line| format!("{line}\n")).collect();
    left.sort();
    for compacted in [false, true] {
        if compacted {
            lake.compact(CompactMode::Full, &|_| Ok(())).unwrap().commit.unwrap();
        }
        for order in [Order::Subject, Order::Object] {
            assert!(lines(&open(&path, &OpenOptions::default()).unwrap(), order).unwrap() == left.concat());
        }
    }
}

/// A deletion with the version of its triple has no effect, except if all versions are read as one (R26).
#[test]
fn deletions_in_vain_are_found_and_told_when_they_are_forgotten() {
    let store = Store::new().with(SNAPSHOT, |snapshot| {
        let default = &mut snapshot["graphs"][GRAPH];
        let copies = ["so_data_files", "os_data_files"].map(|list| {
            let files = default[list].as_array().unwrap();
            let mut file = files.iter().find(|file| file["predicate"] == NAME).unwrap().clone();
            file["id"] = json!(format!("deleted-{list}"));
            file
        });
        default["tombstone_files"] = json!(copies);
    });
    assert!(store.broken().contains(&"GRAPHLAKE-TOMBSTONE"), "{:?}", store.broken());
    let naive = || {
        let lake = open(&store.path, &OpenOptions { naive: true, ..OpenOptions::default() }).unwrap();
        lines(&lake, Order::Subject).unwrap().lines().count()
    };
    let (all, before) = (store.lines(Order::Subject).unwrap().lines().count(), naive());
    let done = store.lake().compact(CompactMode::Full, &|_| Ok(())).unwrap();
    assert_eq!((all - before) as u64, done.revived);
    assert!(done.revived > 0 && naive() == all);
    assert!(!store.broken().contains(&"GRAPHLAKE-TOMBSTONE"));
}

#[test]
fn files_that_only_older_versions_have_are_missed() {
    let store = Store::new();
    store.change().unwrap();
    store.compact().unwrap();
    assert_eq!(store.broken(), Vec::<&str>::new());
    let old = store.json(SNAPSHOT);
    let files = old["graphs"][GRAPH]["so_data_files"].as_array().unwrap();
    let file = files.iter().find(|file| file["predicate"] == NAME).unwrap();
    let path = store.path.join(file["path"].as_str().unwrap());
    let bytes = std::fs::read(&path).unwrap();
    for change in [Some(&bytes[1..]), None] {
        match change {
            Some(shorter) => std::fs::write(&path, shorter).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        assert_eq!(store.broken(), ["GRAPHLAKE-FILE"]);
    }
}

#[test]
fn ids_that_stand_for_no_triple_are_found() {
    let says = |object: &str| {
        let store = Store::new();
        let lake = store.lake();
        let mut transaction = lake.begin().unwrap();
        let object = Object::Term(object);
        transaction.insert(&Quad { subject: "urn:r", predicate: "urn:says", object, graph: None }).unwrap();
        transaction.commit().unwrap();
        drop(lake);
        store.broken()
    };
    let id = |value: &str| TripleId::of("http://example.org/alice", NAME, &Object::plain(value, "")).iri();
    assert_eq!(says(&id("Nobody")), ["GRAPHLAKE-QUOTED"]);
    // One that is in the store, and one that is quoted.
    assert_eq!(says(&id("Alice")), Vec::<&str>::new());
    assert_eq!(says("<<( <urn:a> <urn:b> \"c\" )>>"), Vec::<&str>::new());
}

/// The specification says "sorted by either Subject or Object" and nothing about ties (R20).
#[test]
fn ties_in_another_order_are_told_with_what_is_out_of_order() {
    let records = ["b", "a"].map(|value| record("http://example.org/x", value, ""));
    let store = Store::new().with_records("so_data_files", &records);
    let error = store.lines(Order::Subject).unwrap_err();
    let message = error.message();
    assert!(message.contains("\"a\" comes after \"b\"") && message.contains("R20"), "{error}");
    let lenient = OpenOptions { tolerance: Tolerance::Lenient, ..OpenOptions::default() };
    assert!(lines(&open(&store.path, &lenient).unwrap(), Order::Subject).is_ok());
}

#[test]
fn files_may_be_sorted_by_datatypes_as_they_are_spelt() {
    const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
    let tagged = |language: &str| format!("{LANG_STRING}@{language}");
    for datatypes in [[format!("{XSD}integer"), format!("{XSD}string")], [tagged("EN"), tagged("de")]] {
        let records: Vec<Vec<u8>> = datatypes.iter().map(|datatype| record("urn:s", "5", datatype)).collect();
        let store = Store::new().with_records("so_data_files", &records).with_records("os_data_files", &records);
        let lenient = OpenOptions { tolerance: Tolerance::Lenient, ..OpenOptions::default() };
        assert_eq!(store.broken(), Vec::<&str>::new(), "{datatypes:?}: the file is sorted");
        // Merging it with others needs the order of the triples.
        let refused = store.lines(Order::Subject).unwrap_err();
        assert_eq!(refused.kind(), isomorph_error::Kind::Unsupported, "{refused}");
        assert!(refused.hints().any(|hint| hint.starts_with("--lenient ")), "{refused}");
        assert_eq!(common::broken(&store.path, &lenient), Vec::<&str>::new());
        let lake = open(&store.path, &lenient).unwrap();
        for order in [Order::Subject, Order::Object] {
            let found = lines(&lake, order).unwrap();
            assert_eq!(found.lines().filter(|line| line.starts_with("<urn:s>")).count(), 2, "{found}");
        }
        // In the order of the triples it can also be read; one triple in two spellings is repeated.
        let reversed: Vec<Vec<u8>> = records.iter().rev().cloned().collect();
        let store = Store::new().with_records("so_data_files", &reversed).with_records("os_data_files", &reversed);
        assert_eq!(store.broken(), Vec::<&str>::new(), "{datatypes:?}");
        assert_eq!(store.lines(Order::Subject).unwrap(), lines(&lake, Order::Subject).unwrap());
    }
    let twice = [record("urn:s", "5", ""), record("urn:s", "5", &format!("{XSD}string"))];
    let store = Store::new().with_records("so_data_files", &twice).with_records("os_data_files", &twice);
    assert!(store.broken().contains(&"GRAPHLAKE-ORDER"));
}

/// What a lenient writer may do with a store of another writer: write its files anew in order, and nothing else.
#[test]
fn compaction_writes_files_in_order_if_it_is_lenient() {
    let names = [record("urn:c", "1", ""), record("urn:a", "3", ""), record("urn:b", "2", "")];
    let store = || Store::new().with_records("so_data_files", &names).with_records("os_data_files", &names);
    let lenient = OpenOptions { tolerance: Tolerance::Lenient, ..OpenOptions::default() };
    let compact = |store: &Store, options: &OpenOptions| {
        let lake =
            Lake::open(&store.location(), options, &WriteOptions { threads: 1, ..WriteOptions::default() }).unwrap();
        lake.compact(CompactMode::Full, &|_| Ok(())).map(|done| done.commit.is_some())
    };
    let unsorted = store();
    let expected =
        [Order::Subject, Order::Object].map(|order| lines(&open(&unsorted.path, &lenient).unwrap(), order).unwrap());
    assert!(unsorted.lines(Order::Subject).is_err());
    assert!(compact(&unsorted, &lenient).unwrap());
    assert_eq!([Order::Subject, Order::Object].map(|order| unsorted.lines(order).unwrap()), expected);
    unsorted.vacuum().unwrap();
    assert_eq!(unsorted.broken(), Vec::<&str>::new());
    assert!(!compact(&unsorted, &lenient).unwrap(), "there is nothing more to do");
    // Others refuse what they cannot read.
    let other = store();
    let lake = Lake::open(&other.location(), &lenient, &WriteOptions::default()).unwrap();
    let mut transaction = lake.begin().unwrap();
    let quad = Quad { subject: "urn:d", predicate: NAME, object: Object::plain("4", ""), graph: None };
    transaction.insert(&quad).unwrap();
    transaction.commit().unwrap();
    assert_eq!(compact(&other, &OpenOptions::default()).unwrap_err().broken_rule().unwrap().id, "GRAPHLAKE-ORDER");
    assert!(compact(&other, &lenient).unwrap());
    assert_eq!(other.lines(Order::Subject).unwrap().lines().filter(|line| line.contains("/name>")).count(), 4);
    // Nobody writes to what cannot be understood, and prefixes that were changed are no matter of order.
    let newer = store().with("store.json", |store| store["format_version"] = json!("0.2"));
    assert_eq!(compact(&newer, &lenient).unwrap_err().broken_rule().unwrap().id, "GRAPHLAKE-FORMAT-VERSION");
    let mut changed = store().with(SNAPSHOT, |snapshot| {
        for list in ["so_data_files", "os_data_files"] {
            let files = snapshot["graphs"][GRAPH][list].as_array_mut().unwrap();
            for file in files.iter_mut().filter(|file| file["predicate"] == NAME) {
                (file["sort_order"], file["prefixes"]) = (json!("codepoint"), json!(["http://example.org/other/"]));
            }
        }
    });
    changed = changed.with_file("so_data_files", "so-more", &[record("urn:d", "4", "")]);
    changed = changed.with_file("os_data_files", "os-more", &[record("urn:d", "4", "")]);
    assert_eq!(compact(&changed, &lenient).unwrap_err().broken_rule().unwrap().id, "GRAPHLAKE-PREFIXES-CHANGED");
}
