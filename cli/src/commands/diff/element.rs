//! An element that differs: its name, and its values on both sides.

use isomorph::convert::DiffElement;
use serde_json::Value;

use crate::render::{Cell, Column, Table};

/// Longest value that is printed in full.
const SHOWN: usize = 60;

/// Printed for a side without the element or value.
const ABSENT: &str = "–";

/// Returns a table with one row per value that differs.
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

/// Returns a key without its quotes.
fn plain(key: &Value) -> String {
    key.as_str().map_or_else(|| key.to_string(), str::to_owned)
}

/// Returns the values that differ: name, left and right.
fn differences(element: &DiffElement) -> Vec<(String, String, String)> {
    let Some(values) = element.values() else {
        // One side lacks the element: the values of the other side tell it from similar ones.
        let side = |line: &Option<String>| match line.as_deref().and_then(DiffElement::values_of) {
            Some(values) if values.is_empty() => "there".to_owned(),
            Some(values) => {
                let each = values.iter().map(|(name, value)| format!("{name} {value}"));
                cut(&each.collect::<Vec<_>>().join(", "))
            }
            None => ABSENT.to_owned(),
        };
        return vec![(String::new(), side(&element.left), side(&element.right))];
    };
    let shown = |side: Option<String>| side.map_or(ABSENT.to_owned(), |value| cut(&value));
    let what = |name: String, is_reordered| if is_reordered { format!("{name}, order of members") } else { name };
    let values = values.into_iter();
    values.map(|own| (what(own.name, own.is_reordered), shown(own.left), shown(own.right))).collect()
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

    #[test]
    fn values_of_one_name_in_two_places_are_told_apart() {
        let line = |truth: &str| {
            let said = format!(r#""properties":{{"labels":1,"truth":{truth}}},"bag":{{"truth":3}}"#);
            Some(format!(r#"{{"node":"n","key":1,"labels":["a"],{said}}}"#))
        };
        let both =
            DiffElement { kind: "node", ty: "n".into(), identity: "1".into(), left: line("0.5"), right: line("1.0") };
        let one = DiffElement { right: None, ..both.clone() };
        assert_eq!(
            shown(&[both, one]),
            [
                r#"n 1   truth   0.5                                            │ 1.0"#,
                r#"n 1           labels ["a"], labels 1, truth 0.5, bag.truth 3 │ –"#,
            ]
        );
    }

    #[test]
    fn numbers_stay_whole_and_another_order_is_named() {
        let line = |properties: &str| Some(format!(r#"{{"node":"n","key":1,"properties":{properties}}}"#));
        let element = |left: &str, right: &str| DiffElement {
            kind: "node",
            ty: "n".into(),
            identity: "1".into(),
            left: line(left),
            right: line(right),
        };
        let big = element(r#"{"x":1180591620717411303424}"#, r#"{"x":1180591620717411303425}"#);
        let order = element(r#"{"x":{"a":1,"b":2}}"#, r#"{"x":{"b":2,"a":1}}"#);
        assert_eq!(
            shown(&[big, order]),
            [
                r#"n 1   x                     1180591620717411303424 │ 1180591620717411303425"#,
                r#"n 1   x, order of members   {"a":1,"b":2}          │ {"b":2,"a":1}"#,
            ]
        );
    }
}
