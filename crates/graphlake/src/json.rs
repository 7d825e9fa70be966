//! JSON of metadata: parsed as a whole, without repeated names, and read member by member, with positions for errors.

use std::fmt;

use isomorph_error::{Error, Findings, Kind, Place, Result, Rule};
use isomorph_storage::{Blob, Budget};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::rules;

/// The largest metadata file that is read, in bytes: enough for some hundred thousand data files.
pub(crate) const LIMIT: u64 = 512 << 20;

/// Memory for each byte of a parsed text, in bytes.
const GROWTH: u64 = 4;

/// Reads a metadata file.
///
/// # Errors
/// Returns an error if the file is not a JSON object, repeats a name, or is larger than the budget allows.
pub(crate) fn read(blob: &Blob, budget: &Budget) -> Result<Map<String, Value>> {
    let _memory = budget.reserve(blob.size().saturating_mul(GROWTH)).map_err(|error| error.at(blob.place()))?;
    let bytes = blob.read_all(LIMIT)?;
    parse(&bytes).map_err(|error| error.at(blob.place()))
}

/// Parses metadata.
///
/// # Errors
/// As [`read`].
pub(crate) fn parse(bytes: &[u8]) -> Result<Map<String, Value>> {
    let Checked(value) = serde_json::from_slice(bytes).map_err(|error| {
        let place = Place::default().line(error.line() as u64);
        Error::broken(&rules::JSON, error.to_string()).at(place)
    })?;
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(Error::broken(&rules::SCHEMA, "the file is not a JSON object")),
    }
}

/// How errors for repeated names end; derived deserializers have their own wording.
const TWICE: [&str; 2] = [" is repeated in one object", "duplicate field"];

/// The error for an object that repeats a name.
pub(crate) fn twice<E: serde::de::Error>(name: &str) -> E {
    E::custom(format!("the name {name:?}{}", TWICE[0]))
}

/// The rule that is broken by a text that could not be read: it is not valid JSON, or it does not match the schema.
pub(crate) fn rule_of(error: &serde_json::Error) -> &'static Rule {
    let text = error.to_string();
    let is_shape = error.is_data() && !TWICE.iter().any(|twice| text.contains(twice));
    if is_shape { &rules::SCHEMA } else { &rules::JSON }
}

/// A value without repeated names in its objects.
struct Checked(Value);

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CheckedVisitor).map(Checked)
    }
}

struct CheckedVisitor;

