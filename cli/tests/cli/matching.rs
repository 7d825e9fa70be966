//! `match`: terms, limits and ids; and the terms of `lake insert`, `lake delete` and `lake apply`.

use crate::support::Home;

const LINES: &str = r#"<http://e.org/a> <http://e.org/p> <http://e.org/b> .
<http://e.org/a> <http://e.org/p> "x"@en <http://e.org/g> .
<http://e.org/b> <http://e.org/p> <http://e.org/c> .
<http://e.org/r> <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <http://e.org/a> <http://e.org/p> "q" )>> .
"#;

const NS: [&str; 2] = ["--ns", "e=http://e.org/"];

fn with_lake() -> Home {
    let home = Home::new();
    home.write("a.nq", LINES);
    home.run(&["lake", "load", "lake", "a.nq"]).exits(0);
    home
}

#[test]
fn terms_that_no_text_can_have_are_refused_with_their_column() {
    let home = with_lake();
    for (pattern, says) in [
        ("<a>|<b> ? ?", "<a>|<b> in column 1 is not an IRI"),
        ("< > ? ?", "< > in column 1 is not an IRI"),
        ("? <alice> ?", "<alice> in column 3 is not an IRI: it is not absolute"),
        ("?  ? <a b>", "<a b> in column 6 is not an IRI"),
        ("? ? ? <a b>", "<a b> in column 7 is not an IRI"),
        ("? ? <http://[::1>", "in column 5 is not an IRI"),
        ("e:a|b ? ?", "e:a|b in column 1 is not a name with a prefix"),
        ("http://e.org/a{b} ? ?", "in column 1 is not an IRI"),
        ("? _:b ?", "_:b in column 3 is not an IRI"),
        ("? <<( <urn:a> <urn:b> <urn:c> )>> ?", "in column 3 is not an IRI"),
        ("? ? ? \"g\"", "\"g\" in column 7 is not an IRI or a blank node"),
        ("? ? ? <<( <urn:a> <urn:b> <urn:c> )>>", "in column 7 is not an IRI or a blank node"),
        ("_: ? ?", "_: in column 1 is not a blank node"),
        ("_:a|b ? ?", "_:a|b in column 1 is not a blank node"),
        ("?a-b ? ?", "?a-b in column 1 is not a variable"),
        ("? ? \"x\"^^<a b>", "\"x\"^^<a b> in column 5 is not an IRI"),
        ("? ? \"x\"^^_:b", "in column 5 is not a literal: its datatype is not an IRI"),
        ("? ? \"x\"^^", "in column 5 is not a term"),
        ("? ? \"x\"@en-", "in column 5 is not a literal: its language"),
        ("? ? \"x\"@en-abcdefghi", "in column 5 is not a literal: its language"),
        ("? ? \"x\"@en--up", "in column 5 is not a literal: its direction"),
        ("? ? \"a\"\"b\"", "in column 5 is not a literal"),
        ("? ? \"\\q\"", "in column 5 is not a literal"),
        ("? ? \"\\ud800\"", "in column 5 is not a literal"),
        ("? ? <<( <urn:a> <urn:b> )>>", "in column 5 is not a quoted triple"),
        ("? ? <<( <urn:a> ?x <urn:c> )>>", "?x in column 17 is not a term of a quoted triple"),
        ("? ? <<( <urn:a> <urn:b> <c d> )>>", "<c d> in column 25 is not an IRI"),
    ] {
        for place in ["lake", "a.nq"] {
            let refused = home.run(&["match", place, pattern, NS[0], NS[1]]).exits(2);
            assert!(refused.err.contains(says) && refused.err.contains("\n  try "), "{pattern}: {}", refused.err);
        }
    }
    let graph = |name: &str| home.run(&["match", "lake", "? ? ?", "--graph", name]).exits(2).err;
    assert!(graph("<a b>").contains("<a b> in column 1 is not an IRI"), "{}", graph("<a b>"));
    for ns in ["ex", "ex=example", "ex=http://e.org/a b", "e x=http://e.org/"] {
        let refused = home.run(&["match", "lake", "? ? ?", "--ns", ns]).exits(2);
        assert!(refused.err.contains("is not PREFIX=IRI"), "{ns}: {}", refused.err);
    }
    for words in
        [&["copy", "lake", "default", "<a b>"][..], &["move", "lake", "<e>", "e:x"], &["drop", "lake", "\"g\""]]
    {
        let refused = home.run(&[&["lake"], words, &NS].concat()).exits(2);
        assert!(refused.err.contains("in column 1 is not"), "{words:?}: {}", refused.err);
    }
    // The error shows terms that are accepted.
    for pattern in ["<http://example.org/name> ? ?", "? ? \"42\"^^xsd:integer", "_:label1 ? ?"] {
        home.run(&["match", "lake", pattern]).exits(0);
    }
    let escaped = home.run(&["match", "lake", "<http://e.org/\\u0061> ? ?", "--count", "--json"]).exits(0).json();
    assert_eq!(escaped["count"], 2, "an escape is the character that it stands for");
}

