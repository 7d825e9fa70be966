//! Arguments of `sql`.

use std::time::Duration;

use clap::Args;
use isomorph::{Error, Result};

#[cfg(feature = "cluster")]
use super::cluster::ClusterArgs;
use super::duration::duration;
use super::explained::ExplainedArgs;
use super::{AnswerArgs, OpenArgs, ResourceArgs};

/// Arguments of `sql`.
#[derive(Debug, Args)]
#[command(override_usage = "isomorph sql [OPTIONS] [NAME=]<PATH>... <QUERY>")]
pub struct SqlArgs {
    /// Graphs and table files, then the query: one SELECT statement; - reads it from standard input. Several paths need names:
    /// a=social b=people.lake@3 prices=prices.parquet. `a.person` is a table of the graph a
    #[arg(required = true, num_args = 1.., value_name = "[NAME=]PATH… QUERY")]
    pub words: Vec<String>,
    /// Read the query from this file; all arguments are paths then [default: the last argument]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<String>,
    /// Value of $NAME in the query; may be given several times: a number, a text, null, or a list like [1,2]. It is bound, never parsed as SQL [default: none]
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, String)>,
    #[command(flatten)]
    pub explained: ExplainedArgs,
    /// Stop the query after this time: 500ms, 10s, 5m [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub answer: AnswerArgs,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Parses the name of a parameter and its value.
fn parameter(text: &str) -> Result<(String, String)> {
    let parts = text.split_once('=').filter(|(name, _)| is_name(name));
    let (name, value) = parts
        .ok_or_else(|| Error::usage(format!("{text:?} is not NAME=VALUE")).hint("--param name=Ada    for $name"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Whether a text is a name of a graph or parameter: letters, digits and `_`, the first no digit.
pub fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn parameters_have_a_name_and_any_value() {
        let of = |text: &str| parameter(text).unwrap();
        assert_eq!(of("name=Ada=x"), ("name".to_owned(), "Ada=x".to_owned()));
        assert_eq!(of("n1="), ("n1".to_owned(), String::new()));
        assert!(["", "=x", "1=x", "a b=x", "name"].iter().all(|text| parameter(text).is_err()));
    }
}