impl<'de> Visitor<'de> for CheckedVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Checked(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some((name, Checked(value))) = members.next_entry::<String, Checked>()? {
            if all.contains_key(&name) {
                return Err(twice(&name));
            }
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

/// An object from which members are taken; what is left at the end is unknown, and is kept.
pub(crate) struct Object<'f> {
    members: Map<String, Value>,
    /// Its path from the root of the file.
    path: String,
    findings: &'f mut Findings,
    file: &'f str,
}

impl<'f> Object<'f> {
    pub(crate) fn new(members: Map<String, Value>, file: &'f str, findings: &'f mut Findings) -> Self {
        Object { members, path: String::new(), findings, file }
    }

    /// Takes an object inside this one.
    pub(crate) fn inner(&mut self, name: &str, value: Value) -> Result<Object<'_>> {
        let path = self.path_of(name);
        match value {
            Value::Object(members) => Ok(Object { members, path, findings: self.findings, file: self.file }),
            other => Err(self.wrong(name, "an object", &other)),
        }
    }

    /// Takes a required text.
    pub(crate) fn text(&mut self, name: &str) -> Result<String> {
        match self.required(name)? {
            Value::String(text) => Ok(text),
            other => Err(self.wrong(name, "text", &other)),
        }
    }

    /// Takes an optional text. Extensions of other writers may use the name for another type: then the member is left
    /// alone.
    pub(crate) fn text_if(&mut self, name: &str) -> Option<String> {
        match self.members.get(name)? {
            Value::String(_) => match self.members.shift_remove(name) {
                Some(Value::String(text)) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Takes an optional number of at least 0.
    pub(crate) fn count_if(&mut self, name: &str) -> Option<u64> {
        let count = self.members.get(name)?.as_u64()?;
        self.members.shift_remove(name);
        Some(count)
    }

    /// Takes a required 64-bit integer.
    pub(crate) fn integer(&mut self, name: &str) -> Result<i64> {
        let value = self.required(name)?;
        value.as_i64().ok_or_else(|| self.wrong(name, "an integer", &value))
    }

    /// The same, also accepted as decimal text, as in the specification's example.
    pub(crate) fn integer_or_text(&mut self, name: &str) -> Result<i64> {
        let value = self.required(name)?;
        if let Some(number) = value.as_str().and_then(|text| text.parse().ok()) {
            let place = Place::file(self.file).in_field(self.path_of(name));
            self.findings.push(&rules::NUMBER_TEXT, format!("{value} is text, expected a number"), place);
            return Ok(number);
        }
        value.as_i64().ok_or_else(|| self.wrong(name, "an integer", &value))
    }

    /// Takes a required number of bytes or records, at least 0.
    pub(crate) fn count(&mut self, name: &str) -> Result<u64> {
        let number = self.integer(name)?;
        u64::try_from(number).map_err(|_| self.wrong(name, "a number of at least 0", &number.into()))
    }

    /// Takes a required truth value.
    pub(crate) fn truth(&mut self, name: &str) -> Result<bool> {
        let value = self.required(name)?;
        value.as_bool().ok_or_else(|| self.wrong(name, "true or false", &value))
    }

    /// Takes the members of a required object.
    pub(crate) fn object(&mut self, name: &str) -> Result<Map<String, Value>> {
        match self.required(name)? {
            Value::Object(members) => Ok(members),
            other => Err(self.wrong(name, "an object", &other)),
        }
    }

    /// The same for an optional object.
    pub(crate) fn object_if(&mut self, name: &str) -> Result<Map<String, Value>> {
        if self.members.contains_key(name) { self.object(name) } else { Ok(Map::new()) }
    }

    /// Takes the items of a required array.
    pub(crate) fn array(&mut self, name: &str) -> Result<Vec<Value>> {
        match self.required(name)? {
            Value::Array(items) => Ok(items),
            other => Err(self.wrong(name, "an array", &other)),
        }
    }

    /// The same for an optional array.
    pub(crate) fn array_if(&mut self, name: &str) -> Result<Vec<Value>> {
        if self.members.contains_key(name) { self.array(name) } else { Ok(Vec::new()) }
    }

    /// Takes a required array of texts.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>> {
        let items = self.array(name)?;
        items.into_iter().map(|item| self.as_text(name, item)).collect()
    }

    /// Expects a value to be text.
    pub(crate) fn as_text(&self, name: &str, value: Value) -> Result<String> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(self.wrong(name, "text", &other)),
        }
    }

    /// The names of the members that were not taken.
    pub(crate) fn members(&self) -> impl Iterator<Item = &String> {
        self.members.keys()
    }

    /// The members that were not taken.
    pub(crate) fn rest(self) -> Map<String, Value> {
        self.members
    }

    /// Records a violation that does not prevent reading.
    pub(crate) fn note(&mut self, rule: &'static isomorph_error::Rule, message: String, name: &str) {
        let place = Place::file(self.file).in_field(self.path_of(name));
        self.findings.push(rule, message, place);
    }

    /// The position of a member.
    pub(crate) fn place(&self, name: &str) -> Place {
        Place::file(self.file).in_field(self.path_of(name))
    }

    fn required(&mut self, name: &str) -> Result<Value> {
        let missing = || Error::broken(&rules::SCHEMA, format!("{name} is missing")).of_kind(Kind::Malformed);
        let found = self.members.shift_remove(name);
        found.ok_or_else(|| missing().at(self.place(name)))
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(crate) fn wrong(&self, name: &str, wanted: &str, value: &Value) -> Error {
        let shown: String = value.to_string().chars().take(60).collect();
        Error::broken(&rules::SCHEMA, format!("{shown} is not {wanted}")).at(self.place(name))
    }
}
