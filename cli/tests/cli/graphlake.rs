//! GraphLake: reading, comparing and converting snapshots.

use crate::support::{Home, assert_screen, fixture, still, workspace};

#[test]
fn a_snapshot_is_named_in_the_path() {
    let lake = fixture("graphlake/history");
    let home = Home::new();
    let info = home.run(&["info", &lake]).exits(0);
    for words in ["GraphLake", "snapshot12 (version 12, 12 of 12)", "resource ─…→ resource"] {
        assert!(info.out.contains(words), "{words}: {}", info.out);
    }
    let dump = |path: &str, more: &[&str]| home.run(&[&["dump", path], more].concat()).exits(0).out;
    let second = dump(&format!("{lake}@2"), &[]);
    assert_eq!(second.lines().count(), 35);
    assert_eq!(second, dump(&lake, &["--at", "2"]));
    assert_eq!(second, dump(&lake, &["--at", "snapshot2"]));
    assert_eq!(second, dump(&lake, &["--at", "@1700000120000"]));
    // Compaction changes no triples; a deletion does.
    home.run(&["diff", &format!("{lake}@10"), &format!("{lake}@11")]).exits(0);
    let changed = home.run(&["diff", &format!("{lake}@2"), &format!("{lake}@3")]).exits(1);
    // Property values and edges differ.
    assert!(changed.out.contains("9 │ 5") && changed.out.contains("16 │ 10"), "{}", changed.out);
    let all = home.run(&["diff", &format!("{lake}@2"), &format!("{lake}@3"), "--json"]).exits(1).json();
    assert_eq!(all["differing"].as_u64(), Some(10), "{all}");
    let missing = home.run(&["info", &format!("{lake}@13")]).exits(3);
    assert!(missing.err.contains("versions 1 to 12"), "{}", missing.err);
    home.run(&["info", &format!("{lake}@3"), "--at", "2"]).exits(2);
    assert_ne!(dump(&format!("{lake}@4"), &["--naive"]), dump(&format!("{lake}@4"), &[]));
}

#[test]
fn stores_are_checked_and_digested() {
    let home = Home::new();
    for name in ["tiny", "five_k", "history"] {
        let lake = fixture(&format!("graphlake/{name}"));
        let sound = home.run(&["validate", &lake]).exits(0);
        let holds = if name == "history" { "sound    1 note" } else { "rules of GraphLake hold" };
        assert!(sound.out.contains(holds), "{}", sound.out);
        home.run(&["digest", &lake]).exits(0);
    }
    let explained = home.run(&["explain", "GRAPHLAKE-ORDER"]).exits(0);
    assert!(explained.out.contains("--lenient"), "{}", explained.out);
}

#[test]
fn a_snapshot_becomes_a_store() {
    let lake = fixture("graphlake/five_k");
    let history = fixture("graphlake/history");
    let home = Home::new();
    let done = home.run(&["convert", &lake, "new.lake"]).exits(0);
    assert!(done.out.contains("verified: output equals input"), "{}", done.out);
    let same = home.run(&["diff", &lake, "new.lake"]).exits(0);
    assert!(same.out.contains("in content, order and schema"), "{}", same.out);
    home.run(&["validate", "new.lake", "--strict"]).exits(0);
    let plan = home.run(&["convert", &format!("{history}@8"), "eight", "--to", "graphlake", "--plan"]).exits(0);
    assert!(plan.out.contains("11 not converted") && !home.at("eight").exists(), "{}", plan.out);
    home.run(&["convert", &format!("{history}@8"), "eight", "--to", "graphlake"]).exits(0);
    home.run(&["diff", &format!("{history}@8"), "eight"]).exits(0);
    home.run(&["convert", &lake, "new.lake"]).exits(2);
}

