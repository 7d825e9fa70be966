//! Edge lists, other notations of lines, GraphML and other files of graph tools: read in any batches they are the same, and what they hold comes back from where it is written.

use isomorph::convert::{ConvertOptions, Format, OpenOptions, Opened, Plan, Silent, convert};
use isomorph::model::{Batch, Request, Tables};
use isomorph::{Kind, Location, Result};

use crate::home::{home, resources};

pub(crate) const LIST_WORDS: &[&str] = &[
    "\n",
    "\t",
    " ",
    ",",
    "# Undirected graph\n",
    "# FromNodeId\tToNodeId\tweight\n",
    "% sym\n",
    "source,target\n",
    "1 2\n",
    "n0 n1 {'w': 1}\n",
    "{'a': [1, (2, 'x')]}",
    "{}",
    "'\\x41'",
    "nan",
    "0012",
    "1e5",
    "\"a\"\"b\"",
    "\r\n",
    "\u{feff}",
    "None",
];

pub(crate) const XML_WORDS: &[&str] = &[
    "<node id=\"a\">",
    "</node>",
    "<node id=\"b\"/>",
    "<edge source=\"a\" target=\"b\" directed=\"false\" id=\"0\">",
    "</edge>",
    "<data key=\"k\">",
    "</data>",
    "<key id=\"k\" for=\"all\" attr.name=\"k\" attr.type=\"int\"><default>1</default></key>",
    "<hyperedge id=\"h\"><endpoint node=\"a\"/>",
    "</hyperedge>",
    "&lt;",
    "&#10;",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<!DOCTYPE x>",
    "edgedefault=\"undirected\"",
    "True",
    "INF",
];

pub(crate) fn list_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "# Undirected graph: a\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\tweight\n1\t2\t0.5\n2\t3\t1.0\n",
        "n0 n1 {'weight': 0.5, 'kind': 'x y'}\nn1 n1 {'l': [1, None, {'a': True}]}\n",
        "source,target,when\na,\"b, c\",2020\nb,a,\n",
        "10 20 1082040961\n20 30 1082041021\n",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn xml_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "<?xml version=\"1.0\"?><graphml><key id=\"k\" for=\"node\" attr.name=\"n\" attr.type=\"double\"/><key id=\"e\" for=\"edge\" attr.name=\"t\" attr.type=\"string\"/><graph edgedefault=\"directed\"><node id=\"a\"><data key=\"k\">1.5</data></node><node id=\"b\"/><edge source=\"a\" target=\"b\" id=\"0\"><data key=\"e\">x &amp; y</data></edge></graph></graphml>",
        "<graphml><graph edgedefault=\"undirected\"><node id=\"a\"/><hyperedge id=\"h\"><endpoint node=\"a\" type=\"in\"/></hyperedge></graph></graphml>",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) const NOTATION_WORDS: &[&str] = &[
    "\n",
    " ",
    "%%MatrixMarket matrix coordinate real general\n",
    "%%MatrixMarket matrix coordinate integer symmetric\n",
    "%%MatrixMarket matrix coordinate pattern general\n",
    "3 3 2\n",
    "1 2 0.5\n",
    "# Adjacency list: undirected graph, each edge once\n",
    "# Multiline adjacency list: directed graph\n",
    "a 1\nb {'w': 1}\n",
    "2 1\n2\n1\n",
    "3 2 011\n",
    "*Vertices 2\n",
    "1 \"a b\" 0.5 0.5 box k 7\n",
    "*Arcs :1 \"k\"\n",
    "*Edges\n",
    "*Arcslist\n",
    "[1-3]",
    "0012",
    "18446744073709551615",
    "1e999",
    "%",
    "\r\n",
    "\u{feff}",
];

pub(crate) fn notation_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n% c\n3 3 2\n2 1 7\n3 1 -2\n",
        "a b c\nb c c\nd\n",
        "a 2\nb {'w': 1, 't': 'x'}\na {}\nb 0\n",
        "4 1\n\n3\n2\n\n",
        "*network n\n*vertices 3\n*edgeslist\n1 2 3\n*arcs\n1 1 2.5 c red\n",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn check_notation(data: &[u8]) {
    check(data, Format::MATRIX_MARKET, "input.mtx");
    check(data, Format::ADJACENCY_LIST, "input.adjlist");
    check(data, Format::MULTILINE, "input.multiline_adjlist");
    check(data, Format::METIS, "input.metis");
    check(data, Format::PAJEK, "input.net");
}

pub(crate) fn check_list(data: &[u8]) {
    check(data, Format::EDGELIST, "input.edges");
}

pub(crate) const APOC_WORDS: &[&str] = &[
    "\n",
    "{\"type\":\"node\",\"id\":\"2\"}\n",
    "{\"type\":\"relationship\",\"label\":\"K\",\"start\":{\"id\":\"0\"},\"end\":{\"id\":\"1\"}}\n",
    "\"labels\":[\"A\"],",
    "\"properties\":{\"a\":1}",
    "\"a\":[1,2.5,\"x\",null]",
    "\"a\":{\"b\":1}",
    "null",
    "1e999",
    "-0",
    "18446744073709551616",
    "\\u0000",
    "[]",
];

