//! Tables in memory: results of look-ups and draws, and tables that were read.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use isomorph::Result;
use isomorph::dataset::Cancel;

use crate::cut::Cut;
use crate::reader::{Held, Reader};
use crate::table::{Rows, Shape};

/// Record batches of one schema.
#[derive(Debug)]
pub(crate) struct InMemory {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl InMemory {
    /// A table of these batches.
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        InMemory { schema, batches }
    }
}

impl Rows for InMemory {
    fn schema(&self, shape: &Shape) -> Result<SchemaRef> {
        Cut::new(&self.schema, shape).map(|cut| Arc::clone(cut.schema()))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.batches.iter().map(|batch| batch.num_rows() as u64).sum())
    }

    fn exact_rows(&self) -> Result<Option<u64>> {
        Ok(self.rows())
    }

    fn read(&self, shape: &Shape, _cancel: &Cancel) -> Result<Box<dyn Reader>> {
        let mut cut = Cut::new(&self.schema, shape)?;
        let mut batches = Vec::new();
        for batch in &self.batches {
            batches.extend(Some(cut.apply(batch.clone())?).filter(|batch| batch.num_rows() > 0));
        }
        Ok(Box::new(Held::new(Arc::clone(cut.schema()), batches)))
    }
}
