//! Tables in memory: results of look-ups and draws, and tables that were read.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use isomorph::dataset::{Cancel, ROLE};
use isomorph::model::Filter;
use isomorph::{Error, Result, did_you_mean};

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

    /// The position of a column, by name or `@ROLE`.
    fn position(&self, name: &str) -> Result<usize> {
        let fields = self.schema.fields();
        let by_role =
            |role: &str| fields.iter().position(|field| field.metadata().get(ROLE).is_some_and(|own| own == role));
        let found = name.strip_prefix('@').and_then(by_role);
        found.or_else(|| fields.iter().position(|field| field.name() == name)).ok_or_else(|| {
            let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
            let near = did_you_mean(name, names.iter().copied());
            let error = Error::usage(format!("the table has no column {name}{near}"));
            error.hint(format!("its columns are {}", names.join(", ")))
        })
    }

    fn positions(&self, shape: &Shape) -> Result<Option<Vec<usize>>> {
        let Some(names) = &shape.columns else { return Ok(None) };
        let positions = names.iter().map(|name| self.position(name)).collect::<Result<Vec<_>>>()?;
        match positions.iter().enumerate().find(|(at, position)| positions[..*at].contains(position)) {
            Some((at, _)) => Err(Error::usage(format!("column {} is requested twice", names[at]))),
            None => Ok(Some(positions)),
        }
    }
}

fn broken(error: arrow_schema::ArrowError) -> Error {
    Error::malformed(error.to_string()).caused_by(error)
}

impl Rows for InMemory {
    fn schema(&self, shape: &Shape) -> Result<SchemaRef> {
        match self.positions(shape)? {
            None => Ok(Arc::clone(&self.schema)),
            Some(positions) => self.schema.project(&positions).map(Arc::new).map_err(broken),
        }
    }

    fn rows(&self) -> Option<u64> {
        Some(self.batches.iter().map(|batch| batch.num_rows() as u64).sum())
    }

    fn exact_rows(&self) -> Result<Option<u64>> {
        Ok(self.rows())
    }

    fn read(&self, shape: &Shape, _cancel: &Cancel) -> Result<Box<dyn Reader>> {
        let (schema, positions) = (self.schema(shape)?, self.positions(shape)?);
        let bound = shape
            .filter
            .as_ref()
            .map(|filter| filter.renamed(&mut |name| Ok(self.schema.field(self.position(name)?).name().clone())));
        let filter = bound.transpose()?.map(|filter| Filter::new(&filter, &self.schema)).transpose()?;
        let mut left = shape.limit.map_or(usize::MAX, isomorph::error::index);
        let mut batches = Vec::new();
        for batch in &self.batches {
            let mut batch = batch.clone();
            if let Some(filter) = &filter {
                batch = filter_record_batch(&batch, &BooleanArray::from(filter.passing(&batch)?)).map_err(broken)?;
            }
            if let Some(positions) = &positions {
                batch = batch.project(positions).map_err(broken)?;
            }
            batch = batch.slice(0, batch.num_rows().min(left));
            left -= batch.num_rows();
            if batch.num_rows() > 0 {
                batches.push(batch);
            }
        }
        Ok(Box::new(Held::new(schema, batches)))
    }
}
