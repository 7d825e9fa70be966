//! Keys of nodes, and their positions.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray};
use hashbrown::HashMap;

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
    keys: Vec<Key>,
    /// Integers that lie close together, from the least one on: their positions.
    dense: Vec<u32>,
    least: i64,
    /// All other keys.
    found: HashMap<Key, usize>,
}

/// Bytes of a key here, about.
pub(crate) const KEY_BYTES: u64 = 72;

/// No position.
const NONE: u32 = u32::MAX;

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

    fn place(&self, key: i64) -> Option<usize> {
        usize::try_from(key.checked_sub(self.least)?).ok()
    }

    /// The position of an integer.
    pub(crate) fn of_int(&self, key: i64) -> Option<usize> {
        match self.place(key).and_then(|at| self.dense.get(at)) {
            Some(position) if *position != NONE => Some(*position as usize),
            _ => self.found.get(&Key::Int(key)).copied(),
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<usize> {
        match key {
            Key::Int(int) => self.of_int(*int),
            Key::Text(_) => self.found.get(key).copied(),
        }
    }

    /// The position of a key, and whether it is new.
    pub(crate) fn add(&mut self, key: Key) -> (usize, bool) {
        if let Some(position) = self.get(&key) {
            return (position, false);
        }
        let position = self.keys.len();
        self.keys.push(key.clone());
        self.remember(key, position);
        (position, true)
    }

    fn remember(&mut self, key: Key, position: usize) {
        if let Key::Int(int) = key
            && let Ok(number) = u32::try_from(position)
            && let Some(place) = self.place(int).and_then(|at| self.dense.get_mut(at))
        {
            *place = number;
        } else {
            self.found.insert(key, position);
        }
    }

    /// Prepares for `count` integers between two of them: if they lie close together, they are found without hashing, in less memory. Returns its bytes.
    pub(crate) fn expect(&mut self, least: i64, most: i64, count: usize) -> u64 {
        let span = most.checked_sub(least).and_then(|span| usize::try_from(span).ok()?.checked_add(1));
        let Some(span) = span.filter(|span| self.dense.is_empty() && *span <= 12 * count + 1024) else { return 0 };
        (self.dense, self.least) = (vec![NONE; span], least);
        let before = std::mem::take(&mut self.found);
        for (key, position) in before {
            self.remember(key, position);
        }
        4 * span as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_positions_in_which_they_were_seen() {
        let mut positions = Positions::default();
        let text = || Key::Text("7".into());
        assert_eq!(positions.add(Key::Int(7)), (0, true));
        assert_eq!(positions.add(text()), (1, true));
        assert_eq!(positions.expect(-2, 9, 5), 48);
        // Only once.
        assert_eq!(positions.expect(-2, 9, 5), 0);
        for (at, key) in [-2, 3, 9, 10, i64::MIN, i64::MAX].into_iter().enumerate() {
            assert_eq!(positions.add(Key::Int(key)), (at + 2, true));
            assert_eq!(positions.add(Key::Int(key)), (at + 2, false));
        }
        assert_eq!([positions.of_int(7), positions.of_int(8), positions.of_int(-3)], [Some(0), None, None]);
        assert_eq!((positions.get(&text()), positions.len()), (Some(1), 8));
        assert_eq!(Positions::default().expect(0, 1 << 40, 2), 0);
        assert_eq!(Positions::default().expect(i64::MIN, i64::MAX, 2), 0);
    }
}
