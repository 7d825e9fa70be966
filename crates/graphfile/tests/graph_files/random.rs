//! Random files and graphs.

use isomorph_error::Severity;
use isomorph_graphfile::RecordGraph;
use isomorph_graphfile::gexf::Gexf;
use isomorph_graphfile::gml::Gml;
use isomorph_graphfile::nodelink::NodeLink;
use isomorph_model::{MemoryGraph, Source};
use proptest::prelude::*;

use crate::{again, gexf, gml, json, shown};

/// Reads a graph, unless opening has found that an id or an end is wrong.
fn read(graph: &RecordGraph) {
    match MemoryGraph::read(graph) {
        Ok(_) => assert!(graph.about().findings.worst() < Some(Severity::Error)),
        Err(error) => {
            let rule = error.broken_rule().unwrap_or_else(|| panic!("{error:?}"));
            assert!(graph.about().findings.count(rule) > 0, "{error:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever can be read can be read twice, and reading never panics.
    #[test]
    fn random_pieces_of_json(pieces in prop::collection::vec(prop::sample::select(vec![
        "{\"nodes\": [", "{\"id\": 1}", "{\"id\": \"a\", \"x\": ", "1.5", "null", "true", "[1, \"a\"]", "{}", "}", "]", ",", ", \"edges\": [", "{\"source\": 1, \"target\": 1",
        "\"", "\\u00e9", "\\ud800", "NaN", "-", "1e400", " ", "\u{fffd}", "\"links\": []", "\"directed\": true", "{",
    ]), 0..16)) {
        if let Ok(graph) = json(&pieces.concat()) {
            read(&graph);
        }
    }

    #[test]
    fn random_pieces_of_gml(pieces in prop::collection::vec(prop::sample::select(vec![
        "graph [ ", "node [ id 0 ", "node [ id 1 label \"b\" ", "edge [ source 0 target 1 ", "] ", "x 1 ", "x 1.5 ", "x \"a&amp;\" ", "x [ ", "label \"a\" ", "directed 1 ",
        "\"", "&#", "1e5 ", "+INF ", "# c\n", "NAN ", "[ ", "id 0 ", "99999999999999999999 ",
    ]), 0..16)) {
        if let Ok(graph) = gml(&pieces.concat()) {
            read(&graph);
        }
    }

    #[test]
    fn random_pieces_of_gexf(pieces in prop::collection::vec(prop::sample::select(vec![
        "<graph>", "</graph>", "<nodes>", "</nodes>", "<node id=\"a\"/>", "<node id=\"b\" label=\"x\">", "</node>", "<edges>", "</edges>", "<edge source=\"a\" target=\"b\"/>",
        "<attributes class=\"node\">", "</attributes>", "<attribute id=\"0\" title=\"label\" type=\"integer\"/>", "<attvalues>", "</attvalues>", "<attvalue for=\"0\" value=\"1\"/>",
        "<spells>", "</spells>", "<spell start=\"1\"/>", "<viz:size value=\"1\"/>", "text", "&lt;", "<meta/>",
    ]), 0..16)) {
        if let Ok(graph) = gexf(&pieces.concat()) {
            read(&graph);
        }
    }

    /// Texts of any kind are read back from all places where they are written.
    #[test]
    fn random_texts(texts in prop::collection::btree_set("[ -~\\t\\n\\r\u{e9}\u{4e2d}]{0,6}", 1..5)) {
        use isomorph_zoo::{Build, Edges, Nodes, text};
        let all: Vec<&str> = texts.iter().map(String::as_str).collect();
        let graph = |name: &str| {
            let mut build = Build::default();
            let node = build.nodes(Nodes::keyed("node", text(all.clone())).column(name, text(all.clone())));
            let edges = Edges::keys(node, "edge", node, text(vec![all[0]; all.len()]), text(all.clone()));
            build.edges(edges.column("t", text(all.clone())));
            build.finish()
        };
        let name = if all[0] == "id" { "x" } else { all[0] };
        let made = graph(name);
        prop_assert_eq!(shown(&again(&NodeLink, NodeLink::form(), &made)), shown(&made));
        prop_assert_eq!(shown(&again(&Gexf, Gexf::form(), &made)), shown(&made));
        let made = graph("t");
        prop_assert_eq!(shown(&again(&Gml, Gml::form(true), &made)), shown(&made));
    }
}
