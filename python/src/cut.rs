//! The part of record batches that a table asks for.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::filter::filter_record_batch;
use isomorph::dataset::ROLE;
use isomorph::model::Filter;
use isomorph::{Error, Result, did_you_mean};

use crate::table::Shape;

/// Some columns of the first rows that pass a filter, of batches that come one after another.
pub(crate) struct Cut {
    schema: SchemaRef,
    positions: Option<Vec<usize>>,
    filter: Option<Filter>,
    left: usize,
}

impl Cut {
    /// The part `shape` of batches with the columns of `whole`.
    pub(crate) fn new(whole: &SchemaRef, shape: &Shape) -> Result<Cut> {
        let positions = positions(whole, shape)?;
        let schema = match &positions {
            None => Arc::clone(whole),
            Some(positions) => whole.project(positions).map(Arc::new).map_err(broken)?,
        };
        let name = |name: &str| Ok(whole.field(position(whole, name)?).name().clone());
        let bound = shape.filter.as_ref().map(|filter| filter.renamed(&mut |text| name(text))).transpose()?;
        let filter = bound.map(|filter| Filter::new(&filter, whole)).transpose()?;
        Ok(Cut { schema, positions, filter, left: shape.limit.map_or(usize::MAX, isomorph::error::index) })
    }

    /// The columns of the part.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Whether no more rows are wanted.
    pub(crate) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// The part of the next batch.
    pub(crate) fn apply(&mut self, mut batch: RecordBatch) -> Result<RecordBatch> {
        if let Some(filter) = &self.filter {
            batch = filter_record_batch(&batch, &BooleanArray::from(filter.passing(&batch)?)).map_err(broken)?;
        }
        if let Some(positions) = &self.positions {
            batch = batch.project(positions).map_err(broken)?;
        }
        batch = batch.slice(0, batch.num_rows().min(self.left));
        self.left -= batch.num_rows();
        Ok(batch)
    }
}

/// The position of a column, by name or `@ROLE`; a column that is itself called so comes first.
fn position(schema: &SchemaRef, name: &str) -> Result<usize> {
    let fields = schema.fields();
    let by_role =
        |role: &str| fields.iter().position(|field| field.metadata().get(ROLE).is_some_and(|own| own == role));
    let by_name = fields.iter().position(|field| field.name() == name);
    by_name.or_else(|| name.strip_prefix('@').and_then(by_role)).ok_or_else(|| {
        let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
        let near = did_you_mean(name, names.iter().copied());
        let error = Error::usage(format!("the table has no column {name}{near}"));
        error.hint(format!("its columns are {}", names.join(", ")))
    })
}

fn positions(schema: &SchemaRef, shape: &Shape) -> Result<Option<Vec<usize>>> {
    let Some(names) = &shape.columns else { return Ok(None) };
    let positions = names.iter().map(|name| position(schema, name)).collect::<Result<Vec<_>>>()?;
    match positions.iter().enumerate().find(|(at, position)| positions[..*at].contains(position)) {
        Some((at, _)) => Err(Error::usage(format!("column {} is requested twice", names[at]))),
        None => Ok(Some(positions)),
    }
}

fn broken(error: ArrowError) -> Error {
    Error::malformed(error.to_string()).caused_by(error)
}
