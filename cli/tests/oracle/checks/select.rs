//! `dump --where` of nodes and of edges.

use std::collections::BTreeSet;

use serde_json::Value;

use super::same_lines;
use crate::case::Case;
use crate::truth::{Edge, Node, Truth};

/// Selects the nodes of one type, or the edges of one relation, by a condition on one property.
pub fn all(case: &mut Case, path: &str, truth: &Truth) {
    let nodes = truth.nodes.iter().flat_map(|node| cells(true, &node.ty, &node.properties));
    let is_node = |name: &str| truth.nodes.iter().any(|node| node.ty == name);
    // A name of both a node and an edge type means nodes.
    let edges = truth.edges.iter().filter(|edge| !is_node(&edge.relation));
    let edges = edges.flat_map(|edge| cells(false, &edge.relation, &edge.properties));
    let all: Vec<Cell<'_>> = match case.dice.below(3) {
        0 => edges.collect(),
        _ => nodes.collect(),
    };
    if all.is_empty() {
        return;
    }
    let cell = all[case.dice.below(all.len())];
    let all: &[&str] = if cell.value.is_boolean() { &["=", "!="] } else { &["=", "!=", "<", "<=", ">", ">="] };
    let operator = case.dice.pick(all);
    let condition = format!("`{}`: `{}` {operator} {}", cell.ty, cell.name, cell.value);
    let done = case.run(&["dump", path, "--where", &condition]);
    if done.refused() {
        case.count("dump --where, refused");
        return;
    }
    let found = Truth::parse(&done.out);
    case.compare("dump --where", found.is_ok(), || format!("{path} {condition}: {}", done.err));
    let Ok(found) = found else { return };
    let has = |of: &Value| of.get(cell.name).is_some_and(|own| passes(own, operator, cell.value));
    let left: Vec<&Node> =
        truth.nodes.iter().filter(|node| !cell.is_node || node.ty != cell.ty || has(&node.properties)).collect();
    // Nodes without a key are identified by row, and a selection renumbers rows.
    let numbered: BTreeSet<&str> =
        truth.nodes.iter().filter(|node| node.key.is_none()).map(|node| node.ty.as_str()).collect();
    let shown = |nodes: &[&Node], edges: &[&Edge]| -> Vec<String> {
        let nodes = nodes.iter().filter(|node| !numbered.contains(node.ty.as_str())).map(|node| node.line.clone());
        let is_numbered = |edge: &Edge| edge.types.iter().any(|ty| numbered.contains(ty.as_str()));
        let edges = edges.iter().filter(|edge| !is_numbered(edge)).map(|edge| edge.line.clone());
        let mut lines: Vec<String> = nodes.chain(edges).collect();
        lines.sort_unstable();
        lines
    };
    let keys: BTreeSet<String> = left
        .iter()
        .filter(|node| cell.is_node && node.ty == cell.ty)
        .filter_map(|node| node.key.as_ref().map(Value::to_string))
        .collect();
    // Dropped nodes take their edges with them.
    let is_left = |edge: &&Edge| match cell.is_node {
        true => (0..2).all(|end| edge.types[end] != cell.ty || keys.contains(&edge.ends[end].to_string())),
        false => edge.relation != cell.ty || has(&edge.properties),
    };
    let edges: Vec<&Edge> = truth.edges.iter().filter(is_left).collect();
    let expected = shown(&left, &edges);
    let found = shown(&found.nodes.iter().collect::<Vec<_>>(), &found.edges.iter().collect::<Vec<_>>());
    let command = if cell.is_node { "dump --where" } else { "dump --where, edges" };
    same_lines(case, command, &format!("{path} {condition}"), &found, &expected);
}

/// A value of a property.
#[derive(Clone, Copy)]
struct Cell<'a> {
    is_node: bool,
    ty: &'a str,
    name: &'a str,
    value: &'a Value,
}

fn cells<'a>(is_node: bool, ty: &'a str, properties: &'a Value) -> impl Iterator<Item = Cell<'a>> {
    let members = properties.as_object().into_iter().flatten();
    let is_written = |name: &str| !name.is_empty() && !name.contains(['`', '\\']);
    let plain = |value: &Value| value.is_i64() || value.is_boolean() || is_plain_text(value);
    members
        .filter(move |(name, value)| is_written(ty) && is_written(name) && plain(value))
        .map(move |(name, value)| Cell { is_node, ty, name, value })
}

/// Text that a condition writes as JSON does, except the names of floats for which JSON has no numbers: these take the
/// type of the column, which a line does not state.
fn is_plain_text(value: &Value) -> bool {
    let is_plain = |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric());
    value.as_str().is_some_and(|text| is_plain(text) && !matches!(text, "NaN" | "Infinity"))
}

/// Returns whether a cell satisfies the condition; null and values of other types never do.
fn passes(cell: &Value, operator: &str, with: &Value) -> bool {
    let order = match (cell, with) {
        (Value::Number(cell), Value::Number(with)) => match (cell.as_i64(), with.as_i64()) {
            (Some(cell), Some(with)) => cell.cmp(&with),
            _ => match cell.as_f64().zip(with.as_f64()).and_then(|(cell, with)| cell.partial_cmp(&with)) {
                Some(order) => order,
                None => return false,
            },
        },
        (Value::String(cell), Value::String(with)) => cell.as_bytes().cmp(with.as_bytes()),
        (Value::Bool(cell), Value::Bool(with)) => cell.cmp(with),
        _ => return false,
    };
    match operator {
        "=" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }
}
