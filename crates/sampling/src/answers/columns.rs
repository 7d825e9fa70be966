//! What was drawn, as columns.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use isomorph_error::{Error, Result};

use super::keyed::KeyedGraph;

/// What was drawn: columns of equal length.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// `nodes`, `edges`, `neighbors`, `walks` or `features`.
    pub what: &'static str,
    /// In words, how it was drawn.
    pub how: String,
    /// Of elements of the whole graph: from how many they were drawn.
    pub from: Option<u64>,
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
    /// Of columns with keys as texts, which of these are numbers; lists one after another.
    numbers: Vec<Option<Vec<bool>>>,
    /// Edges that are parallel to those whose features are given, and whose own are not.
    pub hidden: usize,
}

impl Drawn {
    /// Nothing yet.
    pub(super) fn new(what: &'static str, how: String) -> Self {
        Drawn { what, how, from: None, fields: Vec::new(), columns: Vec::new(), numbers: Vec::new(), hidden: 0 }
    }

    /// Adds a column.
    pub(super) fn column(&mut self, name: &str, column: ArrayRef) {
        self.fields.push(Field::new(name, column.data_type().clone(), true));
        self.columns.push(column);
        self.numbers.push(None);
    }

    /// Whether there is a column of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name() == name)
    }

    /// Adds a column of the keys of nodes.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(super) fn keys(&mut self, name: &str, graph: &KeyedGraph, ids: &[i64]) -> Result<()> {
        self.column(name, graph.keys(ids)?);
        self.set_numbers(graph.numbers(ids));
        Ok(())
    }

    /// Says which of the texts in the last column are numbers.
    pub(super) fn set_numbers(&mut self, numbers: Option<Vec<bool>>) {
        if let Some(last) = self.numbers.last_mut() {
            *last = numbers;
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.len())
    }

    /// The columns with their fields.
    pub fn columns(&self) -> impl Iterator<Item = (&Field, &ArrayRef)> {
        self.fields.iter().zip(&self.columns)
    }

    /// Of each column whose keys are texts because types differ in their keys: which of the keys are numbers, those in lists one after
    /// another.
    pub fn numbers(&self) -> impl Iterator<Item = Option<&[bool]>> {
        self.numbers.iter().map(Option::as_deref)
    }

    /// The columns as one record batch.
    ///
    /// # Errors
    /// When they do not fit together.
    pub fn to_record_batch(&self) -> Result<RecordBatch> {
        let schema = Arc::new(Schema::new(self.fields.clone()));
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows()));
        RecordBatch::try_new_with_options(schema, self.columns.clone(), &options)
            .map_err(|error| Error::usage("the answer cannot be shown").caused_by(error))
    }
}
