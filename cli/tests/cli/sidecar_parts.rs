//! The sidecar, if only a part of the data is read: another version of a store, some rows, some columns.

use std::fs;

use crate::support::Home;

const NICK: &str = "<urn:x-isomorph:node/ada> <urn:x-isomorph:nick> \"Al\"";

/// Creates `l.lake`, whose version 2 has a triple that the sidecar does not describe.
fn lake() -> Home {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar", "--lossy"]).exits(0);
    home.run(&["convert", "g", "l.lake"]).exits(0);
    home.run(&["lake", "insert", "l.lake", NICK]).exits(0);
    home
}

/// The sidecar is compared with the requested version, not with the newest.
#[test]
fn a_version_is_held_against_its_own_triples() {
    let home = lake();
    home.run(&["lake", "delete", "l.lake", NICK]).exits(0);
    let schema = ["--sidecar", "schema"];
    for (version, code) in [("1", 0), ("2", 4), ("3", 0)] {
        let place = format!("l.lake@{version}");
        for command in [&["digest", &place][..], &["digest", "l.lake", "--at", version], &["diff", &place, "g"]] {
            let done = home.run(&[command, &schema].concat()).exits(code);
            assert_eq!(done.err.starts_with("error CARRY-UNREAD: "), code == 4, "{command:?}: {}", done.err);
        }
        home.run(&[&["convert", &place, &format!("{version}.csv")], &schema[..]].concat()).exits(code);
    }
}

/// A sidecar is bound to the newest version: other versions are compared before it is used.
#[test]
fn older_versions_are_not_bound_with_the_newest() {
    let home = lake();
    home.run(&["lake", "delete", "l.lake", NICK]).exits(0);
    // One sidecar is next to the store, whichever version is named.
    home.run(&["carry", "show", "l.lake@1"]).exits(1);
    let done = home.run(&["digest", "l.lake@1"]).exits(4);
    assert!(done.err.contains("isomorph sidecar rebind l.lake@1"), "{}", done.err);
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

/// Rows outside a selection are not a loss.
#[test]
fn rows_that_are_left_out_are_not_missed() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar"]).exits(0);
    let some = ["--where", "node: born > 1790"];
    let alone = home.run(&[&["digest", "g"], &some[..]].concat()).exits(0).out;
    let schema = [&some[..], &["--sidecar", "schema"]].concat();
    assert_eq!(home.run(&[&["digest", "g"], &schema[..]].concat()).exits(0).out, alone);
    home.run(&[&["convert", "g", "n.csv"], &schema[..]].concat()).exits(0);
    assert_eq!(home.run(&["dump", "n.csv"]).exits(0).out.matches("{\"node\":").count(), 2);
}

/// A selection is one of the graph seen through the sidecar: nothing that the sidecar reads is dropped before it is
/// read.
#[test]
fn a_selection_leaves_out_what_is_shown_and_not_what_a_sidecar_reads() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar"]).exits(0);
    for arguments in [&["--columns", "born"][..], &["--columns", "born", "--sidecar", "schema"], &["--types", "knows"]]
    {
        let of = |path: &str| home.run(&[&["dump", path], arguments].concat()).exits(0).out;
        assert_eq!(of("g"), of("people.csv"), "{arguments:?}");
    }
    home.run(&["dump", "g", "--columns", "nothing"]).exits(2);
    home.run(&["dump", "g", "--columns", "born", "--sidecar", "ignore"]).exits(0);
    home.run(&["dump", "g"]).exits(0);
}

/// Keys that the sidecar reads cannot be deselected without it, which is not an error of the data.
#[test]
fn keys_that_a_sidecar_reads_are_not_left_out() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar"]).exits(0);
    for arguments in [&["--key", "row"][..], &["--key", "row", "--sidecar", "schema"]] {
        let done = home.run(&[&["dump", "g"], arguments].concat()).exits(2);
        assert!(done.err.contains("--key row ignores keys that the sidecar reads"), "{arguments:?}: {}", done.err);
        assert!(!done.err.contains("CARRY-"), "{arguments:?}: {}", done.err);
    }
    home.run(&["dump", "g", "--key", "row", "--sidecar", "ignore"]).exits(0);
}

