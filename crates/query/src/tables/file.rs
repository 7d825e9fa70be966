//! A file as a table.

use std::sync::{Arc, OnceLock};

use arrow_schema::{FieldRef, Schema, SchemaRef};
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use futures::StreamExt;
use isomorph::dataset::PlannedRead;
use isomorph::formats::flat::PlainTable;
use isomorph::tables::Selection;
use isomorph::{Predicate, Result};

use crate::tables::columns::{Column, in_sql};
use crate::tables::parts::{Part, Rows, Wanted};
use crate::tables::table::shown;

/// The most parts that a file is divided into.
const PARTS: usize = 64;

/// A table in one file. Conditions are the engine's.
#[derive(Debug)]
pub(crate) struct FileTable {
    table: PlainTable,
    schema: SchemaRef,
    statistics: OnceLock<Statistics>,
}

impl FileTable {
    pub fn new(table: PlainTable) -> Self {
        let schema = table.schema();
        let fields: Vec<FieldRef> = schema.fields().iter().map(in_sql).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        FileTable { table, schema, statistics: OnceLock::new() }
    }
}

impl Rows for FileTable {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn column(&self, _: &str) -> Option<Column> {
        None
    }

    fn statistics(&self) -> Statistics {
        let known = || {
            let rows = self.table.reader().row_count().and_then(|rows| usize::try_from(rows).ok());
            // A footer is what its writer says.
            Statistics {
                num_rows: rows.map_or(Precision::Absent, Precision::Inexact),
                ..Statistics::new_unknown(&self.schema)
            }
        };
        self.statistics.get_or_init(known).clone()
    }

    fn fraction(&self, _: &Predicate) -> f64 {
        0.2
    }

    fn parts(&self, wanted: &Wanted) -> Result<Vec<Part>> {
        let reader = self.table.reader();
        let names: Vec<String> = wanted
            .columns
            .iter()
            .filter_map(|at| self.schema.fields().get(*at).map(|field| field.name().clone()))
            .collect();
        let schema = self.schema.project(&wanted.columns).map(Arc::new);
        let schema = schema.map_err(|error| isomorph::Error::usage(error.to_string()))?;
        let all = || Selection::all().columns(names.iter().map(String::as_str));
        let groups = reader.row_groups();
        let ranges: Vec<_> = (0..groups).map(|group| reader.rows_of_group(group)).collect();
        let selections: Vec<Selection> = match ranges.into_iter().collect::<Option<Vec<_>>>() {
            Some(ranges) if groups > 1 && wanted.limit.is_none() => {
                ranges.chunks(groups.div_ceil(PARTS)).map(|ranges| all().rows(ranges.iter().cloned())).collect()
            }
            _ => vec![all()],
        };
        let part = |selection: Selection| {
            let (reader, schema) = (reader.clone(), Arc::clone(&schema));
            let mut left = wanted.limit;
            let batches = std::iter::once_with(move || reader.batches(&selection));
            let batches = batches.flat_map(|batches| -> Box<dyn Iterator<Item = Result<_>> + Send> {
                match batches {
                    Ok(batches) => Box::new(batches),
                    Err(error) => Box::new(std::iter::once(Err(error))),
                }
            });
            let batches = batches.map_while(move |batch| match &mut left {
                Some(0) => None,
                Some(left) => Some(batch.map(|batch| {
                    let rows = batch.num_rows().min(*left);
                    *left -= rows;
                    batch.slice(0, rows)
                })),
                None => Some(batch),
            });
            futures::stream::iter(batches.map(move |batch| shown(&batch?, &schema, 0))).boxed()
        };
        Ok(selections.into_iter().map(part).collect())
    }

    fn reads(&self, wanted: &Wanted) -> Result<Vec<PlannedRead>> {
        let reader = self.table.reader();
        let name = |at: &usize| self.schema.fields().get(*at).map(|field| field.name().clone());
        let columns: Vec<String> = wanted.columns.iter().filter_map(name).collect();
        let bytes = columns.iter().map(|name| Ok(reader.column_statistics(name)?.bytes.value().copied()));
        let bytes: Option<u64> = bytes.collect::<Result<Vec<_>>>()?.into_iter().sum();
        let is_known = bytes.is_some();
        let bytes = Some(bytes.unwrap_or_else(|| self.table.bytes()));
        let (table, way) = (self.table.name().to_owned(), self.way(wanted));
        Ok(vec![PlannedRead { table, columns, way, bytes, is_most: !is_known || wanted.limit.is_some() }])
    }

    fn way(&self, _: &Wanted) -> String {
        "file".to_owned()
    }
}
