//! What a rewrite keeps although it is not content, and how it handles unusual names, kinds and orders.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::build::{Files, floats, integers, text};
use common::write::{column, differing, options};
use common::{open, write};
use isomorph_annnet::{WriteLayout, WriteOptions};
use isomorph_model::Source;

const EDGES: &str = "structure/edges.parquet";
const ENTITIES: &str = "structure/entity_index.parquet";
const EDGE_TABLE: &str = "tables/_edge_table.parquet";
const NODE_TABLE: &str = "tables/_node_table.parquet";

/// Reads a graph, writes it, and calls `look` with the location and the names of the properties of edges and of nodes.
fn rewritten(files: &Files, options: &WriteOptions, look: impl FnOnce(&std::path::Path, [Vec<String>; 2])) {
    files.with(|source| {
        let source = source.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("graph");
        write(&source, &place, options, 1).unwrap();
        let found = differing(&place, &source);
        assert!(found.is_empty(), "{found:#?}");
        let names = |properties: &[isomorph_model::Property]| {
            properties.iter().map(|property| property.name.clone()).collect::<Vec<_>>()
        };
        let graph = source.graph();
        look(&place, [names(&graph.edges[0].properties), names(&graph.nodes[0].properties)]);
    });
}

#[test]
fn a_name_that_is_taken_is_numbered() {
    let mut files = Files::small();
    files.column(EDGE_TABLE, "weight", integers([5, 6]));
    files.column(EDGE_TABLE, "weight_attribute", integers([7, 8]));
    files.column(NODE_TABLE, "entity", text(["edge", "x"]));
    files.column(NODE_TABLE, "entity_attribute", text(["y", "z"]));
    // A name that nodes use is free for edges, and vice versa.
    files.column(EDGE_TABLE, "entity_attribute_2", integers([1, 2]));
    files.column(NODE_TABLE, "weight_attribute_2", integers([1, 2]));
    rewritten(&files, &options(), |place, [edges, nodes]| {
        assert_eq!(edges, ["weight", "x", "weight_attribute_2", "weight_attribute", "entity_attribute_2"]);
        assert_eq!(nodes, ["n", "entity_attribute_2", "entity_attribute", "weight_attribute_2"]);
        // The hyperedge comes first.
        assert_eq!(column(&place.join(EDGE_TABLE), "weight"), ["6", "5"]);
        assert_eq!(column(&place.join(EDGE_TABLE), "weight_attribute"), ["8", "7"]);
        assert_eq!(column(&place.join(EDGE_TABLE), "entity_attribute_2"), ["2", "1"]);
        assert_eq!(column(&place.join(NODE_TABLE), "entity"), ["edge", "x"]);
        assert_eq!(column(&place.join(NODE_TABLE), "weight_attribute_2"), ["1", "2"]);
        assert_eq!(column(&place.join(ENTITIES), "type"), ["node", "node"]);
    });
}

#[test]
fn the_kind_of_an_edge_is_kept() {
    let mut files = Files::small();
    let ids = ["a", "b", "e", "f"];
    files.table(
        ENTITIES,
        vec![
            ("entity_id", text(ids)),
            ("layer_id", integers([0; 4])),
            ("idx", integers([0, 1, 2, 3])),
            ("type", text(["node", "node", "node", "edge_entity"])),
        ],
    );
    files.table(
        EDGES,
        vec![
            ("edge_id", text(["e", "f", "g", "h"])),
            ("col_idx", integers([0, 1, 2, 3])),
            ("kind", text([Some("node_edge"), None, Some("binary"), Some("hyper")])),
            ("source", text([Some("a"), Some("a"), Some("b"), None])),
            ("target", text([Some("b"), Some("b"), Some("a"), None])),
        ],
    );
    rewritten(&files, &options(), |place, _| {
        assert_eq!(column(&place.join(EDGES), "edge_id"), ["h", "e", "f", "g"]);
        assert_eq!(column(&place.join(EDGES), "kind"), ["hyper", "node_edge", "binary", "binary"]);
    });
    // The layout of the specification's text cannot store it.
    files.with(|source| {
        let folder = tempfile::tempdir().unwrap();
        let other = WriteOptions { layout: WriteLayout::Specification, ..options() };
        let refused = write(&source.unwrap(), &folder.path().join("text"), &other, 1).unwrap_err();
        assert_eq!(refused.kind(), isomorph_error::Kind::WouldLose);
    });
}

