//! Attributes are changed under the names that a graph shows, and others are kept.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::Path;

use arrow_array::ArrayRef;
use common::build::{Files, floats, integers, text};
use common::changes::{change, is_sound, table, view};
use common::write::column;
use common::{open, write};
use isomorph_annnet::update::{AttributeTable, Changes};
use isomorph_annnet::{WriteLayout, WriteOptions};
use isomorph_storage::{Blob, Location};
use isomorph_tables::{Encoding, ReadOptions, TableReader};
use serde_json::json;

const EDGE_TABLE: &str = "tables/_edge_table.parquet";
const NODE_TABLE: &str = "tables/_node_table.parquet";

/// A graph whose attributes have reserved names.
fn reserved() -> Files {
    let mut files = Files::small();
    files.column(EDGE_TABLE, "weight", integers([70, 71]));
    files.column(NODE_TABLE, "entity", text(["x", "y"]));
    files
}

fn vertices(columns: Vec<(&str, ArrayRef)>) -> Changes {
    Changes { vertices: vec![table(columns)], ..Changes::default() }
}

fn attributes(of: AttributeTable, columns: Vec<(&str, ArrayRef)>) -> Changes {
    Changes { table: Some((of, vec![table(columns)])), ..Changes::default() }
}

/// Names of the columns of a table.
fn columns(table: &Path) -> Vec<String> {
    let blob = Blob::open(&Location::from_path(table)).unwrap();
    let reader = TableReader::open(blob, Encoding::Parquet, &ReadOptions::default());
    reader.unwrap().schema().fields().iter().map(|field| field.name().clone()).collect()
}

#[test]
fn new_elements_get_attributes_by_the_names_that_are_shown() {
    for layout in [WriteLayout::V2, WriteLayout::Specification] {
        let folder = tempfile::tempdir().unwrap();
        reserved().write(&folder.path().join("small"));
        let path = folder.path().join("graph");
        let options = WriteOptions { layout, ..WriteOptions::default() };
        write(&open(&folder.path().join("small")).unwrap(), &path, &options, 1).unwrap();
        let before = view(&path);
        assert_eq!(before["edge_attributes"]["e"], json!({"x": "x", "weight_attribute": 70}));
        let edges = table(vec![
            ("id", text(["f", "g"])),
            ("source", text([Some("a"), None])),
            ("target", text([Some("c"), None])),
            ("members", text([None, Some("a|c")])),
            ("weight", floats([2.5, 3.5])),
            ("weight_attribute", integers([72, 73])),
        ]);
        let new = vec![("id", text(["c"])), ("entity_attribute", text(["z"]))];
        change(&path, &Changes { edges: vec![edges], ..vertices(new) }).unwrap();
        is_sound(&path);
        let after = view(&path);
        for id in ["e", "h"] {
            assert_eq!(after["edge_attributes"][id], before["edge_attributes"][id], "nobody named it");
        }
        assert_eq!(after["edge_attributes"]["f"], json!({"weight_attribute": 72}));
        assert_eq!(after["edge_attributes"]["g"], json!({"weight_attribute": 73}));
        assert_eq!(after["edges"]["f"]["weight"], json!(2.5));
        assert_eq!(after["node_attributes"]["a"], before["node_attributes"]["a"]);
        assert_eq!(after["node_attributes"]["c"], json!({"entity_attribute": "z"}));
        if layout == WriteLayout::V2 {
            assert_eq!(column(&path.join(EDGE_TABLE), "weight").len(), 4);
        }
    }
}

#[test]
fn a_replaced_table_has_the_names_that_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    reserved().write(path);
    let edges = |name| attributes(AttributeTable::Edges, vec![("id", text(["e"])), (name, integers([5]))]);
    change(path, &edges("weight_attribute")).unwrap();
    assert_eq!(view(path)["edge_attributes"], json!({"e": {"weight_attribute": 5}, "h": {}}));
    assert_eq!(columns(&path.join(EDGE_TABLE)), ["edge_id", "weight"], "the column is the one that was shown so");
    let nodes = vec![("id", text(["b"])), ("entity_attribute", text(["z"]))];
    change(path, &attributes(AttributeTable::Nodes, nodes)).unwrap();
    assert_eq!(view(path)["node_attributes"], json!({"a": {}, "b": {"entity_attribute": "z"}}));
    assert_eq!(columns(&path.join(NODE_TABLE)), ["node_id", "entity"]);
    is_sound(path);
}

