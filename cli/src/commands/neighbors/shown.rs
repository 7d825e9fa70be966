//! Neighbours and hyperedges as they are printed: values have the same form as in `dump`.

use std::collections::BTreeSet;

use arrow_array::ArrayRef;
use isomorph::convert::{KeyTexts, PropertyTexts};
use isomorph::dataset::{HyperedgeOf, NeighborBatch};
use isomorph::model::{Key, Side};
use isomorph::{Error, Result};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A neighbour over one edge.
#[derive(Debug, Serialize)]
pub struct Neighbor {
    /// `out` or `in`.
    direction: &'static str,
    pub relation: String,
    /// Node type of the neighbour.
    #[serde(rename = "type")]
    pub ty: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<Value>,
    directed: bool,
    properties: Facts,
    /// Members of its bag with the names of columns.
    #[serde(skip_serializing_if = "Facts::is_empty")]
    bag: Facts,
}

impl Neighbor {
    /// Adds the neighbours of a batch.
    ///
    /// # Errors
    /// Returns an error if a value has no JSON form.
    pub fn add(batch: &NeighborBatch<'_>, all: &mut Vec<Neighbor>) -> Result<()> {
        let keys = values(&batch.node_type.key, &batch.neighbors)?;
        let mut properties = PropertyTexts::new(&batch.edge_type.properties, &batch.properties)?;
        for (row, key) in keys.into_iter().enumerate() {
            let (key, by_row) = if batch.by_row() { (None, Some(key)) } else { (Some(key), None) };
            let [properties, bag] = Facts::of_row(&mut properties, row)?;
            all.push(Neighbor {
                direction: if batch.side == Side::Out { "out" } else { "in" },
                relation: batch.relations.value(row).to_owned(),
                ty: batch.node_type.name.clone(),
                key,
                row: by_row,
                directed: batch.directed.value(row),
                properties,
                bag,
            });
        }
        Ok(())
    }

    /// Returns its key, or its row number if rows are keys.
    pub fn identity(&self) -> String {
        match (&self.key, &self.row) {
            (Some(key), _) => text(key),
            (None, Some(row)) => format!("row {row}"),
            (None, None) => String::new(),
        }
    }

    /// Returns the word before it: whether the edge leaves the node, reaches it, or is undirected.
    pub fn word(&self) -> &'static str {
        if self.directed { self.direction } else { "with" }
    }

    /// Returns the values of the edge on one line.
    pub fn facts(&self) -> String {
        in_one_line(&self.properties, &self.bag)
    }
}

/// A hyperedge, seen from one of its members.
#[derive(Debug, Serialize)]
pub struct Incident {
    /// Name of its type.
    #[serde(rename = "type")]
    pub ty: String,
    pub key: Value,
    directed: bool,
    members: Vec<Member>,
    properties: Facts,
    #[serde(skip_serializing_if = "Facts::is_empty")]
    bag: Facts,
}

#[derive(Debug, Serialize)]
struct Member {
    role: String,
    key: Value,
}

impl Incident {
    /// Converts a hyperedge to its printed form.
    ///
    /// # Errors
    /// Returns an error if a value has no JSON form.
    pub fn of(hyperedge: HyperedgeOf) -> Result<Self> {
        let HyperedgeOf { ty, key, directed, roles, member_key, members, properties } = hyperedge;
        let [properties, bag] = Facts::of_row(&mut PropertyTexts::new(&ty.properties, &properties)?, 0)?;
        let members = roles.into_iter().zip(values(&member_key, &members)?);
        let members = members.map(|(role, key)| Member { role, key }).collect();
        let key = values(&ty.key, &key)?.pop().unwrap_or_default();
        Ok(Incident { ty: ty.name.clone(), key, directed, members, properties, bag })
    }

    /// Returns the roles of a node in it.
    pub fn roles_of(&self, node: &str) -> String {
        let own = self.members.iter().filter(|member| text(&member.key) == node).map(|member| member.role.as_str());
        own.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    }

    /// Returns its members by role.
    pub fn shown_members(&self) -> String {
        let mut parts = Vec::new();
        for role in ["head", "tail", "member"] {
            let own: Vec<String> =
                self.members.iter().filter(|member| member.role == role).map(|member| text(&member.key)).collect();
            if !own.is_empty() {
                parts.push(if role == "member" { own.join(", ") } else { format!("{role} {}", own.join(", ")) });
            }
        }
        parts.join("; ")
    }

    /// Returns its values on one line.
    pub fn facts(&self) -> String {
        in_one_line(&self.properties, &self.bag)
    }
}

/// Returns a key as a user types it.
pub fn text(key: &Value) -> String {
    match key {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns keys as JSON.
fn values(key: &Key, keys: &ArrayRef) -> Result<Vec<Value>> {
    let texts = KeyTexts::new(key, keys)?;
    let mut text = String::new();
    let value = |row| {
        text.clear();
        texts.push(row, &mut text);
        serde_json::from_str(&text).map_err(unsaid)
    };
    (0..keys.len()).map(value).collect()
}

/// Names and values, in the same form as in `dump`.
#[derive(Debug, Default)]
struct Facts(Vec<(String, Box<RawValue>)>);

impl Facts {
    /// Returns the values of the columns, and the values of bag members that have the name of a column.
    fn of_row(properties: &mut PropertyTexts<'_>, row: usize) -> Result<[Facts; 2]> {
        let [columns, bag] = properties.row(row)?;
        let facts = |members: &[(String, String)]| {
            let fact = |(name, value): &(String, String)| Ok((name.clone(), RawValue::from_string(value.clone())?));
            members.iter().map(fact).collect::<serde_json::Result<_>>().map(Facts).map_err(unsaid)
        };
        Ok([facts(columns)?, facts(bag)?])
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Joins names and values; bag members with the name of a column have the prefix `bag.`.
fn in_one_line(properties: &Facts, bag: &Facts) -> String {
    let own = properties.0.iter().map(|(name, value)| format!("{name} {value}"));
    let others = bag.0.iter().map(|(name, value)| format!("bag.{name} {value}"));
    own.chain(others).collect::<Vec<_>>().join(", ")
}

fn unsaid(error: serde_json::Error) -> Error {
    Error::malformed(format!("a value has no JSON form: {error}"))
}
