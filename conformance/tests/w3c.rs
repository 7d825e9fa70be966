//! The W3C suites of RDF 1.1 and 1.2, where they are there.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use isomorph_conformance::{Outcome, SUITES, cases, run};

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
            match run(case) {
                Outcome::Passed => passed += 1,
                Outcome::Failed(why) => wrong.push(format!("{suite} {}: {why}", case.name)),
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
