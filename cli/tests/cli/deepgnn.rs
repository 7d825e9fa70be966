//! DeepGNN: texts into binaries, and both looked at.

use crate::support::{Home, fixture};

/// The bytes of the files of a directory, by name.
fn files(directory: &std::path::Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn a_text_becomes_the_binary_of_the_published_converter() {
    let Some(text) = fixture("deepgnn/karate/graph.tsv") else { return };
    let Some(published) = fixture("deepgnn/karate/bin_tsv_p3") else { return };
    let home = Home::new();
    let done = home.run(&["convert", &text, "binary", "--to", "deepgnn", "--partitions", "3"]).exits(0);
    assert!(done.out.contains("TSV text") && done.out.contains("binary v2, 3 partitions, with tables"), "{}", done.out);
    assert!(done.out.contains("edges    156") && done.out.contains("read back, and equal"), "{}", done.out);
    assert!(files(&home.at("binary")) == files(std::path::Path::new(&published)));
    let done = home.run(&["convert", &text, "again", "--to", "deepgnn", "--no-verify", "--no-samplers"]).exits(0);
    assert!(done.out.contains("not read back, as asked"), "{}", done.out);
    // Types that are declared make of the binary what the text says, but for weights of nodes, which it does not have.
    let types = ["--node-features", "0:float32,1:int64,2:text", "--edge-features", "0:float32"];
    let dump = |path: &str, types: &[&str]| home.run(&[&["dump", path], types].concat()).exits(0).out;
    let edges = |text: &str| {
        let mut lines: Vec<String> = text.lines().filter(|line| line.contains("\"edge\"")).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let (from_text, from_binary) = (edges(&dump(&text, &[])), edges(&dump("binary", &types)));
    assert_eq!(from_text.len(), 156, "{from_text:?}");
    assert_eq!(from_text, from_binary);
}

#[test]
fn both_are_looked_at() {
    let Some(text) = fixture("deepgnn/hetero/graph.linear") else { return };
    let Some(binary) = fixture("deepgnn/hetero/bin_edgelist_p3") else { return };
    let home = Home::new();
    let info = home.run(&["info", &text]).exits(0);
    assert!(info.out.contains("DeepGNN (Linear)") && info.out.contains("6 records"), "{}", info.out);
    let info = home.run(&["info", &binary]).exits(0);
    assert!(info.out.contains("DeepGNN (binary)") && info.out.contains("3 partitions"), "{}", info.out);
    for path in [&text, &binary] {
        home.run(&["digest", path]).exits(0);
        home.run(&["validate", path]).exits(0);
    }
}

#[test]
fn a_line_that_is_wrong_is_named_and_nothing_is_published() {
    let Some(text) = fixture("deepgnn/seed_linear/graph.linear") else { return };
    let home = Home::new();
    let done = home.run(&["convert", &text, "binary", "--to", "deepgnn", "--from", "deepgnn"]).exits(3);
    for words in ["DEEPGNN-COORDINATES", "line 1", "column 62", "2 points of coordinates for 3 values"] {
        assert!(done.err.contains(words), "{words}: {}", done.err);
    }
    assert!(!home.at("binary").exists());
    home.run(&["info", &text]).exits(3);
}

#[test]
fn what_is_mended_is_said() {
    let Some(text) = fixture("deepgnn/seed_tsv/graph_verbatim.tsv") else { return };
    let home = Home::new();
    let done = home.run(&["convert", &text, "binary", "--to", "deepgnn", "--json"]).exits(0);
    let found = done.json()["findings"].to_string();
    for rule in ["DEEPGNN-TSV-WIDTH", "DEEPGNN-NEIGHBOR-FIELDS"] {
        assert!(found.contains(rule), "{rule}: {found}");
    }
}

#[test]
fn a_graph_becomes_another_and_is_still_itself() {
    let Some(text) = fixture("deepgnn/karate/graph.tsv") else { return };
    let home = Home::new();
    let done = home.run(&["convert", &text, "karate.parq"]).exits(0);
    for line in ["DeepGNN → NOCK (Parquet)", "rel_name 0, props weight 0", "read back, and equal"] {
        assert!(done.out.contains(line), "{line}: {}", done.out);
    }
    home.run(&["diff", &text, "karate.parq"]).exits(0);
    let done = home.run(&["convert", "karate.parq", "b", "--to", "deepgnn"]).exits(3);
    assert!(done.err.contains("there is no mapping to DeepGNN yet"), "{}", done.err);
    home.run(&["convert", &text, "b", "--to", "deepgnn", "--no-verify"]).exits(0);
    let done = home.run(&["convert", "b", "c", "--to", "deepgnn"]).exits(3);
    assert!(done.err.contains("not written again yet"), "{}", done.err);
    home.run(&["convert", &text, "c", "--to", "deepgnn", "--strict"]).exits(2);
}
