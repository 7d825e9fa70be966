//! One element that differs: what it is, and its values on both sides.

use isomorph::convert::DiffElement;
use serde_json::{Map, Value};

use crate::render::{Cell, Column, Table};

/// Longest value that is shown whole.
const SHOWN: usize = 60;

/// A side that has not got it.
const ABSENT: &str = "–";

/// One line for each value that differs.
pub fn table(elements: &[DiffElement]) -> Table {
    let columns =
        [Column::text(0), Column::text(0), Column::text(2).gap(" "), Column::text(0).gap(" "), Column::text(1)];
    let mut table = Table::new(columns);
    for element in elements {
        let mut subject = name(element);
        for (what, left, right) in differences(element) {
            table.row([std::mem::take(&mut subject), what, left, "│".to_owned(), right].map(Cell::from));
        }
    }
    table
}

/// `person 933`, `knows 933 → 4139`.
fn name(element: &DiffElement) -> String {
    let ends: Option<Vec<Value>> = serde_json::from_str(&format!("[{}]", element.identity)).ok();
    match (element.kind, ends.as_deref()) {
        ("edge", Some([source, target])) => format!("{} {} → {}", element.ty, plain(source), plain(target)),
        (_, Some([key])) => format!("{} {}", element.ty, plain(key)),
        _ => format!("{} {}", element.ty, element.identity),
    }
}

/// A key without its quotes.
fn plain(key: &Value) -> String {
    key.as_str().map_or_else(|| key.to_string(), str::to_owned)
}

/// Values that differ: what they are of, and both sides.
fn differences(element: &DiffElement) -> Vec<(String, String, String)> {
    let (left, right) = (members(element.left.as_deref()), members(element.right.as_deref()));
    let (Some(left), Some(right)) = (left, right) else {
        // One side has not got the element: what the other one says of it tells it from those like it.
        let side = |line: &Option<String>| match members(line.as_deref()) {
            Some(members) if members.is_empty() => "there".to_owned(),
            Some(members) => {
                cut(&members.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", "))
            }
            None => ABSENT.to_owned(),
        };
        return vec![(String::new(), side(&element.left), side(&element.right))];
    };
    let mut names: Vec<&String> = left.keys().chain(right.keys().filter(|name| !left.contains_key(*name))).collect();
    names.retain(|name| left.get(*name) != right.get(*name));
    let shown = |side: &Map<String, Value>, name: &str| {
        side.get(name).map_or(ABSENT.to_owned(), |value| cut(&value.to_string()))
    };
    names.into_iter().map(|name| (name.clone(), shown(&left, name), shown(&right, name))).collect()
}

/// What a canonical line says beside type and identity: labels, direction, properties by name.
fn members(line: Option<&str>) -> Option<Map<String, Value>> {
    let Ok(Value::Object(line)) = serde_json::from_str(line?) else { return None };
    let mut members = Map::new();
    for (name, value) in line {
        match (name.as_str(), value) {
            ("node" | "edge" | "key" | "row" | "types" | "ends", _) => {}
            ("properties", Value::Object(properties)) => members.extend(properties),
            (_, value) => drop(members.insert(name, value)),
        }
    }
    Some(members)
}

fn cut(text: &str) -> String {
    crate::render::cut(text, SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Palette;

    fn shown(elements: &[DiffElement]) -> Vec<String> {
        table(elements).lines(None, Palette::Plain)
    }

    #[test]
    fn values_that_differ_stand_side_by_side() {
        let node = DiffElement {
            kind: "node",
            ty: "person".into(),
            identity: "933".into(),
            left: Some(r#"{"node":"person","key":933,"properties":{"age":5,"lastName":"Perera","x":1}}"#.into()),
            right: Some(r#"{"node":"person","key":933,"properties":{"lastName":"Pereira","x":1}}"#.into()),
        };
        let edge = DiffElement {
            kind: "edge",
            ty: "knows".into(),
            identity: r#""a","b""#.into(),
            left: Some(
                r#"{"edge":"knows","types":["n","n"],"ends":["a","b"],"directed":false,"properties":{"since":1}}"#
                    .into(),
            ),
            right: None,
        };
        assert_eq!(
            shown(&[node, edge]),
            [
                r#"person 933    age        5                       │ –"#,
                r#"              lastName   "Perera"                │ "Pereira""#,
                r#"knows a → b              directed false, since 1 │ –"#,
            ]
        );
    }
}
