//! Edge lists: what they can store is restored, and of everything else they keep what the plan says.

use std::collections::BTreeMap;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_cast::display::array_value_to_string;
use isomorph_convert::{ConvertOptions, Format, SidecarUse};
use isomorph_error::Kind;
use isomorph_model::{Batch, Ends, Graph, MemoryGraph, Request, Tables};

use crate::formats::{EDGELIST, Member, NOTATIONS};
use crate::stage::{Case, is_heavy, stage, stage_as, zoo};

/// Reasons why these formats cannot store a graph, although tables of the sidecar hold what they lack.
const REASONS: &[&str] = &[
    "only nodes and edges can be fused",
    "cannot be written as nodes and edges",
    "without triples would be lost",
    "cannot store the name",
    "cannot store text",
    "edges of METIS are undirected",
    "an edge of METIS has one integer",
    "METIS cannot store",
    "has no weight, or a negative one",
    "Pajek cannot store",
    // PSL.
    "is empty, or has blanks where tabs and line ends divide arguments",
    "could be that of a node of another type",
    "a truth is from 0 to 1",
    "has no truth, and PSL reads such an edge as true",
    "predicates have neither keys of edges nor layers",
    "predicates hold only nodes and edges",
];

/// More of them with `--lossy`, which writes no tables.
const LOSSY_REASONS: &[&str] = &["every entry of a matrix has one", "every line of Graphalytics has one"];

fn assert_reason(what: &str, error: &isomorph_error::Error, more: &[&str]) {
    let text = error.to_string();
    assert!(REASONS.iter().chain(more).any(|reason| text.contains(reason)), "{what}: {error:?}");
    assert!(matches!(error.kind(), Kind::WouldLose | Kind::Unsupported), "{what}: {error:?}");
}

/// Checks that a graph is stored with equal digests, or refused for a reason, and that with `--lossy` all edges are
/// kept, by the names of their ends. Returns the formats that store it.
pub fn check(case: &Case, turn: usize) -> Vec<Format> {
    let all = NOTATIONS.iter().chain([&EDGELIST]);
    all.filter(|member| check_as(member, case, turn)).map(|member| member.format).collect()
}

/// The same for one format.
fn check_as(member: &Member, case: &Case, turn: usize) -> bool {
    let layouts = (member.layouts)(case.rows());
    let layout = &layouts[turn % layouts.len()];
    let what = format!("{} as {}", case.name, layout.name);
    let held = match stage(&case.opened(), member, layout) {
        Ok(staged) => {
            staged.check(&what, &case.digests(), &case.memory.graph, layout);
            true
        }
        Err(error) => {
            assert_reason(&what, &error, &[]);
            false
        }
    };
    let lossy = ConvertOptions { lossy: true, ..ConvertOptions::default() };
    match stage_as(&case.opened(), member, layout, lossy) {
        // METIS drops directions, and notations of numbers drop names.
        Ok(staged) if case.shape == Format::GRAPHAR && !case.has_more() && keeps_ends(member.format) => {
            let alone = MemoryGraph::read(staged.open(SidecarUse::Ignore).graph.as_ref()).unwrap();
            assert_eq!(edges(&alone), edges(&case.memory), "{what}");
        }
        Ok(_) => {}
        Err(error) => assert_reason(&what, &error, LOSSY_REASONS),
    }
    held
}

fn keeps_ends(format: Format) -> bool {
    ![Format::MATRIX_MARKET, Format::METIS, Format::PAJEK, Format::GRAPHALYTICS, Format::PSL].contains(&format)
}

/// Names of nodes by row: if there are several types, with the type as prefix.
fn names(graph: &Graph, batches: &[Batch]) -> Vec<BTreeMap<u64, String>> {
    let mut all = vec![BTreeMap::new(); graph.nodes.len()];
    for batch in batches {
        let Batch::Nodes(nodes) = batch else { continue };
        for row in 0..nodes.rows {
            let at = nodes.start + row as u64;
            let key = nodes.keys.as_ref().map_or_else(|| at.to_string(), |keys| text(keys.as_ref(), row));
            all[nodes.ty].insert(at, prefixed(graph, nodes.ty, key));
        }
    }
    all
}

fn text(keys: &dyn Array, row: usize) -> String {
    match keys.as_string_opt::<i32>() {
        Some(texts) => texts.value(row).to_owned(),
        None => array_value_to_string(keys, row).unwrap(),
    }
}

fn prefixed(graph: &Graph, ty: usize, key: String) -> String {
    if graph.nodes.len() > 1 { format!("{}/{key}", graph.nodes[ty].name.replace('/', "_")) } else { key }
}

/// The ends of all edges; those of an undirected edge are sorted by name.
fn edges(memory: &MemoryGraph) -> Vec<[String; 2]> {
    let (graph, names) = (&memory.graph, names(&memory.graph, &memory.batches));
    let mut all = Vec::new();
    for batch in &memory.batches {
        let Batch::Edges(edges) = batch else { continue };
        let ty = &graph.edges[edges.ty];
        let name = |ends: &Ends, node: usize, row: usize| match ends {
            Ends::Rows(rows) => names[node][&rows.value(row)].clone(),
            Ends::Keys(keys) => prefixed(graph, node, text(keys.as_ref(), row)),
        };
        for row in 0..edges.rows {
            all.push([name(&edges.source, ty.source, row), name(&edges.target, ty.target, row)]);
        }
    }
    all.sort();
    all
}