const TWO_TYPES: &str = r#"src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props
"a1",-1,"","",1.0,-1,False,"A",""
"a2",-1,"","",1.0,-1,False,"A",""
"b1",-1,"","",1.0,-1,False,"B",""
"b2",-1,"","",1.0,-1,False,"B",""
"b2",0,"knows","a1",1.0,-1,False,"",""
"b3",-1,"","",1.0,-1,False,"B",""
"b3",0,"knows","a2",1.0,-1,False,"",""
"#;

/// Creates a copy of a graph whose nodes are identified by row.
fn by_rows(to: &str) -> Home {
    let home = Home::new();
    home.write("q.csv", TWO_TYPES);
    home.run(&["convert", "q.csv", "g", "--to", "graphar", "--node-type-from", "label", "--lossy"]).exits(0);
    home.run(&["convert", "g", to, "--key", "row"]).exits(0);
    home
}

/// A node that is identified by its row is another node in another row.
#[test]
fn numbered_nodes_that_were_moved_are_refused() {
    let home = by_rows("n.csv");
    let text = fs::read_to_string(home.at("n.csv")).unwrap();
    let part = |begins: &str| -> String {
        text.lines().filter(|line| line.starts_with(begins)).map(|line| format!("{line}\n")).collect()
    };
    let parts = |names: &[&str]| names.iter().map(|name| part(name)).collect::<String>();
    // Alternating types; a missing number.
    let moved = [
        parts(&["\"src_name", "src_name", "\"A/1", "\"B/", "\"A/0"]),
        parts(&["\"src_name", "src_name", "\"A/", "\"B/1", "\"B/2"]),
    ];
    for (at, moved) in moved.iter().enumerate() {
        assert!(moved.lines().count() >= 6, "{moved}");
        home.write("n.csv", moved);
        for to in ["o.gar", "o.lake"] {
            for more in [&[][..], &["--no-verify"], &["--lossy"]] {
                let done = home.run(&[&["convert", "n.csv", to, "--sidecar", "schema"], more].concat()).exits(4);
                assert!(done.err.contains("numbered nodes are out of order"), "{at} {to}: {}", done.err);
                assert!(done.err.starts_with("error CARRY-UNREAD: "), "{at} {to}: {}", done.err);
            }
        }
        home.run(&["digest", "n.csv", "--sidecar", "schema"]).exits(4);
        home.run(&["digest", "n.csv", "--sidecar", "ignore"]).exits(0);
    }
    // Types may alternate if each node keeps its number.
    home.write("n.csv", parts(&["\"src_name", "src_name", "\"A/0", "\"B/0", "\"B/1", "\"A/1", "\"B/2"]));
    home.run(&["convert", "n.csv", "o.gar", "--sidecar", "schema"]).exits(0);
}

/// The same in triples, which do not state the order of nodes.
#[test]
fn a_number_that_is_missing_in_triples_is_refused() {
    let home = by_rows("n.nt");
    let text = fs::read_to_string(home.at("n.nt")).unwrap();
    let without: String = text.lines().filter(|line| !line.contains("B/0>")).map(|line| format!("{line}\n")).collect();
    assert_ne!(without, text);
    home.write("n.nt", without);
    for command in [&["digest", "n.nt"][..], &["dump", "n.nt", "--limit", "9"], &["convert", "n.nt", "o", "--lossy"]] {
        let done = home.run(&[command, &["--sidecar", "schema"]].concat());
        assert_ne!(done.code, 0, "{command:?}: {}", done.out);
        assert!(done.err.contains("node 1 of B is at the position of node 0"), "{command:?}: {}", done.err);
    }
}

/// A key that its type does not have is not described by the sidecar; the error names rule and place.
#[test]
fn a_key_of_another_type_is_refused_by_a_rule() {
    let home = by_rows("l.lake");
    home.run(&["lake", "insert", "l.lake", "<urn:x-isomorph:A/x> a <urn:x-isomorph:A>"]).exits(0);
    for command in [&["digest", "l.lake"][..], &["dump", "l.lake"], &["convert", "l.lake", "o.gar"]] {
        let done = home.run(&[command, &["--sidecar", "schema"]].concat()).exits(4);
        assert!(done.err.starts_with("error CARRY-UNREAD: "), "{command:?}: {}", done.err);
        assert!(done.err.contains("\"x\"") && done.err.contains("l.lake"), "{command:?}: {}", done.err);
    }
}

/// Only the sidecar states that the lines of an EdgeList have times: the comparison uses it, too.
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
    assert_eq!(home.run(&["digest", "t.edgelist", "--sidecar", "schema"]).exits(0).out, digest);
}
