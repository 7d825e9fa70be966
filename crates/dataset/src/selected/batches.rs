//! Rows of batches that are kept.

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray, UInt32Array, UInt64Array};
use arrow_buffer::BooleanBuffer;
use arrow_select::filter::{FilterBuilder, FilterPredicate};
use isomorph_error::{Error, Result};
use isomorph_model::{Columns, EdgeBatch, Ends, LabelColumn, Relations};

/// Some rows of a batch.
pub(crate) struct Rows {
    mask: BooleanBuffer,
    filter: FilterPredicate,
}

impl Rows {
    /// The rows at which `mask` is set.
    pub fn new(mask: BooleanBuffer) -> Self {
        let filter = FilterBuilder::new(&BooleanArray::from(mask.clone())).optimize().build();
        Rows { mask, filter }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.filter.count()
    }

    /// Selects these rows of a column.
    ///
    /// # Errors
    /// If it has another number of rows.
    pub fn of(&self, column: &dyn Array) -> Result<ArrayRef> {
        self.filter.filter(column).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
    }

    /// The same for a column whose type is known.
    ///
    /// # Errors
    /// As [`Rows::of`].
    pub fn of_typed<A: Array + Clone + 'static>(&self, column: &A) -> Result<A> {
        let rows = self.of(column)?;
        let typed = rows.as_any().downcast_ref::<A>();
        typed.cloned().ok_or_else(|| Error::usage("the type of the rows differs from that of their column"))
    }

    /// The same for properties.
    ///
    /// # Errors
    /// As [`Rows::of`].
    pub fn of_columns(&self, columns: Columns) -> Result<Columns> {
        columns.into_iter().map(|column| column.map(|column| self.of(&column)).transpose()).collect()
    }

    /// The same for labels.
    pub fn of_labels(&self, labels: &LabelColumn) -> LabelColumn {
        labels.keep(&self.mask)
    }

    /// The same for ends, without renumbering.
    ///
    /// # Errors
    /// As [`Rows::of`].
    pub fn of_ends(&self, ends: &Ends) -> Result<Ends> {
        Ok(match ends {
            Ends::Rows(rows) => Ends::Rows(self.of_typed::<UInt64Array>(rows)?),
            Ends::Keys(keys) => Ends::Keys(self.of(keys)?),
        })
    }

    /// The same for a batch of edges, whose ends are not renumbered.
    ///
    /// # Errors
    /// As [`Rows::of`].
    pub fn of_edges(&self, edges: EdgeBatch) -> Result<EdgeBatch> {
        let relations = edges.relations.as_ref().map(|all| -> Result<Relations> {
            Ok(Relations { names: StringArray::clone(&all.names), index: self.of_typed::<UInt32Array>(&all.index)? })
        });
        let both = |(source, target): &(ArrayRef, ArrayRef)| -> Result<_> { Ok((self.of(source)?, self.of(target)?)) };
        let layers = edges.layers.as_ref().map(both);
        Ok(EdgeBatch {
            ty: edges.ty,
            rows: self.len(),
            relations: relations.transpose()?,
            source: self.of_ends(&edges.source)?,
            target: self.of_ends(&edges.target)?,
            layers: layers.transpose()?,
            directed: edges.directed.as_ref().map(|directed| self.of_typed(directed)).transpose()?,
            keys: edges.keys.as_ref().map(|keys| self.of(keys)).transpose()?,
            properties: self.of_columns(edges.properties)?,
        })
    }

    /// The same for coefficients.
    ///
    /// # Errors
    /// As [`Rows::of`].
    pub fn of_numbers(&self, numbers: Option<&Float64Array>) -> Result<Option<Float64Array>> {
        numbers.map(|numbers| self.of_typed(numbers)).transpose()
    }
}
