//! Generates ids for edges without an id, for sinks that store edges by id.
//!
//! An id is made of what distinguishes the edge from others: its relation if there are several, and its ends,
//! `knows:1>2`. The second of parallel edges is `knows:1>2~2`. So an edge keeps its id when the graph grows elsewhere,
//! and the same graph has the same ids on any number of threads. `:` in relations, `>` in sources, `~` in targets and
//! `\` anywhere are escaped with `\`, so that no two edges have the same id. If several nodes have the same key, which
//! the sink treats as one node, the rows of the ends are part of the id: `knows:1>2~0-5`. Otherwise edges of two such
//! nodes would have the same id.

use std::fmt::Write;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use isomorph_error::{Error, Result};
use isomorph_model::{EdgeBatch, Ends};

/// The parts of ids, in addition to the keys of the ends.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IdParts {
    /// The property with the relation of an edge, if there is one.
    pub relation: Option<usize>,
    /// Whether several nodes can have the same key, so that only rows distinguish their edges.
    pub rows: bool,
}

/// Generates ids for edges that are sorted by their ends.
pub(super) struct Ids {
    parts: IdParts,
    /// Rows of the ends of the previous edge.
    last: Option<(u64, u64)>,
    /// Number of edges of each relation between these ends: the first `relations` entries.
    seen: Vec<(String, u64)>,
    relations: usize,
    text: String,
}

impl Ids {
    /// Creates a generator for ids of these parts.
    pub fn new(parts: IdParts) -> Self {
        Ids { parts, last: None, seen: Vec::new(), relations: 0, text: String::new() }
    }

    /// The ids of the next edges; `source` and `target` are the keys of their ends.
    ///
    /// # Errors
    /// If ends are not rows, or keys and relations are not text.
    pub fn of(&mut self, edges: &EdgeBatch, source: &ArrayRef, target: &ArrayRef) -> Result<StringArray> {
        let (Ends::Rows(from), Ends::Rows(to)) = (&edges.source, &edges.target) else {
            return Err(Error::usage("ids can only be generated for edges whose ends are rows"));
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
                // Writing to a string cannot fail.
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

    /// Number of edges of this relation between the ends so far, including this one.
    fn count(&mut self, relation: &str) -> u64 {
        let known = self.seen.iter_mut().take(self.relations).find(|(known, _)| known == relation);
        if let Some((_, count)) = known {
            *count += 1;
            return *count;
        }
        // The strings of previous ends are reused: nearly every edge comes here.
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
    column.as_string_opt::<i32>().ok_or_else(|| Error::usage("ids of edges can only be generated from text"))
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

    /// Ids of edges between nodes with these keys, in pieces of `step`.
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
                properties: vec![Some(Arc::new(names))],
                ..EdgeBatch::between(0, Ends::Rows(from), Ends::Rows(to))
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
