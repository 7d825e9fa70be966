//! Every rule is reported where it is broken, and nothing is reported for valid graphs.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use arrow_array::ArrayRef;
use common::build::{File, Files, booleans, floats, integers, lists, text};
use common::view::View;
use isomorph_annnet::rules::RULES;
use serde_json::json;

const EDGES: &str = "structure/edges.parquet";
const ENTITIES: &str = "structure/entity_index.parquet";
const HYPEREDGES: &str = "structure/hyperedge_definitions.parquet";
const MEMBERSHIPS: &str = "slices/edge_memberships.parquet";
const OF_NODES: &str = "slices/node_memberships.parquet";
const EDGE_LAYERS: &str = "layers/edge_layers.parquet";
const LAYER_ATTRIBUTES: &str = "layers/tuple_layer_attributes.parquet";
const ELEMENTARY: &str = "layers/elem_layer_attributes.parquet";

/// The description of a view that does not state what it was built from.
const VIEW: &str = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"shape": [2, 2]}}"#;

type Break = fn(&mut Files);

/// Rows of the index of entities.
fn entities(ids: [&'static str; 3], layers: [i64; 3], types: [&'static str; 3]) -> Vec<(&'static str, ArrayRef)> {
    vec![("entity_id", text(ids)), ("layer_id", integers(layers)), ("idx", integers([0, 1, 2])), ("type", text(types))]
}

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

/// An empty table of coefficients: the matrix adds nothing to the tables.
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

/// A hyperedge with head and tail and without members.
fn sides(files: &mut Files) {
    files.column(HYPEREDGES, "members", lists(&[None]));
    files.column(HYPEREDGES, "head", lists(&[Some(&["\"a\""])]));
    files.column(HYPEREDGES, "tail", lists(&[Some(&["\"b\""])]));
}

/// A layered graph in which a placement has these attributes.
fn placed(files: &mut Files, attributes: Option<&'static str>) {
    *files = Files::layered();
    files.table(
        "layers/node_layer_attributes.parquet",
        vec![("node_id", text(["a"])), ("layer_id", integers([1])), ("attributes", text([attributes]))],
    );
}

/// A layered graph in which a layer has these attributes.
fn layer_attributes(files: &mut Files, attributes: Option<&'static str>) {
    *files = Files::layered();
    files.column(LAYER_ATTRIBUTES, "attributes", text([attributes]));
}

/// A layered graph in which an elementary layer has an attribute.
fn elementary(files: &mut Files, aspect: Option<&'static str>, label: Option<&'static str>) {
    *files = Files::layered();
    files.table(
        ELEMENTARY,
        vec![
            ("layer_id", text(["time_t0"])),
            ("aspect", text([aspect])),
            ("elementary_layer", text([label])),
            ("colour", text(["red"])),
        ],
    );
}

/// A layered graph with the layers of an edge in their table.
fn edge_layers(files: &mut Files) {
    files.table(
        EDGE_LAYERS,
        vec![("edge_id", text(["e"])), ("layer_1_id", integers([1])), ("layer_2_id", integers([2]))],
    );
}

