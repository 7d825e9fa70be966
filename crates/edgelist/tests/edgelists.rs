//! Edge lists, compared with the simplest possible reader, and texts that are not edge lists.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Write;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_schema::DataType;
use isomorph_edgelist::{EdgeData, EdgeList, EdgeListWriter, OpenOptions, WriteOptions};
use isomorph_error::Error;
use isomorph_model::{Batch, Ends, Graph, MemoryGraph, NodeId, Side, Sink, Source};
use isomorph_storage::{Budget, Location, Mode, Staging};
use proptest::prelude::*;

/// Opens a text.
fn list(text: &[u8], options: &OpenOptions) -> Result<EdgeList, Error> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.edges");
    std::fs::write(&path, text).unwrap();
    EdgeList::open(&Location::from_path(&path), options)
}

/// Returns edges as texts, and nodes in order.
fn shown(source: &dyn Source) -> (Vec<String>, Vec<Vec<String>>) {
    let graph = MemoryGraph::read(source).unwrap();
    let text = |column: &dyn Array, row: usize| match column.data_type() {
        _ if column.is_null(row) => "-".to_owned(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => format!("{:?}", column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        _ => column.as_string::<i32>().value(row).to_owned(),
    };
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for batch in &graph.batches {
        match batch {
            Batch::Nodes(batch) => {
                nodes.extend((0..batch.rows).map(|row| text(batch.keys.as_ref().unwrap().as_ref(), row)));
            }
            Batch::Edges(batch) => {
                let (Ends::Keys(source), Ends::Keys(target)) = (&batch.source, &batch.target) else { panic!() };
                for row in 0..batch.rows {
                    let mut own = vec![text(source.as_ref(), row), text(target.as_ref(), row)];
                    own.extend(batch.properties.iter().flatten().map(|column| text(column.as_ref(), row)));
                    edges.push(own);
                }
            }
            _ => panic!(),
        }
    }
    (nodes, edges)
}

fn write(graph: &dyn Source, described: &Graph, options: &WriteOptions, name: &str) -> Result<Vec<u8>, Error> {
    let home = tempfile::tempdir().unwrap();
    let place = Location::from_path(&home.path().join(name));
    let staging = Staging::file(&place, Mode::CreateNew).unwrap();
    let mut sink: Box<dyn Sink> = Box::new(EdgeListWriter::create(&staging, described, options)?);
    for batch in MemoryGraph::read(graph)?.batches {
        let delivery = usize::from(matches!(batch, Batch::Edges(_)));
        sink.write(delivery, batch)?;
    }
    sink.finish()?;
    staging.commit(&[])?;
    Ok(std::fs::read(home.path().join(name)).unwrap())
}

#[test]
fn values_keep_their_types() {
    let text = "a b {'w': 1, 'x': 2, 'ok': True, 't': 'it\\'s', 'l': [1, 'a']}\nb c {'w': 2.5, 'x': 3, 't': None}\n";
    let graph = list(text.as_bytes(), &OpenOptions::default()).unwrap();
    let types: Vec<String> =
        graph.graph().edges[0].properties.iter().map(|own| format!("{} {}", own.name, own.data_type)).collect();
    assert_eq!(types, ["w Float64", "x Int64", "ok Boolean", "t Utf8", "l Utf8"]);
    let expected = [["a", "b", "1.0", "2", "true", "it's", "[1,\"a\"]"], ["b", "c", "2.5", "3", "-", "-", "-"]];
    assert_eq!(shown(&graph).1, expected);
    assert!(graph.about().findings.by_rule().any(|(_, kept)| kept[0].rule.id == "EDGELIST-MIXED"));
    // A number with leading zeros is a code.
    let graph = list(b"1 2 0012\n2 3 7\n", &OpenOptions::default()).unwrap();
    assert_eq!(shown(&graph).1, [["1", "2", "0012"], ["2", "3", "7"]]);
}

#[test]
fn what_is_no_edge_list_says_where() {
    for (text, rule) in [
        (&b"1 2\n1 2\n\n# x\n1 2 3\n"[..], "EDGELIST-FIELDS"),
        (b"a b {'x': 1}\na c {'x': }\n", "EDGELIST-DICTIONARY"),
        (b"a b {'x': 1}\na c\n", "EDGELIST-FIELDS"),
        (b"1 2\n\xff 3\n", "EDGELIST-ENCODING"),
        (b"one\n", "EDGELIST-FIELDS"),
    ] {
        let error = list(text, &OpenOptions::default()).err().unwrap();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some(rule), "{error:?}");
    }
    // After the inspected beginning, errors are reported for the lines themselves.
    let mut long = b"1 2\n".repeat(20_000);
    let lines = long.iter().filter(|byte| **byte == b'\n').count();
    for (line, rule) in [(&b"1 2 3\n"[..], "EDGELIST-FIELDS"), (b"\xff 3\n", "EDGELIST-ENCODING")] {
        let end = long.len();
        long.extend_from_slice(line);
        let error = list(&long, &OpenOptions::default()).err().unwrap();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some(rule), "{error:?}");
        assert!(error.to_string().contains(&format!("{}", lines + 1)), "{error}");
        long.truncate(end);
    }
    for (first, line, rule) in [
        ("1\t2\n", "\t3\n", "EDGELIST-NAME"),
        ("a b {'x': 1}\n", "a c {'x': }\n", "EDGELIST-DICTIONARY"),
        ("a b {'x': 1}\n", "a c\n", "EDGELIST-FIELDS"),
    ] {
        let text = first.repeat(20_000) + line;
        let error = list(text.as_bytes(), &OpenOptions::default()).err().unwrap();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some(rule), "{error:?}");
        assert!(error.to_string().contains("20001"), "{error}");
    }
    let damaged = &b"\x1f\x8b\x08\x00not gzip"[..];
    assert!(list(damaged, &OpenOptions::default()).is_err());
}