#[test]
fn prefixes_are_known_inside_of_quoted_triples() {
    let home = with_lake();
    let found = home.run(&["match", "lake", "? ? <<( e:a e:p \"q\" )>>", NS[0], NS[1], "--json"]).exits(0).json();
    assert_eq!(found["triples"][0]["subject"], "<http://e.org/r>");
}

#[test]
fn triples_are_printed_with_their_ids_and_found_by_them() {
    let home = with_lake();
    let lines = home.run(&["match", "lake", "? ? ?", "--nquads", "--ids"]).exits(0).out;
    home.write("with_ids.nq", &lines);
    home.run(&["diff", "with_ids.nq", "lake"]).exits(0);
    let (line, id) = lines.lines().find(|line| line.contains("\"x\"@en")).unwrap().split_once(" . # ").unwrap();
    let triple = home.run(&["match", "lake", line, "--ids", "--json"]).exits(0).json();
    assert_eq!(triple["triples"][0]["id"], id);
    let found = home.run(&["match", "lake", "--id", id, "--json"]).exits(0).json();
    assert_eq!((&found["pattern"], &found["triples"], &found["more"]), (&().into(), &triple["triples"], &0.into()));
    assert_eq!(home.run(&["match", "lake", "--id", id, "--nquads"]).exits(0).out, format!("{line} .\n"));
    assert!(home.run(&["match", "lake", "? ? ?", "--ids"]).exits(0).out.contains(id));
    // A triple that is only quoted has an id, too, but is not a statement of any graph.
    let quoted = home.run(&["match", "lake", "<http://e.org/a> ? \"q\" <urn:graphlake:quoted>", "--ids", "--json"]);
    let quoted = quoted.exits(0).json()["triples"][0]["id"].as_str().unwrap().to_owned();
    let both = home.run(&["match", "lake", "--id", &quoted, "--id", id, "--json"]).exits(0).json();
    assert_eq!(both["triples"].as_array().unwrap().len(), 2, "{both}");
    let only = |at: usize| (both["triples"][at]["graph"].clone(), both["triples"][at]["only_quoted"].clone());
    assert_eq!(only(0), (().into(), true.into()));
    assert_eq!(only(1), ("<http://e.org/g>".into(), ().into()));
    assert!(home.run(&["match", "lake", "--id", &quoted]).exits(0).out.contains("only quoted"));
    let line = home.run(&["match", "lake", "--id", &quoted, "--nquads"]).exits(0).out;
    assert_eq!(line, "# only quoted: <http://e.org/a> <http://e.org/p> \"q\" .\n");
    assert_eq!(
        home.feed(&["lake", "insert", "lake", "--json"], line.as_bytes()).exits(0).json()["version"],
        serde_json::Value::Null
    );
    // A triple that is stated and quoted is printed once per graph; the graph of quoted triples is not one.
    home.run(&["lake", "insert", "lake", "e:a e:p \"q\"", NS[0], NS[1]]).exits(0);
    let said = home.run(&["match", "lake", "--id", &quoted, "--nquads"]).exits(0).out;
    assert_eq!(said, "<http://e.org/a> <http://e.org/p> \"q\" .\n");
    assert_eq!(home.run(&["match", "lake", "--id", &quoted, "--count", "--json"]).exits(0).json()["count"], 1);
    let joined = home.run(&["match", "lake", "?x e:p ?y . ?y e:p ?z", "--ids", "--json", NS[0], NS[1]]).exits(0).json();
    let of = |pattern: &str| {
        home.run(&["match", "lake", pattern, "--ids", "--json", NS[0], NS[1]]).exits(0).json()["triples"][0]["id"]
            .clone()
    };
    assert_eq!(joined["ids"], serde_json::json!([[of("e:a e:p e:b"), of("e:b e:p e:c")]]));
    let none = home.run(&["match", "lake", "--id", &"0".repeat(64), "--count", "--json"]).exits(0).json();
    assert_eq!((&none["count"], &none["pattern"]), (&0.into(), &().into()));
    for refused in
        [&["lake"][..], &["lake", "--id", "12"], &["lake", "? ? ?", "--id", id], &["lake", "? ? ?", "--ids", "--count"]]
    {
        home.run(&[&["match"], refused].concat()).exits(2);
    }
    // A text has the ids that its triples have in a store.
    home.write("stated.nq", format!("{LINES}<http://e.org/a> <http://e.org/p> \"q\" .\n"));
    let sorted = |arguments: &[&str]| {
        let out = home.run(&[&["match"], arguments].concat()).exits(0).out;
        let mut lines: Vec<String> = out.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    for arguments in [
        &["--id", &quoted, "--nquads"][..],
        &["--id", id, "--id", &quoted, "--nquads", "--ids"],
        &["? ? ?", "--ids", "--nquads"],
        &["? ? ?", "--ids", "--nquads", "--limit", "5"],
        &["_", "_", &quoted, "--nquads"],
    ] {
        assert_eq!(sorted(&[&["stated.nq"], arguments].concat()), sorted(&[&["lake"], arguments].concat()));
    }
    assert_eq!(
        sorted(&["a.nq", "--id", &quoted, "--nquads"]),
        [line.trim_end()],
        "only quoted, as in the store before"
    );
    assert_eq!(sorted(&["a.nq", "_", "_", &quoted, "--nquads"]).len(), 1);
}

#[test]
fn the_last_answer_that_is_wanted_ends_the_work() {
    let home = with_lake();
    // A text is read only as far as needed: an error after that point is not found.
    home.write("broken.nq", format!("{LINES}this is no statement\n"));
    let found = home.run(&["match", "broken.nq", "? ? ?", "--limit", "3", "--json"]).exits(0).json();
    assert_eq!((found["triples"].as_array().unwrap().len(), &found["more"]), (3, &().into()));
    assert_eq!(home.run(&["match", "broken.nq", "? ? ?", "--limit", "3", "--nquads"]).exits(0).out.lines().count(), 3);
    home.run(&["match", "broken.nq", "? ? ?", "--limit", "5"]).exits(3);
    home.run(&["match", "broken.nq", "? ? ?", "--count"]).exits(3);
    // A repeated statement is one result.
    home.write("twice.nq", LINES.repeat(2));
    let found = home.run(&["match", "twice.nq", "? ? ?", "--json"]).exits(0).json();
    assert_eq!((found["triples"].as_array().unwrap().len(), &found["more"]), (4, &0.into()));
    // A search that reached its end says so; the number of results is stated only if it is known.
    let joined = |limit: &str| home.run(&["match", "lake", "? ?p ?x . ?y ?p ?", "--limit", limit]).exits(0).out;
    assert!(joined("2").contains("the first 2 solutions") && joined("2").contains("--count"), "{}", joined("2"));
    let more = |limit: &str| {
        let words = ["match", "lake", "? ?p ?x . ?y ?p ?", "--limit", limit, "--json"];
        home.run(&words).exits(0).json()["more"].clone()
    };
    assert_eq!((more("2"), more("100")), (().into(), 0.into()));
}

/// Nodes and edges are the triples that a conversion to a store would write.
#[test]
fn property_graphs_are_matched_as_their_triples() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "people.lake"]).exits(0);
    let answers = |path: &str, words: &[&str]| {
        let found = home.run(&[&["match", path], words, &["--json", "--ids"]].concat()).exits(0).json();
        let rows = found["triples"].as_array().or(found["solutions"].as_array()).unwrap();
        let mut rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
        rows.sort();
        (rows, found["ids"].as_array().map_or(0, Vec::len))
    };
    let all = home.run(&["match", "people.csv", "? ? ?", "--nquads"]).exits(0).out;
    let mut lines: Vec<&str> = all.lines().collect();
    lines.sort_unstable();
    let stored = home.run(&["match", "people.lake", "? ? ?", "--nquads"]).exits(0).out;
    let mut expected: Vec<&str> = stored.lines().collect();
    expected.sort_unstable();
    assert_eq!(lines, expected);
    assert!(!lines.is_empty());
    let subject = lines[0].split(' ').next().unwrap();
    let of_subject = format!("{subject} ?p ?o");
    for words in [&["?s a ?o"][..], &[of_subject.as_str()], &["?s a ?type", "?s ?p ?o", "?o ?q ?r"], &["?x ?p ?x"]] {
        let words: Vec<&str> = [words, &["--limit", "100000"]].concat();
        assert_eq!(answers("people.csv", &words), answers("people.lake", &words), "{words:?}");
    }
    let count = |path: &str, words: &[&str]| {
        home.run(&[&["match", path], words, &["--count", "--json"]].concat()).exits(0).json()["count"].clone()
    };
    for words in [&["? ? ?"][..], &["?s a ?type", "?s ?p ?o"]] {
        assert_eq!(count("people.csv", words), count("people.lake", words));
    }
    // Generated IRIs begin with the base.
    let found = home.run(&["match", "people.csv", "? ? ?", "--base", "http://e.org/", "--nquads"]).exits(0).out;
    assert!(found.contains("<http://e.org/") && !found.contains("urn:x-isomorph:"), "{found}");
}

