//! Rows with one name.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::{Comparison, Predicate};

use crate::columns::Column;
use crate::rows::cast_strict;

/// The rows that a look-up searches.
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
    /// Returns the column with the name.
    pub fn column(self) -> Column {
        match self {
            Named::Node(_) | Named::Source(_) => Column::SrcName,
            Named::Target(_) => Column::DstName,
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        match self {
            Named::Node(name) | Named::Source(name) | Named::Target(name) => name,
        }
    }

    /// Returns the constructor of this variant.
    pub fn kind(self) -> for<'n> fn(&'n str) -> Named<'n> {
        match self {
            Named::Node(_) => |name| Named::Node(name),
            Named::Source(_) => |name| Named::Source(name),
            Named::Target(_) => |name| Named::Target(name),
        }
    }

    /// Returns the condition on flat rows.
    pub fn condition(self) -> Predicate {
        let comparison = match self {
            Named::Node(_) => Comparison::Less,
            Named::Source(_) | Named::Target(_) => Comparison::GreaterOrEqual,
        };
        let kind = Predicate::compare(Column::EdgeId.name(), comparison, 0i64);
        Predicate::And(vec![Predicate::equal(self.column().name(), self.name()), kind])
    }

    /// Returns the condition as a mask over rows in memory.
    ///
    /// # Errors
    /// Returns an error if a column has a type that cannot be compared.
    pub fn mask(self, flat: &RecordBatch) -> Result<BooleanArray> {
        let (column, name, nodes) = (self.column(), self.name(), matches!(self, Named::Node(_)));
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