#[test]
fn nodes_spill_and_keep_their_order() {
    let mut text = Vec::new();
    let mut expected: Vec<String> = Vec::new();
    for edge in 0u64..60_000 {
        let ends = [edge, edge.wrapping_mul(7_919) % 60_000].map(|end| format!("n{end}"));
        writeln!(text, "{} {}", ends[0], ends[1]).unwrap();
        expected.extend(ends);
    }
    let mut seen = std::collections::HashSet::new();
    expected.retain(|name| seen.insert(name.clone()));
    for memory in [4 << 20, 256 << 20] {
        let options = OpenOptions { budget: Budget::new(memory), ..OpenOptions::default() };
        let graph = list(&text, &options).unwrap();
        assert_eq!(shown(&graph).0, expected, "{memory}");
    }
}

#[test]
fn neighbors_are_found_by_name() {
    let graph = list(b"1 2\n1 3\n2 1\n", &OpenOptions::default()).unwrap();
    let count = |node: &str, side| {
        graph.neighbors(0, NodeId::Key(node), side).map(|part| part.map(|batch| batch.unwrap().rows()).sum::<usize>())
    };
    assert_eq!(
        [count("1", Side::Out).unwrap(), count("1", Side::In).unwrap(), count("3", Side::Out).unwrap()],
        [2, 1, 0]
    );
    assert!(count("9", Side::Out).is_err() && count("01", Side::Out).is_err());
}

