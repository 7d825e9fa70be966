//! Which part of a graph is wanted.

use clap::Args;
use isomorph::dataset::{Sample, Selection, parse_condition};
use isomorph::{Error, Result};

/// What is left out while reading.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Selecting")]
pub struct SelectArgs {
    /// Only these types: node types with all edges between them, edge types with the nodes at their ends; names with commas stand
    /// between ` [default: all]
    #[arg(long, value_name = "TYPE,…")]
    pub types: Option<Vec<String>>,
    /// Only these properties, by name or as TYPE.NAME; keys and labels always come, and so does what an element of a format cannot be without:
    /// truth and is_rdf of NOCK, weight of annnet, weight and type of DeepGNN, the graph of a triple [default: all]
    #[arg(long, value_name = "NAME,…")]
    pub columns: Option<Vec<String>>,
    /// Only elements of a type that pass: 'person: id < 1000 and gender = "female"'; nodes without a key are numbered anew
    /// [default: none]
    ///
    /// = != < <= > >=, between A and B, in (A, B), like "%text_", has A (of a list), has label "A", is null, each with not; and, or, parentheses. Quoted
    /// text takes the type of the column: born >= "1990-01-31". Text stands between " or ', and that sign inside it is written twice; a backslash is one
    /// like any sign. Names with other signs than letters, digits and _ stand between `: `a b` = 1. Nothing compares with NaN. Names are those of
    /// the graph as it is shown; @key, @source, @target, @relation and so on are columns as well. Members of the properties of NOCK are columns: a survey
    /// finds their types. Edges that lose an end are left out, and counted.
    #[arg(long = "where", value_name = "TYPE: CONDITION")]
    pub conditions: Vec<String>,
    /// Only so many nodes of each type, drawn by their keys from those that pass: the same seed draws the same nodes [default: all]
    #[arg(long, value_name = "N")]
    pub sample_rows: Option<u64>,
    /// What --sample-rows draws by: another number draws other nodes [default: 0]
    #[arg(long, value_name = "N", requires = "sample_rows")]
    pub sample_seed: Option<u64>,
    /// Keep edges of which one end is left out, and of the node at that end nothing but its key
    #[arg(long)]
    pub keep_dangling: bool,
}

impl SelectArgs {
    /// What they leave of a graph, and `limit` nodes of each type.
    ///
    /// # Errors
    /// For a condition that cannot be read.
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

/// Names between commas; one between ` may have commas itself, and ` written twice.
///
/// # Errors
/// For a name without letters, and a ` without a second.
fn names(lists: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for list in lists {
        let (mut name, mut quoted, mut was_quoted) = (String::new(), false, false);
        let mut letters = list.chars().peekable();
        let mut finish = |name: &mut String, was_quoted: &mut bool| match name.is_empty() && !*was_quoted {
            true => Err(Error::usage(format!("{list:?} names nothing between two commas"))
                .hint("`a,b`    is one name with a comma, and `` the empty name")),
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
            return Err(Error::usage(format!("{list:?} has a ` without a second one")));
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
