//! Options for opening a file.

use isomorph_storage::{Budget, Scratch};

/// How input that violates the rules is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tolerance {
    /// Anything that the specification forbids or its library cannot load is an error.
    Strict,
    /// Input with only one possible meaning is read with a warning: repeated node rows, ends of edges without a node row,
    /// edge rows out of sequence, nulls for missing text. Input that would have to be guessed is an error.
    #[default]
    Normal,
    /// Also guesses: a missing truth is 1.0, NaN in props is null, props that are not an object are one property with an
    /// empty name, unquoted `NA`, `NaN`, `None` and `null` in a text file are missing values. Each is a warning.
    Lenient,
}

/// Options of [`crate::Nock::open`].
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// How input that violates the rules is treated.
    pub tolerance: Tolerance,
    /// Read `edge_id` as a property of edges. By default it is layout: the published library renumbers it.
    pub keep_edge_id: bool,
    /// Read columns other than the nine as properties. Columns that pandas adds for its index are never read.
    pub extra_columns: bool,
    /// Memory budget for comparing names.
    pub budget: Budget,
    /// Where temporary files go; by default the system's directory for temporary files.
    pub scratch: Option<Scratch>,
    /// Inputs of at most this many rows are settled while they are opened (see [`crate::Nock::settle`]), so that the
    /// description has exact counts. Text is always settled: it does not state its number of rows.
    pub settle_up_to: u64,
    /// Number of threads that compare names; by default all cores.
    pub threads: usize,
    /// Approximate number of rows in a piece of a scan: larger row groups are divided into pieces, so that all cores have work.
    pub piece_rows: u64,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions {
            tolerance: Tolerance::Normal,
            keep_edge_id: false,
            extra_columns: true,
            budget: Budget::default(),
            scratch: None,
            settle_up_to: 1_000_000,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            piece_rows: 1 << 19,
        }
    }
}

impl OpenOptions {
    /// Sets the tolerance.
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sets whether `edge_id` is read as a property.
    pub fn keep_edge_id(mut self, keep: bool) -> Self {
        self.keep_edge_id = keep;
        self
    }

    /// Sets the memory budget.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the size of pieces to about `rows` rows.
    pub fn piece_rows(mut self, rows: u64) -> Self {
        self.piece_rows = rows;
        self
    }

    /// Sets the number of rows up to which inputs are settled while opening; 0 for none.
    pub fn settle_up_to(mut self, rows: u64) -> Self {
        self.settle_up_to = rows;
        self
    }
}
