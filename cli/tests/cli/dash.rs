//! `-` is standard input, standard output or an error; never a file of that name.

use crate::support::{Home, PEOPLE};

const TRIPLES: &str = "<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> \"text\" .\n";

#[test]
fn a_graph_is_read_from_standard_input() {
    let home = Home::with_people();
    let of_file = home.run(&["digest", "people.csv"]).exits(0).out;
    let of_stream = home.feed(&["digest", "-"], PEOPLE.as_bytes()).exits(0).out;
    let hashes = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(hashes(&of_file), hashes(&of_stream));
    home.run(&["convert", "people.csv", "people.parq", "--lossy"]).exits(0);
    let table = std::fs::read(home.at("people.parq")).unwrap();
    for (words, input) in [
        (&["info", "-"][..], table.as_slice()),
        (&["validate", "-"], PEOPLE.as_bytes()),
        (&["dump", "-"], TRIPLES.as_bytes()),
        (&["neighbors", "-", "ada"], PEOPLE.as_bytes()),
        (&["diff", "-", "people.csv"], table.as_slice()),
        (&["match", "-", "? ? ?"], TRIPLES.as_bytes()),
        (&["convert", "-", "again.parq"], table.as_slice()),
        (&["convert", "-", "triples.ttl", "--from", "rdf", "--syntax", "nt"], TRIPLES.as_bytes()),
    ] {
        home.feed(words, input).exits(0);
    }
    home.run(&["diff", "people.csv", "again.parq"]).exits(0);
    assert!(!home.names().contains(&"-".to_owned()));
}

#[test]
fn a_table_of_edges_is_read_from_standard_input() {
    let home = Home::new();
    let lines = "{\"source\":1,\"target\":2,\"w\":0.5}\n{\"source\":2,\"target\":3,\"w\":NaN}\n";
    home.write("edges.jsonl", lines);
    let hashes = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let of_file = home.run(&["digest", "edges.jsonl"]).exits(0).out;
    let of_stream = home.feed(&["digest", "-"], lines.as_bytes()).exits(0).out;
    assert_eq!(hashes(&of_stream), hashes(&of_file));
    for format in ["parquet", "arrow"] {
        home.run(&["convert", "edges.jsonl", format, "--to", format]).exits(0);
        let table = std::fs::read(home.at(&format!("{format}/edge.{format}"))).unwrap();
        for words in [&["digest", "-"][..], &["digest", "-", "--from", format]] {
            assert_eq!(hashes(&home.feed(words, &table).exits(0).out), hashes(&of_file), "{words:?}");
        }
        home.feed(&["convert", "-", "out.graphml"], &table).exits(0);
        std::fs::remove_file(home.at("out.graphml")).unwrap();
        // A table of nodes is no graph.
        let nodes = std::fs::read(home.at(&format!("{format}/node.{format}"))).unwrap();
        for words in [&["info", "-"][..], &["info", "-", "--from", format]] {
            let done = home.feed(words, &nodes).exits(3);
            assert!(done.err.contains("source and target: id"), "{}", done.err);
        }
    }
    let table = "source,target,w\n1,2,0.5\n2,3,nan\n";
    assert_eq!(hashes(&home.feed(&["digest", "-", "--from", "csv"], table.as_bytes()).exits(0).out), hashes(&of_file));
}

#[test]
fn a_text_of_deepgnn_is_read_from_standard_input_when_its_format_is_named() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "people.json", "--text", "json", "--lossy"]).exits(0);
    let text = std::fs::read(home.at("people.json")).unwrap();
    home.feed(&["info", "-", "--from", "deepgnn", "--text-format", "json"], &text).exits(0);
}

#[test]
fn what_standard_input_holds_must_be_known() {
    let home = Home::new();
    let done = home.feed(&["info", "-"], b"nothing that anybody knows").exits(3);
    assert!(done.err.contains("--from"), "{}", done.err);
    let done = home.feed(&["info", "-"], b"").exits(3);
    assert!(done.err.contains("standard input"), "{}", done.err);
    let done = home.feed(&["diff", "-", "-"], PEOPLE.as_bytes()).exits(2);
    assert!(done.err.contains("once"), "{}", done.err);
}

