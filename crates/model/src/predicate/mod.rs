//! Conditions on the columns of a table: what may be skipped by statistics, and which rows pass.

mod any_of;
mod bind;
mod dynamic;
mod evaluate;
mod extremes;
mod like;
mod literal;
mod prune;
mod set;
#[cfg(test)]
mod tests;
mod value;

use std::fmt;

use bind::BoundPredicate;
pub use bind::{nanoseconds, value_type};
pub use dynamic::{DynamicFilter, Renamed};
pub use extremes::extremes;
pub use literal::Literal;
pub use prune::Bounds;
pub use set::Set;
pub use value::{Decimal, Value};

use arrow_array::RecordBatch;
use arrow_buffer::BooleanBuffer;
use arrow_schema::Schema;
use isomorph_error::{Error, Result};

/// A condition on the columns of a table, with the logic of SQL: a comparison with null is neither true nor false, and
/// only rows for which the whole condition is true pass. Floats compare by IEEE 754: nothing equals NaN.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// A column compared with a literal.
    Compare {
        /// Name of the column.
        column: String,
        /// How it is compared.
        comparison: Comparison,
        /// What it is compared with.
        literal: Literal,
    },
    /// A column of text is like a pattern, in which `%` stands for any text and `_` for any character.
    Like {
        /// Name of the column.
        column: String,
        /// The pattern.
        pattern: String,
    },
    /// One of the values of a column of lists equals a literal. Nulls in a list equal nothing.
    Has {
        /// Name of the column.
        column: String,
        /// What it is compared with.
        literal: Literal,
    },
    /// A column of integers or texts has a value that is among these.
    In {
        /// Name of the column.
        column: String,
        /// What it is compared with: integers for a column of integers, texts for one of texts.
        set: Set,
    },
    /// The column is null.
    IsNull(String),
    /// The column is not null.
    IsNotNull(String),
    /// All of these; true when there are none.
    And(Vec<Predicate>),
    /// Any of these; false when there are none.
    Or(Vec<Predicate>),
    /// Not this.
    Not(Box<Predicate>),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Predicate {
    /// `column comparison literal`.
    pub fn compare(column: impl Into<String>, comparison: Comparison, literal: impl Into<Literal>) -> Self {
        Predicate::Compare { column: column.into(), comparison, literal: literal.into() }
    }

    /// `column = literal`.
    pub fn equal(column: impl Into<String>, literal: impl Into<Literal>) -> Self {
        Predicate::compare(column, Comparison::Equal, literal)
    }

    /// The names of the columns it looks at, each once, sorted.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns = Vec::new();
        self.collect_columns(&mut columns);
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The names of the columns that it compares with a literal.
    pub fn compared(&self) -> Vec<&str> {
        match self {
            Predicate::Compare { column, .. }
            | Predicate::Like { column, .. }
            | Predicate::Has { column, .. }
            | Predicate::In { column, .. } => vec![column],
            Predicate::IsNull(_) | Predicate::IsNotNull(_) => Vec::new(),
            Predicate::And(all) | Predicate::Or(all) => all.iter().flat_map(Predicate::compared).collect(),
            Predicate::Not(one) => one.compared(),
        }
    }

    /// The same condition on columns of other names.
    ///
    /// # Errors
    /// The first error of `rename`.
    pub fn renamed(&self, rename: &mut dyn FnMut(&str) -> Result<String>) -> Result<Predicate> {
        let mut all = |list: &[Predicate]| list.iter().map(|one| one.renamed(rename)).collect::<Result<Vec<_>>>();
        Ok(match self {
            Predicate::And(list) => Predicate::And(all(list)?),
            Predicate::Or(list) => Predicate::Or(all(list)?),
            Predicate::Not(one) => Predicate::Not(Box::new(one.renamed(rename)?)),
            Predicate::Compare { column, comparison, literal } => {
                Predicate::Compare { column: rename(column)?, comparison: *comparison, literal: literal.clone() }
            }
            Predicate::Like { column, pattern } => {
                Predicate::Like { column: rename(column)?, pattern: pattern.clone() }
            }
            Predicate::Has { column, literal } => Predicate::Has { column: rename(column)?, literal: literal.clone() },
            Predicate::In { column, set } => Predicate::In { column: rename(column)?, set: set.clone() },
            Predicate::IsNull(column) => Predicate::IsNull(rename(column)?),
            Predicate::IsNotNull(column) => Predicate::IsNotNull(rename(column)?),
        })
    }

    /// What of it can be said of some columns alone: of the conditions that must all be true, those on columns that `name` knows, by the names
    /// that it gives them. Every row that passes the whole passes this.
    pub fn known_part(&self, name: &mut dyn FnMut(&str) -> Option<String>) -> Option<Predicate> {
        let mut all = Vec::new();
        self.collect_known(name, &mut all);
        match all.len() {
            0 | 1 => all.pop(),
            _ => Some(Predicate::And(all)),
        }
    }

    /// The values that a column must have one of, where it says so: a condition of its own, or one of those that must all be true. Of several
    /// the first.
    pub fn set_of(&self, column: &str) -> Option<&Set> {
        match self {
            Predicate::In { column: own, set } if own == column => Some(set),
            Predicate::And(all) => all.iter().find_map(|one| one.set_of(column)),
            _ => None,
        }
    }

    /// Both of two conditions, as far as there are any.
    pub fn both(one: Option<Predicate>, other: Option<Predicate>) -> Option<Predicate> {
        match (one, other) {
            (Some(one), Some(other)) => Some(Predicate::And(vec![one, other])),
            (one, other) => one.or(other),
        }
    }

    fn collect_known(&self, name: &mut dyn FnMut(&str) -> Option<String>, all: &mut Vec<Predicate>) {
        if let Predicate::And(list) = self {
            return list.iter().for_each(|one| one.collect_known(name, all));
        }
        let unknown = || Error::usage("a column that is not known");
        all.extend(self.renamed(&mut |column| name(column).ok_or_else(unknown)).ok());
    }

    fn collect_columns<'a>(&'a self, columns: &mut Vec<&'a str>) {
        match self {
            Predicate::Compare { column, .. }
            | Predicate::Like { column, .. }
            | Predicate::Has { column, .. }
            | Predicate::In { column, .. }
            | Predicate::IsNull(column)
            | Predicate::IsNotNull(column) => columns.push(column),
            Predicate::And(all) | Predicate::Or(all) => all.iter().for_each(|one| one.collect_columns(columns)),
            Predicate::Not(one) => one.collect_columns(columns),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        })
    }
}

/// A condition tied to the columns of a schema, whatever their types.
#[derive(Debug, Clone)]
pub struct Filter(BoundPredicate);

impl Filter {
    /// `predicate`, tied to `schema`.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] for a column that is not there, and for a literal that does not compare with the column's type.
    pub fn new(predicate: &Predicate, schema: &Schema) -> Result<Self> {
        BoundPredicate::bind(predicate, schema).map(Filter)
    }

    /// The rows of `batch`, which has that schema, that pass.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for columns of types that are never compared.
    pub fn passing(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        self.0.evaluate(batch.columns(), batch.num_rows())
    }

    /// Whether any of the rows of which `bounds` speaks, by the positions of the columns, may pass.
    pub fn may_pass(&self, bounds: &dyn Fn(usize) -> Bounds) -> bool {
        self.0.may_pass(bounds)
    }
}
