//! Node-link JSON and KGX JSON.

use isomorph_graphfile::nodelink::{Kgx, NodeLink};
use isomorph_model::{Direction, KeyKind, NodeId, Side, Source};

use crate::gml::LABELLED;
use crate::{again, found, gml, json, open_as, rule, shown};

pub(crate) const NODES: &str = r#"{"directed": true, "nodes": [
  {"id": "a", "b": true, "i": 1, "f": 1, "big": 18446744073709551615, "huge": 18446744073709551616, "t": "1", "l": [1, 2], "m": 1, "o": {"x": [1]}},
  {"id": "b", "b": false, "i": -9223372036854775808, "f": 2.5, "l": [], "m": "1", "t": "", "large": 9007199254740993},
  {"id": "c", "f": NaN, "m": null, "large": 0.5, "i": null}],
 "edges": [{"source": "a", "target": "b"}, {"source": "a", "target": "b"}, {"source": "c", "target": "c", "label": "x"}]}"#;

#[test]
fn the_type_of_a_property_fits_all_values() {
    let graph = json(NODES).unwrap();
    let types: Vec<String> = graph.graph().nodes[0]
        .properties
        .iter()
        .map(|own| format!("{} {} {}", own.name, own.data_type, own.kind.word()))
        .collect();
    assert_eq!(
        types,
        [
            "b Boolean plain",
            "i Int64 plain",
            "f Float64 plain",
            "big UInt64 plain",
            "huge Utf8 json",
            "t Utf8 plain",
            "l List(Int64, field: 'element') plain",
            "m Utf8 json",
            "o Utf8 json",
            "large Utf8 json",
        ]
        .map(str::to_owned)
    );
    assert_eq!(
        shown(&graph),
        [
            r#""a" true 1 1.0 18446744073709551615 "18446744073709551616" "1" [1 2] "1" "{\"x\": [1]}" -"#,
            r#""b" false -9223372036854775808 2.5 - - "" [] "\"1\"" - "9007199254740993""#,
            r#""c" - - NaN - - - - "null" - "0.5""#,
            r#""a" "b" -"#,
            r#""a" "b" -"#,
            r#""c" "c" "x""#,
        ]
    );
    assert_eq!(found(&graph), ["NODELINK-NULL"]);
    assert_eq!(shown(&again(&NodeLink, NodeLink::form(), &graph)), shown(&graph));
}

#[test]
fn the_order_of_members_does_not_matter() {
    let text = r#"{"edges": [{"target": 2, "source": 1, "w": 1}], "nodes": [{"x": "y", "id": 1}, {"id": 2}], "multigraph": false, "extra": {"k": [1]}, "directed": false, "graph": {"n": 1}}"#;
    let graph = json(text).unwrap();
    assert_eq!(shown(&graph), ["1 \"y\"", "2 -", "1 2 1"]);
    let own = graph.graph();
    assert_eq!((own.nodes[0].key.kind, own.edges[0].direction), (KeyKind::Int, Direction::Undirected));
    assert_eq!(own.documents.iter().map(|own| own.name.as_str()).collect::<Vec<_>>(), ["graph", "members"]);
    let back = again(&NodeLink, NodeLink::form(), &graph);
    assert_eq!((back.graph(), shown(&back)), (graph.graph(), shown(&graph)));
}

