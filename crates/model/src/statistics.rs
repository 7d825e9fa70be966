//! What is known of a table and its columns without reading the rows.

use crate::predicate::Value;

/// Something that is known exactly, about, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Known<T> {
    /// What reading every row gives.
    Exact(T),
    /// What a file claims, or what is near it: good for a plan, and no answer.
    Estimated(T),
    /// Nothing is known.
    #[default]
    Unknown,
}

impl<T> Known<T> {
    /// What is known, exactly or not.
    pub fn value(&self) -> Option<&T> {
        match self {
            Known::Exact(value) | Known::Estimated(value) => Some(value),
            Known::Unknown => None,
        }
    }

    /// What is known exactly.
    pub fn exact(&self) -> Option<&T> {
        match self {
            Known::Exact(value) => Some(value),
            Known::Estimated(_) | Known::Unknown => None,
        }
    }

    /// The same, at best as an estimate.
    pub fn estimated(self) -> Self {
        match self {
            Known::Exact(value) | Known::Estimated(value) => Known::Estimated(value),
            Known::Unknown => Known::Unknown,
        }
    }

    /// Both of two, as exactly as the less exact one.
    pub fn with<U, V>(self, other: Known<U>, both: impl FnOnce(T, U) -> V) -> Known<V> {
        match (self, other) {
            (Known::Exact(one), Known::Exact(other)) => Known::Exact(both(one, other)),
            (Known::Exact(one) | Known::Estimated(one), Known::Exact(other) | Known::Estimated(other)) => {
                Known::Estimated(both(one, other))
            }
            (Known::Unknown, _) | (_, Known::Unknown) => Known::Unknown,
        }
    }
}

/// What is known of a column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnStatistics {
    /// Number of nulls.
    pub nulls: Known<u64>,
    /// The least value, nulls and NaN left out, as [`crate::predicate::extremes`] finds it; nothing where there is none.
    pub least: Known<Option<Value>>,
    /// The greatest value, likewise.
    pub greatest: Known<Option<Value>>,
    /// Number of different values, nulls left out.
    pub distinct: Known<u64>,
    /// Bytes that it takes in its files.
    pub bytes: Known<u64>,
}

impl ColumnStatistics {
    /// A column of `rows` different values, none of them null.
    pub fn of_keys(rows: Known<u64>) -> Self {
        ColumnStatistics {
            nulls: rows.with(Known::Exact(()), |_, ()| 0),
            distinct: rows,
            ..ColumnStatistics::default()
        }
    }

    /// A column without rows.
    pub fn of_no_rows() -> Self {
        let (nulls, least, greatest) = (Known::Exact(0), Known::Exact(None), Known::Exact(None));
        ColumnStatistics { nulls, least, greatest, distinct: Known::Exact(0), bytes: Known::Exact(0) }
    }

    /// Of this column with the rows of another behind it.
    pub fn with(self, other: ColumnStatistics) -> Self {
        let sum = |one: Known<u64>, other| one.with(other, u64::saturating_add);
        // Where nothing compares, neither is known to be the least.
        let first = |one: Known<Option<Value>>, other: Known<Option<Value>>, is_less: bool| {
            let picked = one.with(other, |one, other| match (one, other) {
                (Some(one), Some(other)) => {
                    one.order(&other).map(|order| Some(if order.is_lt() == is_less { one } else { other }))
                }
                (one, other) => Some(one.or(other)),
            });
            match picked {
                Known::Exact(Some(value)) => Known::Exact(value),
                Known::Estimated(Some(value)) => Known::Estimated(value),
                _ => Known::Unknown,
            }
        };
        ColumnStatistics {
            nulls: sum(self.nulls, other.nulls),
            least: first(self.least, other.least, true),
            greatest: first(self.greatest, other.greatest, false),
            // The same value may be in both.
            distinct: Known::Unknown,
            bytes: sum(self.bytes, other.bytes),
        }
    }
}

/// What is known of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    /// Number of rows.
    pub rows: Known<u64>,
    /// Columns of which something is known, by the name of the property or one of [`crate::Narrowing::NAMES`].
    pub columns: Vec<(String, ColumnStatistics)>,
}

impl Statistics {
    /// What is known of a column; nothing, if it is not among them.
    pub fn column(&self, name: &str) -> ColumnStatistics {
        self.columns.iter().find(|(own, _)| own == name).map(|(_, column)| column.clone()).unwrap_or_default()
    }
}