#[test]
fn names_without_a_place_are_refused() {
    let graph = list(b"a\tb c\n", &OpenOptions::default()).unwrap();
    let options = WriteOptions { data: Some(EdgeData::Dictionary), ..WriteOptions::default() };
    let error = write(&graph, graph.graph(), &options, "x.edges").err().unwrap();
    assert!(error.to_string().contains("cannot store the name \"b c\""), "{error}");
    let written = write(&graph, graph.graph(), &WriteOptions::default(), "x.edges").unwrap();
    assert_eq!(shown(&list(&written, &OpenOptions::default()).unwrap()), shown(&graph));
    // NetworkX cuts lines at #, whatever separates the fields.
    let graph = list(b"source,target,t\na#b,c,x\n", &OpenOptions::default()).unwrap();
    for data in [None, Some(EdgeData::Columns), Some(EdgeData::Dictionary)] {
        let error = write(&graph, graph.graph(), &WriteOptions { data, ..WriteOptions::default() }, "x.edges").err();
        let error = error.unwrap();
        assert!(error.to_string().contains("cannot store the name \"a#b\""), "{error}");
        assert!(error.hints().any(|hint| hint.contains("--to csv")), "{error:?}");
    }
    let graph = list(b"source,target,t\na,c,x#y\n", &OpenOptions::default()).unwrap();
    let options = WriteOptions { data: Some(EdgeData::Columns), ..WriteOptions::default() };
    let error = write(&graph, graph.graph(), &options, "x.edges").err().unwrap();
    assert!(error.to_string().contains("a column of an edge list cannot store"), "{error}");
}

#[test]
fn what_is_written_is_packed_as_its_name_says() {
    let graph = list(b"# Undirected graph\nfrom\tto\nx\ty\n", &OpenOptions::default()).unwrap();
    let options = WriteOptions { data: Some(EdgeData::Columns), ..WriteOptions::default() };
    let plain = write(&graph, graph.graph(), &options, "x.edges").unwrap();
    assert_eq!(String::from_utf8(plain).unwrap(), "# Undirected graph\n# FromNodeId\tToNodeId\nx\ty\n");
    for (name, magic) in [("x.edges.gz", &[0x1f, 0x8b][..]), ("x.edges.zst", &[0x28, 0xb5])] {
        let packed = write(&graph, graph.graph(), &options, name).unwrap();
        assert!(packed.starts_with(magic));
        assert_eq!(shown(&list(&packed, &OpenOptions::default()).unwrap()), shown(&graph));
    }
}

