//! Matrices, adjacency lists, METIS and Pajek, compared with the simplest possible readers, and texts that are none of these.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::io::Write;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_schema::DataType;
use isomorph_edgelist::{Listing, Notation, OpenOptions, WriteOptions, create};
use isomorph_error::{Error, Findings, Kind};
use isomorph_model::{Batch, Direction, Ends, MemoryGraph, NodeId, Part, Request, Side, Source, Tables};
use isomorph_storage::{Location, Mode, Staging};
use proptest::prelude::*;

fn open_with(text: &[u8], notation: Notation, options: &OpenOptions) -> Result<Listing, Error> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph");
    std::fs::write(&path, text).unwrap();
    Listing::open(&Location::from_path(&path), notation, options)
}

fn open(text: &str, notation: Notation) -> Result<Listing, Error> {
    open_with(text.as_bytes(), notation, &OpenOptions::default())
}

fn cell(column: &dyn Array, row: usize) -> String {
    match column.data_type() {
        _ if column.is_null(row) => "-".to_owned(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => format!("{:?}", column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        _ => column.as_string::<i32>().value(row).to_owned(),
    }
}

/// Nodes with values, and edges with values, whose ends are keys.
fn shown(source: &dyn Source) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let (mut nodes, mut edges): (Vec<Vec<String>>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
    for part in source.scan(&Request::of(Tables::All)).unwrap() {
        for batch in part {
            match batch.unwrap() {
                Batch::Nodes(batch) => {
                    assert_eq!(batch.start, nodes.len() as u64);
                    for row in 0..batch.rows {
                        let mut own = vec![cell(batch.keys.as_ref().unwrap().as_ref(), row)];
                        own.extend(batch.properties.iter().flatten().map(|column| cell(column.as_ref(), row)));
                        nodes.push(own);
                    }
                }
                Batch::Edges(batch) => {
                    let end = |ends: &Ends, row: usize| match ends {
                        Ends::Rows(rows) => nodes[usize::try_from(rows.value(row)).unwrap()][0].clone(),
                        Ends::Keys(keys) => cell(keys.as_ref(), row),
                    };
                    for row in 0..batch.rows {
                        let mut own = vec![end(&batch.source, row), end(&batch.target, row)];
                        if let Some(directed) = &batch.directed {
                            own.push(directed.value(row).to_string());
                        }
                        own.extend(batch.properties.iter().flatten().map(|column| cell(column.as_ref(), row)));
                        edges.push(own);
                    }
                }
                _ => panic!(),
            }
        }
    }
    (nodes, edges)
}

fn strings(rows: &[&[&str]]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
}

/// Writes a graph whose ends are as the notation wants them.
fn write(graph: &Listing, notation: Notation, name: &str) -> Result<Vec<u8>, Error> {
    let home = tempfile::tempdir().unwrap();
    let place = Location::from_path(&home.path().join(name));
    let staging = Staging::file(&place, Mode::CreateNew).unwrap();
    let mut sink = create(notation, &staging, graph.graph(), &WriteOptions::default())?;
    for batch in MemoryGraph::read(graph)?.batches {
        let delivery = usize::from(matches!(batch, Batch::Edges(_)));
        sink.write(delivery, batch)?;
    }
    sink.finish()?;
    staging.commit(&[])?;
    Ok(std::fs::read(home.path().join(name)).unwrap())
}

fn rule(error: &Error) -> Option<&'static str> {
    error.broken_rule().map(|rule| rule.id)
}

fn rules_of(listing: &Listing) -> Vec<&'static str> {
    let mut findings = Findings::keeping(5);
    listing.validate(&mut findings).unwrap();
    findings.by_rule().map(|(_, kept)| kept[0].rule.id).collect()
}

