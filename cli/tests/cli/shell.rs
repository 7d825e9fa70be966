//! `shell`, fed from a pipe.
#![cfg(feature = "query")]

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{Done, Home, social};

fn fed(home: &Home, arguments: &[&str], lines: &str) -> Done {
    let mut process = Command::new(env!("CARGO_BIN_EXE_isomorph"))
        .args(arguments)
        .current_dir(home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
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
    let lines = ".tables\n.schema city\nselect nonsense from person;\n.frob\n.schema\n.help\nselect 41 + 1 as answer;\n.quit\nselect 'never';\n";
    let done = fed(&home, &["shell", &social], lines).exits(1);
    for shown in ["person_knows_person", "population", "42", ".language sql|cypher|sparql"] {
        assert!(done.out.contains(shown), "{shown}: {}", done.out);
    }
    for shown in ["nonsense", ".frob is not a command", ".schema TABLE"] {
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
