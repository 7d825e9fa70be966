//! Applies a mapping without the row counts of its records, because the data may have changed.
//!
//! A conversion writes nodes of several types to one table type after type, so that the row counts show where each type
//! begins. If the table was edited since, rows may have been added and removed anywhere, so only the keys identify the
//! types: they are read once.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Graph, NodeType, Request, Source, Tables};
use isomorph_storage::Budget;

use super::{Divided, Ids, Layout, Mapping, Step, Unnumbered};
use crate::parallel;

/// Maximum number of runs that are remembered: more would take too much memory.
const MOST: usize = 1 << 24;

/// Nodes of one type that follow each other in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    /// The row of the first one in the table.
    at: u64,
    /// Number of nodes.
    rows: u64,
    /// Their type.
    ty: usize,
    /// The row of the first one within its type.
    start: u64,
}

/// The positions of the nodes of each type in one table of several types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// Ordered by the first row.
    runs: Vec<Run>,
}

impl Places {
    /// Reads the keys of the one node type of `inner`; `type_of` returns the type of a key.
    ///
    /// # Errors
    /// If a key belongs to no type, the keys cannot be read, or types alternate too often.
    pub(super) fn of(
        inner: &dyn Source,
        threads: usize,
        type_of: impl Fn(&str) -> Result<usize> + Sync,
    ) -> Result<Places> {
        let parts = inner.scan(&Request::of(Tables::NodeKeys(0)))?;
        let found = parallel::fold(parts, threads, Vec::new, |runs: &mut Vec<Run>, _, batch| {
            let Batch::Nodes(nodes) = batch else { return Ok(()) };
            let keys = nodes.keys.as_ref().and_then(|keys| keys.as_string_opt::<i32>());
            let keys = keys.ok_or_else(|| Error::unsupported("nodes must have text keys"))?;
            for (at, key) in (nodes.start..).zip(keys.iter()) {
                add(runs, Run { at, rows: 1, ty: type_of(key.unwrap_or_default())?, start: 0 })?;
            }
            Ok(())
        })?;
        let mut all: Vec<Run> = found.into_iter().flatten().collect();
        all.sort_unstable_by_key(|run| run.at);
        let mut runs = Vec::new();
        all.into_iter().try_for_each(|run| add(&mut runs, run))?;
        let mut next: Vec<u64> = Vec::new();
        for run in &mut runs {
            next.resize(next.len().max(run.ty + 1), 0);
            if let Some(next) = next.get_mut(run.ty) {
                run.start = *next;
                *next += run.rows;
            }
        }
        Ok(Places { runs })
    }

    /// The row within its type of the node at this row of the table.
    pub(super) fn row(&self, at: u64) -> Option<u64> {
        let run = self.runs.get(self.runs.partition_point(|run| run.at <= at).checked_sub(1)?)?;
        (at - run.at < run.rows).then(|| run.start + (at - run.at))
    }

    /// The row of the table of the node of type `ty` in row `row`.
    pub(super) fn at(&self, ty: usize, row: u64) -> Option<u64> {
        let run = self.runs.iter().find(|run| run.ty == ty && (run.start..run.start + run.rows).contains(&row))?;
        Some(run.at + (row - run.start))
    }

    /// Whether nodes are not stored type after type, so that row counts do not show where each type begins.
    pub(super) fn alternate(&self) -> bool {
        self.runs.windows(2).any(|runs| matches!(runs, [one, other] if one.ty >= other.ty))
    }

    /// Sets the number of nodes of each type.
    pub(super) fn count(&self, types: &mut [NodeType]) {
        for (at, ty) in types.iter_mut().enumerate() {
            ty.rows = Some(self.runs.iter().filter(|run| run.ty == at).map(|run| run.rows).sum());
        }
    }
}

/// Adds a run; extends the last run if possible.
fn add(runs: &mut Vec<Run>, run: Run) -> Result<()> {
    if let Some(last) = runs.last_mut().filter(|last| last.ty == run.ty && last.at + last.rows == run.at) {
        last.rows += run.rows;
        return Ok(());
    }
    if runs.len() >= MOST {
        return Err(Error::unsupported("nodes of several types alternate too often to be identified by their rows")
            .hint("--sidecar ignore    read the data without it"));
    }
    runs.push(run);
    Ok(())
}

