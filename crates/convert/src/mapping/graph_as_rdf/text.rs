//! Reads an RDF text as a property graph, in one pass.

use isomorph_error::Result;
use isomorph_model::{EndForm, Graph, Part, Progress, Request, Source};
use isomorph_rdf::{OpenOptions, Text};
use isomorph_storage::{Budget, Location};

use super::in_memory::InMemory;
use super::{Lifting, end_form, types_of};

/// The rows of a text that was lifted from a property graph. Its writer does not need the list of nodes, and duplicate
/// triples make one row.
pub struct LoweredText {
    rows: InMemory,
    graph: Graph,
}

impl LoweredText {
    /// Reads the text; returns `None` if its rows do not fit into memory.
    ///
    /// # Errors
    /// If it cannot be read, or does not describe a graph of the record.
    pub fn read(
        location: &Location,
        options: &OpenOptions,
        record: &Lifting,
        budget: &Budget,
        progress: &dyn Progress,
    ) -> Result<Option<LoweredText>> {
        let text = Text::open_as(location, options.syntax, options.packing)?;
        let rows = InMemory::of_quads(record, budget, progress, |take| text.read(&options.read, take).map(|_| ()))?;
        Ok(rows.map(|rows| LoweredText { rows, graph: record.graph.clone() }))
    }
}

impl Source for LoweredText {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (nodes, edges) = types_of(&self.graph, request.tables);
        Ok(self.rows.parts(nodes, edges, request.batch_rows))
    }

    fn end_form(&self, ty: usize) -> EndForm {
        end_form(&self.graph, ty)
    }
}
