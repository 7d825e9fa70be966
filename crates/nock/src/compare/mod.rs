//! Two files, row by row: the comparison that the specification has in mind when it lets text files be sorted.
//!
//! Both are brought to sorted text in which equal rows are equal lines: labels sorted, props with sorted keys and no
//! spaces, missing values as the specification spells them, truth with all its digits. The two are then walked side by
//! side, within a memory budget.

mod canonical;
mod further;
mod walk;

use isomorph_error::Result;
use isomorph_storage::{Budget, Scratch};

use crate::Nock;
pub(crate) use canonical::Canonical;

/// What counts in a comparison.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// Compare edge numbers too. The published library renumbers them.
    pub edge_ids: bool,
    /// Compare truth as 32-bit numbers, as files with the specification's types hold it.
    pub narrow_truth: bool,
    /// Compare further columns with the text that a text file has in their place: it is read as the type that the other
    /// file has, and null is the empty text, as which other writers write it. Else columns of one name need types that fit together.
    pub as_text: bool,
    /// How many different rows are kept.
    pub keep: usize,
    /// Memory for sorting.
    pub budget: Budget,
    /// Where sorting spills; the system's directory for temporary files if nothing is given.
    pub scratch: Option<Scratch>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions {
            edge_ids: false,
            narrow_truth: false,
            as_text: false,
            keep: 20,
            budget: Budget::default(),
            scratch: None,
        }
    }
}

/// Which file a row is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnlyIn {
    /// The left one.
    Left,
    /// The right one.
    Right,
}

/// A row that only one of the files has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Which one.
    pub only_in: OnlyIn,
    /// The row as a line of text, without its end.
    pub line: String,
}

/// What a comparison found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Rows that both have.
    pub equal: u64,
    /// Rows that only the left file has.
    pub only_left: u64,
    /// Rows that only the right file has.
    pub only_right: u64,
    /// The first different rows, sorted by name.
    pub first: Vec<Difference>,
}

impl Comparison {
    /// Whether the files have the same rows.
    pub fn is_equal(&self) -> bool {
        self.only_left == 0 && self.only_right == 0
    }
}

/// Compares two datasets row by row, in any order of rows and partitions.
///
/// # Errors
/// When one of them cannot be read.
pub fn compare(left: &Nock, right: &Nock, options: &CompareOptions) -> Result<Comparison> {
    let of_left = Canonical::of(left, right, options)?;
    let of_right = Canonical::of(right, left, options)?;
    let (left, right) = rayon::join(|| of_left.sorted(left, options), || of_right.sorted(right, options));
    walk::walk(left?, right?, options.keep)
}
