//! Every rule is found where it is broken, and nothing is found in what is sound.
#![allow(clippy::unwrap_used)]

mod common;

use common::build::{File, Files, booleans, floats, integers, lists, text};
use common::view::View;
use isomorph_annnet::rules::RULES;
use serde_json::json;

const EDGES: &str = "structure/edges.parquet";
const ENTITIES: &str = "structure/entity_index.parquet";
const HYPEREDGES: &str = "structure/hyperedge_definitions.parquet";
const MEMBERSHIPS: &str = "slices/edge_memberships.parquet";

/// The description of a view that does not say what it was built from.
const VIEW: &str = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"shape": [2, 2]}}"#;

type Break = fn(&mut Files);

fn coefficients(files: &mut Files, entity: &'static str) {
    files.table(
        "structure/edge_coeffs.parquet",
        vec![
            ("edge_id", text(["h"])),
            ("entity_id", text([entity])),
            ("layer_id", integers([None::<i64>])),
            ("coeff", floats([1.0])),
        ],
    );
}

/// A table of coefficients without rows: the matrix says nothing that the tables do not say.
fn no_coefficients(files: &mut Files) {
    files.table(
        "structure/edge_coeffs.parquet",
        vec![
            ("edge_id", text([""; 0])),
            ("entity_id", text([""; 0])),
            ("layer_id", integers([0; 0])),
            ("coeff", floats([0.0; 0])),
        ],
    );
}

/// A hyperedge with a head and a tail and no members.
fn sides(files: &mut Files) {
    files.column(HYPEREDGES, "members", lists(&[None]));
    files.column(HYPEREDGES, "head", lists(&[Some(&["\"a\""])]));
    files.column(HYPEREDGES, "tail", lists(&[Some(&["\"b\""])]));
}

/// A layered graph in which a placement has such attributes.
fn placed(files: &mut Files, attributes: Option<&'static str>) {
    *files = Files::layered();
    files.table(
        "layers/node_layer_attributes.parquet",
        vec![("node_id", text(["a"])), ("layer_id", integers([1])), ("attributes", text([attributes]))],
    );
}

