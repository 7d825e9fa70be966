//! Drawings in DOT and Mermaid.

use isomorph_graphfile::draw::{Drawing, Language, schema};

use crate::written;

#[test]
fn drawings_are_texts_for_people() {
    use isomorph_zoo::{Build, Edges, Nodes, text};
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("node", text(["a \"x\"", "b"])).column("type", text(["t", "u"])));
    build.edges(Edges::rows(node, "edge", node, [(0, 1)]).column("relation", text(["knows|likes"])));
    let graph = build.finish();
    let drawn = |language| String::from_utf8(written(Drawing::form(language), &graph).unwrap()).unwrap();
    assert_eq!(
        drawn(Language::Dot),
        "digraph \"\" {\n  n0 [label=\"a \\\"x\\\"\", xlabel=\"t\"];\n  n1 [label=\"b\", xlabel=\"u\"];\n  n0 -> n1 [label=\"knows|likes\"];\n}\n"
    );
    assert_eq!(
        drawn(Language::Mermaid),
        "flowchart LR\n  n0[\"a #34;x#34; : t\"]\n  n1[\"b : u\"]\n  n0 -->|\"knows#124;likes\"| n1\n"
    );
    let ends = vec![(0, 1); 501];
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("node", text(["a", "b"])));
    build.edges(Edges::rows(node, "edge", node, ends));
    let graph = build.finish();
    assert!(written(Drawing::form(Language::Mermaid), &graph).is_err());
    assert!(written(Drawing::form(Language::Dot), &graph).is_ok());
    assert!(schema(&graph.graph, Language::Dot).contains("n0 -> n0 [label=\"edge\"]"));
    assert!(schema(&graph.graph, Language::Mermaid).contains("n0 -->|\"edge\"| n0"));
}
