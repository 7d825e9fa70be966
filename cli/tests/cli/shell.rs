//! `shell`, fed from a pipe.
#![cfg(feature = "query")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use crate::support::{Done, Home, social};

fn started(home: &Home, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_isomorph"))
        .args(arguments)
        .current_dir(home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn fed(home: &Home, arguments: &[&str], lines: &str) -> Done {
    let mut process = started(home, arguments);
    process.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let done = process.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { code: done.status.code().unwrap(), out: text(done.stdout), err: text(done.stderr) }
}

#[test]
fn queries_in_three_languages_are_answered_in_their_order() {
    let (home, social) = (Home::new(), social());
    let lines = "select count(*) as people\n  from person;\n.language cypher\nMATCH (c:city) RETURN count(*) AS cities\n\n\
                 .language sparql\nASK { ?s ?p ?o }";
    let done = fed(&home, &["shell", &social], lines).exits(0);
    let at = |text: &str| done.out.find(text).unwrap_or_else(|| panic!("{text}: {}", done.out));
    assert!(at("500") < at("40") && at("40") < at("yes"), "{}", done.out);
    // Each answer is what the command prints.
    let alone = home.run(&["sql", &social, "select count(*) as people from person"]).exits(0);
    assert!(done.out.starts_with(&alone.out), "{}", done.out);
}

#[test]
fn tables_and_columns_are_listed_and_errors_do_not_end_the_shell() {
    let (home, social) = (Home::new(), social());
    let lines = ".tables\n.schema city\n.schema WROTE\n.schema nope\nselect nonsense from person;\n.frob\n.schema\n.help\nselect 41 + 1 as answer;\n.quit\nselect 'never';\n";
    let done = fed(&home, &["shell", &social], lines).exits(1);
    for shown in ["person_knows_person", "population", "_target", "42", ".language sql|cypher|sparql"] {
        assert!(done.out.contains(shown), "{shown}: {}", done.out);
    }
    for shown in ["nonsense", "no table is called nope", ".frob is not a command", ".schema TABLE"] {
        assert!(done.err.contains(shown), "{shown}: {}", done.err);
    }
    assert!(!done.out.contains("never"), "{}", done.out);
    // Nothing is asked.
    fed(&home, &["shell", &social], "").exits(0);
    fed(&home, &["shell", "-"], "").exits(2);
}

#[test]
fn flags_reach_each_query() {
    let (home, social) = (Home::new(), social());
    let csv =
        fed(&home, &["shell", &social, "--", "--format", "csv"], "select 1 as a, 2 as b;\nselect 3 as c;\n").exits(0);
    assert_eq!(csv.out, "\"a\",\"b\"\n1,2\n\"c\"\n3\n");
    let json = fed(&home, &["shell", &social, "--json"], "select 1 as a;\n").exits(0);
    assert_eq!(json.out.replace(['\n', ' '], ""), "[{\"a\":1}]");
}

#[test]
fn what_was_read_answers_later_queries() {
    let home = Home::new();
    home.write("people.ttl", "<urn:ann> <urn:knows> <urn:bob> .\n");
    let mut process = started(&home, &["shell", "people.ttl", "--language", "sparql"]);
    let mut input = process.stdin.take().unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let mut answer = |query: &str| {
        input.write_all(query.as_bytes()).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        line
    };
    assert_eq!(answer("ASK { <urn:ann> ?p ?o };\n"), "yes\n");
    // The second query loads all triples.
    assert_eq!(answer("ASK { ?s <urn:knows> <urn:ann> };\n"), "no\n");
    std::fs::remove_file(home.at("people.ttl")).unwrap();
    assert_eq!(answer("ASK { ?s ?p <urn:bob> };\n"), "yes\n");
    home.write("people.ttl", "<urn:ann> <urn:knows> <urn:cid> .\n");
    assert_eq!(answer("ASK { ?s ?p <urn:bob> };\n"), "yes\n");
    assert_eq!(answer(".reload\nASK { ?s ?p <urn:bob> };\n"), "no\n");
    drop(input);
    assert_eq!(process.wait().unwrap().code(), Some(1), "an answer was no");
}

#[test]
fn a_session_answers_from_one_version_of_a_lake_in_all_languages() {
    let home = Home::new();
    home.write("one.nt", "<urn:ann> <urn:knows> <urn:bob> .\n");
    home.run(&["lake", "load", "one.lake", "one.nt"]).exits(0);
    for first in ["sparql", "sql"] {
        let mut process = started(&home, &["shell", "one.lake", "--language", first, "--", "--format", "csv"]);
        let mut input = process.stdin.take().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut answer = |language: &str, query: &str| {
            write!(input, ".language {language}\n{query};\n").unwrap();
            let mut lines = [String::new(), String::new()];
            lines.iter_mut().for_each(|line| assert!(output.read_line(line).unwrap() > 0));
            lines[1].trim().to_owned()
        };
        let mut count = |language: &str| match language {
            "sql" => answer(language, "select count(*) as n from quads"),
            "cypher" => answer(language, "MATCH ()-[r]->() RETURN count(r) AS n"),
            _ => answer(language, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"),
        };
        let before = count(first);
        home.run(&["lake", "insert", "one.lake", &format!("<urn:{first}>"), "<urn:knows>", "<urn:bob>"]).exits(0);
        for language in ["sql", "cypher", "sparql"] {
            assert_eq!(count(language), before, "{language} after {first}");
        }
        drop(input);
        process.wait().unwrap();
    }
}

#[test]
fn queries_do_not_read_what_the_shell_reads() {
    let (home, social) = (Home::new(), social());
    let done = fed(&home, &["shell", &social], "-;\nselect 41 + 1 as answer;\n").exits(1);
    assert!(done.out.contains("42") && done.err.contains("expected a query, found -"), "{done:?}");
    let done = fed(&home, &["shell", &social, "--", "-f", "-"], "select 1;\n").exits(1);
    assert!(done.err.contains("not read from a file"), "{done:?}");
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_the_query_and_not_the_shell() {
    let (home, social) = (Home::new(), social());
    // Answers that nobody reads to their end: the pipe is full before.
    for (language, long, short) in [
        ("sql", "select a.id, b.id from person a, person b, person c", "select 41 + 1 as answer"),
        ("cypher", "MATCH (a:person), (b:person), (c:person) RETURN a.id, b.id", "RETURN 41 + 1 AS answer"),
    ] {
        let mut process = started(&home, &["shell", &social, "--language", language, "--", "--format", "csv"]);
        let lines = format!("{long};\n{short};\n");
        process.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let killed = Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let mut rows = 0_u64;
        let mut last = String::new();
        for line in output.lines() {
            last = line.unwrap();
            rows += 1;
        }
        assert_eq!(last, "42", "{language}");
        assert!(rows < 125_000_000, "{language}: {rows}");
        let mut said = String::new();
        process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.contains("interrupted"), "{language}: {said}");
        assert_eq!(process.wait().unwrap().code(), Some(1));
    }
}
