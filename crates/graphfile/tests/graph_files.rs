//! Handwritten files: features of the dialects, and invalid files.
#![allow(clippy::unwrap_used, clippy::panic)]

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_schema::DataType;
use isomorph_error::{Error, Findings};
use isomorph_graphfile::cx2::Cx2;
use isomorph_graphfile::draw::{Drawing, Language, schema};
use isomorph_graphfile::gexf::Gexf;
use isomorph_graphfile::gml::Gml;
use isomorph_graphfile::jgf::Jgf;
use isomorph_graphfile::nodelink::{Kgx, NodeLink};
use isomorph_graphfile::{OpenOptions, RecordGraph, RecordWriter, Syntax, WriteOptions};
use isomorph_model::{Batch, Direction, Ends, KeyKind, MemoryGraph, NodeId, Side, Sink, Source};
use isomorph_storage::{Location, Mode, Staging};
use proptest::prelude::*;

fn open_as(syntax: &'static dyn Syntax, text: &[u8]) -> Result<RecordGraph, Error> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph");
    std::fs::write(&path, text).unwrap();
    RecordGraph::open(&Location::from_path(&path), syntax, OpenOptions::default())
}

fn json(text: &str) -> Result<RecordGraph, Error> {
    open_as(&NodeLink, text.as_bytes())
}

fn gml(text: &str) -> Result<RecordGraph, Error> {
    open_as(&Gml, text.as_bytes())
}

fn gexf(inside: &str) -> Result<RecordGraph, Error> {
    let text = format!(
        "<gexf xmlns=\"http://www.gexf.net/1.2draft\" xmlns:viz=\"http://www.gexf.net/1.2draft/viz\" version=\"1.2\">{inside}</gexf>"
    );
    open_as(&Gexf, text.as_bytes())
}

fn rule(result: Result<RecordGraph, Error>) -> &'static str {
    match result {
        Ok(_) => "none",
        Err(error) => error.broken_rule().unwrap_or_else(|| panic!("{error:?}")).id,
    }
}

/// The rules that opening and validating find broken.
fn found(graph: &RecordGraph) -> Vec<&'static str> {
    let mut findings = Findings::keeping(9);
    graph.validate(&mut findings).unwrap();
    findings.by_rule().flat_map(|(_, kept)| kept).map(|finding| finding.rule.id).collect()
}

fn cell(column: &dyn Array, row: usize) -> String {
    match column.data_type() {
        _ if column.is_null(row) => "-".to_owned(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float64 => format!("{:?}", column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Utf8 => format!("{:?}", column.as_string::<i32>().value(row)),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items: Vec<String> = (0..items.len()).map(|at| cell(items.as_ref(), at)).collect();
            format!("[{}]", items.join(" "))
        }
        other => other.to_string(),
    }
}

/// Returns nodes and edges, one line each, in order.
fn shown(source: &dyn Source) -> Vec<String> {
    let graph = MemoryGraph::read(source).unwrap();
    let mut lines = Vec::new();
    for batch in &graph.batches {
        let (rows, mut lines_of) = match batch {
            Batch::Nodes(nodes) => {
                let keys = nodes.keys.clone().unwrap();
                (nodes.rows, (0..nodes.rows).map(|row| cell(keys.as_ref(), row)).collect::<Vec<_>>())
            }
            Batch::Edges(edges) => {
                let end = |ends: &Ends, row: usize| match ends {
                    Ends::Keys(keys) => cell(keys.as_ref(), row),
                    Ends::Rows(rows) => format!("#{}", rows.value(row)),
                };
                (
                    edges.rows,
                    (0..edges.rows)
                        .map(|row| format!("{} {}", end(&edges.source, row), end(&edges.target, row)))
                        .collect(),
                )
            }
            _ => panic!("neither nodes nor edges"),
        };
        let properties = match batch {
            Batch::Nodes(nodes) => &nodes.properties,
            Batch::Edges(edges) => &edges.properties,
            _ => panic!(),
        };
        assert_eq!(lines_of.len(), rows);
        for (row, line) in lines_of.iter_mut().enumerate() {
            for column in properties.iter().flatten() {
                line.push(' ');
                line.push_str(&cell(column.as_ref(), row));
            }
        }
        lines.extend(lines_of);
    }
    lines
}

fn written(form: Box<dyn isomorph_graphfile::Form>, graph: &dyn Source) -> Result<Vec<u8>, Error> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("x");
    let staging = Staging::file(&Location::from_path(&path), Mode::CreateNew).unwrap();
    let mut sink: Box<dyn Sink> =
        Box::new(RecordWriter::create(&staging, graph.graph(), form, &WriteOptions::default())?);
    let batches = MemoryGraph::read(graph)?.batches;
    for (delivery, of_nodes) in [(0, true), (1, false)] {
        for batch in batches.iter().filter(|batch| matches!(batch, Batch::Nodes(_)) == of_nodes) {
            sink.write(delivery, batch.clone())?;
        }
    }
    sink.finish()?;
    staging.commit(&[])?;
    Ok(std::fs::read(path).unwrap())
}

