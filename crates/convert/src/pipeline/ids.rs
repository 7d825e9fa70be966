//! Ids for edges that have none, where a sink keeps edges by id.
//!
//! An id is made of what tells the edge from others: its relation where there are several, and its ends, `knows:1>2`.
//! Of parallel edges the second is `knows:1>2~2`. So an edge keeps its id when the graph grows elsewhere, and the same
//! graph gives the same ids on any number of threads. `:` in relations, `>` in sources, `~` in targets and `\` in all have a
//! `\` before them: no two edges have one id. Where several nodes have one key, which the sink takes for one node, the rows
//! of the ends are part of the id: `knows:1>2~0-5`. Else edges of two such nodes would have one id.

use std::fmt::Write;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use isomorph_error::{Error, Result};
use isomorph_model::{EdgeBatch, Ends};

/// What ids are made of beside the keys of the ends.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IdParts {
    /// The property that names the relation of an edge, if there is one.
    pub relation: Option<usize>,
    /// Whether several nodes may have one key, so that only rows tell their edges apart.
    pub rows: bool,
}

/// Makes ids of edges that come sorted by their ends.
pub(super) struct Ids {
    parts: IdParts,
    /// Rows of the ends of the edge before.
    last: Option<(u64, u64)>,
    /// How many edges each relation had between these ends: the first `relations` of these.
    seen: Vec<(String, u64)>,
    relations: usize,
    text: String,
}

impl Ids {
    /// Ids that are made of these parts.
    pub fn new(parts: IdParts) -> Self {
        Ids { parts, last: None, seen: Vec::new(), relations: 0, text: String::new() }
    }

    /// The ids of edges that follow those before; `source` and `target` are the keys of their ends.
    ///
    /// # Errors
    /// When ends are no rows, or keys and relations no text.
    pub fn of(&mut self, edges: &EdgeBatch, source: &ArrayRef, target: &ArrayRef) -> Result<StringArray> {
        let (Ends::Rows(from), Ends::Rows(to)) = (&edges.source, &edges.target) else {
            return Err(Error::usage("ids are made of edges whose ends are rows"));
        };
        let (source, target) = (text(source)?, text(target)?);
        let relations = self.parts.relation.and_then(|at| edges.properties.get(at)?.as_ref()).map(text).transpose()?;
        let bytes = source.values().len() + target.values().len() + edges.rows * 8;
        let mut ids = StringBuilder::with_capacity(edges.rows, bytes);
        for row in 0..edges.rows {
            let ends = (from.value(row), to.value(row));
            if self.last != Some(ends) {
                self.last = Some(ends);
                self.relations = 0;
            }
            let relation = relations.filter(|names| names.is_valid(row)).map_or("", |names| names.value(row));
            self.text.clear();
            if self.parts.relation.is_some() {
                push(&mut self.text, relation, ':');
                self.text.push(':');
            }
            push(&mut self.text, source.value(row), '>');
            self.text.push('>');
            push(&mut self.text, target.value(row), '~');
            if self.parts.rows {
                // Writing into a text does not fail.
                let _ = write!(self.text, "~{}-{}", ends.0, ends.1);
            }
            let count = self.count(relation);
            if count > 1 {
                let _ = write!(self.text, "~{count}");
            }
            ids.append_value(&self.text);
        }
        Ok(ids.finish())
    }

    /// How many edges of this relation there are between the ends, with this one.
    fn count(&mut self, relation: &str) -> u64 {
        let known = self.seen.iter_mut().take(self.relations).find(|(known, _)| known == relation);
        if let Some((_, count)) = known {
            *count += 1;
            return *count;
        }
        // The texts of other ends are used again: nearly every edge comes here.
        if self.relations == self.seen.len() {
            self.seen.push(Default::default());
        }
        if let Some((known, count)) = self.seen.get_mut(self.relations) {
            known.clear();
            known.push_str(relation);
            *count = 1;
        }
        self.relations += 1;
        1
    }
}

