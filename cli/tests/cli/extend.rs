//! `extend`: adds to a graph without rewriting existing files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{Home, social};

/// Copies the example to the directory `g`, with a table about three of its people.
fn extendable() -> Option<Home> {
    let social = social();
    let home = Home::new();
    home.run(&["convert", &social, "g", "--to", "graphar"]).exits(0);
    home.write("scores.csv", "note,id,score\nsecond,1028,2.5\n\"\",1007,-1\nlast,1287,\n");
    Some(home)
}

/// Returns all files below a directory, by path.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => open.push(entry),
                false => {
                    let name = entry.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, fs::read(&entry).unwrap());
                }
            }
        }
    }
    found
}

/// Returns the files that existed before and have changed.
fn changed(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    before.iter().filter(|(name, bytes)| after.get(*name) != Some(bytes)).map(|(name, _)| name.clone()).collect()
}

const COLUMNS: [&str; 8] =
    ["extend", "g", "--type", "person", "--table", "scores.csv", "--columns", "score:double,note"];

#[test]
fn columns_of_a_table_become_properties() {
    let Some(home) = extendable() else { return };
    let before = files(&home.at("g"));
    let done = home.run(&COLUMNS).exits(0);
    assert!(
        done.out.starts_with("added    person   score, note   3 nodes, null for 497 more\nwrote    g ("),
        "{}",
        done.out
    );
    let after = files(&home.at("g"));
    assert_eq!(changed(&before, &after), ["person.vertex.yml"]);
    home.run(&["validate", "g"]).exits(0);
    let dump = home.run(&["dump", "g"]).exits(0).out;
    let of =
        |key: &str| dump.lines().find(|line| line.contains(&format!("\"person\",\"key\":{key},"))).unwrap().to_owned();
    assert!(of("1007").contains("\"note\":\"\"") && of("1007").contains("\"score\":-1.0"), "{}", of("1007"));
    assert!(of("1028").contains("\"note\":\"second\",\"score\":2.5"), "{}", of("1028"));
    assert!(of("1287").contains("\"note\":\"last\"") && !of("1287").contains("score"), "{}", of("1287"));
    assert_eq!(dump.matches("\"note\"").count(), 3);
}

#[test]
fn what_is_said_for_machines_adds_up() {
    let Some(home) = extendable() else { return };
    let before = files(&home.at("g"));
    let document = home.run(&[&COLUMNS[..], &["--file-type", "csv", "--json"]].concat()).exits(0).json();
    let after = files(&home.at("g"));
    let new = after.iter().filter(|(name, bytes)| before.get(*name) != Some(bytes));
    let (count, bytes) = new.fold((0, 0), |(count, sum), (_, bytes)| (count + 1, sum + bytes.len() as u64));
    assert_eq!((document["files"].as_u64(), document["bytes"].as_u64()), (Some(count), Some(bytes)));
    assert_eq!((document["rows"].as_u64(), document["without"].as_u64()), (Some(3), Some(497)));
    assert_eq!(document["properties"], serde_json::json!(["score", "note"]));
}

#[test]
fn rows_can_be_named_by_their_number() {
    let Some(home) = extendable() else { return };
    home.write("rows.csv", "_graphArVertexIndex,rank\n39,last\n0,first\n");
    home.run(&["extend", "g", "--type", "city", "--table", "rows.csv"]).exits(0);
    let dump = home.run(&["dump", "g"]).exits(0).out;
    let cities: Vec<&str> = dump.lines().filter(|line| line.starts_with("{\"node\":\"city\"")).collect();
    assert!(cities[0].contains("\"rank\":\"first\"") && cities[39].contains("\"rank\":\"last\""), "{cities:?}");
}

