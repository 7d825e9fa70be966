//! `convert`: screens, round trips, layouts.

use std::fs;

use crate::support::{Home, assert_screen, sample, social};

#[test]
fn a_plan_comes_before_and_a_certificate_after() {
    let home = Home::with_people();
    let done = home.run(&["convert", "people.csv", "people", "--to", "graphar"]).exits(0);
    assert_eq!(done.err, "");
    assert_screen("convert_to_graphar", &done.screen());
    assert_eq!(home.names(), ["people", "people.csv"]);
}

#[test]
fn the_sample_becomes_nock_and_comes_back() {
    let Some(graph) = sample("ldbc_sample/parquet/ldbc_sample.graph.yml") else { return };
    let home = Home::new();
    let done = home.run(&["convert", &graph, "people.parq"]).exits(0);
    assert_screen("convert_to_nock", &done.screen());
    home.run(&["convert", "people.parq", "back", "--to", "graphar"]).exits(0);
    home.run(&["diff", &graph, "back", "--exact"]).exits(0);
    home.run(&["diff", &graph, "people.parq", "--exact"]).exits(0);
}

#[test]
fn the_example_of_the_readme_converts() {
    let social = social();
    let home = Home::new();
    home.run(&["convert", &social, "social.parq"]).exits(0);
    home.run(&["diff", &social, "social.parq"]).exits(0);
}

#[test]
fn a_plan_alone_writes_nothing() {
    let home = Home::with_people();
    let done = home.run(&["convert", "people.csv", "people", "--to", "graphar", "--plan"]).exits(0);
    assert_screen("plan_to_graphar", &done.out);
    assert_eq!(home.names(), ["people.csv"]);
}

#[test]
fn what_is_there_is_replaced_only_when_asked() {
    let home = Home::with_people();
    home.write("taken.parq", "mine");
    let done = home.run(&["convert", "people.csv", "taken.parq"]).exits(2);
    assert!(done.err.starts_with("error: "), "{}", done.err);
    assert!(done.err.ends_with("no output was written\n"), "{}", done.err);
    assert_eq!(fs::read(home.at("taken.parq")).unwrap(), b"mine");
    home.run(&["convert", "people.csv", "taken.parq", "--replace"]).exits(0);
    home.run(&["diff", "people.csv", "taken.parq"]).exits(0);
}

#[test]
fn lossy_writes_nothing_beside_and_says_what_is_lost() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "people", "--to", "graphar", "--sidecar", "ignore"]).exits(0);
    let done = home.run(&["convert", "people", "again.parq", "--sidecar", "ignore", "--lossy"]).exits(0);
    assert!(done.out.contains("         dropped "), "{}", done.out);
    assert!(!done.out.contains("verified: output equals input"), "{}", done.out);
    assert_eq!(home.names(), ["again.parq", "people", "people.csv"]);
    let certificate = &home.run(&["convert", "people", "c.parq", "--lossy", "--json"]).exits(0).json()["certificate"];
    assert!(certificate["equal"].is_null());
}

#[test]
fn an_edge_id_that_is_a_property_stays_one() {
    let home = Home::with_people();
    for result in ["kept.parq", "kept.csv"] {
        home.run(&["convert", "people.csv", result, "--keep-edge-id"]).exits(0);
        let dumped = home.run(&["dump", result]).exits(0).out;
        assert!(dumped.contains("\"edge_id\":0"), "{dumped}");
        assert_eq!(dumped, home.run(&["dump", "people.csv", "--keep-edge-id"]).exits(0).out);
    }
}

#[test]
fn layouts_change_and_the_graph_stays() {
    let home = Home::with_people();
    for (destination, flags) in [
        ("spec.parq", &["--dialect", "spec", "--compression", "zstd:3"][..]),
        ("pynock.parq", &["--dialect", "pynock"]),
        ("sorted.csv", &["--sort"]),
        ("parts", &["--to", "nock", "--partitions", "2"]),
        ("nested.parq", &["--nested-edges"]),
        ("map.parq", &["--props-map"]),
        ("small", &["--to", "graphar", "--vertex-chunk", "2", "--edge-chunk", "2"]),
        ("lists", &["--to", "graphar", "--adj-lists", "unordered_by_dest", "--groups", "each"]),
        ("text", &["--to", "graphar", "--file-type", "csv"]),
        ("lines", &["--to", "graphar", "--file-type", "json"]),
    ] {
        let done = home.run(&[&["convert", "people.csv", destination], flags].concat()).exits(0);
        assert!(done.out.contains("verified: output equals input"), "{destination}: {}", done.out);
        home.run(&["diff", "people.csv", destination]).exits(0);
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let home = Home::with_people();
    for (name, threads) in [("one.parq", "1"), ("four.parq", "4")] {
        home.run(&["convert", "people.csv", name, "--threads", threads, "--memory", "64MiB"]).exits(0);
    }
    assert_eq!(fs::read(home.at("one.parq")).unwrap(), fs::read(home.at("four.parq")).unwrap());
}

#[test]
fn a_graph_without_a_name_is_called_like_its_destination() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "folk", "--to", "graphar"]).exits(0);
    assert!(home.at("folk/folk.graph.yml").exists());
    home.run(&["convert", "people.csv", "named", "--to", "graphar", "--name", "mine"]).exits(0);
    assert!(home.at("named/mine.graph.yml").exists());
}

