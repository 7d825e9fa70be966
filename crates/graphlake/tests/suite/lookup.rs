//! The results of a pattern equal those of filtering a pass over everything.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{fixtures, open};
use isomorph_graphlake::{
    At, GraphLake, InGraph, LakeWriter, OpenOptions, Order, Pattern, Tolerance, WriteOptions, push_quad,
};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::{Ends, NodeId, Side, Source};
use isomorph_storage::{Location, Mode, Staging};

/// An owned quad.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Own {
    subject: String,
    predicate: String,
    object: [Option<String>; 4],
    graph: Option<String>,
}

impl Own {
    fn of(quad: &Quad<'_>) -> Own {
        let own = |text: &str| Some(text.to_owned());
        let object = match quad.object {
            Object::Term(term) => [own(term), None, None, None],
            Object::Literal { lexical, datatype, language, direction } => {
                [own(lexical), own(datatype), language.and_then(own), direction.and_then(own)]
            }
        };
        Own { subject: quad.subject.into(), predicate: quad.predicate.into(), object, graph: quad.graph.and_then(own) }
    }

    fn object(&self) -> Object<'_> {
        let [lexical, datatype, language, direction] = self.object.each_ref().map(Option::as_deref);
        match datatype {
            None => Object::Term(lexical.unwrap()),
            Some(datatype) => Object::Literal { lexical: lexical.unwrap(), datatype, language, direction },
        }
    }
}

fn all(lake: &GraphLake) -> BTreeSet<Own> {
    let mut found = BTreeSet::new();
    lake.quads(Order::Subject, &mut |quad| {
        found.insert(Own::of(&quad));
        Ok(())
    })
    .unwrap();
    found
}

fn matching(lake: &GraphLake, pattern: &Pattern<'_>) -> BTreeSet<Own> {
    let mut found = BTreeSet::new();
    lake.matching(pattern, &mut |quad| {
        assert!(found.insert(Own::of(&quad)), "{quad:?} came twice");
        Ok(())
    })
    .unwrap();
    found
}

/// Every combination of known terms, for some quads of a store, and for terms that do not exist.
fn check(lake: &GraphLake, step: usize) {
    let all = all(lake);
    let (strange, strange_object) = ("urn:strange", Object::plain("strange", ""));
    for (number, quad) in all.iter().step_by(step).enumerate() {
        for known in 0..16 {
            let pick = |bit: usize| known & bit != 0;
            let odd = number % 5 == 4;
            let subject = pick(1).then_some(if odd { strange } else { &quad.subject });
            let object = pick(4).then_some(if odd && !pick(1) { strange_object } else { quad.object() });
            let graph = match (&quad.graph, pick(8)) {
                (_, false) => InGraph::Any,
                (None, true) => InGraph::Default,
                (Some(name), true) => InGraph::Named(name),
            };
            let pattern = Pattern { subject, predicate: pick(2).then_some(quad.predicate.as_str()), object, graph };
            let fits = |other: &&Own| {
                subject.is_none_or(|subject| subject == other.subject)
                    && pattern.predicate.is_none_or(|predicate| predicate == other.predicate)
                    && object.is_none_or(|object| object == other.object())
                    && (!pick(8) || other.graph == quad.graph)
            };
            let expected: BTreeSet<Own> = all.iter().filter(fits).cloned().collect();
            assert!(matching(lake, &pattern) == expected, "{pattern:?}");
            assert!(pick(1) || pick(4) || !expected.is_empty());
        }
    }
}

#[test]
fn patterns_find_what_a_pass_finds() {
    let root = fixtures();
    for (store, version, step) in
        [("tiny", 1, 1), ("history", 5, 1), ("history", 8, 1), ("history", 12, 1), ("five_k", 1, 190)]
    {
        for naive in [false, true] {
            let options = OpenOptions { at: At::Version(version), naive, ..OpenOptions::default() };
            check(&open(&root.join(store), &options).unwrap(), step);
        }
    }
}

/// A store whose files are large enough for indexes.
fn large(path: &Path) {
    let staging = Staging::directory(&Location::from_path(path), Mode::CreateNew).unwrap();
    let mut writer = LakeWriter::create(&staging, &WriteOptions::default()).unwrap();
    for subject in 0..20_000u32 {
        let name = format!("http://example.org/{}", subject.wrapping_mul(2_654_435_761) % 20_011);
        let object = format!("urn:o:{}", subject % 37);
        let object = if subject % 3 == 0 { Object::plain(&object, "") } else { Object::Term(&object) };
        writer.push(&Quad { subject: &name, predicate: "urn:p", object, graph: None }).unwrap();
    }
    writer.finish(&|_| Ok(())).unwrap();
    let manifests = LakeWriter::manifests();
    staging.commit(&manifests.each_ref().map(String::as_str)).unwrap();
}