#[test]
fn statements_have_the_terms_of_patterns() {
    let home = Home::new();
    home.run(&["lake", "init", "lake"]).exits(0);
    let run = |words: &[&str]| home.run(&[&["lake"], words, &NS].concat());
    let done =
        run(&["insert", "lake", "e:ann a foaf:Person . e:ann e:age 42 e:g", "_:b e:says <<( e:ann e:p \"q\"@en )>>."]);
    assert_eq!(done.exits(0).out, "inserted 3 triples, plus 1 quoted · version 1 of lake\n");
    run(&["insert", "lake", "e:ann", "foaf:name", "\"Ann\""]).exits(0);
    let lines = home.run(&["match", "lake", "? ? ?", "--nquads"]).exits(0).out;
    for line in [
        "<http://e.org/ann> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://xmlns.com/foaf/0.1/Person> .\n",
        "<http://e.org/ann> <http://e.org/age> \"42\"^^<http://www.w3.org/2001/XMLSchema#integer> <http://e.org/g> .\n",
        "_:b <http://e.org/says> <<( <http://e.org/ann> <http://e.org/p> \"q\"@en )>> .\n",
        "<http://e.org/ann> <http://xmlns.com/foaf/0.1/name> \"Ann\" .\n",
    ] {
        assert!(lines.contains(line), "{lines}");
    }
    let done = run(&["delete", "lake", "e:ann e:age 42 e:g . e:ann a foaf:Person", "--json"]).exits(0).json();
    assert_eq!((&done["deleted"], &done["statements"]), (&2.into(), &2.into()));
    for (words, says) in [
        (&["insert", "lake", "e:ann a ?what"][..], "is not a statement: it has variables"),
        (&["insert", "lake", "e:ann a <a b>"], "<a b> in column 9 is not an IRI"),
        (&["delete", "lake", "? ? ?"], "isomorph match lake '? ? ?' --nquads | isomorph lake delete lake"),
    ] {
        let refused = run(words).exits(2);
        assert!(refused.err.contains(says) && refused.err.ends_with("no changes were made\n"), "{}", refused.err);
    }
    // The command in the hint deletes all matching statements.
    let fits = home.run(&["match", "lake", "e:ann ? ?", "--nquads", NS[0], NS[1]]).exits(0).out;
    home.feed(&["lake", "delete", "lake", "-"], fits.as_bytes()).exits(0);
    assert_eq!(home.run(&["match", "lake", "? ? ?", "--count", "--json"]).exits(0).json()["count"], 1);
}

