//! The dialect of text: bytes as the published library writes them, and the other spellings that are read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use common::graphs::write_batches;
use common::{fixtures, open, open_bytes, view};
use isomorph_error::Kind;
use isomorph_model::{Batch, Ends, MemoryGraph, NodeBatch, Source};
use isomorph_nock::{CreateOptions, Format, OpenOptions, Tolerance, rules};
use serde_json::{Value, json};

const HEADER: &str =
    "\"src_name\",\"edge_id\",\"rel_name\",\"dst_name\",\"truth\",\"shadow\",\"is_rdf\",\"labels\",\"props\"\n";

/// A scan of an in-sequence file in the form that a sink accepts: sources as rows.
fn for_sink(source: &dyn Source) -> Vec<Batch> {
    let read = MemoryGraph::read(source).unwrap();
    let mut batches = read.batches;
    let mut names: Vec<String> = Vec::new();
    for batch in &mut batches {
        match batch {
            Batch::Nodes(NodeBatch { keys: Some(keys), .. }) => {
                let keys = arrow_array::cast::AsArray::as_string::<i32>(keys);
                names.extend(keys.iter().map(|name| name.unwrap().to_owned()));
            }
            Batch::Edges(edges) => {
                let Ends::Keys(keys) = &edges.source else { panic!() };
                let keys = arrow_array::cast::AsArray::as_string::<i32>(keys);
                let row = |name: Option<&str>| names.iter().position(|own| Some(own.as_str()) == name).unwrap() as u64;
                edges.source = Ends::Rows(keys.iter().map(row).collect::<Vec<u64>>().into());
            }
            _ => panic!(),
        }
    }
    batches
}

#[test]
fn bytes_are_those_of_pynock() {
    let root = fixtures();
    let home = tempfile::tempdir().unwrap();
    for stem in ["01_tiny/tiny", "05_rdf_uris/out", "04_rdf_literals/out", "03_karate_example/part_0"] {
        let theirs = root.join(format!("{stem}.csv"));
        let nock = open(&theirs, &OpenOptions::default()).unwrap();
        let ours = home.path().join(stem.replace('/', "_"));
        let options = CreateOptions { format: Format::Csv, ..CreateOptions::default() };
        write_batches(&ours, nock.graph(), &options, for_sink(&nock)).unwrap();
        let (ours, theirs) = (std::fs::read_to_string(ours).unwrap(), std::fs::read_to_string(theirs).unwrap());
        // Labels are in the order of Python's hashes there, and sorted here.
        let sorted = |text: &str| -> Vec<String> { text.lines().map(sort_labels).collect() };
        assert_eq!(sorted(&ours), sorted(&theirs), "{stem}");
    }
}

/// Sorts the labels in the second-to-last field of a line; in the fixtures, no other text except props has commas.
fn sort_labels(line: &str) -> String {
    let mut parts: Vec<String> = line.split('"').map(str::to_owned).collect();
    if let Some(labels) = parts.get_mut(7) {
        let mut names: Vec<&str> = labels.split(',').collect();
        names.sort_unstable();
        *labels = names.join(",");
    }
    parts.join("\"")
}

fn read(text: &str, tolerance: Tolerance) -> isomorph_error::Result<Value> {
    let options = OpenOptions::default().tolerance(tolerance);
    view(&open_bytes(text.as_bytes().to_vec(), &options)?)
}

#[test]
fn spellings_that_are_read() {
    let plain =
        format!("{HEADER}\"a\",-1,\"\",\"\",1.0,-1,False,\"L\",\"\"\n\"a\",0,\"r\",\"a\",0.5,-1,False,\"\",\"\"\n");
    let wanted = read(&plain, Tolerance::Strict).unwrap();
    assert_eq!(wanted["nodes"].as_array().unwrap().len(), 1);
    for other in [
        // Excel's mark, line ends, blank lines, no quotes.
        format!("\u{feff}{}", plain.replace('\n', "\r\n")),
        plain.replace('\n', "\n\n"),
        plain.replace('"', ""),
        plain.replace("False", "false"),
        plain.replace("False", "0"),
        plain.replace("1.0,-1", "1,-1").replace("0.5", "5e-1"),
    ] {
        assert_eq!(read(&other, Tolerance::Normal).unwrap(), wanted, "{other}");
    }
}

#[test]
fn columns_are_found_by_name_and_others_are_kept() {
    let text = "props,src_name,edge_id,note,dst_name,rel_name,truth,shadow,is_rdf,labels\n\
                ,a,-1,hello,,,1.0,-1,False,\n";
    let nock = open_bytes(text.into(), &OpenOptions::default()).unwrap();
    let names: Vec<&str> = nock.graph().nodes[0].properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(names, ["truth", "is_rdf", "", "note"]);
    assert_eq!(view(&nock).unwrap()["nodes"][0]["name"], json!("a"));
}

#[test]
fn words_for_nothing_are_text_unless_leniently_read() {
    let text = format!("{HEADER}null,-1,NA,None,1.0,-1,False,NaN,null\n");
    let error = read(&text, Tolerance::Lenient).unwrap_err();
    assert_eq!(error.broken_rule(), Some(&rules::NAME_EMPTY));
    let quoted = format!("{HEADER}\"null\",-1,NA,None,1.0,-1,False,NaN,null\n");
    let lenient = read(&quoted, Tolerance::Lenient).unwrap();
    assert_eq!((&lenient["nodes"][0]["name"], &lenient["nodes"][0]["labels"]), (&json!("null"), &json!([])));
    let normal = read(&quoted, Tolerance::Normal).unwrap();
    assert_eq!(normal["nodes"][0]["labels"], json!(["NaN"]));
}

#[test]
fn broken_text_names_its_line() {
    for (text, line) in [
        (format!("{HEADER}\"a\",-1,\"\",\"\",1.0,-1\n"), Some(2)),
        (format!("{HEADER}\"a\",x,\"\",\"\",1.0,-1,False,\"\",\"\"\n"), Some(2)),
        (format!("{HEADER}\"a\",-1,\"\",\"\",1.0,-1,Maybe,\"\",\"\"\n"), Some(2)),
        (format!("{HEADER}\"a\",-1,\"\",\"\",1.0,-1,False,\"\",\"\n"), Some(2)),
    ] {
        let error = read(&text, Tolerance::Normal).unwrap_err();
        assert_eq!((error.kind(), error.place().line), (Kind::Malformed, line), "{text}: {error}");
    }
    assert!(read("", Tolerance::Normal).is_err());
    assert!(read("\"a\",-1\n", Tolerance::Normal).is_err());
    assert_eq!(read(HEADER, Tolerance::Normal).unwrap(), json!({ "nodes": [], "edges": [] }));
}