#[test]
fn indexes_change_no_answer_and_save_reading() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    large(&path);
    let lake = open(&path, &OpenOptions::default()).unwrap();
    check(&lake, 1_500);
    // With the index cached, one look-up reads blocks, not files; for missing terms nothing is read.
    let files = &lake.snapshot().graphs[0].subject_files;
    assert!(files.len() == 1 && files[0].size > 400_000, "{}", files[0].size);
    let before = lake.bytes_read();
    let pattern = Pattern { subject: Some("http://example.org/7"), ..Pattern::default() };
    assert_eq!(matching(&lake, &pattern).len(), 1);
    assert!(lake.bytes_read() - before <= 64 << 10, "{}", lake.bytes_read() - before);
    let before = lake.bytes_read();
    assert!(matching(&lake, &Pattern { subject: Some("urn:z"), ..Pattern::default() }).is_empty());
    assert_eq!(lake.bytes_read(), before);
}

#[test]
fn a_file_out_of_order_gives_no_wrong_answer() {
    let root = fixtures();
    let home = common::copy(&root.join("tiny"));
    let path = home.path().join("lake");
    // As other writers write it: a checksum would show more.
    let snapshot = path.join("snapshots/snapshot1.json");
    let text = std::fs::read_to_string(&snapshot).unwrap();
    std::fs::write(&snapshot, text.replace("\"checksum\"", "\"checksum of others\"")).unwrap();
    let lake = open(&path, &OpenOptions::default()).unwrap();
    let file = lake
        .snapshot()
        .graphs
        .iter()
        .flat_map(|graph| &graph.subject_files)
        .find(|file| file.triple_count == 2)
        .unwrap();
    let data = path.join(&file.path);
    let bytes = std::fs::read(&data).unwrap();
    let second = (1..bytes.len()).find(|at| bytes[*at..].starts_with(&bytes[..4])).unwrap();
    std::fs::write(&data, [&bytes[second..], &bytes[..second]].concat()).unwrap();
    // The first record is now greater than the wanted one: a reader that stops there would miss it.
    for subject in [file.min_value.as_str(), file.max_value.as_str()] {
        let pattern = Pattern { subject: Some(subject), ..Pattern::default() };
        let error = lake.matching(&pattern, &mut |_| Ok(())).unwrap_err();
        assert_eq!(error.broken_rule().unwrap().id, "GRAPHLAKE-ORDER");
        let lenient = OpenOptions { tolerance: Tolerance::Lenient, ..OpenOptions::default() };
        assert!(!matching(&open(&path, &lenient).unwrap(), &pattern).is_empty());
    }
}

#[test]
fn neighbours_are_resources() {
    let root = fixtures();
    let lake = open(&root.join("tiny"), &OpenOptions::default()).unwrap();
    let ends = |key: &str, side: Side| -> Vec<String> {
        let mut found = Vec::new();
        for batch in lake.neighbors(0, NodeId::Key(key), side).and_then(isomorph_model::part::edge_batches).unwrap() {
            let ends = if side == Side::Out { batch.target } else { batch.source };
            let Ends::Keys(keys) = ends else { panic!("keys were wanted") };
            let keys = arrow_array::cast::AsArray::as_string::<i32>(&keys).iter();
            found.extend(keys.map(|key| key.unwrap().to_owned()));
        }
        found
    };
    let (alice, bob) = ("http://example.org/alice", "http://example.org/bob");
    assert_eq!(ends(alice, Side::Out), [bob]);
    assert_eq!(ends(alice, Side::In), ["_:x1"]);
    assert_eq!(ends(bob, Side::Out), Vec::<String>::new(), "a name is no neighbour");
    let missing = lake.neighbors(0, NodeId::Key("http://example.org/nobody"), Side::Out).unwrap_err();
    assert_eq!(missing.kind(), isomorph_error::Kind::NotFound);
    let mut line = String::new();
    push_quad(&mut line, &Quad { subject: alice, predicate: "urn:p", object: Object::Term(bob), graph: None });
    assert_eq!(line, format!("<{alice}> <urn:p> <{bob}> ."));
}
