//! A case: a graph in files, and the errors that were found.

use std::path::Path;

use tempfile::TempDir;

use crate::Counts;
use crate::graphs::{self, Dice, Made};
use crate::run::{Done, run};

/// A random graph, the generator that chooses the requests, and the results.
pub struct Case {
    home: TempDir,
    pub dice: Dice,
    /// The graph, at `made.path` below [`Case::home`].
    pub made: Made,
    pub counts: Counts,
    pub wrong: Vec<String>,
}

impl Case {
    /// Creates the graph with this number.
    pub fn new(number: u64) -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let mut dice = Dice::new(number);
        let made = graphs::make(&mut dice, home.path());
        Case { home, dice, made, counts: Counts::new(), wrong: Vec::new() }
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn run(&self, arguments: &[&str]) -> Done {
        run(self.home(), arguments)
    }

    /// Counts one compared answer, and records `what` if it is wrong.
    pub fn compare(&mut self, command: &'static str, right: bool, what: impl FnOnce() -> String) {
        *self.counts.entry(command).or_default() += 1;
        if !right {
            self.wrong.push(format!("{} ({}) {command}: {}", self.made.path, self.made.format, what()));
        }
    }

    /// Counts a result that is not compared, such as a justified error.
    pub fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }
}
