//! `sidecar`, also by its old name `carry`.

use std::fs;

use crate::support::{Home, sample};

/// Creates a directory with a GraphAr graph converted from NOCK, which therefore contains a sidecar.
fn carrying() -> Home {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "people", "--to", "graphar"]).exits(0);
    home
}

/// Rewrites a file of the graph with other bytes and the same content.
fn touch(home: &Home) {
    let mut names = fs::read_dir(home.at("people")).unwrap().map(|entry| entry.unwrap().path());
    let graph = names.find(|path| path.to_str().unwrap().ends_with(".graph.yml")).unwrap();
    let text = fs::read_to_string(&graph).unwrap();
    fs::write(&graph, format!("# by hand\n{text}")).unwrap();
}

#[test]
fn it_says_of_what_it_is_and_that_it_fits() {
    let home = carrying();
    let done = home.run(&["carry", "show", "people"]).exits(0);
    assert!(done.out.starts_with("of       NOCK graph, written as GraphAr by isomorph "), "{}", done.out);
    assert!(
        done.out.ends_with("fits     names, sizes and ends of files are unchanged; --verify compares every byte\n"),
        "{}",
        done.out
    );
    let document = home.run(&["carry", "show", "people", "--json"]).exits(0).json();
    assert_eq!((document["of"].as_str(), document["stale"].as_bool()), (Some("nock"), Some(false)));
    let info = home.run(&["info", "people"]).exits(0).out;
    assert!(info.contains("sidecar  details of the NOCK graph that this format cannot store"), "{info}");
}

#[test]
fn a_stale_one_is_refused_until_it_is_bound_again() {
    let home = carrying();
    touch(&home);
    let done = home.run(&["digest", "people"]).exits(4);
    assert!(done.err.starts_with("error CARRY-STALE: "), "{}", done.err);
    assert!(done.err.contains("isomorph sidecar rebind people "), "{}", done.err);
    home.run(&["carry", "show", "people"]).exits(1);
    home.run(&["validate", "people"]).exits(1);
    let info = home.run(&["info", "people"]).exits(0).out;
    assert!(info.contains("the data has changed"), "{info}");
    let done = home.run(&["carry", "rebind", "people"]).exits(0);
    assert!(done.out.contains("the graph is unchanged"), "{}", done.out);
    home.run(&["carry", "show", "people"]).exits(0);
    home.run(&["diff", "people.csv", "people"]).exits(0);
}

/// A byte in the middle of a file, which a comparison of sizes and ends does not see.
#[test]
fn every_byte_is_compared_when_asked_for() {
    let home = carrying();
    let sidecar = fs::read_to_string(home.at("people/_isomorph/carry.json")).unwrap();
    let mut sidecar: serde_json::Value = serde_json::from_str(&sidecar).unwrap();
    let file = &mut sidecar["files"][0];
    let name = file["name"].as_str().unwrap().to_owned();
    file["blake3"] = "0".repeat(64).into();
    fs::write(home.at("people/_isomorph/carry.json"), sidecar.to_string()).unwrap();
    home.run(&["carry", "show", "people"]).exits(0);
    let shown = home.run(&["carry", "show", "people", "--verify"]).exits(1).out;
    assert!(shown.contains(&format!("{name} has different bytes")), "{shown}");
    let found = home.run(&["validate", "people"]).exits(1);
    assert!(found.out.contains(&format!("{name} has different bytes")), "{}", found.out);
    home.run(&["carry", "rebind", "people"]).exits(0);
    home.run(&["carry", "show", "people", "--verify"]).exits(0);
}

