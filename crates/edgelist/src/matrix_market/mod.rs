#![doc = include_str!("README.md")]

pub mod rules;
mod write;

use std::borrow::Cow;

use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_model::Direction;
use isomorph_storage::Scratch;
use isomorph_tables::PackedFile;

use crate::OpenOptions;
use crate::columns::Kind as ColumnKind;
use crate::grammar::{Cell, End, Grammar, Item, State, Take, lines};
use crate::layout::beginning;
use crate::listing::{Keys, Listing, Text, described, has_text_keys, place, properties, shown};
use crate::listing_survey::{Mentions, Wanted, survey};
use crate::notation::Notation;
use crate::pieces::Piece;
use crate::python::Value;
use crate::survey::Wrong;

pub(crate) use write::MatrixWriter;

/// Maximum number of rows: nodes need no line, so a short text could claim any number.
pub(crate) const ROWS: u64 = 1 << 32;

/// The name of the numbers.
pub(crate) const WEIGHT: &str = isomorph_model::well_known::WEIGHT;

/// The type of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Pattern,
    Integer,
    Real,
}

/// Which entries a line states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// What the first lines state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Matrix {
    pub rows: u64,
    pub entries: u64,
    pub field: Field,
    pub symmetry: Symmetry,
    /// Offset of the line after the size line.
    body: u64,
}

/// Returns whether a text begins with the banner.
pub(crate) fn begins(text: &[u8]) -> bool {
    text.get(..14).is_some_and(|start| start.eq_ignore_ascii_case(b"%%MatrixMarket"))
}

impl Matrix {
    /// Reads the banner and the size line.
    ///
    /// # Errors
    /// Returns an error if they are invalid, or the matrix is none of a graph.
    pub fn open(file: &PackedFile) -> Result<Matrix> {
        let (begin, _) = beginning(file)?;
        let wrong = |line: u64, message: String| {
            Error::broken(&rules::HEADER, message).at(Place::file(file.blob.name()).line(line))
        };
        let text = String::from_utf8_lossy(&begin);
        let mut head: Option<(Field, Symmetry)> = None;
        let mut offset = 0u64;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            offset += line.len() as u64;
            let line = line.trim_start_matches('\u{feff}').trim();
            let Some((field, symmetry)) = head else {
                head = Some(banner(line).map_err(|message| wrong(number, message))?);
                continue;
            };
            if line.is_empty() || line.starts_with('%') {
                continue;
            }
            let sizes: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
            let Some([rows, columns, entries]) = sizes.as_deref() else {
                return Err(wrong(number, "expected the numbers of rows, columns and entries".to_owned()));
            };
            let (rows, columns, entries) = (*rows, *columns, *entries);
            let place = || Place::file(file.blob.name()).line(number);
            if rows != columns {
                let message = format!(
                    "a matrix of {rows} rows and {columns} columns relates two kinds of nodes; only square matrices are graphs"
                );
                return Err(Error::unsupported(message).at(place()));
            }
            if rows > ROWS {
                return Err(Error::new(Kind::TooLarge, format!("a matrix has more than {ROWS} rows")).at(place()));
            }
            return Ok(Matrix { rows, entries, field, symmetry, body: offset });
        }
        Err(wrong(1, "there is no line with the numbers of rows, columns and entries".to_owned()))
    }

    /// Returns what was recognised: pairs of subject and fact.
    pub fn recognised(&self) -> Vec<(String, String)> {
        let field = match self.field {
            Field::Pattern => "no values: a pattern",
            Field::Integer => "integers",
            Field::Real => "floats",
        };
        let edges = match self.symmetry {
            Symmetry::General => "from row to column: a general matrix",
            Symmetry::Symmetric => "undirected: a symmetric matrix, each pair stated once",
            Symmetry::Skew => "from row to column, and back with the opposite number: a skew-symmetric matrix",
        };
        vec![
            ("nodes".to_owned(), format!("rows and columns 1 to {}", self.rows)),
            ("edges".to_owned(), edges.to_owned()),
            (
                "entries".to_owned(),
                if self.field == Field::Pattern { field.to_owned() } else { format!("{WEIGHT}, {field}") },
            ),
        ]
    }
}

fn banner(line: &str) -> std::result::Result<(Field, Symmetry), String> {
    let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
    let [banner, object, form, field, symmetry] = words.as_slice() else {
        return Err("expected %%MatrixMarket matrix coordinate, a type and a symmetry".to_owned());
    };
    if banner != "%%matrixmarket" || object != "matrix" {
        return Err("expected %%MatrixMarket matrix".to_owned());
    }
    match form.as_str() {
        "coordinate" => {}
        "array" => {
            return Err(
                "a dense matrix (array) has an edge between any two nodes: write it in coordinate form".to_owned()
            );
        }
        other => return Err(format!("{other:?} is not coordinate")),
    }
    let field = match field.as_str() {
        "pattern" => Field::Pattern,
        "integer" => Field::Integer,
        "real" | "double" => Field::Real,
        "complex" => {
            return Err("complex numbers are not supported: write real and imaginary parts as two matrices".to_owned());
        }
        other => return Err(format!("{other:?} is not pattern, integer or real")),
    };
    let symmetry = match symmetry.as_str() {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" if field != Field::Pattern => Symmetry::Skew,
        "skew-symmetric" => return Err("a pattern cannot be skew-symmetric".to_owned()),
        "hermitian" => return Err("a Hermitian matrix has complex numbers, which are not supported".to_owned()),
        other => return Err(format!("{other:?} is not general, symmetric or skew-symmetric")),
    };
    Ok((field, symmetry))
}

