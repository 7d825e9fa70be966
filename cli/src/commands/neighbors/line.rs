//! The lines of `dump`, taken apart: their values stay the texts that they are.

use isomorph::model::json::Members;
use isomorph::{Error, Result};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// What a line says of an edge, a hyperedge or a member of one.
#[derive(Debug, Deserialize)]
pub struct Line<'a> {
    #[serde(borrow)]
    ends: Option<[&'a RawValue; 2]>,
    /// The key of a hyperedge.
    pub key: Option<Value>,
    /// Of a member its role, the key of its hyperedge, and its own.
    pub member: Option<String>,
    pub hyperedge: Option<Value>,
    pub end: Option<Value>,
    #[serde(default = "yes")]
    pub directed: bool,
    properties: Option<&'a RawValue>,
    bag: Option<&'a RawValue>,
}

fn yes() -> bool {
    true
}

impl<'a> Line<'a> {
    /// Reads a line.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(line: &'a str) -> Result<Self> {
        serde_json::from_str(line).map_err(|error| Error::malformed(format!("an element has no JSON form: {error}")))
    }

    /// The first end of an edge.
    pub fn first_end(&self) -> Option<Value> {
        serde_json::from_str(self.ends?.first()?.get()).ok()
    }

    /// The values of the columns, and those of the bag that is beside columns of the same names.
    ///
    /// # Errors
    /// When they are no objects.
    pub fn facts(&self) -> Result<[Facts; 2]> {
        Ok([Facts::read(self.properties)?, Facts::read(self.bag)?])
    }
}

/// Names and values, as `dump` prints them.
#[derive(Debug, Clone, Default)]
pub struct Facts(Vec<(String, Box<RawValue>)>);

impl Facts {
    fn read(object: Option<&RawValue>) -> Result<Self> {
        let mut facts = Vec::new();
        Members::default().read(object.map_or("", RawValue::get), |name, value| {
            let value = RawValue::from_string(value.to_owned());
            let value = value.map_err(|error| Error::malformed(format!("a value has no JSON form: {error}")))?;
            facts.push((name.to_owned(), value));
            Ok(())
        })?;
        Ok(Facts(facts))
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// What is said of an edge, in one line: names and values; those of a bag beside columns behind `bag.`.
pub fn shown(properties: &Facts, bag: &Facts) -> String {
    let own = properties.0.iter().map(|(name, value)| format!("{name} {value}"));
    let others = bag.0.iter().map(|(name, value)| format!("bag.{name} {value}"));
    own.chain(others).collect::<Vec<_>>().join(", ")
}