#[test]
fn matrices() {
    use Notation::MatrixMarket as M;
    let graph =
        open("%%matrixmarket MATRIX Coordinate real general\n% c\n\n 3 3 3\n1 2 .5\n2 1 1e3\r\n 3\t3 -0\n", M).unwrap();
    assert_eq!(shown(&graph).0, strings(&[&["1"], &["2"], &["3"]]));
    assert_eq!(shown(&graph).1, strings(&[&["1", "2", "0.5"], &["2", "1", "1000.0"], &["3", "3", "-0.0"]]));
    assert_eq!(graph.graph().edges[0].direction, Direction::Directed);
    // Nodes that no entry mentions are nodes.
    let graph = open("%%MatrixMarket matrix coordinate pattern symmetric\n4 4 2\n2 1\n3 3\n", M).unwrap();
    assert_eq!((shown(&graph).0.len(), shown(&graph).1), (4, strings(&[&["2", "1"], &["3", "3"]])));
    assert_eq!(graph.graph().edges[0].direction, Direction::Undirected);
    let graph = open("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 +07\n", M).unwrap();
    assert_eq!(shown(&graph).1, strings(&[&["2", "1", "7"], &["1", "2", "-7"]]));
    let above = open("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n1 2\n", M).unwrap();
    assert_eq!(rules_of(&above), ["MATRIX-TRIANGLE"]);
    let empty = open("%%MatrixMarket matrix coordinate integer general\n0 0 0\n", M).unwrap();
    assert_eq!(empty.graph().edges[0].properties[0].data_type, DataType::Int64);
    let key = |key| graph.neighbors(0, NodeId::Key(key), Side::Out).map(|part| part.count());
    assert_eq!((key("2").unwrap(), key("3").err().unwrap().kind()), (1, Kind::NotFound));
}

