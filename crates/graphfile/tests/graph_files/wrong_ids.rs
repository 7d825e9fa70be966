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

/// Records without an id or an end, beside a repeated id and an end that is no node.
const INCOMPLETE: [(&dyn Syntax, &str, &str, [&str; 4]); 6] = [
    (
        &NodeLink,
        r#"{"directed": true, "nodes": [{"id": 0}, {"x": 1}, {"id": 1}, {"x": 2}, {"id": 0}, {"id": 2}], "edges": [{"source": 0, "target": 1}, {"source": 0}, {"source": 1, "target": 2}, {"x": 1}, {"source": 1, "target": 9}]}"#,
        r#"{"directed": true, "nodes": [{"id": 0}, {"id": 1}, {"id": 2}], "edges": [{"source": 0, "target": 1}, {"source": 1, "target": 2}]}"#,
        ["{\"x\": 1}, {\"id\"", "{\"x\": 2}", "{\"source\": 0}", "{\"x\": 1}, {\"source\""],
    ),
    (
        &Kgx,
        r#"{"nodes": [{"id": "a"}, {"x": 1}, {"id": "b"}, {"x": 2}, {"id": "a"}], "edges": [{"subject": "a", "object": "b"}, {"subject": "a"}, {"x": 3}, {"subject": "b", "object": "z"}]}"#,
        r#"{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"subject": "a", "object": "b"}]}"#,
        ["{\"x\": 1}", "{\"x\": 2}", "{\"subject\": \"a\"}", "{\"x\": 3}"],
    ),
    (
        &Jgf,
        r#"{"graph": {"nodes": [{"id": "a"}, {"x": 1}, {"id": "b"}, {"x": 2}, {"id": "a"}], "edges": [{"source": "a", "target": "b"}, {"source": "a"}, {"x": 3}, {"source": "b", "target": "z"}]}}"#,
        r#"{"graph": {"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b"}]}}"#,
        ["{\"x\": 1}", "{\"x\": 2}", "{\"source\": \"a\"}", "{\"x\": 3}"],
    ),
    (
        &Gexf,
        "<gexf><graph><nodes><node id=\"a\"/><node/><node id=\"b\"/><node label=\"\"/><node id=\"a\"/></nodes><edges><edge source=\"a\" target=\"b\"/><edge source=\"a\"/><edge/><edge source=\"b\" target=\"z\"/></edges></graph></gexf>",
        "<gexf><graph><nodes><node id=\"a\"/><node id=\"b\"/></nodes><edges><edge source=\"a\" target=\"b\"/></edges></graph></gexf>",
        ["", "", "", ""],
    ),
    (
        &Gml,
        "graph [ node [ id 5 ] node [ x 1 ] node [ id 6 ] node [ id \"7\" ] node [ id 5 ] edge [ source 5 target 6 ] edge [ source 5 ] edge [ source 5 target 6.5 ] edge [ source 6 target 9 ] ]",
        "graph [ node [ id 5 ] node [ id 6 ] edge [ source 5 target 6 ] ]",
        ["", "", "", ""],
    ),
    (
        &Cx2,
        r#"[{"CXVersion": "2.0"}, {"nodes": [{"id": 5}, {"x": 1}, {"id": 6}, {"id": "7"}, {"id": 5}]}, {"edges": [{"s": 5, "t": 6}, {"s": 5}, {"s": "5", "t": 6}, {"s": 6, "t": 9}]}, {"status": [{"success": true}]}]"#,
        r#"[{"CXVersion": "2.0"}, {"nodes": [{"id": 5}, {"id": 6}]}, {"edges": [{"s": 5, "t": 6}]}, {"status": [{"success": true}]}]"#,
        ["{\"x\": 1}", "{\"id\": \"7\"}", "{\"s\": 5}", "{\"s\": \"5\""],
    ),
];