#[test]
fn no_edge_is_lost_turned_or_merged() {
    for (text, expected) in [
        ("u v\na b\n", &[["u", "v"], ["a", "b"]][..]),
        ("# ToNodeId FromNodeId\n1 2\n", &[["2", "1"]]),
        ("target,source\n1,2\n", &[["2", "1"]]),
        ("a b # x\nc d\n", &[["a", "b"], ["c", "d"]]),
        ("source,target\n#a,b\n%c,d\n", &[["#a", "b"], ["%c", "d"]]),
        ("1, 2\n2, 1\n", &[["1", "2"], ["2", "1"]]),
        ("1 \t 2\n", &[["1", "2"]]),
    ] {
        assert_eq!(shown(&list(text.as_bytes(), &OpenOptions::default()).unwrap()).1, expected, "{text}");
    }
    for (text, expected) in [
        ("id,source,target\n7,1,2\n", ["1", "2", "7"]),
        ("source,weight,target\na,1.5,b\n", ["a", "b", "1.5"]),
        ("a b {'w': '# 1'} # x\n", ["a", "b", "# 1"]),
        ("a,b,{'w': 1}\n", ["a", "b", "1"]),
        ("u,v,0.5\n", ["u", "v", "0.5"]),
        ("Smith,John Doe,Jane {'w': 1}\n", ["Smith,John", "Doe,Jane", "1"]),
        ("a,b true {'w': True} # c\n", ["a,b", "true", "true"]),
        ("a,b {'w': 1}\n", ["a", "b", "1"]),
        ("a,b c,d {}\nx y {'w': 1}\n", ["a,b", "c,d", "-"]),
        ("source,target,t\na,b,c {'w': 1}\n", ["a", "b", "c {'w': 1}"]),
    ] {
        assert_eq!(shown(&list(text.as_bytes(), &OpenOptions::default()).unwrap()).1[0], expected, "{text}");
    }
    for (text, says) in [
        // Names and a separator, or names with commas.
        ("1, 2 {'w': 1}\n", "EDGELIST-FIELDS"),
        ("a,b c {'w': 1}\nd,e f\n", "EDGELIST-FIELDS"),
        ("d,e f\na,b c {'w': 1}\n", "EDGELIST-FIELDS"),
        ("Smith,John Doe,Jane {'w': }\n", "EDGELIST-DICTIONARY"),
        ("% bip weighted\n1 1 4\n", "left and right nodes"),
        ("Source,Target,Type\n1,2,Directed\n2,3,Undirected\n", "EDGELIST-DIRECTION"),
        ("Source,Target,Type\n1,2,Undirected\n2,3,Mutual\n", "EDGELIST-DIRECTION"),
        ("Source,Target,Type\n1,2,Undirected\n2,3,\n", "EDGELIST-DIRECTION"),
        ("source,target,directed\n1,2,false\n2,3,true\n", "EDGELIST-DIRECTION"),
        ("source,target,directed\n1,2,maybe\n2,3,0\n", "EDGELIST-DIRECTION"),
        ("id,source,target,source\n1,2,3,4\n", "several columns"),
        ("a,b\n\"c\"d,e\n", "EDGELIST-FIELDS"),
        ("a, b\nb, a\n", "EDGELIST-NAME"),
        ("a#b c\n", "EDGELIST-NAME"),
        ("1 2\r2 3\r", "carriage return"),
        ("a b {'n': 1, 'n': 2}\n", "occurs twice"),
    ] {
        let error = list(text.as_bytes(), &OpenOptions::default()).err().unwrap();
        assert!(error.to_string().contains(says), "{text}: {error}");
    }
    use isomorph_model::Direction::{Directed, Undirected};
    let undirected = OpenOptions { undirected: true, ..OpenOptions::default() };
    for (text, options, expected) in [
        ("Source,Target,Type\n1,2,Undirected\n", OpenOptions::default(), Undirected),
        ("source,target,directed\n1,2,false\n2,3,No \n", OpenOptions::default(), Undirected),
        ("source,target,directed\n1,2,1\n2,3,\n", OpenOptions::default(), Directed),
        ("source,target,type\n1,2,ActedIn\n1,3,Directed\n", OpenOptions::default(), Directed),
        // Who says it otherwise is believed.
        ("source,target,directed\n1,2,false\n2,3,true\n", undirected, Undirected),
    ] {
        let found = list(text.as_bytes(), &options).unwrap();
        assert_eq!(found.graph().edges[0].direction, expected, "{text}");
    }
}

#[test]
fn long_integers_among_floats_keep_their_digits() {
    for (text, data_type, warns) in [
        ("1 2 1234567890123456\n2 3 0.5\n", DataType::Float64, false),
        ("1 2 9007199254740993\n2 3 0.5\n", DataType::Utf8, true),
        ("a b {'w': 9007199254740993}\nb c {'w': 0.5}\n", DataType::Utf8, true),
    ] {
        let graph = list(text.as_bytes(), &OpenOptions::default()).unwrap();
        assert_eq!(graph.graph().edges[0].properties[0].data_type, data_type, "{text}");
        let has_warning = graph.about().findings.by_rule().any(|(_, kept)| kept[0].rule.id == "EDGELIST-MIXED");
        assert_eq!(has_warning, warns, "{text}");
        let edges = shown(&graph).1;
        assert!(edges[0][2].contains("1234567890123456") || edges[0][2] == "9007199254740993", "{edges:?}");
    }
}

#[test]
fn validation_reads_every_value() {
    let columns = vec!["w:int".parse().unwrap()];
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.edges");
    std::fs::write(&path, "1 2 3\n2 3 x\n").unwrap();
    let graph =
        EdgeList::open(&Location::from_path(&path), &OpenOptions { columns, ..OpenOptions::default() }).unwrap();
    let mut findings = isomorph_error::Findings::keeping(8);
    graph.validate(&mut findings).unwrap();
    assert_eq!(findings.count(&isomorph_edgelist::rules::VALUE), 1);
}

