//! Columns of terms, and bindings of variables to them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::Object;

use crate::term::Datatype;

/// The kind of a term that is not a literal.
const RESOURCE: u32 = 0;

/// Memory of a datatype in addition to its text, which is stored twice, in bytes.
const OF_DATATYPE: usize = 2 * size_of::<String>() + 16;

/// A column of RDF terms: one text buffer, and for each row the position of its text and its kind. Equal adjacent rows
/// share their text.
///
/// Terms are texts as a store has them: IRIs, blank nodes with `_:` before their labels, literals with the IRI of their
/// datatype. In a column of graphs the empty text is the default graph.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    text: String,
    rows: Vec<Row>,
    /// Datatypes with their languages, as records have them; number n belongs to literals of kind n + 1.
    datatypes: Vec<String>,
    numbers: HashMap<String, u32>,
    made: String,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    start: u32,
    end: u32,
    /// [`RESOURCE`], or one more than the number of the datatype.
    kind: u32,
}

/// The sort key of a term: its text, resources before literals, then the datatype.
pub(super) type Sorted<'a> = (&'a [u8], bool, &'a [u8]);

impl Terms {
    /// Adds a term.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if the column would have 4 GiB of text.
    pub fn push(&mut self, term: &Object<'_>) -> Result<()> {
        match term {
            Object::Term(text) => self.push_resource(text),
            Object::Literal { lexical, datatype, language, direction } => {
                let mut made = std::mem::take(&mut self.made);
                made.clear();
                let iri = Some(*datatype).filter(|_| language.is_none());
                Datatype { iri, language: *language, direction: *direction }.push(&mut made);
                let done = self.push_literal(lexical, &made);
                self.made = made;
                done
            }
        }
    }

    /// Adds an IRI, a blank node, or the name of a graph.
    ///
    /// # Errors
    /// As [`Terms::push`].
    pub fn push_resource(&mut self, text: &str) -> Result<()> {
        self.push_text(text, RESOURCE)
    }

    /// Adds a literal whose datatype is as records have it.
    pub(super) fn push_literal(&mut self, lexical: &str, datatype: &str) -> Result<()> {
        let before = self.rows.last().map(|row| row.kind).filter(|kind| self.datatype(*kind) == Some(datatype));
        let kind = match before.or_else(|| self.numbers.get(datatype).copied()) {
            Some(kind) => kind,
            None => {
                let full = |_| Error::new(Kind::TooLarge, "a column of terms must have less than 2^32 datatypes");
                let kind = u32::try_from(self.datatypes.len() + 1).map_err(full)?;
                self.datatypes.push(datatype.to_owned());
                self.numbers.insert(datatype.to_owned(), kind);
                kind
            }
        };
        self.push_text(lexical, kind)
    }

    fn push_text(&mut self, text: &str, kind: u32) -> Result<()> {
        if let Some(last) = self.rows.last().copied()
            && self.slice(last) == text
        {
            self.rows.push(Row { kind, ..last });
            return Ok(());
        }
        let full = |_| Error::new(Kind::TooLarge, "a column of terms must have less than 4 GiB of text");
        let start = u32::try_from(self.text.len()).map_err(full)?;
        let end = u32::try_from(self.text.len().saturating_add(text.len())).map_err(full)?;
        self.text.push_str(text);
        self.rows.push(Row { start, end, kind });
        Ok(())
    }

    /// Adds a row of another column.
    pub(super) fn push_row(&mut self, of: &Terms, row: usize) -> Result<()> {
        match of.literal(row) {
            Some(datatype) => self.push_literal(of.text(row), datatype),
            None => self.push_resource(of.text(row)),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The term of a row, counted from 0; `None` after the last row.
    pub fn get(&self, row: usize) -> Option<Object<'_>> {
        self.rows.get(row)?;
        Some(match self.literal(row) {
            Some(datatype) => Datatype::of(datatype).literal(self.text(row)),
            None => Object::Term(self.text(row)),
        })
    }

    /// The text of a row: an IRI, a blank node, or the lexical form of a literal; empty after the last row.
    pub fn text(&self, row: usize) -> &str {
        self.rows.get(row).map(|row| self.slice(*row)).unwrap_or_default()
    }

    fn slice(&self, row: Row) -> &str {
        self.text.get(row.start as usize..row.end as usize).unwrap_or_default()
    }

    fn datatype(&self, kind: u32) -> Option<&str> {
        self.datatypes.get(kind.checked_sub(1)? as usize).map(String::as_str)
    }

    /// The datatype of a literal, as records have it; `None` for other terms.
    pub(super) fn literal(&self, row: usize) -> Option<&str> {
        self.datatype(self.rows.get(row)?.kind)
    }

    pub(super) fn sorted(&self, row: usize) -> Sorted<'_> {
        let datatype = self.literal(row);
        (self.text(row).as_bytes(), datatype.is_some(), datatype.unwrap_or_default().as_bytes())
    }

