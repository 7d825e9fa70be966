//! Keys of nodes, and their positions.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray};

use crate::value::Value;

/// A key: an integer or a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Int(i64),
    Text(Arc<str>),
}

impl Key {
    /// The key that a value is; `None` for values that no key equals.
    pub(crate) fn of_value(value: &Value) -> Option<Key> {
        match value {
            Value::Int(int) => Some(Key::Int(*int)),
            Value::String(text) => Some(Key::Text(Arc::clone(text))),
            // A float equals an integer if it has no fraction and is exact.
            #[allow(clippy::cast_possible_truncation)]
            Value::Float(float) if *float == float.trunc() && float.abs() < 9_007_199_254_740_992.0 => {
                Some(Key::Int(*float as i64))
            }
            _ => None,
        }
    }

    pub(crate) fn value(&self) -> Value {
        match self {
            Key::Int(int) => Value::Int(*int),
            Key::Text(text) => Value::String(Arc::clone(text)),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Key::Int(int) => int.to_string(),
            Key::Text(text) => text.to_string(),
        }
    }
}

/// Keys as a column, for a look-up. Integers and texts are never mixed in one table.
pub(crate) fn column(keys: &[Key]) -> ArrayRef {
    let ints: Option<Vec<i64>> = keys
        .iter()
        .map(|key| match key {
            Key::Int(int) => Some(*int),
            Key::Text(_) => None,
        })
        .collect();
    match ints {
        Some(ints) => Arc::new(Int64Array::from(ints)),
        None => Arc::new(StringArray::from(keys.iter().map(Key::text).collect::<Vec<_>>())),
    }
}

/// Positions by key, in the order in which keys were seen.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    found: HashMap<Key, usize>,
    keys: Vec<Key>,
}

/// Bytes of a key here, about.
pub(crate) const KEY_BYTES: u64 = 72;

impl Positions {
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    pub(crate) fn key(&self, position: usize) -> Option<&Key> {
        self.keys.get(position)
    }

    pub(crate) fn get(&self, key: &Key) -> Option<usize> {
        self.found.get(key).copied()
    }

    /// The position of a key, and whether it is new.
    pub(crate) fn add(&mut self, key: Key) -> (usize, bool) {
        if let Some(position) = self.found.get(&key) {
            return (*position, false);
        }
        let position = self.keys.len();
        self.keys.push(key.clone());
        self.found.insert(key, position);
        (position, true)
    }
}