#[test]
fn another_graph_is_not_bound() {
    let home = carrying();
    let other = crate::support::PEOPLE.replace("1791", "1792");
    home.write("other.csv", other);
    home.run(&["convert", "other.csv", "other", "--to", "graphar"]).exits(0);
    fs::copy(home.at("people/_isomorph/carry.json"), home.at("other/_isomorph/carry.json")).unwrap();
    let before = fs::read(home.at("other/_isomorph/carry.json")).unwrap();
    let done = home.run(&["carry", "rebind", "other"]).exits(4);
    assert!(done.err.contains("its content differs"), "{}", done.err);
    assert!(done.err.ends_with("no changes were made\n"), "{}", done.err);
    assert_eq!(fs::read(home.at("other/_isomorph/carry.json")).unwrap(), before);
}

#[test]
fn without_it_the_data_is_what_it_is() {
    let home = carrying();
    home.run(&["carry", "drop", "people"]).exits(0);
    assert!(!home.at("people/_isomorph").exists());
    home.run(&["carry", "show", "people"]).exits(3);
    assert_eq!(home.run(&["info", "people", "--json"]).exits(0).json()["edges"].as_array().unwrap().len(), 2);
    home.run(&["validate", "people"]).exits(0);
}

#[test]
fn it_lies_beside_a_single_file() {
    let Some(graph) = sample("modern_graph/modern_graph.graph.yml") else { return };
    let home = Home::new();
    home.run(&["convert", &graph, "modern.parq"]).exits(0);
    assert_eq!(home.names(), ["modern.parq", "modern.parq.isomorph"]);
    assert_eq!(home.run(&["info", "modern.parq", "--json"]).exits(0).json()["nodes"].as_array().unwrap().len(), 2);
    home.run(&["carry", "drop", "modern.parq"]).exits(0);
    assert_eq!(home.names(), ["modern.parq"]);
    assert_eq!(home.run(&["info", "modern.parq", "--json"]).exits(0).json()["nodes"].as_array().unwrap().len(), 1);
}

/// Data that another tool changed, and that the sidecar does not describe, is neither bound nor converted without it.
#[test]
fn what_a_sidecar_does_not_read_is_not_bound_and_not_dropped() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar", "--lossy"]).exits(0);
    let more = "<urn:x-isomorph:node/ada> <urn:x-isomorph:nick> \"Bob\" .\n";
    home.run(&["convert", "g", "t.ttl"]).exits(0);
    let text = fs::read_to_string(home.at("t.ttl")).unwrap();
    home.write("t.ttl", format!("{text}{more}"));
    home.run(&["convert", "g", "l.lake"]).exits(0);
    home.run(&["lake", "insert", "l.lake", more.trim_end_matches(" .\n")]).exits(0);
    home.run(&["convert", "g", "n.csv"]).exits(0);
    let text = fs::read_to_string(home.at("n.csv")).unwrap();
    home.write("n.csv", text.replacen(",1.0,-1,", ",0.5,-1,", 1));
    home.run(&["convert", "g", "d.json", "--to", "deepgnn"]).exits(0);
    let text = fs::read_to_string(home.at("d.json")).unwrap();
    home.write("d.json", text.replacen("\"weight\": 1", "\"weight\": 4", 1));
    for path in ["t.ttl", "l.lake", "n.csv", "d.json"] {
        let done = home.run(&["carry", "rebind", path]).exits(4);
        assert!(done.err.starts_with("error CARRY-UNREAD: "), "{path}: {}", done.err);
        let to = format!("{path}.gar");
        let done = home.run(&["convert", path, &to, "--sidecar", "schema"]).exits(4);
        assert!(done.err.starts_with("error CARRY-UNREAD: "), "{path}: {}", done.err);
        home.run(&["convert", path, &to, "--sidecar", "schema", "--plan"]).exits(4);
        // The remedies work, and list what is lost.
        let lossy = home.run(&["convert", path, &to, "--sidecar", "schema", "--lossy", "--json"]).exits(0).json();
        assert!(!lossy["certificate"]["lost"].as_array().unwrap().is_empty(), "{path}: {lossy}");
        home.run(&["convert", path, &format!("{path}.own"), "--sidecar", "ignore", "--to", "graphlake"]).exits(0);
    }
}

