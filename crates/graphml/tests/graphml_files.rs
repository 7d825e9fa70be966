//! Handwritten GraphML: features of the dialects, and invalid files.
#![allow(clippy::unwrap_used, clippy::panic)]

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_schema::DataType;
use isomorph_error::{Error, Findings};
use isomorph_graphml::{GraphMl, OpenOptions, RecordGraph, RecordWriter, WriteOptions};
use isomorph_model::{Batch, Direction, Ends, MemoryGraph, NodeId, Side, Sink, Source};
use isomorph_storage::{Budget, Location, Mode, Staging};
use proptest::prelude::*;

fn open(text: &[u8]) -> Result<RecordGraph, Error> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.graphml");
    std::fs::write(&path, text).unwrap();
    RecordGraph::open(&Location::from_path(&path), &GraphMl, OpenOptions::default())
}

/// Returns nodes and edges, one line each, in order.
fn shown(source: &dyn Source) -> Vec<String> {
    let graph = MemoryGraph::read(source).unwrap();
    let text = |column: &dyn Array, row: usize| match column.data_type() {
        _ if column.is_null(row) => "-".to_owned(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => format!("{:?}", column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Utf8 => format!("{:?}", column.as_string::<i32>().value(row)),
        other => format!("{other}"),
    };
    let mut lines = Vec::new();
    for batch in &graph.batches {
        let (rows, mut columns) = match batch {
            Batch::Nodes(batch) => (batch.rows, vec![batch.keys.clone()]),
            Batch::Edges(batch) => {
                let (Ends::Keys(source), Ends::Keys(target)) = (&batch.source, &batch.target) else { panic!() };
                (batch.rows, vec![Some(source.clone()), Some(target.clone())])
            }
            _ => continue,
        };
        match batch {
            Batch::Nodes(batch) => columns.extend(batch.properties.iter().cloned()),
            Batch::Edges(batch) => {
                columns.extend(batch.properties.iter().cloned());
                columns.extend(batch.directed.clone().map(|directed| Some(std::sync::Arc::new(directed) as _)));
            }
            _ => {}
        }
        lines.extend((0..rows).map(|row| {
            columns
                .iter()
                .map(|own| own.as_ref().map_or("-".to_owned(), |own| text(own.as_ref(), row)))
                .collect::<Vec<_>>()
                .join(" ")
        }));
    }
    lines
}

fn written(graph: &dyn Source) -> Result<Vec<u8>, Error> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("x.graphml");
    let staging = Staging::file(&Location::from_path(&path), Mode::CreateNew).unwrap();
    let mut sink: Box<dyn Sink> =
        Box::new(RecordWriter::create(&staging, graph.graph(), GraphMl::form(), &WriteOptions::default())?);
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

const EVERYTHING: &str = r##"<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment --><g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <g:key id="d0" for="node" attr.name="color" attr.type="string"><g:desc>no</g:desc><g:default>yel&amp;low</g:default></g:key>
  <g:key id="d1" for="edge" attr.name="weight" attr.type="double"/>
  <g:key id="d2" for="all" attr.name="ok" attr.type="boolean"/>
  <g:key id="d3" for="node" yfiles.type="nodegraphics"/>
  <g:key id="d4" for="node" attr.name="size" attr.type="int"/>
  <g:key id="d5" for="graph" attr.name="made" attr.type="long"/>
  <g:graph id="G" edgedefault="undirected">
    <g:data key="d5">2020</g:data>
    <g:node id="a"><g:data key="d2">True</g:data><g:data key="d3">
      <y:ShapeNode><y:Fill color="#fff"/>x &amp; y</y:ShapeNode>
    </g:data><g:port name="p"/></g:node>
    <g:edge id="e1" source="a" target="b&#10;c" sourceport="p"><g:data key="d1">1e3</g:data></g:edge>
    <g:node id="b&#10;c"><g:data key="d0"><![CDATA[<red>]]></g:data><g:data key="d4">3000000000</g:data></g:node>
    <g:edge source="a" target="a" directed="true"><g:data key="d1"> INF </g:data><g:data key="d2"/></g:edge>
  </g:graph>
</g:graphml>
"##;

#[test]
fn what_dialects_have() {
    let graph = open(EVERYTHING.as_bytes()).unwrap();
    let types: Vec<String> =
        graph.graph().nodes[0].properties.iter().map(|own| format!("{} {}", own.name, own.data_type)).collect();
    assert_eq!(types, ["color Utf8", "ok Boolean", "nodegraphics Utf8", "size Int64"]);
    let edge = &graph.graph().edges[0];
    assert_eq!((edge.direction, edge.properties.len()), (Direction::PerRow, 3));
    let expected = [
        r##""a" "yel&low" true "<y:ShapeNode><y:Fill color=\"#fff\"/>x &amp; y</y:ShapeNode>" -"##,
        r#""b\nc" "<red>" - - 3000000000"#,
        r#""a" "b\nc" 1000.0 - "e1" false"#,
        r#""a" "a" inf - - true"#,
    ];
    let mut found = shown(&graph);
    found.sort();
    let mut wanted: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
    wanted.sort();
    assert_eq!(found, wanted);
    let noticed: Vec<String> =
        graph.about().findings.by_rule().flat_map(|(_, kept)| kept).map(|finding| finding.message.clone()).collect();
    assert_eq!(noticed, ["2 ports, locators and descriptions are not read"]);
    assert_eq!(graph.graph().name.as_deref(), Some("G"));
    assert!(format!("{:?}", graph.graph().documents).contains("{\\\"made\\\":2020}"), "{:?}", graph.graph().documents);
    let again = written(&graph).unwrap();
    let back = open(&again).unwrap();
    let mut found = shown(&back);
    found.sort();
    assert_eq!(found, wanted, "{}", String::from_utf8_lossy(&again));
    assert_eq!(back.graph().documents, graph.graph().documents);
    assert_eq!(back.graph().nodes[0].properties[2].declared, graph.graph().nodes[0].properties[2].declared);
    let near =
        graph.neighbors(0, NodeId::Key("a"), Side::Out).unwrap().map(|batch| batch.unwrap().rows()).sum::<usize>();
    assert_eq!(near, 2);
    assert!(graph.neighbors(0, NodeId::Key("z"), Side::Out).is_err());
}

/// Returns a graph with this content.
fn with(inside: &str) -> String {
    format!(
        "<graphml><key id=\"k\" for=\"node\" attr.name=\"k\" attr.type=\"int\"/><graph edgedefault=\"directed\">{inside}</graph></graphml>"
    )
}

#[test]
fn hyperedges_are_hyperedges() {
    let inside = r#"<node id="a"/><node id="b"/><hyperedge id="h"><endpoint node="a" type="in"/><endpoint node="b" type="out"/></hyperedge><hyperedge id="i"><endpoint node="a"/></hyperedge>"#;
    let graph = open(with(inside).as_bytes()).unwrap();
    let ty = &graph.graph().hyperedges[0];
    assert_eq!((ty.direction, ty.rows), (Direction::PerRow, Some(2)));
    let members: Vec<String> = MemoryGraph::read(&graph)
        .unwrap()
        .batches
        .iter()
        .filter_map(|batch| match batch {
            Batch::Members(members) => Some(members.roles.iter().flatten().map(str::to_owned).collect::<Vec<_>>()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(members, ["head", "tail", "member"]);
}

#[test]
fn what_is_no_graphml_is_told_by_rule_and_place() {
    let deep = format!("<node id=\"a\"><data key=\"k\">{}1{}</data></node>", "<b>".repeat(200), "</b>".repeat(200));
    let cases = [
        ("<node id=\"a\"><graph/></node>", "GRAPHML-NESTED"),
        ("<graph/>", "GRAPHML-NESTED"),
        ("<node/>", "GRAPHML-ID"),
        ("<edge source=\"a\"/>", "GRAPHML-END"),
        ("<edge source=\"a\" target=\"b\" directed=\"maybe\"/>", "GRAPHML-SYNTAX"),
        ("<hyperedge><endpoint node=\"a\"/></hyperedge>", "GRAPHML-HYPEREDGE"),
        ("<node id=\"a\"><data key=\"none\">1</data></node>", "GRAPHML-KEY"),
        ("<edge source=\"a\" target=\"a\"><data key=\"k\">1</data></edge>", "GRAPHML-KEY"),
        ("<node id=\"a\"><data key=\"k\">one</data></node>", "GRAPHML-VALUE"),
        ("<node id=\"a\"><data key=\"k\">&bomb;</data></node>", "GRAPHML-SYNTAX"),
        ("<node id=\"&bomb;\"/>", "GRAPHML-SYNTAX"),
        ("text", "GRAPHML-SYNTAX"),
        ("<node id=\"a\"></edge>", "GRAPHML-SYNTAX"),
        ("<node id=\"a\" id=\"b\"/>", "GRAPHML-SYNTAX"),
        ("<node id=\"a<b\"/>", "GRAPHML-SYNTAX"),
        ("<node id=\"a&#1;\"/>", "GRAPHML-SYNTAX"),
        ("<edge source=\"a\"target=\"a\"/>", "GRAPHML-SYNTAX"),
        ("<z:node id=\"a\"/>", "GRAPHML-SYNTAX"),
        ("<?xml version=\"1.0\"?>", "GRAPHML-SYNTAX"),
        ("<!DOCTYPE a>", "GRAPHML-SYNTAX"),
        ("<!-- a -- b -->", "GRAPHML-SYNTAX"),
        (deep.as_str(), "GRAPHML-LIMIT"),
    ];
    for (inside, rule) in cases {
        let error = open(with(inside).as_bytes()).err().unwrap_or_else(|| panic!("{inside}"));
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some(rule), "{inside}: {error:?}");
    }
    let whole = with("<node id=\"a\"/><edge source=\"a\" target=\"a\"/>");
    for end in 0..whole.len() {
        assert!(open(&whole.as_bytes()[..end]).is_err(), "{}", &whole[..end]);
    }
    for (text, rule) in [
        ("<!DOCTYPE g [<!ENTITY a \"b\">]><graphml><graph/></graphml>", "GRAPHML-SYNTAX"),
        ("<graphml><graph/><graph/></graphml>", "GRAPHML-NESTED"),
        ("<graphml/>", "GRAPHML-SYNTAX"),
        ("<gexf/>", "GRAPHML-SYNTAX"),
        ("<graphml><key id=\"a\"/><key id=\"a\"/><graph/></graphml>", "GRAPHML-KEY"),
        ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><graphml><graph/></graphml>", "GRAPHML-SYNTAX"),
        ("<graphml><graph/></graphml><x/>", "GRAPHML-SYNTAX"),
    ] {
        let error = open(text.as_bytes()).err().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some(rule), "{text}: {error:?}");
    }
    let many: String = (0..300).map(|at| format!(" xmlns:p{at}=\"urn:{at}\"")).collect();
    assert_eq!(rule(&format!("<graphml{many}><graph/></graphml>")), Some("GRAPHML-LIMIT"));
    let tag = format!("<graphml><graph a=\"{}\"/></graphml>", "x".repeat(2 << 20));
    assert_eq!(open(tag.as_bytes()).err().unwrap().broken_rule().map(|rule| rule.id), Some("GRAPHML-LIMIT"));
}

#[test]
fn validate_finds_ids_twice_and_ends_that_are_no_nodes() {
    for memory in [1 << 30, 8 << 20] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("graph.graphml");
        std::fs::write(&path, with("<node id=\"a\"/><node id=\"a\"/><edge source=\"a\" target=\"b\"/>")).unwrap();
        let options = OpenOptions { budget: Budget::new(memory), ..OpenOptions::default() };
        let graph = RecordGraph::open(&Location::from_path(&path), &GraphMl, options).unwrap();
        let mut findings = Findings::keeping(9);
        graph.validate(&mut findings).unwrap();
        let rules: Vec<&str> = findings.by_rule().flat_map(|(_, kept)| kept).map(|finding| finding.rule.id).collect();
        assert_eq!(rules, ["GRAPHML-END", "GRAPHML-ID"]);
        let ends = "<endpoint node=\"a\"/><endpoint node=\"b\"/>";
        let twice = format!("<node id=\"a\"/><hyperedge id=\"h\">{ends}</hyperedge><hyperedge id=\"h\"/>");
        std::fs::write(&path, with(&twice)).unwrap();
        let options = OpenOptions { budget: Budget::new(memory), ..OpenOptions::default() };
        let mut findings = Findings::keeping(9);
        RecordGraph::open(&Location::from_path(&path), &GraphMl, options).unwrap().validate(&mut findings).unwrap();
        let rules: Vec<&str> = findings.by_rule().flat_map(|(_, kept)| kept).map(|finding| finding.rule.id).collect();
        assert_eq!(rules, ["GRAPHML-END", "GRAPHML-HYPEREDGE"]);
    }
}

/// Returns a graph of directed edges with these keys and this content.
fn keyed(keys: &str, inside: &str) -> String {
    format!("<graphml>{keys}<graph edgedefault=\"directed\">{inside}</graph></graphml>")
}

fn key(id: &str, of: &str, name: &str, word: &str, default: &str) -> String {
    format!("<key id=\"{id}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{word}\">{default}</key>")
}

/// Returns the nodes with these values of key `k`.
fn values(keys: &str, all: &[&str]) -> Result<Vec<String>, Error> {
    let nodes: Vec<String> =
        all.iter().enumerate().map(|(at, data)| format!("<node id=\"{at}\">{data}</node>")).collect();
    let graph = open(keyed(keys, &nodes.concat()).as_bytes())?;
    Ok(shown(&graph).iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect())
}

fn rules_of(text: &str) -> Vec<&'static str> {
    let graph = open(text.as_bytes()).unwrap();
    graph.about().findings.by_rule().flat_map(|(_, kept)| kept).map(|finding| finding.rule.id).collect()
}

fn rule(text: &str) -> Option<&'static str> {
    open(text.as_bytes()).err().unwrap_or_else(|| panic!("{text}")).broken_rule().map(|rule| rule.id)
}

