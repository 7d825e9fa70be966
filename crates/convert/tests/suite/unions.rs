//! Unions of several graphs, held against a merge of their dumps.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::Path;

use isomorph_convert::{Clash, ConvertOptions, Format, Opened, Plan, Silent, convert, union};
use isomorph_error::{Error, Kind};
use isomorph_storage::{Budget, Location, Resources};
use serde_json::Value;

use super::flat_tables::{digests, directory, lines, open};

fn resources() -> Resources {
    Resources { threads: 2, budget: Budget::new(1 << 28), ..Resources::of_this_machine().unwrap() }
}

fn all(places: &[&Path], clash: Clash) -> Result<Opened, Error> {
    union(places.iter().map(|place| open(place)).collect(), clash, &resources(), &Silent)
}

/// The lines of several dumps: nodes by type and key, the first one stays; all edges.
fn merged(places: &[&Path]) -> Vec<String> {
    let (mut nodes, mut edges) = (BTreeMap::new(), Vec::new());
    for place in places {
        for line in lines(&open(place)) {
            match line.get("node") {
                Some(ty) => {
                    nodes.entry(format!("{ty} {}", line["key"])).or_insert_with(|| line.to_string());
                }
                None => edges.push(line.to_string()),
            }
        }
    }
    let mut all: Vec<String> = nodes.into_values().chain(edges).collect();
    all.sort();
    all
}

fn sorted(opened: &Opened) -> Vec<String> {
    let mut all: Vec<String> = lines(opened).iter().map(Value::to_string).collect();
    all.sort();
    all
}

const FIRST: [(&str, &str); 2] =
    [("nodes.csv", "id,name\n1,ann\n2,bo\n3,cy\n"), ("edges.csv", "source,target,w\n1,2,1\n2,3,2\n")];

#[test]
fn nodes_are_one_by_key_and_edges_are_all_kept() {
    let one = directory(&FIRST);
    let two = directory(&[
        ("nodes.csv", "id,name\n3,cy\n4,di\n2,bo\n5,\n"),
        ("edges.csv", "source,target,w\n1,2,1\n5,4,7\n".replace("1,2,1\n", "3,2,1\n").as_str()),
    ]);
    let places = [one.path(), two.path()];
    let both = all(&places, Clash::Error).unwrap();
    assert_eq!(sorted(&both), merged(&places));
    let home = tempfile::tempdir().unwrap();
    for (format, name) in
        [(Format::GRAPHAR, "g"), (Format::NOCK, "g.parq"), (Format::CSV, "t"), (Format::CYPHER, "g.cypher")]
    {
        let place = Location::from_path(&home.path().join(name));
        let options = ConvertOptions { to: Some(format), ..ConvertOptions::default() };
        let counted = match format.numbers_all_nodes() {
            true => both.clone().counted(&resources(), &Silent).unwrap(),
            false => both.clone(),
        };
        let plan = Plan::new(&counted, &place, &options, &resources(), &Silent).unwrap();
        convert(&counted, &plan, &place, &options, &resources(), &Silent)
            .unwrap_or_else(|error| panic!("{format}: {error:?}"));
        assert_eq!(
            digests(&open(&home.path().join(name))).unwrap().content,
            digests(&both).unwrap().content,
            "{format}"
        );
    }
}

#[test]
fn properties_of_all_graphs_are_columns() {
    let one = directory(&FIRST);
    let two = directory(&[("nodes.csv", "id,name,age\n7,eve,30\n"), ("edges.csv", "source,target,w,kind\n7,7,3,x\n")]);
    let both = all(&[one.path(), two.path()], Clash::Error).unwrap();
    assert_eq!(sorted(&both), merged(&[one.path(), two.path()]));
}

#[test]
fn clashes_are_named_or_the_first_node_stays() {
    let one = directory(&FIRST);
    let two = directory(&[("nodes.csv", "id,name\n9,x\n2,bob\n"), ("edges.csv", "source,target,w\n9,2,1\n")]);
    let places = [one.path(), two.path()];
    let error = all(&places, Clash::Error).err().unwrap();
    assert!(error.message().contains("node 2 has other labels or properties in"), "{error:?}");
    assert_eq!(error.place().row, Some(1), "{error:?}");
    let both = all(&places, Clash::First).unwrap();
    assert_eq!(sorted(&both), merged(&places));
}

#[test]
fn what_cannot_be_one_type_is_refused() {
    let one = directory(&FIRST);
    let two = directory(&[("nodes.csv", "id,name\n9,1\n"), ("edges.csv", "source,target,w\n9,9,1\n")]);
    let error = all(&[one.path(), two.path()], Clash::Error).err().unwrap();
    assert_eq!(error.kind(), Kind::Unsupported, "{error:?}");
    assert!(error.message().contains("node.name is int64 here and string in another graph"), "{error:?}");
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a.nt"), "<urn:a> <urn:p> <urn:b> .\n").unwrap();
    let text = home.path().join("a.nt");
    let error = all(&[&text, &text], Clash::Error).err().unwrap();
    assert!(error.hints().any(|hint| hint.contains("lake load")), "{error:?}");
}

/// Random graphs, some of whose nodes they share.
#[test]
fn unions_of_random_graphs_are_merges() {
    let mut seed = 1u64;
    let mut draw = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    for _ in 0..20 {
        let homes: Vec<_> = (0..2 + draw(3))
            .map(|_| {
                let mut keys: Vec<u64> = (0..20).filter(|_| draw(2) == 0).collect();
                keys.push(99);
                let nodes: String = keys.iter().map(|key| format!("{key},n{key}\n")).collect();
                let edges: String = (0..draw(30))
                    .map(|_| {
                        let mut end = || keys[usize::try_from(draw(keys.len() as u64)).unwrap()];
                        format!("{},{},{}\n", end(), end(), draw(5))
                    })
                    .collect();
                directory(&[
                    ("nodes.csv", &format!("id,name\n{nodes}")),
                    ("edges.csv", &format!("source,target,w\n99,99,0\n{edges}")),
                ])
            })
            .collect();
        let places: Vec<&Path> = homes.iter().map(|home| home.path()).collect();
        assert_eq!(sorted(&all(&places, Clash::Error).unwrap()), merged(&places));
    }
}