#[test]
fn an_adjacency_list_is_a_copy_that_changes_nothing() {
    let Some(home) = extendable() else { return };
    let digest = || home.run(&["digest", "g", "--json"]).exits(0).json()["content"].clone();
    let (before, content) = (files(&home.at("g")), digest());
    let list = ["extend", "g", "--type", "likes", "--adj-list", "unordered_by_source"];
    let done = home.run(&list).exits(0);
    assert!(
        done.out.starts_with("added    likes   adjacency list unordered_by_source   2,970 edges\n"),
        "{}",
        done.out
    );
    assert_eq!(changed(&before, &files(&home.at("g"))), ["person_likes_post.edge.yml"]);
    assert_eq!(digest(), content);
    home.run(&["validate", "g"]).exits(0);
    home.run(&list).exits(2);
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let Some(home) = extendable() else { return };
    let before = files(&home.at("g"));
    home.write("unknown.csv", "id,x\n1007,a\n77,b\n");
    home.write("twice.csv", "id,x\n1007,a\n1028,b\n1007,c\n");
    home.write("keyless.csv", "who,x\n1007,a\n");
    home.write("taken.csv", "id,email\n1007,a\n");
    let refused = |code, says: &str, arguments: &[&str]| {
        let done = home.run(&[&["extend", "g"], arguments].concat()).exits(code);
        assert!(done.err.contains(says) && done.err.ends_with("no changes were made\n"), "{}", done.err);
    };
    refused(3, "the row refers to 77, which is not a node", &["--type", "person", "--table", "unknown.csv"]);
    refused(3, "the row refers to the same node as another row", &["--type", "person", "--table", "twice.csv"]);
    refused(2, "no column of the table identifies the nodes", &["--type", "person", "--table", "keyless.csv"]);
    refused(3, "property email already exists", &["--type", "person", "--table", "taken.csv"]);
    refused(2, "there is no node type people", &["--type", "people", "--table", "scores.csv"]);
    refused(2, "likes is an edge type", &["--type", "likes", "--table", "scores.csv"]);
    refused(2, "there is no edge type admires", &["--type", "admires", "--adj-list", "unordered_by_dest"]);
    refused(3, "no such file", &["--type", "person", "--table", "missing.csv"]);
    assert_eq!(files(&home.at("g")), before);
    home.run(&["extend", "g", "--type", "person"]).exits(2);
    home.run(&["convert", "g", "n.parq"]).exits(0);
    home.run(&["extend", "n.parq", "--type", "person", "--table", "scores.csv"]).exits(2);
}

#[test]
fn what_is_carried_stays_true() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar", "--adj-lists", "ordered_by_source"]).exits(0);
    home.run(&["extend", "g", "--type", "knows", "--adj-list", "ordered_by_dest"]).exits(0);
    home.run(&["carry", "show", "g"]).exits(0);
    home.run(&["diff", "people.csv", "g"]).exits(0);
    home.write("more.csv", "id,x\nada,1\n");
    let done = home.run(&["extend", "g", "--type", "node", "--table", "more.csv"]).exits(4);
    assert!(done.err.contains("isomorph sidecar drop g"), "{}", done.err);
    home.run(&["carry", "drop", "g"]).exits(0);
    home.run(&["extend", "g", "--type", "node", "--table", "more.csv"]).exits(0);
    home.run(&["validate", "g"]).exits(0);
}

/// Creates an annnet graph of the people in the directory `net`.
fn annnet() -> Home {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "net", "--to", "annnet", "--lossy", "--epoch", "0"]).exits(0);
    home
}

