//! What travels beside the data, where only a part of the data is read: another version of a store, some rows, some columns.

use crate::support::Home;

const NICK: &str = "<urn:x-isomorph:node/ada> <urn:x-isomorph:nick> \"Al\"";

/// `l.lake`, which somebody gave a triple that the sidecar does not read in version 2.
fn lake() -> Home {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar", "--lossy"]).exits(0);
    home.run(&["convert", "g", "l.lake"]).exits(0);
    home.run(&["lake", "insert", "l.lake", NICK]).exits(0);
    home
}

/// The sidecar is held against the version that is asked for, and not against the newest.
#[test]
fn a_version_is_held_against_its_own_triples() {
    let home = lake();
    home.run(&["lake", "delete", "l.lake", NICK]).exits(0);
    let schema = ["--carry", "schema"];
    for (version, code) in [("1", 0), ("2", 4), ("3", 0)] {
        let place = format!("l.lake@{version}");
        for command in [&["digest", &place][..], &["digest", "l.lake", "--at", version], &["diff", &place, "g"]] {
            let done = home.run(&[command, &schema].concat()).exits(code);
            assert_eq!(done.err.starts_with("error CARRY-UNREAD: "), code == 4, "{command:?}: {}", done.err);
        }
        home.run(&[&["convert", &place, &format!("{version}.csv")], &schema[..]].concat()).exits(code);
    }
}

/// A sidecar is bound to the newest version: others are looked at before they are believed.
#[test]
fn older_versions_are_not_bound_with_the_newest() {
    let home = lake();
    home.run(&["lake", "delete", "l.lake", NICK]).exits(0);
    // One lies beside the store, whichever version is named.
    home.run(&["carry", "show", "l.lake@1"]).exits(1);
    let done = home.run(&["digest", "l.lake@1"]).exits(4);
    assert!(done.err.contains("isomorph carry rebind l.lake@1"), "{}", done.err);
    home.run(&["carry", "rebind", "l.lake@1"]).exits(0);
    home.run(&["digest", "l.lake"]).exits(0);
    home.run(&["diff", "l.lake@1", "l.lake@3"]).exits(0);
    for command in [&["diff", "l.lake@1", "l.lake@2"][..], &["convert", "l.lake@2", "c.nq"], &["dump", "l.lake@2"]] {
        let done = home.run(command).exits(4);
        assert!(done.err.starts_with("error CARRY-UNREAD: "), "{command:?}: {}", done.err);
    }
    let shown = home.run(&["info", "l.lake@2"]).exits(0).out;
    assert!(shown.contains("CARRY-IN-PART"), "{shown}");
    let shown = home.run(&["info", "l.lake@3"]).exits(0).out;
    assert!(!shown.contains("CARRY-IN-PART"), "{shown}");
}

/// Rows that are left out are no loss.
#[test]
fn rows_that_are_left_out_are_not_missed() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar"]).exits(0);
    let some = ["--where", "node: born > 1790"];
    let alone = home.run(&[&["digest", "g"], &some[..]].concat()).exits(0).out;
    let schema = [&some[..], &["--carry", "schema"]].concat();
    assert_eq!(home.run(&[&["digest", "g"], &schema[..]].concat()).exits(0).out, alone);
    home.run(&[&["convert", "g", "n.csv"], &schema[..]].concat()).exits(0);
    assert_eq!(home.run(&["dump", "n.csv"]).exits(0).out.matches("{\"node\":").count(), 2);
}

/// Columns that the sidecar reads cannot be left out beside it, which is no fault of the data.
#[test]
fn a_selection_that_leaves_out_what_a_sidecar_reads_is_to_blame() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar"]).exits(0);
    for arguments in [&["--columns", "born"][..], &["--columns", "born", "--carry", "schema"], &["--types", "knows"]] {
        let done = home.run(&[&["dump", "g"], arguments].concat()).exits(2);
        assert!(done.err.contains("leave out what the sidecar reads"), "{arguments:?}: {}", done.err);
        assert!(!done.err.contains("CARRY-"), "{arguments:?}: {}", done.err);
    }
    home.run(&["dump", "g", "--columns", "born", "--carry", "ignore"]).exits(0);
    home.run(&["dump", "g"]).exits(0);
}

/// Only the sidecar tells that the lines of an EdgeList have times: the comparison is told so, too.
#[test]
fn times_that_only_the_sidecar_tells_of_are_read() {
    let home = Home::new();
    let times = r#""created_at":2,"removed_at":3"#;
    let edge = format!(r#"{{"src_id":1,"dst_id":2,"edge_type":0,"weight":1.0,{times}}}"#);
    let node = |id: u8, edges: &str| {
        format!("{{\"node_id\":{id},\"node_type\":0,\"node_weight\":1.0,{times},\"edge\":[{edges}]}}\n")
    };
    home.write("t.json", node(1, &edge) + &node(2, ""));
    home.run(&["convert", "t.json", "g", "--to", "graphar"]).exits(0);
    home.run(&["convert", "g", "t.edgelist", "--text", "edgelist", "--to", "deepgnn"]).exits(0);
    let digest = home.run(&["digest", "t.edgelist"]).exits(0).out;
    assert_eq!(home.run(&["digest", "t.edgelist", "--carry", "schema"]).exits(0).out, digest);
}