#[test]
fn changes_of_files_are_one_transaction() {
    let home = with_lake();
    home.write("old.nq", "<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n<urn:n> <urn:p> \"both\" .\n");
    home.write("new.ttl", "@prefix : <urn:> . :n :p \"both\", 1 .\n");
    let done = home.run(&["lake", "apply", "lake", "new.ttl", "--delete", "old.nq"]).exits(0).out;
    assert_eq!(done, "applied  deleted 1 triple; inserted 2 triples · version 2 of lake\n");
    let has = |pattern: &str| home.run(&["match", "lake", pattern, "--count", "--json"]).exits(0).json()["count"] == 1;
    // Deletes come before inserts.
    assert!(has("<urn:n> ? \"both\"") && has("<urn:n> ? 1") && !has("? ? <http://e.org/b>"));
    let again = ["lake", "apply", "lake", "--delete", "-", "new.ttl", "--json"];
    let done = home.feed(&again, b"<urn:n> <urn:p> \"none\" .\n").exits(0).json();
    let told = ["deletes", "inserts", "deleted", "missing", "again"].map(|name| done[name].as_u64().unwrap());
    assert_eq!(told, [1, 2, 0, 1, 2], "{done}");
    let versions = || home.run(&["lake", "log", "lake", "--json"]).exits(0).json().as_array().unwrap().len();
    let before = versions();
    home.feed(&["lake", "apply", "lake", "-", "--delete", "-"], b"").exits(2);
    home.run(&["lake", "apply", "lake"]).exits(2);
    // An error in one file prevents the other files from being applied.
    let broken =
        home.feed(&["lake", "apply", "lake", "new.ttl", "--delete", "old.nq", "-"], b"<urn:a> <urn:b>\n").exits(3);
    assert!(broken.err.contains("standard input") && broken.err.ends_with("no changes were made\n"), "{}", broken.err);
    home.run(&["lake", "apply", "lake", "none.nq"]).exits(3);
    assert_eq!(versions(), before);
}

