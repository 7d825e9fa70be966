//! The wanted part of the files: everything, a range of texts, or certain texts.

use std::ops::Range;
use std::sync::Arc;

use isomorph_error::Result;

use super::terms::{Bindings, Terms};
use crate::bloom;

/// Texts to look up, each once, ascending, with the rows of the bindings that want each.
#[derive(Debug)]
pub(crate) struct Keys {
    texts: Texts,
    /// A row of `texts` for each key, and the hash of its text.
    keys: Vec<(u32, u64)>,
    /// Where the rows of each key start in `rows`, and where the last ones end.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

/// Where the texts are.
#[derive(Debug)]
enum Texts {
    /// One known text.
    One(Arc<Terms>),
    /// A column of bindings.
    Column(Arc<Bindings>, usize),
}

impl Texts {
    fn text(&self, row: u32) -> &str {
        match self {
            Texts::One(terms) => terms.text(row as usize),
            Texts::Column(bindings, column) => {
                bindings.columns().get(*column).map(|terms| terms.text(row as usize)).unwrap_or_default()
            }
        }
    }
}

impl Keys {
    /// Memory for each row at most, in bytes: each may be a different key.
    pub(super) const MOST: u64 = 24;

    /// The texts of `rows` of a column, each once; `rows` are sorted by their texts.
    #[expect(clippy::cast_possible_truncation, reason = "bindings have less than 2^32 rows")]
    pub(super) fn of(bindings: &Arc<Bindings>, column: usize, rows: Vec<u32>) -> Self {
        let texts = Texts::Column(Arc::clone(bindings), column);
        // Not larger than what is reserved for them.
        let mut keys: Vec<(u32, u64)> = Vec::with_capacity(rows.len());
        let mut starts: Vec<u32> = Vec::with_capacity(rows.len() + 1);
        for (at, row) in rows.iter().enumerate() {
            let text = texts.text(*row);
            if keys.last().is_none_or(|(last, _)| texts.text(*last) != text) {
                keys.push((*row, bloom::hash(text.as_bytes())));
                starts.push(at as u32);
            }
        }
        starts.push(rows.len() as u32);
        keys.shrink_to_fit();
        starts.shrink_to_fit();
        Keys { texts, keys, starts, rows }
    }

