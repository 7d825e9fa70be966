//! A sink for the whole graph in front of one for what the files store.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, Int64Array};
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Columns, Delivery, Direction, EdgeBatch, NodeBatch, Property, Sink, Written};

use super::table::TableFiles;
use super::{Detachment, Naming};
use crate::mapping::view::positions;
use crate::sidecar::Bound;

/// Passes on what the files store, and writes the tables.
pub struct Detacher<'a> {
    inner: Box<dyn Sink + 'a>,
    record: Detachment,
    tables: Option<TableFiles>,
    bound: Arc<Mutex<Vec<Bound>>>,
}

impl<'a> Detacher<'a> {
    /// Creates a sink in front of `inner`, which writes `record.written`. Without `tables`, the rest is lost. What binds a sidecar to them is
    /// added to `bound`.
    pub(crate) fn new(
        inner: Box<dyn Sink + 'a>,
        record: &Detachment,
        tables: Option<TableFiles>,
        bound: &Arc<Mutex<Vec<Bound>>>,
    ) -> Self {
        Detacher { inner, record: record.clone(), tables, bound: Arc::clone(bound) }
    }

    fn nodes(&self, batch: NodeBatch) -> Result<NodeBatch> {
        let (whole, written) = (&self.record.whole.nodes, &self.record.written.nodes);
        let (Some(whole), Some(written)) = (whole.get(batch.ty), written.get(batch.ty)) else {
            return Err(Error::usage("no such node type"));
        };
        let keys = match self.record.naming {
            Naming::Keys | Naming::Numbers => batch.keys,
            Naming::Positions => Some(numbers_from(batch.start, batch.rows)?),
        };
        let labels = batch.labels.filter(|_| whole.labels == written.labels);
        let properties = kept(batch.properties, &whole.properties, &written.properties);
        Ok(NodeBatch { keys, labels, properties, ..batch })
    }

    fn edges(&self, batch: EdgeBatch) -> Result<EdgeBatch> {
        let (whole, written) = (&self.record.whole.edges, &self.record.written.edges);
        let (Some(whole), Some(written)) = (whole.get(batch.ty), written.get(batch.ty)) else {
            return Err(Error::usage("no such edge type"));
        };
        let directed = batch.directed.filter(|_| written.direction == Direction::PerRow);
        let properties = kept(batch.properties, &whole.properties, &written.properties);
        Ok(EdgeBatch { directed, properties, ..batch })
    }
}

/// The numbers of nodes from 1.
fn numbers_from(start: u64, rows: usize) -> Result<ArrayRef> {
    let first = i64::try_from(start).map_err(|_| Error::usage("too many nodes"))?;
    Ok(Arc::new(Int64Array::from_iter_values((first + 1..).take(rows))))
}

fn kept(mut columns: Columns, whole: &[Property], written: &[Property]) -> Columns {
    positions(written, whole).into_iter().map(|at| columns.get_mut(at?)?.take()).collect()
}

impl Sink for Detacher<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        self.inner.deliveries()
    }

    fn write(&mut self, delivery: usize, batch: Batch) -> Result<()> {
        let batch = match batch {
            Batch::Nodes(nodes) => {
                if let Some(tables) = &mut self.tables {
                    tables.nodes(&self.record, &nodes)?;
                }
                Batch::Nodes(self.nodes(nodes)?)
            }
            Batch::Edges(edges) => {
                if let Some(tables) = &mut self.tables {
                    tables.edges(&self.record, &edges)?;
                }
                Batch::Edges(self.edges(edges)?)
            }
            other => other,
        };
        self.inner.write(delivery, batch)
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let own = *self;
        let written = own.inner.finish()?;
        if let Some(tables) = own.tables {
            own.bound.lock().unwrap_or_else(PoisonError::into_inner).extend(tables.finish()?);
        }
        Ok(written)
    }
}
