//! Compares two files row by row: the comparison for which the specification allows text files to be sorted.
//!
//! Both are converted to sorted text in which equal rows are equal lines: labels sorted, props with sorted keys and no
//! spaces, missing values as the specification spells them, truth with all its digits. The two texts are then merged,
//! within a memory budget.

mod canonical;
mod spelling;
mod walk;

use isomorph_error::Result;
use isomorph_storage::{Budget, Scratch, pool};

use crate::Nock;
pub(crate) use canonical::Canonical;

/// Options of a comparison.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// Also compare edge numbers. The published library renumbers them.
    pub edge_ids: bool,
    /// Compare truth as 32-bit numbers, as in files with the specification's types.
    pub narrow_truth: bool,
    /// Compare further columns with the text of a text file: it is read as the type that the other
    /// file has, and null is the empty text, as other writers write it. Otherwise columns of the same name need compatible types.
    pub as_text: bool,
    /// Number of different rows that are kept.
    pub keep: usize,
    /// Memory for sorting.
    pub budget: Budget,
    /// Where sorting spills; by default the system's directory for temporary files.
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
    /// Which file.
    pub only_in: OnlyIn,
    /// The row as a line of text, without the line ending.
    pub line: String,
}

/// The result of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Number of rows that both files have.
    pub equal: u64,
    /// Number of rows that only the left file has.
    pub only_left: u64,
    /// Number of rows that only the right file has.
    pub only_right: u64,
    /// The first different rows, sorted by name.
    pub first: Vec<Difference>,
}

impl Comparison {
    /// Returns whether the files have the same rows.
    pub fn is_equal(&self) -> bool {
        self.only_left == 0 && self.only_right == 0
    }
}

/// Compares two datasets row by row, in any order of rows and partitions.
///
/// # Errors
/// Returns an error if one of them cannot be read.
pub fn compare(left: &Nock, right: &Nock, options: &CompareOptions) -> Result<Comparison> {
    let of_left = Canonical::of(left, right, options)?;
    let of_right = Canonical::of(right, left, options)?;
    let (left, right) = pool::run(|| rayon::join(|| of_left.sorted(left, options), || of_right.sorted(right, options)));
    walk::walk(left?, right?, options.keep)
}