pub(crate) const CYPHER_WORDS: &[&str] = &[
    "UNWIND [\n",
    "] AS row\n",
    "] AS key\n",
    "MERGE (n:`p` {id: row.key})\nSET n += row.properties;\n",
    "{key: 1, properties: {a: date(\"2020-01-01\")}}",
    "\"a\\\\\" + \"u\"",
    "[[[[",
    "// ;\n",
    "`a``b`",
    "NaN",
    "-Infinity",
    ";",
    "\\u0041",
    "null",
];

pub(crate) const ATOM_WORDS: &[&str] =
    &["\t", "\n", "\r\n", "a\tb\t0.5\n", "a\tb\n", "1", "1.5", "-0", "NaN", " ", "\u{feff}"];

pub(crate) fn apoc_seeds() -> Vec<Vec<u8>> {
    let text = "{\"type\":\"node\",\"id\":\"0\",\"labels\":[\"A\",\"B\"],\"properties\":{\"n\":1,\"x\":1.5,\"t\":[\"a\"]}}\n{\"type\":\"node\",\"id\":\"1\"}\n{\"id\":\"0\",\"type\":\"relationship\",\"label\":\"K\",\"properties\":{\"s\":1},\"start\":{\"id\":\"0\"},\"end\":{\"id\":\"1\"}}\n";
    vec![text.as_bytes().to_vec()]
}

pub(crate) fn cypher_seeds() -> Vec<Vec<u8>> {
    let text = "// A graph for Neo4j: cypher-shell -f FILE\nCREATE CONSTRAINT IF NOT EXISTS FOR (n:`p`) REQUIRE n.id IS UNIQUE;\n\nUNWIND [\n{key: 1, properties: {a: \"x\\n\", b: [1,2]}},\n{key: 2, properties: {}}\n] AS row\nMERGE (n:`p` {id: row.key})\nSET n += row.properties;\n\nUNWIND [1] AS key\nMATCH (n:`p` {id: key})\nSET n:`L`;\n\nUNWIND [\n{source: 1, target: 2, properties: {w: 0.5}}\n] AS row\nMATCH (a:`p` {id: row.source})\nMATCH (b:`p` {id: row.target})\nCREATE (a)-[r:`k`]->(b)\nSET r += row.properties;\n";
    vec![text.as_bytes().to_vec()]
}

pub(crate) fn atom_seeds() -> Vec<Vec<u8>> {
    vec![b"p7\tp2\t1.00\np7\tp9\t0.78\n".to_vec(), b"a\tb\n".to_vec()]
}

pub(crate) fn check_apoc(data: &[u8]) {
    check(data, Format::APOC, "input.json");
}

pub(crate) fn check_cypher(data: &[u8]) {
    check(data, Format::CYPHER, "input.cypher");
}

pub(crate) fn check_atoms(data: &[u8]) {
    let home = home();
    let text = "predicates:\n  K/2: open\nobservations:\n  K: k.txt\ntargets:\n  K: k.txt\n";
    std::fs::write(home.path().join("input.data"), text).expect("a file");
    std::fs::write(home.path().join("k.txt"), data).expect("a file");
    check_at(&home.path().join("input.data"), home.path(), Format::PSL);
}

pub(crate) fn check_xml(data: &[u8]) {
    check(data, Format::GRAPHML, "input.graphml");
}

pub(crate) const NODE_LINK_WORDS: &[&str] = &[
    "{\"nodes\": [",
    "], \"links\": [",
    "], \"edges\": [",
    "]}",
    "{\"id\": 1, \"x\": ",
    "{\"source\": 1, \"target\": 1}",
    "null",
    "true",
    "1e400",
    "18446744073709551616",
    "NaN",
    "[1, \"a\"]",
    "{\"a\": {}}",
    "\"directed\": false,",
    "\\u00e9",
    "\\ud800",
    "\"",
    ",",
    "-0",
];

pub(crate) const GEXF_WORDS: &[&str] = &[
    "<node id=\"a\" label=\"b\">",
    "</node>",
    "<edge source=\"a\" target=\"b\" type=\"directed\" weight=\"1\"/>",
    "<attvalues>",
    "</attvalues>",
    "<attvalue for=\"0\" value=\"1\" start=\"2\"/>",
    "<attributes class=\"node\" mode=\"dynamic\">",
    "</attributes>",
    "<attribute id=\"0\" title=\"t\" type=\"double\"><default>1</default></attribute>",
    "<spells><spell start=\"1\"/></spells>",
    "<viz:size value=\"1\"/>",
    "&lt;",
    "<nodes>",
    "</nodes>",
];

