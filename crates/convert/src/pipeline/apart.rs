//! Nodes of several types that share one table, for sinks that need them type by type: they are read once, and stored
//! by type.

use std::ops::Deref;

use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Part, Request, Run, Source, Tables, part};
use isomorph_storage::Resources;
use isomorph_tables::by_table::{Apart, Collecting};

use crate::mapping::forward;
use crate::parallel;
use crate::progress::Progress;
use crate::spilled_rows::{node_batch, node_record, node_schema};

/// The share of the memory that these nodes may use, as a divisor.
const SHARE: u64 = 8;

/// Whether a pass over the nodes of each type reads all of them each time.
pub(crate) fn is_mixed(source: &dyn Source) -> bool {
    source.graph().nodes.len() > 1 && source.is_one_table(Tables::AllNodes)
}

/// A source whose nodes have been read and are stored by type; everything else is read from the source.
pub(crate) struct NodesApart<S> {
    inner: S,
    nodes: Apart,
}

impl<S> NodesApart<S>
where
    S: Deref + Send + Sync,
    S::Target: Source,
{
    /// Reads the nodes of all types, once.
    ///
    /// # Errors
    /// If they cannot be read, or there is no space for temporary files.
    pub fn read(inner: S, resources: &Resources, progress: &dyn Progress) -> Result<Self> {
        let types = inner.graph().nodes.as_slice();
        let memory = resources.budget.limit() / SHARE;
        let mut nodes = Collecting::new(types.iter().map(node_schema), &resources.budget, &resources.scratch, memory)?;
        let parts = inner.scan(&Request::of(Tables::AllNodes))?;
        progress.begin("nodes", parts.iter().map(|part| part.rows()).sum());
        let prepare = |batch: Batch| {
            let Batch::Nodes(batch) = batch else { return Err(Error::usage("expected a batch of nodes")) };
            let ty = types.get(batch.ty).ok_or_else(|| Error::usage("no such node type"))?;
            Ok((batch.ty, node_record(ty, &batch)?))
        };
        let read = parallel::in_order(parts, resources.threads, prepare, |(ty, batch)| {
            progress.advance(batch.num_rows() as u64)?;
            nodes.push(ty, &batch)
        });
        progress.end();
        read?;
        let nodes = nodes.finish()?;
        Ok(NodesApart { nodes, inner })
    }

    /// The nodes of a type, in one part for each block.
    fn parts<'a>(&'a self, ty: usize, at_once: usize) -> Result<Run<'a>> {
        let own = self.inner.graph().nodes.get(ty).ok_or_else(|| Error::usage("no such node type"))?;
        let mut start = 0;
        let parts = self.nodes.blocks(ty).enumerate().map(|(block, rows)| {
            let first = start;
            start += rows as u64;
            let mut left = None;
            let mut next = move || -> Result<Option<Batch>> {
                let (nodes, from) = match left.take() {
                    Some(left) => left,
                    None => (node_batch(own, ty, first, &self.nodes.read(ty, block)?)?, 0),
                };
                if from >= nodes.rows {
                    return Ok(None);
                }
                let some = nodes.slice(from, at_once.min(nodes.rows - from));
                left = Some((nodes, from + some.rows));
                Ok(Some(Batch::Nodes(some)))
            };
            part::of(Some(rows as u64), std::iter::from_fn(move || next().transpose()))
        });
        Ok(parts.collect())
    }
}

impl<S> Source for NodesApart<S>
where
    S: Deref + Send + Sync,
    S::Target: Source,
{
    forward!(inner: graph edge_orders runs end_form about neighbors);

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let types = match request.tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => ty..ty + 1,
            Tables::AllNodes | Tables::All => 0..self.inner.graph().nodes.len(),
            _ => return self.inner.scan(request),
        };
        let mut parts = Vec::new();
        for ty in types {
            parts.extend(self.parts(ty, request.batch_rows.max(1))?);
        }
        if request.tables == Tables::All {
            parts.extend(self.inner.scan(&request.for_tables(Tables::AllEdges))?);
            parts.extend(self.inner.scan(&request.for_tables(Tables::Rest))?);
        }
        Ok(parts)
    }

    fn is_one_table(&self, tables: Tables) -> bool {
        tables == Tables::AllEdges && self.inner.is_one_table(tables)
    }
}
