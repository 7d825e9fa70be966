//! `neighbors`: lists the neighbours of a node.

use serde_json::Value;

use crate::support::{Home, assert_screen, fixture, sample};

fn keys(document: &Value) -> Vec<Value> {
    document["neighbors"].as_array().unwrap().iter().map(|neighbor| neighbor["key"].clone()).collect()
}

#[test]
fn a_node_of_a_nock_file() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "people.parq"]).exits(0);
    let document = home.run(&["neighbors", "people.parq", "ada", "--json"]).exits(0).json();
    assert_eq!(document["node"], serde_json::json!({"type": "node", "key": "ada"}));
    assert_eq!(keys(&document), ["charles", "mary"]);
    assert_eq!(document["neighbors"][0]["properties"]["since"], 1833);
    let known = home.run(&["neighbors", "people.parq", "ada", "--edge", "knows", "--json"]).exits(0).json();
    assert_eq!(keys(&known), ["charles"]);
    let mistyped = home.run(&["neighbors", "people.parq", "ada", "--edge", "knws"]).exits(0);
    assert!(mistyped.out.contains("this node has no edges of relation knws, did you mean knows?"), "{}", mistyped.out);
    let done = home.run(&["neighbors", "people.parq", "ada"]).exits(0);
    assert_screen("neighbors", &done.out);
}

#[test]
fn a_node_of_a_graphar_graph_by_key_and_by_row() {
    let Some(graph) = sample("ldbc_sample/parquet/ldbc_sample.graph.yml") else { return };
    let home = Home::new();
    let by_key = home.run(&["neighbors", &graph, "933", "--json"]).exits(0).json();
    let by_row = home.run(&["neighbors", &graph, "--row", "0", "--json"]).exits(0).json();
    assert_eq!(by_key["neighbors"], by_row["neighbors"]);
    assert!(by_key["neighbors"].as_array().unwrap().len() > 2);
    // The edges of the same node according to a scan.
    let dump = home.run(&["dump", &graph]).exits(0).out;
    let edges = dump
        .lines()
        .filter(|line| line.starts_with("{\"edge\""))
        .map(|line| -> Value { serde_json::from_str(line).unwrap() });
    let mut expected: Vec<u64> = edges
        .filter_map(|edge| {
            let ends: Vec<u64> = edge["ends"].as_array().unwrap().iter().map(|end| end.as_u64().unwrap()).collect();
            match ends.as_slice() {
                [933, other] | [other, 933] => Some(*other),
                _ => None,
            }
        })
        .collect();
    let mut found: Vec<u64> = keys(&by_key).iter().map(|key| key.as_u64().unwrap()).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn the_number_shown_is_bounded() {
    let Some(graph) = sample("ldbc_sample/parquet/ldbc_sample.graph.yml") else { return };
    let run = |limit: &str| Home::new().run(&["neighbors", &graph, "933", "--limit", limit, "--json"]).exits(0).json();
    // Edges to the node are not read after the limit, and not counted.
    let done = run("1");
    assert_eq!((keys(&done).len(), &done["more"]), (1, &Value::Null));
    let done = run("1000");
    assert!(keys(&done).len() > 1 && done["more"] == 0, "{done}");
    // It is a number in the graph, and in the answer.
    assert_eq!(done["node"]["key"], 933);
}

#[test]
fn several_types_ask_which_one() {
    let Some(graph) = sample("neo4j/MovieGraph.graph.yml") else { return };
    let home = Home::new();
    let done = home.run(&["neighbors", &graph, "Keanu Reeves"]).exits(2);
    assert!(done.err.contains("--type Person|Movie"), "{}", done.err);
    let done = home.run(&["neighbors", &graph, "Keanu Reeves", "--type", "Person", "--edge", "ACTED_IN", "--json"]);
    assert!(keys(&done.exits(0).json()).contains(&Value::from("The Matrix")));
}

#[test]
fn an_undirected_edge_to_the_same_row_of_another_type_is_no_loop() {
    let Some(graph) = sample("neo4j/MovieGraph.graph.yml") else { return };
    let home = Home::new();
    let document = home.run(&["neighbors", &graph, "The Matrix", "--type", "Movie", "--edge", "ACTED_IN", "--json"]);
    let mut actors: Vec<String> =
        keys(&document.exits(0).json()).iter().map(|key| key.as_str().unwrap().to_owned()).collect();
    actors.sort();
    assert_eq!(actors, ["Carrie-Anne Moss", "Emil Eifrem", "Hugo Weaving", "Keanu Reeves", "Laurence Fishburne"]);
}

#[test]
fn a_node_that_is_not_there_is_an_error() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "people.parq"]).exits(0);
    let done = home.run(&["neighbors", "people.parq", "nobody"]);
    assert!(done.code == 2 || done.code == 3, "{done:?}");
    assert!(done.err.contains("nobody"), "{}", done.err);
}

