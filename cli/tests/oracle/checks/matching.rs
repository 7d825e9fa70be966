//! `match` of random patterns over triples, in graphs of every format.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::same_lines;
use crate::case::Case;
use crate::quads::{self, Pattern, Quad};

/// Matches random patterns, alone and joined.
pub fn all(case: &mut Case, path: &str) {
    // Stores and texts are searched as they are, whatever their sidecar makes of them.
    let is_native = [".lake", ".nq", ".ttl"].iter().any(|ending| path.ends_with(ending));
    let done = case.run(&["match", path, "? ? ?", "--nquads"]);
    let mut lines: Vec<String> = done.out.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    if !is_native {
        // Other graphs have the triples that a conversion writes, or are refused as it is.
        let converted = case.run(&["convert", path, "matched.nq", "--no-verify"]);
        case.compare("match, refused", converted.code == done.code, || {
            format!("{path}: {:?} {}, and convert {:?} {}", done.code, done.err, converted.code, converted.err)
        });
        if converted.code != Some(0) {
            return;
        }
        let written = case.home().join("matched.nq");
        let expected: BTreeSet<String> =
            std::fs::read_to_string(&written).expect("a text").lines().map(str::to_owned).collect();
        std::fs::remove_file(&written).expect("removed");
        let _ = std::fs::remove_dir_all(case.home().join("matched.nq.isomorph"));
        same_lines(case, "match", &format!("{path} ? ? ?"), &lines, &expected.into_iter().collect::<Vec<_>>());
    }
    let quads: Result<Vec<Quad>, String> = lines.iter().map(|line| quads::parse(line)).collect();
    let right = done.code == Some(0) && quads.is_ok();
    case.compare("match", right, || format!("{path} ? ? ?: {:?} {}", done.code, done.err));
    let Ok(quads) = quads else { return };
    if quads.is_empty() {
        return;
    }
    for _ in 0..if is_native { 4 } else { 2 } {
        let pattern = pattern(case, &quads, &["?s", "?p", "?o"]);
        one(case, path, &quads, &pattern);
    }
    let patterns = [pattern(case, &quads, &["?a", "?p", "?b"]), pattern(case, &quads, &["?b", "?q", "?c"])];
    joined(case, path, &quads, &patterns);
}

/// Returns a pattern: the terms of a quad, some of them replaced by names. Blank nodes always are: in a pattern, their
/// labels mean other nodes.
fn pattern(case: &mut Case, quads: &[Quad], names: &[&str; 3]) -> Pattern {
    let quad = quads[case.dice.below(quads.len())].clone();
    [0, 1, 2].map(|at| {
        let free = case.dice.chance(50) || quad[at].contains("_:") || quad[at].starts_with("<<");
        if free { names[at].to_owned() } else { quad[at].clone() }
    })
}

/// Matches one pattern: its quads, their number, and the first of them.
fn one(case: &mut Case, path: &str, quads: &[Quad], pattern: &Pattern) {
    let text = pattern.join(" ");
    let expected: Vec<&Quad> = quads
        .iter()
        .filter(|quad| quads::join(std::slice::from_ref(*quad), std::slice::from_ref(pattern)).len() == 1)
        .collect();
    let lines = |quads: &mut dyn Iterator<Item = String>| {
        let mut lines: Vec<String> = quads.collect();
        lines.sort_unstable();
        lines
    };
    let done = case.run(&["match", path, &text, "--nquads"]);
    let found = lines(&mut done.out.lines().filter_map(|line| quads::parse(line).ok()).map(|quad| quad.join(" ")));
    let expected_lines = lines(&mut expected.iter().map(|quad| quad.join(" ")));
    same_lines(case, "match", &format!("{path} {text}"), &found, &expected_lines);
    let counted = case.run(&["match", path, &text, "--count", "--json"]).json();
    case.compare("match --count", counted["count"] == expected.len(), || format!("{path} {text}: {counted}"));
    let limit = 1 + case.dice.below(3);
    let shown = case.run(&["match", path, &text, "--limit", &limit.to_string(), "--json"]).json();
    let triples = shown["triples"].as_array().map_or(0, Vec::len);
    let are_right = shown["triples"].as_array().into_iter().flatten().all(|triple| {
        let term = |name: &str| triple[name].as_str().unwrap_or_default().to_owned();
        expected.iter().any(|quad| **quad == [term("subject"), term("predicate"), term("object"), term("graph")])
    });
    let right = are_right && triples == limit.min(expected.len());
    case.compare("match --limit", right, || format!("{path} {text} --limit {limit}: {shown}"));
}

/// Matches two patterns with a common name.
fn joined(case: &mut Case, path: &str, quads: &[Quad], patterns: &[Pattern; 2]) {
    let texts = patterns.each_ref().map(|pattern| pattern.join(" "));
    let done = case.run(&["match", path, &texts[0], &texts[1], "--json", "--limit", "100000"]);
    let line = |solution: &BTreeMap<String, String>| serde_json::to_string(solution).expect("JSON");
    let mut expected: Vec<String> = quads::join(quads, patterns).iter().map(line).collect();
    let shown = done.json();
    let solutions = shown["solutions"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found: Vec<String> = solutions
        .iter()
        .map(|solution| {
            let members = solution.as_object().into_iter().flatten();
            line(&members.map(|(name, value)| (name.clone(), text(value))).collect())
        })
        .collect();
    expected.sort_unstable();
    found.sort_unstable();
    if expected.len() <= 100_000 {
        same_lines(case, "match, joined", &format!("{path} {texts:?}"), &found, &expected);
    }
    let counted = case.run(&["match", path, &texts[0], &texts[1], "--count", "--json"]).json();
    case.compare("match --count, joined", counted["count"] == expected.len(), || {
        format!("{path} {texts:?}: {counted} of {}", expected.len())
    });
}