#[test]
fn a_property_graph_becomes_rdf_and_comes_back() {
    let home = Home::with_people();
    let plan = home.run(&["convert", "people.csv", "people.lake", "--plan"]).exits(0);
    assert!(plan.out.contains("urn:x-isomorph:node/"), "{}", plan.out);
    let done = home.run(&["convert", "people.csv", "people.lake"]).exits(0);
    assert!(done.out.contains("verified: output equals input"), "{}", done.out);
    let same = home.run(&["diff", "people.csv", "people.lake"]).exits(0);
    assert!(same.out.contains("in content, order and schema"), "{}", same.out);
    home.run(&["validate", "people.lake", "--strict"]).exits(0);
    home.run(&["convert", "people.lake", "back.parq"]).exits(0);
    home.run(&["diff", "people.csv", "back.parq"]).exits(0);
    let [here, there] = ["people.csv", "people.lake"].map(|graph| {
        let found = home.run(&["neighbors", graph, "ada", "--both"]).exits(0);
        let mut lines: Vec<String> = found.out.lines().skip(1).map(str::to_owned).collect();
        lines.sort();
        lines
    });
    assert_eq!(here, there);
    home.run(&["neighbors", "people.lake", "nobody"]).exits(3);
    // The triples are the same RDF for every reader.
    home.run(&["convert", "people.csv", "based.lake", "--base", "http://example.org/"]).exits(0);
    let rdf = home.run(&["dump", "based.lake", "--sidecar", "ignore"]).exits(0);
    assert!(rdf.out.contains("http://example.org/node/"), "{}", rdf.out);
    home.run(&["diff", "people.csv", "based.lake"]).exits(0);
}

#[test]
fn rdf_becomes_a_property_graph_and_comes_back() {
    let lake = fixture("graphlake/five_k");
    let home = Home::new();
    for name in ["a.parq", "a.graphar", "a.annnet", "a.deepgnn"] {
        let done = home.run(&["convert", &lake, name]).exits(0);
        assert!(done.out.contains("verified: output equals input"), "{name}: {}", done.out);
        let same = home.run(&["diff", &lake, name]).exits(0);
        assert!(same.out.contains("in content, order and schema"), "{name}: {}", same.out);
        let back = format!("{name}.lake");
        home.run(&["convert", name, &back]).exits(0);
        home.run(&["diff", &lake, &back]).exits(0);
        home.run(&["validate", &back, "--strict"]).exits(0);
    }
    // Without the sidecar it is an ordinary graph of people and places.
    let alone = home.run(&["info", "a.graphar", "--sidecar", "ignore"]).exits(0);
    assert!(alone.out.contains("resource"), "{}", alone.out);
}

#[test]
fn what_there_is_not_is_said() {
    let lake = fixture("graphlake/tiny");
    let home = Home::with_people();
    let done = home.run(&["convert", "people.csv", "a.lake", "--base", "no base"]).exits(2);
    assert!(done.err.contains("is not an absolute IRI") && !home.at("a.lake").exists(), "{}", done.err);
    let neighbors = home.run(&["neighbors", &lake, "http://example.org/alice", "--both"]).exits(0);
    assert!(neighbors.out.contains("http://example.org/bob") && neighbors.out.contains("_:x1"), "{}", neighbors.out);
    home.run(&["info", "people.csv", "--at", "3"]).exits(2);
    home.run(&["info", &lake, "--key", "row"]).exits(2);
}

#[test]
fn patterns_are_matched() {
    let lake = fixture("graphlake/tiny");
    let home = Home::new();
    let ns = ["--ns", "ex=http://example.org/"];
    let run = |arguments: &[&str]| home.run(&[&["match", &lake], arguments, &ns].concat());
    assert_screen("match", &run(&["?s ?p ?o"]).exits(0).out);
    // All ways to request the same.
    let lines = run(&["_ _ _", "--nquads"]).exits(0).out;
    assert_eq!(lines.lines().count(), 5, "{lines}");
    for line in lines.lines() {
        let terms = line.strip_suffix(" .").unwrap();
        assert_eq!(run(&[terms, "--nquads"]).exits(0).out.lines().filter(|found| *found == line).count(), 1, "{terms}");
    }
    let document = run(&["ex:alice _ _", "--json"]).exits(0).json();
    let triples = document["triples"].as_array().unwrap();
    assert!(!triples.is_empty());
    assert!(triples.iter().all(|triple| triple["subject"] == "<http://example.org/alice>"), "{document}");
    let limited = run(&["?s", "?p", "?o", "--limit", "2"]).exits(0).out;
    assert!(limited.contains("the first 2 triples") && limited.contains("--limit 20 shows more"), "{limited}");
    run(&["?x ?p ?x"]).exits(0);
    for (bad, says) in
        [("?s ?p", "three terms"), ("alice _ _", "is not a term"), ("no:one _ _", "--ns no="), ("_ \"p\" _", "literal")]
    {
        let done = run(&[bad]).exits(2);
        assert!(done.err.contains(says), "{}", done.err);
    }
}