#[test]
fn edges_keep_the_order_that_their_columns_have() {
    let mut files = Files::small();
    files.table(
        EDGES,
        vec![
            ("edge_id", text(["c", "b", "h", "a"])),
            ("col_idx", integers([30, 20, 10, 5])),
            ("weight", floats([3.0, 2.0, 1.0, 4.0])),
            ("kind", text(["binary", "binary", "hyper", "binary"])),
            ("source", text([Some("a"), Some("a"), None, Some("b")])),
            ("target", text([Some("b"), Some("b"), None, Some("a")])),
        ],
    );
    for matrix in [false, true] {
        rewritten(&files, &WriteOptions { matrix, ..options() }, |place, _| {
            let ids = column(&place.join(EDGES), "edge_id");
            let mut order: Vec<_> = column(&place.join(EDGES), "col_idx").into_iter().zip(ids).collect();
            order.sort();
            let order: Vec<&str> = order.iter().map(|(_, id)| id.as_str()).collect();
            assert_eq!(order, ["a", "h", "b", "c"]);
            let mut findings = isomorph_error::Findings::default();
            open(place).unwrap().validate(&mut findings).unwrap();
            let rules: Vec<_> = findings.by_rule().map(|(_, kept)| kept[0].rule.id).collect();
            assert!(rules.iter().all(|rule| !rule.starts_with("ANNNET-MATRIX")), "{rules:?}");
        });
    }
}

/// As annnet 0.4.1 was observed to read them.
#[test]
fn a_coefficient_without_a_layer_is_that_of_an_end_without_one() {
    for (layer, own, expected) in
        [(Some(1), None, "0.0"), (None, None, "7.0"), (None, Some(1), "0.0"), (Some(1), Some(1), "7.0")]
    {
        let mut files = Files::layered();
        files.column(EDGES, "source_layer_id", integers([layer, None]));
        files.table(
            "structure/edge_coeffs.parquet",
            vec![
                ("edge_id", text(["e"])),
                ("entity_id", text(["a"])),
                ("layer_id", integers([own])),
                ("coeff", floats([7.0])),
            ],
        );
        assert_eq!(files.broken().contains(&"ANNNET-COEFFICIENT-MEMBER"), layer != own, "{layer:?} {own:?}");
        rewritten(&files, &options(), |place, _| {
            assert_eq!(column(&place.join("structure/edge_coeffs.parquet"), "coeff"), [expected, "0.0"]);
        });
    }
}

