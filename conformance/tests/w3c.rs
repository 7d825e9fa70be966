//! The W3C suites of RDF 1.1 and 1.2, where they are there.

#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_conformance::{Outcome, SUITES, cases, run};

#[test]
fn suites_pass() {
    let Some(home) = isomorph_fixtures::public_data("rdf-tests") else { return };
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
