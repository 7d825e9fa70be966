//! Damaged GraphLake stores and wrong clocks: messages and exit codes of all commands.

use std::path::Path;

use serde_json::{Value, json};

use crate::bad_input::copy;
use crate::support::{Home, fixture};

const SNAPSHOT: &str = "snapshots/snapshot1.json";

/// Commands that read the store `bad.lake`, and commands that write to it.
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
        // `validate` reports what is wrong; if the store cannot be opened, that is an error.
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
    // The same with SOURCE_DATE_EPOCH.
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
    // All of them are different times.
    home.run(&["diff", "a.lake@3", "a.lake@1970-01-01T00:16:40.002Z"]).exits(0);
    home.run(&["diff", "a.lake@3", "a.lake@1970-01-01T00:16:40.003Z"]).exits(1);
    home.run(&["info", "a.lake", "--at", "@999999"]).exits(3);
    home.run(&["validate", "a.lake", "--strict"]).exits(0);
}

/// Changes the JSON of a file in a store.
fn change(path: &Path, name: &str, change: impl FnOnce(&mut Value)) {
    let path = path.join(name);
    let mut json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut json);
    std::fs::write(path, json.to_string()).unwrap();
}

/// Returns all files that the graphs of a snapshot list.
fn files(snapshot: &mut Value) -> impl Iterator<Item = &mut Value> {
    let graphs = snapshot["graphs"].as_object_mut().unwrap().values_mut();
    let lists = graphs.flat_map(|graph| graph.as_object_mut().unwrap().iter_mut());
    lists.filter(|(name, _)| name.ends_with("_files")).flat_map(|(_, list)| list.as_array_mut().unwrap())
}

#[test]
fn what_opening_finds_reaches_every_command_and_errors_end_it() {
    type Damage = fn(&Path);
    let cases: [(&str, Damage); 5] = [
        // A file of another snapshot.
        ("GRAPHLAKE-STORE-ENTRY", |path| {
            change(path, SNAPSHOT, |snapshot| {
                snapshot["id"] = json!("snapshot7");
                snapshot["version"] = json!(7);
            });
        }),
        ("GRAPHLAKE-VERSION", |path| {
            change(path, SNAPSHOT, |snapshot| files(snapshot).for_each(|file| file["snapshot_version"] = json!(9)));
        }),
        ("GRAPHLAKE-INVERSE", |path| {
            change(path, SNAPSHOT, |snapshot| files(snapshot).for_each(|file| file["is_inverse"] = json!(true)));
        }),
        ("GRAPHLAKE-IRI", |path| {
            let text = std::fs::read_to_string(path.join(SNAPSHOT)).unwrap();
            std::fs::write(path.join(SNAPSHOT), text.replace("\"http://example.org/name\"", "\"name\"")).unwrap();
        }),
        ("GRAPHLAKE-CHECKSUM", |path| {
            let text = std::fs::read_to_string(path.join(SNAPSHOT)).unwrap();
            std::fs::write(path.join(SNAPSHOT), text.replace("xxh64:", "xxh64:0")).unwrap();
        }),
    ];
    for (rule, damage) in cases {
        let home = Home::new();
        copy(fixture("graphlake/tiny").as_ref(), &home.at("sound.lake"));
        copy(fixture("graphlake/tiny").as_ref(), &home.at("bad.lake"));
        damage(&home.at("bad.lake"));
        for command in READERS.iter().chain(&[["sample", "bad.lake", "nodes"].as_slice()]) {
            // A look-up reads only the parts of files that it needs.
            if rule == "GRAPHLAKE-CHECKSUM" && command[0] == "match" {
                continue;
            }
            let done = home.run(command).exits(3);
            assert!(done.err.contains(&format!("error {rule}: ")), "{command:?}: {}", done.err);
            assert!(!home.at("out.nq").exists(), "{command:?}");
            if rule == "GRAPHLAKE-CHECKSUM" {
                continue;
            }
            assert!(done.err.contains("--lenient"), "{command:?}: {}", done.err);
            let lenient = home.run(&[*command, &["--lenient"]].concat());
            // An RDF text has no relative IRIs.
            let is_told = rule == "GRAPHLAKE-IRI" && command[0] == "convert";
            assert!(lenient.code < 2 || is_told, "{command:?}: {}", lenient.err);
            assert!(lenient.err.contains(rule), "{command:?}: {}", lenient.err);
            let _ = std::fs::remove_file(home.at("out.nq"));
        }
        let info = home.run(&["info", "bad.lake"]).exits(0);
        assert!(info.out.contains(rule) && !info.out.contains("sound"), "{rule}: {}", info.out);
        let checked = home.run(&["validate", "bad.lake"]).exits(1);
        assert!(checked.out.contains(rule), "{}", checked.out);
    }
}

