//! Ids that are repeated and ends that are no nodes, in every syntax, against a comparison of all with all.

use isomorph_error::{Finding, Severity};
use isomorph_graphfile::cx2::Cx2;
use isomorph_graphfile::gexf::Gexf;
use isomorph_graphfile::gml::Gml;
use isomorph_graphfile::jgf::Jgf;
use isomorph_graphfile::nodelink::{Kgx, NodeLink};
use isomorph_graphfile::{OpenOptions, RecordGraph, Syntax};
use isomorph_model::{MemoryGraph, NodeId, Side, Source};
use isomorph_storage::{Budget, Location};
use proptest::prelude::*;

use crate::{found, json, shown};

type Edge = (u8, u8);

/// Writes nodes and edges; `edges_first` where a syntax allows it, and labels of nodes.
type Text = fn(&[u8], &[Edge], bool) -> String;

const ALL: [(&dyn Syntax, Text); 6] = [
    (&NodeLink, |nodes, edges, edges_first| {
        pairs(nodes, edges, edges_first, ("source", "target"), "\"directed\": true, ", |id| id.to_string())
    }),
    (&Kgx, |nodes, edges, edges_first| {
        pairs(nodes, edges, edges_first, ("subject", "object"), "", |id| format!("\"X:{id}\""))
    }),
    (&Jgf, |nodes, edges, edges_first| {
        let lists = pairs(nodes, edges, edges_first, ("source", "target"), "", |id| format!("\"{id}\""));
        format!("{{\"graph\": {lists}}}")
    }),
    (&Gexf, |nodes, edges, _| {
        let nodes: String = nodes.iter().map(|id| format!("<node id=\"{id}\"/>")).collect();
        let edges: String =
            edges.iter().map(|(from, to)| format!("<edge source=\"{from}\" target=\"{to}\"/>")).collect();
        format!("<gexf><graph defaultedgetype=\"directed\"><nodes>{nodes}</nodes><edges>{edges}</edges></graph></gexf>")
    }),
    // Labels are keys if ids are positions, and properties otherwise.
    (&Gml, |nodes, edges, edges_first| {
        let nodes: String = nodes.iter().map(|id| format!("node [ id {id} label \"n{id}\" ]\n")).collect();
        let edges: String = edges.iter().map(|(from, to)| format!("edge [ source {from} target {to} ]\n")).collect();
        let (first, second) = if edges_first { (edges, nodes) } else { (nodes, edges) };
        format!("graph [ directed 1\n{first}{second}]")
    }),
    (&Cx2, |nodes, edges, edges_first| {
        let nodes: Vec<String> = nodes.iter().map(|id| format!("{{\"id\": {id}}}")).collect();
        let edges: Vec<String> = edges.iter().map(|(from, to)| format!("{{\"s\": {from}, \"t\": {to}}}")).collect();
        let nodes = format!("{{\"nodes\": [{}]}}", nodes.join(","));
        let edges = format!("{{\"edges\": [{}]}}", edges.join(","));
        let (first, second) = if edges_first { (edges, nodes) } else { (nodes, edges) };
        format!(
            "[{{\"CXVersion\": \"2.0\", \"hasFragments\": false}}, {first}, {second}, {{\"status\": [{{\"success\": true}}]}}]"
        )
    }),
];

fn pairs(
    nodes: &[u8],
    edges: &[Edge],
    edges_first: bool,
    (source, target): (&str, &str),
    head: &str,
    id: fn(u8) -> String,
) -> String {
    let nodes: Vec<String> = nodes.iter().map(|own| format!("{{\"id\": {}}}", id(*own))).collect();
    let edge = |(from, to): &Edge| format!("{{\"{source}\": {}, \"{target}\": {}}}", id(*from), id(*to));
    let edges: Vec<String> = edges.iter().map(edge).collect();
    let nodes = format!("\"nodes\": [{}]", nodes.join(","));
    let edges = format!("\"edges\": [{}]", edges.join(","));
    let (first, second) = if edges_first { (edges, nodes) } else { (nodes, edges) };
    format!("{{{head}{first}, {second}}}")
}

fn opened(syntax: &'static dyn Syntax, text: &str, memory: u64, lenient: bool) -> RecordGraph {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph");
    std::fs::write(&path, text).unwrap();
    let options = OpenOptions { budget: Budget::new(memory), lenient, ..OpenOptions::default() };
    RecordGraph::open(&Location::from_path(&path), syntax, options).unwrap_or_else(|error| panic!("{error:?}: {text}"))
}

