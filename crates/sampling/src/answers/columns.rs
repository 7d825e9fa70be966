//! The result of a draw, as columns.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use isomorph_error::{Error, Result};

use super::keyed::KeyedGraph;

/// The result of a draw: columns of equal length.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// `nodes`, `edges`, `neighbors`, `walks` or `features`.
    pub what: &'static str,
    /// How it was drawn, in words.
    pub how: String,
    /// For elements of the whole graph: the number from which they were drawn.
    pub from: Option<u64>,
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
    /// For columns with keys as text: which of the keys are numbers, with lists one after another.
    numbers: Vec<Option<Vec<bool>>>,
    /// Number of edges that are parallel to those with returned features, and whose own features are not returned.
    pub hidden: usize,
}

impl Drawn {
    /// Creates a result without columns.
    pub(super) fn new(what: &'static str, how: String) -> Self {
        Drawn { what, how, from: None, fields: Vec::new(), columns: Vec::new(), numbers: Vec::new(), hidden: 0 }
    }

    /// Adds a column.
    pub(super) fn column(&mut self, name: &str, column: ArrayRef) {
        self.fields.push(Field::new(name, column.data_type().clone(), true));
        self.columns.push(column);
        self.numbers.push(None);
    }

    /// Returns whether there is a column with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name() == name)
    }

    /// Adds a column of node keys.
    ///
    /// # Errors
    /// Returns an error if the keys cannot be read.
    pub(super) fn keys(&mut self, name: &str, graph: &KeyedGraph, ids: &[i64]) -> Result<()> {
        self.column(name, graph.keys(ids)?);
        self.set_numbers(graph.numbers(ids));
        Ok(())
    }

    /// Adds a column of node keys, and one of their types if the graph has several: nodes of two types can have the same key.
    ///
    /// # Errors
    /// Returns an error if the keys cannot be read.
    pub(super) fn typed_keys(&mut self, name: &str, graph: &KeyedGraph, ids: &[i64]) -> Result<()> {
        self.keys(name, graph, ids)?;
        if let Some(types) = graph.types_of(ids) {
            self.column(&format!("{name}_type"), types);
        }
        Ok(())
    }

    /// Sets which of the texts in the last column are numbers.
    pub(super) fn set_numbers(&mut self, numbers: Option<Vec<bool>>) {
        if let Some(last) = self.numbers.last_mut() {
            *last = numbers;
        }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.len())
    }

    /// Returns the columns and their fields.
    pub fn columns(&self) -> impl Iterator<Item = (&Field, &ArrayRef)> {
        self.fields.iter().zip(&self.columns)
    }

    /// Returns, for each column whose keys are text because types have different keys, which of the keys are numbers,
    /// with lists one after another.
    pub fn numbers(&self) -> impl Iterator<Item = Option<&[bool]>> {
        self.numbers.iter().map(Option::as_deref)
    }

    /// Returns the columns as one record batch.
    ///
    /// # Errors
    /// Returns an error if they do not have the same length.
    pub fn to_record_batch(&self) -> Result<RecordBatch> {
        let schema = Arc::new(Schema::new(self.fields.clone()));
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows()));
        RecordBatch::try_new_with_options(schema, self.columns.clone(), &options)
            .map_err(|error| Error::usage("the result is not a valid record batch").caused_by(error))
    }
}