#[test]
fn floats_are_doubles() {
    let float = key("k", "node", "k", "float", "");
    let data = |text: &str| format!("<data key=\"k\">{text}</data>");
    let all = ["0.1", "16777217", "1e300", "123456789.125", "-INF"].map(data);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(values(&float, &all).unwrap(), ["0.1", "16777217.0", "1e300", "123456789.125", "-inf"]);
    assert!(values(&float, &[&data("1e400")]).is_err());
}

#[test]
fn numbers_of_one_name_are_one_property() {
    let keys = key("i", "node", "w", "long", "") + &key("d", "node", "w", "double", "");
    let all =
        ["<data key=\"i\">3</data>", "<data key=\"d\">2.5</data>", "", "<data key=\"i\">-9007199254740992</data>"];
    assert_eq!(values(&keys, &all).unwrap(), ["3.0", "2.5", "-", "-9007199254740992.0"]);
    assert!(rules_of(&keyed(&keys, "<node id=\"a\"/>")).is_empty());
    assert!(values(&keys, &["<data key=\"i\">9007199254740993</data>"]).is_err());
    assert!(values(&keys, &["<data key=\"i\">1</data><data key=\"d\">2</data>"]).is_err());
    let whole = key("i", "node", "w", "int", "") + &key("l", "node", "w", "long", "");
    assert_eq!(
        values(&whole, &["<data key=\"i\">3</data>", "<data key=\"l\">5000000000</data>"]).unwrap(),
        ["3", "5000000000"]
    );
    let other = key("i", "node", "w", "long", "") + &key("s", "node", "w", "string", "");
    assert_eq!(values(&other, &["<data key=\"i\">3</data>", "<data key=\"s\">x</data>"]).unwrap(), ["3 -", "- \"x\""]);
    assert_eq!(rules_of(&keyed(&other, "<node id=\"a\"/>")), ["GRAPHML-NAME"]);
}