#[test]
fn a_part_of_a_graph_can_be_converted() {
    let Some(graph) = sample("ldbc_sample/parquet/ldbc_sample.graph.yml") else { return };
    let home = Home::new();
    let flags = ["--where", "person: gender = 'male' and id < 1000", "--columns", "firstName,gender"];
    let done = home.run(&[&["convert", &graph, "few.parq", "--json"], &flags[..]].concat()).exits(0).json();
    let few = done["certificate"]["nodes"].as_u64().unwrap();
    assert!(few > 0 && few < 903, "{few}");
    let line = home.run(&["dump", "few.parq"]).exits(0).out;
    assert!(line.lines().next().unwrap().contains("\"firstName\""));
    assert!(!line.contains("lastName"));
}

#[test]
fn json_has_plan_and_certificate() {
    let home = Home::with_people();
    let document = home.run(&["convert", "people.csv", "people.parq", "--json"]).exits(0).json();
    assert_eq!(document["destination"], "people.parq");
    assert_eq!(document["plan"]["from"], "nock");
    let certificate = &document["certificate"];
    assert_eq!((certificate["nodes"].as_u64(), certificate["edges"].as_u64()), (Some(3), Some(3)));
    assert_eq!(certificate["equal"], true);
    assert_eq!(certificate["source"], certificate["result"]);
    assert_eq!(certificate["source"]["content"].as_str().unwrap().len(), 32);
    let plan = home.run(&["convert", "people.csv", "p", "--to", "graphar", "--plan", "--json"]).exits(0).json();
    assert!(plan["certificate"].is_null());
    assert_eq!(plan["plan"]["sorts"].as_array().unwrap().len(), 2);
}

#[test]
fn a_layout_that_the_published_library_cannot_use_is_warned_of_before_it_is_written() {
    let home = Home::with_people();
    let convert = |rows: &str| {
        home.run(&["convert", "people.csv", "large", "--to", "graphar", "--vertex-chunk", rows, "--plan"]).exits(0)
    };
    assert!(convert("131072").err.contains("GAR-META-CHUNK-LARGE"));
    assert_eq!(convert("131071").err, "");
}

#[test]
fn flags_choose_what_becomes_a_column_a_label_or_a_type() {
    let home = Home::with_people();
    for (name, flags, shown, hidden) in [
        ("props", &["--props", "json"][..], "props json", "born"),
        ("labels", &["--labels", "property"], "labels list<string> = the labels", "2 labels"),
        ("relations", &["--relations", "column"], "predicate string = rel_name", "edge type knows"),
    ] {
        let done = home.run(&[&["convert", "people.csv", name, "--to", "graphar"], flags].concat()).exits(0);
        assert!(done.out.contains(shown) && !done.out.contains(hidden), "{name}: {}", done.out);
        assert!(done.out.contains("verified: output equals input"), "{name}: {}", done.out);
        home.run(&["diff", "people.csv", name, "--exact"]).exits(0);
        home.run(&["validate", name, "--sidecar", "ignore"]).exits(0);
    }
    let done = home.run(&["convert", "people.csv", "x.parq", "--props", "json"]).exits(2);
    assert!(done.err.contains("--props applies to GraphAr output"), "{}", done.err);
}

#[test]
fn a_condition_on_nodes_holds_for_every_target() {
    let home = Home::new();
    let social = social();
    let mut contents = Vec::new();
    for name in ["a.graphar", "a.parq", "a.csv", "a.annnet", "a.deepgnn", "a.nt"] {
        let done = home.run(&["convert", &social, name, "--where", "person: gender = \"female\"", "--json"]).exits(0);
        let document = done.json();
        let certificate = &document["certificate"];
        assert_eq!(certificate["result"]["content"], certificate["source"]["content"], "{name}");
        contents.push(certificate["source"]["content"].clone());
    }
    assert!(contents.iter().all(|content| content.is_string() && *content == contents[0]), "{contents:?}");
}

