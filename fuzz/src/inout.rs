//! Edge lists and GraphML: read in any batches they are the same, and what they hold comes back from where it is written.

use isomorph::convert::{ConvertOptions, Format, OpenOptions, Opened, Plan, Silent, convert};
use isomorph::model::{Batch, Request, Tables};
use isomorph::{Kind, Location};

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

fn check(data: &[u8], format: Format, name: &str) {
    let home = home();
    let path = home.path().join(name);
    std::fs::write(&path, data).expect("a file");
    check_at(&path, home.path(), format);
}

fn check_at(path: &std::path::Path, home: &std::path::Path, format: Format) {
    let resources = resources(home);
    let options = OpenOptions { from: Some(format), resources: Some(resources.clone()), ..OpenOptions::default() };
    let opened = match Opened::open(&Location::from_path(path), &options) {
        Ok(opened) => opened,
        Err(error) => {
            assert!(matches!(error.kind(), Kind::Malformed | Kind::Unsupported | Kind::TooLarge), "{error:?}");
            return;
        }
    };
    let rows = |at_once: usize| -> [usize; 2] {
        let mut counted = [0; 2];
        for part in opened.graph.scan(&Request::of(Tables::All).in_batches_of(at_once)).expect("what was opened") {
            for batch in part {
                match batch.expect("what was opened") {
                    Batch::Nodes(nodes) => counted[0] += nodes.rows,
                    Batch::Edges(edges) => counted[1] += edges.rows,
                    _ => {}
                }
            }
        }
        counted
    };
    let graph = opened.graph.graph();
    let stated = [graph.node_rows(), graph.edge_rows()].map(|rows| rows.map_or(0, isomorph::error::index));
    assert_eq!((rows(1), rows(1 << 16)), (stated, stated));
    let targets = [
        (Format::EDGELIST, "made.edges"),
        (Format::GRAPHML, "made.graphml"),
        (Format::APOC, "made.json"),
        (Format::CYPHER, "made.cypher"),
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