#[test]
fn keys_of_one_id_are_told_apart_by_what_they_are_for() {
    let keys = key("w", "node", "w", "string", "") + &key("w", "edge", "w", "double", "");
    let inside =
        "<node id=\"a\"><data key=\"w\">x</data></node><edge source=\"a\" target=\"a\"><data key=\"w\">2</data></edge>";
    assert_eq!(shown(&open(keyed(&keys, inside).as_bytes()).unwrap()), ["\"a\" \"x\"", "\"a\" \"a\" 2.0"]);
    let both = key("w", "all", "w", "string", "") + &key("w", "edge", "w", "double", "");
    assert_eq!(rule(&keyed(&both, "")), Some("GRAPHML-KEY"));
}

#[test]
fn defaults_are_values_where_nothing_is_said() {
    let keys = key("k", "node", "k", "double", "<default>1.5</default>");
    assert_eq!(
        values(&keys, &["", "<data key=\"k\"></data>", "<data key=\"k\">2</data>"]).unwrap(),
        ["1.5", "1.5", "2.0"]
    );
    let text = key("k", "node", "k", "string", "<default>x</default>");
    assert_eq!(values(&text, &["", "<data key=\"k\"/>"]).unwrap(), ["\"x\"", "\"\""]);
    let of_graph = key("g", "graph", "made", "long", "<default>7</default>");
    let graph = open(keyed(&of_graph, "").as_bytes()).unwrap();
    assert!(format!("{:?}", graph.graph().documents).contains("{\\\"made\\\":7}"), "{:?}", graph.graph().documents);
    let twice = format!("<graphml>{of_graph}<graph><data key=\"g\">1</data></graph><data key=\"g\">2</data></graphml>");
    assert_eq!(rule(&twice), Some("GRAPHML-KEY"));
}