#[test]
fn writers_refuse_what_is_newer_than_its_snapshot_and_snapshots_that_were_exchanged() {
    let triple = "<http://example.org/alice> <http://example.org/name> \"Alice\"";
    let writers: [&[&str]; 4] = [
        &["lake", "delete", "bad.lake", triple],
        &["lake", "insert", "bad.lake", triple],
        &["lake", "copy", "bad.lake", "default", "http://example.org/other"],
        &["lake", "compact", "bad.lake", "--full"],
    ];
    for (rule, name, value) in [("GRAPHLAKE-VERSION", "snapshot_version", 2), ("GRAPHLAKE-STORE-ENTRY", "version", 2)] {
        let home = Home::new();
        copy(fixture("graphlake/tiny").as_ref(), &home.at("bad.lake"));
        change(&home.at("bad.lake"), SNAPSHOT, |snapshot| match name {
            "version" => snapshot[name] = json!(value),
            _ => files(snapshot).for_each(|file| file[name] = json!(value)),
        });
        let before = std::fs::read_to_string(home.at("bad.lake/store.json")).unwrap();
        for command in writers {
            let done = home.run(command).exits(3);
            assert!(done.err.contains(&format!("error {rule}: ")), "{command:?}: {}", done.err);
        }
        if rule == "GRAPHLAKE-STORE-ENTRY" {
            for command in [&["lake", "log", "bad.lake"][..], &["lake", "vacuum", "bad.lake", "--apply"]] {
                let done = home.run(command).exits(3);
                assert!(done.err.contains(&format!("error {rule}: ")), "{command:?}: {}", done.err);
            }
        }
        assert_eq!(std::fs::read_to_string(home.at("bad.lake/store.json")).unwrap(), before);
    }
}

#[test]
fn a_list_of_deletions_that_was_emptied_is_found() {
    let home = Home::new();
    home.run(&["lake", "init", "a.lake"]).exits(0);
    for name in ["1", "2"] {
        home.run(&["lake", "insert", "a.lake", &format!("<urn:s> <urn:p> \"{name}\"")]).exits(0);
    }
    home.run(&["lake", "delete", "a.lake", "<urn:s> <urn:p> \"1\""]).exits(0);
    home.run(&["validate", "a.lake"]).exits(0);
    change(&home.at("a.lake"), "snapshots/snapshot3.json", |snapshot| {
        for graph in snapshot["graphs"].as_object_mut().unwrap().values_mut() {
            graph["tombstone_files"] = json!([]);
        }
    });
    let checked = home.run(&["validate", "a.lake"]).exits(1);
    assert!(checked.out.contains("GRAPHLAKE-COUNT"), "{}", checked.out);
    for command in [&["dump", "a.lake"][..], &["match", "a.lake", "? ? ?"], &["lake", "vacuum", "a.lake", "--apply"]] {
        let done = home.run(command).exits(3);
        assert!(done.err.contains("error GRAPHLAKE-COUNT: "), "{command:?}: {}", done.err);
    }
}

