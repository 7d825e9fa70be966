//! How graphs are read where the specification is ambiguous: as the library does, or so that nothing is lost.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use common::build::{Files, booleans, floats, integers, lists, text};
use common::view::View;
use isomorph_error::Kind;
use isomorph_model::batch::MembershipBatch;
use isomorph_model::{Batch, Ends, NodeId, Request, Side, Source, Tables};
use serde_json::{Value, json};

fn view(files: &Files) -> Value {
    files.with(|opened| View::of(&opened.unwrap()).value())
}

fn changed(change: impl FnOnce(&mut Files)) -> Value {
    let mut files = Files::small();
    change(&mut files);
    view(&files)
}

const EDGES: &str = "structure/edges.parquet";

#[test]
fn the_small_graph_is_what_it_says() {
    let view = view(&Files::small());
    assert_eq!(view["edges"]["e"]["source"], json!(["a"]));
    assert_eq!(view["edges"]["e"]["weight"], json!(0.5));
    assert_eq!(view["edges"]["h"]["source"], json!(["a", "b"]));
    assert_eq!(view["edge_attributes"]["e"], json!({"x": "x"}));
    assert_eq!(view["node_attributes"], json!({"a": {"n": 1}, "b": {}}));
    assert_eq!(view["slices"]["default"]["edges"], json!(["e", "h"]));
    assert_eq!(
        view["slices"]["s"],
        json!({
            "attributes": {"colour": "red"}, "nodes": ["a"], "edges": ["e"], "edge_attributes": {"e": {"weight": 2.0}},
        })
    );
}

#[test]
fn a_slice_of_everything_is_named_and_not_listed() {
    let all = |files: &Files| {
        files.with(|opened| {
            let annnet = opened.unwrap();
            isomorph_model::Source::graph(&annnet).groups[0].all.clone()
        })
    };
    let mut files = Files::small();
    assert_eq!(all(&files), ["default"]);
    files.column("slices/edge_memberships.parquet", "edge_id", text(["e", "e", "e"]));
    assert!(all(&files).is_empty(), "the same number of others is not everything");
    let view = view(&files);
    assert_eq!(view["slices"]["default"]["edges"], json!(["e"]));
}

#[test]
fn missing_sections_are_optional() {
    let mut files = Files::small();
    for name in [
        "structure/layer_dict.json",
        "tables/_node_table.parquet",
        "tables/_edge_table.parquet",
        "tables/slice_attributes.parquet",
        "tables/edge_slice_attributes.parquet",
        "slices/registry.parquet",
        "slices/node_memberships.parquet",
        "slices/edge_memberships.parquet",
    ] {
        files.remove(name);
    }
    let view = view(&files);
    assert_eq!(view["edges"].as_object().unwrap().len(), 2);
    assert_eq!(view["slice_order"], json!(["default"]));
    assert_eq!(view["node_attributes"], json!({"a": {}, "b": {}}));
}

#[test]
fn directions_are_stated_or_inherited() {
    let of = |directed: &str, kind: &'static str| {
        let view = changed(|files| {
            let manifest = format!(
                r#"{{"graph_version": 1, "directed": {directed}, "active_slice": "s", "default_slice": "default"}}"#
            );
            files.put("manifest.json", manifest);
            files.column(EDGES, "directed", booleans([None::<bool>, None]));
            files.column(EDGES, "kind", text([kind, "hyper"]));
        });
        (view["edges"]["e"]["directed"].clone(), view["directed"].clone())
    };
    assert_eq!(of("true", "binary"), (json!(true), json!(true)));
    assert_eq!(of("false", "binary"), (json!(false), json!(false)));
    assert_eq!(of("null", "binary"), (json!(true), Value::Null));
    assert_eq!(of("true", "node_edge").0, json!(false));
}

#[test]
fn missing_weights_are_one() {
    let view = changed(|files| files.column(EDGES, "weight", floats([None::<f64>, Some(f64::INFINITY)])));
    assert_eq!(view["edges"]["e"]["weight"], json!(1.0));
    assert_eq!(view["edges"]["h"]["weight"], json!({"$": "float", "v": "inf"}));
    let without = changed(|files| files.without(EDGES, "weight"));
    assert_eq!(without["edges"]["h"]["weight"], json!(1.0));
}

#[test]
fn an_end_that_is_nowhere_leaves_the_other() {
    let view = changed(|files| files.column(EDGES, "target", text([Some("nobody"), None])));
    let edge = &view["edges"]["e"];
    assert_eq!((&edge["kind"], &edge["source"], &edge["target"]), (&json!("one_sided"), &json!(["a"]), &json!([])));
    assert_eq!(view["slices"]["s"]["edges"], json!(["e"]), "it stays in its slices");
}