/// How each rule is broken. Archives and older layouts are in tests of their own.
const BREAKS: &[(&str, Break)] = &[
    ("ANNNET-CHECKSUM", |files| {
        let manifest = r#"{"graph_version": 1, "directed": true, "active_slice": "default", "default_slice": "default",
            "checksum": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}"#;
        files.put("manifest.json", manifest);
        files.put("audit/checksums.sha256", "not of nothing");
    }),
    ("ANNNET-CHECKSUM-UNKNOWN", |files| {
        let manifest = r#"{"graph_version": 1, "directed": true, "active_slice": "default", "default_slice": "default",
            "checksum": "crc32:00000000"}"#;
        files.put("manifest.json", manifest);
    }),
    ("ANNNET-COLUMN", |files| files.column(EDGES, "weight", text(["much", "more"]))),
    ("ANNNET-COLUMN", |files| files.without(EDGES, "edge_id")),
    ("ANNNET-COLUMN", |files| files.without(EDGES, "col_idx")),
    ("ANNNET-COLUMN", |files| files.without(ENTITIES, "idx")),
    ("ANNNET-COEFFICIENT", |files| {
        coefficients(files, "a");
        files.column("structure/edge_coeffs.parquet", "coeff", floats([None::<f64>]));
    }),
    ("ANNNET-COEFFICIENT-MEMBER", |files| coefficients(files, "nobody")),
    ("ANNNET-COEFFICIENT-MEMBER", |files| {
        coefficients(files, "b");
        files.column(HYPEREDGES, "members", lists(&[Some(&["\"a\""])]));
    }),
    ("ANNNET-COUNTS", |files| {
        let manifest = r#"{"graph_version": 1, "directed": null, "active_slice": "s", "default_slice": "default",
            "counts": {"nodes": 9}}"#;
        files.put("manifest.json", manifest);
    }),
    ("ANNNET-EDGE-END", |files| files.column(EDGES, "target", text([Some("nobody"), None]))),
    ("ANNNET-EDGE-END", |files| files.column(EDGES, "source", text([None::<&str>, None]))),
    ("ANNNET-EDGE-ID", |files| files.column(EDGES, "edge_id", text(["e", "e"]))),
    ("ANNNET-EDGE-ID", |files| files.column(EDGES, "edge_id", text([Some("e"), None]))),
    ("ANNNET-EDGE-KIND", |files| files.column(EDGES, "kind", text(["ternary", "hyper"]))),
    ("ANNNET-EDGE-LAYERS", |files| {
        let count = (1 << 16) + 1;
        let ids: Vec<String> = (0..count).map(|at| at.to_string()).collect();
        files.table(
            EDGES,
            vec![
                ("edge_id", text(ids.iter().map(String::as_str))),
                ("col_idx", integers(0..count)),
                ("source", text(ids.iter().map(|_| "a"))),
                ("target", text(ids.iter().map(|_| "b"))),
                ("ml_kind", text(ids.iter().map(|_| "coupling"))),
            ],
        );
    }),
    ("ANNNET-EDGE-POSITION", |files| files.column(EDGES, "col_idx", integers([Some(0), None]))),
    ("ANNNET-EDGE-POSITION", |files| files.column(EDGES, "col_idx", integers([-1, 0]))),
    ("ANNNET-ENTITY-ID", |files| files.column(ENTITIES, "entity_id", text([Some("a"), None]))),
    ("ANNNET-ENTITY-POSITION", |files| files.column(ENTITIES, "idx", integers([Some(0), None]))),
    ("ANNNET-HYPEREDGE", |files| files.remove(HYPEREDGES)),
    ("ANNNET-HYPEREDGE", |files| files.column(HYPEREDGES, "edge_id", text(["e"]))),
    ("ANNNET-HYPEREDGE-JSON", |files| {
        files.column(ENTITIES, "entity_id", text(["a", "1"]));
        files.column(HYPEREDGES, "members", lists(&[Some(&["\"1\""])]));
    }),
    ("ANNNET-HYPEREDGE-MEMBER", |files| files.column(HYPEREDGES, "members", lists(&[Some(&["\"nobody\""])]))),
    ("ANNNET-HYPEREDGE-NESTED", |files| {
        files.column(ENTITIES, "entity_id", text(["a", "[1]"]));
        files.column(HYPEREDGES, "members", lists(&[Some(&["\"[1]\""])]));
    }),
    ("ANNNET-HYPEREDGE-SIDES", |files| {
        sides(files);
        files.column(HYPEREDGES, "directed", booleans([None::<bool>]));
    }),
    ("ANNNET-HYPEREDGE-SIDES", |files| {
        sides(files);
        files.column(HYPEREDGES, "directed", booleans([false]));
    }),
    ("ANNNET-JSON", |files| files.put("structure/edge_direction_policy.json", "[]")),
    ("ANNNET-JSON", |files| files.put("audit/snapshots.json", r#"{"a": 1}"#)),
    ("ANNNET-JSON", |files| placed(files, None)),
    ("ANNNET-JSON", |files| placed(files, Some("[1]"))),
    ("ANNNET-JSON", |files| files.put("uns/graph_attributes.json", "{\"a\": }")),
    ("ANNNET-JSON", |files| files.put("uns/graph_attributes.json", r#"{"a": ["\ud800"]}"#)),
    ("ANNNET-JSON", |files| files.put("manifest.json", "[]")),
    ("ANNNET-LAYER", |files| {
        *files = Files::layered();
        files.put("structure/layer_dict.json", r#"{"layers": [["_"], ["t0"], ["t1"], ["t0", "extra"]]}"#);
    }),
    ("ANNNET-LAYER", |files| {
        *files = Files::layered();
        let present = vec![("node_id", text(["a", "nobody"])), ("layer_id", integers([1, 1]))];
        files.table("layers/node_presence.parquet", present);
    }),
    ("ANNNET-LAYER-ID", |files| files.column(ENTITIES, "layer_id", integers([0, 7]))),
    ("ANNNET-LAYER-ID", |files| files.column(EDGES, "source_layer_id", integers([Some(i64::MIN), None]))),
    ("ANNNET-MANIFEST", |files| files.put("manifest.json", r#"{"graph_version": 1, "directed": true}"#)),
    ("ANNNET-MATRIX", |files| files.put("structure/incidence.zarr/zarr.json", "{}")),
    ("ANNNET-MATRIX-SHAPE", |files| files.matrix("[3, 2]", [0, 1, 0, 1], [0.5, -0.5, 1.0, 1.0])),
    ("ANNNET-MATRIX", |files| files.matrix("[2, 2]", [0, 1, 0, 2], [0.5, -0.5, 1.0, 1.0])),
    ("ANNNET-MATRIX", |files| files.matrix("[2, 2]", [0, 1, -1, 1], [0.5, -0.5, 1.0, 1.0])),
    ("ANNNET-MATRIX-CELL", |files| {
        files.matrix("[2, 2]", [0, 1, 0, 1], [0.5, -0.5, 1.0, 7.0]);
        no_coefficients(files);
    }),
    ("ANNNET-MEMBER", |files| files.remove("slices/registry.parquet")),
    ("ANNNET-MEMBER", |files| files.remove("manifest.json")),
    ("ANNNET-ML-KIND", |files| files.column(EDGES, "ml_kind", text([Some("coupling"), None]))),
    ("ANNNET-RESERVED", |files| files.column("tables/_edge_table.parquet", "weight", text(["a", "b"]))),
    ("ANNNET-SLICE-ACTIVE", |files| {
        let manifest = r#"{"graph_version": 1, "directed": true, "active_slice": "gone", "default_slice": "default"}"#;
        files.put("manifest.json", manifest);
    }),
    ("ANNNET-SLICE-MEMBER", |files| files.column(MEMBERSHIPS, "edge_id", text(["e", "nobody", "e"]))),
    ("ANNNET-SLICE-MEMBER", |files| {
        files.column("slices/node_memberships.parquet", "node_id", text(["a", "b", "nobody"]));
    }),
    ("ANNNET-SLICE-REPEATED", |files| {
        files.column(MEMBERSHIPS, "slice_id", text(["default", "s", "s"]));
        files.column(MEMBERSHIPS, "edge_id", text(["e", "e", "e"]));
    }),
    ("ANNNET-SLICE-REPEATED", |files| {
        files.column("slices/node_memberships.parquet", "node_id", text(["a", "a", "a"]));
    }),
    ("ANNNET-SLICE-UNKNOWN", |files| files.column(MEMBERSHIPS, "slice_id", text(["default", "default", "new"]))),
    ("ANNNET-SLICE-UNKNOWN", |files| files.column("tables/slice_attributes.parquet", "slice_id", text(["new"]))),
    ("ANNNET-SLICE-UNKNOWN", |files| files.column("tables/edge_slice_attributes.parquet", "slice_id", text(["new"]))),
    ("ANNNET-SLICE-UNLISTED", |files| files.column(MEMBERSHIPS, "edge_id", text(["e", "h", "h"]))),
    ("ANNNET-SLICE-WEIGHT", |files| files.column(MEMBERSHIPS, "edge_id", text(["e", "h", "nobody"]))),
    ("ANNNET-VIEWS", |files| files.put("cache/csr.zarr/zarr.json", VIEW)),
    ("ANNNET-VIEWS-STALE", |files| {
        files.put("cache/csr.zarr/zarr.json", VIEW);
        files.put("cache/csc.zarr/zarr.json", VIEW);
    }),
];

#[test]
fn nothing_is_found_in_what_is_sound() {
    assert_eq!(Files::small().broken(), [""; 0]);
    assert_eq!(Files::layered().broken(), [""; 0]);
}

#[test]
fn every_breach_is_found_by_its_rule() {
    for (at, (id, damage)) in BREAKS.iter().enumerate() {
        let mut files = Files::small();
        damage(&mut files);
        let found = files.broken();
        assert!(found.contains(id), "breach {at} of {id}: {found:?}");
    }
}

#[test]
fn every_rule_has_a_breach() {
    let elsewhere = ["ANNNET-ARCHIVE", "ANNNET-SECTION"];
    let broken = |id: &str| elsewhere.contains(&id) || BREAKS.iter().any(|(own, _)| *own == id);
    let without: Vec<&str> = RULES.iter().map(|rule| rule.id).filter(|id| !broken(id)).collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn no_column_that_a_table_needs_is_taken_for_empty() {
    for (table, name) in [
        ("tables/_node_table.parquet", "node_id"),
        ("tables/_edge_table.parquet", "edge_id"),
        ("tables/slice_attributes.parquet", "slice_id"),
        ("tables/edge_slice_attributes.parquet", "slice_id"),
        ("tables/edge_slice_attributes.parquet", "edge_id"),
        (HYPEREDGES, "members"),
        (HYPEREDGES, "head"),
        (HYPEREDGES, "tail"),
        (ENTITIES, "entity_id"),
        (ENTITIES, "layer_id"),
        ("slices/registry.parquet", "slice_id"),
        (MEMBERSHIPS, "slice_id"),
        (MEMBERSHIPS, "edge_id"),
        ("slices/node_memberships.parquet", "node_id"),
        ("layers/node_presence.parquet", "node_id"),
        ("layers/node_presence.parquet", "layer_id"),
        ("layers/node_layer_attributes.parquet", "layer_id"),
        ("layers/node_layer_attributes.parquet", "attributes"),
        ("layers/tuple_layer_attributes.parquet", "attributes"),
        ("structure/edge_coeffs.parquet", "coeff"),
    ] {
        let mut files = Files::small();
        placed(&mut files, Some("{}"));
        let present = vec![("node_id", text(["a", "b"])), ("layer_id", integers([1, 2]))];
        files.table("layers/node_presence.parquet", present);
        coefficients(&mut files, "a");
        assert_eq!(files.broken(), [""; 0]);
        // A table has a column in any case.
        let Some(File::Table(batch)) = files.0.get(table) else { unreachable!("{table}") };
        files.column(table, "further", integers(vec![1; batch.num_rows()]));
        files.without(table, name);
        assert!(files.broken().contains(&"ANNNET-COLUMN"), "{table} without {name}: {:?}", files.broken());
    }
}

/// What is read all the same, for whoever goes on with `--lenient`.
#[test]
fn what_is_missing_is_not_made_up() {
    let mut files = Files::small();
    sides(&mut files);
    files.column(HYPEREDGES, "directed", booleans([None::<bool>]));
    let hyperedge = files.with(|opened| View::of(&opened.unwrap()).value()["edges"]["h"].clone());
    assert_eq!((&hyperedge["source"], &hyperedge["target"]), (&json!(["a"]), &json!(["b"])), "{hyperedge}");
    let mut files = Files::small();
    files.column("tables/slice_attributes.parquet", "slice_id", text(["new"]));
    let slices = files.with(|opened| View::of(&opened.unwrap()).value()["slices"].clone());
    assert!(slices.to_string().contains("red"), "{slices}");
}