/// The shown name depends on the other columns: without them, the column of the file would have another shown name.
#[test]
fn a_numbered_name_stays_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut files = reserved();
    files.column(EDGE_TABLE, "weight_attribute", integers([80, 81]));
    files.write(path);
    let both = json!({"x": "x", "weight_attribute": 80, "weight_attribute_2": 70});
    assert_eq!(view(path)["edge_attributes"]["e"], both);
    let edge = |id: &'static str| {
        vec![
            ("id", text([id])),
            ("source", text(["a"])),
            ("target", text(["b"])),
            ("weight_attribute_2", integers([1])),
        ]
    };
    change(path, &Changes { edges: vec![table(edge("f"))], ..Changes::default() }).unwrap();
    let after = view(path);
    assert_eq!(
        (&after["edge_attributes"]["e"], &after["edge_attributes"]["f"]["weight_attribute_2"]),
        (&both, &json!(1))
    );
    let alone = vec![("id", text(["e"])), ("weight_attribute_2", integers([9]))];
    change(path, &attributes(AttributeTable::Edges, alone)).unwrap();
    assert_eq!(view(path)["edge_attributes"]["e"], json!({"weight_attribute_2": 9}));
}

/// The hint takes names of existing columns into account.
#[test]
fn a_name_with_two_meanings_is_refused_with_another_that_works() {
    for files in [reserved(), Files::small()] {
        let folder = tempfile::tempdir().unwrap();
        files.write(folder.path());
        let nodes = |name| vertices(vec![("id", text(["c"])), (name, text(["z"]))]);
        let error = change(folder.path(), &nodes("entity")).unwrap_err();
        let hint = error.hints().next().unwrap().to_owned();
        assert!(hint.starts_with("rename the column to entity_attribute,"), "{hint}");
        change(folder.path(), &nodes("entity_attribute")).unwrap();
        assert_eq!(view(folder.path())["node_attributes"]["c"], json!({"entity_attribute": "z"}));
        let edges = |name| attributes(AttributeTable::Edges, vec![("id", text(["e"])), (name, integers([5]))]);
        let error = change(folder.path(), &edges("weight")).unwrap_err();
        let hint = error.hints().next().unwrap().to_owned();
        assert!(hint.starts_with("rename the column to weight_attribute,"), "{hint}");
        change(folder.path(), &edges("weight_attribute")).unwrap();
        assert_eq!(view(folder.path())["edge_attributes"]["e"], json!({"weight_attribute": 5}));
    }
}

/// The table of members has no columns for attributes of edges in the slice.
#[test]
fn edges_that_stay_in_a_slice_keep_their_attributes_there() {
    for layout in [WriteLayout::V2, WriteLayout::Specification] {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Files::small();
        files.table(
            "slices/edge_memberships.parquet",
            vec![
                ("slice_id", text(["s", "s", "t"])),
                ("edge_id", text(["e", "h", "e"])),
                ("weight", floats([2.0, 3.0, 4.0])),
            ],
        );
        files.table(
            "tables/edge_slice_attributes.parquet",
            vec![
                ("slice_id", text(["s", "s", "t"])),
                ("edge_id", text(["e", "h", "e"])),
                ("weight", floats([2.0, 3.0, 4.0])),
                ("q", integers([3, 4, 5])),
                ("r", text([None, Some("r"), None])),
            ],
        );
        files.table("slices/registry.parquet", vec![("slice_id", text(["default", "s", "t"]))]);
        files.write(&folder.path().join("small"));
        let path = folder.path().join("graph");
        let options = WriteOptions { layout, ..WriteOptions::default() };
        write(&open(&folder.path().join("small")).unwrap(), &path, &options, 1).unwrap();
        let give = |edges: &[Option<&'static str>], weights: &[Option<f64>]| {
            let columns = vec![("edge", text(edges.to_vec())), ("weight", floats(weights.to_vec()))];
            change(&path, &Changes { slice: Some(("s".into(), vec![table(columns)])), ..Changes::default() }).unwrap();
            is_sound(&path);
            view(&path)["slices"].clone()
        };
        let slices = give(&[Some("h"), Some("e")], &[None, Some(0.75)]);
        assert_eq!(slices["s"]["edge_attributes"], json!({"e": {"weight": 0.75, "q": 3}, "h": {"q": 4, "r": "r"}}));
        assert_eq!(slices["t"]["edge_attributes"], json!({"e": {"weight": 4.0, "q": 5}}), "another slice");
        // An edge that is removed loses its attributes, even if it is added again.
        let slices = give(&[Some("h")], &[None]);
        assert_eq!(slices["s"]["edge_attributes"], json!({"h": {"q": 4, "r": "r"}}));
        let slices = give(&[Some("e")], &[Some(1.5)]);
        assert_eq!(slices["s"]["edge_attributes"], json!({"e": {"weight": 1.5}}));
        assert_eq!(slices["t"]["edge_attributes"], json!({"e": {"weight": 4.0, "q": 5}}));
    }
}