/// What names and types do not describe is rejected by a rule of the sidecar, with a remedy that works.
#[test]
fn a_label_that_a_sidecar_does_not_declare_is_refused() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar", "--lossy"]).exits(0);
    home.run(&["convert", "g", "n.csv"]).exits(0);
    let text = fs::read_to_string(home.at("n.csv")).unwrap();
    home.write("n.csv", text.replacen("\"Person,Writer,", "\"Person,Writer,New,", 1));
    let done = home.run(&["convert", "n.csv", "n", "--to", "graphar", "--sidecar", "schema"]).exits(4);
    assert!(done.err.starts_with("error CARRY-UNREAD: ") && done.err.contains("--sidecar ignore"), "{}", done.err);
    home.run(&["convert", "n.csv", "n", "--to", "graphar", "--sidecar", "ignore"]).exits(0);
}

/// Every layout can be rebound if only its bytes have changed.
#[test]
fn every_layout_is_bound_again() {
    let people = Home::with_people();
    people.run(&["convert", "people.csv", "g", "--to", "graphar", "--lossy"]).exits(0);
    let graph = people.at("g").to_str().unwrap().to_owned();
    let layouts: [&[&str]; 15] = [
        &["a.parq"],
        &["a.csv"],
        &["a.parq", "--dialect", "pynock", "--nested-edges", "--props-map"],
        &["a.annnet"],
        &["a", "--to", "annnet", "--layout", "1.1"],
        &["a", "--to", "annnet", "--matrix", "--cache"],
        &["a", "--to", "deepgnn"],
        &["a", "--to", "deepgnn", "--partitions", "2"],
        &["a.json", "--to", "deepgnn"],
        &["a.linear"],
        &["a", "--to", "deepgnn", "--text", "linear", "--partitions", "2", "--leave-out"],
        &["a.edgelist", "--text", "edgelist", "--to", "deepgnn"],
        &["a.lake"],
        &["a.ttl", "--base", "http://example.org/"],
        &["a.jsonld"],
    ];
    for arguments in layouts {
        let home = Home::new();
        let place = arguments[0];
        home.run(&[&["convert", &graph], arguments].concat()).exits(0);
        let inside = home.at(&format!("{place}/_isomorph/carry.json"));
        let beside = home.at(&format!("{place}.isomorph/carry.json"));
        let document = if inside.exists() { inside } else { beside };
        let mut sidecar: serde_json::Value = serde_json::from_slice(&fs::read(&document).unwrap()).unwrap();
        sidecar["files"][0]["tail"] = "0".repeat(64).into();
        fs::write(&document, sidecar.to_string()).unwrap();
        home.run(&["digest", place]).exits(4);
        home.run(&["convert", place, "again.gar", "--sidecar", "schema"]).exits(0);
        home.run(&["carry", "rebind", place]).exits(0);
        home.run(&["diff", place, &graph, "--exact"]).exits(0);
    }
}

/// A value that was edited in place, with no change of size or of the ends of files: commands that read everything find
/// it.
#[test]
fn an_edit_that_keeps_the_length_is_found_by_who_reads_everything() {
    let home = Home::with_people();
    let people: String = (0..3000).map(|at| format!("\"p{at}\",-1,\"\",\"\",1.0,-1,False,\"Person\",\"\"\n")).collect();
    home.write("many.csv", format!("{}{people}", crate::support::PEOPLE));
    home.run(&["convert", "many.csv", "g", "--to", "graphar", "--lossy"]).exits(0);
    home.run(&["convert", "g", "n.csv"]).exits(0);
    let text = fs::read_to_string(home.at("n.csv")).unwrap();
    assert!(text.len() > 2 << 16, "{}", text.len());
    home.write("n.csv", text.replacen(",1.0,-1,", ",0.5,-1,", 1));
    for command in [&["digest", "n.csv"][..], &["dump", "n.csv"], &["diff", "g", "n.csv"], &["diff", "n.csv", "g"]] {
        let done = home.run(command).exits(4);
        assert!(done.err.starts_with("error CARRY-STALE: "), "{command:?}: {}", done.err);
        assert!(done.out.is_empty(), "{command:?}: {}", done.out);
    }
    for to in ["again.csv", "again.gar", "again.ttl", "again.lake", "again.annnet", "again.deepgnn"] {
        home.run(&["convert", "n.csv", to]).exits(4);
        assert!(!home.at(to).exists(), "{to}");
    }
    home.run(&["dump", "n.csv", "--limit", "1"]).exits(0);
    home.run(&["digest", "n.csv", "--sidecar", "ignore"]).exits(0);
}

