//! `neighbors` of every node, in every direction.

use serde_json::Value;

use super::same_lines;
use crate::case::Case;
use crate::truth::{Edge, Node, Truth};

/// A direction flag, and whether it includes edges from the node and edges to the node. All include undirected edges.
const SIDES: &[(Option<&str>, bool, bool)] =
    &[(None, true, false), (Some("--out"), true, false), (Some("--in"), false, true), (Some("--both"), true, true)];

/// Lists the neighbours of every node in a random direction, and of a few nodes in all directions.
pub fn all(case: &mut Case, path: &str, truth: &Truth) {
    // An argument cannot contain a null character.
    let can_be_asked = |node: &&Node| !node.key.as_ref().is_some_and(|key| text_of(key).contains('\0'));
    for node in truth.nodes.iter().filter(can_be_asked) {
        let sides =
            if case.dice.chance(20) { SIDES } else { std::slice::from_ref(&SIDES[case.dice.below(SIDES.len())]) };
        for (flag, leaving, reaching) in sides {
            let key = node.key.as_ref().map(text_of);
            let row = node.row.to_string();
            let mut arguments = vec!["neighbors", path, "--type", &node.ty, "--json", "--limit", "1000"];
            match &key {
                Some(key) => arguments.extend(["--id", key]),
                None => arguments.extend(["--row", &row]),
            }
            arguments.extend(*flag);
            let done = case.run(&arguments);
            // Texts of RDF are not searched; of everything else nodes are found by their keys, or by their rows where they have none.
            if done.refused() && is_text_of_rdf(path) {
                case.count("neighbors, refused");
                continue;
            }
            let shown = done.json();
            let mut found: Vec<String> = shown["neighbors"].as_array().into_iter().flatten().map(shown_line).collect();
            let mut expected: Vec<String> =
                truth.edges.iter().flat_map(|edge| expected_lines(edge, node, *leaving, *reaching)).collect();
            found.sort_unstable();
            expected.sort_unstable();
            same_lines(case, "neighbors", &arguments.join(" "), &found, &expected);
        }
    }
}

fn is_text_of_rdf(path: &str) -> bool {
    [".nq", ".ttl"].iter().any(|ending| path.ends_with(ending))
}

/// A key as an argument.
fn text_of(key: &Value) -> String {
    key.as_str().map_or_else(|| key.to_string(), str::to_owned)
}

/// Formats a neighbour as one line: relation, type, key, direction, properties, and bag members with the names of
/// columns.
fn line(relation: &str, ty: &str, end: &Value, directed: bool, facts: [&Value; 2]) -> String {
    let facts = facts.map(|facts| {
        let facts: std::collections::BTreeMap<_, _> = facts.as_object().into_iter().flatten().collect();
        serde_json::to_string(&facts).expect("JSON")
    });
    format!("{relation:?} {ty:?} {} {directed} {}", text_of(end), facts.join(" "))
}

fn shown_line(shown: &Value) -> String {
    let text = |name: &str| shown[name].as_str().unwrap_or_default();
    let end = if shown["key"].is_null() { &shown["row"] } else { &shown["key"] };
    line(text("relation"), text("type"), end, shown["directed"] != false, [&shown["properties"], &shown["bag"]])
}

/// Returns the lines of an edge at a node: one per requested direction; one for an undirected edge.
fn expected_lines(edge: &Edge, node: &Node, leaving: bool, reaching: bool) -> Vec<String> {
    let own = Truth::end_of(node);
    let here = [0, 1].map(|side: usize| edge.types[side] == node.ty && edge.ends[side] == own);
    let facts = [&edge.properties, &edge.bag];
    let shown = |other: usize| line(&edge.relation, &edge.types[other], &edge.ends[other], edge.directed, facts);
    match (edge.directed, here) {
        (false, [true, _]) => vec![shown(1)],
        (false, [false, true]) => vec![shown(0)],
        (true, [source, target]) => {
            let out = (source && leaving).then(|| shown(1));
            out.into_iter().chain((target && reaching).then(|| shown(0))).collect()
        }
        (false, _) => Vec::new(),
    }
}
