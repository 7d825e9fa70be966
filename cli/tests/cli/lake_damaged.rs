//! Stores of GraphLake that are damaged, or whose clock is: what every command says, and with which exit code.

use std::path::Path;

use serde_json::{Value, json};

use crate::bad_input::copy;
use crate::support::{Home, fixture};

const SNAPSHOT: &str = "snapshots/snapshot1.json";

/// What reads the store `bad.lake`, and what writes to it.
const READERS: [&[&str]; 6] = [
    &["dump", "bad.lake"],
    &["digest", "bad.lake"],
    &["match", "bad.lake", "? ? ?"],
    &["neighbors", "bad.lake", "http://example.org/alice"],
    &["diff", "sound.lake", "bad.lake"],
    &["convert", "bad.lake", "out.nq"],
];
const WRITERS: [&[&str]; 2] = [
    &["lake", "delete", "bad.lake", "<http://example.org/alice> <http://example.org/name> \"Alice\""],
    &["lake", "vacuum", "bad.lake", "--apply"],
];

#[test]
fn every_command_says_what_is_wrong_with_a_store() {
    let tiny = fixture("graphlake/tiny");
    type Damage = fn(&Path);
    let escape = |path: &Path| {
        let name = path.join(SNAPSHOT);
        let mut snapshot: Value = serde_json::from_slice(&std::fs::read(&name).unwrap()).unwrap();
        for graph in snapshot["graphs"].as_object_mut().unwrap().values_mut() {
            for list in ["so_data_files", "os_data_files"] {
                for file in graph[list].as_array_mut().unwrap() {
                    file["path"] = json!(format!("../sound.lake/{}", file["path"].as_str().unwrap()));
                }
            }
        }
        std::fs::write(name, snapshot.to_string()).unwrap();
    };
    let cases: [(&str, &str, Damage); 4] = [
        ("GRAPHLAKE-JSON", SNAPSHOT, |path| {
            let text = std::fs::read_to_string(path.join(SNAPSHOT)).unwrap();
            let twice = text.replacen("\"version\"", "\"version\": 1, \"version\"", 1);
            std::fs::write(path.join(SNAPSHOT), twice).unwrap();
        }),
        ("GRAPHLAKE-STORE-ENTRY", SNAPSHOT, |path| std::fs::remove_file(path.join(SNAPSHOT)).unwrap()),
        ("GRAPHLAKE-FORMAT-VERSION", "store.json", |path| {
            let text = std::fs::read_to_string(path.join("store.json")).unwrap();
            std::fs::write(path.join("store.json"), text.replace("\"0.1\"", "\"0.9\"")).unwrap();
        }),
        ("STO-PATH-ESCAPE", "../sound.lake/", escape),
    ];
    for (rule, place, damage) in cases {
        let home = Home::new();
        copy(tiny.as_ref(), &home.at("sound.lake"));
        copy(tiny.as_ref(), &home.at("bad.lake"));
        damage(&home.at("bad.lake"));
        for command in READERS.iter().chain(&WRITERS) {
            let done = home.run(command).exits(3);
            assert!(done.err.contains(&format!("error {rule}: ")), "{command:?}: {}", done.err);
            assert!(done.err.contains(&format!("file   {place}")), "{command:?}: {}", done.err);
            assert!(!home.at("out.nq").exists(), "{command:?}");
        }
        // Checking is telling what is wrong; where nothing can be opened, it is an error.
        let checked = home.run(&["validate", "bad.lake"]);
        assert!(checked.code == 1 || checked.code == 3, "{rule}: {}", checked.code);
        assert!((checked.out + &checked.err).contains(rule), "{rule}");
        home.run(&["validate", "sound.lake"]).exits(0);
    }
}

#[test]
fn times_grow_whatever_time_is_given() {
    let home = Home::new();
    home.run(&["lake", "init", "a.lake"]).exits(0);
    for (number, epoch) in ["1000", "1000", "3", "1970-01-01T00:00:00Z"].iter().enumerate() {
        let triple = format!("<urn:s> <urn:p> \"{number}\"");
        home.run(&["lake", "insert", "a.lake", &triple, "--epoch", epoch]).exits(0);
    }
    // The time that builds are given as well.
    let mut late = home.command(&["lake", "delete", "a.lake", "<urn:s> <urn:p> \"0\""]);
    assert!(late.env("SOURCE_DATE_EPOCH", "5").output().unwrap().status.success());
    home.write("more.nt", "<urn:s> <urn:p> <urn:o> .\n");
    home.run(&["lake", "load", "a.lake", "more.nt", "--epoch", "1000"]).exits(0);
    home.run(&["lake", "compact", "a.lake", "--full", "--epoch", "1001"]).exits(0);
    let log = home.run(&["lake", "log", "a.lake", "--json"]).exits(0).json();
    let told: Vec<(i64, i64)> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["version"].as_i64().unwrap(), one["timestamp"].as_i64().unwrap()))
        .collect();
    let expected = [1_000_000, 1_000_001, 1_000_002, 1_000_003, 1_000_004, 1_000_005, 1_001_000];
    let mut newest_first: Vec<(i64, i64)> = (1..).zip(expected).collect();
    newest_first.reverse();
    assert_eq!(told, newest_first);
    // Each of them is a place in time.
    home.run(&["diff", "a.lake@3", "a.lake@1970-01-01T00:16:40.002Z"]).exits(0);
    home.run(&["diff", "a.lake@3", "a.lake@1970-01-01T00:16:40.003Z"]).exits(1);
    home.run(&["info", "a.lake", "--at", "@999999"]).exits(3);
    home.run(&["validate", "a.lake", "--strict"]).exits(0);
}