/// The document lists the same losses as the screen: without a sidecar, its content is listed as lost.
#[test]
fn a_document_names_what_is_lost_as_the_screen_does() {
    let home = Home::new();
    let plan = ["convert", &crate::support::social(), "o.parq", "--plan", "--json"];
    let kept = home.run(&plan).exits(0).json();
    let carried = kept["plan"]["carried"].as_array().unwrap().clone();
    assert!(!carried.is_empty(), "{kept}");
    let lossy = home.run(&[&plan[..], &["--lossy"]].concat()).exits(0).json();
    assert!(lossy["plan"]["carried"].as_array().unwrap().is_empty(), "{lossy}");
    let lost: Vec<_> = lossy["plan"]["losses"].as_array().unwrap().iter().map(|loss| &loss["subject"]).collect();
    assert!(carried.iter().all(|part| lost.contains(&part)), "{lossy}");
}

/// A copy with its sidecar equals the original graph, also if node types are requested and its files identify ends by
/// row.
#[test]
fn types_by_label_are_those_of_the_graph_that_a_copy_is_of() {
    let home = Home::with_people();
    home.write("people.csv", crate::support::PEOPLE.replace("Person,Writer", "Writer"));
    for (copy, to) in [("c.gar", "graphar"), ("c.deepgnn", "deepgnn"), ("c.annnet", "annnet"), ("c.lake", "graphlake")]
    {
        home.run(&["convert", "people.csv", copy, "--to", to]).exits(0);
        for (name, to) in [("n.gar", "graphar"), ("n.annnet", "annnet")] {
            let types = ["--node-type-from", "label", "--replace"];
            home.run(&[&["convert", copy, name, "--to", to], &types[..]].concat()).exits(0);
            home.run(&["diff", "people.csv", name]).exits(0);
        }
    }
}

#[test]
fn a_column_of_several_types_is_not_compared_as_text() {
    let home = Home::new();
    let head =
        "\"src_name\",\"edge_id\",\"rel_name\",\"dst_name\",\"truth\",\"shadow\",\"is_rdf\",\"labels\",\"props\"\n";
    let row = |name: &str, q: &str| format!("\"{name}\",-1,\"\",\"\",1.0,-1,False,\"\",\"{{\"\"q\"\":{q}}}\"\n");
    let rows = [row("a", "\"\"1\"\""), row("b", "-1"), row("c", "null")].concat();
    std::fs::write(home.at("mixed.csv"), head.to_owned() + &rows).unwrap();
    home.run(&["convert", "mixed.csv", "g", "--to", "graphar"]).exits(0);
    // In JSON text, "1" includes its quotes, and null is a word.
    for condition in ["node: q = \"1\"", "node: q >= \"c\"", "node: not q < 5"] {
        let done = home.run(&["dump", "g", "--where", condition]).exits(3);
        assert!(done.err.contains("column q holds JSON") && done.err.contains("q is not null"), "{}", done.err);
    }
    home.run(&["dump", "g", "--where", "node: q is not null"]).exits(0);
    home.run(&["dump", "g", "--sidecar", "ignore", "--where", "node: q = \"-1\""]).exits(0);
}

#[test]
fn what_is_not_read_is_not_lost_without_permission() {
    let home = Home::new();
    home.write(
        "a.gexf",
        "<gexf><graph><nodes><node id=\"0\" degree=\"3\"/></nodes><edges><edge source=\"0\" target=\"0\"><a/></edge></edges></graph></gexf>",
    );
    for more in [&[][..], &["--plan"]] {
        let done = home.run(&[&["convert", "a.gexf", "b.graphml"], more].concat()).exits(4);
        assert!(done.err.contains("1 elements are not read; the first is a"), "{}", done.err);
        assert!(done.err.contains("--lossy"), "{}", done.err);
    }
    assert_eq!(home.names(), ["a.gexf"]);
    let done = home.run(&["convert", "a.gexf", "b.graphml", "--lossy"]).exits(0);
    assert!(done.out.contains("content of the file: 1 attributes of elements are not read; the first is degree"));
    home.run(&["convert", "a.gexf", "c.graphml", "--lenient"]).exits(0);
    // Questions are about what is read.
    home.run(&["stats", "a.gexf"]).exits(0);
    home.run(&["match", "a.gexf", "?s ?p ?o"]).exits(0);
    home.run(&["diff", "a.gexf", "c.graphml"]).exits(0);
}

#[test]
fn psl_lists_edges_without_a_direction() {
    let home = Home::new();
    home.write("a.txt", "# Undirected graph\n1 2\n");
    let done = home.run(&["convert", "a.txt", "b", "--from", "edgelist", "--to", "psl", "--lossy"]).exits(0);
    assert!(done.out.contains("node ─edge─ node: directed in PSL"), "{}", done.out);
    let done = home.run(&["convert", "a.txt", "c", "--from", "edgelist", "--to", "psl"]).exits(0);
    assert!(done.out.contains("verified"), "{}", done.out);
}
