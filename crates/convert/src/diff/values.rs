//! The values in which two versions of an element differ.

use std::collections::BTreeMap;

use isomorph_model::json;
use serde_json::Value;

use super::DiffElement;

/// A value that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffValue {
    /// The name: a property, `bag.NAME` for a member of a bag with the name of a column, or a part of the element
    /// itself, such as its labels.
    pub name: String,
    /// The value on the left, as `dump` prints it; `None` if it is missing there.
    pub left: Option<String>,
    /// The same on the right.
    pub right: Option<String>,
    /// Whether both are the same JSON with its members in another order.
    pub is_reordered: bool,
}

impl DiffElement {
    /// The values that differ; `None` if one side does not have the element.
    pub fn values(&self) -> Option<Vec<DiffValue>> {
        let (left, right) = (members(self.left.as_deref()?)?, members(self.right.as_deref()?)?);
        let mut names: Vec<&Name> = left.keys().chain(right.keys().filter(|name| !left.contains_key(*name))).collect();
        names.retain(|name| left.get(*name) != right.get(*name));
        let value = |name: &Name| {
            let (left, right) = (left.get(name).cloned(), right.get(name).cloned());
            let is_reordered = left.as_ref().zip(right.as_ref()).is_some_and(|(left, right)| reordered(left, right));
            DiffValue { name: shown_name(name), left, right, is_reordered }
        };
        Some(names.into_iter().map(value).collect())
    }

    /// The names and values in one of its lines, as in [`DiffValue`]; `None` if the line cannot be parsed.
    pub fn values_of(line: &str) -> Option<Vec<(String, String)>> {
        Some(members(line)?.into_iter().map(|(name, value)| (shown_name(&name), value)).collect())
    }
}

/// Whether two JSON texts are equal except for the order of members.
fn reordered(left: &str, right: &str) -> bool {
    let letters = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    left != right && letters(left) == letters(right) && value(left).is_some_and(|left| Some(left) == value(right))
}

/// The part of a line that has a value: outside the properties, a property, or a member of a bag with the name of a
/// column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Element,
    Property,
    Bag,
}

/// The name of a value: values with the same name in different parts are different.
type Name = (Place, String);

/// Values in their textual form: numbers of any length are unchanged.
type Members = BTreeMap<Name, String>;

fn shown_name((place, name): &Name) -> String {
    if *place == Place::Bag { format!("bag.{name}") } else { name.clone() }
}

/// The content of a canonical line apart from type and identity: labels, direction, properties by name.
fn members(line: &str) -> Option<Members> {
    let mut members = Members::new();
    let mut objects = Vec::new();
    json::Members::default()
        .read(line, |name, value| {
            match name {
                "node" | "edge" | "value" | "key" | "row" | "types" | "ends" => {}
                "properties" => objects.push((Place::Property, value)),
                "bag" => objects.push((Place::Bag, value)),
                _ => drop(members.insert((Place::Element, name.to_owned()), value.to_owned())),
            }
            Ok(())
        })
        .ok()?;
    for (place, object) in objects {
        let insert = |name: &str, value: &str| {
            members.insert((place, name.to_owned()), value.to_owned());
            Ok(())
        };
        json::Members::default().read(object, insert).ok()?;
    }
    Some(members)
}
