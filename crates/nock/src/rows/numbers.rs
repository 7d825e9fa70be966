//! Row numbers in a file, for places of errors.

/// The numbers, in the file, of the rows of a batch.
#[derive(Debug, Clone)]
pub(crate) enum Numbers {
    /// One after another from this one on.
    From(u64),
    /// Each its own: rows picked out of a file, or several rows of a batch in one row of a nested file.
    Listed(Vec<u64>),
}

impl Numbers {
    /// The number of row `row` of the batch.
    pub fn at(&self, row: usize) -> u64 {
        match self {
            Numbers::From(first) => first.saturating_add(row as u64),
            Numbers::Listed(numbers) => numbers.get(row).copied().unwrap_or_default(),
        }
    }
}
