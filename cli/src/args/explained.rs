//! How queries are explained.

use clap::{Args, ValueEnum};

/// Whether a query is explained, and how.
#[derive(Debug, Clone, Args)]
pub struct ExplainedArgs {
    /// Show how the query is answered, and how many bytes of each table that is expected to read. `--explain` reads no rows; `--explain=analyze` runs
    /// the query as well, and shows the bytes that it read [default: answer the query]
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "plan",
        conflicts_with_all = ["output", "format"]
    )]
    #[cfg_attr(feature = "cluster", arg(conflicts_with = "cluster"))]
    pub explain: Option<Explained>,
}

/// How a query is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Explained {
    /// What would be done.
    Plan,
    /// What was done.
    Analyze,
}

// Without languages, there are no queries.
#[cfg_attr(not(any(feature = "query", feature = "cypher")), allow(dead_code))]
impl ExplainedArgs {
    /// The query without the words that ask to explain it, and whether it is to be explained by running it; nothing, if it is to be answered. `words` finds such words.
    pub fn of(&self, query: String, words: impl Fn(&str) -> Option<(String, bool)>) -> (String, Option<bool>) {
        let asked = self.explain.map(|how| how == Explained::Analyze);
        match words(&query) {
            Some((query, runs)) => (query, Some(runs || asked == Some(true))),
            None => (query, asked),
        }
    }
}
