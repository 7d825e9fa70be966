//! DeepGNN texts: errors, warnings and detection.

use crate::support::Home;

/// Returns a JSON node without edges, with further members.
fn node(id: u64, more: &str) -> String {
    format!("{{\"node_id\":{id},\"node_type\":0,\"node_weight\":1,\"edge\":[]{more}}}\n")
}

#[test]
fn fractions_of_integers_are_refused_or_dropped_as_asked() {
    let home = Home::new();
    let text = node(1, "") + &node(2, ",\"int32_feature\":{\"0\":[1.5,-2.9]}");
    std::fs::write(home.at("graph.jsonl"), text).unwrap();
    let dump = home.run(&["dump", "graph.jsonl"]).exits(3);
    for words in ["DEEPGNN-NUMBER", "1.5", "graph.jsonl, line 2", "--compat deepgnn"] {
        assert!(dump.err.contains(words), "{words}: {}", dump.err);
    }
    home.run(&["convert", "graph.jsonl", "binary", "--to", "deepgnn"]).exits(3);
    assert!(!home.at("binary").exists());
    let dump = home.run(&["dump", "graph.jsonl", "--compat", "deepgnn"]).exits(0);
    assert!(dump.out.contains("\"0\":[1,-2]"), "{}", dump.out);
}

#[test]
fn negative_weights_are_told_of() {
    let home = Home::new();
    std::fs::write(home.at("graph.edgelist"), "1,-1,0,-1\n1,0,2,-2\n1,0,3,1\n1,0,4,5\n2,-1,0,3\n").unwrap();
    let rules = |args: &[&str]| home.run(args).json()["findings"].to_string();
    let found = rules(&["validate", "graph.edgelist", "--json"]);
    assert!(found.contains("DEEPGNN-NEGATIVE") && found.contains("\"count\":2"), "{found}");
    let found = rules(&["convert", "graph.edgelist", "binary", "--to", "deepgnn", "--json"]);
    assert!(found.contains("DEEPGNN-NEGATIVE"), "{found}");
    let found = rules(&["validate", "binary", "--json"]);
    assert!(found.contains("DEEPGNN-NEGATIVE") && found.contains("DEEPGNN-ALIAS"), "{found}");
    for rule in ["DEEPGNN-NEGATIVE", "DEEPGNN-ALIAS"] {
        let said = home.run(&["explain", rule]).exits(0);
        assert!(said.out.contains("--no-samplers"), "{}", said.out);
    }
    // The hint works: without tables, there are no invalid probabilities.
    home.run(&["convert", "graph.edgelist", "bare", "--to", "deepgnn", "--no-samplers"]).exits(0);
    assert!(!rules(&["validate", "bare", "--json"]).contains("DEEPGNN-ALIAS"));
}

#[test]
fn an_edge_list_has_times_when_its_sidecar_says_so() {
    let home = Home::new();
    let edge = "{\"src_id\":0,\"dst_id\":1,\"edge_type\":0,\"weight\":1,\"created_at\":3,\"removed_at\":-1}";
    let first = format!(
        "{{\"node_id\":0,\"node_type\":0,\"node_weight\":1,\"created_at\":2,\"removed_at\":-1,\"edge\":[{edge}]}}\n"
    );
    std::fs::write(home.at("graph.json"), first + &node(1, "")).unwrap();
    home.run(&["convert", "graph.json", "graph.parquet"]).exits(0);
    for (from, to, how) in [
        ("graph.json", "a.edgelist", &[][..]),
        ("graph.parquet", "b.edgelist", &[]),
        ("graph.json", "several", &["--text", "edgelist", "--partitions", "2"]),
        ("a.edgelist", "c.edgelist", &[]),
    ] {
        let done = home.run(&[&["convert", from, to, "--to", "deepgnn"], how].concat()).exits(0);
        assert!(done.out.contains("verified: output equals input"), "{from} {to}: {}", done.out);
        home.run(&["diff", "graph.json", to]).exits(0);
        home.run(&["validate", to]).exits(0);
        home.run(&["info", to]).exits(0);
    }
    // A stale sidecar also states it, even if the files are read without it.
    let text = std::fs::read_to_string(home.at("c.edgelist")).unwrap();
    std::fs::write(home.at("c.edgelist"), text.replace(",1,1.0,3", ",1,1.5,3")).unwrap();
    assert!(home.run(&["info", "c.edgelist"]).exits(0).out.contains("created_at"));
    let done = home.run(&["validate", "c.edgelist"]);
    assert!(done.err.contains("CARRY-STALE") || done.out.contains("CARRY-STALE"), "{} {}", done.out, done.err);
    // Without the sidecar, it must be given as a flag.
    std::fs::copy(home.at("a.edgelist"), home.at("alone.edgelist")).unwrap();
    home.run(&["dump", "alone.edgelist"]).exits(3);
    home.run(&["diff", "graph.json", "a.edgelist"]).exits(0);
    let dump = home.run(&["dump", "alone.edgelist", "--temporal"]).exits(0);
    assert!(dump.out.contains("\"created_at\":3"), "{}", dump.out);
    home.run(&["convert", "alone.edgelist", "d.edgelist", "--to", "deepgnn", "--temporal"]).exits(0);
    home.run(&["diff", "graph.json", "d.edgelist"]).exits(0);
}

