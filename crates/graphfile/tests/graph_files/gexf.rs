//! GEXF.

use isomorph_graphfile::RecordGraph;
use isomorph_graphfile::gexf::Gexf;
use isomorph_model::{Direction, Source};

use crate::{again, found, gexf, open_as, rule, shown, written};

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
        (graph("<edges><edge source=\"a\"/></edges>"), "GEXF-END"),
        (gexf("<graph defaultedgetype=\"both\"/>"), "GEXF-SYNTAX"),
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

/// The words of lines, sorted: properties of a file that is written may have another order.
/// NetworkX writes a property `type` of edges as this attribute, whatever it says.
#[test]
fn a_type_of_an_edge_that_is_no_direction_is_a_property() {
    let edges = ["friend", "directed", "undirected"]
        .map(|word| format!("<edge source=\"a\" target=\"b\" type=\"{word}\"/>"))
        .concat();
    let graph = gexf(&format!(
        "<graph defaultedgetype=\"undirected\"><nodes><node id=\"a\"/><node id=\"b\"/></nodes><edges>{edges}</edges></graph>"
    ))
    .unwrap();
    let ty = &graph.graph().edges[0];
    assert_eq!((ty.properties.len(), ty.properties[0].name.as_str()), (1, "type"));
    assert_eq!(ty.direction, Direction::PerRow);
    let lines = shown(&graph);
    assert_eq!(lines.iter().filter(|line| line.contains("friend")).count(), 1, "{lines:#?}");
    let back = again(&Gexf, Gexf::form(), &graph);
    assert_eq!(shown(&back), lines);
}

#[test]
fn characters_that_xml_lacks_are_named_with_their_place() {
    let text = "{\"nodes\": [{\"id\": \"a\"}, {\"id\": \"b\", \"name\": \"x\\u0001\"}], \"edges\": []}";
    let error = written(Gexf::form(), &crate::json(text).unwrap()).unwrap_err();
    assert!(error.message().contains("U+0001"), "{error:?}");
    assert_eq!((error.place().row, error.place().field.as_deref()), (Some(1), Some("nodes.name")), "{error:?}");
    assert!(error.hints().any(|hint| hint.starts_with("--to")), "{error:?}");
}

fn sorted(graph: &RecordGraph) -> Vec<Vec<String>> {
    let words = |line: &String| {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        words.sort();
        words
    };
    shown(graph).iter().map(words).collect()
}