#[test]
fn edges_without_edgedefault_are_undirected() {
    let graph = |attributes: &str, edges: [&str; 2]| {
        let edges = edges.map(|own| format!("<edge source=\"a\" target=\"a\" {own}/>")).concat();
        format!("<graphml><graph {attributes}><node id=\"a\"/>{edges}</graph></graphml>")
    };
    let direction = |text: &str| open(text.as_bytes()).unwrap().graph().edges[0].direction;
    let [yes, no] = ["directed=\"true\"", "directed=\"false\""];
    assert_eq!(direction(&graph("", ["", ""])), Direction::Undirected);
    assert_eq!(rules_of(&graph("", ["", ""])), ["GRAPHML-DIRECTION"]);
    assert_eq!(direction(&graph("edgedefault=\"directed\"", ["", no])), Direction::PerRow);
    assert_eq!(direction(&graph("edgedefault=\"undirected\"", ["", yes])), Direction::PerRow);
}

#[test]
fn elements_of_others_are_no_nodes() {
    let inside = "<node id=\"a\"/><o:node xmlns:o=\"urn:other\" id=\"b\"/><Node id=\"c\"/>";
    let text = keyed("", inside);
    assert_eq!(shown(&open(text.as_bytes()).unwrap()), ["\"a\""]);
    assert_eq!(rules_of(&text), ["GRAPHML-ELEMENT"]);
    assert_eq!(shown(&open(keyed("", "<node id=\"a\n\tb\r\nc&#10;\"/>").as_bytes()).unwrap()), [r#""a  b c\n""#]);
    // Also in CDATA sections.
    let key = "<key id=\"k\" for=\"node\" attr.name=\"t\" attr.type=\"string\"/>";
    let nodes = "<node id=\"n\"><data key=\"k\"><![CDATA[a\r\nb\rc]]></data></node><node id=\"m\"><data key=\"k\">a\r\nb\rc</data></node>";
    let expected = [r#""n" "a\nb\nc""#, r#""m" "a\nb\nc""#];
    assert_eq!(shown(&open(keyed(key, nodes).as_bytes()).unwrap()), expected);
}

#[test]
fn the_last_of_several_values_is_read_and_the_others_are_told() {
    let key = "<key id=\"k\" for=\"node\" attr.name=\"t\" attr.type=\"int\"/>";
    let value = |text: &str| format!("<data key=\"k\">{text}</data>");
    let inside = format!("<node id=\"a\">{}{}</node><node id=\"b\">{}</node>", value("1"), value("2"), value("3"));
    let text = keyed(key, &inside);
    let graph = open(text.as_bytes()).unwrap();
    let column = MemoryGraph::read(&graph).unwrap().batches.iter().find_map(|batch| match batch {
        Batch::Nodes(nodes) => nodes.properties.first().cloned().flatten(),
        _ => None,
    });
    assert_eq!(column.unwrap().as_primitive::<Int32Type>().values().to_vec(), [2, 3]);
    assert_eq!(rules_of(&text), ["GRAPHML-REPEATED"]);
}

#[test]
fn hyperedges_with_a_direction_can_have_members() {
    let inside = r#"<node id="a"/><hyperedge id="h"><endpoint node="a" type="in"/><endpoint node="a"/></hyperedge>"#;
    assert_eq!(open(with(inside).as_bytes()).unwrap().graph().hyperedges[0].direction, Direction::PerRow);
}

/// Whatever the value of a yEd key, the file is well-formed, and the value is read back.
#[test]
fn values_of_yed_come_back() {
    use isomorph_zoo::{Build, Edges, Nodes, text};
    let all = [
        "plain & text",
        "<y:A b=\"1\">x &amp; y<y:C/></y:A>",
        "</data></node><node id=\"evil\"/>",
        "<y:A/></data><data key=\"n0\">",
        "<z:A/>",
        "<z:A xmlns:z=\"urn:z\" z:b='1'/>",
        "<y:A xmlns:y=\"urn:other\"/>",
        "<A",
        "<A b=1/>",
        "<A b=\"1\" b=\"2\"/>",
        "<A><B></A></B>",
        "<A>&no;</A>",
        "<A/><!-- c -->",
        " <A/> ",
        "<A/>tail",
        "<![CDATA[x]]>",
        "<A><![CDATA[<]]></A>",
        "<?pi?>",
        "",
        "<A>\r</A>",
        "<A b=\"1\"c=\"2\"/>",
        "<A>]]></A>",
        "a<b>c</b>",
        "<A b=\"&#1;\"/>",
        "<A>&#x1;</A>",
        "<A z:b=\"1\"/>",
        "<!DOCTYPE a><A/>",
        "<A/>\n<B/>",
        "<A b=\"<\"/>",
    ];
    let names: Vec<String> = (0..all.len()).map(|at| at.to_string()).collect();
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("node", text(names.iter().map(String::as_str))).column("x", text(all)));
    build.edges(Edges::keys(node, "edge", node, text(["0"]), text(["0"])));
    let mut graph = build.finish();
    graph.graph.nodes[0].properties[0].declared.insert("yfiles.type".to_owned(), "x".to_owned());
    let bytes = written(&graph).unwrap();
    let back = open(&bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)));
    assert_eq!(shown(&back), shown(&graph), "{}", String::from_utf8_lossy(&bytes));
    assert!(back.about().findings.by_rule().next().is_none());
    let raw = String::from_utf8(bytes).unwrap();
    assert!(
        raw.contains("<data key=\"n0\"><y:A b=\"1\">") && raw.contains("&lt;z:A/&gt;") && raw.contains("<z:A xmlns"),
        "{raw}"
    );
}

