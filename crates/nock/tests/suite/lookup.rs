//! Look-ups, compared with a scan.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use common::graphs::data;
use common::open;
use common::rows::{edge, file, node};
use isomorph_error::Kind;
use isomorph_model::{EdgeBatch, Ends, NodeId, Side, Source};
use isomorph_nock::{By, CreateOptions, Format, Nock, OpenOptions, Partitioning, partition_of_name};
use proptest::prelude::*;

/// Returns source, relation and target of edges, sorted.
fn triples(batches: &[EdgeBatch]) -> Vec<(String, String, String)> {
    let mut triples = Vec::new();
    for batch in batches {
        let (Ends::Keys(source), Ends::Keys(target)) = (&batch.source, &batch.target) else { panic!() };
        let relations = batch.relations.as_ref().unwrap();
        for row in 0..batch.rows {
            triples.push((
                source.as_string::<i32>().value(row).to_owned(),
                relations.names.value(relations.index.value(row) as usize).to_owned(),
                target.as_string::<i32>().value(row).to_owned(),
            ));
        }
    }
    triples.sort();
    triples
}

/// A minimal runtime: it sleeps until it is woken.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            std::task::Poll::Ready(done) => return done,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}

fn name_of(found: &isomorph_nock::Found) -> &str {
    found.node.keys.as_ref().unwrap().as_string::<i32>().value(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn as_a_scan_says(
        data in data(12),
        parts in proptest::option::of(1u32..4),
        nested in any::<bool>(),
        text in any::<bool>(),
    ) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("graph");
        let options = CreateOptions {
            partitions: parts.map(|count| Partitioning { count, by: By::Name }),
            nested_edges: nested && !text,
            format: if text { Format::Csv } else { Format::Parquet },
            truth_double: true,
            row_group_rows: 5,
            ..CreateOptions::default()
        };
        data.write(&path, &options, (4, 4)).unwrap();
        let nock = Arc::new(open(&path, &OpenOptions::default().settle_up_to(0)).unwrap());
        for node in &data.nodes {
            let found = nock.lookup(&node.name).unwrap().unwrap();
            prop_assert_eq!(name_of(&found), &node.name);
            let owner = parts.map_or(0, |count| partition_of_name(&node.name, count));
            prop_assert_eq!(found.owner, Some(u64::from(owner)));
            prop_assert!(found.place.is_some() && found.shadow.is_none());
            let truth = found.node.properties[0].as_ref().unwrap();
            prop_assert_eq!(truth.as_primitive::<arrow_array::types::Float64Type>().value(0), node.truth);
            let again = block_on(nock.lookup_async(&node.name)).unwrap().unwrap();
            prop_assert_eq!((again.owner, again.place), (found.owner, found.place));

            for side in [Side::Out, Side::In] {
                let mut wanted: Vec<_> = data.edges.iter().filter(|edge| {
                    let end = if side == Side::Out { edge.source } else { edge.target };
                    data.nodes[end].name == node.name
                }).map(|edge| (data.nodes[edge.source].name.clone(), edge.rel.clone(), data.nodes[edge.target].name.clone())).collect();
                wanted.sort();
                let found = nock.neighbors(0, NodeId::Key(&node.name), side).and_then(isomorph_model::part::edge_batches).unwrap();
                prop_assert_eq!(triples(&found), wanted);
            }
        }
        prop_assert!(nock.lookup("not a node of any graph").unwrap().is_none());
        let missing = nock.neighbors(0, NodeId::Key("not a node of any graph"), Side::Out);
        prop_assert_eq!(missing.unwrap_err().kind(), Kind::NotFound);
    }
}

fn opened(parts: &[Vec<u8>]) -> (tempfile::TempDir, Arc<Nock>) {
    let home = tempfile::tempdir().unwrap();
    for (id, bytes) in parts.iter().enumerate() {
        std::fs::write(home.path().join(format!("part_{}.parq", 3 + id)), bytes).unwrap();
    }
    let nock = open(home.path(), &OpenOptions::default()).unwrap();
    (home, Arc::new(nock))
}

#[test]
fn the_owner_answers_not_the_shadow() {
    let (_home, nock) = opened(&[
        file(&[node("a"), edge("a", 0, "r", "b"), node("b").shadow(4)]),
        file(&[
            node("b").labels("B"),
            edge("b", 0, "r", "nowhere"),
            edge("b", 1, "r", "ghost"),
            node("ghost").shadow(9),
        ]),
    ]);
    let found = nock.lookup("b").unwrap().unwrap();
    assert_eq!((found.owner, found.shadow), (Some(4), None));
    assert_eq!(found.node.labels.as_ref().unwrap().row(0).collect::<Vec<_>>(), ["B"]);
    assert_eq!(found.place.unwrap(), ("part_4.parq".to_owned(), 0));

    let ghost = nock.lookup("ghost").unwrap().unwrap();
    assert_eq!((ghost.owner, ghost.shadow), (None, Some(9)));
    let nowhere = nock.lookup("nowhere").unwrap().unwrap();
    assert_eq!((nowhere.owner, nowhere.shadow, &nowhere.place), (None, None, &None));
    assert_eq!(name_of(&nowhere), "nowhere");
    assert!(
        nock.neighbors(0, NodeId::Key("nowhere"), Side::Out)
            .and_then(isomorph_model::part::edge_batches)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn nodes_are_found_by_their_row_too() {
    let (_home, nock) = opened(&[file(&[node("a"), edge("a", 0, "r", "z"), node("b"), edge("b", 0, "s", "a")])]);
    let of = |row| {
        nock.neighbors(0, NodeId::Row(row), Side::In)
            .and_then(isomorph_model::part::edge_batches)
            .map(|batches| triples(&batches))
    };
    assert_eq!(of(0).unwrap(), [("b".into(), "s".into(), "a".into())]);
    assert_eq!(of(2).unwrap(), [("a".into(), "r".into(), "z".into())]);
    assert_eq!(of(3).unwrap_err().kind(), Kind::NotFound);
    assert!(nock.neighbors(1, NodeId::Row(0), Side::In).is_err());
}
