//! The cells of a sheet, and the table that they are.

use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Findings, Kind, Place, Result};

use crate::rules;

/// The most cells of a sheet that have a value.
pub(super) const CELLS: usize = 50_000_000;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Bool(bool),
    Number(f64),
    /// An integer that only its digits in the file are: see [`number`].
    Whole(i64),
    Text(String),
    /// `2020-01-31`.
    Date(String),
    /// `2020-01-31 12:30:00`, with up to nine digits of a fraction.
    Moment(String),
    /// Times of day and spans of time, as texts.
    Span(String),
    /// An error: `#N/A`.
    Wrong(String),
    /// A formula without its value: other tools than spreadsheets write them so.
    Unknown,
}

/// A number as it is written. Digits alone are an integer also from 2^53 on: a spreadsheet would round it, but other tools write keys so. So is
/// a number with an exponent that is exactly an integer.
pub(super) fn number(text: &str) -> Option<Cell> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
    let whole = || text.parse::<i64>().ok().or_else(|| of_exponent(text, number));
    Some(if number.abs() < INEXACT { Cell::Number(number) } else { whole().map_or(Cell::Number(number), Cell::Whole) })
}

/// The integer that a number with an exponent is, `1E+16`, if its digits and the float that a spreadsheet makes of them are the same one.
fn of_exponent(text: &str, number: f64) -> Option<i64> {
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let zeros = exponent.parse::<usize>().ok()?.checked_sub(fraction.len()).filter(|zeros| *zeros <= 18)?;
    let value = format!("{whole}{fraction}{}", "0".repeat(zeros)).parse::<i64>().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "a float beyond all integers is none of them")]
    (number as i128 == i128::from(value)).then_some(value)
}

/// The smallest float beside which integers are left out: 2^53.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// A sheet: its cells with rows and columns, counted from 0, in the order of rows and of columns.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub name: String,
    /// Whether an empty text is a value.
    keeps_empty: bool,
    /// The number of empty texts that are no values, and the cell of the first.
    empty: (u64, String),
    cells: Vec<(u32, u32, Cell)>,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, Default)]
struct Kinds {
    bool: bool,
    integer: bool,
    float: bool,
    date: bool,
    moment: bool,
    /// The most digits of a fraction of a second.
    digits: usize,
    text: bool,
}

impl Kinds {
    fn see(&mut self, cell: &Cell) {
        match cell {
            Cell::Bool(_) => self.bool = true,
            Cell::Number(number) if is_integer(*number) => self.integer = true,
            Cell::Whole(_) => self.integer = true,
            Cell::Number(_) => self.float = true,
            Cell::Date(_) => self.date = true,
            Cell::Moment(text) => {
                let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction.trim_end_matches('0'));
                (self.moment, self.digits) = (true, self.digits.max(fraction.len()));
            }
            Cell::Text(_) | Cell::Span(_) | Cell::Wrong(_) | Cell::Unknown => self.text = true,
        }
    }

    /// The type that has all values; text, if they are of several kinds.
    fn data_type(self) -> DataType {
        match (self.bool, self.integer || self.float, self.date || self.moment, self.text) {
            (true, false, false, false) => DataType::Boolean,
            (false, true, false, false) if self.float => DataType::Float64,
            (false, true, false, false) => DataType::Int64,
            (false, false, true, false) if self.moment => {
                let unit = match self.digits {
                    0..=3 => TimeUnit::Millisecond,
                    4..=6 => TimeUnit::Microsecond,
                    _ => TimeUnit::Nanosecond,
                };
                DataType::Timestamp(unit, None)
            }
            (false, false, true, false) => DataType::Date32,
            _ => DataType::Utf8,
        }
    }
}

/// Whether a number is an integer that every spreadsheet shows exactly: all numbers there are floats.
fn is_integer(number: f64) -> bool {
    number.trunc() == number && number.abs() < INEXACT && !(number == 0.0 && number.is_sign_negative())
}

impl Sheet {
    /// A sheet without cells. Without `keeps_empty`, an empty text is no value: pandas writes it where it has none.
    pub fn new(name: impl Into<String>, keeps_empty: bool) -> Sheet {
        Sheet { name: name.into(), keeps_empty, ..Sheet::default() }
    }