#[test]
fn triples_on_one_side_only_are_counted_on_both() {
    let home = Home::new();
    let line = |n: u32| format!("<urn:{n}> <urn:p> <urn:o> .\n<urn:{n}> <urn:name> \"{n}\" .\n");
    home.write("two.nq", (0..2).map(line).collect::<String>());
    home.write("three.nq", (2..5).map(line).collect::<String>());
    let done = home.run(&["diff", "two.nq", "three.nq"]).exits(1).out;
    assert_eq!(done.matches("2 missing on the right, 3 on the left").count(), 2, "{done}");
    let document = home.run(&["diff", "two.nq", "three.nq", "--json"]).exits(1).json();
    for line in document["lines"].as_array().unwrap() {
        assert_eq!((&line["only_left"], &line["only_right"]), (&2.into(), &3.into()), "{line}");
    }
    let document = home.run(&["diff", "two.nq", "three.nq", "--limit", "0", "--json"]).exits(1).json();
    assert!(document["differing"].is_null() && document["lines"][0]["only_left"].is_null(), "{document}");
}

#[test]
fn a_variable_for_the_graph_is_a_named_graph_everywhere() {
    let home = Home::new();
    home.write("a.nq", "<urn:a> <urn:p> <urn:b> .\n<urn:b> <urn:q> <urn:c> .\n<urn:b> <urn:q> <urn:d> <urn:g> .\n");
    home.run(&["lake", "load", "lake", "a.nq"]).exits(0);
    let count = |arguments: &[&str]| {
        home.run(&[&["match"], arguments, &["--count", "--json"]].concat()).exits(0).json()["count"].clone()
    };
    for place in ["lake", "a.nq"] {
        for (pattern, expected) in [
            ("_ _ _ ?g", 1),
            ("_ _ _ _", 3),
            ("_ _ _ ?", 3),
            ("_ _ _", 3),
            ("_ _ _ default", 2),
            ("<urn:b> <urn:q> ?o ?g", 1),
            ("<urn:b> <urn:q> ?o _", 2),
        ] {
            assert_eq!(count(&[place, pattern]), expected, "{place} {pattern}");
            let shown = home.run(&["match", place, pattern, "--json"]).exits(0).json();
            assert_eq!(shown["triples"].as_array().unwrap().len(), expected, "{place} {pattern}");
            assert_eq!(shown["more"], 0, "{place} {pattern}");
            let lines = home.run(&["match", place, pattern, "--nquads"]).exits(0).out;
            assert_eq!(lines.lines().count(), expected, "{place} {pattern}");
        }
        assert_eq!(count(&[place, "_ _ _", "--graph", "?g"]), 1);
    }
    assert_eq!(count(&["lake", "<urn:a> <urn:p> ?b", "?b <urn:q> ?o ?g"]), 1);
    assert_eq!(count(&["lake", "<urn:a> <urn:p> ?b", "?b <urn:q> ?o _"]), 2);
}

