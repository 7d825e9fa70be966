//! CX2.

use isomorph_graphfile::cx2::Cx2;
use isomorph_model::Source;

use crate::{again, found, open_as, rule, shown};

#[test]
fn cx2_of_cytoscape() {
    let text = r#"[{"CXVersion": "2.0", "hasFragments": false}, {"metaData": [{"name": "nodes", "elementCount": 2}]},
      {"attributeDeclarations": [{"networkAttributes": {"name": {"d": "string"}}, "nodes": {"name": {"d": "string", "a": "n"}, "score": {"d": "double", "v": 0.5}, "tags": {"d": "list_of_string"}}, "edges": {"i": {"d": "string", "a": "interaction"}}}]},
      {"networkAttributes": [{"name": "net"}]},
      {"nodes": [{"id": 7, "x": 1.5, "y": 2, "v": {"n": "A", "score": 1, "tags": ["a"]}}, {"id": 9, "v": {"name": "B"}}]},
      {"edges": [{"id": 3, "s": 7, "t": 9, "v": {"interaction": "pp"}}]}, {"visualProperties": [{"default": {}}]}, {"status": [{"success": true}]}]"#;
    let graph = open_as(&Cx2, text.as_bytes()).unwrap();
    assert_eq!(shown(&graph), ["7 \"A\" 1.0 [\"a\"] 1.5 2", "9 \"B\" 0.5 - - -", "7 9 \"pp\" 3"]);
    assert_eq!(graph.graph().name.as_deref(), Some("net"));
    let back = again(&Cx2, Cx2::form(false), &graph);
    assert_eq!((shown(&back), back.graph()), (shown(&graph), graph.graph()));
    assert!(found(&graph).is_empty());
    let of = |aspects: &str| rule(open_as(&Cx2, format!("[{{\"CXVersion\": \"2.0\"}}{aspects}]").as_bytes()));
    for (aspects, expected) in [
        ("", "none"),
        (r#", {"nodes": [{"id": "a"}]}"#, "CX2-ID"),
        (r#", {"nodes": [{"id": 1, "v": {"x": 1}}]}"#, "CX2-ATTRIBUTE"),
        (r#", {"edges": [{"s": 1}]}"#, "CX2-END"),
        (r#", {"status": [{"success": false}]}"#, "CX2-SYNTAX"),
        (r#", {"nodes": {}}"#, "CX2-SYNTAX"),
        (r#", 5"#, "CX2-SYNTAX"),
    ] {
        assert_eq!(of(aspects), expected, "{aspects}");
    }
    assert_eq!(rule(open_as(&Cx2, b"[{\"CXVersion\": \"1.0\"}]")), "CX2-SYNTAX");
    assert_eq!(rule(open_as(&Cx2, b"[{\"nodes\": []}]")), "CX2-SYNTAX");
}
