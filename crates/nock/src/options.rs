//! How a file is opened.

use isomorph_storage::{Budget, Scratch};

/// What happens to input that breaks the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tolerance {
    /// Whatever the specification forbids, or its library cannot load, is an error.
    Strict,
    /// What can only be meant in one way is read with a warning: repeated node rows, ends of edges without a node row,
    /// edge rows out of sequence, nulls for missing text. What would have to be guessed is an error.
    #[default]
    Normal,
    /// Guesses too: a missing truth is 1.0, NaN in props is null, props that are no object are one property with an
    /// empty name, unquoted `NA`, `NaN`, `None` and `null` in a text file are missing values. Each is a warning.
    Lenient,
}

/// Options of [`crate::Nock::open`].
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// What happens to input that breaks the rules.
    pub tolerance: Tolerance,
    /// Read `edge_id` as a property of edges. It is layout otherwise: the published library renumbers it.
    pub keep_edge_id: bool,
    /// Read columns that are none of the nine as properties. Columns that pandas adds for its index never are.
    pub extra_columns: bool,
    /// Memory for what has to be kept while names are compared.
    pub budget: Budget,
    /// Where it spills; the system's directory for temporary files if nothing is given.
    pub scratch: Option<Scratch>,
    /// Inputs of at most this many rows are settled while they are opened (see [`crate::Nock::settle`]), so that the
    /// description has exact counts. Text always is: it does not say how many rows it has.
    pub settle_up_to: u64,
    /// Threads that compare names: all cores if nobody says another number.
    pub threads: usize,
    /// Rows of a piece of a scan, about: larger row groups are read as several pieces, so that all cores have work.
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
    /// The same with another tolerance.
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// The same with `edge_id` as a property, or without.
    pub fn keep_edge_id(mut self, keep: bool) -> Self {
        self.keep_edge_id = keep;
        self
    }

    /// The same within another budget.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// The same in pieces of about `rows` rows.
    pub fn piece_rows(mut self, rows: u64) -> Self {
        self.piece_rows = rows;
        self
    }

    /// The same, settling inputs of at most `rows` rows while opening; 0 for none.
    pub fn settle_up_to(mut self, rows: u64) -> Self {
        self.settle_up_to = rows;
        self
    }
}
