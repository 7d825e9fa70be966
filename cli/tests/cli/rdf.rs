//! RDF texts: reading, comparing, and converting to other syntaxes and to GraphLake stores.

use crate::support::{Home, fixture};

const TURTLE: &str = "\
@prefix ex: <http://example.org/> .
ex:ann a ex:Person ; ex:name \"Ann\" , \"Anne\"@fr ; ex:knows ex:bob , [ ex:name \"somebody\" ] .
ex:bob ex:age 42 .
";

#[test]
fn a_text_is_a_graph() {
    let home = Home::new();
    home.write("people.ttl", TURTLE);
    let info = home.run(&["info", "people.ttl"]).exits(0);
    for words in ["RDF (Turtle)", "7 statements", "1 prefix"] {
        assert!(info.out.contains(words), "{words}: {}", info.out);
    }
    home.run(&["validate", "people.ttl"]).exits(0);
    home.run(&["digest", "people.ttl"]).exits(0);
    let dump = home.run(&["dump", "people.ttl"]).exits(0);
    assert_eq!(dump.out.lines().count(), 7, "{}", dump.out);
}

#[test]
fn a_text_is_asked_for_a_pattern() {
    let home = Home::new();
    let text = concat!(
        "<urn:a> <urn:p> \"x\"@EN <urn:g> .\n<urn:a> <urn:p> \"x\" .\n<urn:a> <urn:p> \"x\" .\n",
        "<urn:b> <urn:p> <urn:b> .\n_:c <urn:q> <<( <urn:a> <urn:p> \"x\" )>> .\n",
    );
    home.write("text.nq", text);
    home.run(&["convert", "text.nq", "same.lake", "--to", "graphlake"]).exits(0);
    let patterns = [
        "?s ?p ?o",
        "<urn:a> _ _",
        "_ <urn:p> \"x\"",
        "_ _ \"x\"@en",
        "_ _ \"x\"^^xsd:string",
        "?x _ ?x",
        "_ _ _ default",
        "_ _ _ <urn:g>",
        "_ _ <<( <urn:a> <urn:p> \"x\" )>>",
        "_ _ \"y\"",
    ];
    let mut counts = Vec::new();
    for pattern in patterns {
        let lines = |path: &str| {
            let mut lines: Vec<String> =
                home.run(&["match", path, pattern, "--nquads"]).exits(0).out.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(lines("text.nq"), lines("same.lake"), "{pattern}");
        let counted = home.run(&["match", "text.nq", pattern, "--count", "--json"]).exits(0).json();
        assert_eq!(counted["count"].as_u64(), Some(lines("text.nq").len() as u64), "{pattern}");
        counts.push(lines("text.nq").len());
    }
    assert_eq!(counts, [4, 2, 1, 1, 1, 1, 3, 1, 1, 0]);
    let some = home.run(&["match", "text.nq", "?s ?p ?o", "--limit", "1", "--json"]).exits(0).json();
    assert_eq!((some["triples"].as_array().unwrap().len(), &some["more"]), (1, &serde_json::Value::Null));
    let joined = |path: &str| {
        let words = ["match", path, "?s ?p ?o ?g", "?s ?q ?r", "--ids", "--json"];
        let found = home.run(&words).exits(0).json();
        let (solutions, ids) = (found["solutions"].as_array().unwrap(), found["ids"].as_array().unwrap());
        let mut rows: Vec<String> = solutions.iter().zip(ids).map(|(row, ids)| format!("{row} {ids}")).collect();
        rows.sort();
        rows
    };
    assert_eq!(joined("text.nq"), joined("same.lake"));
    assert!(!joined("text.nq").is_empty());
    // Estimates read nothing, also where they are not known.
    let planned = home.run(&["match", "text.nq", "?s ?p ?o", "?o ?q ?r", "--estimate", "--json"]).exits(0).json();
    assert_eq!((planned["steps"].as_array().unwrap().len(), &planned["steps"][0]["rows"]), (2, &().into()));
    assert_eq!(planned["pass_bytes"].as_u64(), Some(std::fs::metadata(home.at("text.nq")).unwrap().len()));
    let stored = home.run(&["match", "same.lake", "?s ?p ?o", "--estimate", "--json"]).exits(0).json();
    assert_eq!((&stored["steps"][0]["rows"], &stored["pass_bytes"]), (&4.0.into(), &().into()));
}

#[test]
fn a_text_becomes_every_other_and_comes_back() {
    let home = Home::new();
    home.write("people.ttl", TURTLE);
    let mut before = "people.ttl".to_owned();
    for name in ["a.nt", "b.nq.gz", "c.trig", "d.rdf", "e.jsonld.zst", "f.nq"] {
        let done = home.run(&["convert", &before, name]).exits(0);
        assert!(done.out.contains("verified: output equals input"), "{}", done.out);
        home.run(&["diff", "people.ttl", name]).exits(0);
        before = name.to_owned();
    }
    let trig = std::fs::read_to_string(home.at("c.trig"));
    home.run(&["convert", "people.ttl", "kept.trig"]).exits(0);
    let kept = std::fs::read_to_string(home.at("kept.trig")).unwrap_or_default();
    assert!(kept.contains("@prefix ex: <http://example.org/> .") && kept.contains("ex:bob ex:age 42 ."), "{kept}");
    assert!(trig.is_ok_and(|text| !text.contains("@prefix")));
    home.run(&["convert", "people.ttl", "out", "--to", "rdf"]).exits(2);
    home.run(&["convert", "people.ttl", "out", "--to", "rdf", "--to-syntax", "nq"]).exits(0);
    home.run(&["diff", "f.nq", "out"]).exits(0);
    // A syntax implies RDF, unless the name contradicts it.
    home.run(&["convert", "people.ttl", "other", "--to-syntax", "nq"]).exits(0);
    home.run(&["diff", "f.nq", "other"]).exits(0);
    home.run(&["convert", "people.ttl", "out.parq", "--to-syntax", "nq"]).exits(2);
    home.run(&["convert", "people.ttl", "people.parq"]).exits(0);
    home.run(&["diff", "people.ttl", "people.parq"]).exits(0);
}

#[test]
fn a_text_becomes_a_store_and_a_store_a_text() {
    let home = Home::new();
    home.write("people.ttl", TURTLE);
    let done = home.run(&["convert", "people.ttl", "lake", "--to", "graphlake"]).exits(0);
    assert!(done.out.contains("verified: output equals input"), "{}", done.out);
    home.run(&["validate", "lake", "--strict"]).exits(0);
    let out = home.run(&["convert", "lake", "out.nq"]).exits(0);
    assert!(out.out.contains("verified: output equals input"), "{}", out.out);
    home.run(&["diff", "people.ttl", "out.nq"]).exits(0);
    // All written triples are counted, including literals, with and without verification.
    for (source, target, verify) in [("lake", "a.ttl", ""), ("lake", "b.nt", "--no-verify"), ("out.nq", "c.lake", "")] {
        let words = ["convert", source, target, verify];
        let out = home.run(&words[..words.len() - usize::from(verify.is_empty())]).exits(0).out;
        assert!(out.contains("triples  7\n") && !out.contains("nodes  "), "{out}");
    }
    let lake = fixture("graphlake/five_k");
    home.run(&["convert", &lake, "five.nq"]).exits(0);
    home.run(&["diff", &lake, "five.nq"]).exits(0);
    home.run(&["convert", &lake, "five.nt"]).exits(4);
    home.run(&["convert", "five.nq", "five.lake"]).exits(0);
    home.run(&["diff", &lake, "five.lake"]).exits(0);
}

#[test]
fn a_type_may_be_a_literal_and_a_literal_long() {
    let home = Home::new();
    let of_type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
    // Longer than the default buffers of the Turtle and JSON parsers.
    let long = "long ".repeat(3_500_000);
    home.write(
        "a.nt",
        format!("<urn:a> {of_type} \"x\" .\n<urn:a> {of_type} <urn:c> .\n<urn:a> <urn:p> \"{long}\" .\n"),
    );
    home.run(&["convert", "a.nt", "a.lake"]).exits(0);
    for name in ["a.ttl", "a.trig", "a.rdf"] {
        let done = home.run(&["convert", "a.lake", name]).exits(0);
        assert!(done.out.contains("verified: output equals input"), "{name}: {}", done.out);
    }
    let refused = home.run(&["convert", "a.lake", "a.jsonld"]).exits(4);
    assert!(refused.err.contains("8000000 bytes") && refused.err.contains(".nq"), "{}", refused.err);
    home.write("short.nt", format!("<urn:a> {of_type} \"x\" .\n<urn:a> {of_type} <urn:c> .\n"));
    let done = home.run(&["convert", "short.nt", "short.jsonld"]).exits(0);
    assert!(done.out.contains("verified: output equals input"), "{}", done.out);
    let loaded = home.run(&["lake", "load", "b.lake", "a.ttl", "short.jsonld"]).exits(0);
    assert!(loaded.out.contains("5 quads from 2 files"), "{}", loaded.out);
    home.run(&["diff", "a.lake", "b.lake"]).exits(0);
}

#[test]
fn what_is_broken_is_named_or_skipped() {
    let home = Home::new();
    home.write("bad.nt", "<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> .\n<urn:a> <urn:b> \"d\" .\n");
    let refused = home.run(&["info", "bad.nt"]).exits(3);
    for words in ["RDF-SYNTAX", "line 2", "column 17", "--lenient"] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    let lenient = home.run(&["info", "bad.nt", "--lenient"]).exits(0);
    assert!(lenient.out.contains("2 statements"), "{}", lenient.out);
    assert!(lenient.out.contains("RDF-SKIPPED") && lenient.out.contains("bad.nt, line 2"), "{}", lenient.out);
    home.run(&["convert", "bad.nt", "good.nt", "--lenient"]).exits(0);
    home.run(&["validate", "good.nt"]).exits(0);
    home.run(&["explain", "RDF-SYNTAX"]).exits(0);
}

#[test]
fn a_base_and_a_syntax_can_be_given() {
    let home = Home::new();
    home.write("people", "<ann> <knows> <bob> .\n");
    home.run(&["info", "people"]).exits(3);
    home.run(&["info", "people", "--from", "rdf", "--syntax", "ttl"]).exits(3);
    let dump =
        home.run(&["dump", "people", "--from", "rdf", "--syntax", "ttl", "--base", "http://example.org/"]).exits(0);
    assert!(dump.out.contains("http://example.org/knows"), "{}", dump.out);
    home.run(&["info", "people", "--syntax", "n4"]).exits(2);
}

#[test]
fn labels_make_no_difference_where_that_is_asked_for() {
    let home = Home::new();
    let graph = |a: &str, b: &str| {
        format!("_:{a} <urn:p> _:{b} _:{a} .\n_:{b} <urn:p> \"x\" .\n<urn:s> <urn:p> <<( _:{a} <urn:p> _:{b} )>> .\n")
    };
    home.write("a.nq", graph("a", "b"));
    home.write("b.nq", graph("b", "a"));
    home.write("c.nq", graph("a", "b").replace("_:a .", "_:b ."));
    home.run(&["diff", "a.nq", "b.nq"]).exits(1);
    home.run(&["diff", "a.nq", "b.nq", "--rdfc"]).exits(0);
    home.run(&["diff", "a.nq", "c.nq", "--rdfc"]).exits(1);
    let content = |name: &str| home.run(&["digest", name, "--rdfc", "--json"]).exits(0).json()["content"].clone();
    assert_eq!(content("a.nq"), content("b.nq"));
    assert_ne!(content("a.nq"), content("c.nq"));
    let clique = |n: u32| {
        (0..n).flat_map(move |a| (0..n).filter(move |b| a != *b).map(move |b| format!("_:n{a} <urn:p> _:n{b} .\n")))
    };
    home.write("clique.nt", clique(12).collect::<String>());
    let refused = home.run(&["digest", "clique.nt", "--rdfc"]).exits(3);
    assert!(refused.err.contains("are so similar"), "{}", refused.err);
    let people = Home::with_people();
    people.run(&["digest", "people.csv", "--rdfc"]).exits(2);
}

/// `diff` has the flags for reading texts and stores, too.
#[test]
fn texts_of_relative_iris_are_compared() {
    let home = Home::new();
    home.write("a.ttl", "<a> <urn:p> <b> .\n");
    home.write("b.nq", "<http://e.example/a> <urn:p> <http://e.example/b> .\n");
    home.run(&["diff", "a.ttl", "b.nq"]).exits(3);
    home.run(&["diff", "a.ttl", "b.nq", "--base", "http://e.example/"]).exits(0);
    home.run(&["convert", "b.nq", "b.lake"]).exits(0);
    home.run(&["diff", "b.lake", "b.nq", "--ns", "ex=http://e.example/"]).exits(0);
}

/// The flags for conversions from and to RDF.
#[test]
fn classes_become_labels_and_nock_becomes_rdf() {
    let home = Home::new();
    home.write("a.ttl", "@prefix e: <http://e.example/> . e:a a e:C ; e:name \"A\" ; e:knows e:b .\n");
    let done = home.run(&["convert", "a.ttl", "a.parq", "--labels-from", "rdf:type"]).exits(0);
    assert!(done.out.contains("verified: output equals input"), "{}", done.out);
    let dump = home.run(&["dump", "a.parq", "--sidecar", "ignore"]).exits(0);
    assert!(dump.out.contains(r#""labels":["http://e.example/C"]"#), "{}", dump.out);
    std::fs::remove_dir_all(home.at("a.parq.isomorph")).unwrap();
    let done = home.run(&["convert", "a.parq", "b.ttl", "--rdf-mode", "rich"]).exits(0);
    assert!(done.out.contains("verified: output equals input"), "{}", done.out);
    home.run(&["diff", "a.ttl", "b.ttl", "--sidecar", "ignore"]).exits(0);
    let done = home.run(&["convert", "a.ttl", "p.parq", "--rdf-mode", "pynock"]).exits(0);
    assert!(done.out.contains("datatypes and languages"), "{}", done.out);
    for wrong in [["a.ttl", "x.graphar", "--rdf-mode", "rich"], ["a.parq", "x.graphar", "--labels-from", "rdf:type"]] {
        home.run(&[&["convert"][..], &wrong].concat()).exits(2);
    }
    // A property graph becomes a text, which is the same graph with its sidecar.
    home.run(&["convert", "a.parq", "g.graphar"]).exits(0);
    let done = home.run(&["convert", "g.graphar", "g.ttl.gz"]).exits(0);
    assert!(done.out.contains("one text of Turtle"), "{}", done.out);
    home.run(&["diff", "g.graphar", "g.ttl.gz", "--exact"]).exits(0);
}