#[test]
fn words_for_text_are_named_for_each_format() {
    let home = Home::new();
    std::fs::write(home.at("graph.linear"), "-1 0 1 .5 text 1 abc\n").unwrap();
    let dump = home.run(&["dump", "graph.linear"]).exits(3);
    assert!(dump.err.contains("binary_feature in Linear"), "{}", dump.err);
    std::fs::write(home.at("graph.linear"), "-1 0 1 .5 binary_feature 1 abc\n").unwrap();
    home.run(&["dump", "graph.linear"]).exits(0);
}

#[test]
fn parts_of_json_are_one_text() {
    let home = Home::new();
    std::fs::create_dir(home.at("graph")).unwrap();
    for id in [0, 1] {
        std::fs::write(home.at(&format!("graph/part-{id}.json")), node(id, "")).unwrap();
    }
    let info = home.run(&["info", "graph"]).exits(0);
    assert!(info.out.contains("DeepGNN (JSON)") && info.out.contains("2 files"), "{}", info.out);
    // A text without nodes is not a graph.
    std::fs::write(home.at("graph/part-1.json"), "{\"id\": 1}\n").unwrap();
    home.run(&["info", "graph", "--from", "deepgnn"]).exits(3);
    let info = home.run(&["dump", "graph"]).exits(3);
    assert!(
        info.err.contains("not a graph itself") || info.err.contains("not a recognised graph format"),
        "{}",
        info.err
    );
}

#[test]
fn a_text_format_makes_a_text_of_any_name() {
    let home = Home::new();
    for name in ["graph.csv", "graph.txt"] {
        std::fs::write(home.at(name), "0,-1,1,.5\n0,0,1,.5\n").unwrap();
        let dump = home.run(&["dump", name, "--text-format", "edgelist"]).exits(0);
        assert!(dump.out.contains("\"ends\":[0,1]"), "{}", dump.out);
    }
    let done = home.run(&["dump", "graph.csv", "--temporal"]).exits(2);
    assert!(done.err.contains("--from deepgnn"), "{}", done.err);
    // A file that is recognised as another format is not read as a text.
    home.run(&["convert", "graph.txt", "nock.csv", "--from", "deepgnn", "--text-format", "edgelist"]).exits(0);
    let done = home.run(&["dump", "nock.csv", "--text-format", "edgelist"]).exits(2);
    assert!(done.err.contains("format is NOCK") && !done.err.contains("--from deepgnn"), "{}", done.err);
}

/// Sampling tables are one file per type: more than can be open at the same time.
#[cfg(unix)]
#[test]
fn a_binary_of_many_types_is_checked_with_few_open_files() {
    let home = Home::new();
    home.write("graph.edgelist", "7,-1,0,1\n7,150,7,7\n");
    home.run(&["convert", "graph.edgelist", "binary", "--to", "deepgnn"]).exits(0);
    let script = "ulimit -n 64 && exec \"$0\" validate binary";
    let mut shell = std::process::Command::new("sh");
    let done = shell.args(["-c", script, env!("CARGO_BIN_EXE_isomorph")]).current_dir(home.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Losses that the plan lists are dropped, and do not prevent the conversion.
#[test]
fn what_is_told_as_lost_is_left_out() {
    let home = Home::new();
    let node = |feature: &str| {
        format!(
            "{{\"node_id\":0,\"node_type\":0,\"node_weight\":1,{feature},\"float_feature\":{{\"1\":[0.5]}},\"edge\":[]}}\n"
        )
    };
    let sparse = "\"sparse_int16_feature\":{\"0\":{\"coordinates\":[1],\"values\":[2]}}";
    let timed = "\"int16_feature\":{\"0\":[{\"created_at\":1,\"values\":[1,2]}]}";
    home.write("sparse.json", node(sparse));
    home.write("timed.json", node(timed));
    home.run(&["convert", "sparse.json", "bytes", "--to", "deepgnn", "--lossy"]).exits(0);
    for (source, to, line) in [
        ("sparse.json", "s.tsv", "0\t0\t1.0\t;f32:0.5\t\n"),
        ("timed.json", "t.tsv", "0\t0\t1.0\t;f32:0.5\t\n"),
        ("timed.json", "t.linear", "-1 0 0 1.0 uint8 0 float32 1 0.5\n"),
        ("timed.json", "t.edgelist", "0,-1,0,1.0,uint8,0,float32,1,0.5\n"),
        ("bytes", "b.linear", "-1 0 0 1.0\n"),
    ] {
        home.run(&["convert", source, to]).exits(4);
        let lossy = ["convert", source, to, "--lossy"];
        let plan = home.run(&[&lossy[..], &["--plan"]].concat()).exits(0);
        assert!(plan.out.contains("dropped") && plan.out.contains("feature 0"), "{}", plan.out);
        home.run(&lossy).exits(0);
        assert_eq!(std::fs::read_to_string(home.at(to)).unwrap(), line, "{source} {to}");
    }
}
