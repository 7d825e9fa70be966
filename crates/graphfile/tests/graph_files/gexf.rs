//! GEXF.

use isomorph_graphfile::RecordGraph;
use isomorph_graphfile::gexf::Gexf;
use isomorph_model::{Direction, Source};

use crate::{again, found, gexf, open_as, rule, shown};

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