    /// Notes the empty texts that are read as no value.
    pub fn note_empty(&self, workbook: &str, findings: &mut Findings) {
        let (count, first) = &self.empty;
        if *count > 0 {
            let message = format!("empty texts are read as no value: {count}");
            let place = Place::file(format!("{workbook}#{}", self.name)).in_field(first.clone());
            findings.push(&rules::EMPTY_TEXT, message, place);
        }
    }

    /// Notes the index that is not read.
    pub fn note_index(&self, workbook: &str, findings: &mut Findings) {
        if let Some((row, column)) = self.index() {
            let place = Place::file(format!("{workbook}#{}", self.name)).in_field(at(row, column));
            findings.push(&rules::INDEX, "the index of pandas is not read", place);
        }
    }

    /// The first cell of the index that pandas writes: integers in columns without a name before those that have one.
    fn index(&self) -> Option<(u32, u32)> {
        let (top, first, _) = self.cells.first()?;
        let of_index = || self.cells.iter().filter(|(row, column, _)| row != top && column < first);
        let is_whole = |cell: &Cell| match cell {
            Cell::Number(number) => is_integer(*number),
            Cell::Whole(_) => true,
            _ => false,
        };
        let (row, column, _) = of_index().next()?;
        of_index().all(|(.., cell)| is_whole(cell)).then_some((*row, *column))
    }

    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Adds a cell behind the others.
    ///
    /// # Errors
    /// If it is not behind them, or there are too many.
    pub fn push(&mut self, row: u32, column: u32, cell: Cell) -> Result<()> {
        if self.cells.last().is_some_and(|(last, place, _)| (row, column) <= (*last, *place)) {
            let what = format!("the cell {} comes after cells behind it", at(row, column));
            return Err(Error::broken(&rules::WORKBOOK, what));
        }
        if !self.keeps_empty && matches!(&cell, Cell::Text(text) if text.is_empty()) {
            if self.empty.0 == 0 {
                self.empty.1 = at(row, column);
            }
            self.empty.0 += 1;
            return Ok(());
        }
        if self.cells.len() >= CELLS {
            return Err(Error::new(Kind::TooLarge, "the sheet has more than 50,000,000 cells"));
        }
        self.cells.push((row, column, cell));
        Ok(())
    }

    /// The texts of the cells, each row a line.
    pub fn lines(&self) -> String {
        let (mut text, mut line) = (String::new(), 0);
        for (row, _, cell) in &self.cells {
            text.extend(std::iter::repeat_n('\n', usize::try_from(row - line).unwrap_or_default()));
            text.push_str(&shown(cell));
            line = *row;
        }
        text
    }

    /// The sheet as CSV, and the names and types of its columns. Line numbers are those of rows, unless texts have several lines.
    ///
    /// # Errors
    /// [`rules::WORKBOOK`] for values in columns without a name, two columns with the same name, and errors in cells.
    pub fn as_csv(&self) -> Result<(String, Vec<(String, DataType)>)> {
        let wrong = |row, column, what: String| {
            Err(Error::broken(&rules::WORKBOOK, what)
                .at(Place::default().line(u64::from(row) + 1).in_field(at(row, column))))
        };
        let Some((top, ..)) = self.cells.first() else { return Ok((String::new(), Vec::new())) };
        let begin = self.cells.partition_point(|(row, ..)| row == top);
        let (head, body) = self.cells.split_at(begin);
        let first = head.first().map_or(0, |(_, column, _)| *column);
        let has_index = self.index().is_some();
        let mut columns: Vec<(u32, String, Kinds)> = Vec::with_capacity(head.len());
        for (row, column, cell) in head {
            let name = shown(cell);
            if columns.iter().any(|(_, known, _)| *known == name) {
                return wrong(*row, *column, format!("two columns are called {name:?}"));
            }
            columns.push((*column, name, Kinds::default()));
        }
        for (row, column, cell) in body {
            match columns.binary_search_by_key(column, |(own, ..)| *own) {
                Err(_) if has_index && *column < first => {}
                Err(_) => {
                    return wrong(*row, *column, "the cell is in a column without a name in the first row".to_owned());
                }
                Ok(_) if matches!(cell, Cell::Wrong(_)) => {
                    return wrong(*row, *column, format!("the cell has the error {}", shown(cell)));
                }
                Ok(_) if *cell == Cell::Unknown => {
                    return wrong(
                        *row,
                        *column,
                        "the cell has a formula, and the file does not have its value".to_owned(),
                    )
                    .map_err(|error| error.hint("open the workbook in a spreadsheet, and save it"));
                }
                Ok(place) => columns[place].2.see(cell),
            }
        }
        // Empty lines are no rows, unless there is only one column: then line numbers are not those of rows.
        let blank = |rows: u32| match columns.len() {
            1 => String::new(),
            _ => "\n".repeat(usize::try_from(rows).unwrap_or_default()),
        };
        let mut text = blank(*top);
        let mut line = *top;
        let names = columns.iter().map(|(_, name, _)| name.as_str());
        push_row(&mut text, names.map(|name| Some(name.to_owned())));
        let mut rest = body;
        while let Some((row, ..)) = rest.first() {
            let (cells, others) = rest.split_at(rest.partition_point(|(own, ..)| own == row));
            rest = others;
            line += 1;
            text.push_str(&blank(row - line));
            line = *row;
            let mut cells = cells.iter().filter(|(_, column, _)| *column >= first).peekable();
            push_row(
                &mut text,
                columns.iter().map(|(column, _, kinds)| {
                    let (_, _, cell) = cells.next_if(|(_, own, _)| own == column)?;
                    Some(match (cell, kinds.data_type()) {
                        // A day in a column of moments is its beginning.
                        (Cell::Date(day), DataType::Timestamp(..)) => format!("{day} 00:00:00"),
                        _ => shown(cell),
                    })
                }),
            );
        }
        let columns = columns.into_iter().map(|(_, name, kinds)| (name, kinds.data_type()));
        Ok((text, columns.collect()))
    }
}

