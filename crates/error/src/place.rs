//! The location of an error or finding, as data, so that a caller can point at it.

use std::fmt;

use serde::Serialize;

/// A position in the input, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// File or object, relative to the opened root if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Row of a table, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// Line of a text file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Byte offset in the file, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Column, key or property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl Place {
    /// A position in `file`.
    pub fn file(file: impl Into<String>) -> Self {
        Place { file: Some(file.into()), ..Place::default() }
    }

    /// A named column, key or property; the caller adds the file.
    pub fn field(field: impl Into<String>) -> Self {
        Place { field: Some(field.into()), ..Place::default() }
    }

    /// Sets the row, from 0.
    pub fn row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }

    /// Sets the line, from 1.
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets the byte offset, from 0.
    pub fn offset(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Sets the column, key or property.
    pub fn in_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Returns true if nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Place::default()
    }

    /// Takes the parts that are not known yet from `other`.
    pub(crate) fn fill(&mut self, other: Place) {
        self.file = self.file.take().or(other.file);
        self.row = self.row.or(other.row);
        self.line = self.line.or(other.line);
        self.offset = self.offset.or(other.offset);
        self.field = self.field.take().or(other.field);
    }
}

impl From<&str> for Place {
    fn from(file: &str) -> Self {
        Place::file(file)
    }
}

impl From<String> for Place {
    fn from(file: String) -> Self {
        Place::file(file)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(file) = &self.file {
            write!(f, "{file}")?;
            separator = ", ";
        }
        let numbers = [("line", self.line), ("row", self.row), ("byte", self.offset)];
        for (name, value) in numbers.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            write!(f, "{separator}{name} {value}")?;
            separator = ", ";
        }
        if let Some(field) = &self.field {
            write!(f, "{separator}{field}")?;
        }
        Ok(())
    }
}