#[test]
fn what_is_no_matrix_says_where() {
    use Notation::MatrixMarket as M;
    let head = "%%MatrixMarket matrix coordinate real general\n";
    for (text, id) in [
        ("", "MATRIX-HEADER"),
        ("1 2\n", "MATRIX-HEADER"),
        ("%%MatrixMarket matrix array real general\n1 1\n1\n", "MATRIX-HEADER"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "MATRIX-HEADER"),
        ("%%MatrixMarket matrix coordinate complex hermitian\n1 1 0\n", "MATRIX-HEADER"),
        ("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", "MATRIX-HEADER"),
        (head, "MATRIX-HEADER"),
        (&format!("{head}1 1\n"), "MATRIX-HEADER"),
        (&format!("{head}2 2 2\n1 1 1\n"), "MATRIX-COUNT"),
        (&format!("{head}2 2 0\n1 1 1\n"), "MATRIX-COUNT"),
        (&format!("{head}2 2 1\n0 1 1\n"), "MATRIX-ENTRY"),
        (&format!("{head}2 2 1\n1 3 1\n"), "MATRIX-ENTRY"),
        (&format!("{head}2 2 1\n1 2\n"), "MATRIX-ENTRY"),
        (&format!("{head}2 2 1\n1 2 1e999\n"), "MATRIX-ENTRY"),
        (&format!("{head}2 2 1\n1 2 1 1\n"), "MATRIX-ENTRY"),
        (&format!("{head}2 2 1\n% late\n1 2 1\n"), "MATRIX-ENTRY"),
        ("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 9223372036854775808\n", "MATRIX-ENTRY"),
        ("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 0.5\n", "MATRIX-ENTRY"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 1\n1 1 1\n", "MATRIX-ENTRY"),
    ] {
        let error = open(text, M).err().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(rule(&error), Some(id), "{text}: {error:?}");
    }
    let error = open(&format!("{head}2 3 0\n"), M).err().unwrap();
    assert_eq!(error.kind(), Kind::Unsupported, "{error:?}");
    let error = open(&format!("{head}99999999999 99999999999 0\n"), M).err().unwrap();
    assert_eq!(error.kind(), Kind::TooLarge, "{error:?}");
    let error =
        open_with(b"%%MatrixMarket matrix coordinate real general\n1 1 1\n\xff 1 1\n", M, &OpenOptions::default());
    assert_eq!(rule(&error.err().unwrap()), Some("MATRIX-ENCODING"));
    // In a later piece, the line is still that of the file.
    let text = format!("{head}9 9 200001\n{}1 x 1\n", "1 2 3.25\n".repeat(200_000));
    let error = open(&text, M).err().unwrap();
    assert!(error.to_string().contains("200003"), "{error}");
}

#[test]
fn adjacency_lists() {
    use Notation::AdjacencyList as A;
    let graph = open("# x\nann bob  eve # c\nbob\tbob bob\n\nleo\n", A).unwrap();
    assert_eq!(shown(&graph).0, strings(&[&["ann"], &["bob"], &["eve"], &["leo"]]));
    assert_eq!(shown(&graph).1, strings(&[&["ann", "bob"], &["ann", "eve"], &["bob", "bob"], &["bob", "bob"]]));
    // A number with leading zeros is text, and so are all.
    let graph = open("1 0012\n", A).unwrap();
    assert_eq!(
        (shown(&graph).0, graph.graph().nodes[0].key.data_type.clone()),
        (strings(&[&["1"], &["0012"]]), DataType::Utf8)
    );
    assert_eq!(open("1 12\n", A).unwrap().graph().nodes[0].key.data_type, DataType::Int64);
    // Each undirected edge at both ends is one edge; at one end, each mention is one.
    let undirected = OpenOptions { undirected: true, ..OpenOptions::default() };
    let both = open_with(b"a b b c\nb a a b\nc a\n", A, &undirected).unwrap();
    assert_eq!(shown(&both).1, strings(&[&["a", "b"], &["a", "b"], &["a", "c"], &["b", "b"]]));
    assert_eq!(both.graph().edge_rows(), Some(4));
    let once = open_with(b"a b c\nb a\nc\n", A, &undirected).unwrap();
    assert_eq!(shown(&once).1, strings(&[&["a", "b"], &["a", "c"], &["b", "a"]]));
    let said = open("# Adjacency list: undirected graph, each edge once\na b\nb a\n", A).unwrap();
    assert_eq!((shown(&said).1.len(), said.graph().edges[0].direction), (2, Direction::Undirected));
    assert_eq!(rule(&open("a b#c\n", A).err().unwrap()), Some("ADJACENCY-NAME"));
}

#[test]
fn multiline_adjacency_lists() {
    use Notation::MultilineAdjacencyList as L;
    let graph = open("# x\na 2\nb {'w': 1, 't': 'x\\x20y'}\na\nb 1\nc {'w': 2.5}\nc 0\n", L).unwrap();
    assert_eq!(shown(&graph).1, strings(&[&["a", "b", "1.0", "x y"], &["a", "a", "-", "-"], &["b", "c", "2.5", "-"]]));
    assert_eq!(rules_of(&graph), ["ADJACENCY-MIXED"]);
    for (text, id) in [
        ("a 2\nb\n", "ADJACENCY-DEGREE"),
        ("a\n", "ADJACENCY-DEGREE"),
        ("a x\n", "ADJACENCY-DEGREE"),
        ("a 1\nb {'x': }\n", "ADJACENCY-DICTIONARY"),
        ("a 1\nb {'x': 1, 'y': 2, 'x': 3}\n", "ADJACENCY-DICTIONARY"),
        ("a 1\nb 3\n", "ADJACENCY-DICTIONARY"),
    ] {
        let error = open(text, L).err().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(rule(&error), Some(id), "{text}: {error:?}");
    }
}

#[test]
fn metis_graphs() {
    use Notation::Metis as M;
    // The examples of the manual.
    let graph = open(
        "% c\n7 11 001\n5 1 3 2 2 1\n1 1 3 2 4 1\n5 3 4 2 2 2 1 2\n2 1 3 2 6 2 7 5\n1 1 3 3 6 2\n5 2 4 2 7 6\n6 6 4 5\n",
        M,
    );
    let (nodes, edges) = shown(&graph.unwrap());
    assert_eq!((nodes.len(), edges.len()), (7, 11));
    assert!(edges.contains(&strings(&[&["4", "7", "5"]])[0]));
    let graph = open("3 2 111 2\n4 1 2 2 5\n0 0 0 1 5 3 6\n1 1 9 2 6\n", M).unwrap();
    assert_eq!(shown(&graph).0, strings(&[&["1", "4", "1", "2"], &["2", "0", "0", "0"], &["3", "1", "1", "9"]]));
    let names: Vec<&str> = graph.graph().nodes[0].properties.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["size", "weight_1", "weight_2"]);
    // A blank line is a vertex without neighbours.
    let graph = open("4 1\n\n3\n2\n\n", M).unwrap();
    assert_eq!((shown(&graph).0.len(), shown(&graph).1), (4, strings(&[&["2", "3"]])));
    let looped = open("2 2\n1 2\n1\n", M).unwrap();
    assert_eq!((rules_of(&looped), shown(&looped).1.len()), (vec!["METIS-LOOP"], 2));
    for (text, id, words) in [
        ("x\n", "METIS-HEADER", ""),
        ("", "METIS-HEADER", ""),
        ("2 1 2\n2\n1\n", "METIS-HEADER", ""),
        ("3 1\n2\n1\n", "METIS-VERTEX", "3 vertices"),
        ("1 0\n\n1\n", "METIS-VERTEX", "more lines"),
        ("2 1\n3\n1\n", "METIS-VERTEX", ""),
        ("2 1 1\n2\n1\n", "METIS-VERTEX", "missing"),
        ("2 2\n2\n1\n", "METIS-COUNT", "2 edges"),
        ("3 2\n2 3\n1\n\n", "METIS-SYMMETRY", "vertex 1 has the neighbour 3, which does not have the neighbour 1"),
        ("2 1 1\n2 5\n1 6\n", "METIS-SYMMETRY", "weight 5 at 1, and 6 at 2"),
        ("2 1 1\n2 -5\n1 -5\n", "METIS-VERTEX", ""),
    ] {
        let error = open(text, M).err().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(rule(&error), Some(id), "{text}: {error:?}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn pajek_networks() {
    use Notation::Pajek as P;
    let text = "*Network \"my net\"\n% c\n*Vertices 3\n1 \"a b\" 0.1 0.2 0.5 box age 41 code 0012 [1-3,7]\n2 bob 1 2\n3 \"1\" age \"7\"\n\
                *arcs :1 \"knows\"\n1 2 0.5 l \"x y\"\n2 3\n*Edges\n3 3 2 [4]\n*Arcslist\n1 2 3\n";
    let graph = open(text, P).unwrap();
    let names = |all: &[isomorph_model::Property]| {
        all.iter().map(|own| format!("{} {}", own.name, own.data_type)).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&graph.graph().nodes[0].properties),
        ["time Utf8", "x Float64", "y Float64", "z Float64", "shape Utf8", "age Utf8", "code Utf8"]
    );
    assert_eq!(
        shown(&graph).0,
        strings(&[
            &["a b", "[1-3,7]", "0.1", "0.2", "0.5", "box", "41", "0012"],
            &["bob", "-", "1.0", "2.0", "-", "-", "-", "-"],
            &["1", "-", "-", "-", "-", "-", "7", "-"],
        ])
    );
    assert_eq!(names(&graph.graph().edges[0].properties), ["relation Utf8", "weight Float64", "l Utf8", "time Utf8"]);
    assert_eq!(
        shown(&graph).1,
        strings(&[
            &["a b", "bob", "true", "knows", "0.5", "x y", "-"],
            &["bob", "1", "true", "knows", "-", "-", "-"],
            &["1", "1", "false", "-", "2.0", "-", "[4]"],
            &["a b", "bob", "true", "-", "-", "-", "-"],
            &["a b", "1", "true", "-", "-", "-", "-"],
        ])
    );
    assert_eq!(graph.graph().name.as_deref(), Some("my net"));
    // NetworkX takes the head of a section with a relation for an edge.
    let again = String::from_utf8(write(&graph, P, "x.net").unwrap()).unwrap();
    assert!(again.contains("\n1 \"a b\" 0.1 0.2 \"box\" time \"[1-3,7]\" z 0.5 age \"41\" code \"0012\"\n"), "{again}");
    assert!(again.contains("\n2 \"bob\" 1.0 2.0 ellipse isomorph_filled \"shape\"\n"), "{again}");
    assert!(again.contains("\n3 \"1\" 0.0 0.0 ellipse isomorph_filled \"x y shape\" age \"7\"\n"), "{again}");
    assert!(again.contains("\n2 3 1.0 isomorph_filled \"weight\" relation \"knows\"\n"), "{again}");
    // What is only there for NetworkX stays absent, also without a sidecar.
    let sorted = |graph: &Listing| {
        let (mut nodes, mut edges) = shown(graph);
        nodes.iter_mut().chain(&mut edges).for_each(|row| row.sort_unstable());
        (nodes, edges)
    };
    assert_eq!(sorted(&open(&again, P).unwrap()), sorted(&graph));
    assert!(again.contains("*Arcs\n1 2 0.5 relation \"knows\" l \"x y\"\n") && !again.contains(" :1"), "{again}");
    // Equal labels cannot be keys; without lines, the numbers are.
    let twice = open("*Vertices 2\n1 \"x\"\n2 \"x\"\n*Edges\n1 2\n", P).unwrap();
    assert_eq!((rules_of(&twice), shown(&twice).0), (vec!["PAJEK-LABEL"], strings(&[&["1", "x"], &["2", "x"]])));
    let bare = open("*vertices 3\n*edgeslist\n1 2 3\n", P).unwrap();
    assert_eq!(shown(&bare), (strings(&[&["1"], &["2"], &["3"]]), strings(&[&["1", "2"], &["1", "3"]])));
    assert_eq!(rules_of(&open("*Vertices 2 1\n*Edges\n1 2\n", P).unwrap()), ["PAJEK-MODES"]);
    for (text, id) in [
        ("1 2\n", "PAJEK-SECTION"),
        ("*Arcs\n1 2\n", "PAJEK-SECTION"),
        ("*Vertices 2\n*Matrix\n0 1\n1 0\n", "PAJEK-SECTION"),
        ("*Vertices 1\n*Vertices 1\n", "PAJEK-SECTION"),
        ("*Vertices 2\n1 a\n*Edges\n", "PAJEK-VERTEX"),
        ("*Vertices 2\n2 a\n1 b\n", "PAJEK-VERTEX"),
        ("*Vertices 2\n1 \"a\n2 b\n", "PAJEK-VERTEX"),
        ("*Vertices 2\n*Edges\n1 3\n", "PAJEK-EDGE"),
        ("*Vertices 2\n*Edges\n1\n", "PAJEK-EDGE"),
        ("*Vertices 2\n*Edges\n1 2 1 l\n", "PAJEK-EDGE"),
        ("*Vertices 2\n*Edges\n1 2 1 l 1 l 2\n", "PAJEK-EDGE"),
    ] {
        let error = open(text, P).err().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(rule(&error), Some(id), "{text}: {error:?}");
    }
}

/// NetworkX reads `x y shape` and then pairs; igraph reads one or no coordinate, and a third one, otherwise.
#[test]
fn places_in_networks_are_as_networkx_reads_them() {
    use Notation::Pajek as P;
    for (text, expected) in [
        ("1 \"a\" 1.5", "1.5 0.0 ellipse"),
        ("1 \"a\" 1.5 2.5", "1.5 2.5 ellipse"),
        ("1 \"a\" 1 2 3", "1 2 ellipse z 3"),
        ("1 \"a\" box", "0.0 0.0 \"box\""),
        ("1 \"a\" 1.5 2.5 0.5 box c red", "1.5 2.5 \"box\" z 0.5 c \"red\""),
        ("1 \"a\" [1]", "0.0 0.0 ellipse time \"[1]\""),
    ] {
        let graph = open(&format!("*Vertices 1\n{text}\n*Arcs\n"), P).unwrap();
        let again = String::from_utf8(write(&graph, P, "x.net").unwrap()).unwrap();
        assert_eq!(again, format!("*Vertices 1\n1 \"a\" {expected}\n*Arcs\n"));
    }
}

/// NetworkX reads two backslashes as one, so that names would merge, and quotation marks in names of values.
#[test]
fn texts_that_readers_of_networks_disagree_about_are_refused() {
    use Notation::Pajek as P;
    for (text, says) in [
        ("*Vertices 2\n1 \"a\\\\b\"\n2 \"a\\b\"\n*Arcs\n", "cannot store the text"),
        ("*Vertices 1\n1 \"a\\\"\n*Arcs\n", "cannot store the text"),
        ("*Vertices 1\n1 \"a\" 0 0 box c \"x\\\\y\"\n*Arcs\n", "cannot store the text"),
        ("*Vertices 1\n1 \"a\" 0 0 box c'd \"x\"\n*Arcs\n", "cannot store the name"),
        ("*Vertices 1\n1 \"a\" 0 0 box c\\d \"x\"\n*Arcs\n", "cannot store the name"),
    ] {
        let error = write(&open(text, P).unwrap(), P, "x.net").err().unwrap_or_else(|| panic!("{text}"));
        assert!(error.kind() == Kind::WouldLose && error.to_string().contains(says), "{text}: {error}");
    }
    let one = open("*Vertices 1\n1 \"a\\b\"\n*Arcs\n", P).unwrap();
    assert_eq!(shown(&open(&String::from_utf8(write(&one, P, "x.net").unwrap()).unwrap(), P).unwrap()), shown(&one));
}

#[test]
fn pieces_and_packing_do_not_matter() {
    // More than two pieces, with states that cross them.
    let mut multiline = String::new();
    let mut metis = "60000 59999 1\n".to_owned();
    let mut pajek = "*Vertices 60000\n".to_owned();
    for at in 1..=60_000u32 {
        multiline.push_str(&format!("node{at} 3\nnode{at} {{'weight': {at}}}\nnode1\nnode2 {{'weight': 7}}\n"));
        let before = if at > 1 { format!("{} {} ", at - 1, at - 1) } else { String::new() };
        let after = if at < 60_000 { format!("{} {at}", at + 1) } else { String::new() };
        metis.push_str(&format!("{before}{after}\n"));
        pajek.push_str(&format!("{at} \"vertex number {at}\" age {at}\n"));
    }
    pajek.push_str("*Edges\n");
    (1..60_000u32).for_each(|at| pajek.push_str(&format!("{at} {} {at}\n", at + 1)));
    for (text, notation, counts) in [
        (multiline, Notation::MultilineAdjacencyList, (60_000, 180_000)),
        (metis, Notation::Metis, (60_000, 59_999)),
        (pajek, Notation::Pajek, (60_000, 59_999)),
    ] {
        let plain = shown(&open(&text, notation).unwrap());
        assert_eq!((plain.0.len(), plain.1.len()), counts, "{notation:?}");
        for edge in &plain.1 {
            let number = |text: &str| text.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().unwrap();
            if notation != Notation::MultilineAdjacencyList {
                assert_eq!((number(&edge[1]), number(&edge[2])), (number(&edge[0]) + 1, number(&edge[0])));
            } else if edge[0] == edge[1] && number(&edge[0]) > 2 {
                assert_eq!(edge[2], number(&edge[0]).to_string());
            }
        }
        let mut packed = flate2(text.as_bytes());
        let again = open_with(&packed, notation, &OpenOptions::default()).unwrap();
        assert_eq!(shown(&again), plain, "{notation:?}");
        packed.truncate(packed.len() / 2);
        assert!(open_with(&packed, notation, &OpenOptions::default()).is_err());
    }
}

/// Packs with the writer of the house.
fn flate2(text: &[u8]) -> Vec<u8> {
    let home = tempfile::tempdir().unwrap();
    let place = Location::from_path(&home.path().join("x.gz"));
    let staging = Staging::file(&place, Mode::CreateNew).unwrap();
    let mut file = isomorph_tables::PackedWriter::create(&staging, "x.gz").unwrap();
    file.write_all(text).unwrap();
    file.finish().unwrap();
    staging.commit(&[]).unwrap();
    std::fs::read(home.path().join("x.gz")).unwrap()
}

/// A multiset of undirected edges between numbers.
fn multiset(edges: &[Vec<String>]) -> BTreeMap<Vec<String>, usize> {
    let mut all = BTreeMap::new();
    for edge in edges {
        let mut edge = edge.clone();
        if edge[0] > edge[1] {
            edge.swap(0, 1);
        }
        *all.entry(edge).or_default() += 1;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A matrix is read as a naive reader reads it, and written so that it is read again.
    #[test]
    fn random_matrices(
        entries in proptest::collection::vec((1usize..9, 1usize..9, -5i64..5), 0..30),
        is_real in any::<bool>(),
        is_symmetric in any::<bool>(),
    ) {
        let mut text = format!(
            "%%MatrixMarket matrix coordinate {} {}\n9 9 {}\n",
            if is_real { "real" } else { "integer" },
            if is_symmetric { "symmetric" } else { "general" },
            entries.len()
        );
        let mut expected = Vec::new();
        for (row, column, value) in entries {
            let (row, column) = if is_symmetric { (row.max(column), row.min(column)) } else { (row, column) };
            let value = if is_real { format!("{:?}", value as f64 / 4.0) } else { value.to_string() };
            text.push_str(&format!("{row} {column} {value}\n"));
            expected.push(vec![row.to_string(), column.to_string(), value]);
        }
        let graph = open(&text, Notation::MatrixMarket).unwrap();
        prop_assert_eq!(&shown(&graph).1, &expected);
        let written = write(&graph, Notation::MatrixMarket, "a.mtx").unwrap();
        prop_assert_eq!(String::from_utf8(written).unwrap(), text);
    }

    /// A simple undirected graph in METIS, against the set it was made from.
    #[test]
    fn random_metis_graphs(
        pairs in proptest::collection::btree_map((1u64..12, 1u64..12), 0i64..9, 0..25),
        weights in proptest::collection::vec(0i64..5, 12),
    ) {
        let mut edges: BTreeMap<(u64, u64), i64> = BTreeMap::new();
        for ((from, to), weight) in pairs.into_iter().filter(|((from, to), _)| from != to) {
            edges.insert((from.min(to), from.max(to)), weight);
        }
        let mut text = format!("12 {} 011\n", edges.len());
        for vertex in 1..=12u64 {
            let mut words = vec![weights[usize::try_from(vertex - 1).unwrap()].to_string()];
            for ((from, to), weight) in &edges {
                let other = if *from == vertex { to } else if *to == vertex { from } else { continue };
                words.push(format!("{other} {weight}"));
            }
            text.push_str(&words.join(" "));
            text.push('\n');
        }
        let graph = open(&text, Notation::Metis).unwrap();
        let expected: Vec<Vec<String>> =
            edges.iter().map(|((from, to), weight)| vec![from.to_string(), to.to_string(), weight.to_string()]).collect();
        prop_assert_eq!(multiset(&shown(&graph).1), multiset(&expected));
        let written = String::from_utf8(write(&graph, Notation::Metis, "a.metis").unwrap()).unwrap();
        let again = open(&written, Notation::Metis).unwrap();
        prop_assert_eq!((shown(&again).0, multiset(&shown(&again).1)), (shown(&graph).0, multiset(&expected)));
        // Any vertex that forgets a neighbour is found.
        if !edges.is_empty() {
            let ((from, to), weight) = edges.iter().next().unwrap();
            let damaged: Vec<String> = (0..).zip(text.lines()).map(|(at, line)| match at == *from {
                true => line.replacen(&format!(" {to} {weight}"), "", 1),
                false => line.to_owned(),
            }).collect();
            let error = open(&(damaged.join("\n") + "\n"), Notation::Metis).err().unwrap();
            prop_assert_eq!(rule(&error), Some("METIS-SYMMETRY"));
        }
    }

    /// Adjacency lists of names, read as words.
    #[test]
    fn random_adjacency_lists(lines in proptest::collection::vec(proptest::collection::vec("[a-c]{1,2}", 1..6), 0..12)) {
        let text: String = lines.iter().map(|line| line.join(" ") + "\n").collect();
        let graph = open(&text, Notation::AdjacencyList).unwrap();
        let mut nodes: Vec<String> = Vec::new();
        let mut edges = Vec::new();
        for line in &lines {
            for word in line {
                if !nodes.contains(word) {
                    nodes.push(word.clone());
                }
            }
            edges.extend(line[1..].iter().map(|word| vec![line[0].clone(), word.clone()]));
        }
        let nodes: Vec<Vec<String>> = nodes.into_iter().map(|node| vec![node]).collect();
        prop_assert_eq!(shown(&graph), (nodes, edges));
    }

    /// Pajek's words survive being written and read.
    #[test]
    fn random_networks(
        labels in proptest::collection::btree_set("[a-z é0-9.]{1,6}", 1..6),
        values in proptest::collection::vec(("[a-z 0-9.]{0,4}", -9i64..9, any::<bool>()), 6),
        edges in proptest::collection::vec((0usize..6, 0usize..6, any::<bool>(), -3i64..3), 1..12),
    ) {
        let labels: Vec<String> = labels.into_iter().collect();
        let mut text = format!("*Vertices {}\n", labels.len());
        for (at, label) in labels.iter().enumerate() {
            let (word, number, has) = &values[at];
            let number = if *has { format!(" n {number}") } else { String::new() };
            text.push_str(&format!("{} \"{label}\" 0.5 1.5 box t \"{word}\"{number}\n", at + 1));
        }
        for (from, to, directed, weight) in &edges {
            let section = if *directed { "*Arcs" } else { "*Edges" };
            text.push_str(&format!("{section}\n{} {} {weight}\n", from % labels.len() + 1, to % labels.len() + 1));
        }
        let graph = open(&text, Notation::Pajek).unwrap();
        let (nodes, found) = shown(&graph);
        prop_assert_eq!(nodes.iter().map(|node| node[0].clone()).collect::<Vec<_>>(), labels);
        for (node, (word, ..)) in nodes.iter().zip(&values) {
            prop_assert_eq!(&node[4], word);
        }
        prop_assert_eq!(found.len(), edges.len());
        let written = String::from_utf8(write(&graph, Notation::Pajek, "a.net").unwrap()).unwrap();
        prop_assert_eq!(shown(&open(&written, Notation::Pajek).unwrap()), (nodes, found));
    }

    /// No text makes a reader panic, and what is opened can be read.
    #[test]
    fn any_text(words in proptest::collection::vec(
        prop_oneof![
            Just("\n"), Just(" "), Just("1"), Just("2"), Just("0"), Just("*Vertices 2\n"), Just("*Arcs\n"), Just("*Edges :1 \"k\"\n"),
            Just("%%MatrixMarket matrix coordinate real general\n"), Just("%"), Just("#"), Just("\""), Just("\r"),
            Just("a"), Just("{'x': 1}"), Just("2 1\n"), Just("18446744073709551616"), Just("\u{feff}"), Just("[1]"),
        ], 0..24)) {
        let text = words.concat();
        for notation in Notation::ALL.into_iter().filter(|notation| !notation.is_directory()) {
            let Ok(graph) = open(&text, notation) else { continue };
            let (nodes, edges) = shown(&graph);
            prop_assert_eq!(graph.graph().node_rows(), Some(nodes.len() as u64));
            prop_assert_eq!(graph.graph().edge_rows(), Some(edges.len() as u64));
        }
    }
}

/// Opens a graph of Graphalytics.
fn graphalytics(properties: &str, vertices: &str, edges: &str) -> Result<Listing, Error> {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in [("t.properties", properties), ("t.v", vertices), ("t.e", edges)] {
        std::fs::write(home.path().join(name), text).unwrap();
    }
    let file = Location::from_path(&home.path().join("t.properties"));
    assert!(Notation::Graphalytics.detect(&file).unwrap() || !properties.contains("vertex-file"));
    let by_directory =
        Listing::open(&Location::from_path(home.path()), Notation::Graphalytics, &OpenOptions::default());
    let graph = Listing::open(&file, Notation::Graphalytics, &OpenOptions::default());
    assert_eq!(by_directory.is_ok(), graph.is_ok());
    // The files are read again when it is scanned.
    let graph = graph?;
    let memory = MemoryGraph::read(&graph)?;
    assert_eq!(memory.graph.node_rows(), graph.graph().node_rows());
    Ok(graph)
}

#[test]
fn graphs_of_graphalytics() {
    let head = "graph.t.vertex-file = t.v\ngraph.t.edge-file: x\ngraph.t.edge-file = t.e\ngraph.t.directed = false\n";
    let typed =
        format!("# c\n{head}graph.t.edge-properties.names = weight, n\ngraph.t.edge-properties.types = real, int\n");
    let graph = graphalytics(&typed, "5\n-1\n7\n", "5 7 0.5 3\n5 5 1 -3\n").unwrap();
    assert_eq!(
        shown(&graph),
        (strings(&[&["5"], &["-1"], &["7"]]), strings(&[&["5", "7", "0.5", "3"], &["5", "5", "1.0", "-3"]]))
    );
    assert_eq!((graph.graph().edges[0].direction, graph.graph().name.as_deref()), (Direction::Undirected, Some("t")));
    for (properties, vertices, edges, id) in [
        ("graph.t.vertex-file = t.v\n", "", "", "GRAPHALYTICS-PROPERTIES"),
        (
            "graph.t.vertex-file = t.v\ngraph.t.edge-file = t.e\ngraph.t.directed = maybe\n",
            "",
            "",
            "GRAPHALYTICS-PROPERTIES",
        ),
        (&format!("{head}graph.t.edge-properties.names = a\n"), "", "", "GRAPHALYTICS-PROPERTIES"),
        (&format!("{head}graph.t.meta.vertices = 3\n"), "1\n", "", "GRAPHALYTICS-COUNT"),
        (&format!("{head}graph.t.meta.edges = 3\n"), "1\n", "1 1\n", "GRAPHALYTICS-COUNT"),
        (head, "1\n1\n", "", "GRAPHALYTICS-VERTEX"),
        (head, "1\n", "1 2\n", "GRAPHALYTICS-DANGLING"),
        (head, "1\n01\n", "", "GRAPHALYTICS-LINE"),
        (head, "1\n", "1 1 5\n", "GRAPHALYTICS-LINE"),
        (&typed, "1\n", "1 1 5\n", "GRAPHALYTICS-LINE"),
        (&typed, "1\n", "1 1 5 0.5\n", "GRAPHALYTICS-LINE"),
    ] {
        let error = graphalytics(properties, vertices, edges).err().unwrap_or_else(|| panic!("{properties}"));
        assert_eq!(rule(&error), Some(id), "{error:?}");
    }
    let outside = head.replace("= t.v", "= ../t.v");
    assert!(graphalytics(&outside, "1\n", "").is_err());
}

#[test]
fn parts_know_their_rows() {
    let graph = open("2 1\n2\n1\n", Notation::Metis).unwrap();
    let parts = graph.scan(&Request::of(Tables::AllNodes)).unwrap();
    assert_eq!(parts.iter().map(|part| Part::rows(part.as_ref())).sum::<Option<u64>>(), Some(2));
}