fn errors(graph: &RecordGraph) -> Vec<Finding> {
    let findings = graph.about().findings;
    let all = findings.by_rule().flat_map(|(_, kept)| kept).filter(|one| one.rule.severity == Severity::Error);
    all.cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is wrong is found when a file is opened, whatever its order is and whether it fits into memory; nothing is read then. What
    /// is read leniently is what a file without the wrong records gives.
    #[test]
    fn wrong_records_are_found_and_set_aside(
        positions in any::<bool>(),
        nodes in prop::collection::vec(0u8..8, 0..7),
        edges in prop::collection::vec((0u8..8, 0u8..8), 0..7),
        edges_first in any::<bool>(),
        memory in prop::sample::select(vec![1u64 << 30, 20_000]),
    ) {
        let nodes: Vec<u8> = if positions { (0..).take(nodes.len()).collect() } else { nodes };
        let mut clean = Vec::new();
        for id in &nodes {
            if !clean.contains(id) {
                clean.push(*id);
            }
        }
        let is_lost = |end: &u8| !clean.contains(end);
        let sound: Vec<Edge> = edges.iter().copied().filter(|(from, to)| !is_lost(from) && !is_lost(to)).collect();
        let repeats = nodes.len() - clean.len();
        let losses = edges.iter().map(|(from, to)| usize::from(is_lost(from)) + usize::from(is_lost(to))).sum::<usize>();
        for (syntax, text) in ALL {
            let rules = syntax.rules();
            let graph = opened(syntax, &text(&nodes, &edges, edges_first), memory, false);
            let all = errors(&graph);
            let count = |rule: &str| all.iter().filter(|one| one.rule.id == rule).count();
            prop_assert_eq!((count(rules.id.id), count(rules.end.id)), (repeats, losses), "{}", syntax.name());
            prop_assert!(all.iter().all(|one| one.place.offset.is_some()), "{:?}", all);
            let key = if syntax.name() == "KGX JSON" { "X:0" } else { "0" };
            let wrong = repeats + losses > 0;
            match MemoryGraph::read(&graph) {
                Ok(_) => prop_assert!(!wrong),
                Err(error) => {
                    prop_assert!(wrong && all.iter().any(|one| error.broken_rule() == Some(one.rule)), "{:?}", error);
                }
            }
            if wrong {
                prop_assert!(graph.neighbors(0, NodeId::Key(key), Side::Out).err().unwrap().broken_rule().is_some());
            }
            let lenient = opened(syntax, &text(&nodes, &edges, edges_first), memory, true);
            let without = opened(syntax, &text(&clean, &sound, edges_first), memory, false);
            prop_assert_eq!(shown(&lenient), shown(&without), "{}", syntax.name());
            prop_assert_eq!(lenient.graph(), without.graph());
            prop_assert_eq!(lenient.set_aside().len(), repeats + edges.len() - sound.len());
            prop_assert_eq!(errors(&lenient).len(), lenient.set_aside().len());
        }
    }
}

#[test]
fn messages_name_ids_and_places() {
    let text = r#"{"directed": true, "nodes": [{"id": "a"}, {"id": "b"}, {"id": "a"}], "edges": [{"source": "a", "target": "z"}]}"#;
    let graph = json(text).unwrap();
    let told: Vec<(String, u64)> =
        errors(&graph).into_iter().map(|one| (one.message, one.place.offset.unwrap())).collect();
    let at = |part: &str| text.rfind(part).unwrap() as u64;
    assert_eq!(
        told,
        [
            ("the edge ends in \"z\", which is not a node".to_owned(), at("{\"source\"")),
            (
                format!("the id \"a\" is that of the node at byte {} already", text.find("{\"id\"").unwrap()),
                at("{\"id\"")
            ),
        ]
    );
    // Thousands are counted, and the first are named.
    let nodes: Vec<String> = (0..5_000).map(|at| format!("{{\"id\": {}}}", at / 2)).collect();
    let graph = json(&format!("{{\"directed\": true, \"nodes\": [{}], \"edges\": []}}", nodes.join(","))).unwrap();
    assert_eq!(
        graph.about().findings.by_rule().map(|(count, kept)| (count, kept.len())).collect::<Vec<_>>(),
        [(2_500, 100)]
    );
}

/// `1.0` is 1, as in JavaScript and for NetworkX, which finds one node by both.
#[test]
fn whole_floats_are_integers() {
    let text = r#"{"directed": true, "nodes": [{"id": 1}, {"id": 2.0}, {"id": -0.0}], "links": [{"source": 1.0, "target": 2}, {"source": 2e0, "target": 0}]}"#;
    let graph = json(text).unwrap();
    assert_eq!(shown(&graph), ["1", "2", "0", "1 2", "2 0"]);
    assert_eq!(found(&graph), [""; 0]);
    let mixed = json(r#"{"directed": true, "nodes": [{"id": 1.5}, {"id": 1e300}, {"id": 3}], "links": [{"source": 1.5, "target": 3.0}]}"#).unwrap();
    assert_eq!(shown(&mixed), ["\"1.5\"", "\"1e300\"", "\"3\"", "\"1.5\" \"3\""]);
}