#[test]
fn records_without_an_id_or_an_end_are_set_aside() {
    for (syntax, text, clean, parts) in INCOMPLETE {
        let strict = crate::open_as(syntax, text.as_bytes());
        let rule = strict.err().unwrap().broken_rule().unwrap();
        assert!([syntax.rules().id, syntax.rules().end].contains(&rule), "{}: {rule:?}", syntax.name());
        for memory in [1 << 30, 20_000] {
            let (graph, whole) = (opened(syntax, text, memory, true), opened(syntax, clean, memory, false));
            let at = |rows: std::ops::Range<usize>| {
                shown(&graph)[rows].iter().map(|row| row.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
            };
            let nodes = graph.graph().nodes[0].rows.unwrap() as usize;
            assert_eq!(graph.graph().nodes[0].rows, whole.graph().nodes[0].rows, "{}", syntax.name());
            assert_eq!(graph.graph().edges[0].rows, whole.graph().edges[0].rows, "{}", syntax.name());
            let expected: Vec<String> =
                shown(&whole).iter().map(|row| row.split(' ').next().unwrap().to_owned()).collect();
            assert_eq!(at(0..nodes + graph.graph().edges[0].rows.unwrap() as usize), expected);
            assert_eq!(graph.set_aside().len(), 6, "{}: {:?}", syntax.name(), graph.set_aside());
            assert_eq!(errors(&graph).len(), 6);
            for part in parts.iter().filter(|part| !part.is_empty()) {
                let offset = text.find(part).unwrap() as u64;
                assert!(graph.set_aside().iter().any(|one| one.place.offset == Some(offset)), "{part}");
            }
        }
    }
}

#[test]
fn positions_are_ids_only_if_no_node_has_one() {
    // More nodes than a chunk has.
    let nodes = "{\"x\": 1},".repeat(70_000);
    let text = format!("{{\"directed\": true, \"nodes\": [{nodes}{{\"id\": 5}}], \"edges\": []}}");
    let error = json(&text).err().unwrap();
    assert_eq!(
        (error.broken_rule().unwrap().id, error.place().offset),
        ("NODELINK-ID", Some(text.find("{\"x\"").unwrap() as u64))
    );
    let lenient = opened(&NodeLink, &text, 1 << 30, true);
    assert_eq!((shown(&lenient), lenient.set_aside().len()), (vec!["5".to_owned()], 70_000));
    let all = text.replace("{\"id\": 5}", "{\"x\": 2}");
    let lenient = opened(&NodeLink, &all, 1 << 30, true);
    assert_eq!((shown(&lenient).len(), lenient.set_aside().len()), (70_001, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Edges with the ends of another one, where the file says that there are none, against a comparison of all with all.
    #[test]
    fn parallel_edges_of_a_file_that_has_none_are_found(
        edges in prop::collection::vec((0u8..4, 0u8..4), 0..9),
        directed in any::<bool>(),
        texts in any::<bool>(),
        memory in prop::sample::select(vec![1u64 << 30, 20_000]),
    ) {
        let alike = |one: &Edge, other: &Edge| one == other || !directed && (one.1, one.0) == *other;
        let expected = (0..edges.len()).filter(|at| edges[..*at].iter().any(|own| alike(own, &edges[*at]))).count();
        let id: fn(u8) -> String = if texts { |id| format!("\"{}\"", ["", "1", "11", "a "][id as usize]) } else { |id| id.to_string() };
        let head = |multigraph: &str| format!("\"directed\": {directed}, {multigraph}");
        for (multigraph, is_told) in [("\"multigraph\": false, ", true), ("\"multigraph\": true, ", false), ("", false)] {
            let text = pairs(&[0, 1, 2, 3], &edges, false, ("source", "target"), &head(multigraph), id);
            let mut findings = isomorph_error::Findings::keeping(9);
            opened(&NodeLink, &text, memory, false).validate(&mut findings).unwrap();
            let told = findings.by_rule().find(|(_, kept)| kept[0].rule.id == "NODELINK-MULTIGRAPH");
            prop_assert_eq!(told.map_or(0, |(count, _)| count as usize), if is_told { expected } else { 0 }, "{}", text);
        }
        for (multigraph, is_told) in [("", true), ("multigraph 0", true), ("multigraph 1", false)] {
            let edges: String = edges.iter().map(|(from, to)| format!("edge [ source {from} target {to} ]\n")).collect();
            let text = format!("graph [ directed {} {multigraph} node [ id 0 ] node [ id 1 ] node [ id 2 ] node [ id 3 ] {edges} ]", u8::from(directed));
            let graph = opened(&Gml, &text, memory, false);
            let told = found(&graph).into_iter().filter(|rule| *rule == "GML-MULTIGRAPH").count();
            prop_assert_eq!(told, if is_told { expected } else { 0 }, "{}", text);
        }
    }
}
