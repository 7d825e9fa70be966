//! Numbers that do not fit into 32 or 16 bits, very long lines, and texts whose beginning has none of these
//! formats.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::io::Write;
use std::path::Path;

use common::{built, files, text};
use isomorph_deepgnn::{BuildOptions, Built, DeepGnn, OpenOptions, Text};
use isomorph_error::{Error, Findings, Kind, Result};
use isomorph_model::Source;
use isomorph_storage::{Budget, Location};

const FORMATS: [&str; 4] = ["linear", "edgelist", "json", "tsv"];

/// A node and an edge with these weights, in a format.
fn weighing(format: &str, node: &str, edge: &str) -> String {
    match format {
        "linear" => format!("-1 0 0 {node} 0 1 0 {edge}\n"),
        "edgelist" => format!("0,-1,0,{node}\n0,0,1,{edge}\n"),
        "json" => {
            format!(
                r#"{{"node_id": 0, "node_type": 0, "node_weight": {node}, "edge": [{{"src_id": 0, "dst_id": 1, "edge_type": 0, "weight": {edge}}}]}}"#
            ) + "\n"
        }
        _ => format!("0\t0\t{node}\t\t1,0,{edge}\n"),
    }
}

fn read(home: &Path, format: &str, lines: &str, open: &OpenOptions) -> Result<Built> {
    let path = text(home, &format!("graph.{format}"), lines, None);
    built(&path, &home.join("out"), open, &BuildOptions::default())
}

fn rule(error: &Error) -> &'static str {
    error.broken_rule().map_or("", |rule| rule.id)
}

