//! DeepGNN: conversion of texts to binaries, and commands on both.

use crate::support::{Home, assert_screen, fixture};

/// Returns the files of a directory by name, without the sidecar folder.
fn files(directory: &std::path::Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let entries = entries.filter(|entry| entry.file_type().unwrap().is_file());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn a_text_becomes_the_binary_of_the_published_converter() {
    let text = fixture("deepgnn/karate/graph.tsv");
    let published = fixture("deepgnn/karate/bin_tsv_p3");
    let home = Home::new();
    let done = home.run(&["convert", &text, "binary", "--to", "deepgnn", "--partitions", "3"]).exits(0);
    assert!(done.out.contains("TSV text") && done.out.contains("binary v2, 3 partitions, with tables"), "{}", done.out);
    assert!(done.out.contains("edges    156") && done.out.contains("verified: output equals input"), "{}", done.out);
    assert!(files(&home.at("binary")) == files(std::path::Path::new(&published)));
    let done = home.run(&["convert", &text, "again", "--to", "deepgnn", "--no-verify", "--no-samplers"]).exits(0);
    assert!(done.out.contains("not verified, as requested"), "{}", done.out);
    // With declared types, the binary equals the text, except for node weights, which a binary does not store.
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
    let text = fixture("deepgnn/hetero/graph.linear");
    let binary = fixture("deepgnn/hetero/bin_edgelist_p3");
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
fn a_node_that_several_lines_describe_is_counted_once() {
    let home = Home::new();
    std::fs::write(
        home.at("split.linear"),
        "-1 5 0 1 float32 1 2\n-1 1 0 1\n-1 5 0 1 float32 0 text 1 x\n".replace("text", "binary_feature"),
    )
    .unwrap();
    home.run(&["convert", "split.linear", "binary", "--to", "deepgnn", "--partitions", "2"]).exits(0);
    for path in ["split.linear", "binary"] {
        let document = home.run(&["info", path, "--json"]).exits(0).out;
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        assert_eq!(document["nodes"][0]["count"], 2, "{document}");
    }
}

#[test]
fn a_line_that_is_wrong_is_named_and_nothing_is_published() {
    let text = fixture("deepgnn/seed_linear/graph.linear");
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
    let text = fixture("deepgnn/seed_tsv/graph_verbatim.tsv");
    let home = Home::new();
    let done = home.run(&["convert", &text, "binary", "--to", "deepgnn", "--json"]).exits(0);
    let found = done.json()["findings"].to_string();
    for rule in ["DEEPGNN-TSV-WIDTH", "DEEPGNN-NEIGHBOR-FIELDS"] {
        assert!(found.contains(rule), "{rule}: {found}");
    }
}

#[test]
fn a_graph_becomes_another_and_is_still_itself() {
    let text = fixture("deepgnn/karate/graph.tsv");
    let home = Home::new();
    let done = home.run(&["convert", &text, "karate.parq"]).exits(0);
    for line in ["DeepGNN → NOCK (Parquet)", "rel_name 0, props weight 0", "verified: output equals input"] {
        assert!(done.out.contains(line), "{line}: {}", done.out);
    }
    home.run(&["diff", &text, "karate.parq"]).exits(0);
    home.run(&["convert", "karate.parq", "karate.tsv"]).exits(0);
    home.run(&["diff", &text, "karate.tsv"]).exits(0);
    home.run(&["convert", &text, "c", "--to", "deepgnn", "--strict"]).exits(2);
}

#[test]
fn binaries_and_texts_become_one_another() {
    let text = fixture("deepgnn/karate/graph.linear");
    let published = fixture("deepgnn/karate/bin_linear_p1");
    let home = Home::new();
    // Other partitions, and back: node weights are recovered from the tables, the only place where a binary has them.
    let done = home.run(&["convert", &published, "three", "--to", "deepgnn", "--partitions", "3"]).exits(0);
    assert!(
        done.out.contains("binary v2, 3 partitions") && done.out.contains("verified: output equals input"),
        "{}",
        done.out
    );
    assert!(done.out.contains("weights of nodes"), "{}", done.out);
    home.run(&["convert", "three", "one", "--to", "deepgnn"]).exits(0);
    assert!(files(&home.at("one")) == files(std::path::Path::new(&published)));
    // A text needs feature types; the error says so for the graph of its binary, too.
    let done = home.run(&["convert", "one", "graph.tsv.gz"]).exits(4);
    assert!(done.err.contains("--node-features") && !home.at("graph.tsv.gz").exists(), "{}", done.err);
    let types = ["--node-features", "0:float32,1:int64,2:text", "--edge-features", "0:float32"];
    let done = home.run(&[&["convert", "one", "graph.tsv.gz"][..], &types].concat()).exits(0);
    assert!(done.out.contains("TSV text") && done.out.contains("verified: output equals input"), "{}", done.out);
    for (from, to, how) in [
        (text.as_str(), "graph.json", &["--to", "deepgnn"][..]),
        ("graph.json", "graph.edgelist.zst", &[]),
        ("graph.edgelist.zst", "words.linear", &["--to", "deepgnn", "--text", "linear"]),
    ] {
        let done = home.run(&[&["convert", from, to], how].concat()).exits(0);
        assert!(done.out.contains("verified: output equals input"), "{from} {to}: {}", done.out);
    }
    home.run(&["diff", &text, "graph.edgelist.zst"]).exits(0);
    home.run(&["convert", "words.linear", "again", "--to", "deepgnn", "--from", "deepgnn", "--text-format", "linear"])
        .exits(0);
    assert!(files(&home.at("again")) == files(std::path::Path::new(&published)));
}

#[test]
fn neighbours_are_found_in_texts_and_in_scattered_partitions() {
    let text = fixture("deepgnn/karate/graph.json");
    let scattered = fixture("deepgnn/karate/bin_edgelist_p3");
    let hetero = fixture("deepgnn/hetero/graph.linear");
    let home = Home::new();
    let keys = |path: &str, how: &[&str]| -> Vec<u64> {
        let document = home.run(&[&["neighbors", path], how, &["--json"]].concat()).exits(0).json();
        let found = document["neighbors"].as_array().unwrap();
        let mut keys: Vec<u64> = found.iter().map(|neighbor| neighbor["key"].as_u64().unwrap()).collect();
        keys.sort_unstable();
        keys
    };
    // The edges of the same nodes in the dump, by source and by target.
    let dump = home.run(&["dump", &text]).exits(0).out;
    let edges: Vec<(u64, u64)> = dump
        .lines()
        .filter(|line| line.starts_with("{\"edge\""))
        .map(|line| -> serde_json::Value { serde_json::from_str(line).unwrap() })
        .map(|edge| (edge["ends"][0].as_u64().unwrap(), edge["ends"][1].as_u64().unwrap()))
        .collect();
    assert_eq!(edges.len(), 156);
    for node in [0, 11, 33] {
        let mut out: Vec<u64> = edges.iter().filter(|edge| edge.0 == node).map(|edge| edge.1).collect();
        let mut back: Vec<u64> = edges.iter().filter(|edge| edge.1 == node).map(|edge| edge.0).collect();
        out.sort_unstable();
        back.sort_unstable();
        for path in [&text, &scattered] {
            assert_eq!(keys(path, &[&node.to_string()]), out, "{path} {node}");
            assert_eq!(keys(path, &[&node.to_string(), "--in"]), back, "{path} {node}");
        }
    }
    let done = home.run(&["neighbors", &scattered, "0", "--limit", "3", "--edge-features", "0:float32"]).exits(0);
    assert_screen("neighbors_deepgnn", &done.out);
    for path in [&text, &scattered] {
        let done = home.run(&["neighbors", path, "34"]).exits(3);
        assert!(done.err.contains("there is no node 34"), "{}", done.err);
    }
    // The target of an edge may be an id without a node; its edges are found all the same.
    let info = home.run(&["info", &hetero]).exits(0);
    assert_screen("info_deepgnn", &info.screen());
}

#[test]
fn what_a_text_has_no_place_for_is_said_before() {
    let text = fixture("deepgnn/hetero/graph.linear");
    let home = Home::new();
    let done = home.run(&["convert", &text, "graph.tsv"]).exits(4);
    assert!(done.err.contains("TSV does not support features of type sparse"), "{}", done.err);
    let done = home.run(&["convert", &text, "graph.json", "--to", "deepgnn", "--no-samplers"]).exits(2);
    assert!(done.err.contains("--no-samplers applies to binaries"), "{}", done.err);
    let done =
        home.run(&["convert", &text, "graph.json", "--to", "deepgnn", "--partitions", "2", "--leave-out"]).exits(2);
    assert!(done.err.contains("--leave-out applies to Linear and EdgeList texts"), "{}", done.err);
    assert!(!home.at("graph.tsv").exists() && !home.at("graph.json").exists());
    // A format that cannot store both texts accepts one, and the plan names it.
    std::fs::write(home.at("texts.json"), "{\"node_id\": 1, \"node_type\": 0, \"node_weight\": 1, \"edge\": []}\n{\"node_id\": 5, \"node_type\": 0, \"node_weight\": 1, \"binary_feature\": {\"0\": \"a b, c\\\\\"}, \"edge\": []}\n")
        .unwrap();
    for (to, words) in [("g.linear", "--text json"), ("g.edgelist", "a b, c"), ("g.tsv", "TSV")] {
        let done = home.run(&["convert", "texts.json", to, "--plan"]).exits(4);
        assert!(done.err.contains("node 5, 0") && done.err.contains(words), "{}", done.err);
    }
    home.run(&["convert", "texts.json", "g.jsonl", "--to", "deepgnn", "--plan"]).exits(0);
}

#[test]
fn a_text_in_several_files_with_defaults_is_the_same_graph() {
    let text = fixture("deepgnn/karate/graph.linear");
    let home = Home::new();
    let parts = ["--to", "deepgnn", "--partitions", "12", "--leave-out"];
    let done = home.run(&[&["convert", &text, "parts", "--text", "linear"][..], &parts].concat()).exits(0);
    assert!(done.out.contains("Linear text, a directory of 12 files, with a file of defaults"), "{}", done.out);
    assert!(home.at("parts/part-00.linear").is_file() && home.at("parts/meta.json").is_file());
    home.run(&["diff", &text, "parts"]).exits(0);
    home.run(&[&["convert", "parts", "again.edgelist.gz"][..], &parts].concat()).exits(0);
    assert!(home.at("again.edgelist.gz/part-11.edgelist.gz").is_file());
    home.run(&["diff", &text, "again.edgelist.gz"]).exits(0);
}

#[test]
fn any_graph_becomes_a_binary_and_comes_back() {
    let home = Home::with_people();
    let done = home.run(&["convert", "people.csv", "b", "--to", "deepgnn", "--partitions", "2"]).exits(0);
    for line in
        ["binary v2, 2 partitions", "type 0, id = row", "the meaning of each feature", "verified: output equals input"]
    {
        assert!(done.out.contains(line), "{line}: {}", done.out);
    }
    home.run(&["diff", "people.csv", "b"]).exits(0);
    home.run(&["validate", "b"]).exits(0);
    // Round trips from there to other formats.
    for to in ["again.graphar", "again.annnet", "again.csv"] {
        home.run(&["convert", "b", to]).exits(0);
        home.run(&["diff", "people.csv", to]).exits(0);
    }
    // Without the sidecar it is an ordinary binary: nodes, types, and features as bytes.
    let done = home.run(&["info", "b", "--sidecar", "ignore"]).exits(0);
    assert!(done.out.contains("DeepGNN (binary)"), "{}", done.out);
}

#[test]
fn a_text_that_something_travels_beside_becomes_a_binary() {
    let home = Home::new();
    home.write("s.nt", "<urn:a> <urn:p> <urn:b> .\n<urn:b> <urn:q> \"text\" .\n");
    home.write("s.csv", crate::support::PEOPLE);
    for source in ["s.nt", "s.csv"] {
        let (text, binary) = (format!("{source}.json"), format!("{source}.bin"));
        home.run(&["convert", source, &text, "--to", "deepgnn", "--text", "json"]).exits(0);
        let planned = home.run(&["convert", &text, &binary, "--to", "deepgnn", "--plan"]).exits(0);
        assert!(planned.out.contains("binary v2"), "{}", planned.out);
        home.run(&["convert", &text, &binary, "--to", "deepgnn"]).exits(0);
        home.run(&["diff", source, &binary]).exits(0);
    }
}

/// Features of one type or of several, with gaps and unordered ids, on nodes and edges: every text is converted to
/// every format and back.
#[test]
fn two_features_of_a_type_come_back_from_every_format() {
    let tsv = |first: &str, second: &str| {
        format!("1\t0\t1.5\t{first}\t2,0,1.5,{first}|3,1,2,{second}\n2\t1\t2\t{second}\t1,0,1,{first}\n3\t0\t1\t\t\n")
    };
    let json = |features: &str| {
        let edge = format!("{{\"src_id\":1,\"dst_id\":2,\"edge_type\":0,\"weight\":2,{features}}}");
        let node = |id: u64, more: &str, edge: &str| {
            format!("{{\"node_id\":{id},\"node_type\":0,\"node_weight\":1.5{more},\"edge\":[{edge}]}}\n")
        };
        node(1, &format!(",{features}"), &edge) + &node(2, "", "")
    };
    let sparse = "{\"coordinates\":[1,4],\"values\":[0.5,2]}";
    let wide = "{\"coordinates\":[[0,3],[1,4]],\"values\":[0.25,8]}";
    let graphs = [
        ("graph.tsv", tsv("f:0.5 2;f:1", "f:3;f:4 5")),
        ("graph.tsv", tsv("d:0.25;d:2 3", ";d:7")),
        ("graph.tsv", tsv("f:1;b:abc;f:2;b:de", "b:f;;f:1")),
        ("graph.tsv", tsv("i32:7;i32:8 9;i64:1", "i32:1")),
        ("graph.json", json("\"float_feature\":{\"1\":[0.5,2],\"0\":[1]}")),
        ("graph.json", json(&format!("\"sparse_float_feature\":{{\"5\":{sparse},\"3\":{wide}}}"))),
        ("graph.json", json(&format!("\"float_feature\":{{\"2\":[1]}},\"sparse_float_feature\":{{\"0\":{sparse}}}"))),
    ];
    let home = Home::new();
    let outputs =
        ["a.linear", "a.edgelist", "a.json", "a.tsv", "a.deepgnn", "a.parq", "a.graphar", "a.annnet", "a.lake", "a.nq"];
    for (number, (name, text)) in graphs.iter().enumerate() {
        let (from, back) = (format!("{number}-{name}"), |output: &str| format!("{number}-{output}.back-{name}"));
        home.write(&from, text);
        for output in outputs {
            let to = format!("{number}-{output}");
            if output == "a.tsv" && text.contains("sparse") {
                let done = home.run(&["convert", &from, &to, "--to", "deepgnn"]).exits(4);
                assert!(done.err.contains("TSV does not support features of type sparse-float32"), "{}", done.err);
                continue;
            }
            let format: &[&str] = if output == "a.json" { &["--to", "deepgnn"] } else { &[] };
            home.run(&[&["convert", &from, &to][..], format].concat()).exits(0);
            home.run(&["convert", &to, &back(output), "--to", "deepgnn"]).exits(0);
            home.run(&["diff", &from, &back(output)]).exits(0);
        }
    }
}

/// In a graph without edges, an unknown node is still an error.
#[test]
fn a_node_that_is_not_there_is_none_in_a_copy_without_edges() {
    let home = Home::new();
    home.write("y.json", "{\"node_id\":7,\"node_type\":0,\"node_weight\":1,\"edge\":[]}\n");
    for output in ["y.parq", "y.graphar", "y.annnet", "y.lake"] {
        home.run(&["convert", "y.json", output]).exits(0);
    }
    for path in ["y.json", "y.parq", "y.graphar", "y.annnet", "y.lake"] {
        for side in [&[][..], &["--in"], &["--both"]] {
            home.run(&[&["neighbors", path, "7"][..], side].concat()).exits(0);
            let done = home.run(&[&["neighbors", path, "999999"][..], side].concat()).exits(3);
            assert!(done.err.contains("there is no node"), "{path}: {}", done.err);
        }
    }
}

/// Python reads the integer `-0` as 0, and `-0.0` as a float with its sign.
#[test]
fn a_zero_with_a_sign_is_what_python_has() {
    let home = Home::new();
    let line = "{\"node_id\":0,\"node_type\":0,\"node_weight\":1,\"float_feature\":{\"0\":[-0,-0.0]},\"edge\":[]}\n";
    home.write("z.json", line);
    let dump = home.run(&["dump", "z.json"]).exits(0).out;
    assert!(dump.contains("[0.0,-0.0]"), "{dump}");
}