#[test]
fn edges_without_a_direction_are_seen_from_both_ends_and_loops_once() {
    let home = Home::new();
    let rows: Vec<String> = [("a", 0, "b"), ("a", 1, "a"), ("b", 0, "a")]
        .iter()
        .map(|(from, number, to)| {
            format!("\"{from}\",{number},\"r\",\"{to}\",1.0,-1,False,\"\",\"{{\"\"directed\"\": false}}\"")
        })
        .collect();
    let node = |name: &str| format!("\"{name}\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"");
    let header = crate::support::PEOPLE.lines().next().unwrap();
    let text = [header, &node("a"), &rows[0], &rows[1], &node("b"), &rows[2], ""].join("\n");
    home.write("g.csv", text);
    home.run(&["convert", "g.csv", "g", "--to", "graphar"]).exits(0);
    let of = |flags: &[&str]| {
        let document =
            home.run(&[&["neighbors", "g", "a", "--sidecar", "ignore", "--json"], flags].concat()).exits(0).json();
        let mut keys: Vec<String> = keys(&document).iter().map(|key| key.as_str().unwrap().to_owned()).collect();
        keys.sort();
        keys
    };
    assert_eq!(of(&[]), ["a", "b", "b"]);
    // Which end is stored first does not matter.
    for flag in ["--out", "--in", "--both"] {
        assert_eq!(of(&[flag]), ["a", "b", "b"], "{flag}");
    }
}

/// Returns all facts about the neighbours of a node, unordered and without row numbers, which depend on storage.
fn facts(home: &Home, graph: &str, node: &[&str]) -> Vec<String> {
    let document = home.run(&[&["neighbors", graph, "--both", "--json"], node].concat()).exits(0).json();
    let mut facts: Vec<String> =
        document["neighbors"].as_array().unwrap().iter().map(serde_json::Value::to_string).collect();
    facts.sort();
    facts
}

#[test]
fn a_carry_gives_the_neighbours_of_the_graph_that_it_speaks_of() {
    let home = Home::new();
    let social = crate::support::social();
    home.run(&["convert", &social, "social.parq"]).exits(0);
    let cases: [&[&str]; 5] = [
        &["--type", "person", "1007"],
        &["--type", "person", "--row", "7"],
        &["--type", "city", "Lisbon"],
        &["--type", "post", "--row", "3"],
        &["--type", "person", "1007", "--edge", "knows"],
    ];
    for node in cases {
        let expected = facts(&home, &social, node);
        assert!(!expected.is_empty(), "{node:?}");
        assert_eq!(facts(&home, "social.parq", node), expected, "{node:?}");
    }
    let done = home.run(&["neighbors", "social.parq", "--type", "city", "Atlantis"]);
    assert!(done.exits(3).err.contains("there is no node"));
    // A NOCK graph stored as GraphAr: found by name.
    home.write("people.csv", crate::support::PEOPLE);
    home.run(&["convert", "people.csv", "people.parq"]).exits(0);
    home.run(&["convert", "people.parq", "people", "--to", "graphar"]).exits(0);
    for node in [&["ada"][..], &["--row", "0"], &["ada", "--edge", "knows"]] {
        assert_eq!(facts(&home, "people", node), facts(&home, "people.parq", node), "{node:?}");
    }
}

#[test]
fn hyperedges_that_a_node_is_a_member_of() {
    let graph = fixture("annnet/everything_flat/graph.annnet.d");
    let home = Home::new();
    home.run(&["convert", &graph, "cached", "--to", "annnet", "--cache"]).exits(0);
    home.run(&["convert", &graph, "g", "--to", "graphar"]).exits(0);
    // The members according to a scan.
    let dump = home.run(&["dump", &graph]).exits(0).out;
    let mut expected: std::collections::BTreeMap<String, Vec<(String, String)>> = std::collections::BTreeMap::new();
    for line in dump.lines().filter(|line| line.starts_with("{\"member\"")) {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        expected.entry(text("hyperedge")).or_default().push((text("member"), text("end")));
    }
    assert!(expected.len() >= 4, "{expected:?}");
    let nodes: std::collections::BTreeSet<&String> = expected.values().flatten().map(|(_, end)| end).collect();
    for node in nodes {
        for (flag, roles) in [("--out", ["head", "member"]), ("--in", ["tail", "member"])] {
            let wanted: Vec<&String> = expected
                .iter()
                .filter(|(_, own)| own.iter().any(|(role, end)| end == node && roles.contains(&role.as_str())))
                .map(|(id, _)| id)
                .collect();
            // From the files, through views, and through the sidecar of another format.
            for place in [graph.as_str(), "cached", "g"] {
                let document = home.run(&["neighbors", place, "--id", node, flag, "--json"]).exits(0).json();
                let found = document["hyperedges"].as_array().unwrap();
                let mut ids: Vec<&str> = found.iter().map(|own| own["key"].as_str().unwrap()).collect();
                ids.sort_unstable();
                assert_eq!(ids, wanted, "{place} {node} {flag}");
                for own in found {
                    let members = own["members"].as_array().unwrap();
                    assert_eq!(members.len(), expected[own["key"].as_str().unwrap()].len(), "{own}");
                }
            }
        }
    }
    let done = home.run(&["neighbors", "cached", "a", "--edge", "hyperedge", "--both"]).exits(0);
    assert!(done.out.contains("hyperedge h"), "{}", done.out);
    let document = home.run(&["neighbors", "cached", "a", "--both", "--limit", "1", "--json"]).exits(0).json();
    assert!(document["more_hyperedges"].as_u64().unwrap() > 0, "{document}");
}

#[test]
fn types_made_of_labels_are_seen_as_the_graph_that_was_converted() {
    let home = Home::new();
    let header = crate::support::PEOPLE.lines().next().unwrap();
    let node = |name: &str, labels: &str| format!("\"{name}\",-1,\"\",\"\",1.0,-1,False,\"{labels}\",\"\"");
    let edge =
        |from: &str, relation: &str, to: &str| format!("\"{from}\",0,\"{relation}\",\"{to}\",1.0,-1,False,\"\",\"\"");
    let rows = [
        header.to_owned(),
        node("a", "P,Q"),
        edge("a", "r", "b"),
        node("b", "Q"),
        edge("b", "r", "c"),
        node("c", ""),
        edge("c", "s", "a"),
        String::new(),
    ];
    home.write("g.csv", rows.join("\n"));
    for to in ["graphar", "annnet"] {
        home.run(&["convert", "g.csv", to, "--to", to, "--node-type-from", "label"]).exits(0);
        for node in ["a", "b", "c"] {
            assert_eq!(facts(&home, to, &[node]), facts(&home, "g.csv", &[node]), "{to} {node}");
        }
        // Nodes are in the order of their types.
        let dump = home.run(&["dump", to]).exits(0).out;
        let lines = dump.lines().map(|line| -> Value { serde_json::from_str(line).unwrap() });
        let keys: Vec<String> = lines.filter_map(|line| line["key"].as_str().map(str::to_owned)).collect();
        assert_eq!(keys.len(), 3);
        for (row, key) in keys.iter().enumerate() {
            assert_eq!(facts(&home, to, &["--row", &row.to_string()]), facts(&home, to, &[key]), "{to} {row}");
        }
        for missing in [&["--row", "3"][..], &["d"]] {
            assert!(home.run(&[&["neighbors", to], missing].concat()).exits(3).err.contains("there is no node"));
        }
    }
}

#[test]
fn values_are_what_dump_prints() {
    let home = Home::new();
    let header = crate::support::PEOPLE.lines().next().unwrap();
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for props in [
        "{\"big\":123456789012345678901234567890,\"d\":0.123456789012345678}",
        "{\"a\":1e400}",
        &format!("{{\"a\":{deep}}}"),
        "{\"truth\":3,\"x\":[1.50,{\"b\":\"\u{e9}\"}]}",
    ] {
        let quoted = props.replace('"', "\"\"");
        let edge = format!("\"a\",0,\"r\",\"b\",0.5,-1,False,\"\",\"{quoted}\"");
        let node = "\"a\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"";
        home.write("g.csv", [header, node, &edge, ""].join("\n"));
        let dump = home.run(&["dump", "g.csv"]).exits(0).out;
        let line = dump.lines().find(|line| line.starts_with("{\"edge\"")).unwrap();
        let members = line.split_once(",\"properties\":").unwrap().1.strip_suffix('}').unwrap();
        let json = home.run(&["neighbors", "g.csv", "a", "--json"]).exits(0).out;
        let packed: String = json.lines().map(|line| line.trim_start().replacen("\": ", "\":", 1)).collect();
        assert!(packed.contains(&format!("\"properties\":{members}")), "{packed}\n{line}");
        let text = home.run(&["neighbors", "g.csv", "a"]).exits(0).out;
        assert!(text.contains("truth 0.5"), "{text}");
        assert_eq!(text.contains("bag.truth 3"), props.contains("truth"), "{text}");
    }
}

#[test]
fn nodes_that_only_edges_name_have_rows() {
    let home = Home::new();
    let header = crate::support::PEOPLE.lines().next().unwrap();
    let node = |name: &str| format!("\"{name}\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"");
    let edge = |from: &str, to: &str| format!("\"{from}\",0,\"r\",\"{to}\",1.0,-1,False,\"\",\"\"");
    home.write("g.csv", [header, &node("a"), &edge("a", "b"), &node("c"), &edge("c", "b"), ""].join("\n"));
    home.run(&["convert", "g.csv", "g.parq"]).exits(0);
    for graph in ["g.csv", "g.parq"] {
        for (row, key) in [("0", "a"), ("1", "c"), ("2", "b")] {
            assert_eq!(facts(&home, graph, &["--row", row]), facts(&home, graph, &[key]), "{graph} {row}");
        }
        assert!(home.run(&["neighbors", graph, "--row", "3"]).exits(3).err.contains("there is no node in row 3"));
    }
}

/// The error names the node as it was given, whatever it is called in the files, and says what to try.
#[test]
fn a_key_that_no_node_has_is_answered_with_what_to_try() {
    let home = Home::new();
    let social = crate::support::social();
    for copy in ["social.parq", "social.annnet", "social.deepgnn", "social.lake", "social.trig"] {
        home.run(&["convert", &social, copy]).exits(0);
    }
    let copies = [&social, "social.parq", "social.annnet", "social.deepgnn", "social.lake"];
    let cases: [(&[&str], &str, &str); 4] = [
        (&["--type", "city", "lisbon"], "lisbon", "--id \"Lisbon\""),
        (&["--type", "city", "1007"], "1007", "--type person"),
        (&["--type", "person", "01007"], "01007", "--id 1007"),
        (&["--type", "person", "99"], "99", ""),
    ];
    for copy in copies {
        for (node, named, hint) in cases {
            let done = home.run(&[&["neighbors", copy], node].concat()).exits(3);
            let (said, tried) = done.err.split_once('\n').unwrap();
            assert!(said.contains(named) && !said.contains('/'), "{copy}, {node:?}: {}", done.err);
            assert!(tried.contains(hint), "{copy}, {node:?}: {}", done.err);
        }
        let done = home.run(&["neighbors", copy, "--type", "person", "person/1007"]);
        assert!(done.code > 1 && done.err.contains("--type person --id 1007"), "{copy}: {}", done.err);
    }
    // A text is not searched: the pattern that is named finds the triples.
    let done = home.run(&["neighbors", "social.trig", "--type", "person", "1007"]).exits(3);
    let pattern = done.err.lines().find_map(|line| line.split_once("isomorph match social.trig '")).expect(&done.err).1;
    let pattern = pattern.split_once('\'').unwrap().0;
    assert!(!home.run(&["match", "social.trig", pattern, "--nquads"]).exits(0).out.is_empty(), "{pattern}");
}

/// What a text cannot look up is asked for by a pattern, where the key is an IRI that can stand in one.
#[test]
fn a_text_of_rdf_is_asked_by_the_iri_of_the_node() {
    let home = crate::support::Home::new();
    home.run(&["convert", &crate::support::social(), "o.nt", "--lossy"]).exits(0);
    let done = home.run(&["neighbors", "o.nt", "Lisbon"]).exits(3);
    assert!(!done.err.contains("isomorph match"), "{}", done.err);
    let done = home.run(&["neighbors", "o.nt", "urn:x-isomorph:city/Lisbon"]).exits(3);
    let hint = done.err.lines().find_map(|line| line.split_once("isomorph match o.nt '")).expect(&done.err).1;
    let found = home.run(&["match", "o.nt", hint.trim_end().trim_end_matches('\'')]).exits(0).out;
    assert!(found.contains("Lisbon"), "{found}");
}
