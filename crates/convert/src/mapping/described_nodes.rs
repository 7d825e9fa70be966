//! A sink that omits implied nodes without properties: the edges that refer to them imply that they exist.

use arrow_array::Array;
use isomorph_error::Result;
use isomorph_model::{Batch, Delivery, Graph, NodeBatch, Sink, Written};

use super::view::Rows;

/// Passes on only the nodes that have every property that their type requires. [`super::Completed`] adds the others.
pub struct Described<'a> {
    inner: Box<dyn Sink + 'a>,
    /// For each node type, the properties that a node must have.
    required: Vec<Vec<usize>>,
}

impl<'a> Described<'a> {
    /// Creates a filter in front of `inner`, a sink of `graph`.
    pub fn new(inner: Box<dyn Sink + 'a>, graph: &Graph) -> Self {
        let required = graph.nodes.iter().map(|ty| {
            let stated = ty.properties.iter().enumerate().filter(|(_, property)| ty.implied && !property.nullable);
            stated.map(|(at, _)| at).collect()
        });
        Described { inner, required: required.collect() }
    }

    /// The nodes of a batch that have all required properties; `None` if there is none.
    fn stated(&self, batch: NodeBatch) -> Result<Option<NodeBatch>> {
        let required = self.required.get(batch.ty).map(Vec::as_slice).unwrap_or_default();
        let column = |at: &usize| batch.properties.get(*at).and_then(Option::as_ref);
        if required.iter().all(|at| column(at).is_some_and(|column| column.null_count() == 0)) {
            return Ok(Some(batch));
        }
        let states = |row: usize| required.iter().all(|at| column(at).is_some_and(|column| column.is_valid(row)));
        let rows = Rows::that(batch.rows, states);
        if rows.len() == 0 {
            return Ok(None);
        }
        let keys = batch.keys.as_ref().map(|keys| rows.of(keys)).transpose()?;
        let properties = rows.of_columns(&batch.properties)?;
        Ok(Some(NodeBatch { rows: rows.len(), keys, properties, ..batch }))
    }
}

impl Sink for Described<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        self.inner.deliveries()
    }

    fn write(&mut self, delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => match self.stated(nodes)? {
                Some(nodes) => self.inner.write(delivery, Batch::Nodes(nodes)),
                None => Ok(()),
            },
            other => self.inner.write(delivery, other),
        }
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        self.inner.finish()
    }
}