#[test]
fn members_are_decoded_once() {
    let view = changed(|files| {
        files.table(
            "structure/entity_index.parquet",
            vec![
                ("entity_id", text(["1", "\"1\"", "plain", "a"])),
                ("layer_id", integers([0; 4])),
                ("idx", integers([0, 1, 2, 3])),
            ],
        );
        let members: &[&str] = &["\"1\"", r#""\"1\"""#, "plain", r#"{"kind": "supra", "layer": ["_"], "node": "a"}"#];
        files.column("structure/hyperedge_definitions.parquet", "members", lists(&[Some(members)]));
    });
    assert_eq!(view["edges"]["h"]["source"].as_array().unwrap().len(), 4, "{view:#}");
}

#[test]
fn ends_without_a_layer_are_where_the_node_is() {
    let mut files = Files::layered();
    files.column(EDGES, "target_layer_id", integers([None::<i64>, None]));
    let view = view(&files);
    assert_eq!(view["edges"]["e"]["target"], json!([["b", ["t1"]]]));
    // If a node is in several layers, it is ambiguous which is meant.
    files.table(
        "structure/entity_index.parquet",
        vec![("entity_id", text(["a", "b", "b"])), ("layer_id", integers([1, 2, 1])), ("idx", integers([0, 1, 2]))],
    );
    let view = self::view(&files);
    assert_eq!(view["edges"]["e"]["kind"], json!("one_sided"));
}

#[test]
fn rows_come_in_the_order_of_their_positions() {
    let view = changed(|files| files.column("structure/entity_index.parquet", "idx", integers([70, -3])));
    assert_eq!(view["entities"], json!([["b", ["_"], "node"], ["a", ["_"], "node"]]));
    assert_eq!(view["node_attributes"]["a"], json!({"n": 1}), "attributes follow their nodes");
}

#[test]
fn tables_of_attributes_may_be_in_another_order() {
    let view = changed(|files| {
        files.table(
            "tables/_edge_table.parquet",
            vec![("edge_id", text(["h", "nobody", "e"])), ("x", text(["of h", "of nobody", "of e"]))],
        );
    });
    assert_eq!(view["edge_attributes"], json!({"e": {"x": "of e"}, "h": {"x": "of h"}}));
}

#[test]
fn coefficients_are_those_of_each_role() {
    let view = changed(|files| {
        files.column(EDGES, "target", text([Some("a"), None]));
        files.table(
            "structure/edge_coeffs.parquet",
            vec![
                ("edge_id", text(["e", "h"])),
                ("entity_id", text(["a", "a"])),
                ("layer_id", integers([None::<i64>, None])),
                ("coeff", floats([5.0, -1.5])),
            ],
        );
    });
    assert_eq!(view["edges"]["e"]["coefficients"], json!([["a", 5.0]]), "once, not twice");
    assert_eq!(view["edges"]["h"]["coefficients"], json!([["a", -1.5], ["b", 0.0]]), "others are 0");
}

#[test]
fn integers_may_have_become_doubles() {
    let mut files = Files::layered();
    files.column(EDGES, "source_layer_id", floats([Some(1.0), None]));
    files.column(EDGES, "target_layer_id", floats([Some(2.0), Some(f64::NAN)]));
    assert_eq!(view(&files), view(&Files::layered()));
}

#[test]
fn an_edge_may_be_the_end_of_an_edge_that_is_its_end() {
    let view = changed(|files| {
        files.table(
            "structure/entity_index.parquet",
            vec![
                ("entity_id", text(["e", "f"])),
                ("layer_id", integers([0, 0])),
                ("idx", integers([0, 1])),
                ("type", text(["edge_entity", "edge_entity"])),
            ],
        );
        files.remove("structure/hyperedge_definitions.parquet");
        files.column(EDGES, "edge_id", text(["e", "f"]));
        files.column(EDGES, "kind", text(["node_edge", "node_edge"]));
        files.column(EDGES, "source", text(["f", "e"]));
        files.column(EDGES, "target", text(["f", "e"]));
    });
    assert_eq!(view["edges"]["e"]["source"], json!(["f"]));
    assert_eq!(view["edges"]["f"]["kind"], json!("node_edge"));
}

#[test]
fn edges_of_one_node_are_found() {
    let mut files = Files::layered();
    files.remove("structure/hyperedge_definitions.parquet");
    files.column(EDGES, "kind", text(["binary", "binary"]));
    files.column(EDGES, "source", text(["a", "b"]));
    files.column(EDGES, "target", text(["b", "a"]));
    files.with(|opened| {
        let annnet = opened.unwrap();
        let found = |node, side| {
            let edges = annnet.neighbors(0, node, side).and_then(isomorph_model::part::edge_batches).unwrap();
            let keys = edges.iter().map(|edge| {
                assert_eq!((edge.rows, edge.layers.is_some(), edge.properties.len()), (1, true, 2));
                edge.keys.as_ref().unwrap().as_string::<i32>().value(0).to_owned()
            });
            keys.collect::<Vec<_>>()
        };
        assert_eq!(found(NodeId::Key("a"), Side::Out), ["e"]);
        assert_eq!(found(NodeId::Key("a"), Side::In), ["h"]);
        assert_eq!(found(NodeId::Row(1), Side::Out), ["h"]);
        let missing = |node| annnet.neighbors(0, node, Side::Out).err().unwrap().kind();
        assert_eq!(missing(NodeId::Key("nobody")), Kind::NotFound);
        assert_eq!(missing(NodeId::Row(2)), Kind::NotFound);
    });
}

#[test]
fn a_pair_that_is_told_twice_is_one_membership() {
    for edge in ["e", "h"] {
        let mut files = Files::small();
        files.table(
            "tables/edge_slice_attributes.parquet",
            vec![("slice_id", text(["s", "s"])), ("edge_id", text([edge; 2])), ("n", integers([5, 7]))],
        );
        let told = files.with(|opened| {
            let (annnet, mut told) = (opened.unwrap(), Vec::new());
            for mut part in annnet.scan(&Request::of(Tables::Rest)).unwrap() {
                part.read(&mut |batch| {
                    if let Batch::Memberships(MembershipBatch { member: Ends::Keys(keys), properties, .. }) = batch {
                        let keys = keys.as_string::<i32>();
                        told.extend((0..keys.len()).filter(|row| keys.value(*row) == edge).map(|row| {
                            let column = properties[1].as_ref().unwrap().as_primitive::<Int64Type>();
                            column.is_valid(row).then(|| column.value(row))
                        }));
                    }
                    Ok(())
                })
                .unwrap();
            }
            told
        });
        assert_eq!(told, [Some(7)], "{edge}");
    }
}
