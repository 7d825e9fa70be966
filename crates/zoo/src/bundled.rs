//! Unusual property graphs in the bundled shape: one table of nodes, one of edges, properties in JSON.

use arrow_schema::DataType;

use super::arrays::*;
use super::build::{Build, Edges, Nodes};
use isomorph_model::{Key, MemoryGraph, Property, well_known};

/// A node: name, labels, truth, properties.
pub type BundledNode<'a> = (&'a str, &'a [&'a str], f32, &'a str);

/// An edge: source, relation, target, truth, properties.
pub type BundledEdge<'a> = (&'a str, &'a str, &'a str, f32, &'a str);

/// A graph of the bundled shape.
pub fn bundled(nodes: &[BundledNode<'_>], edges: &[BundledEdge<'_>]) -> MemoryGraph {
    bundled_from(nodes, edges, false)
}

fn bundled_from(nodes: &[BundledNode<'_>], edges: &[BundledEdge<'_>], is_rdf: bool) -> MemoryGraph {
    let mut build = Build::default();
    let truth = || Property::new(well_known::TRUTH, DataType::Float32).required();
    let labels: Vec<&[&str]> = nodes.iter().map(|node| node.1).collect();
    let node = build.nodes(
        Nodes::with_key("node", Key::utf8(), text(nodes.iter().map(|node| node.0)))
            .open_labels(&labels)
            .property(truth(), float32(nodes.iter().map(|node| node.2)))
            .property(
                Property::new(well_known::IS_RDF, DataType::Boolean).required(),
                bools(nodes.iter().map(|_| is_rdf)),
            )
            .property(Property::bag(), text(nodes.iter().map(|node| node.3))),
    );
    let ends: Vec<(&str, &str, &str)> = edges.iter().map(|edge| (edge.0, edge.1, edge.2)).collect();
    build.edges(
        Edges::per_row(node, &ends)
            .property(truth(), float32(edges.iter().map(|edge| edge.3)))
            .property(Property::bag(), text(edges.iter().map(|edge| edge.4))),
    );
    build.finish()
}

/// Nodes with these properties and nothing else.
fn nodes_with(all: &[&str]) -> MemoryGraph {
    let names: Vec<String> = (0..all.len()).map(|at| format!("n{at}")).collect();
    let nodes: Vec<BundledNode<'_>> =
        names.iter().zip(all).map(|(name, bag)| (name.as_str(), &[][..], 1.0, *bag)).collect();
    bundled(&nodes, &[])
}

/// Property graphs of the bundled shape, each unusual in one way.
pub fn bundled_graphs() -> Vec<(&'static str, MemoryGraph)> {
    vec![
        ("empty", bundled(&[], &[])),
        ("one node", bundled(&[("a", &[], 1.0, "")], &[])),
        ("recipes", recipes()),
        ("values that do not agree", mixed()),
        ("numbers", numbers()),
        ("strings", strings()),
        ("nothing and empty", nothing()),
        ("nested", nested()),
        ("repeated names", repeated()),
        ("members with meanings", meanings()),
        ("truth", truths()),
        ("labels", labels()),
        ("names", names()),
        ("relations", relations()),
        ("undirected", undirected()),
        ("loops and parallel edges", loops()),
        ("RDF", rdf()),
        ("many relations", many_relations(300)),
        ("many members", many_members(1_200)),
    ]
}