#[test]
fn the_id_of_a_triple_with_a_triple_term_is_that_of_the_line_with_the_id_of_the_term() {
    let home = with_lake();
    let id = |pattern: &str| {
        home.run(&["match", "lake", pattern, "--ids", "--json"]).exits(0).json()["triples"][0]["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let term = id("<http://e.org/a> ? \"q\" <urn:graphlake:quoted>");
    let line =
        format!("<http://e.org/r> <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <urn:triple:sha256:{term}> .\n");
    home.write("term.nt", &line);
    home.run(&["lake", "load", "other", "term.nt"]).exits(0);
    let others = home.run(&["match", "other", "<http://e.org/r> ? ?", "--ids", "--json"]).exits(0).json();
    assert_eq!(id("<http://e.org/r> ? ?"), others["triples"][0]["id"].as_str().unwrap());
    let help = home.run(&["match", "--help"]).exits(0).out;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("in which a triple term is written as <urn:triple:sha256:ID>"), "{help}");
    assert!(help.contains("as GRAPH ?name in SPARQL"), "{help}");
}

#[test]
fn what_a_lenient_match_skips_is_told() {
    let home = Home::new();
    let broken = "<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> .\n<urn:a> <urn:p> <urn:c> .\n<urn:a> .\n";
    for name in ["bad.nt", "bad.ttl"] {
        home.write(name, broken);
        home.run(&["match", name, "_ _ _"]).exits(3);
        for flags in [&[][..], &["-v"], &["--count"], &["--nquads"], &["--limit", "1"], &["--limit", "1", "--nquads"]] {
            let done = home.run(&[&["match", name, "_ _ _", "--lenient"], flags].concat()).exits(0);
            assert!(done.err.contains("RDF-SKIPPED") && done.err.contains("line 2"), "{flags:?}: {}", done.err);
            assert!(flags.contains(&"-v") || done.err.contains("1 more place"), "{flags:?}: {}", done.err);
        }
        for flags in [&["--json"][..], &["--json", "--count"], &["--json", "--limit", "1"]] {
            let found = home.run(&[&["match", name, "_ _ _", "--lenient"], flags].concat()).exits(0).json();
            let told = &found["findings"][0];
            assert_eq!((&told["rule"], &told["count"]), (&"RDF-SKIPPED".into(), &2.into()), "{name} {flags:?}");
        }
    }
    home.write("good.nt", "<urn:a> <urn:p> <urn:b> .\n");
    let sound = home.run(&["match", "good.nt", "_ _ _", "--lenient", "--json"]).exits(0).json();
    assert_eq!(sound.get("findings"), None);
}

#[test]
fn names_with_prefixes_are_those_of_turtle() {
    let home = with_lake();
    let insert = |statement: &str| home.run(&["lake", "insert", "other", statement, NS[0], NS[1]]);
    home.run(&["lake", "init", "other"]).exits(0);
    for (statement, says) in [
        ("e:a e:p e:b, e:c", "e:b, in column 9 is not a name with a prefix: , must be written \\,"),
        ("e:a e:p e:b;", "e:b; in column 9"),
        ("e:a e:p/e:q e:c", "e:p/e:q in column 5"),
        ("e:a e:it's e:c", "e:it's in column 5"),
        ("e:a e:p (e:b e:c)", "in column 9"),
        ("e:a e:p e:-b", "e:-b in column 9"),
        ("e:a e:p e:%2", "e:%2 in column 9"),
        ("e:a e:p e:b\\x", "in column 9"),
        ("e:a e:p urn:b, urn:c", "urn:b, in column 9 is not an IRI"),
        ("e:a e:p http://e.org/b; e:g", "http://e.org/b; in column 9 is not an IRI"),
        ("e:a e:p <<( e:a e:p e:b, )>>", "e:b, in column 21"),
        ("e:a e:p \"5\"^^e:d,", "in column 9"),
    ] {
        let refused = insert(statement).exits(2);
        assert!(refused.err.contains(says) && refused.err.contains("\n  try "), "{statement}: {}", refused.err);
    }
    for (statement, line) in [
        ("e:a a e:C.", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.org/C>"),
        ("e:1 e:p e:a.b:c-d.", "<http://e.org/p> <http://e.org/a.b:c-d>"),
        ("e:2 e:p e:b\\,.", "<http://e.org/p> <http://e.org/b,>"),
        ("e:3 e:p e:x\\.", "<http://e.org/p> <http://e.org/x.>"),
        ("e:4 e:p e:it\\'s", "<http://e.org/p> <http://e.org/it's>"),
        ("e:5 e:p e:%C3%A9\u{e9}", "<http://e.org/p> <http://e.org/%C3%A9\u{e9}>"),
        ("e:6 e:p e:.", "<http://e.org/p> <http://e.org/>"),
        ("e:7 e:p http://e.org/c.", "<http://e.org/p> <http://e.org/c>"),
        ("e:8 e:p http://e.org/c,d;e", "<http://e.org/p> <http://e.org/c,d;e>"),
        ("e:9 e:p \"5\"^^xsd:integer.", "<http://e.org/p> \"5\"^^<http://www.w3.org/2001/XMLSchema#integer>"),
    ] {
        insert(statement).exits(0);
        let subject = statement.split(' ').next().unwrap();
        let found = home.run(&["match", "other", subject, "_", "_", "--nquads", NS[0], NS[1]]).exits(0).out;
        assert!(found.ends_with(&format!("> {line} .\n")) && found.lines().count() == 1, "{statement}: {found}");
    }
}

#[test]
fn flags_state_what_the_beginning_of_a_text_does_not_show() {
    let home = Home::new();
    let text = "<urn:a> <urn:b> \"\"\"x\ny\"\"\" .";
    home.write("sty", text);
    let line = "<urn:a> <urn:b> \"x\\ny\" .\n";
    for flags in [&["--from", "rdf", "--syntax", "ttl"][..], &["--syntax", "ttl"]] {
        for more in [&["--nquads"][..], &["--nquads", "--limit", "5"]] {
            let found = home.run(&[&["match", "sty", "? ? ?"], flags, more].concat()).exits(0);
            assert_eq!(found.out, line, "{flags:?}");
            let found = home.feed(&[&["match", "-", "? ? ?"], flags, more].concat(), text.as_bytes()).exits(0);
            assert_eq!(found.out, line, "{flags:?}");
        }
    }
    let refused = home.run(&["match", "sty", "? ? ?", "--from", "rdf"]).exits(3);
    assert!(refused.err.contains("--syntax"), "{}", refused.err);
}