/// Data that the names and types of a sidecar do not describe is reported, and no result about the whole graph omits
/// it.
#[test]
fn what_names_and_types_do_not_read_is_told() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar", "--lossy"]).exits(0);
    home.run(&["convert", "g", "n.csv"]).exits(0);
    let text = fs::read_to_string(home.at("n.csv")).unwrap();
    home.write("n.csv", text.replacen(",1.0,-1,", ",0.25,-1,", 1));
    let schema = ["--sidecar", "schema"];
    for command in [&["digest", "n.csv"][..], &["dump", "n.csv"], &["diff", "g", "n.csv"]] {
        let done = home.run(&[command, &schema].concat()).exits(4);
        assert!(done.err.starts_with("error CARRY-UNREAD: "), "{command:?}: {}", done.err);
        assert!(done.err.contains("--lenient"), "{}", done.err);
        let done = home.run(&[command, &schema, &["--lenient"]].concat()).exits(0);
        assert!(done.err.contains("CARRY-IN-PART"), "{command:?}: {}", done.err);
    }
    let looks: [&[&str]; 3] = [&["neighbors", "n.csv", "ada"], &["dump", "n.csv", "--limit", "2"], &["info", "n.csv"]];
    for command in looks {
        let done = home.run(&[command, &schema].concat()).exits(0);
        assert!(done.err.contains("CARRY-IN-PART") || done.out.contains("CARRY-IN-PART"), "{command:?}: {}", done.err);
    }
}

const TWO_TYPES: &str = r#"src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props
"a1",-1,"","",1.0,-1,False,"A",""
"a2",-1,"","",1.0,-1,False,"A",""
"b1",-1,"","",1.0,-1,False,"B",""
"b1",0,"knows","b2",1.0,-1,False,"",""
"b2",-1,"","",1.0,-1,False,"B",""
"b2",0,"knows","b3",1.0,-1,False,"",""
"b3",-1,"","",1.0,-1,False,"B",""
"#;

/// Creates `n.csv`, a NOCK copy of a graph of two node types, with changed text.
fn two_types(change: impl Fn(&str) -> String) -> Home {
    let home = Home::new();
    home.write("q.csv", TWO_TYPES);
    home.run(&["convert", "q.csv", "g", "--to", "graphar", "--node-type-from", "label", "--lossy"]).exits(0);
    home.run(&["convert", "g", "n.csv", "--to", "nock"]).exits(0);
    let text = fs::read_to_string(home.at("n.csv")).unwrap();
    let changed = change(&text);
    assert_ne!(changed, text);
    home.write("n.csv", changed);
    home
}

fn counts(home: &Home, arguments: &[&str]) -> Vec<u64> {
    let info = home.run(&[&["info", "--json"], arguments].concat()).exits(0).json();
    info["nodes"].as_array().unwrap().iter().map(|ty| ty["count"].as_u64().unwrap()).collect()
}

