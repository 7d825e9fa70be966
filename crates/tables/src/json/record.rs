//! Finds the values of the wanted keys in a line of JSON.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::float_words::without_float_words;

/// The wanted keys, each with its column.
pub(super) struct Keys {
    columns: HashMap<String, usize>,
    refuse_others: bool,
}

impl Keys {
    /// Takes `names` in the order of their columns. Other keys are an error if `refuse_others` is set, otherwise they are
    /// ignored.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>, refuse_others: bool) -> Self {
        Keys { columns: names.enumerate().map(|(column, name)| (name.to_owned(), column)).collect(), refuse_others }
    }

    /// Finds the values of the object in `line`: for each column, the position of its JSON text in the line.
    /// Python's words for floats that JSON lacks are values, too.
    pub(super) fn find(&self, line: &str, places: &mut [Option<Range<usize>>]) -> Result<(), serde_json::Error> {
        match self.find_in(line, places) {
            Ok(()) => Ok(()),
            Err(error) => without_float_words(line).map_or(Err(error), |numbers| self.find_in(&numbers, places)),
        }
    }

    fn find_in(&self, line: &str, places: &mut [Option<Range<usize>>]) -> Result<(), serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_str(line);
        Record { keys: self, line, places }.deserialize(&mut deserializer)?;
        deserializer.end()
    }
}

struct Record<'k, 'l> {
    keys: &'k Keys,
    line: &'l str,
    places: &'k mut [Option<Range<usize>>],
}

impl<'de> DeserializeSeed<'de> for Record<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Record<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        use serde::de::Error;
        self.places.fill(None);
        while let Some(column) = map.next_key_seed(Key(self.keys))? {
            let Some(column) = column else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value: &'de RawValue = map.next_value()?;
            let start = value.get().as_ptr() as usize - self.line.as_ptr() as usize;
            if self.places[column].replace(start..start + value.get().len()).is_some() {
                return Err(A::Error::custom("duplicate key"));
            }
        }
        Ok(())
    }
}

/// Deserialises a key as the column that it names.
#[derive(Clone, Copy)]
struct Key<'k>(&'k Keys);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Self::Value, E> {
        match self.0.columns.get(key) {
            Some(column) => Ok(Some(*column)),
            None if self.0.refuse_others => Err(E::custom(format_args!("key {key:?} is not declared"))),
            None => Ok(None),
        }
    }
}
