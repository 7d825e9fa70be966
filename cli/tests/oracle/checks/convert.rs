//! `convert` to every format, and `diff` and `dump` of the output.

use super::{dumped, same_lines, validate};
use crate::case::Case;
use crate::truth::Truth;

/// Names of outputs, by format.
const TARGETS: &[(&str, &str)] = &[
    ("graphar", "to.graphar"),
    ("nock", "to.parq"),
    ("nock", "to.csv"),
    ("annnet", "to.annnet"),
    ("deepgnn", "to.linear"),
    ("graphlake", "to.lake"),
    ("rdf", "to.nq"),
    ("rdf", "to.ttl"),
];

/// Converts to every format, and returns the names of the outputs.
pub fn all(case: &mut Case, truth: &Truth) -> Vec<String> {
    let mut written = Vec::new();
    for (format, name) in TARGETS {
        let source = case.made.path.clone();
        let done = case.run(&["convert", &source, name, "--to", format]);
        if done.code != Some(0) {
            case.compare("convert, refused", done.refused(), || format!("to {name}: {:?} {}", done.code, done.err));
            let left = case.home().join(name).exists();
            case.compare("convert, refused", !left, || format!("{name} was left by a conversion that failed"));
            continue;
        }
        if let Some(copy) = dumped(case, "convert", name) {
            same_lines(case, "convert", &format!("dump of {name}"), &copy.lines, &truth.lines);
        }
        let equal = case.run(&["diff", &source, name, "--json"]);
        let said = equal.code == Some(0) && equal.json()["equal"] == true;
        case.compare("diff, equal", said, || format!("{source} {name}: {:?} {}{}", equal.code, equal.out, equal.err));
        validate(case, name);
        written.push((*name).to_owned());
    }
    written
}
