//! Rows of one name.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_tables::{Comparison, Predicate};

use crate::columns::Column;
use crate::rows::cast_strict;

/// Which rows are looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Named<'a> {
    /// Node rows of this node.
    Node(&'a str),
    /// Edge rows that leave this node.
    Source(&'a str),
    /// Edge rows that reach this node.
    Target(&'a str),
}

impl Named<'_> {
    /// The condition on flat rows.
    pub fn condition(self) -> Predicate {
        let kind = |comparison| Predicate::compare(Column::EdgeId.name(), comparison, 0i64);
        let (column, name, kind) = match self {
            Named::Node(name) => (Column::SrcName, name, kind(Comparison::Less)),
            Named::Source(name) => (Column::SrcName, name, kind(Comparison::GreaterOrEqual)),
            Named::Target(name) => (Column::DstName, name, kind(Comparison::GreaterOrEqual)),
        };
        Predicate::And(vec![Predicate::equal(column.name(), name), kind])
    }

    /// The same as a mask over rows that are at hand.
    ///
    /// # Errors
    /// When a column is of a type that cannot be compared.
    pub fn mask(self, flat: &RecordBatch) -> Result<BooleanArray> {
        let (column, name, nodes) = match self {
            Named::Node(name) => (Column::SrcName, name, true),
            Named::Source(name) => (Column::SrcName, name, false),
            Named::Target(name) => (Column::DstName, name, false),
        };
        let (Some(texts), Some(ids)) = (flat.column_by_name(column.name()), flat.column_by_name(Column::EdgeId.name()))
        else {
            return Ok(BooleanArray::from(vec![false; flat.num_rows()]));
        };
        let texts = cast_strict(texts, &DataType::Utf8, column.name())?;
        let texts = texts.as_string::<i32>();
        let ids = ids.as_primitive::<Int32Type>();
        let passes = |row: usize| (ids.value(row) < 0) == nodes && texts.is_valid(row) && texts.value(row) == name;
        Ok((0..flat.num_rows()).map(|row| Some(passes(row))).collect())
    }
}
