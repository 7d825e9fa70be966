//! Arguments of `shell`.

use clap::{Args, ValueEnum};

/// A query language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// SQL
    Sql,
    /// openCypher
    Cypher,
    /// SPARQL
    Sparql,
}

impl Language {
    /// The command that answers its queries.
    #[cfg(feature = "query")]
    pub fn command(self) -> &'static str {
        match self {
            Language::Sql => "sql",
            Language::Cypher => "cypher",
            Language::Sparql => "sparql",
        }
    }
}

/// Arguments of `shell`.
#[derive(Debug, Args)]
#[command(override_usage = "isomorph shell [OPTIONS] <PATH> [-- <FLAG>...]")]
pub struct ShellArgs {
    /// A file, a directory or a URL
    pub path: String,
    /// Language of the first query; .language changes it
    #[arg(long, value_name = "LANGUAGE", value_enum, default_value = "sql")]
    pub language: Language,
    /// Flags that each query gets, after --: -- --memory 2GiB --ns ex=http://example.org/
    #[arg(last = true, value_name = "FLAG", allow_hyphen_values = true)]
    pub flags: Vec<String>,
}