/// Opens what is written of a graph again.
fn again(syntax: &'static dyn Syntax, form: Box<dyn isomorph_graphfile::Form>, graph: &dyn Source) -> RecordGraph {
    let bytes = written(form, graph).unwrap();
    open_as(syntax, &bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)))
}

const NODES: &str = r#"{"directed": true, "nodes": [
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
fn jgf_of_both_versions() {
    let two = r#"{"graph": {"directed": true, "label": "g", "type": "t", "metadata": {"n": 1}, "nodes": {"a": {"label": "A", "metadata": {"w": 1.5, "label": "own"}}, "b": {}},
        "edges": [{"id": "e", "source": "a", "target": "b", "relation": "knows", "metadata": {"since": 2020}}, {"source": "b", "target": "b", "directed": false}]}}"#;
    let graph = open_as(&Jgf, two.as_bytes()).unwrap();
    assert_eq!(
        shown(&graph),
        ["\"a\" \"A\" 1.5 \"own\"", "\"b\" - - -", "\"a\" \"b\" \"e\" \"knows\" 2020", "\"b\" \"b\" - - -"]
    );
    assert_eq!((graph.graph().name.as_deref(), graph.graph().edges[0].direction), (Some("g"), Direction::PerRow));
    let back = again(&Jgf, Jgf::form(), &graph);
    assert_eq!((shown(&back), back.graph()), (shown(&graph), graph.graph()));
    let one =
        r#"{"graphs": [{"nodes": [{"id": "a", "metadata": {"w": 1}}], "edges": [{"source": "a", "target": "a"}]}]}"#;
    assert_eq!(shown(&open_as(&Jgf, one.as_bytes()).unwrap()), ["\"a\" 1", "\"a\" \"a\""]);
    for (text, expected) in [
        (r#"{"graphs": [{}, {}]}"#, "JGF-NESTED"),
        (r#"{"graph": {"hyperedges": [{"nodes": ["a"]}]}}"#, "JGF-NESTED"),
        (r#"{"graph": {"nodes": 5}}"#, "JGF-SYNTAX"),
        (r#"{}"#, "JGF-SYNTAX"),
        (r#"{"graph": {"nodes": [{"x": 1}]}}"#, "JGF-ID"),
        (r#"{"graph": {"edges": [{"source": "a"}]}}"#, "JGF-END"),
        (r#"{"graph": {"edges": [{"source": "a", "target": "a", "directed": 1}]}}"#, "JGF-SYNTAX"),
    ] {
        assert_eq!(rule(open_as(&Jgf, text.as_bytes())), expected, "{text}");
    }
}

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

const LABELLED: &str = "# a comment\nCreator \"me\"\ngraph [ directed 1 multigraph 1 name \"g\" note [ a 1 a 2 ]\n node [ id 0 label \"a \"\n w 1.5 n 9223372036854775808 ]\n node [ id 1 label \"Z&uuml;rich\" w 1 flag 1 flag 2 graphics [ x 1.0 type \"a&amp;b\" ] ]\n edge [ source 0 target 1 key 0 value +INF ]\n edge [ source 0 target 0 value 1.E+300 ]\n]\n";

#[test]
fn labels_are_keys_if_ids_are_positions() {
    let graph = gml(LABELLED).unwrap();
    assert_eq!(
        shown(&graph),
        [
            r#""a " 1.5 9223372036854775808 - -"#,
            r#""Zürich" 1.0 - [1 2] "{\"x\":1.0,\"type\":\"a&b\"}""#,
            "\"a \" \"Zürich\" 0 inf",
            "\"a \" \"a \" - 1e300",
        ]
    );
    assert_eq!(graph.graph().name.as_deref(), Some("g"));
    let back = again(&Gml, Gml::form(true), &graph);
    assert_eq!((shown(&back), &back.graph().documents), (shown(&graph), &graph.graph().documents));
    // The same label twice, other ids, and no label.
    for (nodes, expected) in [
        ("node [ id 0 label \"a\" ] node [ id 1 label \"a\" ]", vec!["0 \"a\"", "1 \"a\""]),
        ("node [ id 1 label \"a\" ] node [ id 2 label \"b\" ]", vec!["1 \"a\"", "2 \"b\""]),
        ("node [ id 0 label \"a\" ] node [ id 1 ]", vec!["0 \"a\"", "1 -"]),
        ("node [ id 0 label 5 ] node [ id 1 label 6 ]", vec!["0 5", "1 6"]),
    ] {
        let graph = gml(&format!("graph [ {nodes} ]")).unwrap();
        assert_eq!(shown(&graph), expected);
        assert_eq!(shown(&again(&Gml, Gml::form(false), &graph)), expected);
    }
}

#[test]
fn texts_of_gml_are_no_json() {
    let mixed = "node [ id 5 p 1 ] node [ id 6 p \"2\" ] node [ id 7 p \"true\" ] node [ id 8 p \"[1]\" ] node [ id 9 p \"hello\" ]";
    let graph = gml(&format!("graph [ {mixed} ]")).unwrap();
    assert_eq!(shown(&graph), [r#"5 "1""#, r#"6 "\"2\"""#, r#"7 "\"true\"""#, r#"8 "\"[1]\"""#, r#"9 "\"hello\"""#]);
    assert!(found(&graph).is_empty());
}

#[test]
fn lists_of_one_element_and_infinities_of_gml() {
    let nodes =
        "node [ id 5 s \"_networkx_list_start\" s \"x\" o [ l \"_networkx_list_start\" l 1 ] ] node [ id 6 s 1 s 2 ]";
    let graph =
        gml(&format!("graph [ {nodes} edge [ source 5 target 6 w -Inf ] edge [ source 6 target 6 w Inf ] ]")).unwrap();
    let expected = [r#"5 "[\"x\"] " "{\"l\":[1]}""#, r#"6 "[1,2] " -"#, "5 6 -inf", "6 6 inf"];
    let text = |lines: Vec<String>| lines.iter().map(|line| line.replace("] \"", "]\"")).collect::<Vec<_>>();
    assert_eq!(text(shown(&graph)), expected.map(|line| line.replace("] \"", "]\"")));
    let single = gml("graph [ node [ id 5 s \"_networkx_list_start\" s \"x\" ] ]").unwrap();
    assert_eq!(shown(&single), [r#"5 ["x"]"#]);
    assert_eq!(shown(&again(&Gml, Gml::form(false), &single)), shown(&single));
    let lines = json(r#"{"nodes": [{"id": 7, "t": "l1\n   l2", "u": 18446744073709551615}], "edges": []}"#).unwrap();
    let bytes = String::from_utf8(written(Gml::form(false), &lines).unwrap()).unwrap();
    assert!(bytes.contains("t \"l1&#10;   l2\"") && bytes.contains("u 18446744073709551615"), "{bytes}");
}

#[test]
fn what_is_no_gml_is_refused() {
    for (text, expected) in [
        ("", "GML-SYNTAX"),
        ("graph", "GML-SYNTAX"),
        ("graph [", "GML-SYNTAX"),
        ("graph [ node [ id 0 ]", "GML-SYNTAX"),
        ("graph [ ] ]", "GML-SYNTAX"),
        ("graph [ node [ id 0 x ] ]", "GML-SYNTAX"),
        ("graph [ node [ id 0 x \"a ] ]", "GML-SYNTAX"),
        ("graph [ node [ id 0 x 1-2 ] ]", "GML-SYNTAX"),
        ("graph [ node [ id 0 id 1 ] ]", "GML-SYNTAX"),
        ("graph [ directed 2 ]", "GML-SYNTAX"),
        ("graph [ node [ ] ]", "GML-ID"),
        ("graph [ node [ id \"a\" ] ]", "GML-ID"),
        ("graph [ node [ id 0 ] edge [ source 0 ] ]", "GML-END"),
        ("graph [ node [ id 0 x 1e999 ] ]", "GML-VALUE"),
        ("graph [ ] graph [ ]", "GML-NESTED"),
        ("graph [ graph [ ] ]", "GML-NESTED"),
        ("graph [ node [ id 0 graph [ ] ] ]", "GML-NESTED"),
    ] {
        assert_eq!(rule(gml(text)), expected, "{text}");
    }
    let deep = format!("graph [ node [ id 0 x {} {} ] ]", "[ x ".repeat(200), "]".repeat(200));
    assert_eq!(rule(gml(&deep)), "GML-LIMIT");
    assert_eq!(
        found(&gml("graph [ node [ id 5 ] node [ id 5 ] edge [ source 5 target 7 ] ]").unwrap()),
        ["GML-END", "GML-ID"]
    );
    assert_eq!(found(&gml("graph [ node [ id 0 label \"a\" ] edge [ source 0 target 1 ] ]").unwrap()), ["GML-END"]);
    let latin = open_as(&Gml, b"graph [ node [ id 3 x \"Z\xfcrich\" ] ]").unwrap();
    assert_eq!(shown(&latin), ["3 \"Zürich\""]);
}

const EVERYTHING: &str = r##"<meta lastmodifieddate="2020-01-01"><creator>me &amp; you</creator></meta>
<graph defaultedgetype="undirected" mode="dynamic" timeformat="date">
<attributes class="node" mode="static">
 <attribute id="0" title="size" type="integer"><default>7</default></attribute>
 <attribute id="1" title="label" type="string"/><attribute id="2" title="size" type="double"/>
</attributes>
<attributes class="node" mode="dynamic"><attribute id="d" title="price" type="float"/></attributes>
<attributes class="edge"><attribute id="0" title="ok" type="boolean"/><attribute id="1" title="tags" type="liststring"/></attributes>
<nodes count="2">
 <node id="a" label="A" start="2001"><viz:color r="1" g="2" b="3"/><viz:size value="2.5"/>
  <attvalues><attvalue for="1" value="other"/><attvalue for="2" value=" 1e3 "/><attvalue for="d" value="1.5" start="2001"/><attvalue for="d" value="INF" start="2002" end="2003"/></attvalues>
  <spells><spell start="2001" end="2002"/><spell start="2004"/></spells></node>
 <node id="b" label="B"><attvalues><attvalue for="0" value="5000000000"/></attvalues></node>
</nodes>
<edges><edge id="0" source="a" target="b" type="directed" weight="2"><attvalues><attvalue for="0" value="true"/></attvalues></edge>
<edge id="1" source="a" target="a" type="mutual"/></edges></graph>"##;

#[test]
fn gexf_with_everything() {
    let graph = gexf(EVERYTHING).unwrap();
    let names = |at: usize| -> Vec<String> {
        let own = graph.graph();
        let all = if at == 0 { &own.nodes[0].properties } else { &own.edges[0].properties };
        all.iter().map(|own| own.name.clone()).collect()
    };
    assert_eq!(
        names(0),
        ["size", "label", "size_2", "price", "label_2", "start", "viz", "spells"]
            .map(str::to_owned)
            .to_vec()
            .tap(&names(0))
    );
    assert_eq!(graph.graph().edges[0].direction, Direction::PerRow);
    let lines = shown(&graph);
    assert!(
        lines[0].starts_with(r#""a" 7 "other" 1000.0 "[[1.5,\"2001\",null],[Infinity,\"2002\",\"2003\"]]" "A" "2001""#),
        "{lines:#?}"
    );
    assert!(lines[1].starts_with(r#""b" 5000000000 - - - "B" -"#), "{lines:#?}");
    let mut all = found(&graph);
    all.sort_unstable();
    assert_eq!(all, ["GEXF-MUTUAL", "GEXF-NAME", "GEXF-NAME", "GEXF-TYPE"]);
    let back = again(&Gexf, Gexf::form(), &graph);
    let sorted = |graph: &RecordGraph| {
        let text = |line: &String| {
            let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            words.sort();
            words.join(" ")
        };
        shown(graph).iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(sorted(&back), sorted(&graph));
    assert_eq!(back.graph().documents, graph.graph().documents);
}

/// Order of what elements have beside attributes is not asked for.
trait Tap {
    fn tap(self, found: &[String]) -> Vec<String>;
}

impl Tap for Vec<String> {
    fn tap(self, found: &[String]) -> Vec<String> {
        let (mut left, mut right) = (self.clone(), found.to_vec());
        left.sort();
        right.sort();
        if left == right { found.to_vec() } else { self }
    }
}

#[test]
fn what_is_no_gexf_is_refused() {
    let graph = |inside: &str| gexf(&format!("<graph>{inside}</graph>"));
    let attribute = "<attributes class=\"node\"><attribute id=\"0\" title=\"x\" type=\"integer\"/></attributes>";
    let value = |value: &str| {
        graph(&format!(
            "{attribute}<nodes><node id=\"a\"><attvalues><attvalue for=\"0\" value=\"{value}\"/></attvalues></node></nodes>"
        ))
    };
    for (result, expected) in [
        (gexf(""), "GEXF-SYNTAX"),
        (open_as(&Gexf, b"<gexf><graph>"), "GEXF-SYNTAX"),
        (open_as(&Gexf, b"<graphml/>"), "GEXF-SYNTAX"),
        (gexf("<graph/><graph/>"), "GEXF-NESTED"),
        (graph("<nodes><node/></nodes>"), "GEXF-ID"),
        (graph("<nodes><node id=\"a\" pid=\"b\"/></nodes>"), "GEXF-NESTED"),
        (graph("<nodes><node id=\"a\"><nodes/></node></nodes>"), "GEXF-NESTED"),
        (graph("<edges><edge source=\"a\"/></edges>"), "GEXF-SYNTAX"),
        (graph("<edges><edge source=\"a\" target=\"a\" type=\"both\"/></edges>"), "GEXF-SYNTAX"),
        (graph("<edges><edge source=\"a\" target=\"a\" weight=\"heavy\"/></edges>"), "GEXF-VALUE"),
        (
            graph("<nodes><node id=\"a\"><attvalues><attvalue for=\"9\" value=\"1\"/></attvalues></node></nodes>"),
            "GEXF-ATTRIBUTE",
        ),
        (graph(&format!("{attribute}{attribute}")), "GEXF-ATTRIBUTE"),
        (value("1.5"), "GEXF-VALUE"),
        (value("99999999999999999999"), "GEXF-VALUE"),
        (open_as(&Gexf, b"<!DOCTYPE gexf [<!ENTITY a \"b\">]><gexf/>"), "GEXF-SYNTAX"),
    ] {
        assert_eq!(rule(result), expected);
    }
    assert_eq!(shown(&value("").unwrap()), ["\"a\" -"]);
    let graph =
        graph("<nodes><node id=\"a\"/><node id=\"a\"/></nodes><edges><edge source=\"a\" target=\"b\"/></edges>")
            .unwrap();
    assert_eq!(found(&graph), ["GEXF-END", "GEXF-ID"]);
}

#[test]
fn formats_are_told_by_their_content() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("x");
    let detected = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let place = Location::from_path(&path);
        [
            NodeLink::detect(&place).unwrap(),
            Kgx::detect(&place).unwrap(),
            Gexf::detect(&place).unwrap(),
            Gml::detect(&place).unwrap(),
        ]
    };
    let long =
        format!("{{\"nodes\": [{{\"id\": 1, \"x\": \"{}\"}}, {{\"id\": 2}}], \"links\": []}}", "x".repeat(100_000));
    let sorted = format!(
        "{{\"directed\": false, \"edges\": [{{\"source\": 1, \"target\": 1, \"x\": \"{}\"}}]}}",
        "x".repeat(100)
    );
    for (text, expected) in [
        (NODES, [true, false, false, false]),
        (long.as_str(), [true, false, false, false]),
        (sorted.as_str(), [true, false, false, false]),
        ("{\"nodes\": [], \"edges\": []}", [true, false, false, false]),
        (
            "{\"nodes\": [{\"id\": \"a\", \"category\": []}], \"edges\": [{\"subject\": \"a\", \"object\": \"a\"}]}",
            [false, true, false, false],
        ),
        ("{\"data\": [], \"elements\": {\"nodes\": [], \"edges\": []}}", [false; 4]),
        ("{\"nodes\": 5, \"edges\": 7}", [false; 4]),
        ("{\"id\": 1, \"edges\": [1]}", [false; 4]),
        ("<?xml version=\"1.0\"?><gexf/>", [false, false, true, false]),
        (LABELLED, [false, false, false, true]),
        ("graph [ ]", [false, false, false, true]),
        ("graph [] { <a:a> <a:b> <a:c> }", [false; 4]),
        ("graph <a:g> { }", [false; 4]),
        ("", [false; 4]),
    ] {
        assert_eq!(detected(text), expected, "{}", text.chars().take(60).collect::<String>());
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
            MemoryGraph::read(&graph).unwrap();
        }
    }

    #[test]
    fn random_pieces_of_gml(pieces in prop::collection::vec(prop::sample::select(vec![
        "graph [ ", "node [ id 0 ", "node [ id 1 label \"b\" ", "edge [ source 0 target 1 ", "] ", "x 1 ", "x 1.5 ", "x \"a&amp;\" ", "x [ ", "label \"a\" ", "directed 1 ",
        "\"", "&#", "1e5 ", "+INF ", "# c\n", "NAN ", "[ ", "id 0 ", "99999999999999999999 ",
    ]), 0..16)) {
        if let Ok(graph) = gml(&pieces.concat()) {
            // An edge that ends in no node is an error where ends are rows.
            if let Err(error) = MemoryGraph::read(&graph) {
                prop_assert!(error.broken_rule().is_some_and(|rule| rule.id == "GML-END"), "{error:?}");
            }
        }
    }

    #[test]
    fn random_pieces_of_gexf(pieces in prop::collection::vec(prop::sample::select(vec![
        "<graph>", "</graph>", "<nodes>", "</nodes>", "<node id=\"a\"/>", "<node id=\"b\" label=\"x\">", "</node>", "<edges>", "</edges>", "<edge source=\"a\" target=\"b\"/>",
        "<attributes class=\"node\">", "</attributes>", "<attribute id=\"0\" title=\"label\" type=\"integer\"/>", "<attvalues>", "</attvalues>", "<attvalue for=\"0\" value=\"1\"/>",
        "<spells>", "</spells>", "<spell start=\"1\"/>", "<viz:size value=\"1\"/>", "text", "&lt;", "<meta/>",
    ]), 0..16)) {
        if let Ok(graph) = gexf(&pieces.concat()) {
            MemoryGraph::read(&graph).unwrap();
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
