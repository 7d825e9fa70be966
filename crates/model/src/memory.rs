//! A graph held in memory: for tests, small inputs and users who build one by hand.

use isomorph_error::{Error, Result};

use crate::{Batch, EndForm, Ends, Graph, Part, Request, Source, Tables};

/// A [`Graph`] with its batches.
#[derive(Debug, Clone, Default)]
pub struct MemoryGraph {
    /// The description.
    pub graph: Graph,
    /// The rows, tables in any order, rows of a table in theirs.
    pub batches: Vec<Batch>,
}

struct One<'a>(&'a Batch);

impl Part for One<'_> {
    fn read(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        take(self.0.clone())
    }

    fn rows(&self) -> Option<u64> {
        Some(self.0.rows() as u64)
    }
}

impl MemoryGraph {
    /// Reads all of `source` into memory.
    ///
    /// # Errors
    /// When `source` cannot be read.
    pub fn read(source: &dyn Source) -> Result<Self> {
        let mut batches = Vec::new();
        for part in source.scan(&Request::of(Tables::All))? {
            part.read(&mut |batch| {
                batches.push(batch);
                Ok(())
            })?;
        }
        Ok(MemoryGraph { graph: source.graph().clone(), batches })
    }
}

impl Source for MemoryGraph {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn end_form(&self, ty: usize) -> EndForm {
        let rows = |batch: &Batch| matches!(batch, Batch::Edges(edges) if edges.ty == ty && matches!(edges.source, Ends::Rows(_)));
        if self.batches.iter().any(rows) { EndForm::Rows } else { EndForm::Keys }
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != crate::EdgeOrder::Any {
            return Err(Error::unsupported("a graph in memory has its edges in one order"));
        }
        let wanted = |batch: &&Batch| match (request.tables, *batch) {
            (Tables::All, _) => true,
            (Tables::AllNodes, batch) => matches!(batch, Batch::Nodes(_)),
            (Tables::AllEdges, batch) => matches!(batch, Batch::Edges(_)),
            (Tables::Nodes(ty) | Tables::NodeKeys(ty), Batch::Nodes(batch)) => batch.ty == ty,
            (Tables::Edges(ty) | Tables::EdgeEnds(ty), Batch::Edges(batch)) => batch.ty == ty,
            (Tables::Rest, Batch::Nodes(_) | Batch::Edges(_)) => false,
            (Tables::Rest, _) => true,
            _ => false,
        };
        Ok(self.batches.iter().filter(wanted).map(|batch| Box::new(One(batch)) as Box<dyn Part>).collect())
    }
}
