//! A sink that leaves out implied nodes of which nothing is said: edges that mention them say that they exist.

use arrow_array::{Array, BooleanArray};
use arrow_select::filter::filter;
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Delivery, Graph, NodeBatch, Sink, Written};

/// Gives a sink the nodes that state all that their type demands. Others come from [`super::Completed`].
pub struct Described<'a> {
    inner: Box<dyn Sink + 'a>,
    /// For each node type the properties that a node must state.
    required: Vec<Vec<usize>>,
}

impl<'a> Described<'a> {
    /// Before `inner`, a sink of `graph`.
    pub fn new(inner: Box<dyn Sink + 'a>, graph: &Graph) -> Self {
        let required = graph.nodes.iter().map(|ty| {
            let stated = ty.properties.iter().enumerate().filter(|(_, property)| ty.implied && !property.nullable);
            stated.map(|(at, _)| at).collect()
        });
        Described { inner, required: required.collect() }
    }

    /// The nodes of a batch that state what they must; nothing where none does.
    fn stated(&self, batch: NodeBatch) -> Result<Option<NodeBatch>> {
        let required = self.required.get(batch.ty).map(Vec::as_slice).unwrap_or_default();
        let column = |at: &usize| batch.properties.get(*at).and_then(Option::as_ref);
        if required.iter().all(|at| column(at).is_some_and(|column| column.null_count() == 0)) {
            return Ok(Some(batch));
        }
        let states = |row: usize| required.iter().all(|at| column(at).is_some_and(|column| column.is_valid(row)));
        let states: BooleanArray = (0..batch.rows).map(|row| Some(states(row))).collect();
        let rows = states.true_count();
        if rows == 0 {
            return Ok(None);
        }
        let keep = |column: &dyn Array| filter(column, &states).map_err(|error| Error::malformed(error.to_string()));
        let keys = batch.keys.as_ref().map(|keys| keep(keys.as_ref())).transpose()?;
        let properties =
            batch.properties.iter().map(|column| column.as_ref().map(|own| keep(own.as_ref())).transpose());
        Ok(Some(NodeBatch { rows, keys, properties: properties.collect::<Result<_>>()?, ..batch }))
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