pub(crate) const GML_WORDS: &[&str] = &[
    "graph [",
    "node [ id 0 label \"a\" ",
    "edge [ source 0 target 0 ",
    "]",
    "directed 1",
    "x 1.5E3",
    "x \"a&#252;&uuml;&\"",
    "x [ y 1 y 2 ]",
    "+INF",
    "NAN",
    "# c\n",
    "x -",
    "99999999999999999999",
];

pub(crate) fn node_link_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "{\"directed\": true, \"multigraph\": true, \"graph\": {\"n\": 1}, \"nodes\": [{\"id\": 1, \"x\": 1.5}, {\"id\": 2, \"l\": [\"a\"]}], \"links\": [{\"source\": 1, \"target\": 2, \"key\": 0}]}",
        "{\"nodes\": [{\"name\": \"a\"}], \"edges\": [{\"source\": 0, \"target\": 0}], \"extra\": []}",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn gexf_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "<gexf version=\"1.2\"><meta><creator>c</creator></meta><graph defaultedgetype=\"directed\"><attributes class=\"node\"><attribute id=\"0\" title=\"t\" type=\"integer\"><default>1</default></attribute></attributes><nodes><node id=\"a\" label=\"A\"><attvalues><attvalue for=\"0\" value=\"2\"/></attvalues></node><node id=\"b\"/></nodes><edges><edge id=\"0\" source=\"a\" target=\"b\" weight=\"1.5\"/></edges></graph></gexf>",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn gml_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "Creator \"x\"\ngraph [ directed 1 node [ id 0 label \"a\" w 1.5 ] node [ id 1 label \"b\" g [ x 1 ] ] edge [ source 0 target 1 ] ]",
        "graph [ node [ id 5 ] edge [ source 5 target 5 t \"&amp;\" ] ]",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn check_node_link(data: &[u8]) {
    check(data, Format::NODELINK, "input.nodelink.json");
}

pub(crate) fn check_gexf(data: &[u8]) {
    check(data, Format::GEXF, "input.gexf");
}

pub(crate) fn check_gml(data: &[u8]) {
    check(data, Format::GML, "input.gml");
}

fn check(data: &[u8], format: Format, name: &str) {
    let home = home();
    let path = home.path().join(name);
    std::fs::write(&path, data).expect("a file");
    check_at(&path, home.path(), format);
}

pub(crate) fn check_at(path: &std::path::Path, home: &std::path::Path, format: Format) {
    let resources = resources(home);
    let options = OpenOptions { from: Some(format), resources: Some(resources.clone()), ..OpenOptions::default() };
    let opened = match Opened::open(&Location::from_path(path), &options) {
        Ok(opened) => opened,
        Err(error) => {
            // Which of several sheets is meant, a convention leaves to a mapping.
            let is_asked = format == Format::XLSX && error.kind() == Kind::Usage;
            let is_bad = matches!(error.kind(), Kind::Malformed | Kind::Unsupported | Kind::TooLarge);
            assert!(is_bad || is_asked, "{error:?}");
            return;
        }
    };
    let rows = |at_once: usize| -> Result<[usize; 2]> {
        let mut counted = [0; 2];
        for part in opened.graph.scan(&Request::of(Tables::All).in_batches_of(at_once))? {
            for batch in part {
                match batch? {
                    Batch::Nodes(nodes) => counted[0] += nodes.rows,
                    Batch::Edges(edges) => counted[1] += edges.rows,
                    _ => {}
                }
            }
        }
        Ok(counted)
    };
    let graph = opened.graph.graph();
    let stated = [graph.node_rows(), graph.edge_rows()].map(|rows| rows.map_or(0, isomorph::error::index));
    let (one, many) = match (rows(1), rows(1 << 16)) {
        (Ok(one), Ok(many)) => (one, many),
        // Where edges end in numbers of nodes, a missing node is found when they are read.
        (Err(one), Err(many)) if one.kind() == Kind::Malformed && many.kind() == Kind::Malformed => return,
        (one, many) => panic!("{one:?} in single rows, {many:?} in large batches"),
    };
    assert_eq!((one, many), (stated, stated));
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let own = format!("made-{name}");
    let targets = [
        (Format::EDGELIST, "made.edges"),
        (Format::GRAPHML, "made.graphml"),
        (Format::APOC, "made.json"),
        (Format::CYPHER, "made.cypher"),
        (Format::NODELINK, "made.nodelink.json"),
        (Format::GEXF, "made.gexf"),
        (Format::GML, "made.gml"),
        (format, own.as_str()),
    ];
    for (to, made) in targets {
        let made = Location::from_path(&home.join(made));
        let options = ConvertOptions { to: Some(to), ..ConvertOptions::default() };
        let done = Plan::new(&opened, &made, &options, &resources, &Silent)
            .and_then(|plan| convert(&opened, &plan, &made, &options, &resources, &Silent));
        if let Err(error) = done {
            // Graphs that are not sound, and what the target has no place for. That it came back as another is a bug.
            assert!(!error.to_string().contains("differs from the input"), "{error:?}");
        }
    }
}
