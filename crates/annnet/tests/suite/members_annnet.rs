//! Members of hyperedges and entities, as older libraries wrote them and as the published library reads them.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::build::{Files, integers, lists, text};
use common::view::View;
use common::write::{column, differing, options};
use common::{open, write};
use serde_json::{Value, json};

const ENTITIES: &str = "structure/entity_index.parquet";
const HYPEREDGES: &str = "structure/hyperedge_definitions.parquet";

/// The members of the hyperedge `h`.
fn members(files: &Files) -> Value {
    files.with(|opened| View::of(&opened.unwrap()).value()["edges"]["h"]["source"].clone())
}

#[test]
fn ids_that_the_published_library_takes_for_pairs_are_named() {
    for (id, rule) in [
        ("('a',('b',))", Some("ANNNET-HYPEREDGE-JSON")),
        ("('a', ())", Some("ANNNET-HYPEREDGE-JSON")),
        ("( 'a' , [ ] )", Some("ANNNET-HYPEREDGE-JSON")),
        ("((1,2),(3,))", Some("ANNNET-HYPEREDGE-JSON")),
        ("[\"a\", [\"b\"]]", Some("ANNNET-HYPEREDGE-JSON")),
        ("([1], (3,))", Some("ANNNET-HYPEREDGE-NESTED")),
        ("('a', 'b')", None),
        ("(a)", None),
        // The library checks whether decoding had a result, and null is none.
        ("null", None),
    ] {
        let mut files = Files::small();
        files.column(ENTITIES, "entity_id", text(["a", id]));
        files.column("tables/_node_table.parquet", "node_id", text(["a", id]));
        files.column("structure/edges.parquet", "target", text([Some(id), None]));
        files.column("slices/node_memberships.parquet", "node_id", text(["a", id, "a"]));
        let member = json!(id).to_string();
        files.column(HYPEREDGES, "members", lists(&[Some(&["\"a\"", &member])]));
        assert_eq!(files.broken(), Vec::from_iter(rule), "{id}");
        let mut expected = vec![json!("a"), json!(id)];
        let mut found = members(&files).as_array().unwrap().clone();
        found.sort_by_key(Value::to_string);
        expected.sort_by_key(Value::to_string);
        assert_eq!(found, expected, "{id}");
    }
}

#[test]
fn pairs_of_node_and_layer_in_older_forms_are_placements() {
    let in_forms = |forms: [&str; 2]| {
        let mut files = Files::layered();
        files.column(HYPEREDGES, "members", lists(&[Some(&forms)]));
        files
    };
    let now = in_forms([
        r#"{"kind": "supra", "layer": ["t0"], "node": "a"}"#,
        r#"{"kind": "supra", "layer": ["t1"], "node": "b"}"#,
    ]);
    for forms in [[r#"["a", ["t0"]]"#, r#"["b",["t1"]]"#], ["('a', ('t0',))", "('b', ['t1'])"]] {
        let files = in_forms(forms);
        assert_eq!(files.broken(), [""; 0], "{forms:?}");
        assert_eq!(members(&files), members(&now), "{forms:?}");
        assert_eq!(members(&files).as_array().map(Vec::len), Some(2));
    }
    // No node is in another layer.
    assert_eq!(in_forms(["('a', ('t1',))", "\"b\""]).broken(), ["ANNNET-HYPEREDGE-MEMBER"]);
}

#[test]
fn an_entity_of_an_unknown_type_is_a_node() {
    for word in ["edge", "thing", "vertex"] {
        let mut files = Files::small();
        files.column(ENTITIES, "type", text(["node", word]));
        files.column("tables/_node_table.parquet", "n", integers([1, 7]));
        let folder = tempfile::tempdir().unwrap();
        files.with(|opened| {
            let source = opened.unwrap();
            let place = folder.path().join("graph");
            write(&source, &place, &options(), 1).unwrap();
            assert!(differing(&place, &source).is_empty(), "{word}");
            assert_eq!(column(&place.join("tables/_node_table.parquet"), "n"), ["1", "7"], "{word}");
            assert_eq!(column(&place.join(ENTITIES), "type"), ["node", "node"], "{word}");
            assert!(open(&place).is_ok());
        });
    }
}
