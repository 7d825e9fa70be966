//! `validate`: lists all broken rules.

use std::fs;

use crate::support::{Home, PEOPLE, sample};

#[test]
fn a_sound_file_is_sound() {
    let home = Home::with_people();
    let done = home.run(&["validate", "people.csv"]).exits(0);
    assert!(done.out.lines().last().unwrap().starts_with("sound    "), "{}", done.out);
    let document = home.run(&["validate", "people.csv", "--json"]).exits(0).json();
    assert_eq!(document["sound"], true);
    assert!(document["rules"].as_u64().unwrap() > 20);
}

#[test]
fn a_broken_rule_is_named_with_its_place() {
    let home = Home::new();
    home.write(
        "broken.csv",
        PEOPLE.replace("1.0,-1,False,\"Person\",\"{\"\"born\"\": 1780}\"", "7.5,-1,False,\"Person\",\"\""),
    );
    let document = home.run(&["validate", "broken.csv", "--json"]);
    let findings = document.json()["findings"].as_array().unwrap().clone();
    let truth = findings.iter().find(|finding| finding["rule"].as_str().unwrap().contains("TRUTH")).unwrap().clone();
    assert_eq!(truth["count"], 1);
    assert_eq!(truth["places"][0]["file"], "broken.csv");
    let code = if truth["severity"] == "error" { 1 } else { 0 };
    assert_eq!(document.code, code);
    let done = home.run(&["validate", "broken.csv"]).exits(code);
    assert!(done.out.contains(truth["rule"].as_str().unwrap()), "{}", done.out);
}

#[test]
fn missing_files_are_findings() {
    let Some(graph) = sample("ldbc/parquet/ldbc.graph.yml") else { return };
    let done = Home::new().run(&["validate", &graph, "-v"]).exits(1);
    assert!(done.out.contains("GAR-FILE-MISSING"), "{}", done.out);
    assert!(done.out.lines().last().unwrap().starts_with("unsound  "), "{}", done.out);
}

#[test]
fn a_damaged_offset_is_found() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar", "--file-type", "csv", "--sidecar", "ignore"]).exits(0);
    home.run(&["validate", "g"]).exits(0);
    let offsets = find(&home.at("g"), "offset");
    let text = fs::read_to_string(&offsets).unwrap();
    let last = text.trim_end().lines().last().unwrap();
    fs::write(&offsets, text.trim_end().strip_suffix(last).unwrap().to_owned() + "99\n").unwrap();
    let done = home.run(&["validate", "g", "--sidecar", "ignore"]).exits(1);
    assert!(done.out.contains("GAR-OFFSET-"), "{}", done.out);
    assert!(done.out.contains("offset/chunk0"), "{}", done.out);
}

/// Finds the first file below a directory named `folder`, anywhere below `root`.
fn find(root: &std::path::Path, folder: &str) -> std::path::PathBuf {
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        let mut entries: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            match path.is_dir() {
                true => open.push(path),
                false if directory.ends_with(folder) => return path,
                false => {}
            }
        }
    }
    panic!("there is no {folder}");
}
