//! Conditions on the columns of a table: what may be skipped by statistics, and which rows pass.

mod bind;
mod evaluate;
mod extremes;
mod prune;
mod value;

use std::fmt;

pub(crate) use bind::{BoundPredicate, nanoseconds, value_type};
pub(crate) use extremes::extremes;
pub(crate) use prune::Bounds;
pub(crate) use value::Value;

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

/// A value to compare with. Numbers compare exactly whatever the column's width; text compares byte by byte.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// Text, or the bytes of a binary value.
    Text(String),
    /// Days since 1970-01-01.
    Date(i32),
    /// Nanoseconds since 1970-01-01T00:00:00; compares with timestamps of every unit.
    Timestamp(i128),
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
            Predicate::Compare { column, .. } => vec![column],
            Predicate::IsNull(_) | Predicate::IsNotNull(_) => Vec::new(),
            Predicate::And(all) | Predicate::Or(all) => all.iter().flat_map(Predicate::compared).collect(),
            Predicate::Not(one) => one.compared(),
        }
    }

    fn collect_columns<'a>(&'a self, columns: &mut Vec<&'a str>) {
        match self {
            Predicate::Compare { column, .. } | Predicate::IsNull(column) | Predicate::IsNotNull(column) => {
                columns.push(column);
            }
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

impl From<bool> for Literal {
    fn from(value: bool) -> Self {
        Literal::Bool(value)
    }
}

impl From<i64> for Literal {
    fn from(value: i64) -> Self {
        Literal::Int(value.into())
    }
}

impl From<f64> for Literal {
    fn from(value: f64) -> Self {
        Literal::Float(value)
    }
}

impl From<&str> for Literal {
    fn from(value: &str) -> Self {
        Literal::Text(value.to_owned())
    }
}