/// The published library keeps `["_"]` apart from `["_", "_"]` in a graph of two aspects. An end without a layer is in the only
/// layer of its node, or in `["_"]`.
#[test]
fn the_placeholder_of_one_element_is_a_layer_of_its_own_beside_several_aspects() {
    let with = |layers: [i64; 3], end: Option<i64>| {
        let mut files = Files::small();
        files.put("structure/layer_dict.json", r#"{"layers": [["_"], ["t0", "p"], ["_", "_"]]}"#);
        let aspects = r#"{"aspects": ["time", "place"], "elem_layers": {"time": ["t0"], "place": ["p"]}}"#;
        files.put("layers/metadata.json", aspects);
        files.table(
            ENTITIES,
            vec![
                ("entity_id", text(["a", "b", "a"])),
                ("layer_id", integers(layers)),
                ("idx", integers([0, 1, 2])),
                ("type", text(["node", "node", "node"])),
            ],
        );
        files.column(EDGES, "source_layer_id", integers([end, None]));
        files.column(EDGES, "target_layer_id", integers([Some(1), None]));
        files.column(EDGES, "ml_kind", text([None::<&str>, None]));
        files.remove("structure/hyperedge_definitions.parquet");
        files
    };
    let (one, all, real) = (0, 2, 1);
    // Layers of the node, the layer that the end names, and where it is; nowhere without the node.
    for (layers, end, expected) in [
        ([one, real, real], Some(one), "0"),
        ([one, real, real], None, "0"),
        ([one, real, real], Some(all), ""),
        ([all, real, real], Some(all), "2"),
        ([all, real, real], Some(one), ""),
        ([all, real, real], None, ""),
        ([all, real, all], None, "2"),
        ([all, real, all], Some(one), ""),
        ([one, real, one], None, "0"),
        ([one, real, one], Some(all), ""),
    ] {
        let files = with(layers, end);
        let what = format!("{layers:?} {end:?}");
        let broken = files.broken();
        assert_eq!(broken.contains(&"ANNNET-EDGE-END"), expected.is_empty(), "{what}: {broken:?}");
        assert_eq!(broken.contains(&"ANNNET-LAYER"), layers[0] == one, "{what}: {broken:?}");
        rewritten(&files, &options(), |place, _| {
            let edges = column(&place.join(EDGES), "edge_id");
            let row = edges.iter().position(|id| id == "e").unwrap();
            let layer = &column(&place.join(EDGES), "source_layer_id")[row];
            let dictionary = std::fs::read_to_string(place.join("structure/layer_dict.json")).unwrap();
            let dictionary: serde_json::Value = serde_json::from_str(&dictionary).unwrap();
            let labels = |number: &str| number.parse::<usize>().map(|at| dictionary["layers"][at].to_string());
            let before = ["[\"_\"]", "", "[\"_\",\"_\"]"];
            let expected = expected.parse::<usize>().map(|at| before[at].to_owned()).unwrap_or_default();
            assert_eq!(labels(layer).unwrap_or_default(), expected, "{what}");
        });
    }
    // At both placeholders, the library cannot open the graph.
    assert!(with([one, real, all], None).broken().contains(&"ANNNET-ENTITY-ID"));
}

#[test]
fn a_membership_that_is_listed_again_has_the_weight_that_is_stated() {
    let mut files = Files::small();
    files.remove("tables/edge_slice_attributes.parquet");
    files.table(
        "tables/edge_slice_attributes.parquet",
        vec![("slice_id", text([""; 0])), ("edge_id", text([""; 0])), ("weight", floats([0.0; 0]))],
    );
    files.table(
        "slices/edge_memberships.parquet",
        vec![
            ("slice_id", text(["default", "default", "s", "s"])),
            ("edge_id", text(["e", "h", "e", "e"])),
            ("weight", floats([None, None, Some(2.0), None])),
        ],
    );
    rewritten(&files, &options(), |place, _| {
        let weights = column(&place.join("slices/edge_memberships.parquet"), "weight");
        assert_eq!(weights.iter().filter(|weight| *weight == "2.0").count(), 2, "{weights:?}");
    });
}

#[test]
fn an_aspect_is_ordered_by_what_python_takes_for_true() {
    for (said, expected) in [("1", true), ("1.5", true), ("\"x\"", true), ("[0]", true), ("0", false), ("[ ]", false)] {
        let mut files = Files::layered();
        files.put("layers/aspect_attributes.json", format!(r#"{{"time": {{"__ordered__": {said}}}}}"#));
        rewritten(&files, &options(), |place, _| {
            let text = std::fs::read_to_string(place.join("layers/aspect_attributes.json")).unwrap_or_default();
            assert_eq!(text.contains("true"), expected, "{said}: {text}");
        });
    }
}
