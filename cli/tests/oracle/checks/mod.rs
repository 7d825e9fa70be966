//! The checks of a case.

mod compare;
mod convert;
mod matching;
mod neighbors;
mod repeats;
mod select;

use serde_json::Value;

use crate::case::Case;
use crate::truth::{Truth, difference};

/// Runs all checks.
pub fn all(case: &mut Case) {
    let path = case.made.path.clone();
    let Some(truth) = dumped(case, "dump", &path) else { return };
    if let Some(counts) = case.made.counts {
        let found = (truth.nodes.len(), truth.edges.len());
        case.compare("dump", counts == found, || format!("{found:?} nodes and edges of {counts:?}"));
    }
    validate(case, &path);
    let copies = convert::all(case, &truth);
    let any = copies.get(case.dice.below(copies.len().max(1))).cloned();
    for path in [Some(path), any].into_iter().flatten() {
        info(case, &path, &truth);
        neighbors::all(case, &path, &truth);
        select::all(case, &path, &truth);
        matching::all(case, &path);
    }
    compare::all(case, &truth);
    repeats::all(case, &truth);
}

/// Returns the `dump` of a graph; if it fails, counts a wrong answer and returns `None`.
fn dumped(case: &mut Case, command: &'static str, path: &str) -> Option<Truth> {
    let done = case.run(&["dump", path]);
    let truth =
        if done.code == Some(0) { Truth::parse(&done.out) } else { Err(format!("{:?}: {}", done.code, done.err)) };
    case.compare(command, truth.is_ok(), || {
        format!("dump {path}: {}", truth.as_ref().err().cloned().unwrap_or_default())
    });
    truth.ok()
}

/// Compares the numbers of nodes and edges by type.
fn info(case: &mut Case, path: &str, truth: &Truth) {
    let done = case.run(&["info", path, "--json"]);
    let shown = done.json();
    case.compare("info", done.code == Some(0), || format!("{:?}: {}", done.code, done.err));
    for ty in shown["nodes"].as_array().into_iter().flatten() {
        let found = ty["type"].as_str().map_or(0, |ty| truth.count_of(ty));
        case.compare("info", counted(&ty["count"], found), || format!("nodes of {ty}: {found}"));
    }
    for ty in shown["edges"].as_array().into_iter().flatten() {
        let of = truth.edges.iter().filter(|edge| {
            let ends = ty["source"] == edge.types[0].as_str() && ty["target"] == edge.types[1].as_str();
            ends && (ty["relation"].is_null() || ty["relation"] == edge.relation.as_str())
        });
        let found = of.count();
        case.compare("info", counted(&ty["count"], found), || format!("edges of {ty}: {found}"));
    }
}

/// Returns whether a count of `info` is right; null means unknown.
fn counted(count: &Value, found: usize) -> bool {
    count.is_null() || *count == found
}

/// Validates the output of our own writers.
fn validate(case: &mut Case, path: &str) {
    let done = case.run(&["validate", path, "--json"]);
    let sound = done.code == Some(0) && done.json()["sound"] == true;
    case.compare("validate", sound, || format!("{path} is not sound: {:?} {}{}", done.code, done.out, done.err));
}

/// Compares two sorted lists of lines, as one comparison.
fn same_lines(case: &mut Case, command: &'static str, what: &str, found: &[String], expected: &[String]) {
    case.compare(command, found == expected, || format!("{what}: {}", difference(found, expected)));
}