#[test]
fn the_zoo_survives_edge_lists_or_is_refused() {
    let mut held: BTreeMap<&str, usize> = BTreeMap::new();
    let zoo = zoo();
    for (number, case) in zoo.iter().enumerate().filter(|(_, case)| !is_heavy(case)) {
        for format in check(case, number).into_iter().chain(check(case, number + 1)) {
            *held.entry(format.id()).or_default() += 1;
        }
    }
    // Each graph in two layouts. METIS has only undirected edges.
    for member in NOTATIONS.iter().chain([&EDGELIST]).filter(|member| member.format != Format::METIS) {
        assert!(held.get(member.format.id()).is_some_and(|held| *held >= 30), "{held:?} of {}", zoo.len());
    }
}

/// A graph from an edge list is converted to every format and back.
#[test]
fn an_edge_list_goes_everywhere() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.edges");
    let lines = "# Undirected graph\n10 20 {'weight': 1, 'kind': 'a b', 'l': [1, 'x']}\n20 20 {'weight': 2.5}\n10 20 {'kind': 'c'}\n";
    std::fs::write(&path, lines).unwrap();
    let open = || {
        let options = isomorph_convert::OpenOptions::default();
        isomorph_convert::Opened::open(&isomorph_storage::Location::from_path(&path), &options).unwrap()
    };
    let memory = MemoryGraph::read(open().graph.as_ref()).unwrap();
    let case = Case::new("an edge list", Format::EDGELIST, memory);
    let expected = case.digests();
    for member in crate::formats::MEMBERS.iter().chain([&EDGELIST]) {
        for layout in member.layouts_for(&case) {
            let what = format!("an edge list as {}", layout.name);
            let staged = stage(&open(), member, &layout).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            staged.check(&what, &expected, &case.memory.graph, &layout);
            let back = stage(&staged.open(SidecarUse::Auto), &EDGELIST, &(EDGELIST.layouts)(3)[0]);
            let back = back.unwrap_or_else(|error| panic!("{what}, back: {error:?}"));
            back.check(&what, &expected, &case.memory.graph, &layout);
            let scan = back.open(SidecarUse::Ignore).graph.scan(&Request::of(Tables::All)).map(|parts| parts.len());
            assert!(scan.unwrap() > 0);
        }
    }
}

const GRAPHALYTICS: &str = "graph.t.vertex-file = t.v\ngraph.t.edge-file = t.e\ngraph.t.directed = false\ngraph.t.edge-properties.names = cost\ngraph.t.edge-properties.types = real\ngraph.t.vertex-properties.names = size\ngraph.t.vertex-properties.types = int\n";

/// Graphs in every notation are converted to every format and back.
#[test]
fn notations_go_everywhere() {
    let home = tempfile::tempdir().unwrap();
    let texts = [
        ("t.v", "5 1\n-7 2\n9 3\n"),
        ("t.e", "5 9 0.5\n5 9 1.5\n-7 -7 2\n"),
        ("t.properties", GRAPHALYTICS),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 2 0.5\n2 1 1.5\n4 4 -2\n1 2 0.5\n"),
        ("b.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n5 5 3\n2 1 7\n3 3 0\n5 1 7\n"),
        ("a.adjlist", "# Adjacency list: undirected graph, each edge once\na b b\nb a b\nc\n"),
        ("a.multiline_adjlist", "1 2\n2 {'w': 1, 'l': [1, 'x']}\n2 {'t': 'a b'}\n3 0\n"),
        ("a.metis", "4 3 111 2\n1 2 3 2 5 3 6\n1 0 0 1 5\n2 1 1 1 6 4 0\n0 0 9 3 0\n"),
        (
            "a.net",
            "*Vertices 3\n1 \"x y\" 0.5 1.5 box t \"12\" n 5\n2 \"b\"\n3 \"c\" n 7\n*Arcs :1 \"k\"\n1 2 0.5\n1 2 1.5\n*Edges\n2 3 2 c \"Red\"\n3 3\n",
        ),
    ];
    for (name, text) in texts {
        let path = home.path().join(name);
        std::fs::write(&path, text).unwrap();
        if name == "t.e" || name == "t.v" {
            continue;
        }
        let open = || {
            let options = isomorph_convert::OpenOptions::default();
            isomorph_convert::Opened::open(&isomorph_storage::Location::from_path(&path), &options).unwrap()
        };
        let own = NOTATIONS.iter().find(|member| member.format == open().format).unwrap();
        let memory = MemoryGraph::read(open().graph.as_ref()).unwrap();
        let case = Case::new(name, own.format, memory);
        let expected = case.digests();
        for member in crate::formats::MEMBERS.iter().chain([own]).filter(|member| !member.refuses(&case)) {
            for layout in member.layouts_for(&case) {
                let what = format!("{name} as {}", layout.name);
                let staged = stage(&open(), member, &layout).unwrap_or_else(|error| panic!("{what}: {error:?}"));
                staged.check(&what, &expected, &case.memory.graph, &layout);
                let back = stage(&staged.open(SidecarUse::Auto), own, &(own.layouts)(3)[0]);
                let back = back.unwrap_or_else(|error| panic!("{what}, back: {error:?}"));
                back.check(&what, &expected, &case.memory.graph, &layout);
            }
        }
    }
}
