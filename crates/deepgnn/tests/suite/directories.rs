//! When a directory of texts is one graph, and when it is not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use isomorph_deepgnn::{DeepGnn, OpenOptions, TextFormat, detect, rules};
use isomorph_model::Source;
use isomorph_storage::Location;

/// A node without edges, in each text format.
fn node(format: TextFormat, id: u64) -> String {
    match format {
        TextFormat::Linear => format!("-1 {id} 0 1.0\n"),
        TextFormat::EdgeList => format!("{id},-1,0,1.0\n"),
        TextFormat::Json => format!("{{\"node_id\":{id},\"node_type\":0,\"node_weight\":1.0,\"edge\":[]}}\n"),
        TextFormat::Tsv => format!("{id}\t0\t1.0\t\t\n"),
    }
}

/// A directory of texts, each with one node of its own.
fn directory(names: &[&str]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (id, name) in (0..).zip(names) {
        let format = TextFormat::of_name(name).unwrap_or(TextFormat::Tsv);
        std::fs::write(home.path().join(name), node(format, id)).unwrap();
    }
    home
}

fn opened(home: &Path, format: Option<TextFormat>) -> isomorph_error::Result<DeepGnn> {
    DeepGnn::open(&Location::from_path(home), &OpenOptions { format, ..OpenOptions::default() })
}

/// Checks that the directory is refused as a graph, even if the format is given, and that the error names its files.
#[track_caller]
fn refused(home: &Path, format: Option<TextFormat>, files: &[&str]) {
    assert!(!detect(&Location::from_path(home)).unwrap());
    let error = opened(home, format).err().expect("the directory was read as one graph");
    assert_eq!(error.broken_rule(), Some(&rules::DATASET), "{error}");
    for file in files {
        assert!(error.hints().any(|hint| hint.contains(file)), "{file}: {error}");
    }
}

#[track_caller]
fn one_graph(home: &Path, format: Option<TextFormat>, nodes: u64) {
    let graph = opened(home, format).unwrap();
    assert_eq!(graph.graph().node_rows(), Some(nodes));
}

#[test]
fn unrelated_texts_are_not_one_graph() {
    for names in [
        ["people.linear", "social.linear"],
        ["people.json", "social.tsv"],
        ["part-0.tsv", "people.tsv"],
        ["people.json", "social.json"],
        ["party.tsv", "part-0.tsv"],
    ] {
        let home = directory(&names);
        refused(home.path(), None, &names);
    }
    let names = ["people.tsv", "social.tsv"];
    refused(directory(&names).path(), Some(TextFormat::Tsv), &names);
}

#[test]
fn parts_of_different_text_formats_are_not_one_graph() {
    let names = ["part-0.tsv", "part-1.linear"];
    refused(directory(&names).path(), None, &names);
}

#[test]
fn a_part_that_is_there_packed_and_unpacked_is_not_read_twice() {
    let home = directory(&["part-0.tsv"]);
    let packed = zstd::encode_all(node(TextFormat::Tsv, 0).as_bytes(), 1).unwrap();
    std::fs::write(home.path().join("part-0.tsv.zst"), packed).unwrap();
    refused(home.path(), None, &["part-0.tsv", "part-0.tsv.zst"]);
}

#[test]
fn a_text_with_a_sidecar_is_a_graph_of_its_own() {
    for names in [&["people.tsv"][..], &["part-0.tsv", "part-1.tsv"]] {
        let home = directory(names);
        one_graph(home.path(), None, names.len() as u64);
        std::fs::create_dir(home.path().join(format!("{}.isomorph", names[0]))).unwrap();
        refused(home.path(), None, names);
    }
}

#[test]
fn names_of_parts_say_that_files_are_one_graph() {
    for names in [
        ["part-0.tsv", "part-1.tsv"],
        ["part_00.linear", "part_01.linear"],
        ["part-00000-a.jsonl", "part-00001-a.jsonl"],
        ["part-0.json", "part-1.json"],
    ] {
        let home = directory(&names);
        std::fs::write(home.path().join("_SUCCESS"), "").unwrap();
        assert!(detect(&Location::from_path(home.path())).unwrap(), "{names:?}");
        one_graph(home.path(), None, 2);
    }
    // Names that do not state a format, as writers of texts choose them.
    one_graph(directory(&["part-00000", "part-00001"]).path(), Some(TextFormat::Tsv), 2);
}

#[test]
fn json_that_holds_no_nodes_is_no_part_of_a_text() {
    let home = directory(&["part-0.json", "part-1.json"]);
    std::fs::write(home.path().join("part-1.json"), "{\"id\": 1}\n").unwrap();
    assert!(!detect(&Location::from_path(home.path())).unwrap());
}

#[test]
fn a_pattern_says_it_too() {
    let home = directory(&["people.tsv", "social.tsv"]);
    one_graph(&home.path().join("*.tsv"), None, 2);
}

/// JSON lines may be anything: a table of edges, alone, compressed, or in parts.
#[test]
fn json_lines_of_something_else_are_not_a_text() {
    let line = b"{\"source\":\"a\",\"target\":\"b\"}\n";
    let packed = {
        use std::io::Write;
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(line).unwrap();
        out.finish().unwrap()
    };
    for names in [&["edges.jsonl"][..], &["edges.ndjson"], &["edges.jsonl.gz"], &["part-0.jsonl", "part-1.jsonl"]] {
        let home = tempfile::tempdir().unwrap();
        for name in names {
            let content = if name.ends_with(".gz") { &packed[..] } else { line };
            std::fs::write(home.path().join(name), content).unwrap();
        }
        for place in [home.path().to_owned(), home.path().join(names[0]), home.path().join("*.jsonl*")] {
            let is_found = detect(&Location::from_path(&place));
            assert!(!is_found.unwrap(), "{}", place.display());
        }
    }
    assert!(detect(&Location::from_path(directory(&["part-0.jsonl", "part-1.jsonl"]).path())).unwrap());
}
