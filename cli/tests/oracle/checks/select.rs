//! `dump --where` of nodes.

use serde_json::Value;

use super::same_lines;
use crate::case::Case;
use crate::truth::Truth;

/// Selects the nodes of one type by a condition on one property.
pub fn all(case: &mut Case, path: &str, truth: &Truth) {
    // Other formats have no columns with types to compare.
    if !path.ends_with(".graphar") {
        return;
    }
    let cells: Vec<(&str, &str, &Value)> = truth
        .nodes
        .iter()
        // Nodes without a key are known by their row, and a selection has rows of its own.
        .filter(|node| node.key.is_some())
        .flat_map(|node| {
            let members = node.properties.as_object().into_iter().flatten();
            members.map(|(name, value)| (node.ty.as_str(), name.as_str(), value))
        })
        .filter(|(_, _, value)| value.is_i64() || value.is_boolean() || is_plain_text(value))
        .collect();
    if cells.is_empty() {
        return;
    }
    let (ty, name, value) = cells[case.dice.below(cells.len())];
    let all: &[&str] = if value.is_boolean() { &["=", "!="] } else { &["=", "!=", "<", "<=", ">", ">="] };
    let operator = case.dice.pick(all);
    let condition = format!("{ty}: {name} {operator} {value}");
    let done = case.run(&["dump", path, "--where", &condition]);
    if done.refused() {
        case.count("dump --where, refused");
        return;
    }
    let expected: Vec<String> = truth
        .nodes
        .iter()
        .filter(|node| node.key.is_some())
        .filter(|node| node.ty != ty || node.properties.get(name).is_some_and(|cell| passes(cell, operator, value)))
        .map(|node| node.line.clone())
        .collect();
    let is_keyed = |line: &&str| line.starts_with("{\"node\"") && line.contains(",\"key\":");
    let found: Vec<String> = done.out.lines().filter(is_keyed).map(str::to_owned).collect();
    same_lines(case, "dump --where", &format!("{path} {condition}"), &found, &expected);
}

/// Text that is written in a condition as in JSON, but for what floats are called that JSON has no numbers for: it takes the type of its column,
/// which a line does not tell.
fn is_plain_text(value: &Value) -> bool {
    let is_plain = |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric());
    value.as_str().is_some_and(|text| is_plain(text) && !matches!(text, "NaN" | "Infinity"))
}

/// Whether a cell passes; nothing does that is null or of another type.
fn passes(cell: &Value, operator: &str, with: &Value) -> bool {
    let order = match (cell, with) {
        (Value::Number(cell), Value::Number(with)) => match (cell.as_i64(), with.as_i64()) {
            (Some(cell), Some(with)) => cell.cmp(&with),
            _ => return false,
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
