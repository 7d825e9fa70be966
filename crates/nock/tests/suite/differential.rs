//! Random rows in random partitions, compared with a plain implementation of the format's rules.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use common::rows::{Row, file_of_groups};
use common::{assert_same, edge_order, open, open_bytes, view};
use isomorph_model::Source;
use isomorph_nock::{OpenOptions, Tolerance};
use isomorph_storage::Budget;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

fn row() -> impl Strategy<Value = Row> {
    let name = || prop::sample::select(vec!["a", "b", "c", "d", "e"]);
    let labels = prop::sample::select(vec![None, Some(""), Some("A"), Some("B,A"), Some(",A,")]);
    let props =
        prop::sample::select(vec![None, Some(""), Some("null"), Some(r#"{"x":1}"#), Some(r#"{"x":"y","z":[]}"#)]);
    (name(), -1i64..2, prop::option::of(name()), name(), 0u8..=4, -1i64..2, any::<bool>(), labels, props).prop_map(
        |(src_name, edge_id, rel_name, dst_name, truth, shadow, is_rdf, labels, props)| Row {
            src_name: Some(src_name),
            edge_id: Some(edge_id),
            rel_name,
            dst_name: Some(dst_name),
            truth: Some(f64::from(truth) / 4.0),
            shadow: Some(shadow),
            is_rdf: Some(is_rdf),
            labels,
            props,
        },
    )
}

fn props_of(row: &Row) -> Value {
    match row.props {
        None | Some("" | "null") => json!({}),
        Some(text) => serde_json::from_str(text).unwrap(),
    }
}

/// Returns the number of values in a row.
fn cells(row: &Row) -> usize {
    let has_labels = row.labels.unwrap_or_default().split(',').any(|label| !label.is_empty());
    [row.truth != Some(1.0), row.is_rdf == Some(true), has_labels, props_of(row) != json!({})]
        .map(usize::from)
        .iter()
        .sum()
}

/// Returns the expected graph. For a node, the last row of an owner is chosen; without an owner, the shadow row with the most values, then
/// the last one.
fn plainly(parts: &[Vec<Row>]) -> Value {
    /// Whether it is an owner's row, number of its values, partition, row.
    type Rank = (bool, usize, usize, usize);
    let mut speakers: BTreeMap<&str, (Rank, &Row)> = BTreeMap::new();
    let mut mentioned: BTreeSet<&str> = BTreeSet::new();
    let mut edges = Vec::new();
    for (part, rows) in parts.iter().enumerate() {
        for (number, row) in rows.iter().enumerate() {
            let name = row.src_name.unwrap();
            if row.edge_id.unwrap() < 0 {
                let is_owner = row.shadow.unwrap() < 0;
                let rank = (is_owner, if is_owner { 0 } else { cells(row) }, part, number);
                if speakers.get(name).is_none_or(|(best, _)| *best < rank) {
                    speakers.insert(name, (rank, row));
                }
            } else {
                mentioned.extend([name, row.dst_name.unwrap()]);
                edges.push(json!({
                    "src": name, "rel": row.rel_name.unwrap_or(""), "dst": row.dst_name, "truth": row.truth,
                    "props": props_of(row),
                }));
            }
        }
    }
    let mut nodes: Vec<Value> = speakers
        .values()
        .map(|(_, row)| {
            let labels: BTreeSet<&str> =
                row.labels.unwrap_or_default().split(',').filter(|label| !label.is_empty()).collect();
            json!({
                "name": row.src_name, "labels": labels, "truth": row.truth, "is_rdf": row.is_rdf,
                "shadow": row.shadow, "props": props_of(row),
            })
        })
        .collect();
    for name in mentioned.into_iter().filter(|name| !speakers.contains_key(name)) {
        nodes.push(json!({ "name": name, "labels": [], "truth": 1.0, "is_rdf": false, "shadow": -1, "props": {} }));
    }
    nodes.sort_by_key(|node| node["name"].as_str().unwrap().to_owned());
    edges.sort_by_key(edge_order);
    json!({ "nodes": nodes, "edges": edges })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn partitions_of_any_rows(
        parts in vec(vec(row(), 0..12), 1..4),
        group in 1usize..8,
        piece in 1u64..8,
        tight in any::<bool>(),
    ) {
        let wanted = plainly(&parts);
        let home = tempfile::tempdir().unwrap();
        for (id, rows) in parts.iter().enumerate() {
            std::fs::write(home.path().join(format!("part_{id}.parq")), file_of_groups(rows, group)).unwrap();
        }
        let options = OpenOptions::default().piece_rows(piece).settle_up_to(if tight { 0 } else { u64::MAX });
        let options = if tight { options.budget(Budget::new(0)) } else { options };
        let nock = open(home.path(), &options).unwrap();
        assert_same(&view(&nock).unwrap(), &wanted, "partitions");
        let settled = nock.settle().unwrap();
        prop_assert_eq!(settled.nodes, wanted["nodes"].as_array().unwrap().len() as u64);
        prop_assert_eq!(settled.edges, wanted["edges"].as_array().unwrap().len() as u64);
        for node in wanted["nodes"].as_array().unwrap() {
            let found = nock.lookup(node["name"].as_str().unwrap()).unwrap().unwrap();
            let truth = found.node.properties[0].as_ref().unwrap();
            let truth = arrow_array::cast::AsArray::as_primitive::<arrow_array::types::Float64Type>(truth).value(0);
            prop_assert_eq!(json!(truth), node["truth"].clone());
        }
    }

    /// Cells that may be missing: the result is always an error with a row, or a graph, and strict reading accepts
    /// nothing that normal reading rejects.
    #[test]
    fn missing_cells(rows in vec((row(), 0u16..2048), 1..8), group in 1usize..4) {
        let rows: Vec<Row> = rows.into_iter().map(|(row, holes)| with_holes(row, holes)).collect();
        let bytes = file_of_groups(&rows, group);
        let read = |tolerance| {
            open_bytes(bytes.clone(), &OpenOptions::default().tolerance(tolerance)).and_then(|nock| {
                let mut findings = isomorph_error::Findings::keeping(1);
                nock.validate(&mut findings)?;
                view(&nock)
            })
        };
        let (strict, normal, lenient) = (read(Tolerance::Strict), read(Tolerance::Normal), read(Tolerance::Lenient));
        if let Err(error) = &normal {
            prop_assert!(error.place().row.is_some(), "{error:?}");
            prop_assert!(strict.is_err());
        }
        if let Ok(normal) = normal {
            prop_assert_eq!(lenient.unwrap(), normal);
        }
    }
}

/// Returns the row with some cells removed, each with a chance of one in sixteen.
fn with_holes(mut row: Row, holes: u16) -> Row {
    match holes {
        1 => row.src_name = None,
        2 => row.edge_id = None,
        3 => row.dst_name = None,
        4 => row.truth = None,
        5 => row.truth = Some(f64::NAN),
        6 => row.shadow = None,
        7 => row.is_rdf = None,
        8 => row.props = Some("[]"),
        9 => row.src_name = Some(""),
        _ => {}
    }
    row
}