    /// One text that all of `rows` want, each once.
    #[expect(clippy::cast_possible_truncation, reason = "bindings have less than 2^32 rows")]
    pub(super) fn one(texts: &Arc<Terms>, rows: Vec<u32>) -> Self {
        let hash = bloom::hash(texts.text(0).as_bytes());
        Keys { texts: Texts::One(Arc::clone(texts)), keys: vec![(0, hash)], starts: vec![0, rows.len() as u32], rows }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn text(&self, key: usize) -> &[u8] {
        self.keys.get(key).map(|(row, _)| self.texts.text(*row)).unwrap_or_default().as_bytes()
    }

    pub(crate) fn hash(&self, key: usize) -> u64 {
        self.keys.get(key).map(|(_, hash)| *hash).unwrap_or_default()
    }

    /// The rows that want a key.
    pub(super) fn rows(&self, key: usize) -> &[u32] {
        let at = |key: usize| self.starts.get(key).copied().unwrap_or_default() as usize;
        self.rows.get(at(key)..at(key + 1)).unwrap_or_default()
    }

    /// Memory that it takes, in bytes.
    pub(super) fn memory(&self) -> u64 {
        (16 * self.keys.len() + 4 * (self.starts.len() + self.rows.len())) as u64
    }

    /// The first key of `among` that is not less than `text`, searched from the start: it is usually near.
    pub(crate) fn not_before(&self, among: Range<usize>, text: &[u8]) -> usize {
        let (mut low, mut step) = (among.start, 1);
        // Every key before `low` is less.
        while low + step < among.end && self.text(low + step) < text {
            low += step;
            step *= 2;
        }
        let mut high = (low + step).min(among.end);
        while low < high {
            let middle = low.midpoint(high);
            if self.text(middle) < text { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// The wanted triples of a predicate, by their first texts in an order.
#[derive(Debug, Clone, Default)]
pub(crate) enum Wanted {
    /// All of them.
    #[default]
    All,
    /// From a text on, or from the first; up to, but not including, another, or to the last.
    Between(Option<Arc<str>>, Option<Arc<str>>),
    /// Those of some of the keys.
    Keys(Arc<Keys>, Range<usize>),
}

impl Wanted {
    /// One text.
    ///
    /// # Errors
    /// Returns an error if it is too long for any record.
    pub(super) fn key(text: &str) -> Result<Wanted> {
        let mut texts = Terms::default();
        texts.push_resource(text)?;
        Ok(Wanted::Keys(Arc::new(Keys::one(&Arc::new(texts), Vec::new())), 0..1))
    }

    /// Resources, which ascend by their bytes, each once; with the memory that they take, bytes.
    ///
    /// # Errors
    /// When there are too many, or they are too long.
    pub(crate) fn resources<'t>(texts: impl Iterator<Item = &'t str>) -> Result<(Wanted, u64)> {
        let mut column = Terms::default();
        for text in texts {
            column.push_resource(text)?;
        }
        let bindings = Arc::new(Bindings::new(vec![column])?);
        let keys = Keys::of(&bindings, 0, bindings.numbers().collect());
        let memory = keys.memory() + bindings.columns().iter().map(Terms::memory).sum::<u64>();
        let among = 0..keys.len();
        Ok((Wanted::Keys(Arc::new(keys), among), memory))
    }

    /// Everything, divided by these texts, which ascend.
    pub(super) fn divided(texts: Vec<String>) -> Vec<Wanted> {
        if texts.is_empty() {
            return vec![Wanted::All];
        }
        let mut low = None;
        let highs = texts.into_iter().map(|text| Some(Arc::<str>::from(text))).chain([None]);
        highs.map(|high| Wanted::Between(std::mem::replace(&mut low, high.clone()), high)).collect()
    }

    /// The bounds, if there are any: from the first on, below the second.
    pub(crate) fn between(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Wanted::Between(low, high) => (low.as_deref(), high.as_deref()),
            Wanted::All | Wanted::Keys(..) => (None, None),
        }
    }

    /// Whether triples with this first text are wanted.
    pub(crate) fn has(&self, text: &str) -> bool {
        match self {
            Wanted::All => true,
            Wanted::Between(low, high) => {
                low.as_deref().is_none_or(|low| text >= low) && high.as_deref().is_none_or(|high| text < high)
            }
            Wanted::Keys(keys, among) => {
                let found = keys.not_before(among.clone(), text.as_bytes());
                found < among.end && keys.text(found) == text.as_bytes()
            }
        }
    }

    /// The keys, if certain texts are wanted.
    pub(crate) fn keys(&self) -> Option<(&Keys, &Range<usize>)> {
        match self {
            Wanted::Keys(keys, among) => Some((keys, among)),
            Wanted::All | Wanted::Between(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn keys_are_found_from_anywhere() {
        let mut terms = Terms::default();
        (0..100).for_each(|n| terms.push_resource(&format!("urn:{:03}", n / 3 * 2)).unwrap());
        let keys = Keys::of(&Arc::new(Bindings::new(vec![terms]).unwrap()), 0, (0..100).collect());
        assert_eq!((keys.len(), keys.rows(0), keys.rows(33)), (34, [0, 1, 2].as_slice(), [99].as_slice()));
        for from in 0..34 {
            for text in 0..70 {
                let text = format!("urn:{text:03}");
                let expected = (from..34).find(|key| keys.text(*key) >= text.as_bytes()).unwrap_or(34);
                assert_eq!(keys.not_before(from..34, text.as_bytes()), expected, "{from} {text}");
            }
        }
        assert_eq!(keys.not_before(5..5, b"urn:000"), 5);
    }
}