#[test]
fn what_is_written_is_an_edge_list_by_any_name() {
    let home = tempfile::tempdir().unwrap();
    for text in ["1 2 0.5\n2 3 1.5\n", "1 2\n", "a b {'x': 'y'}\n", ""] {
        let graph = list(text.as_bytes(), &OpenOptions::default()).unwrap();
        for name in ["o.tsv", "o.txt", "o.csv", "o.edgelist", "o.linear", "o.tsv.gz"] {
            let written = write(&graph, graph.graph(), &WriteOptions::default(), name).unwrap();
            let path = home.path().join(name);
            std::fs::write(&path, written).unwrap();
            assert!(isomorph_edgelist::detect(&Location::from_path(&path)).unwrap(), "{text} {name}");
        }
    }
    let foreign = home.path().join("foreign.tsv");
    std::fs::write(&foreign, "1\t2\t0.5\n").unwrap();
    assert!(!isomorph_edgelist::detect(&Location::from_path(&foreign)).unwrap());
}

#[derive(Debug, Clone)]
struct Random {
    separator: &'static str,
    edges: Vec<(String, String, Vec<String>)>,
}

fn random() -> impl Strategy<Value = Random> {
    let name =
        prop_oneof!["[0-9]{1,3}", "[a-z\u{e9}-\u{ff}]{1,3}", Just("source".to_owned()), Just("target".to_owned())];
    let numbers = "-?[1-9][0-9]{0,4}";
    let value = prop_oneof![numbers, "-?[0-9]\\.[0-9]{1,3}", "[a-z]{1,4}", "0[0-9]{2}"];
    let edges = (0usize..3).prop_flat_map(move |width| {
        let row = (name.clone(), name.clone(), prop::collection::vec(value.clone(), width));
        prop::collection::vec(row, 1..12)
    });
    (prop_oneof![Just("\t"), Just(","), Just(" "), Just("  \t ")], edges)
        .prop_map(|(separator, edges)| Random { separator, edges })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Reading returns the generated graph, however it is split; and output can be read again.
    #[test]
    fn random_lists(random in random()) {
        let mut text = String::from("# FromNodeId ToNodeId");
        (0..random.edges[0].2.len()).for_each(|at| text.push_str(&format!(" c{at}")));
        text.push('\n');
        let (mut expected, mut nodes) = (Vec::new(), Vec::<String>::new());
        for (source, target, values) in &random.edges {
            let mut fields = vec![source.clone(), target.clone()];
            fields.extend(values.iter().cloned());
            text.push_str(&fields.join(random.separator));
            text.push('\n');
            for end in [source, target] {
                if !nodes.contains(end) {
                    nodes.push(end.clone());
                }
            }
            expected.push(fields);
        }
        let graph = list(text.as_bytes(), &OpenOptions::default()).unwrap();
        let (found_nodes, found) = shown(&graph);
        prop_assert_eq!(&found_nodes, &nodes);
        for (found, expected) in found.iter().zip(&expected) {
            for (cell, text) in found.iter().zip(expected) {
                let is_equal = cell == text || cell.parse::<f64>().ok() == text.parse::<f64>().ok() && cell.contains('.');
                prop_assert!(is_equal, "{} is not {}", cell, text);
            }
        }
        for data in [None, Some(EdgeData::Columns), Some(EdgeData::Dictionary)] {
            let options = WriteOptions { data, ..WriteOptions::default() };
            let written = write(&graph, graph.graph(), &options, "x.edges").unwrap();
            let again = OpenOptions { shown: Some(graph.graph().clone()), ..OpenOptions::default() };
            let back = list(&written, &again).unwrap();
            prop_assert_eq!(shown(&back), (found_nodes.clone(), found.clone()), "{}", String::from_utf8_lossy(&written));
        }
    }

    /// Reading never panics.
    #[test]
    fn random_bytes(bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\t'), Just(b' '), Just(b','), Just(b'{'), Just(b'}'), Just(b'\''), Just(b'"'), Just(b':'), Just(b'\\'), Just(b'#'), any::<u8>()], 0..120)) {
        if let Ok(graph) = list(&bytes, &OpenOptions::default()) {
            MemoryGraph::read(&graph).unwrap();
        }
    }
}
