//! The W3C suites of RDF 1.1 and 1.2, where they are there.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use isomorph_conformance::{Outcome, SUITES, cases, run};

/// The parser writes every namespace in scope into an XML literal, used or not; the cases have exclusive canonical XML,
/// whose text is another and whose value is the same.
const NAMESPACES: &str = "an XML literal names namespaces that it does not use";

/// Cases that do not pass: suite, name, reason. A case that passes must not stand here.
const IGNORED: &[(&str, &str, &str)] = &[
    ("rdf11/rdf-xml", "xml-canon-test001", NAMESPACES),
    ("rdf11/rdf-xml", "xml-canon-test002", NAMESPACES),
    ("rdf12/rdf-xml/eval", "rdf12-xml-an-13", NAMESPACES),
    ("rdf12/rdf-xml/eval", "rdf12-xml-an-14", NAMESPACES),
];

fn home() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/rdf-tests");
    if path.is_dir() {
        return Some(path);
    }
    println!("SKIPPED the W3C suites are not there: {}", path.display());
    None
}

#[test]
fn suites_pass() {
    let Some(home) = home() else { return };
    let mut table = String::from("| suite | cases | passed | not |\n|---|---|---|---|\n");
    let (mut all, mut wrong) = ((0, 0), Vec::new());
    for suite in SUITES {
        let cases = cases(&home, suite).unwrap();
        assert!(!cases.is_empty(), "{suite}");
        let mut passed = 0;
        for case in &cases {
            let reason = IGNORED.iter().find(|(of, name, _)| *of == suite && *name == case.name);
            match (run(case), reason) {
                (Outcome::Passed, None) => passed += 1,
                (Outcome::Passed, Some(_)) => wrong.push(format!("{suite} {}: passes, and is ignored", case.name)),
                (Outcome::Failed(why), None) => wrong.push(format!("{suite} {}: {why}", case.name)),
                (Outcome::Failed(why), Some((_, _, reason))) => {
                    println!("ignored {suite} {}: {reason} ({why})", case.name)
                }
            }
        }
        table.push_str(&format!("| {suite} | {} | {passed} | {} |\n", cases.len(), cases.len() - passed));
        all = (all.0 + cases.len(), all.1 + passed);
    }
    table.push_str(&format!("| all | {} | {} | {} |\n", all.0, all.1, all.0 - all.1));
    println!("{table}");
    assert!(wrong.is_empty(), "{} cases\n{}", wrong.len(), wrong.join("\n"));
    let page = include_str!("../README.md");
    let found = page.split_once("<!-- results -->\n").and_then(|(_, rest)| rest.split_once("<!-- /results -->"));
    assert_eq!(found.map(|(found, _)| found), Some(table.as_str()), "README.md has another table");
}
