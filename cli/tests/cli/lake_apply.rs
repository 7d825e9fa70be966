//! Changes of a store must not replace existing nodes with new ones, nor touch quoted triples.

use crate::support::Home;

const REIFIES: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies";

fn lines(home: &Home, lake: &str) -> Vec<String> {
    let found = home.run(&["match", lake, "_ _ _ _", "--nquads"]).exits(0).out;
    found.lines().map(str::to_owned).collect()
}

#[test]
fn nodes_without_a_label_are_new_nodes_of_the_store() {
    let home = Home::new();
    home.write("ann.ttl", "[] <urn:name> \"Ann\" ; <urn:age> 5 .\n");
    home.write("bob.ttl", "[] <urn:name> \"Bob\" ; <urn:age> 9 .\n");
    home.write("cid.jsonld", r#"[{"urn:name": "Cid", "urn:age": 7}]"#);
    home.run(&["lake", "load", "one", "ann.ttl"]).exits(0);
    home.run(&["lake", "apply", "one", "bob.ttl"]).exits(0);
    home.run(&["lake", "apply", "one", "cid.jsonld"]).exits(0);
    home.run(&["lake", "init", "several"]).exits(0);
    home.run(&["lake", "apply", "several", "ann.ttl", "bob.ttl", "cid.jsonld"]).exits(0);
    for lake in ["one", "several"] {
        // Each node has its own name and age.
        let found = home.run(&["match", lake, "?x <urn:name> ?n", "?x <urn:age> ?a", "--json"]).exits(0).json();
        assert_eq!(found["rows"].as_array().or(found["solutions"].as_array()).unwrap().len(), 3, "{found}");
    }
    // Nodes without a label cannot be deleted, because they are unknown.
    let before = lines(&home, "one");
    home.write("del.ttl", "[] <urn:name> \"Ann\" .\n");
    let refused = home.run(&["lake", "apply", "one", "--delete", "del.ttl"]).exits(2);
    assert!(refused.err.contains("del.ttl") && refused.err.contains("label"), "{}", refused.err);
    assert_eq!(lines(&home, "one"), before);
    // Labels are those of the store.
    let label = before.iter().find(|line| line.contains("Ann")).and_then(|line| line.split(' ').next()).unwrap();
    home.write("known.ttl", format!("{label} <urn:name> \"Ann\" .\n"));
    home.write("more.ttl", format!("{label} <urn:name> \"Anna\" .\n"));
    home.run(&["lake", "apply", "one", "more.ttl", "--delete", "known.ttl"]).exits(0);
    let after = lines(&home, "one");
    assert!(after.contains(&format!("{label} <urn:name> \"Anna\" .")) && after.len() == before.len(), "{after:?}");
}

#[test]
fn what_triple_terms_quote_is_no_graph_that_anybody_changes() {
    const QUOTED: &str = "urn:graphlake:quoted";
    let home = Home::new();
    home.write(
        "a.nq",
        format!("<urn:r> <{REIFIES}> <<( <urn:a> <urn:b> \"c\" )>> .\n<urn:a> <urn:p> \"x\" <urn:g> .\n"),
    );
    home.run(&["lake", "load", "lake", "a.nq"]).exits(0);
    home.write("plain.nq", "<urn:a> <urn:p> \"x\" <urn:g> .\n");
    home.run(&["lake", "load", "plain", "plain.nq"]).exits(0);
    home.write("del.nq", format!("<urn:a> <urn:b> \"c\" <{QUOTED}> .\n"));
    for lake in ["lake", "plain"] {
        let before = lines(&home, lake);
        for command in [
            &["lake", "move", lake, "urn:g", QUOTED][..],
            &["lake", "move", lake, QUOTED, "urn:h"],
            &["lake", "copy", lake, "urn:g", QUOTED, "--replace"],
            &["lake", "copy", lake, QUOTED, "urn:h"],
            &["lake", "drop", lake, QUOTED],
            &["lake", "drop", lake, "urn:g", QUOTED],
            &["lake", "delete", lake, &format!("<urn:a> <urn:b> \"c\" <{QUOTED}>")],
            &["lake", "apply", lake, "--delete", "del.nq"],
            &["lake", "load", lake, "plain.nq", "--graph", QUOTED],
        ] {
            let refused = home.run(command);
            let is_load = command.contains(&"--graph");
            if is_load {
                // Quads with a graph stay in it.
                refused.exits(0);
                continue;
            }
            let refused = refused.exits(3);
            assert!(refused.err.contains("error GRAPHLAKE-RESERVED: "), "{command:?}: {}", refused.err);
        }
        assert_eq!(lines(&home, lake), before);
        home.run(&["validate", lake, "--strict"]).exits(0);
    }
    home.write("triple.nt", "<urn:a> <urn:p> \"x\" .\n");
    let refused = home.run(&["lake", "load", "lake", "triple.nt", "--graph", QUOTED]).exits(3);
    assert!(refused.err.contains("error GRAPHLAKE-RESERVED: "), "{}", refused.err);
}

#[test]
fn a_check_says_which_versions_it_has_not_read() {
    let home = Home::new();
    home.write("a.nt", "<urn:a> <urn:p> \"1\" .\n<urn:a> <urn:p> \"2\" .\n");
    home.run(&["lake", "load", "lake", "a.nt"]).exits(0);
    let one = home.run(&["validate", "lake"]).exits(0);
    assert!(!one.out.contains("unread"), "{}", one.out);
    home.run(&["lake", "delete", "lake", "<urn:a> <urn:p> \"1\""]).exits(0);
    home.run(&["lake", "compact", "lake", "--full"]).exits(0);
    let sound = home.run(&["validate", "lake"]).exits(0);
    assert!(sound.out.contains("unread   the data of 2 versions, 1 to 2: isomorph validate lake@1"), "{}", sound.out);
    let unread = |path: &str| home.run(&["validate", path, "--json"]).exits(0).json()["unread_versions"].clone();
    assert_eq!(unread("lake"), serde_json::json!([1, 2]));
    assert_eq!(unread("lake@1"), serde_json::json!([2, 3]));
    assert_eq!(unread("a.nt"), serde_json::Value::Null);
}
