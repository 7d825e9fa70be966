//! Arguments that select a part of a graph.

use clap::Args;
use isomorph::dataset::{Sample, Selection, parse_condition};
use isomorph::{Error, Result};

/// The parts of a graph that are read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Selecting")]
pub struct SelectArgs {
    /// Only these types: node types with all edges between them, edge types with the nodes at their ends; write names
    /// with commas between ` [default: all]
    #[arg(long, value_name = "TYPE,…")]
    pub types: Option<Vec<String>>,
    /// Only these properties, by name or as TYPE.NAME. Keys and labels are always included, as are properties that a
    /// format requires: truth and is_rdf of NOCK, weight of annnet, weight and type of DeepGNN, the graph of a triple
    /// [default: all]
    #[arg(long, value_name = "NAME,…")]
    pub columns: Option<Vec<String>>,
    /// Only elements of a type that satisfy a condition: 'person: id < 1000 and gender = "female"'; nodes without a key
    /// are renumbered [default: none]
    ///
    /// Operators: = != < <= > >=, between A and B, in (A, B), like "%text_", has A (of a list), has label "A", is null,
    /// each with not; and, or, parentheses. Quoted text takes the type of the column: born >= "1990-01-31". Text is
    /// quoted by " or ', doubled inside the text; a backslash has no special meaning. Quote names that contain other
    /// characters than letters, digits and _ by `: `a b` = 1. NaN is neither equal to, less than, nor greater than any value.
    /// Names are those that info shows; @key, @source, @target, @relation and so on are also columns. Members of NOCK
    /// props are columns too: a survey finds their types. Edges that lose an end are dropped, and counted.
    #[arg(long = "where", value_name = "TYPE: CONDITION")]
    pub conditions: Vec<String>,
    /// Only N nodes of each type, drawn by key from those that satisfy the conditions; equal seeds draw equal nodes
    /// [default: all]
    #[arg(long, value_name = "N")]
    pub sample_rows: Option<u64>,
    /// Seed of --sample-rows [default: 0]
    #[arg(long, value_name = "N", requires = "sample_rows")]
    pub sample_seed: Option<u64>,
    /// Keep edges with one end outside the selection; nodes at such ends keep only their key
    #[arg(long)]
    pub keep_dangling: bool,
}

impl SelectArgs {
    /// Returns the selection, with `limit` nodes of each type.
    ///
    /// # Errors
    /// Returns an error if a condition is invalid.
    pub fn selection(&self, limit: Option<u64>) -> Result<Selection> {
        Ok(Selection {
            types: self.types.as_deref().map(names).transpose()?,
            columns: self.columns.as_deref().map(names).transpose()?,
            conditions: self.conditions.iter().map(|text| parse_condition(text)).collect::<Result<_>>()?,
            limit,
            sample: self.sample_rows.map(|rows| Sample { rows, seed: self.sample_seed.unwrap_or_default() }),
            keep_dangling: self.keep_dangling,
            ..Selection::default()
        })
    }
}

/// Splits names at commas. A name between ` may contain commas, and ` written twice.
///
/// # Errors
/// Returns a usage error for an empty name, or a ` without a second one.
fn names(lists: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for list in lists {
        let (mut name, mut quoted, mut was_quoted) = (String::new(), false, false);
        let mut letters = list.chars().peekable();
        let mut finish = |name: &mut String, was_quoted: &mut bool| match name.is_empty() && !*was_quoted {
            true => Err(Error::usage(format!("{list:?} has an empty name between two commas"))
                .hint("`a,b`    is one name with a comma, `` is the empty name")),
            false => {
                *was_quoted = false;
                all.push(std::mem::take(name));
                Ok(())
            }
        };
        while let Some(letter) = letters.next() {
            match letter {
                '`' if quoted && letters.next_if_eq(&'`').is_some() => name.push('`'),
                '`' => (quoted, was_quoted) = (!quoted, true),
                ',' if !quoted => finish(&mut name, &mut was_quoted)?,
                letter => name.push(letter),
            }
        }
        if quoted {
            return Err(Error::usage(format!("{list:?} has an unclosed `")));
        }
        finish(&mut name, &mut was_quoted)?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::names;

    #[test]
    fn names_may_have_commas() {
        let of = |text: &str| names(&[text.to_owned()]).map(|names| names.join("|")).map_err(|_| ());
        assert_eq!(of("a,b c"), Ok("a|b c".to_owned()));
        assert_eq!(of("`a,b`,c"), Ok("a,b|c".to_owned()));
        assert_eq!(of("`a``b`"), Ok("a`b".to_owned()));
        assert_eq!(of("``"), Ok(String::new()));
        assert_eq!(of("node.`a,b`"), Ok("node.a,b".to_owned()));
        for text in ["", "a,", ",a", "`a"] {
            assert_eq!(of(text), Err(()), "{text}");
        }
    }
}
