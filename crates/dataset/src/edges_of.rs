//! Edges of one node, from where they lie.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use isomorph_error::{Error, Result};
use isomorph_model::{NodeId, Part, Side};

use crate::dataset::Dataset;
use crate::rows::{Rows, is_of};
use crate::table::TableKind;

/// The edges of one node as record batches, with all columns of their table. They are read as they are asked for; behind an error there is
/// nothing.
pub struct EdgesOf<'d> {
    part: Option<Box<dyn Part + 'd>>,
    kind: TableKind,
    rows: Rows,
}

impl std::fmt::Debug for EdgesOf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EdgesOf").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl EdgesOf<'_> {
    /// The columns of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.rows.schema
    }
}

impl Iterator for EdgesOf<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let batch = match self.part.as_mut()?.next() {
                Some(Ok(batch)) if is_of(self.kind, &batch) => self.rows.of(&batch),
                Some(Ok(_)) => continue,
                Some(Err(error)) => Err(error),
                None => {
                    self.part = None;
                    return None;
                }
            };
            if batch.is_err() {
                self.part = None;
            }
            return Some(batch);
        }
    }
}

impl Dataset {
    /// The edges of a table that leave a node ([`Side::Out`]) or reach it, by an index or a sorted list where the format has one, and else
    /// by a pass. Edges without a direction are found from the side on which the format has the node; ask both sides for all of them.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] when the table is none of edges; [`isomorph_error::Kind::NotFound`] when there is no such node;
    /// [`isomorph_error::Kind::Unsupported`] when the format has no look-ups.
    pub fn edges_of(&self, table: &str, node: NodeId<'_>, side: Side) -> Result<EdgesOf<'_>> {
        let table = self.table(table)?;
        let TableKind::Edges(ty) = table.kind() else {
            return Err(Error::usage(format!("{} is no table of edges", table.name())));
        };
        let part = self.source().neighbors(ty, node, side)?;
        let rows =
            Rows { keys: Arc::clone(self.keys()), roles: table.roles().to_vec(), schema: Arc::clone(table.schema()) };
        Ok(EdgesOf { part: Some(part), kind: table.kind(), rows })
    }
}
