//! `dump --where` of nodes and of edges, by properties and by labels; `dump --columns`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::same_lines;
use crate::case::Case;
use crate::run::Done;
use crate::truth::{Edge, Node, Truth};

/// Selects elements by a property, nodes by their labels, and columns.
pub fn all(case: &mut Case, path: &str, truth: &Truth) {
    by_property(case, path, truth);
    by_labels(case, path, truth);
    columns(case, path, truth);
}

/// Selects the nodes of one type, or the edges of one relation, by a condition on one property.
fn by_property(case: &mut Case, path: &str, truth: &Truth) {
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
    let has = |of: &Value| of.get(cell.name).is_some_and(|own| passes(own, operator, cell.value));
    let command = if cell.is_node { "dump --where" } else { "dump --where, edges" };
    let what = format!("{path} {condition}");
    match cell.is_node {
        true => left(case, command, (&what, done), truth, Left::Nodes(cell.ty, &|node| has(&node.properties))),
        false => left(case, command, (&what, done), truth, Left::Edges(cell.ty, &|edge| has(&edge.properties))),
    }
}

/// Selects the nodes of one type by their labels: those that have one, that have not, that have any, that have none.
fn by_labels(case: &mut Case, path: &str, truth: &Truth) {
    let is_written = |name: &str| !name.is_empty() && !name.contains(['`', '\\', '"']);
    let types: BTreeSet<&str> = truth.nodes.iter().map(|node| node.ty.as_str()).filter(|ty| is_written(ty)).collect();
    let types: Vec<&str> = types.into_iter().collect();
    if types.is_empty() {
        return;
    }
    let ty = case.dice.pick(&types);
    let known = truth.nodes.iter().filter(|node| node.ty == ty).flat_map(|node| &node.labels);
    let mut known: Vec<&str> = known.map(String::as_str).filter(|label| is_written(label)).collect();
    let can_have_labels = !known.is_empty();
    known.push("nobody");
    let label = case.dice.pick(&known);
    type Has = fn(&[String], &str) -> bool;
    let (condition, has): (String, Has) = match case.dice.below(4) {
        0 => (format!("has label \"{label}\""), |labels, label| labels.iter().any(|own| own == label)),
        1 => (format!("not has label \"{label}\""), |labels, label| labels.iter().all(|own| own != label)),
        2 => ("@labels is null".to_owned(), |labels, _| labels.is_empty()),
        _ => ("@labels is not null".to_owned(), |labels, _| !labels.is_empty()),
    };
    let condition = format!("`{ty}`: {condition}");
    let done = case.run(&["dump", path, "--where", &condition]);
    if done.refused() && !can_have_labels {
        case.count("dump --where, refused");
        return;
    }
    let is_left = |node: &Node| has(&node.labels, label);
    left(case, "dump --where, labels", (&format!("{path} {condition}"), done), truth, Left::Nodes(ty, &is_left));
}

/// Which elements of a type, or a relation, are left.
enum Left<'a> {
    Nodes(&'a str, &'a dyn Fn(&Node) -> bool),
    Edges(&'a str, &'a dyn Fn(&Edge) -> bool),
}

/// Compares what a selection printed with the nodes and edges that are left.
fn left(case: &mut Case, command: &'static str, (what, done): (&str, Done), truth: &Truth, left: Left<'_>) {
    let found = Truth::parse(&done.out);
    case.compare(command, done.code == Some(0) && found.is_ok(), || format!("{what}: {}", done.err));
    let Ok(found) = found else { return };
    let is_left = |node: &&Node| match left {
        Left::Nodes(ty, passes) => node.ty != ty || passes(node),
        Left::Edges(..) => true,
    };
    let nodes: Vec<&Node> = truth.nodes.iter().filter(is_left).collect();
    // Nodes without a key are known by their row, and a selection has rows of its own.
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
    let name = |ty: &str, end: &Value| (ty.to_owned(), end.to_string());
    let kept: BTreeSet<(String, String)> = nodes.iter().map(|node| name(&node.ty, &Truth::end_of(node))).collect();
    // Nodes that are left out take their edges with them.
    let is_edge_left = |edge: &&Edge| match left {
        Left::Nodes(ty, _) => {
            (0..2).all(|end| edge.types[end] != ty || kept.contains(&name(&edge.types[end], &edge.ends[end])))
        }
        Left::Edges(relation, passes) => edge.relation != relation || passes(edge),
    };
    let edges: Vec<&Edge> = truth.edges.iter().filter(is_edge_left).collect();
    let expected = shown(&nodes, &edges);
    let found = shown(&found.nodes.iter().collect::<Vec<_>>(), &found.edges.iter().collect::<Vec<_>>());
    same_lines(case, command, what, &found, &expected);
}

/// Properties that every selection of columns keeps, by format; edges of NOCK keep `directed` as well.
const KEPT: &[(&str, &[&str])] = &[
    ("nock", &["truth", "is_rdf", "shadow"]),
    ("annnet", &["weight", "entity"]),
    ("deepgnn", &["weight", "type", "created_at", "removed_at"]),
    ("graphar", &[]),
];

/// Chooses one property: what is left of every line is that, what always is, and all that is no property.
fn columns(case: &mut Case, path: &str, truth: &Truth) {
    let Some((_, kept)) = KEPT.iter().find(|(format, _)| *format == case.made.format) else { return };
    let has_bag = truth.edges.iter().any(|edge| !edge.bag.is_null());
    let nodes = truth.nodes.iter().map(|node| &node.properties);
    let all = nodes.chain(truth.edges.iter().map(|edge| &edge.properties));
    let names = all.flat_map(|properties| properties.as_object().into_iter().flatten().map(|(name, _)| name.as_str()));
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty() && !name.contains(['`', '.'])).collect();
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() || has_bag {
        return;
    }
    let name = case.dice.pick(&names);
    let done = case.run(&["dump", path, "--columns", &format!("`{name}`")]);
    let found = Truth::parse(&done.out);
    case.compare("dump --columns", done.code == Some(0) && found.is_ok(), || format!("{path} {name}: {}", done.err));
    let Ok(found) = found else { return };
    let is_nock = case.made.format == "nock";
    let narrowed = |line: &String| -> String {
        let mut line: Value = serde_json::from_str(line).expect("it was parsed before");
        let keeps = |own: &str| own == name || kept.contains(&own);
        let is_edge = line.get("edge").is_some();
        if let Some(properties) = line.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|own, _| keeps(own) || is_edge && is_nock && own == "directed");
        }
        if line.get("properties").and_then(Value::as_object).is_some_and(serde_json::Map::is_empty) {
            line.as_object_mut().expect("an object").remove("properties");
        }
        line.to_string()
    };
    let is_element = |line: &&String| line.starts_with("{\"node\"") || line.starts_with("{\"edge\"");
    let sorted = |lines: &mut dyn Iterator<Item = String>| {
        let mut lines: Vec<String> = lines.collect();
        lines.sort_unstable();
        lines
    };
    let expected = sorted(&mut truth.lines.iter().filter(is_element).map(narrowed));
    let whole = |line: &String| serde_json::from_str::<Value>(line).expect("it was parsed before").to_string();
    let found = sorted(&mut found.lines.iter().filter(is_element).map(whole));
    same_lines(case, "dump --columns", &format!("{path} {name}"), &found, &expected);
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