/// Removes row counts, except as `found`, a graph with the same elements in other types, states them for all.
fn forget(graph: &mut Graph, found: Option<&Graph>) {
    graph.nodes.iter_mut().for_each(|ty| ty.rows = None);
    graph.edges.iter_mut().for_each(|ty| ty.rows = None);
    if let (Some(found), [node]) = (found, graph.nodes.as_mut_slice()) {
        node.rows = found.node_rows();
    }
    if let (Some(found), [edge]) = (found, graph.edges.as_mut_slice()) {
        edge.rows = found.edge_rows();
    }
}

impl Mapping {
    /// Shows `source` as the graph that it is mapped to, with row counts that are determined now, on this number of
    /// threads: the keys of nodes are read if several types share one table. Also returns whether the types alternate
    /// there.
    ///
    /// # Errors
    /// As [`Mapping::apply`]; also if keys cannot be read, or belong to no type.
    pub(crate) fn apply_anew(
        &self,
        source: Arc<dyn Source>,
        budget: &Budget,
        threads: usize,
    ) -> Result<(Arc<dyn Source>, bool)> {
        let (mut source, mut alternate) = (source, false);
        let mut divided = |source: Arc<dyn Source>, mut layout: Layout| -> Result<Arc<dyn Source>> {
            forget(&mut layout.typed, Some(source.graph()));
            let shown = Divided::of(source, layout)?.placed(threads)?;
            alternate |= shown.alternate();
            Ok(Arc::new(shown))
        };
        for step in &self.steps {
            let mut step = step.clone();
            source = match &mut step {
                Step::Shred(record) => divided(source, record.layout())?,
                Step::Split(record) => divided(source, record.layout())?,
                Step::Unnumber(record) => {
                    let found = source.graph().node_rows();
                    record.typed.edges.iter_mut().for_each(|ty| ty.rows = None);
                    if let (Ids::Keys, [node]) = (record.ids, record.typed.nodes.as_mut_slice()) {
                        node.rows = found;
                    }
                    let shown = Unnumbered::new(source, record, budget)?;
                    shown.check_rows(threads)?;
                    Arc::new(shown)
                }
                step => {
                    match step {
                        Step::Gather(record) => forget(&mut record.bundled, None),
                        Step::Scatter(record) => forget(&mut record.rdf, None),
                        Step::Lower(record) => forget(&mut record.graph, None),
                        _ => {}
                    }
                    Mapping { steps: vec![step.clone()] }.apply(source, budget)?
                }
            };
        }
        Ok((source, alternate))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph_model::Key;

    use super::*;

    fn places(types: &[usize]) -> Places {
        let mut runs = Vec::new();
        let mut next = [0; 2];
        for (at, ty) in (0..).zip(types) {
            add(&mut runs, Run { at, rows: 1, ty: *ty, start: next[*ty] }).unwrap();
            next[*ty] += 1;
        }
        Places { runs }
    }

    #[test]
    fn rows_of_types_that_alternate_are_found_in_both_directions() {
        let types = [0, 0, 1, 0, 1, 1];
        let places = places(&types);
        assert!(places.alternate() && !self::places(&[0, 0, 1]).alternate());
        assert_eq!(places.runs.len(), 4);
        let rows: Vec<_> = (0..7).map(|at| places.row(at)).collect();
        assert_eq!(rows, [Some(0), Some(1), Some(0), Some(2), Some(1), Some(2), None]);
        for (at, ty) in (0..).zip(types) {
            assert_eq!(places.at(ty, places.row(at).unwrap()), Some(at));
        }
        assert_eq!(places.at(1, 3), None);
        let mut counted = [NodeType::new("a", Key::utf8()), NodeType::new("b", Key::utf8())];
        places.count(&mut counted);
        assert_eq!(counted.map(|ty| ty.rows), [Some(3), Some(3)]);
    }
}