#[test]
fn ids_have_one_kind() {
    let of =
        |nodes: &str, edges: &str| json(&format!("{{\"directed\": true, \"nodes\": [{nodes}], \"edges\": [{edges}]}}"));
    let mixed = of(r#"{"id": 1}, {"id": "a"}, {"id": [1, 2]}"#, r#"{"source": 1, "target": "1"}"#).unwrap();
    assert_eq!(shown(&mixed), ["\"1\"", "\"a\"", "\"[1, 2]\"", "\"1\" \"1\""]);
    assert_eq!(found(&mixed), ["NODELINK-IDS"]);
    assert_eq!(rule(of(r#"{"id": 1}, {"x": 1}"#, "")), "NODELINK-ID");
    assert_eq!(rule(of(r#"{"x": 1}, {"id": 1}"#, "")), "NODELINK-ID");
    assert_eq!(rule(of(r#"{"id": null}"#, r#"{"source": "a", "target": "a"}"#)), "NODELINK-ID");
    // Positions, in NetworkX 1 and D3 3.
    assert_eq!(rule(of(r#"{"id": "a"}"#, r#"{"source": 0, "target": 0}"#)), "NODELINK-END");
    assert_eq!(
        shown(&of(r#"{"n": "a"}, {"n": "b"}"#, r#"{"source": 0, "target": 1}"#).unwrap()),
        ["0 \"a\"", "1 \"b\"", "0 1"]
    );
    let twice = of(r#"{"id": 1}, {"id": 1}"#, r#"{"source": 1, "target": 5}"#).unwrap();
    assert_eq!(found(&twice), ["NODELINK-END", "NODELINK-ID"]);
}

#[test]
fn what_is_no_node_link_json_is_refused() {
    for (text, expected) in [
        ("", "NODELINK-SYNTAX"),
        ("[]", "NODELINK-SYNTAX"),
        ("{}", "NODELINK-SYNTAX"),
        (r#"{"nodes": {}, "links": []}"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [], "links": [], "edges": []}"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [], "nodes": []}"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [1]}"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [{"id": 1}"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [{"id": 1}]} x"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [{"id": 1,}]}"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [{"id": 1, "x": 01}]}"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [{"id": 1, "x": [1}]}]}"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [{"id": 1, "x": "\ud800"}]}"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [], "directed": 1}"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [], "directed": true, "directed": false}"#, "NODELINK-SYNTAX"),
        (r#"{"nodes": [], "edges": [{"source": 1}]}"#, "NODELINK-END"),
        (r#"{"nodes": [], "edges": [{"source": null, "target": 1}]}"#, "NODELINK-END"),
    ] {
        assert_eq!(rule(json(text)), expected, "{text}");
    }
    assert_eq!(rule(open_as(&NodeLink, b"{\"nodes\": [{\"id\": \"\xff\"}]}")), "NODELINK-SYNTAX");
    let deep = format!("{{\"nodes\": [{{\"id\": 1, \"x\": {}1{}}}]}}", "[".repeat(600), "]".repeat(600));
    assert_eq!(rule(json(&deep)), "NODELINK-LIMIT");
    let names: Vec<String> = (0..10_001).map(|at| format!("\"n{at}\": 1")).collect();
    assert_eq!(rule(json(&format!("{{\"nodes\": [{{\"id\": 1, {}}}]}}", names.join(",")))), "NODELINK-LIMIT");
    let error = json(r#"{"nodes": [{"id": 1}], "edges": [{"subject": 1, "object": 1}]}"#).err().unwrap();
    assert!(error.hints().any(|hint| hint.contains("--from kgx")), "{error:?}");
}

#[test]
fn repeated_names_are_found() {
    let graph = json(r#"{"directed": true, "nodes": [{"id": 1, "a": {"x": 1}, "b": 1, "a": 2}, {"id": 2, "a": [3, 4]}], "edges": []}"#).unwrap();
    assert_eq!(found(&graph), ["NODELINK-REPEATED"]);
    assert_eq!(shown(&graph), ["1 \"2\" 1", "2 \"[3, 4]\" -"]);
    assert_eq!(found(&json(r#"{"nodes": [], "edges": []}"#).unwrap()), ["NODELINK-DIRECTION"]);
}

#[test]
fn edges_of_kgx_go_from_subject_to_object() {
    let text = r#"{"nodes": [{"id": "HGNC:1", "category": ["biolink:Gene"], "name": "x"}], "edges": [{"id": "e", "subject": "HGNC:1", "predicate": "biolink:related_to", "object": "HGNC:1"}]}"#;
    let graph = open_as(&Kgx, text.as_bytes()).unwrap();
    assert_eq!(shown(&graph), [r#""HGNC:1" ["biolink:Gene"] "x""#, r#""HGNC:1" "HGNC:1" "e" "biolink:related_to""#]);
    assert_eq!(graph.graph().edges[0].direction, Direction::Directed);
    assert_eq!(shown(&again(&Kgx, Kgx::form(), &graph)), shown(&graph));
}

#[test]
fn neighbours_are_found_by_id() {
    let graph = json(NODES).unwrap();
    let count = |key: &str, side| -> usize {
        graph.neighbors(0, NodeId::Key(key), side).unwrap().map(|batch| batch.unwrap().rows()).sum()
    };
    assert_eq!(
        (count("a", Side::Out), count("b", Side::In), count("c", Side::In), count("b", Side::Out)),
        (2, 2, 1, 0)
    );
    assert!(graph.neighbors(0, NodeId::Key("z"), Side::Out).is_err());
    let labelled = gml(LABELLED).unwrap();
    let rows: usize =
        labelled.neighbors(0, NodeId::Key("Z\u{fc}rich"), Side::In).unwrap().map(|own| own.unwrap().rows()).sum();
    assert_eq!(rows, 1);
}