/// A layered graph in which only the placement table has the second node in the layer of its edge.
fn late(files: &mut Files, layer: i64) {
    *files = Files::layered();
    files.put("structure/layer_dict.json", r#"{"layers": [["_"], ["t0"], ["t1"], ["t9"]]}"#);
    files.column(ENTITIES, "layer_id", integers([1, 1]));
    files.table(
        "layers/node_presence.parquet",
        vec![("node_id", text(["a", "b", "b"])), ("layer_id", integers([1, 1, layer]))],
    );
}

/// How each rule is broken. Archives and older layouts have tests of their own.
const BREAKS: &[(&str, Break)] = &[
    ("ANNNET-ATTRIBUTES-REPEATED", |files| {
        files.table("tables/_node_table.parquet", vec![("node_id", text(["a", "a"])), ("n", integers([1, 2]))]);
    }),
    ("ANNNET-ATTRIBUTES-REPEATED", |files| {
        files.table(
            "tables/slice_attributes.parquet",
            vec![("slice_id", text(["s", "s"])), ("colour", text(["red", "blue"]))],
        );
    }),
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
    ("ANNNET-EDGE-ORDER", |files| files.column(EDGES, "col_idx", integers([3, 3]))),
    ("ANNNET-COLUMN", |files| {
        let Some(File::Table(table)) = files.0.get_mut("tables/_edge_table.parquet") else { panic!("a table") };
        let schema = arrow_schema::Schema::new([0, 1, 1].map(|at| table.schema().field(at).clone()).to_vec());
        let columns = [0, 1, 1].map(|at| table.column(at).clone()).to_vec();
        *table = arrow_array::RecordBatch::try_new(schema.into(), columns).unwrap();
    }),
    ("ANNNET-COEFFICIENT-MEMBER", |files| {
        *files = Files::layered();
        files.table(
            "structure/edge_coeffs.parquet",
            vec![
                ("edge_id", text(["e"])),
                ("entity_id", text(["a"])),
                ("layer_id", integers([None::<i64>])),
                ("coeff", floats([7.0])),
            ],
        );
    }),
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
    ("ANNNET-EDGE-LAYERS-UNKNOWN", |files| {
        *files = Files::layered();
        edge_layers(files);
        files.column(EDGE_LAYERS, "edge_id", text(["nobody"]));
    }),
    ("ANNNET-EDGE-POSITION", |files| files.column(EDGES, "col_idx", integers([Some(0), None]))),
    ("ANNNET-EDGE-POSITION", |files| files.column(EDGES, "col_idx", integers([-1, 0]))),
    ("ANNNET-ENTITY-ID", |files| files.column(ENTITIES, "entity_id", text([Some("a"), None]))),
    ("ANNNET-ENTITY-ID", |files| {
        files.table(ENTITIES, entities(["a", "b", "a"], [0, 0, 0], ["node"; 3]));
    }),
    ("ANNNET-ENTITY-ID", |files| {
        *files = Files::layered();
        files.table(ENTITIES, entities(["a", "b", "a"], [1, 2, 2], ["node", "node", "edge_entity"]));
    }),
    ("ANNNET-ENTITY-POSITION", |files| files.column(ENTITIES, "idx", integers([Some(0), None]))),
    ("ANNNET-HYPEREDGE", |files| files.remove(HYPEREDGES)),
    ("ANNNET-HYPEREDGE", |files| files.column(HYPEREDGES, "edge_id", text(["e"]))),
    ("ANNNET-HYPEREDGE-JSON", |files| {
        files.column(ENTITIES, "entity_id", text(["a", "1"]));
        files.column(HYPEREDGES, "members", lists(&[Some(&["\"1\""])]));
    }),
    ("ANNNET-HYPEREDGE-JSON", |files| {
        files.column(ENTITIES, "entity_id", text(["a", "('a', ('b',))"]));
        files.column(HYPEREDGES, "members", lists(&[Some(&["\"('a', ('b',))\""])]));
    }),
    ("ANNNET-HYPEREDGE-MEMBER", |files| files.column(HYPEREDGES, "members", lists(&[Some(&["\"nobody\""])]))),
    ("ANNNET-HYPEREDGE-MEMBER-TWICE", |files| {
        files.column(HYPEREDGES, "members", lists(&[Some(&["\"a\"", "\"b\"", "\"a\""])]));
    }),
    ("ANNNET-HYPEREDGE-NESTED", |files| {
        files.column(ENTITIES, "entity_id", text(["a", "[1]"]));
        files.column(HYPEREDGES, "members", lists(&[Some(&["\"[1]\""])]));
    }),
    ("ANNNET-HYPEREDGE-NESTED", |files| {
        files.column(ENTITIES, "entity_id", text(["a", "([1], ('b',))"]));
        files.column(HYPEREDGES, "members", lists(&[Some(&["\"([1], ('b',))\""])]));
    }),
    ("ANNNET-HYPEREDGE-SIDES", |files| {
        sides(files);
        files.column(HYPEREDGES, "directed", booleans([None::<bool>]));
    }),
    ("ANNNET-HYPEREDGE-SIDES", |files| {
        sides(files);
        files.column(HYPEREDGES, "directed", booleans([false]));
    }),
    ("ANNNET-HYPEREDGE-SIDES", |files| files.column(HYPEREDGES, "directed", booleans([true]))),
    ("ANNNET-HYPEREDGE-SIDES", |files| {
        files.column(HYPEREDGES, "directed", booleans([true]));
        files.column(HYPEREDGES, "head", lists(&[Some(&["\"a\""])]));
    }),
    ("ANNNET-JSON", |files| layer_attributes(files, None)),
    ("ANNNET-JSON", |files| layer_attributes(files, Some("[1]"))),
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
    ("ANNNET-LAYER", |files| {
        layer_attributes(files, Some("{}"));
        files.column(LAYER_ATTRIBUTES, "layer_id", integers([None::<i64>]));
    }),
    ("ANNNET-LAYER", |files| elementary(files, Some("time"), None)),
    ("ANNNET-LAYER", |files| elementary(files, None, Some("t0"))),
    ("ANNNET-LAYER", |files| elementary(files, Some("time"), Some("t9"))),
    ("ANNNET-COLUMN", |files| {
        elementary(files, Some("time"), Some("t0"));
        files.without(ELEMENTARY, "elementary_layer");
    }),
    ("ANNNET-LAYER-ATTRIBUTES", |files| {
        elementary(files, Some("time"), Some("t0"));
        files.column(ELEMENTARY, "layer_id", text(["time_t9"]));
        files.without(ELEMENTARY, "elementary_layer");
        files.without(ELEMENTARY, "aspect");
    }),
    ("ANNNET-LAYER-ATTRIBUTES", |files| {
        layer_attributes(files, Some("{}"));
        files.put("layers/metadata.json", r#"{"aspects": ["time"], "elem_layers": {"time": ["t1"]}}"#);
    }),
    ("ANNNET-LAYER-ATTRIBUTES", |files| {
        layer_attributes(files, Some("{}"));
        files.put("layers/metadata.json", r#"{"aspects": ["time", "more"], "elem_layers": {"time": ["t0", "t1"]}}"#);
    }),
    ("ANNNET-LAYER-ATTRIBUTES", |files| {
        *files = Files::layered();
        files.put("layers/metadata.json", r#"{"aspects": ["time"], "elem_layers": {"time": []}}"#);
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
    ("ANNNET-PLACEMENT", |files| late(files, 2)),
    ("ANNNET-PLACEMENT", |files| {
        late(files, 3);
        files.column(EDGES, "target_layer_id", integers([Some(2), None]));
    }),
    ("ANNNET-PLACEMENT", |files| {
        late(files, 2);
        files.column(EDGES, "target_layer_id", integers([Some(1), None]));
        files.column(HYPEREDGES, "members", lists(&[Some(&[r#"{"node": "b", "layer": ["t1"]}"#])]));
    }),
    ("ANNNET-COLUMN", |files| {
        files.without(MEMBERSHIPS, "edge_id");
        files.column(MEMBERSHIPS, "slice_id", text(["default", "default", "s"]));
    }),
    ("ANNNET-COLUMN", |files| files.table(OF_NODES, vec![("slice_id", text([""; 0]))])),
    ("ANNNET-COLUMN", |files| {
        *files = Files::layered();
        files.table(EDGE_LAYERS, vec![("layer_1_id", integers([0; 0]))]);
    }),
    ("ANNNET-LAYER-ATTRIBUTES", |files| {
        *files = Files::layered();
        files.put("layers/metadata.json", r#"{"aspects": ["zz"], "elem_layers": {"time": ["t0", "t1"]}}"#);
        files.remove(LAYER_ATTRIBUTES);
    }),
    ("ANNNET-JSON", |files| files.put("audit/snapshots.json", r#"[{"label": "x", "node_ids": [{}]}]"#)),
    ("ANNNET-JSON", |files| files.put("audit/snapshots.json", r#"[{"label": "x", "edge_ids": 7}]"#)),
    ("ANNNET-PLACEMENT-MOVED", |files| {
        *files = Files::layered();
        files.column(ENTITIES, "layer_id", integers([0, 2]));
        files.column(EDGES, "source_layer_id", integers([Some(0), None]));
        files
            .table("layers/node_presence.parquet", vec![("node_id", text(["a", "b"])), ("layer_id", integers([1, 2]))]);
    }),
    ("ANNNET-MATRIX", |files| {
        no_coefficients(files);
        files.matrix("[2, 2]", [0, 1, 0, 1], [0.5, -0.5, 1.0, 1.0]);
        files.put("structure/incidence.zarr/zarr.json", r#"{"attributes": {"shape": [2, 2]}, "zarr_format": 9}"#);
    }),
    ("ANNNET-MATRIX", |files| {
        no_coefficients(files);
        files.matrix("[2, 2]", [0, 1, 0, 1], [0.5, -0.5, 1.0, 1.0]);
        let name = "structure/incidence.zarr/data/zarr.json";
        let Some(File::Bytes(bytes)) = files.0.get(name) else { panic!("a description") };
        let text = String::from_utf8(bytes.clone()).unwrap().replace("\"zarr_format\": 3, ", "");
        files.put(name, text);
    }),
    ("ANNNET-PLACEHOLDER", |files| {
        files.column(EDGES, "kind", text(["edge_placeholder", "hyper"]));
        files.column(EDGES, "col_idx", integers([-1, 0]));
    }),
    ("ANNNET-RESERVED", |files| files.column("tables/_edge_table.parquet", "weight", text(["a", "b"]))),
    ("ANNNET-RESERVED", |files| files.column("tables/_node_table.parquet", "entity", text(["a", "b"]))),
    ("ANNNET-SLICE-ACTIVE", |files| {
        let manifest = r#"{"graph_version": 1, "directed": true, "active_slice": "gone", "default_slice": "default"}"#;
        files.put("manifest.json", manifest);
    }),
    ("ANNNET-SLICE-LAYER", |files| files.column(OF_NODES, "node_layer_id", integers([Some(0), None, None]))),
    ("ANNNET-SLICE-LAYER", |files| files.column(OF_NODES, "node_layer_id", integers([Some(99), None, None]))),
    ("ANNNET-SLICE-LAYER", |files| {
        *files = Files::layered();
        files.column(OF_NODES, "node_layer_id", integers([Some(1), None, None]));
    }),
    ("ANNNET-SLICE-UNREGISTERED", |files| files.column(OF_NODES, "slice_id", text(["default", "default", "new"]))),
    ("ANNNET-SLICE-UNREGISTERED", |files| {
        files.column(OF_NODES, "slice_id", text([Some("default"), Some("default"), None]));
    }),
    ("ANNNET-SLICE-MEMBER", |files| {
        files.column(MEMBERSHIPS, "slice_id", text([Some("default"), Some("default"), None]));
    }),
    ("ANNNET-COLUMN", |files| {
        let none = arrow_array::RecordBatch::new_empty(std::sync::Arc::new(arrow_schema::Schema::empty()));
        files.0.insert("slices/registry.parquet".to_owned(), File::Table(none));
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
        (EDGE_LAYERS, "edge_id"),
        (EDGE_LAYERS, "layer_1_id"),
        ("structure/edge_coeffs.parquet", "coeff"),
    ] {
        let mut files = Files::small();
        placed(&mut files, Some("{}"));
        let present = vec![("node_id", text(["a", "b"])), ("layer_id", integers([1, 2]))];
        files.table("layers/node_presence.parquet", present);
        coefficients(&mut files, "a");
        edge_layers(&mut files);
        assert_eq!(files.broken(), [""; 0]);
        // A table has a column in any case.
        let Some(File::Table(batch)) = files.0.get(table) else { unreachable!("{table}") };
        files.column(table, "further", integers(vec![1; batch.num_rows()]));
        files.without(table, name);
        assert!(files.broken().contains(&"ANNNET-COLUMN"), "{table} without {name}: {:?}", files.broken());
    }
}

/// Constructs that annnet also accepts: a dictionary without layers in a flat graph, a layer table and attributes of
/// elementary layers that agree with the rest, and a placement that only its table has and that no edge ends in.
#[test]
fn nothing_is_found_where_the_published_library_reads_the_same() {
    for dictionary in [r#"{"layers": []}"#, "{}"] {
        let mut files = Files::small();
        files.put("structure/layer_dict.json", dictionary);
        assert_eq!(files.broken(), [""; 0], "{dictionary}");
    }
    let mut files = Files::layered();
    edge_layers(&mut files);
    assert_eq!(files.broken(), [""; 0]);
    elementary(&mut files, Some("time"), Some("t0"));
    assert_eq!(files.broken(), [""; 0]);
    files.without(ELEMENTARY, "aspect");
    files.without(ELEMENTARY, "elementary_layer");
    assert_eq!(files.broken(), [""; 0], "the name tells aspect and label");
    let mut files = Files::layered();
    let present = vec![("node_id", text(["a", "b", "b"])), ("layer_id", integers([1, 2, 1]))];
    files.table("layers/node_presence.parquet", present);
    assert_eq!(files.broken(), [""; 0]);
    let mut files = Files::small();
    files.column(OF_NODES, "node_layer_id", floats([f64::NAN, f64::NAN, f64::NAN]));
    assert_eq!(files.broken(), [""; 0], "pandas writes NaN for null");
}

/// Constructs that are read with `--lenient`.
#[test]
fn what_is_missing_is_not_made_up() {
    let mut files = Files::small();
    sides(&mut files);
    files.column(HYPEREDGES, "directed", booleans([None::<bool>]));
    let hyperedge = files.with(|opened| View::of(&opened.unwrap()).value()["edges"]["h"].clone());
    assert_eq!((&hyperedge["source"], &hyperedge["target"]), (&json!(["a"]), &json!(["b"])), "{hyperedge}");
    // Members of a directed hyperedge are members if it has no sides, and are ignored otherwise.
    let mut files = Files::small();
    files.column(HYPEREDGES, "directed", booleans([true]));
    let hyperedge = |files: &Files| files.with(|opened| View::of(&opened.unwrap()).value()["edges"]["h"].clone());
    assert_eq!(hyperedge(&files)["source"], json!(["a", "b"]));
    files.column(HYPEREDGES, "head", lists(&[Some(&["\"a\""])]));
    assert_eq!(hyperedge(&files)["source"], json!(["a"]));
    let mut files = Files::small();
    files.column("tables/slice_attributes.parquet", "slice_id", text(["new"]));
    let slices = files.with(|opened| View::of(&opened.unwrap()).value()["slices"].clone());
    assert!(slices.to_string().contains("red"), "{slices}");
}