/// Recipes and their ingredients: the ordinary case.
fn recipes() -> MemoryGraph {
    bundled(
        &[
            ("soup", &["Recipe"], 1.0, r#"{"minutes":20,"title":"Soup","vegan":true,"score":4.5}"#),
            ("salad", &["Recipe", "Cold"], 1.0, r#"{"minutes":5,"title":"Salad","vegan":true,"score":4.0}"#),
            ("water", &["Ingredient"], 1.0, r#"{"title":"Water"}"#),
            ("carrot", &["Ingredient"], 1.0, ""),
        ],
        &[
            ("soup", "uses", "water", 1.0, r#"{"grams":500}"#),
            ("soup", "uses", "carrot", 1.0, r#"{"grams":200}"#),
            ("salad", "uses", "carrot", 1.0, r#"{"grams":100}"#),
            ("salad", "like", "soup", 0.25, ""),
        ],
    )
}

fn mixed() -> MemoryGraph {
    let values =
        ["5", "\"5\"", "5.0", "true", "null", "[5]", "{\"a\":5}", "[]", "{}", "\"\"", "[\"5\"]", "[5,\"5\",null]"];
    let bags: Vec<String> = values.iter().map(|value| format!("{{\"minutes\":{value},\"same\":1}}")).collect();
    nodes_with(&bags.iter().map(String::as_str).collect::<Vec<_>>())
}

fn numbers() -> MemoryGraph {
    let values = [
        "0",
        "-0",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "0.0",
        "-0.0",
        "1.0",
        "1e0",
        "1E+2",
        "0.1",
        "0.10",
        "0.1000000000000000055511151231257827",
        "3.141592653589793238462643383279",
        "1e308",
        "1e309",
        "-1e400",
        "1e-400",
        "5e-324",
        "2.2250738585072014e-308",
        "0.30000000000000004",
        "1.7976931348623157e308",
    ];
    let bags: Vec<String> =
        values.iter().map(|value| format!("{{\"n\":{value},\"list\":[{value},{value}]}}")).collect();
    nodes_with(&bags.iter().map(String::as_str).collect::<Vec<_>>())
}

fn strings() -> MemoryGraph {
    nodes_with(&[
        r#"{"s":""}"#,
        r#"{"s":"\u00e9\ud83d\ude00"}"#,
        r#"{"s":"é😀"}"#,
        r#"{"s":"\"\\\/\b\f\n\r\t\u0000\u001f"}"#,
        r#"{"s":"x\": y"}"#,
        r#"{"s":"ends with comma blank, "}"#,
        r#"{"s":"null"}"#,
        r#"{"s":"{\"a\":1}"}"#,
        r#"{"s":"'single'"}"#,
        r#"{"\u0073":"escaped name"}"#,
        r#"{"name with spaces, commas / slashes":"x","é":"y","\"":"z","\\":"w"}"#,
        r#" { "s" : "spaces" , "t" : [ 1 , 2 ] } "#.trim(),
    ])
}

fn nothing() -> MemoryGraph {
    nodes_with(&["", "{}", "null", "{ }", r#"{"a":null}"#, r#"{"a":""}"#, r#"{"a":[]}"#, r#"{"a":{}}"#, r#"{"":1}"#])
}

fn nested() -> MemoryGraph {
    let deep = format!("{{\"deep\":{}1{}}}", "[".repeat(100), "]".repeat(100));
    nodes_with(&[
        r#"{"o":{"b":1,"a":{"c":[{"d":null}]}}}"#,
        r#"{"o":{"a":{"c":[{"d":null}]},"b":1}}"#,
        r#"{"o":[[],[[]],{},[{}]]}"#,
        r#"{"o":{"":{"":""}}}"#,
        &deep,
    ])
}

fn repeated() -> MemoryGraph {
    nodes_with(&[
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"b":2,"\u0061":"x"}"#,
        r#"{"o":{"a":1,"b":2,"a":3}}"#,
        r#"{"a":{"a":1},"a":[1]}"#,
    ])
}

fn meanings() -> MemoryGraph {
    bundled(
        &[
            ("a", &["labels"], 0.5, r#"{"truth":0.75,"is_rdf":true,"labels":"x","shadow":3,"id":"a","src_name":"b"}"#),
            (
                "b",
                &["truth"],
                0.75,
                r#"{"truth":0.5,"is_rdf":false,"labels":["x"],"weight":2.5,"_graphArVertexIndex":7}"#,
            ),
        ],
        &[("a", "truth", "b", 0.25, r#"{"truth":0.5,"edge_id":7,"rel_name":"x","directed":"yes","labels":""}"#)],
    )
}

fn truths() -> MemoryGraph {
    bundled(
        &[("zero", &[], 0.0, ""), ("tenth", &[], 0.1, ""), ("tiny", &[], f32::MIN_POSITIVE, ""), ("one", &[], 1.0, "")],
        &[("zero", "r", "one", 0.1, ""), ("zero", "r", "one", 0.2, ""), ("one", "r", "zero", 0.0, "")],
    )
}

fn labels() -> MemoryGraph {
    bundled(
        &[
            ("none", &[], 1.0, ""),
            ("one", &["A"], 1.0, ""),
            ("two", &["B", "A"], 1.0, ""),
            ("odd", &["with space", "é", "\"quoted\"", " lead", "a/b", "node"], 1.0, ""),
        ],
        &[],
    )
}

fn names() -> MemoryGraph {
    let all =
        ["null", "NaN", "-1", " ", " a ", "a", "A", "a,b", "\"", "line\nbreak", "é", "e\u{301}", "😀", "_:b", "a/1"];
    let nodes: Vec<BundledNode<'_>> = all.iter().map(|name| (*name, &[][..], 1.0, "")).collect();
    let edges: Vec<BundledEdge<'_>> =
        all.iter().zip(all.iter().rev()).map(|(from, to)| (*from, "rel", *to, 1.0, "")).collect();
    bundled(&nodes, &edges)
}

fn relations() -> MemoryGraph {
    let nodes: [BundledNode<'_>; 2] = [("a", &[], 1.0, ""), ("b", &[], 1.0, "")];
    let all = ["", " ", "rel", "REL", "r/s", "r,s", "r_s", "é", "http://example.org/p#q", "a", "directed", "\"q\""];
    let edges: Vec<BundledEdge<'_>> = all.iter().map(|relation| ("a", *relation, "b", 1.0, "")).collect();
    bundled(&nodes, &edges)
}

fn undirected() -> MemoryGraph {
    let nodes: [BundledNode<'_>; 3] = [("a", &[], 1.0, ""), ("b", &[], 1.0, ""), ("c", &[], 1.0, "")];
    let marked = r#"{"directed":false}"#;
    bundled(
        &nodes,
        &[
            ("a", "all", "b", 1.0, marked),
            ("b", "all", "c", 1.0, r#"{"w":1,"directed":false}"#),
            ("c", "all", "c", 1.0, marked),
            ("a", "some", "b", 1.0, marked),
            ("b", "some", "a", 1.0, r#"{"directed":true}"#),
            ("b", "some", "a", 1.0, ""),
            ("a", "other", "b", 1.0, r#"{"directed":"false"}"#),
        ],
    )
}

fn loops() -> MemoryGraph {
    let nodes: [BundledNode<'_>; 2] = [("a", &[], 1.0, ""), ("b", &[], 1.0, "")];
    bundled(
        &nodes,
        &[
            ("a", "r", "a", 1.0, ""),
            ("a", "r", "a", 1.0, ""),
            ("a", "r", "b", 1.0, r#"{"w":1}"#),
            ("a", "r", "b", 1.0, r#"{"w":1}"#),
            ("a", "r", "b", 1.0, r#"{"w":2}"#),
            ("b", "r", "a", 1.0, r#"{"w":1}"#),
        ],
    )
}

fn rdf() -> MemoryGraph {
    let nodes: [BundledNode<'_>; 4] = [
        ("http://example.org/s", &[], 1.0, r#"{"http://example.org/name":{"@value":"chat","@language":"fr"}}"#),
        ("_:b0", &[], 1.0, ""),
        ("http://example.org/o", &[], 1.0, r#"{"http://example.org/name":"x"}"#),
        ("literal text", &[], 1.0, ""),
    ];
    bundled_from(
        &nodes,
        &[
            ("http://example.org/s", "http://example.org/p", "http://example.org/o", 1.0, ""),
            ("http://example.org/s", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "_:b0", 1.0, ""),
            ("_:b0", "http://example.org/p", "literal text", 1.0, ""),
        ],
        true,
    )
}

/// As many relations, with one edge each.
pub fn many_relations(count: usize) -> MemoryGraph {
    let relations: Vec<String> = (0..count).map(|at| format!("rel{at}")).collect();
    let nodes: [BundledNode<'_>; 2] = [("a", &[], 1.0, ""), ("b", &[], 1.0, "")];
    let edges: Vec<BundledEdge<'_>> = relations.iter().map(|relation| ("a", relation.as_str(), "b", 1.0, "")).collect();
    bundled(&nodes, &edges)
}

/// As many names of members, each in one node.
pub fn many_members(count: usize) -> MemoryGraph {
    let bags: Vec<String> = (0..count).map(|at| format!("{{\"m{at}\":{at},\"all\":\"x\"}}")).collect();
    nodes_with(&bags.iter().map(String::as_str).collect::<Vec<_>>())
}