/// Names and types are used, but row numbers are not: those in the sidecar belong to other data.
#[test]
fn numbers_of_rows_of_a_stale_sidecar_are_not_believed() {
    let fewer =
        two_types(|text| text.lines().filter(|line| !line.contains("A/a2")).map(|line| format!("{line}\n")).collect());
    let more =
        two_types(|text| text.replacen("\"A/a2\"", "\"A/a0\",-1,\"\",\"\",1.0,-1,False,\"A\",\"\"\n\"A/a2\"", 1));
    for (home, of_a) in [(&fewer, 1), (&more, 3)] {
        let schema = ["--sidecar", "schema"];
        assert_eq!(counts(home, &["n.csv", "--sidecar", "schema"]), [of_a, 3]);
        let row = ["--type", "B", "--row", "0"];
        let found = home.run(&[&["neighbors", "n.csv"], &row[..], &schema].concat()).exits(0).out;
        assert!(found.contains("b2") && !found.contains("b3"), "{found}");
        for to in ["m.parq", "m.gar", "m.annnet", "m.json", "m.deepgnn", "m.ttl", "m.lake"] {
            let deepgnn: &[&str] = if to == "m.json" { &["--to", "deepgnn"] } else { &[] };
            home.run(&[&["convert", "n.csv", to], &schema[..], deepgnn].concat()).exits(0);
            assert_eq!(counts(home, &[to]), [of_a, 3], "{to}");
            home.run(&["diff", "m.parq", to]).exits(0);
        }
        let found = home.run(&[&["neighbors", "m.parq"], &row[..]].concat()).exits(0).out;
        assert!(found.contains("b2") && !found.contains("b3"), "{found}");
    }
}

/// A node that was moved between nodes of another type keeps its position among its own type.
#[test]
fn rows_of_several_types_may_alternate() {
    let moved = |text: &str| {
        let lines = |of: bool| text.lines().filter(move |line| line.contains("A/a2") == of);
        lines(false).chain(lines(true)).map(|line| format!("{line}\n")).collect()
    };
    let home = two_types(moved);
    for to in ["m.gar", "m.lake", "m.csv", "m.json"] {
        let deepgnn: &[&str] = if to == "m.json" { &["--to", "deepgnn"] } else { &[] };
        home.run(&[&["convert", "n.csv", to, "--sidecar", "schema"], deepgnn].concat()).exits(0);
        home.run(&["diff", "g", to]).exits(0);
    }
    home.run(&["carry", "rebind", "n.csv"]).exits(0);
    home.run(&["diff", "g", "n.csv", "--exact"]).exits(0);
    home.run(&["convert", "n.csv", "back.gar"]).exits(0);
    let found = home.run(&["neighbors", "n.csv", "--type", "B", "--row", "0"]).exits(0).out;
    assert!(found.contains("b2") && !found.contains("b3"), "{found}");
    home.run(&["neighbors", "n.csv", "--type", "A", "--row", "2"]).exits(3);
}

/// An undeclared label gives the same error everywhere, not an internal error; data that cannot be rebound gets no hint
/// to rebind it.
#[test]
fn what_cannot_be_bound_says_why() {
    let home = two_types(|text| text.replacen("\"A\"", "\"A,C\"", 1));
    for to in ["m.csv", "m.gar", "m.ttl"] {
        let done = home.run(&["convert", "n.csv", to, "--sidecar", "schema"]).exits(4);
        assert!(
            done.err.starts_with("error CARRY-UNREAD: ") && !done.err.contains("internal error"),
            "{to}: {}",
            done.err
        );
    }
    let done = home.run(&["carry", "rebind", "n.csv"]).exits(4);
    assert!(!done.err.contains("sidecar rebind"), "{}", done.err);
    let home = two_types(|text| text.replacen("b3", "b4", 9));
    let done = home.run(&["carry", "rebind", "n.csv"]).exits(4);
    assert!(done.err.starts_with("error CARRY-OTHER: ") && !done.err.contains("sidecar rebind"), "{}", done.err);
    home.run(&["carry", "drop", "n.csv"]).exits(0);
}