impl Grammar for Matrix {
    fn read<'a>(&self, piece: &'a Piece, _state: &'a State, take: Take<'_, 'a>) -> Result<(), Wrong> {
        let wrong = |message: String, at: usize| Wrong::new(&rules::ENTRY, message, at);
        let mut cells = Vec::new();
        for line in lines(piece, &rules::ENCODING)? {
            let (at, line) = line?;
            if piece.offset + (at as u64) < self.body {
                continue;
            }
            let mut words = line.split_ascii_whitespace();
            let Some(row) = words.next() else { continue };
            if row.starts_with('%') {
                return Err(wrong("comments precede the size line".to_owned(), at));
            }
            let index = |word: Option<&str>| {
                let word = word.ok_or_else(|| wrong("expected a row and a column".to_owned(), at))?;
                let number: Option<u64> = word.parse().ok();
                number.filter(|number| (1..=self.rows).contains(number)).map(|number| number - 1).ok_or_else(|| {
                    wrong(format!("{:?} is not a row or column from 1 to {}", short(word), self.rows), at)
                })
            };
            let (row, column) = (index(Some(row))?, index(words.next())?);
            let value = match self.field {
                Field::Pattern => None,
                Field::Integer => {
                    let word = words.next().unwrap_or_default();
                    let digits = word.strip_prefix('+').unwrap_or(word);
                    let value =
                        digits.parse().map_err(|_| wrong(format!("{:?} is not a 64-bit integer", short(word)), at))?;
                    Some(Value::Int(value))
                }
                Field::Real => {
                    let word = words.next().unwrap_or_default();
                    // A finite number that is out of range would become infinite.
                    let is_kept = |value: &f64| !value.is_infinite() || !word.contains(|c: char| c.is_ascii_digit());
                    let value = word.parse::<f64>().ok().filter(is_kept);
                    Some(Value::Float(value.ok_or_else(|| {
                        wrong(format!("{:?} is not a number in the range of doubles", short(word)), at)
                    })?))
                }
            };
            if let Some(word) = words.next() {
                return Err(wrong(format!("{:?} follows the entry", short(word)), at));
            }
            if self.symmetry == Symmetry::Symmetric && row < column {
                take(at, Item::Odd(&rules::TRIANGLE, "an entry is above the diagonal of a symmetric matrix"))?;
            }
            if self.symmetry == Symmetry::Skew && row == column {
                return Err(wrong("a skew-symmetric matrix has no entries on its diagonal".to_owned(), at));
            }
            let directed = self.symmetry != Symmetry::Symmetric;
            let mut give = |from: u64, to: u64, value: Option<Value<'a>>| {
                cells.clear();
                cells.extend(value.map(|value| (Cow::Borrowed(WEIGHT), Cell::Value(value))));
                take(at, Item::Edge(End::Row(from), End::Row(to), directed, &mut cells))
            };
            let opposite = match (self.symmetry, &value) {
                (Symmetry::Skew, Some(Value::Int(value))) => Some(Value::Int(
                    value.checked_neg().ok_or_else(|| wrong(format!("{value} has no opposite of 64 bits"), at))?,
                )),
                (Symmetry::Skew, Some(Value::Float(value))) => Some(Value::Float(-value)),
                _ => None,
            };
            give(row, column, value)?;
            if opposite.is_some() {
                give(column, row, opposite)?;
            }
        }
        Ok(())
    }
}

/// Returns the beginning of a word, for messages.
pub(crate) fn short(word: &str) -> String {
    word.chars().take(40).collect()
}

/// Opens a Matrix Market file.
///
/// # Errors
/// Returns an error if the file cannot be read, or is invalid.
pub(crate) fn open(file: PackedFile, options: &OpenOptions, scratch: &Scratch) -> Result<Listing> {
    let matrix = Matrix::open(&file)?;
    let mut findings = Findings::keeping(8);
    let wanted = Wanted {
        names: None,
        sums: false,
        otherwise: ColumnKind::Text,
        memory: (&options.budget, scratch),
        too_many: &rules::ENTRY,
    };
    let (mut found, extents, _) = survey(&file, &matrix, wanted, &mut findings)?;
    let entries = if matrix.symmetry == Symmetry::Skew { found.edges / 2 } else { found.edges };
    if entries != matrix.entries {
        let message = format!("the size line states {} entries, but there are {entries}", matrix.entries);
        return Err(Error::broken(&rules::COUNT, message).at(place(&file)));
    }
    // A matrix without entries has a type as well.
    if matrix.field != Field::Pattern && found.edges == 0 {
        let at = found.of_edges.place(WEIGHT);
        let value = if matrix.field == Field::Integer { Value::Int(0) } else { Value::Float(0.0) };
        if let Some(seen) = found.of_edges.at(at) {
            seen.value(&value);
        }
    }
    let (_, shown_edges) = shown(options);
    let (of_edges, all) =
        properties(&found.of_edges, found.edges, shown_edges, ColumnKind::Text, Some(Notation::MatrixMarket));
    let direction = if matrix.symmetry == Symmetry::Symmetric { Direction::Undirected } else { Direction::Directed };
    let graph = described((matrix.rows, found.edges), (Vec::new(), all), !has_text_keys(options), direction);
    let (rows, recognised) = (matrix.rows, matrix.recognised());
    Ok(Listing {
        notation: Notation::MatrixMarket,
        texts: vec![Text { file, grammar: Box::new(matrix), extents, nodes: 0 }],
        keys: Keys::Numbers(rows),
        mentions: Mentions::Once,
        of_nodes: Vec::new(),
        of_edges,
        graph,
        recognised,
        findings,
        labels: None,
    })
}