/// Another writer may put a triple into several files: every command has the answer that it has of a store with the triple in one.
#[test]
fn a_triple_in_several_files_is_one_triple_to_every_command() {
    let tiny = fixture("graphlake/tiny");
    for lists in [&["so_data_files", "os_data_files"][..], &["so_data_files"], &["os_data_files"]] {
        let home = Home::new();
        copy(tiny.as_ref(), &home.at("sound.lake"));
        copy(tiny.as_ref(), &home.at("twice.lake"));
        let name = home.at("twice.lake").join(SNAPSHOT);
        let mut snapshot: Value = serde_json::from_slice(&std::fs::read(&name).unwrap()).unwrap();
        for graph in snapshot["graphs"].as_object_mut().unwrap().values_mut() {
            for list in lists {
                let files = graph[list].as_array_mut().unwrap();
                let again: Vec<Value> = files.clone();
                for mut file in again {
                    let path = file["path"].as_str().unwrap().replace(".bin", "-again.bin");
                    std::fs::copy(
                        home.at("twice.lake").join(file["path"].as_str().unwrap()),
                        home.at("twice.lake").join(&path),
                    )
                    .unwrap();
                    (file["id"], file["path"]) = (json!(format!("again {path}")), json!(path));
                    files.push(file);
                }
            }
        }
        std::fs::write(name, snapshot.to_string()).unwrap();
        let alice = "http://example.org/alice";
        let commands: [&[&str]; 10] = [
            &["dump", "L"],
            &["digest", "L", "--json"],
            &["match", "L", "? ? ?"],
            &["match", "L", "? ? ?", "--count"],
            &["match", "L", "?s ? ?o", "?o ? ?", "--count"],
            &["neighbors", "L", alice, "--both", "--json"],
            &["validate", "L"],
            &["dump", "L", "--types", "http://example.org/knows"],
            &["lake", "log", "L", "--json"],
            &["info", "L", "--json"],
        ];
        let said = |lake: &str, command: &[&str]| {
            let command: Vec<&str> = command.iter().map(|word| if *word == "L" { lake } else { word }).collect();
            let done = home.run(&command).exits(0);
            (done.out.replace(lake, "L"), done.err.replace(lake, "L"))
        };
        for command in commands {
            let (mut found, mut expected) = (said("twice.lake", command), said("sound.lake", command));
            if command.contains(&"--json") {
                (found, expected) = (numbers(command, &found.0), numbers(command, &expected.0));
            }
            if command[0] == "validate" {
                (found, expected) = (verdict(&found.0), verdict(&expected.0));
            }
            assert_eq!(found, expected, "{lists:?}: {command:?}");
        }
        home.run(&["convert", "twice.lake", "twice.nq"]).exits(0);
        home.run(&["convert", "sound.lake", "sound.nq"]).exits(0);
        assert_eq!(std::fs::read(home.at("twice.nq")).unwrap(), std::fs::read(home.at("sound.nq")).unwrap());
        home.run(&["convert", "twice.lake", "again.lake"]).exits(0);
        for (left, right) in [("twice.lake", "sound.lake"), ("twice.lake", "again.lake"), ("twice.lake", "sound.nq")] {
            home.run(&["diff", left, right]).exits(0);
        }
    }
}

/// What a command says of the graph, and not of its files and of its own time.
fn numbers(command: &[&str], out: &str) -> (String, String) {
    let document: Value = serde_json::from_str(out).unwrap();
    let said = match command[0] {
        "digest" => format!("{} {} {}", document["content"], document["order"], document["lines"]),
        "info" => format!("{} {} {}", document["nodes"], document["edges"], document["values"]),
        "lake" => {
            let versions = document.as_array().unwrap().iter();
            versions.map(|one| format!("{} {};", one["triples"], one["exact"])).collect()
        }
        _ => document["neighbors"].to_string(),
    };
    (said, String::new())
}

/// Whether it is sound.
fn verdict(out: &str) -> (String, String) {
    // Behind it stands how many files there are.
    let verdicts = out.lines().filter(|line| line.starts_with("sound")).filter_map(|line| line.split(" · ").next());
    (verdicts.collect(), String::new())
}
