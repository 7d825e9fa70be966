//! Which row of a node is chosen, across partitions and pieces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use common::rows::{Row, edge, file, file_of_groups, node};
use common::{open, open_bytes, view};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{EdgeOrder, Progress, Source};
use isomorph_nock::{Nock, OpenOptions, rules};
use isomorph_storage::Budget;
use serde_json::{Value, json};

fn directory(parts: &[&[Row]]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (id, rows) in parts.iter().enumerate() {
        std::fs::write(home.path().join(format!("part_{id:02}.parq")), file(rows)).unwrap();
    }
    home
}

fn names(view: &Value) -> Vec<&str> {
    view["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect()
}

fn open_rows(rows: &[Row]) -> Nock {
    open_bytes(file(rows), &OpenOptions::default()).unwrap()
}

fn open_dir(path: &Path) -> Nock {
    open(path, &OpenOptions::default()).unwrap()
}

#[test]
fn the_last_row_of_a_node_counts_and_edges_are_united() {
    let rows =
        [node("a").labels("X"), edge("a", 0, "r", "b"), node("b"), node("a").labels("Y"), edge("a", 0, "r", "a")];
    for group in [1, 2, 100] {
        let nock = open_bytes(file_of_groups(&rows, group), &OpenOptions::default()).unwrap();
        let found = view(&nock).unwrap();
        assert_eq!(names(&found), ["a", "b"]);
        assert_eq!(found["nodes"][0]["labels"], json!(["Y"]));
        assert_eq!(found["edges"].as_array().unwrap().len(), 2);
        assert_eq!(nock.settle().unwrap().findings.count(&rules::NODE_REPEATED), 1);
        assert!(nock.edge_orders(0).is_empty(), "the first edges come before the row that counts");
    }
}

#[test]
fn an_owner_wins_over_shadows_wherever_it_is() {
    let home = directory(&[
        &[node("a"), edge("a", 0, "r", "b"), node("b").shadow(1)],
        &[node("b").labels("B"), node("a").shadow(0), edge("b", 0, "s", "a")],
    ]);
    let nock = open_dir(home.path());
    assert_eq!(nock.graph().nodes[0].properties.len(), 3, "no node has a shadow");
    let found = view(&nock).unwrap();
    assert_eq!(names(&found), ["a", "b"]);
    assert_eq!(found["nodes"][1]["labels"], json!(["B"]));
    assert!(nock.settle().unwrap().findings.is_empty());
    // The edge of b follows the row of a: it is read, but it is out of sequence.
    assert_eq!(nock.settle().unwrap().out_of_sequence.count(&rules::EDGE_SEQUENCE), 1);
}

#[test]
fn a_shadow_without_owner_stays_a_node() {
    let home =
        directory(&[&[node("a"), edge("a", 0, "r", "c"), node("c").shadow(7)], &[node("b"), node("c").shadow(7)]]);
    let nock = open_dir(home.path());
    let found = view(&nock).unwrap();
    assert_eq!(names(&found), ["a", "b", "c"]);
    assert_eq!(found["nodes"][2]["shadow"], json!(7));
    let settled = nock.settle().unwrap();
    assert_eq!((settled.unresolved_shadows, settled.findings.count(&rules::SHADOW_OWNER)), (1, 1));
}

/// The same rows as Parquet, in pieces of two rows, and as text.
fn in_every_form(parts: &[&[Row]]) -> Vec<tempfile::TempDir> {
    let form = |ending: &str, file: &dyn Fn(&[Row]) -> Vec<u8>| {
        let home = tempfile::tempdir().unwrap();
        for (id, rows) in parts.iter().enumerate() {
            std::fs::write(home.path().join(format!("part_{id}.{ending}")), file(rows)).unwrap();
        }
        home
    };
    vec![form("parq", &|rows| file_of_groups(rows, 2)), form("csv", &|rows| common::rows::csv(rows))]
}

#[test]
fn a_bare_shadow_row_does_not_silence_one_that_says_something() {
    let full = || node("b").shadow(7).truth(0.5).labels("S").props(r#"{"only":1}"#);
    let one = [node("a"), edge("a", 0, "r", "b"), full()];
    let other = [node("c"), edge("c", 0, "r", "b"), node("b").shadow(7)];
    for parts in [[&one[..], &other[..]], [&other[..], &one[..]]] {
        for home in in_every_form(&parts) {
            let nock = open_dir(home.path());
            let wanted = json!({
                "name": "b", "labels": ["S"], "truth": 0.5, "is_rdf": false, "shadow": 7, "props": {"only": 1},
            });
            assert_eq!(view(&nock).unwrap()["nodes"][1], wanted);
            let found = nock.lookup("b").unwrap().unwrap();
            assert_eq!(found.node.labels.unwrap().row(0).collect::<Vec<_>>(), ["S"]);
            let findings = &nock.settle().unwrap().findings;
            assert_eq!(findings.count(&rules::SHADOW_VALUES), 0, "saying nothing is no contradiction: {findings:?}");
            assert_eq!(findings.count(&rules::SHADOW_OWNER), 1);
        }
    }
    // Also in a single file, where the row is repeated.
    let nock = open_rows(&[full(), node("b").shadow(7)]);
    assert_eq!(view(&nock).unwrap()["nodes"][0]["labels"], json!(["S"]));
    assert_eq!(nock.settle().unwrap().findings.count(&rules::NODE_REPEATED), 1);
}

#[test]
fn shadow_rows_that_contradict_the_row_that_counts_are_told() {
    let said = |parts: &[&[Row]]| -> Vec<u64> {
        let count =
            |home: tempfile::TempDir| open_dir(home.path()).settle().unwrap().findings.count(&rules::SHADOW_VALUES);
        in_every_form(parts).into_iter().map(count).collect()
    };
    let b = || node("b").shadow(1);
    // No owner: two values, or two partitions.
    assert_eq!(said(&[&[node("a"), b().labels("S")], &[node("c"), b().labels("T")]]), [1, 1]);
    assert_eq!(said(&[&[node("a"), b().labels("S")], &[node("c"), b().props(r#"{"x":1}"#)]]), [1, 1]);
    assert_eq!(said(&[&[node("a"), b()], &[node("c"), b().shadow(2)]]), [1, 1]);
    assert_eq!(said(&[&[node("a"), b().labels("S,T")], &[node("c"), b().labels("T,S")]]), [0, 0]);
    // An owner.
    let owner = || node("b").labels("T").props(r#"{"x": 1, "y": 2}"#);
    assert_eq!(said(&[&[node("a"), b().labels("S")], &[owner()]]), [1, 1]);
    assert_eq!(said(&[&[node("a"), b().truth(0.5).labels("T")], &[owner()]]), [1, 1]);
    assert_eq!(said(&[&[node("a"), b().labels("T")], &[owner()]]), [0, 0]);
    assert_eq!(said(&[&[node("a"), b().props(r#"{"y":2,"x":1}"#)], &[owner()]]), [0, 0]);
    assert_eq!(said(&[&[node("a"), b()], &[owner()]]), [0, 0]);
}

#[test]
fn a_partition_without_a_row_of_what_its_edges_name_is_told() {
    for home in in_every_form(&[
        &[node("a"), edge("a", 0, "r", "b"), edge("a", 1, "r", "b"), edge("a", 2, "r", "gone")],
        &[node("b"), edge("b", 0, "r", "a"), edge("b", 1, "r", "gone"), node("a").shadow(0)],
    ]) {
        let nock = open_dir(home.path());
        let findings = &nock.settle().unwrap().findings;
        assert_eq!(findings.count(&rules::SHADOW_MISSING), 1, "b in the first partition: {findings:?}");
        assert_eq!(findings.count(&rules::NODE_IMPLICIT), 1, "no partition has a row of gone");
        let (_, kept) = findings.by_rule().find(|(_, kept)| *kept[0].rule == rules::SHADOW_MISSING).unwrap();
        assert_eq!(kept[0].place.row, Some(1));
        assert_eq!(view(&nock).unwrap()["edges"].as_array().unwrap().len(), 5);
    }
}

#[test]
fn of_two_owners_the_last_partition_wins() {
    let home = directory(&[&[node("a").labels("first")], &[node("a").labels("second")]]);
    let nock = open_dir(home.path());
    assert_eq!(
        view(&nock).unwrap()["nodes"],
        json!([{
            "name": "a", "labels": ["second"], "truth": 1.0, "is_rdf": false, "shadow": -1, "props": {},
        }])
    );
    assert_eq!(nock.settle().unwrap().findings.count(&rules::NODE_OWNERS), 1);
    assert!(
        open(home.path(), &OpenOptions::default().tolerance(isomorph_nock::Tolerance::Strict))
            .and_then(|nock| view(&nock))
            .is_err()
    );
}

#[test]
fn ends_without_a_row_are_nodes_in_the_order_of_their_mention() {
    let rows = [
        edge("early", 0, "r", "x"),
        node("a"),
        edge("a", 0, "r", "y"),
        edge("lost", 0, "r", "a"),
        edge("a", 1, "r", "x"),
    ];
    for group in [1, 2, 100] {
        let nock = open_bytes(file_of_groups(&rows, group), &OpenOptions::default()).unwrap();
        let mut order = Vec::new();
        for mut part in nock.scan(&isomorph_model::Request::of(isomorph_model::Tables::Nodes(0))).unwrap() {
            part.read(&mut |batch| {
                let isomorph_model::Batch::Nodes(batch) = batch else { panic!() };
                assert_eq!(batch.start, order.len() as u64);
                let keys = arrow_array::cast::AsArray::as_string::<i32>(batch.keys.as_ref().unwrap()).clone();
                order.extend(keys.iter().map(|name| name.unwrap().to_owned()));
                Ok(())
            })
            .unwrap();
        }
        assert_eq!(order, ["a", "early", "x", "y", "lost"]);
        let settled = nock.settle().unwrap();
        assert_eq!((settled.nodes, settled.edges, settled.implicit_nodes), (5, 4, 4));
        assert_eq!(settled.findings.count(&rules::NODE_IMPLICIT), 4);
        assert_eq!(settled.out_of_sequence.count(&rules::EDGE_SEQUENCE), 2);
        assert!(!settled.in_sequence);
        assert_eq!(view(&nock).unwrap()["edges"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn sequence_is_found_across_row_groups() {
    let rows = [node("a"), edge("a", 0, "r", "b"), edge("a", 1, "r", "b"), edge("a", 2, "r", "a"), node("b")];
    for group in 1..6 {
        let nock = open_bytes(file_of_groups(&rows, group), &OpenOptions::default()).unwrap();
        assert_eq!(nock.edge_orders(0), [EdgeOrder::Source], "row groups of {group}");
    }
    let other = [node("a"), node("b"), edge("a", 0, "r", "b")];
    assert!(open_rows(&other).edge_orders(0).is_empty());
    assert!(open_bytes(file_of_groups(&other, 2), &OpenOptions::default()).unwrap().edge_orders(0).is_empty());
}

#[test]
fn a_part_of_a_dataset_has_shadows() {
    let nock = open_rows(&[node("a"), edge("a", 0, "r", "b"), node("b").shadow(3)]);
    let names: Vec<&str> = nock.graph().nodes[0].properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(names, ["truth", "is_rdf", "shadow", ""]);
    assert_eq!(view(&nock).unwrap()["nodes"][1]["shadow"], json!(3));
}

/// Rows of nodes with one edge each; names too long to be inlined in a view, and one foreign node.
fn many(nodes: usize) -> Vec<Row> {
    let name = |node: usize| -> &'static str { format!("https://example.org/{node}").leak() };
    let rows = |at: usize| {
        let own = node(name(at)).shadow(if at == 7 { 3 } else { -1 });
        [own.labels("L"), edge(name(at), 0, "r", name(at + 2))]
    };
    (0..nodes).flat_map(rows).collect()
}

#[test]
fn what_is_kept_of_the_names_reads_as_the_file_does() {
    for group in [3, 40, 1000] {
        let bytes = file_of_groups(&many(100), group);
        let settled = open_bytes(bytes.clone(), &OpenOptions::default()).unwrap();
        let first = view(&settled).unwrap();
        assert_eq!(first["nodes"].as_array().unwrap().len(), 102);
        assert_eq!(view(&settled).unwrap(), first, "nothing is kept any more");
        // Memory for no piece, for one or two, and for all.
        for memory in [0, 16 << 20, 1 << 30] {
            let budget = Budget::new(memory);
            let options = OpenOptions::default().budget(budget.clone()).settle_up_to(0);
            let nock = open_bytes(bytes.clone(), &options).unwrap();
            nock.settle().unwrap();
            assert!(budget.used() <= memory / 4);
            assert_eq!(budget.used() > 0, memory > 0, "{memory} bytes, row groups of {group}");
            assert_eq!(view(&nock).unwrap(), first, "{memory} bytes");
            assert_eq!(budget.used(), 0, "what was kept is given back");
        }
    }
}

#[derive(Default)]
struct Watched {
    stages: Mutex<Vec<(String, Option<u64>)>>,
    rows: AtomicU64,
    ended: AtomicU64,
    most: u64,
}

impl Progress for Watched {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.stages.lock().unwrap().push((stage.to_owned(), total));
    }

    fn advance(&self, rows: u64) -> Result<()> {
        let rows = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        if rows > self.most { Err(Error::new(Kind::Cancelled, "enough")) } else { Ok(()) }
    }

    fn end(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn comparing_names_shows_how_far_it_is_and_can_be_ended() {
    let bytes = file_of_groups(&many(100), 10);
    let nock = open_bytes(bytes, &OpenOptions::default().settle_up_to(0)).unwrap();
    for threads in [1, 3] {
        let impatient = Watched { most: 50, ..Watched::default() };
        assert_eq!(nock.prepare(threads, &impatient).unwrap_err().kind(), Kind::Cancelled);
        assert_eq!(impatient.ended.into_inner(), 1);
    }
    let patient = Watched { most: u64::MAX, ..Watched::default() };
    nock.prepare(2, &patient).unwrap();
    assert_eq!(patient.rows.load(Ordering::Relaxed), 200);
    nock.prepare(2, &patient).unwrap();
    assert_eq!(patient.stages.into_inner().unwrap(), [("names".to_owned(), Some(200))], "once is enough");
    assert_eq!(nock.settle().unwrap().nodes, 102);
}