#[test]
fn threads_find_the_same_in_the_same_order() {
    let home = Home::new();
    let long = "x".repeat(1_000);
    let mut text = String::new();
    for number in 0..6_000 {
        let (subject, other) = (number / 3, number * 7 % 6_000);
        text.push_str(&format!("<urn:{subject:05}> <urn:p> \"{number} {long}\" .\n"));
        text.push_str(&format!("<urn:{subject:05}> <urn:q> <urn:{other:05}> <urn:g> .\n"));
    }
    text.push_str("<urn:a> <urn:q> <<( <urn:00001> <urn:p> <urn:b> )>> .\n<urn:a> <urn:q> <urn:a> .\n");
    std::fs::write(home.path().join("a.nq"), text).unwrap();
    home.run(&["convert", "a.nq", "a.lake", "--to", "graphlake"]).exits(0);
    for pattern in ["_ _ _", "?x _ ?x", "_ <urn:p> _", "_ _ <<( <urn:00001> <urn:p> <urn:b> )>>"] {
        let run = |output: &str, threads: &str| {
            home.run(&["match", "a.lake", pattern, output, "--threads", threads]).exits(0).out
        };
        let (lines, count) = (run("--nquads", "1"), run("--count", "1"));
        assert!(lines.lines().count() > 0, "{pattern}");
        for threads in ["2", "5"] {
            assert!(run("--nquads", threads) == lines, "{pattern} {threads}");
            assert_eq!(run("--count", threads), count, "{pattern} {threads}");
        }
    }
    let run = |threads: &str| {
        home.run(&["match", "a.lake", "?x <urn:q> ?y <urn:g> . ?y <urn:p> ?z", "--count", "--threads", threads])
            .exits(0)
            .out
    };
    assert!(run("1").contains("solutions"), "{}", run("1"));
    assert_eq!(run("1"), run("3"));
}

#[test]
fn patterns_are_joined() {
    let lake = fixture("graphlake/tiny");
    let home = Home::new();
    let ns = ["--prefix", "ex=http://example.org/"];
    let run = |arguments: &[&str]| home.run(&[&["match", &lake], arguments, &ns].concat());
    assert_screen("match_joined", &run(&["?x ex:knows ?y", "?y ex:name ?name"]).exits(0).out);
    assert_screen("match_estimate", &run(&["?x ex:knows ?y", "?y ex:name ?name", "--estimate"]).exits(0).out);
    let document = run(&["?x ex:knows ?y . ?y ex:name ?name", "--json"]).exits(0).json();
    assert_eq!(document["variables"], serde_json::json!(["x", "y", "name"]));
    assert_eq!(document["solutions"].as_array().unwrap().len(), 2, "{document}");
    for (arguments, count) in [
        (["_ ex:knows _", "--count"].as_slice(), 2),
        (&["_ ex:knows _", "--graph", "ex:g1", "--count"], 1),
        (&["_ ex:knows _", "--graph", "default", "--count"], 1),
        (&["?x ex:knows ?y", "?y ex:knows ?z", "--count"], 1),
        (&["?x ex:knows ?y", "?y ex:knows ?z", "--graph", "default", "--count"], 0),
        (&["?x ex:knows ?y ?g", "?y ex:knows ?z ?g", "--count"], 0),
        (&["_ _ \"Bób\"@pl", "--count"], 1),
        (&["_ ex:age 42", "--count"], 1),
        (&["?x _ ?x", "--count"], 0),
    ] {
        let document = run(&[arguments, &["--json"]].concat()).exits(0).json();
        assert_eq!(document["count"], count, "{arguments:?}");
    }
    assert_eq!(run(&["_ _ _", "--nquads", "--limit", "2"]).exits(0).out.lines().count(), 2);
    run(&["?x ex:knows ?y", "?y ex:name ?name", "--nquads"]).exits(2);
}

