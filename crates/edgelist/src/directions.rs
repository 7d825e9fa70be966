//! The column of an edge list that says whether edges have a direction.

use std::borrow::Cow;

use crate::line::trimmed;

/// Parses a word of Gephi's column `Type`, or a truth value of a column `directed` if `is_truth`.
fn is_undirected(field: &str, is_truth: bool) -> Option<bool> {
    let field = trimmed(field);
    let is_one_of = |words: &[&str]| words.iter().any(|word| field.eq_ignore_ascii_case(word));
    let said = |word: &str, truths: &[&str]| is_one_of(&[word]) || is_truth && is_one_of(truths);
    match said("undirected", &["false", "0", "0.0", "no", "f", "n"]) {
        true => Some(true),
        false => said("directed", &["true", "1", "1.0", "yes", "t", "y"]).then_some(false),
    }
}

/// A column that says whether edges have a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TypeColumn {
    /// Its index after source and target.
    pub at: usize,
    is_truth: bool,
    /// What the first edge is, and so all others.
    pub is_undirected: bool,
}

impl TypeColumn {
    /// Finds the column in the fields of the first lines: `directed`, or Gephi's `Type`, if some of them say so.
    pub fn find(names: &[String], lines: &[Vec<Cow<'_, str>>]) -> Option<TypeColumn> {
        [("directed", true), ("type", false)].into_iter().find_map(|(wanted, is_truth)| {
            let at = names.iter().position(|name| name.eq_ignore_ascii_case(wanted))?;
            let fields = lines.iter().filter_map(|own| own.get(at + 2));
            let said: Vec<Option<bool>> = fields.map(|field| is_undirected(field, is_truth)).collect();
            // `Directed` may be a type of edges as well.
            let is_told = is_truth || said.contains(&Some(true)) || said.iter().all(Option::is_some);
            let is_undirected = said.into_iter().flatten().next().filter(|_| is_told)?;
            Some(TypeColumn { at, is_truth, is_undirected })
        })
    }

    /// Whether this edge is as the first one. An edge that says nothing is directed.
    pub fn agrees(self, field: &str) -> bool {
        let said = if trimmed(field).is_empty() { Some(false) } else { is_undirected(field, self.is_truth) };
        said == Some(self.is_undirected)
    }
}