/// The text of a value.
fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Bool(true) => "true".to_owned(),
        Cell::Bool(false) => "false".to_owned(),
        Cell::Number(number) if is_integer(*number) => format!("{number:.0}"),
        Cell::Number(number) => format!("{number:?}"),
        Cell::Whole(number) => number.to_string(),
        Cell::Unknown => String::new(),
        Cell::Text(text) | Cell::Date(text) | Cell::Moment(text) | Cell::Span(text) | Cell::Wrong(text) => text.clone(),
    }
}

/// Appends a line of CSV. No value is an empty field, and an empty text is one in quotes.
fn push_row(out: &mut String, fields: impl Iterator<Item = Option<String>>) {
    for (at, field) in fields.enumerate() {
        if at > 0 {
            out.push(',');
        }
        let Some(field) = field else { continue };
        if field.is_empty() || field.contains(['"', ',', '\n', '\r']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&field);
        }
    }
    out.push('\n');
}

/// How a spreadsheet calls a cell: `B7`.
pub(super) fn at(row: u32, column: u32) -> String {
    let (mut letters, mut rest) = (Vec::new(), column + 1);
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or_default()));
        rest /= 26;
    }
    format!("{}{}", letters.iter().rev().collect::<String>(), u64::from(row) + 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sheet(cells: &[(u32, u32, Cell)]) -> Sheet {
        let mut sheet = Sheet::new("s", false);
        cells.iter().for_each(|(row, column, cell)| sheet.push(*row, *column, cell.clone()).unwrap());
        sheet
    }

    #[test]
    fn cells_are_called_as_in_spreadsheets() {
        for (row, column, name) in [(0, 0, "A1"), (6, 1, "B7"), (0, 25, "Z1"), (0, 26, "AA1"), (9, 16_383, "XFD10")] {
            assert_eq!(at(row, column), name);
        }
    }

    #[test]
    fn columns_have_the_types_of_their_cells() {
        let text = |text: &str| Cell::Text(text.to_owned());
        let own = sheet(&[
            (1, 0, text("id")),
            (1, 2, text("score")),
            (1, 3, text("code")),
            (1, 4, text("day")),
            (2, 0, Cell::Number(1.0)),
            (2, 2, Cell::Number(2.0)),
            (2, 3, text("0012")),
            (4, 0, Cell::Number(-3.0)),
            (4, 2, Cell::Number(2.5)),
            (4, 3, text("")),
            (4, 4, Cell::Date("2020-02-29".to_owned())),
            (5, 3, text("a\"b")),
            (5, 4, Cell::Moment("2020-02-29 12:00:00".to_owned())),
        ]);
        let (csv, columns) = own.as_csv().unwrap();
        assert_eq!(
            csv,
            "\nid,score,code,day\n1,2,0012,\n\n-3,2.5,,2020-02-29 00:00:00\n,,\"a\"\"b\",2020-02-29 12:00:00\n"
        );
        let types: Vec<DataType> = columns.into_iter().map(|(_, ty)| ty).collect();
        let moment = DataType::Timestamp(TimeUnit::Millisecond, None);
        assert_eq!(types, [DataType::Int64, DataType::Float64, DataType::Utf8, moment]);
    }

    #[test]
    fn digits_and_fractions_are_kept_as_they_are_written() {
        let text = |text: &str| Cell::Text(text.to_owned());
        let moment = |text: &str| Cell::Moment(text.to_owned());
        for (written, cell) in [
            ("9007199254740993", Cell::Whole(9_007_199_254_740_993)),
            ("-9223372036854775808", Cell::Whole(i64::MIN)),
            ("9007199254740991", Cell::Number(9_007_199_254_740_991.0)),
            ("9223372036854775808", Cell::Number(9_223_372_036_854_775_808.0)),
            ("1e16", Cell::Whole(10_000_000_000_000_000)),
            ("-1.25E+17", Cell::Whole(-125_000_000_000_000_000)),
            ("1.2345678901234568E+17", Cell::Whole(123_456_789_012_345_680)),
            // Its float is another integer, and these are none of 64 bits.
            ("1.2345678901234567E+17", Cell::Number(1.234_567_890_123_456_7e17)),
            ("1E+19", Cell::Number(1e19)),
            ("1e300", Cell::Number(1e300)),
            ("1E+5", Cell::Number(100_000.0)),
            ("-0", Cell::Number(-0.0)),
        ] {
            assert_eq!(number(written), Some(cell), "{written}");
        }
        assert_eq!((number("1e999"), number("x")), (None, None));
        let own = sheet(&[
            (0, 0, text("id")),
            (0, 1, text("at")),
            (1, 0, Cell::Whole(9_007_199_254_740_993)),
            (1, 1, moment("2020-01-01 12:30:00.1234560")),
            (2, 0, Cell::Number(7.0)),
            (2, 1, moment("2020-01-01 12:30:00")),
        ]);
        let (csv, columns) = own.as_csv().unwrap();
        assert_eq!(csv, "id,at\n9007199254740993,2020-01-01 12:30:00.1234560\n7,2020-01-01 12:30:00\n");
        let types: Vec<DataType> = columns.into_iter().map(|(_, ty)| ty).collect();
        assert_eq!(types, [DataType::Int64, DataType::Timestamp(TimeUnit::Microsecond, None)]);
    }

    #[test]
    fn an_index_without_a_name_is_left_out() {
        let text = |text: &str| Cell::Text(text.to_owned());
        let cells = |first: Cell| {
            sheet(&[
                (0, 1, text("a")),
                (0, 2, text("b")),
                (1, 0, first),
                (1, 1, Cell::Number(7.0)),
                (2, 0, Cell::Number(1.0)),
                (2, 2, text("x")),
            ])
        };
        let own = cells(Cell::Number(0.0));
        assert_eq!(own.as_csv().unwrap().0, "a,b\n7,\n,x\n");
        let mut findings = Findings::keeping(8);
        own.note_index("w.xlsx", &mut findings);
        let place = findings.by_rule().flat_map(|(_, all)| all).map(|one| one.place.to_string()).next();
        assert!(place.is_some_and(|place| place.contains("w.xlsx#s") && place.contains("A2")));
        // Texts are data whose name is missing.
        assert_eq!(cells(text("p")).as_csv().unwrap_err().place().field.as_deref(), Some("A2"));
    }

    #[test]
    fn what_is_no_table_is_refused_with_the_cell() {
        let text = |text: &str| Cell::Text(text.to_owned());
        for (cells, place) in [
            (vec![(0, 0, text("a")), (1, 1, text("x"))], "B2"),
            (vec![(0, 0, text("a")), (0, 1, text("a"))], "B1"),
            (vec![(0, 0, text("a")), (3, 0, Cell::Wrong("#N/A".to_owned()))], "A4"),
            (vec![(0, 0, text("a")), (1, 0, Cell::Unknown)], "A2"),
        ] {
            let error = sheet(&cells).as_csv().unwrap_err();
            assert_eq!(error.place().field.as_deref(), Some(place), "{error:?}");
        }
        assert!(sheet(&[(1, 0, text("a"))]).push(0, 0, text("b")).is_err());
    }
}