fn text(column: &ArrayRef) -> Result<&StringArray> {
    column.as_string_opt::<i32>().ok_or_else(|| Error::usage("ids of edges are made of text"))
}

/// Appends `part`, with a `\` before each `end` and each `\`.
fn push(id: &mut String, part: &str, end: char) {
    let mut rest = part;
    while let Some(at) = rest.find([end, '\\']) {
        let (before, after) = rest.split_at(at);
        id.push_str(before);
        id.push('\\');
        let next = after.chars().next().map_or(0, char::len_utf8);
        let (marked, after) = after.split_at(next);
        id.push_str(marked);
        rest = after;
    }
    id.push_str(rest);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::UInt64Array;

    use super::*;

    /// Ids of edges between nodes of these keys, in pieces of `step`.
    fn ids(edges: &[(u64, u64, &str)], keys: &[&str], relation: Option<usize>, step: usize) -> Vec<String> {
        ids_of(edges, keys, IdParts { relation, rows: false }, step)
    }

    fn ids_of(edges: &[(u64, u64, &str)], keys: &[&str], parts: IdParts, step: usize) -> Vec<String> {
        let mut ids = Ids::new(parts);
        let mut found = Vec::new();
        for some in edges.chunks(step) {
            let rows = |of: fn(&(u64, u64, &str)) -> u64| UInt64Array::from_iter_values(some.iter().map(of));
            let key = |rows: &UInt64Array| -> ArrayRef {
                Arc::new(StringArray::from_iter_values(rows.values().iter().map(|row| keys[*row as usize])))
            };
            let (from, to) = (rows(|edge| edge.0), rows(|edge| edge.1));
            let (source, target) = (key(&from), key(&to));
            let names = StringArray::from_iter_values(some.iter().map(|edge| edge.2));
            let batch = EdgeBatch {
                ty: 0,
                rows: some.len(),
                relations: None,
                source: Ends::Rows(from),
                target: Ends::Rows(to),
                layers: None,
                directed: None,
                keys: None,
                properties: vec![Some(Arc::new(names))],
            };
            found.extend(ids.of(&batch, &source, &target).unwrap().iter().flatten().map(str::to_owned));
        }
        found
    }

    #[test]
    fn parallel_edges_are_numbered_across_batches() {
        let edges = [(0, 1, "a"), (0, 1, "b"), (0, 1, "a"), (0, 1, "a"), (1, 0, "a")];
        for step in 1..=5 {
            assert_eq!(ids(&edges, &["x", "y"], Some(0), step), ["a:x>y", "b:x>y", "a:x>y~2", "a:x>y~3", "a:y>x"]);
        }
        assert_eq!(ids(&edges[..2], &["x", "y"], None, 5), ["x>y", "x>y~2"]);
    }

    #[test]
    fn edges_of_nodes_with_one_key_have_ids_of_their_own() {
        let edges = [(0, 1, "r"), (0, 1, "r"), (2, 1, "r"), (2, 1, "r")];
        let parts = IdParts { relation: None, rows: true };
        assert_eq!(ids_of(&edges, &["a", "b", "a"], parts, 3), ["a>b~0-1", "a>b~0-1~2", "a>b~2-1", "a>b~2-1~2"]);
    }

    #[test]
    fn awkward_keys_make_no_two_equal_ids() {
        let keys = ["a", "a>b", "b", "b~2", ">", "\\", "a\\", "~2", "", ":", "r:a"];
        let pairs = (0..keys.len() as u64).flat_map(|from| (0..keys.len() as u64).map(move |to| (from, to)));
        let relations = ["", "r", "r:a", "\\", "r\\"];
        let edges: Vec<_> =
            pairs.flat_map(|(from, to)| relations.iter().flat_map(move |name| [(from, to, *name); 2])).collect();
        let mut found = ids(&edges, &keys, Some(0), 7);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), edges.len());
    }
}