#[test]
fn annnet_graphs_get_vertices_edges_slices_attributes_and_notes() {
    let home = annnet();
    home.write("v.csv", "id,slices,age\neve,,41\nbob,,\n");
    home.write(
        "e.jsonl",
        "{\"id\":\"t1\",\"source\":\"eve\",\"target\":\"ada\",\"weight\":2,\"since\":2024}\n{\"id\":\"h1\",\"members\":[\"eve\",\"bob\",\"ada\"]}\n",
    );
    let done =
        home.run(&["extend", "net", "--vertices", "v.csv", "--edges", "e.jsonl", "--columns", "age:int64,since:int64"]);
    assert!(
        done.code == 0 && done.out.starts_with("changed  2 nodes, 2 edges   version 1\nwrote    net ("),
        "{}{}",
        done.out,
        done.err
    );
    home.write("s.csv", "node,edge,weight\neve,,\n,t1,0.5\n");
    home.run(&["extend", "net", "--slice", "recent=s.csv", "--history", "more of them", "--epoch", "60"]).exits(0);
    home.write("a.csv", "node_id,age\neve,42\n");
    let document =
        home.run(&["extend", "net", "--attributes", "nodes=a.csv", "--columns", "age:int64", "--json"]).exits(0).json();
    assert_eq!((document["graph_version"].as_i64(), document["whole"].as_bool()), (Some(3), Some(false)));
    // A name may contain `=`, or be empty.
    home.run(&["extend", "net", "--slice", "n=w=s.csv"]).exits(0);
    home.run(&["extend", "net", "--slice", "=s.csv"]).exits(0);
    home.run(&["validate", "net"]).exits(0);
    let dump = home.run(&["dump", "net"]).exits(0).out;
    for name in ["n=w", ""] {
        assert!(dump.contains(&format!("{{\"group\":\"slice\",\"key\":\"{name}\"")), "{name}: {dump}");
    }
    let line = |start: &str| {
        dump.lines().find(|line| line.contains(start)).unwrap_or_else(|| panic!("{start}: {dump}")).to_owned()
    };
    assert!(line("\"key\":\"eve\"").contains("\"age\":42"), "{}", line("\"key\":\"eve\""));
    assert!(line("\"t1\"").contains("\"since\":2024"), "{}", line("\"t1\""));
    assert!(line("\"history\"").contains("\"rows\":1"), "{}", line("\"history\""));
}

#[test]
fn annnet_graphs_get_views_for_look_ups() {
    let home = annnet();
    home.write("e.csv", "id,source,target\nt1,ada,ada\n");
    home.run(&["convert", "net", "fresh", "--to", "annnet"]).exits(0);
    for form in ["net", "net.annnet", "text", "text.annnet"] {
        if form != "net" {
            let layout = if form.starts_with("text") { "1.1" } else { "v2" };
            home.run(&["convert", "fresh", form, "--to", "annnet", "--layout", layout]).exits(0);
        }
        let before = home.run(&["neighbors", form, "ada", "--both"]).exits(0).out;
        let done = home.run(&["extend", form, "--cache"]).exits(0);
        assert!(
            done.out.starts_with("built    views for look-ups   cache/csr.zarr, cache/csc.zarr\nwrote"),
            "{}",
            done.out
        );
        assert_eq!(home.run(&["neighbors", form, "ada", "--both"]).exits(0).out, before);
        home.run(&["validate", form]).exits(0);
        let done = home.run(&["extend", form, "--edges", "e.csv"]).exits(0);
        assert!(done.out.contains("removed  cache, now out of date"), "{}", done.out);
        assert!(done.out.contains(&format!("isomorph extend {form} --cache")), "{}", done.out);
        let document = home.run(&["extend", form, "--history", "x", "--cache", "--json"]).exits(0).json();
        assert_eq!((document["views"].as_bool(), document["graph_version"].as_i64()), (Some(true), Some(2)));
        home.run(&["validate", form]).exits(0);
        assert!(home.run(&["neighbors", form, "ada"]).exits(0).out.contains("node ada"));
    }
    home.run(&["extend", "net", "--cache", "--type", "x", "--adj-list", "unordered_by_source"]).exits(2);
}

#[test]
fn what_does_not_fit_an_annnet_graph_is_refused_and_changes_nothing() {
    let home = annnet();
    let before = files(&home.at("net"));
    home.write("twice.csv", "id\nada\n");
    home.write("loose.csv", "id,source,target\nt,ada,nobody\n");
    home.write("typo.jsonl", "{\"id\":\"t\",\"source\":\"ada\",\"tarmac\":\"ada\"}\n");
    home.write("s.csv", "node\nnobody\n");
    let refused = |code, says: &str, arguments: &[&str]| {
        let done = home.run(&[&["extend", "net"], arguments].concat()).exits(code);
        assert!(done.err.contains(says) && done.err.ends_with("no changes were made\n"), "{}", done.err);
        assert_eq!(files(&home.at("net")), before, "{arguments:?}");
    };
    refused(3, "\"ada\" already exists", &["--vertices", "twice.csv"]);
    refused(3, "\"nobody\" is not an entity", &["--edges", "loose.csv"]);
    refused(3, "tarmac", &["--edges", "typo.jsonl"]);
    refused(3, "there is no node \"nobody\"", &["--slice", "x=s.csv"]);
    home.run(&["extend", "net", "--attributes", "people=s.csv"]).exits(2);
    home.run(&["extend", "net"]).exits(2);
    home.run(&["convert", "people.csv", "held", "--to", "annnet"]).exits(0);
    let done = home.run(&["extend", "held", "--history", "x"]);
    assert!(done.code == 4 && done.err.contains("sidecar drop"), "{}{}", done.out, done.err);
}