#[test]
fn texts_are_written_to_standard_output() {
    let home = Home::with_people();
    home.write("a.nt", TRIPLES);
    let done = home.run(&["convert", "a.nt", "-", "--to-syntax", "nt"]).exits(0);
    assert_eq!(done.out, TRIPLES);
    assert!(done.err.contains("plan"), "{}", done.err);
    let done = home.run(&["convert", "people.csv", "-", "--to", "nock", "--file-type", "csv", "--json"]).exits(0);
    home.write("again.csv", &done.out);
    home.run(&["diff", "people.csv", "again.csv"]).exits(0);
    serde_json::from_str::<serde_json::Value>(&done.err).unwrap();
    let done = home.run(&["convert", "people.csv", "-", "--text", "json", "--lossy"]).exits(0);
    home.run(&["convert", "people.csv", "people.json", "--text", "json", "--lossy"]).exits(0);
    assert_eq!(done.out.as_bytes(), std::fs::read(home.at("people.json")).unwrap());
    let done = home.feed(&["convert", "-", "-", "--to-syntax", "ttl"], TRIPLES.as_bytes()).exits(0);
    home.write("b.ttl", &done.out);
    home.run(&["diff", "a.nt", "b.ttl"]).exits(0);
    assert!(!home.names().contains(&"-".to_owned()));
}

#[test]
fn nothing_is_printed_of_what_fails_or_needs_a_sidecar() {
    let home = Home::with_people();
    home.write("bad.nt", "<urn:a> <urn:b> \n");
    let done = home.run(&["convert", "bad.nt", "-", "--to-syntax", "ttl"]).exits(3);
    assert_eq!(done.out, "");
    let done = home.run(&["convert", "people.csv", "-", "--to-syntax", "ttl"]).exits(4);
    assert_eq!(done.out, "");
    assert!(done.err.contains("--lossy"), "{}", done.err);
}

#[test]
fn what_is_no_text_is_not_written_to_standard_output() {
    let home = Home::with_people();
    for words in [
        &["--to", "nock"][..],
        &["--to", "graphar"],
        &["--to", "annnet"],
        &["--to", "deepgnn"],
        &["--to", "graphlake"],
        &["--to", "nock", "--file-type", "csv", "--partitions", "2"],
    ] {
        let words = [&["convert", "people.csv", "-"], words].concat();
        let done = home.run(&words).exits(2);
        assert!(done.err.contains("standard output") && done.out.is_empty(), "{words:?} {}", done.err);
    }
    assert_eq!(home.names(), ["people.csv"]);
}

#[test]
fn no_command_takes_a_dash_for_a_file() {
    let home = Home::with_people();
    for words in [
        &["carry", "show", "-"][..],
        &["carry", "drop", "-"],
        &["carry", "rebind", "-"],
        &["extend", "-", "--cache"],
        &["lake", "init", "-"],
        &["lake", "log", "-"],
        &["lake", "load", "-", "people.csv"],
        &["lake", "insert", "-", "<urn:a> <urn:b> <urn:c>"],
        &["lake", "vacuum", "-"],
        &["lake", "compact", "-"],
        &["sample", "people.csv", "nodes", "--arrow", "-"],
    ] {
        let done = home.feed(words, b"").exits(2);
        assert!(done.err.contains("standard"), "{words:?} {}", done.err);
        assert_eq!(home.names(), ["people.csv"], "{words:?}");
    }
}

/// Our output can be read from standard input as from a file, including Turtle that begins without a prefix.
#[test]
fn turtle_that_we_write_is_read_from_standard_input() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar", "--lossy"]).exits(0);
    home.run(&["convert", "g", "a.nt", "--lossy"]).exits(0);
    for name in ["a.ttl", "a.trig"] {
        home.run(&["convert", "g", name, "--lossy"]).exits(0);
        let text = std::fs::read(home.at(name)).unwrap();
        home.feed(&["digest", "-"], &text).exits(0);
        home.feed(&["diff", "a.nt", "-"], &text).exits(0);
        home.feed(&["diff", "-", "a.nt", "--syntax", "trig"], &text).exits(0);
    }
    // Nothing in the input identifies its format; only the flag does.
    let odd = b"[] <urn:b> <urn:c> .\n";
    home.write("odd.ttl", odd);
    home.feed(&["digest", "-"], odd).exits(3);
    home.feed(&["digest", "-", "--syntax", "ttl"], odd).exits(0);
    home.feed(&["diff", "odd.ttl", "-", "--syntax", "ttl", "--rdfc"], odd).exits(0);
    home.run(&["diff", "odd.ttl", "a.nt", "--syntax", "ttl"]).exits(2);
}
