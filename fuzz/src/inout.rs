//! Edge lists, other notations of lines, and GraphML: read in any batches they are the same, and what they hold comes back from where it is written.

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

pub(crate) fn check_xml(data: &[u8]) {
    check(data, Format::GRAPHML, "input.graphml");
}

fn check(data: &[u8], format: Format, name: &str) {
    let home = home();
    let path = home.path().join(name);
    std::fs::write(&path, data).expect("a file");
    let resources = resources(home.path());
    let options = OpenOptions { from: Some(format), resources: Some(resources.clone()), ..OpenOptions::default() };
    let opened = match Opened::open(&Location::from_path(&path), &options) {
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
    let own = format!("made-{name}");
    for (to, made) in [(Format::EDGELIST, "made.edges"), (Format::GRAPHML, "made.graphml"), (format, own.as_str())] {
        let made = Location::from_path(&home.path().join(made));
        let options = ConvertOptions { to: Some(to), ..ConvertOptions::default() };
        let done = Plan::new(&opened, &made, &options, &resources, &Silent)
            .and_then(|plan| convert(&opened, &plan, &made, &options, &resources, &Silent));
        if let Err(error) = done {
            // Graphs that are not sound, and what the target has no place for. That it came back as another is a bug.
            assert!(!error.to_string().contains("differs from the input"), "{error:?}");
        }
    }
}
