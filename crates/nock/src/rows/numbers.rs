//! Row numbers in a file, for the places of errors.

/// The numbers in the file of a batch's rows.
#[derive(Debug, Clone)]
pub(crate) enum Numbers {
    /// Consecutive numbers from this one on.
    From(u64),
    /// A number for each row: rows selected from a file, or several rows of a batch from one row of a nested file.
    Listed(Vec<u64>),
}

impl Numbers {
    /// Returns the number of row `row` of the batch.
    pub fn at(&self, row: usize) -> u64 {
        match self {
            Numbers::From(first) => first.saturating_add(row as u64),
            Numbers::Listed(numbers) => numbers.get(row).copied().unwrap_or_default(),
        }
    }
}