/// A prefix that is declared outside is kept.
#[test]
fn values_of_yed_keep_their_namespaces() {
    let file = "<graphml xmlns:y=\"urn:own\" xmlns:q=\"urn:q\"><key id=\"k\" for=\"node\" yfiles.type=\"x\"/><graph edgedefault=\"directed\"><node id=\"a\"><data key=\"k\"><y:A/><y:B/></data></node></graph></graphml>";
    let graph = open(file.as_bytes()).unwrap();
    assert_eq!(shown(&graph), [r#""a" "<y:A xmlns:y=\"urn:own\"/><y:B xmlns:y=\"urn:own\"/>""#]);
    assert_eq!(shown(&open(&written(&graph).unwrap()).unwrap()), shown(&graph));
}

#[test]
fn a_character_that_xml_lacks_is_refused() {
    use isomorph_zoo::{Build, Edges, Nodes, text};
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("node", text(["a"])).column("t", text(["bad \u{1}"])));
    build.edges(Edges::keys(node, "edge", node, text(["a"]), text(["a"])));
    let error = written(&build.finish()).err().unwrap();
    assert!(error.to_string().contains("U+0001"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever can be opened can be read, and reading never panics.
    #[test]
    fn random_pieces(pieces in prop::collection::vec(prop::sample::select(vec![
        "<node id=\"a\">", "</node>", "<node id=\"b\"/>", "<edge source=\"a\" target=\"b\"/>", "<data key=\"k\">", "</data>", "<data key=\"k\"/>",
        "7", " ", "&lt;", "&#0;", "&#xd800;", "<![CDATA[x]]>", "<!-- -->", "<y:z/>", "<desc>", "</desc>", "\"", "<", "&", "</graph>", "<graph>",
        "<hyperedge id=\"h\">", "</hyperedge>", "<endpoint node=\"a\"/>", "\u{fffd}",
    ]), 0..14)) {
        if let Ok(graph) = open(with(&pieces.concat()).as_bytes()) {
            // Unless opening has found that an id or an end is wrong.
            if let Err(error) = MemoryGraph::read(&graph) {
                let rule = error.broken_rule().unwrap_or_else(|| panic!("{error:?}"));
                prop_assert!(graph.about().findings.count(rule) > 0, "{error:?}");
            }
        }
    }

    /// Texts of any kind are read back from all places where they are written.
    #[test]
    fn random_texts(texts in prop::collection::btree_set("[ -~\\t\\n\\r\u{e9}\u{4e2d}]{0,6}", 1..5)) {
        use isomorph_zoo::{Build, Edges, Nodes, text};
        let all: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut build = Build::default();
        let node = build.nodes(Nodes::keyed("node", text(all.clone())).column(all[0], text(all.clone())));
        let ends = vec![all[0]; all.len()];
        build.edges(Edges::keys(node, "edge", node, text(ends), text(all.clone())).column("t", text(all.clone())));
        let graph = build.finish();
        let bytes = written(&graph).unwrap();
        let back = open(&bytes).unwrap();
        prop_assert_eq!(shown(&back), shown(&graph));
        prop_assert_eq!(&back.graph().nodes[0].properties[0].name, all[0]);
    }
}

#[test]
fn utf_16_is_decoded() {
    let text = |encoding: &str| {
        format!(
            "<?xml version=\"1.0\"{encoding}?><graphml><graph edgedefault=\"directed\"><node id=\"é\u{1f600}\"/><node id=\"b\"/><edge source=\"b\" target=\"é\u{1f600}\"/></graph></graphml>"
        )
    };
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let whole = shown(&open(text("").as_bytes()).unwrap());
    assert_eq!(whole, ["\"é\u{1f600}\"", "\"b\"", "\"b\" \"é\u{1f600}\""]);
    for encoding in ["", " encoding=\"UTF-16\"", " encoding='utf-16LE'"] {
        for bytes in [little(&text(encoding)), little(&format!("\u{feff}{}", text(encoding)))] {
            assert_eq!(shown(&open(&bytes).unwrap()), whole, "{encoding}");
            let home = tempfile::tempdir().unwrap();
            let path = home.path().join("graph");
            std::fs::write(&path, &bytes).unwrap();
            assert!(GraphMl::detect(&Location::from_path(&path)).unwrap());
        }
    }
    assert_eq!(shown(&open(&big(&text(" encoding=\"UTF-16\""))).unwrap()), whole);
    assert_eq!(shown(&open(&big(&format!("\u{feff}{}", text(" encoding=\"UTF-16BE\"")))).unwrap()), whole);
    for (bytes, message) in [
        (text(" encoding=\"UTF-16\"").into_bytes(), "the declared encoding is utf-16"),
        (little(&text(" encoding=\"UTF-8\"")), "the declared encoding is utf-8, but its bytes are UTF-16"),
        (little(&text(" encoding=\"UTF-16BE\"")), "the declared encoding is utf-16be, but its bytes are UTF-16"),
        ([little(&text("")).as_slice(), b"x"].concat(), "the text in UTF-16 ends within a character"),
        (
            [little("<?xml version=\"1.0\"?><graphml>").as_slice(), &[0, 0xdc]].concat(),
            "the text is not UTF-16: half a character stands alone",
        ),
    ] {
        let error = open(&bytes).err().unwrap();
        assert_eq!((error.broken_rule().unwrap().id, error.message()), ("GRAPHML-SYNTAX", message));
    }
}

#[test]
fn elements_without_an_id_or_an_end_are_set_aside() {
    let ends = "<endpoint node=\"a\"/>";
    let text = with(&format!(
        "<node id=\"a\"/><node/><node id=\"b\"/><edge source=\"a\" target=\"b\"/><edge source=\"a\"/><edge target=\"a\"/><hyperedge>{ends}</hyperedge><hyperedge id=\"h\">{ends}</hyperedge><node id=\"a\"/>"
    ));
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.graphml");
    std::fs::write(&path, &text).unwrap();
    let options = OpenOptions { lenient: true, ..OpenOptions::default() };
    let graph = RecordGraph::open(&Location::from_path(&path), &GraphMl, options).unwrap();
    assert_eq!(shown(&graph)[..3], ["\"a\" -", "\"b\" -", "\"a\" \"b\""]);
    assert_eq!(graph.graph().hyperedges[0].rows, Some(1));
    let mut rules: Vec<&str> = graph.set_aside().iter().map(|one| one.rule.id).collect();
    rules.sort_unstable();
    assert_eq!(rules, ["GRAPHML-END", "GRAPHML-END", "GRAPHML-HYPEREDGE", "GRAPHML-ID", "GRAPHML-ID"]);
    assert_eq!(open(text.as_bytes()).err().unwrap().broken_rule().unwrap().id, "GRAPHML-ID");
}