#[test]
fn conversions_are_told_and_are_no_content() {
    let home = annnet();
    let told = fs::read_to_string(home.at("net/audit/provenance.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (told["conversion"]["from"].as_str(), told["conversion"]["format"].as_str()),
        (Some("people.csv"), Some("NOCK"))
    );
    assert_eq!(told["conversion"]["ts_utc"], "1970-01-01T00:00:00.000000Z");
    assert!(home.at("net/audit/history.parquet").is_file());
    home.run(&["convert", "net", "again", "--to", "annnet"]).exits(0);
    home.run(&["diff", "net", "again", "--exact"]).exits(0);
    assert!(!home.run(&["dump", "again"]).exits(0).out.contains("\"document\":\"history\""));
}

#[test]
fn files_that_no_layout_names_and_the_provenance_come_back() {
    let home = annnet();
    fs::create_dir_all(home.at("net/uns/results")).unwrap();
    fs::write(home.at("net/uns/results/model.bin"), [0, 1, 255]).unwrap();
    fs::write(home.at("net/notes.txt"), "n\u{fc}tzlich").unwrap();
    let original = r#"{"created": "x", "annnet_version": "0.4.1", "python_version": "3"}"#;
    fs::write(home.at("net/audit/provenance.json"), original).unwrap();
    fs::create_dir(home.at("secret")).unwrap();
    fs::rename(home.at("net"), home.at("secret/net")).unwrap();
    let plan = home.run(&["convert", "secret/net", "rows", "--to", "graphar", "--plan"]).exits(0);
    assert!(plan.out.contains("files notes.txt, uns/results/model.bin"), "{}", plan.out);
    for (format, there) in [("graphar", "rows"), ("nock", "nodes.csv"), ("annnet", "same")] {
        home.run(&["convert", "secret/net", there, "--to", format]).exits(0);
        let back = format!("back-{format}");
        home.run(&["convert", there, &back, "--to", "annnet"]).exits(0);
        assert_eq!(fs::read(home.at(&format!("{back}/uns/results/model.bin"))).unwrap(), [0, 1, 255], "{format}");
        assert_eq!(fs::read_to_string(home.at(&format!("{back}/notes.txt"))).unwrap(), "n\u{fc}tzlich");
        let told = fs::read_to_string(home.at(&format!("{back}/audit/provenance.json"))).unwrap();
        assert!(!told.contains("secret"), "{told}");
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["original"]["annnet_version"], "0.4.1");
        assert!(told["original"].get("original").is_none());
    }
    // A file that is too large for the sidecar is reported as lost.
    fs::write(home.at("secret/net/large.bin"), vec![7; 2 << 20]).unwrap();
    let refused = home.run(&["convert", "secret/net", "other", "--to", "graphar"]).exits(4);
    assert!(refused.err.contains("large.bin would be lost"), "{}", refused.err);
    let lossy = home.run(&["convert", "secret/net", "other", "--to", "graphar", "--lossy"]).exits(0);
    assert!(lossy.out.contains("large.bin") && lossy.out.contains("notes.txt"), "{}", lossy.out);
    home.run(&["convert", "secret/net", "whole", "--to", "annnet"]).exits(0);
    assert_eq!(fs::metadata(home.at("whole/large.bin")).unwrap().len(), 2 << 20);
}