/// Times in all the ways of GEXF 1.1 to 1.3, on nodes, edges and values.
#[test]
fn all_times_are_kept() {
    let graph = gexf(
        r#"<graph mode="dynamic" timeformat="double" defaultedgetype="directed"><attributes class="node" mode="dynamic"><attribute id="p" title="price" type="double"/></attributes>
        <nodes><node id="0" startopen="1" endopen="2" timestamp="3" timestamps="[1,2]" intervals="&lt;[1,2]&gt;"><attvalues>
        <attvalue for="p" value="1" startopen="2" end="3"/><attvalue for="p" value="2" timestamp="1"/><attvalue for="p" value="3" start="1" endopen="2" timestamps="[1]" intervals="[2,3]"/></attvalues></node></nodes>
        <edges><edge id="e" source="0" target="0" startopen="4" endopen="5" timestamp="6"/></edges></graph>"#,
    )
    .unwrap();
    let names = |all: &[isomorph_model::Property]| all.iter().map(|own| own.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        names(&graph.graph().nodes[0].properties),
        ["price", "startopen", "endopen", "timestamp", "timestamps", "intervals"]
    );
    assert_eq!(names(&graph.graph().edges[0].properties), ["id", "startopen", "endopen", "timestamp"]);
    let values = r#"[[1.0,null,\"3\",{\"startopen\":\"2\"}],[2.0,null,null,{\"timestamp\":\"1\"}],[3.0,\"1\",null,{\"endopen\":\"2\",\"timestamps\":\"[1]\",\"intervals\":\"[2,3]\"}]]"#;
    assert_eq!(
        shown(&graph),
        [format!(r#""0" "{values}" "1" "2" "3" "[1,2]" "<[1,2]>""#), r#""0" "0" "e" "4" "5" "6""#.to_owned()]
    );
    assert_eq!(found(&graph), [""; 0]);
    let back = again(&Gexf, Gexf::form(), &graph);
    assert_eq!(sorted(&back), sorted(&graph));
}

#[test]
fn what_is_not_read_is_found() {
    let text = r#"<graph><attributes class="node" start="1"><attribute id="s" title="s" type="string" unit="m"/></attributes>
        <nodes><node id="0" degree="3"><attvalues><attvalue for="s" value="x" start="1"/></attvalues></node></nodes>
        <edges><edge id="e" source="0" target="0" colour="red" xmlns:a="b"/></edges></graph>"#;
    let graph = gexf(text).unwrap();
    let mut findings = isomorph_error::Findings::keeping(9);
    graph.validate(&mut findings).unwrap();
    let messages: Vec<&str> =
        findings.by_rule().flat_map(|(_, kept)| kept).map(|finding| finding.message.as_str()).collect();
    assert_eq!(messages, ["5 attributes of elements are not read; the first is start"]);
    // Content of elements that have none, and elements of which there is one.
    let text = r#"<graph><nodes><node id="0"><viz:color r="1"><a/></viz:color><viz:color r="2"/><spells/><slices/></node></nodes>
        <edges><edge source="0" target="0"><spells><spell start="1"><b/></spell></spells></edge></edges></graph>"#;
    let mut findings = isomorph_error::Findings::keeping(9);
    gexf(text).unwrap().validate(&mut findings).unwrap();
    let messages: Vec<&str> =
        findings.by_rule().flat_map(|(_, kept)| kept).map(|finding| finding.message.as_str()).collect();
    assert_eq!(messages, ["4 elements are not read; the first is a"]);
}

#[test]
fn defaults_of_values_with_times_and_options_are_kept() {
    let attributes = r#"<attributes class="node" mode="dynamic"><attribute id="p" title="price" type="double"><default>1.5</default><options>1.5|2</options></attribute></attributes>"#;
    let text = format!(
        r#"<graph mode="dynamic" timeformat="double">{attributes}<nodes><node id="0"/><node id="1"><attvalues><attvalue for="p" value="2" start="1" end="2"/></attvalues></node></nodes></graph>"#
    );
    let graph = gexf(&text).unwrap();
    assert_eq!(shown(&graph), [r#""0" "[[1.5,null,null]]""#, r#""1" "[[2.0,\"1\",\"2\"]]""#]);
    let bytes = String::from_utf8(written(Gexf::form(), &graph).unwrap()).unwrap();
    assert!(bytes.contains("<default>1.5</default><options>1.5|2</options></attribute>"), "{bytes}");
    // An element that has the default needs no value: NetworkX reads no value without times.
    assert!(bytes.contains("<node id=\"0\"/>"), "{bytes}");
    let back = open_as(&Gexf, bytes.as_bytes()).unwrap();
    assert_eq!(shown(&back), shown(&graph));
    assert_eq!(back.graph().nodes, graph.graph().nodes);
}

/// NetworkX opens times only if the graph states their format.
#[test]
fn graphs_with_times_state_their_format() {
    let spells = |inside: &str| format!("<nodes><node id=\"0\"><spells>{inside}</spells></node></nodes>");
    for (head, nodes, expected) in [
        ("", spells("<spell start=\"1\" end=\"2.5\"/>"), r#"{"mode":"dynamic","timeformat":"double"}"#),
        (" mode=\"static\"", spells("<spell start=\"1\"/>"), r#"{"mode":"dynamic","timeformat":"date"}"#),
        ("", spells("<spell start=\"2001-01-01\" end=\"x\"/>"), r#"{"mode":"dynamic","timeformat":"date"}"#),
        ("", "<nodes><node id=\"0\" start=\"1\"/></nodes>".to_owned(), r#"{"mode":"dynamic","timeformat":"double"}"#),
        (
            " type=\"dynamic\" timeformat=\"integer\"",
            "<nodes><node id=\"0\" end=\"1\"/></nodes>".to_owned(),
            r#"{"mode":"dynamic","timeformat":"integer"}"#,
        ),
    ] {
        let graph = gexf(&format!("<graph{head}>{nodes}</graph>")).unwrap();
        let isomorph_model::schema::DocumentBody::Json(document) = &graph.graph().documents[0].body else { panic!() };
        assert_eq!(document, expected);
        let back = again(&Gexf, Gexf::form(), &graph);
        assert_eq!(back.graph().documents, graph.graph().documents);
        assert_eq!(shown(&back), shown(&graph));
    }
    assert_eq!(gexf("<graph mode=\"static\"/>").unwrap().graph().documents, []);
}

/// NetworkX gives every node a label, in place of a declared attribute of this title.
#[test]
fn labels_of_nodes_are_no_declared_attributes() {
    let graph = crate::json(
        r#"{"directed": true, "nodes": [{"id": "a", "label": [1]}, {"id": "b", "label": "x"}], "edges": [{"source": "a", "target": "b", "label": 3}]}"#,
    )
    .unwrap();
    let property = &graph.graph().nodes[0].properties[0];
    assert!(Gexf::holds(property, false) && property.kind == isomorph_model::ValueKind::Json, "{property:?}");
    let text = String::from_utf8(written(Gexf::form(), &graph).unwrap()).unwrap();
    assert!(
        text.contains("<node id=\"a\" label=\"[1]\"/>") && text.contains("title=\"label\" type=\"long\""),
        "{text}"
    );
    for (data_type, of_edge, expected) in [
        (arrow_schema::DataType::Int64, false, false),
        (arrow_schema::DataType::Boolean, false, false),
        (arrow_schema::DataType::Utf8, false, true),
        (arrow_schema::DataType::Int64, true, true),
    ] {
        let property = isomorph_model::Property::new("label", data_type);
        assert_eq!(Gexf::holds(&property, of_edge), expected, "{property:?}");
    }
}