    /// Compares two rows in the order of the files.
    pub(super) fn compare(&self, one: usize, other: usize) -> Ordering {
        self.sorted(one).cmp(&self.sorted(other))
    }

    /// Whether a row has the same term as a row of another column.
    pub(super) fn same(&self, row: usize, other: &Terms, other_row: usize) -> bool {
        self.sorted(row) == other.sorted(other_row)
    }

    /// Bytes of its text.
    pub(super) fn text_bytes(&self) -> u64 {
        self.text.len() as u64
    }

    /// Memory that it takes, in bytes.
    pub fn memory(&self) -> u64 {
        let datatypes: usize = self.datatypes.iter().map(|datatype| 2 * datatype.len() + OF_DATATYPE).sum();
        (self.text.capacity() + self.rows.capacity() * size_of::<Row>() + datatypes) as u64
    }
}

/// Solutions so far: columns of equal length, one for each variable that has a value. Every row has a value in every
/// column.
#[derive(Debug, Clone)]
pub struct Bindings {
    columns: Vec<Terms>,
    rows: u32,
}

impl Bindings {
    /// One row without any variable, with which a query starts.
    pub fn unit() -> Self {
        Bindings { columns: Vec::new(), rows: 1 }
    }

    /// Bindings with these columns, which have equal lengths.
    ///
    /// # Errors
    /// [`Kind::Usage`] if their lengths differ, or there are none; [`Kind::TooLarge`] if there are 2^32 rows.
    pub fn new(columns: Vec<Terms>) -> Result<Self> {
        let rows =
            columns.first().map(Terms::len).ok_or_else(|| Error::usage("bindings must have at least one column"))?;
        if columns.iter().any(|column| column.len() != rows) {
            return Err(Error::usage("columns of bindings must have equal lengths"));
        }
        Bindings::of(columns, rows)
    }

    /// The same for columns that are known to have this many rows; there may be none.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if there are 2^32 rows.
    pub(super) fn of(columns: Vec<Terms>, rows: usize) -> Result<Self> {
        let full = |_| Error::new(Kind::TooLarge, "a batch of bindings must have less than 2^32 rows");
        Ok(Bindings { columns, rows: u32::try_from(rows).map_err(full)? })
    }

    /// The numbers of its rows.
    pub(super) fn numbers(&self) -> Range<u32> {
        0..self.rows
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// The columns.
    pub fn columns(&self) -> &[Terms] {
        &self.columns
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn terms_come_back_and_share_their_texts() {
        let english = |lexical| Object::Literal {
            lexical,
            datatype: crate::term::LANG_STRING,
            language: Some("en"),
            direction: None,
        };
        let all = [
            Object::Term("urn:a"),
            Object::Term("urn:a"),
            Object::plain("urn:a", isomorph_model::xsd::STRING),
            english("urn:a"),
            Object::plain("5", "urn:d"),
            english("x"),
            Object::Term(""),
        ];
        let mut terms = Terms::default();
        all.iter().for_each(|term| terms.push(term).unwrap());
        assert_eq!((0..all.len()).map(|row| terms.get(row).unwrap()).collect::<Vec<_>>(), all);
        assert_eq!(terms.text, "urn:a5x");
        assert_eq!(terms.get(all.len()), None);
        // Resources come before literals of the same text.
        assert_eq!((terms.compare(0, 1), terms.compare(1, 2)), (Ordering::Equal, Ordering::Less));
    }

    #[test]
    fn columns_have_one_length() {
        let mut one = Terms::default();
        one.push_resource("urn:a").unwrap();
        assert_eq!(Bindings::new(vec![one.clone()]).unwrap().rows(), 1);
        assert!(Bindings::new(vec![one, Terms::default()]).is_err());
        assert!(Bindings::new(Vec::new()).is_err());
        assert_eq!(Bindings::unit().rows(), 1);
    }
}
