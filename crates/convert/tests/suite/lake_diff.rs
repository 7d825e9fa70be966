//! Snapshots of one store are compared by the files that they do not share: the result is the same as that of reading
//! both.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use isomorph_convert::{Diff, Silent, diff};
use isomorph_error::Result;
use isomorph_graphlake::{At, CompactMode, GraphLake, Lake, LakeWriter, OpenOptions, Transaction, WriteOptions};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::{Graph, Part, Request, Source};
use isomorph_storage::{Location, Mode, Resources, Staging};

/// A source that hides its format.
struct Unknown<'a>(&'a GraphLake);

impl Source for Unknown<'_> {
    fn graph(&self) -> &Graph {
        self.0.graph()
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        self.0.scan(request)
    }
}

/// Numbers that are the same in every run (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % limit
    }
}

fn with_quad<T>(subject: u64, predicate: u64, object: u64, graph: u64, then: impl FnOnce(&Quad<'_>) -> T) -> T {
    let (subject, predicate) = (format!("urn:s:{subject}"), format!("urn:p:{predicate}"));
    let text = format!("urn:o:{object}");
    let object = match object % 5 {
        0 => Object::Literal { lexical: &text, datatype: "", language: None, direction: None },
        1 => Object::Literal { lexical: &text, datatype: "", language: Some("en"), direction: None },
        _ => Object::Term(&text),
    };
    let graph = [None, Some("urn:g:1"), Some("urn:g:2")][graph as usize];
    then(&Quad { subject: &subject, predicate: &predicate, object, graph })
}

fn change(numbers: &mut Numbers, transaction: &mut Transaction<'_>) {
    let graph = [None, Some("urn:g:1"), Some("urn:g:2")][numbers.below(3) as usize];
    match numbers.below(40) {
        0 => transaction.clear_graph(graph).unwrap(),
        1 => transaction.drop_graph(graph).unwrap(),
        2 => transaction.create_graph(graph).unwrap(),
        // There may be none to copy.
        3 => drop(transaction.copy_graph(graph, Some("urn:g:2"))),
        kind => {
            let [subject, predicate, object, graph] = [40, 4, 12, 3].map(|limit| numbers.below(limit));
            with_quad(subject, predicate, object, graph, |quad| match kind {
                4..=18 => transaction.delete(quad),
                19 => {
                    let term = "<<( <urn:x> <urn:y> \"z\" )>>";
                    transaction.insert(&Quad { object: Object::Term(term), ..*quad })
                }
                _ => transaction.insert(quad),
            })
            .unwrap();
        }
    }
}

fn at(path: &Path, version: i64, naive: bool) -> GraphLake {
    let options = OpenOptions { at: At::Version(version), naive, ..OpenOptions::default() };
    GraphLake::open(&Location::from_path(path), &options).unwrap()
}

#[test]
fn snapshots_differ_by_what_reading_them_tells() {
    let resources = Resources::of_this_machine().unwrap();
    let (mut different, mut narrowed) = (0, 0);
    for seed in 0..12 {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lake");
        let place = Location::from_path(&path);
        let lake = Lake::create(&place, &OpenOptions::default(), &WriteOptions::default()).unwrap();
        let mut numbers = Numbers(seed);
        let mut versions = Vec::new();
        for round in 0..8 {
            let mut transaction = lake.begin().unwrap();
            // Many operations first, then few.
            let operations = if round == 0 { 400 } else { 1 + numbers.below(6) };
            (0..operations).for_each(|_| change(&mut numbers, &mut transaction));
            versions.extend(transaction.commit().unwrap().map(|done| done.version));
            if numbers.below(4) == 0 {
                let mode = if numbers.below(2) == 0 { CompactMode::Full } else { CompactMode::Tiers };
                versions.extend(lake.compact(mode, &|_| Ok(())).unwrap().commit.map(|done| done.version));
            }
        }
        for _ in 0..12 {
            let [left, right] = [(); 2].map(|()| versions[numbers.below(versions.len() as u64) as usize]);
            let naive = numbers.below(4) == 0;
            let limit = [0, 3, 1000][numbers.below(3) as usize];
            let [one, other] = [left, right].map(|version| at(&path, version, naive));
            narrowed += u64::from(one.apart(&other).unwrap().is_some());
            let found = diff(&one, &other, limit, &resources, &Silent).unwrap();
            let whole = diff(&Unknown(&one), &Unknown(&other), limit, &resources, &Silent).unwrap();
            different += u64::from(!found.equal);
            let said = |diff: &Diff| {
                let answers = (diff.equal, diff.order_equal, diff.schema_equal, diff.differing);
                format!("{answers:?} {:#?} {:#?}", diff.elements, diff.lines)
            };
            assert_eq!(said(&found), said(&whole), "seed {seed}, versions {left} and {right}, naive {naive}");
        }
    }
    assert!(different > 50 && narrowed > 50, "{different} differ, {narrowed} by their files");
}

#[test]
fn what_snapshots_share_is_not_read() {
    let resources = Resources::of_this_machine().unwrap();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let place = Location::from_path(&path);
    let staging = Staging::directory(&place, Mode::CreateNew).unwrap();
    let mut writer = LakeWriter::create(&staging, &WriteOptions::default()).unwrap();
    // 500 predicates in both orders, and one that is so large that its file has an index.
    for predicate in 0..500 {
        (0..20).for_each(|n| with_quad(n, predicate, n, 0, |quad| writer.push(quad)).unwrap());
    }
    (0..20_000).for_each(|n| with_quad(n, 1000, n, 0, |quad| writer.push(quad)).unwrap());
    writer.finish(&|_| Ok(())).unwrap();
    staging.commit(&LakeWriter::manifests().each_ref().map(String::as_str)).unwrap();
    let lake = Lake::open(&place, &OpenOptions::default(), &WriteOptions::default()).unwrap();
    for predicate in [7, 1000] {
        let mut transaction = lake.begin().unwrap();
        with_quad(3, predicate, 3, 0, |quad| transaction.delete(quad)).unwrap();
        with_quad(3, predicate, 4, 0, |quad| transaction.insert(quad)).unwrap();
        transaction.commit().unwrap().unwrap();
    }
    let [first, second, third] = [1, 2, 3].map(|version| at(&path, version, false));
    for (left, right) in [(&first, &second), (&second, &third)] {
        let (before, bytes) = (left.reads() + right.reads(), left.bytes_read() + right.bytes_read());
        let found = diff(left, right, 10, &resources, &Silent).unwrap();
        assert_eq!((found.equal, found.differing, found.elements.len()), (false, Some(2), 2));
        assert_eq!(found.lines.iter().filter(|line| !line.equal).count(), 1, "a triple came, another one went");
        assert_eq!(found.lines.len(), 2 * 501);
        let (reads, bytes) = (left.reads() + right.reads() - before, left.bytes_read() + right.bytes_read() - bytes);
        // Files of three versions, each a few times, of 1,006.
        assert!(reads < 60, "{reads} reads");
        assert!(bytes < 300 << 10, "{bytes} bytes of 2.5 MB");
    }
}

#[test]
fn a_file_that_two_snapshots_read_in_two_ways_is_no_shared_one() {
    let resources = Resources::of_this_machine().unwrap();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    for objects in [0..20, 20..21] {
        let mut transaction = lake.begin().unwrap();
        objects.for_each(|n| with_quad(n, 1, n, 0, |quad| transaction.insert(quad)).unwrap());
        transaction.commit().unwrap().unwrap();
    }
    let differing = || {
        let [left, right] = [1, 2].map(|version| at(&path, version, false));
        diff(&left, &right, 10, &resources, &Silent).unwrap().differing.unwrap()
    };
    assert_eq!(differing(), 1);
    let name = path.join("snapshots/snapshot2.json");
    let mut snapshot: serde_json::Value = serde_json::from_slice(&std::fs::read(&name).unwrap()).unwrap();
    let graphs = snapshot["graphs"].as_object_mut().unwrap().values_mut();
    for file in graphs.flat_map(|graph| graph["so_data_files"].as_array_mut().unwrap()) {
        // The subjects of the first snapshot's file have changed.
        let said = file.to_string();
        let other = said.replace("urn:s:", "urn:S:");
        assert_ne!(said, other);
        if file["snapshot_version"] == 1 {
            *file = serde_json::from_str(&other).unwrap();
            file["bloom_filter"] = "".into();
        }
    }
    std::fs::write(name, snapshot.to_string()).unwrap();
    assert_eq!(differing(), 20 + 21);
}
