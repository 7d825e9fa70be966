//! The values of node rows, apart from their names, in a form that can be compared.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use xxhash_rust::xxh3::xxh3_64;

use crate::columns::Column;

/// The values of a row, cell by cell. Truth 1.0, `is_rdf` false, no labels, no props and nulls do not count as values:
/// a shadow row cannot leave these cells out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// The partition that owns the node according to the row; -1 for the row's own.
    owner: i64,
    /// Hashes of truth, `is_rdf`, labels, props and further columns; 0 for no value.
    cells: Vec<u64>,
}

impl Said {
    /// Returns the values of row `row` of a batch in canonical spelling, in which equal values have equal texts.
    pub fn of(canonical: &RecordBatch, row: usize) -> Self {
        let hash = |bytes: &[u8]| xxh3_64(bytes).max(1);
        let truth = canonical.column(Column::Truth as usize).as_primitive::<Float64Type>().value(row);
        let is_rdf = canonical.column(Column::IsRdf as usize).as_boolean().value(row);
        let texts = canonical.columns().iter().skip(Column::Labels as usize).map(|column| {
            let texts = column.as_string::<i32>();
            // An empty text in a further column is a value; labels and props are never null here.
            let of_nine = |name: &str| name == Column::Labels.name() || name == Column::Props.name();
            (texts, of_nine)
        });
        let mut cells = vec![if truth == 1.0 { 0 } else { hash(&truth.to_le_bytes()) }, u64::from(is_rdf)];
        for ((texts, of_nine), field) in texts.zip(canonical.schema_ref().fields().iter().skip(Column::Labels as usize))
        {
            let silent = texts.is_null(row) || of_nine(field.name()) && texts.value(row).is_empty();
            cells.push(if silent { 0 } else { hash(texts.value(row).as_bytes()) });
        }
        let owner = canonical.column(Column::Shadow as usize).as_primitive::<Int64Type>().value(row);
        Said { owner, cells }
    }

    /// Returns the number of values: of the rows of a node without an owner, the one with the most values is chosen.
    pub fn cells(&self) -> usize {
        self.cells.iter().filter(|&&cell| cell != 0).count()
    }

    /// Returns whether this row has a value that `other` does not have.
    pub fn is_more_than(&self, other: &Said) -> bool {
        self.cells.iter().zip(&other.cells).any(|(own, other)| *own != 0 && own != other)
    }

    /// Returns whether both name the same owner.
    pub fn has_owner_of(&self, other: &Said) -> bool {
        self.owner == other.owner
    }
}