#[test]
fn weights_that_32_bits_do_not_hold_are_refused() {
    let home = tempfile::tempdir().unwrap();
    for format in FORMATS {
        for wrong in ["1e39", "-1e39", "3.5e38", "NaN", "Infinity", "-Infinity", "1e400"] {
            for (node, edge) in [(wrong, "1"), ("1", wrong)] {
                for compat in [false, true] {
                    let lines = weighing(format, "1", "1") + &weighing(format, node, edge);
                    let open = OpenOptions { compat, ..OpenOptions::default() };
                    let error = read(home.path(), format, &lines, &open).unwrap_err();
                    assert_eq!(rule(&error), "DEEPGNN-WEIGHT", "{format} {node} {edge}: {error}");
                    assert!(error.place().line >= Some(2), "{format} {wrong}: {error}");
                }
            }
        }
        let lines = weighing(format, "3.4028234e38", "-3.4028234e38");
        assert!(read(home.path(), format, &lines, &OpenOptions::default()).is_ok(), "{format}");
        let tiny = read(home.path(), format, &weighing(format, "1e-46", "1e-46"), &OpenOptions::default()).unwrap();
        assert_eq!(tiny.findings.by_rule().map(|(count, _)| count).sum::<u64>(), 2, "{format}");
        assert_eq!(tiny.findings.by_rule().next().unwrap().1[0].rule.id, "DEEPGNN-UNDERFLOW");
    }
    let path = text(home.path(), "graph.linear", "-1 0 0\n", Some(r#"{"node_default_weight": 1e39}"#));
    let error = built(&path, &home.path().join("out"), &OpenOptions::default(), &BuildOptions::default()).unwrap_err();
    assert_eq!(rule(&error), "DEEPGNN-DEFAULTS");
}

#[test]
fn a_record_that_is_wrong_is_left_out_when_asked() {
    let home = tempfile::tempdir().unwrap();
    let lenient = OpenOptions { lenient: true, ..OpenOptions::default() };
    for format in FORMATS {
        let good = weighing(format, "1", "2");
        let other = good.replace('0', "3");
        let bad = weighing(format, "1", "1").replacen('1', "x", 1);
        let nan = weighing(format, "7", "NaN");
        let lines = format!("{good}{bad}{nan}{other}");
        let out = read(home.path(), format, &lines, &lenient).unwrap();
        // A record of EdgeList is a line: the node of the last one is valid.
        let (nodes, skipped) = if format == "edgelist" { (3, 2) } else { (2, 2) };
        assert_eq!((out.nodes, out.edges), (nodes, if format == "edgelist" { 3 } else { 2 }), "{format}");
        let found: Vec<_> = out.findings.by_rule().collect();
        assert_eq!((found.len(), found[0].0, found[0].1[0].rule.id), (1, skipped, "DEEPGNN-SKIPPED"), "{format}");
        let rules = |at: usize| found[0].1[at].message.split(':').next().unwrap().to_owned();
        assert_eq!(rules(1), "DEEPGNN-WEIGHT", "{format}");
        assert!(found[0].1[0].place.line.is_some_and(|line| line > 1));
        let graph = DeepGnn::open(&Location::from_path(&home.path().join(format!("text/graph.{format}"))), &lenient);
        assert_eq!(graph.unwrap().graph().node_rows(), Some(nodes), "{format}");
    }
    // What a malformed record has added is removed again, including features and repairs.
    let lines = "1\t0\t1\tf:1\t\n2\t0\t1\ti:5;f:2 3\t1,0,1|2,0,1,f:x\n3\t0\t1\tf:4\t\n";
    let with = read(home.path(), "tsv", lines, &lenient).unwrap();
    assert_eq!(with.findings.by_rule().count(), 1);
    let with = files(&home.path().join("out"));
    read(home.path(), "tsv", "1\t0\t1\tf:1\t\n3\t0\t1\tf:4\t\n", &lenient).unwrap();
    assert_eq!(with, files(&home.path().join("out")));
}

#[test]
fn features_that_their_type_does_not_hold_are_refused() {
    let home = tempfile::tempdir().unwrap();
    for (format, wrong, column) in [
        ("linear", "-1 0 0 1 float32 2 1 1e39", 22),
        ("linear", "-1 0 0 1 float16 1 65520", 20),
        ("linear", "-1 0 0 1 float64 1 1e400", 20),
        ("edgelist", "0,-1,0,1,float32,1,-1e39", 20),
        ("tsv", "0\t0\t1\tf:1e39\t", 9),
        ("tsv", "0\t0\t1\tf16:70000\t", 11),
        ("json", r#"{"node_id":0,"node_type":0,"node_weight":1,"edge":[],"float_feature":{"0":[1e39]}}"#, 76),
        ("json", r#"{"node_id":0,"node_type":0,"node_weight":1,"edge":[],"float16_feature":{"0":[70000]}}"#, 78),
        ("json", r#"{"node_id":0,"node_type":0,"node_weight":1,"edge":[],"float16_feature":{"0":[70000.5]}}"#, 78),
        ("json", r#"{"node_id":0,"node_type":0,"node_weight":1,"edge":[],"double_feature":{"0":[-1e400]}}"#, 77),
    ] {
        let error = read(home.path(), format, wrong, &OpenOptions::default()).unwrap_err();
        assert_eq!(rule(&error), "DEEPGNN-NUMBER", "{wrong}: {error}");
        assert_eq!(error.place().field, Some(format!("column {column}")), "{wrong}");
        let compat = OpenOptions { compat: true, ..OpenOptions::default() };
        assert!(read(home.path(), format, wrong, &compat).is_ok(), "numpy makes it infinite: {wrong}");
    }
    for sound in ["float32 3 inf -inf nan", "float16 2 65519 inf", "float32 1 1e-60", "float64 1 1e308"] {
        assert!(read(home.path(), "linear", &format!("-1 0 0 1 {sound}"), &OpenOptions::default()).is_ok(), "{sound}");
    }
}

#[test]
fn a_line_is_as_long_as_the_memory_allows() {
    let home = tempfile::tempdir().unwrap();
    let long = "-1 1 0 1 binary_feature 1 ".to_owned() + &"x".repeat(5 << 20) + "\n";
    let lines = format!("-1 0 0 1\n{long}-1 2 0 1\n");
    for packed in [false, true] {
        let path = home.path().join(if packed { "graph.linear.gz" } else { "graph.linear" });
        let mut file = std::fs::File::create(&path).unwrap();
        match packed {
            false => file.write_all(lines.as_bytes()).unwrap(),
            true => {
                let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::default());
                packer.write_all(lines.as_bytes()).unwrap();
                packer.finish().unwrap();
            }
        }
        let of = |memory: u64| OpenOptions { budget: Budget::new(memory), ..OpenOptions::default() };
        let location = Location::from_path(&path);
        assert_eq!(DeepGnn::open(&location, &of(64 << 20)).unwrap().graph().node_rows(), Some(3));
        let error = DeepGnn::open(&location, &of(32 << 20)).err().unwrap();
        assert_eq!((error.kind(), error.place().line), (Kind::TooLarge, Some(2)), "{error}");
        assert!(error.message().contains("4194304 bytes"), "{error}");
        assert!(error.hints().any(|hint| hint.contains("--memory")), "{error:?}");
    }
}

#[test]
fn empty_lines_without_end_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let open = OpenOptions::default();
    for (format, line) in [("linear", "-1 0 0 1\n"), ("edgelist", "0,-1,0,1\n")] {
        let few = format!("{line}{}{}", "\n".repeat(100_000), line.replace('0', "2"));
        assert_eq!(read(home.path(), format, &few, &open).unwrap().nodes, 2);
        let many = format!("{line}{}", "\n".repeat(2_000_000));
        let error = read(home.path(), format, &many, &open).unwrap_err();
        assert_eq!((rule(&error), error.place().line), ("DEEPGNN-FIELD", Some(500_002)), "{error}");
    }
}

#[test]
fn an_empty_line_at_the_end_is_no_record() {
    let home = tempfile::tempdir().unwrap();
    for format in ["json", "tsv"] {
        let lines = weighing(format, "1", "2");
        for end in ["\n", "\r\n"] {
            let read = read(home.path(), format, &(lines.clone() + end), &OpenOptions::default());
            assert_eq!(read.unwrap().nodes, 1, "{format}");
            let path = home.path().join(format!("text/graph.{format}"));
            let graph = DeepGnn::open(&Location::from_path(&path), &OpenOptions::default()).unwrap();
            assert_eq!(graph.graph().node_rows(), Some(1));
            graph.validate(&mut Findings::keeping(8)).unwrap();
        }
        for lines in [format!("{lines}\n\n"), format!("\n{lines}"), format!("{lines} \n")] {
            let error = read(home.path(), format, &lines, &OpenOptions::default()).unwrap_err();
            assert_eq!(rule(&error), "DEEPGNN-FIELD", "{format} {lines:?}");
        }
    }
}

#[test]
fn texts_of_another_kind_are_told_of() {
    let home = tempfile::tempdir().unwrap();
    for (format, text, hint) in [
        ("tsv", "\u{feff}0\t0\t1\t\t\n".as_bytes().to_vec(), "without a byte order mark"),
        ("json", "\u{feff}{}\n".as_bytes().to_vec(), "without a byte order mark"),
        ("linear", b"\xff\xfe-\x001\x00".to_vec(), "UTF-8"),
        ("tsv", b"| node_id | node_type |\n| ---|---|\n| 1 | 0 |\n".to_vec(), "separated by tabs"),
    ] {
        let path = home.path().join(format!("graph.{format}"));
        std::fs::write(&path, text).unwrap();
        let open = Text::open(&Location::from_path(&path), &OpenOptions::default()).unwrap();
        let error = DeepGnn::of_text(open).err().unwrap();
        assert!(error.hints().any(|found| found.contains(hint)), "{format}: {error:?}");
        assert_eq!(error.place().line, Some(1));
    }
}

#[test]
fn nodes_of_linear_are_in_order() {
    let home = tempfile::tempdir().unwrap();
    for (format, lines, line) in [
        ("linear", "-1 0 0 1\n-1 2 0 1\n-1 1 0 1\n", Some(3)),
        ("linear", "-1 0 0 1\n-1 2 0 1\n-1 2 0 1\n", None),
        ("tsv", "1\t0\t1\n0\t0\t1\n", None),
    ] {
        let path = text(home.path(), &format!("graph.{format}"), lines, None);
        let graph = DeepGnn::open(&Location::from_path(&path), &OpenOptions::default()).unwrap();
        let mut findings = Findings::keeping(8);
        graph.validate(&mut findings).unwrap();
        let found = findings.by_rule().find(|(_, found)| found[0].rule.id == "DEEPGNN-NODE-ORDER");
        assert_eq!(found.map(|(_, found)| found[0].place.line), line.map(Some), "{lines}");
    }
}