#[test]
fn a_graph_that_was_emptied_is_planned_to_be_lost() {
    let home = Home::new();
    let (kept, gone) = ("<urn:a> <urn:b> <urn:d>", "<urn:a> <urn:b> <urn:c> <urn:g>");
    home.run(&["lake", "init", "lake"]).exits(0);
    home.run(&["lake", "insert", "lake", kept, gone]).exits(0);
    home.run(&["lake", "delete", "lake", gone]).exits(0);
    for compacted in [false, true] {
        if compacted {
            home.run(&["lake", "compact", "lake", "--full"]).exits(0);
        }
        for name in ["out.nq", "out.trig"] {
            let refused = home.run(&["convert", "lake", name]).exits(4);
            assert!(refused.err.contains("cannot store 1 graph without triples"), "{}", refused.err);
            let plan = home.run(&["convert", "lake", name, "--plan", "--lossy"]).exits(0);
            assert!(plan.out.contains("1 graph without triples"), "{}", plan.out);
            home.run(&["convert", "lake", name, "--lossy", "--replace"]).exits(0);
            assert!(std::fs::read_to_string(home.at(name)).unwrap().contains("<urn:d>"));
            std::fs::remove_file(home.at(name)).unwrap();
        }
        home.run(&["convert", "lake", "copy", "--to", "graphlake", "--replace"]).exits(0);
        home.run(&["diff", "lake", "copy"]).exits(0);
    }
}

#[test]
fn words_of_patterns_are_understood_or_refused() {
    let home = Home::new();
    home.write("a.nt", "<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n");
    home.run(&["lake", "load", "lake", "a.nt"]).exits(0);
    for object in ["\"A\"@@", "\"A\"@en--up", "\"A\"@1a", "\"A\"@en-"] {
        let refused = home.run(&["match", "lake", "?", "?", object]).exits(2);
        assert!(refused.err.contains("is not a literal"), "{object}: {}", refused.err);
    }
    home.run(&["match", "lake", "? ? ?", "--from", "nock"]).exits(3);
    let as_text = home.run(&["match", "lake", "? ? ?", "--from", "rdf"]);
    assert!(!as_text.out.contains("triple"), "{}", as_text.out);
    // A node as `match` prints it, or with a prefix.
    let ns = ["--ns", "e=http://e.org/"];
    for node in [&["<http://e.org/a>"][..], &["http://e.org/a"], &["e:a", ns[0], ns[1]]] {
        let found = home.run(&[&["neighbors", "lake"], node].concat()).exits(0);
        assert!(found.out.contains("http://e.org/b"), "{node:?}: {}", found.out);
    }
    for place in ["lake", "a.nt"] {
        let found = home.run(&["match", place, "e:a ? ?", ns[0], ns[1]]).exits(0);
        assert!(found.out.contains("1 triple"), "{}", found.out);
    }
    let text = home.run(&["neighbors", "a.nt", "http://e.org/a"]).exits(3);
    assert!(text.err.contains("isomorph match a.nt '<http://e.org/a> ? ?'"), "{}", text.err);
    // A part of a store is not a store, but it is inside one.
    for part in ["lake/store.json", "lake/snapshots", "lake/snapshots/snapshot1.json"] {
        let refused = home.run(&["info", part]).exits(3);
        assert!(refused.err.contains("that it is part of") && refused.err.contains("GraphLake"), "{}", refused.err);
    }
    home.run(&["lake", "log", "lake", "--limit", "0"]).exits(2);
}

/// The commands of the README's lake example print what the README shows.
#[test]
fn the_lake_of_the_readme_is_as_it_shows() {
    let home = Home::new();
    std::fs::create_dir(home.at("examples")).unwrap();
    std::fs::copy(workspace().join("examples/people.ttl"), home.at("examples/people.ttl")).unwrap();
    let readme = std::fs::read_to_string(workspace().join("README.md")).unwrap();
    let start = readme.find("$ isomorph lake load lake ").unwrap();
    let block = readme[start..].split("```").next().unwrap();
    let mut commands = 0;
    for shown in block.split("$ isomorph ").skip(1) {
        let (line, expected) = shown.split_once('\n').unwrap();
        // Every second part is quoted and is one argument.
        let parts = line.split('\'').enumerate();
        let words: Vec<&str> = parts
            .flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().collect::<Vec<_>>(),
                _ => vec![part],
            })
            .collect();
        let done = home.run(&words);
        // The rate is in thousands on a fast machine.
        let plain = |screen: &str| screen.replace(" k/s", " /s");
        assert_eq!(plain(&still(expected)), plain(&done.screen()), "{line}");
        commands += 1;
    }
    assert_eq!(commands, 6);
}
