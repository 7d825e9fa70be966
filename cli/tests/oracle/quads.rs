//! Quads as N-Quads lines: random ones, and naive pattern matching.

use std::collections::BTreeMap;

use crate::graphs::Dice;

const RESOURCES: &[&str] = &["<urn:a>", "<urn:b>", "<urn:c>", "<http://example.org/é>", "_:x", "_:y"];
const PREDICATES: &[&str] = &["<urn:p>", "<urn:q>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"];
const LITERALS: &[&str] = &[
    "\"\"",
    "\"a\"",
    "\"a\"@en",
    "\"a\"@en--ltr",
    "\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>",
    "\"01\"^^<http://www.w3.org/2001/XMLSchema#integer>",
    "\"é \\\"quoted\\\" \\\\ \"",
];
const GRAPHS: &[&str] = &["", "", "<urn:g>", "<urn:h>"];

/// The terms of a quad: subject, predicate, object and graph, which is empty in the default graph.
pub type Quad = [String; 4];

/// Returns a random line of N-Quads.
pub fn random(dice: &mut Dice) -> String {
    let object = if dice.chance(50) { dice.pick(LITERALS) } else { dice.pick(RESOURCES) };
    let (subject, predicate) = (dice.pick(RESOURCES), dice.pick(PREDICATES));
    let object = match dice.chance(15) {
        true => format!("<<( {subject} {predicate} {object} )>>"),
        false => object.to_owned(),
    };
    let graph = dice.pick(GRAPHS);
    let space = if graph.is_empty() { "" } else { " " };
    format!("{subject} {predicate} {object}{space}{graph} .\n")
}

/// Parses a line of N-Quads as `match --nquads` writes it.
///
/// # Errors
/// Returns an error for a line without three or four terms.
pub fn parse(line: &str) -> Result<Quad, String> {
    let mut terms = Vec::new();
    let mut rest = line.strip_suffix(" .").ok_or_else(|| format!("no full stop: {line}"))?;
    while !rest.is_empty() {
        let end = end_of_term(rest);
        terms.push(rest[..end].to_owned());
        rest = rest[end..].trim_start_matches(' ');
    }
    if terms.len() == 3 {
        terms.push(String::new());
    }
    terms.try_into().map_err(|terms: Vec<String>| format!("{} terms: {line}", terms.len()))
}

/// Returns the end of the first term of a text.
fn end_of_term(text: &str) -> usize {
    if text.starts_with("<<(") {
        return text.find(")>>").map_or(text.len(), |at| at + 3);
    }
    let mut quoted = false;
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            ' ' if !quoted => return at,
            _ => {}
        }
    }
    text.len()
}

/// A pattern: for subject, predicate and object, a term or a name that begins with `?`.
pub type Pattern = [String; 3];

/// Returns the solutions of joined patterns, in any graph: the terms of the names, once for each combination of quads.
pub fn join(quads: &[Quad], patterns: &[Pattern]) -> Vec<BTreeMap<String, String>> {
    let mut solutions = vec![BTreeMap::new()];
    for pattern in patterns {
        let mut next = Vec::new();
        for solution in &solutions {
            next.extend(quads.iter().filter_map(|quad| extended(solution, pattern, quad)));
        }
        solutions = next;
    }
    solutions
}

/// Extends a solution by a quad that matches a pattern; `None` if a term differs.
fn extended(solution: &BTreeMap<String, String>, pattern: &Pattern, quad: &Quad) -> Option<BTreeMap<String, String>> {
    let mut solution = solution.clone();
    for (wanted, term) in pattern.iter().zip(quad) {
        let bound = match wanted.strip_prefix('?') {
            None => wanted,
            Some(name) => solution.entry(name.to_owned()).or_insert_with(|| term.clone()),
        };
        if bound != term {
            return None;
        }
    }
    Some(solution)
}
