//! Finds where the records of a CSV file are, in one pass on all threads.
//!
//! The file is divided at multiples of [`PIECE`] bytes. Where the first record of a piece begins is a guess, from the parity of the quotation marks
//! before it: a mark inside an unquoted field misleads it. A piece whose guess differs from the place where the piece before it has ended is therefore
//! read again from there. Pieces are the same for any number of threads.

use std::io::{BufRead, Read};
use std::ops::Range;
use std::sync::Arc;

use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Blob, parallel};

use super::foreign::AS_UTF8;
use super::read::CsvFile;
use super::split::{Records, Splitter};
use crate::ReadOptions;
use crate::packed::Packing;
use crate::rules::TEXT_VALUE;

/// The size of a piece, bytes.
pub(super) const PIECE: u64 = 4 << 20;

/// The same of a remote file: what is fetched at once.
const REMOTE_PIECE: u64 = 64 << 20;

/// Bytes of records that are looked at together.
const TOGETHER: usize = 256 << 10;

/// Bytes that are searched for the end of a line at once.
const LOOK: usize = 64 << 10;

/// Pieces for each thread that are read before their ends are compared.
const WAVE: usize = 4;

/// Whole records of a CSV file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Where they are, in bytes. Of a compressed file only the number of rows is known.
    pub bytes: Range<u64>,
    /// The line on which the first one starts, from 1.
    pub line: u64,
    /// Their rows.
    pub rows: Range<u64>,
}

/// Where the records of a CSV file are: pieces that several threads can read concurrently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvIndex {
    pub(super) pieces: Vec<Piece>,
}

impl CsvIndex {
    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.pieces.last().map_or(0, |piece| piece.rows.end)
    }
}

/// A place between two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct At {
    byte: u64,
    line: u64,
    row: u64,
}

/// Reads the CSV file `blob` once on `threads` threads, and passes each text that is not null in the declared columns, which must be `Utf8`,
/// to `see`, with the position of its column and its row in the piece. Each piece of the file has a state of its own, which is passed to `take` with the number of its rows, in
/// the order of the file.
///
/// # Errors
/// Those of [`crate::TableReader::open`], and errors in the data: the first in the order of the file.
pub fn survey_csv<S: Send>(
    blob: Blob,
    options: &ReadOptions,
    threads: usize,
    new: impl Fn() -> S + Sync,
    see: impl Fn(&mut S, (usize, u64), &str) + Sync,
    mut take: impl FnMut(S, u64) -> Result<()>,
) -> Result<CsvIndex> {
    let file = Arc::new(CsvFile::open(blob, options)?);
    let survey = Survey { file: &file, piece: piece_size(&file), new, see };
    survey.read(threads, &mut take).map_err(|error| error.at(file.blob.place()))
}

fn piece_size(file: &CsvFile) -> u64 {
    match file.packing {
        Packing::None if file.blob.is_remote() => REMOTE_PIECE,
        Packing::None => PIECE,
        Packing::Gzip | Packing::Zstd => u64::MAX,
    }
}

struct Survey<'a, N, F> {
    file: &'a CsvFile,
    piece: u64,
    new: N,
    see: F,
}

/// A piece that was read from where it was guessed to begin; lines and rows are counted from there.
struct Guessed<S> {
    from: u64,
    to: At,
    state: S,
}

impl<S: Send, N: Fn() -> S + Sync, F: Fn(&mut S, (usize, u64), &str) + Sync> Survey<'_, N, F> {
    fn read(&self, threads: usize, take: &mut dyn FnMut(S, u64) -> Result<()>) -> Result<CsvIndex> {
        let mut splitter = self.file.rows_splitter()?;
        let start = At { byte: splitter.position(), line: splitter.line(), row: 0 };
        let mut index = CsvIndex { pieces: Vec::new() };
        let mut add = |from: At, to: At, state: S| {
            if to.row == from.row {
                return Ok(());
            }
            index.pieces.push(Piece { bytes: from.byte..to.byte, line: from.line, rows: from.row..to.row });
            take(state, to.row - from.row)
        };
        if threads <= 1 || self.piece == u64::MAX || self.file.blob.is_remote() {
            let mut at = start;
            while !splitter.is_done() {
                splitter.stop = self.end_of(at.byte);
                let mut state = (self.new)();
                let to = self.piece_of(&mut splitter, at.row, &mut state)?;
                add(at, to, state)?;
                at = to;
            }
            return Ok(index);
        }
        drop(splitter);
        let size = self.file.blob.size();
        let mut at = start;
        while at.byte < size {
            let ends = std::iter::successors(Some(at.byte), |byte| Some(self.end_of(*byte)));
            let starts: Vec<u64> = ends.take_while(|byte| *byte < size).take(threads * WAVE).collect();
            for guessed in self.wave(&starts, threads)? {
                let (stop, guessed) = guessed;
                if at.byte >= stop.min(size) {
                    continue;
                }
                let exact = |found: &Guessed<S>| found.from == at.byte;
                match guessed.ok().filter(exact) {
                    Some(Guessed { to, state, .. }) => {
                        let to = At { byte: to.byte, line: at.line + to.line - 1, row: at.row + to.row };
                        add(at, to, state)?;
                        at = to;
                    }
                    None => {
                        let mut splitter = self.file.splitter_at(at.byte..size, at.line, None);
                        splitter.stop = stop;
                        let mut state = (self.new)();
                        let to = self.piece_of(&mut splitter, at.row, &mut state)?;
                        add(at, to, state)?;
                        at = to;
                    }
                }
            }
        }
        Ok(index)
    }

    /// Where the piece ends that has this byte.
    fn end_of(&self, byte: u64) -> u64 {
        (byte / self.piece + 1).saturating_mul(self.piece)
    }

    /// Reads pieces from where they are guessed to begin; `starts` are where they would begin if records had single bytes. The first begins there.
    fn wave(&self, starts: &[u64], threads: usize) -> Result<Vec<(u64, Result<Guessed<S>>)>> {
        let size = self.file.blob.size();
        let has_quotes = !self.file.dialect.literal_quotes;
        let marks = |from: u64| -> Result<usize> {
            let mut reader = self.file.blob.reader().within(from..self.end_of(from).min(size));
            let mut count = 0;
            loop {
                let bytes = reader.fill_buf()?;
                if bytes.is_empty() {
                    return Ok(count);
                }
                count += memchr::memchr_iter(b'"', bytes).count();
                let seen = bytes.len();
                reader.consume(seen);
            }
        };
        let mut is_inside = false;
        let mut guesses = Vec::with_capacity(starts.len());
        let counts = match has_quotes {
            true => parallel::map(threads, starts.to_vec(), marks).into_iter().collect::<Result<Vec<_>>>()?,
            false => vec![0; starts.len()],
        };
        for (at, (start, count)) in starts.iter().zip(counts).enumerate() {
            guesses.push((at == 0, *start, is_inside));
            is_inside ^= count % 2 == 1;
        }
        let read = |(is_exact, start, is_inside): (bool, u64, bool)| {
            let stop = self.end_of(start);
            let guess = || -> Result<Guessed<S>> {
                let from = if is_exact { start } else { self.first_record(start, is_inside)? };
                let mut state = (self.new)();
                let mut splitter = self.file.splitter_at(from..size, 1, usize::try_from(self.piece).ok());
                splitter.stop = stop;
                let to = self.piece_of(&mut splitter, 0, &mut state)?;
                Ok(Guessed { from, to, state })
            };
            (stop, guess())
        };
        Ok(parallel::map(threads, guesses, read))
    }

    /// Where the first record begins at `start` or behind it, if the byte there is inside quotation marks or not.
    fn first_record(&self, start: u64, mut is_inside: bool) -> Result<u64> {
        let end = self.end_of(start).min(self.file.blob.size());
        let mut from = start.saturating_sub(1);
        if self.file.blob.read(from..start)?.first() == Some(&b'\n') && !is_inside {
            return Ok(start);
        }
        from = start;
        while from < end {
            let bytes = self.file.blob.read(from..end.min(from + LOOK as u64))?;
            for at in memchr::memchr2_iter(b'\n', b'"', &bytes) {
                match bytes.get(at) {
                    Some(b'"') => is_inside ^= !self.file.dialect.literal_quotes,
                    _ if !is_inside => return Ok(from + at as u64 + 1),
                    _ => {}
                }
            }
            from += bytes.len() as u64;
        }
        Ok(end)
    }

    /// Looks at the records up to where the splitter stops; the first one is in row `row`. Returns where they end.
    fn piece_of(&self, splitter: &mut Splitter<Box<dyn Read + Send>>, mut row: u64, state: &mut S) -> Result<At> {
        let first = row;
        while let Some(mut records) = splitter.next(usize::MAX, TOGETHER)? {
            self.file.check_width(&mut records, row)?;
            for (column, field) in self.file.fields.iter().enumerate() {
                self.column(&records, (first, row), (column, *field), state)?;
            }
            row += records.len() as u64;
            splitter.recycle(records);
        }
        Ok(At { byte: splitter.position(), line: splitter.line(), row })
    }

    /// Looks at a column of records from row `row` on, of a piece that begins in row `first`.
    fn column(
        &self,
        records: &Records,
        (first, row): (u64, u64),
        (column, field): (usize, usize),
        state: &mut S,
    ) -> Result<()> {
        let schema = &self.file.schema;
        let declared = schema.fields().get(column).ok_or_else(|| Error::usage("there is no such column"))?;
        for (record, (field, bytes)) in records.column(field, self.file.width).enumerate() {
            let Some(text) = self.file.cell(true, field, bytes) else { continue };
            let text = std::str::from_utf8(&text).map_err(|error| {
                let place = Place::default().line(records.line(record)).row(row + record as u64);
                let what = format!("the text is not UTF-8 after byte {}", error.valid_up_to());
                Error::broken(&TEXT_VALUE, what).at(place.in_field(declared.name())).hint(AS_UTF8)
            })?;
            (self.see)(state, (column, row - first + record as u64), text);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::cast::AsArray;
    use arrow_schema::{DataType, Field, Schema};

    use super::*;
    use crate::{CsvDialect, Encoding, Selection, TableReader};

    /// The texts of each column that are not null, by piece.
    type Seen = Vec<Vec<String>>;

    fn options(columns: &[&str], literal_quotes: bool) -> ReadOptions {
        let fields: Vec<Field> = columns.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
        let csv = CsvDialect { literal_quotes, ..CsvDialect::default() };
        ReadOptions { csv, ..ReadOptions::declared(Arc::new(Schema::new(fields))) }
    }

    fn survey(text: &str, options: &ReadOptions, piece: u64, threads: usize) -> Result<(CsvIndex, Vec<Seen>)> {
        let file = CsvFile::open(blob(text), options)?;
        let columns = file.fields.len();
        let see = |seen: &mut Seen, (column, _): (usize, u64), text: &str| seen[column].push(text.to_owned());
        let mut all = Vec::new();
        let survey = Survey { file: &file, piece, new: || vec![Vec::new(); columns], see };
        let index = survey.read(threads, &mut |seen, rows| {
            assert!(rows > 0);
            all.push(seen);
            Ok(())
        })?;
        Ok((index, all))
    }

    fn blob(text: &str) -> Blob {
        Blob::from_bytes("x.csv", &text.to_owned().into())
    }

    fn reader(text: &str, options: &ReadOptions, index: Option<&CsvIndex>) -> TableReader {
        let options = ReadOptions { csv_index: index.cloned().map(Arc::new), ..options.clone() };
        TableReader::open(blob(text), Encoding::Csv, &options).unwrap()
    }

    /// The cells of the selected rows.
    fn cells(reader: &TableReader, selection: &Selection) -> Result<Vec<Vec<Option<String>>>> {
        let mut all = Vec::new();
        for batch in reader.batches(selection)? {
            let batch = batch?;
            let cell = |row: usize| batch.columns().iter().map(move |column| column.as_string::<i32>().iter().nth(row));
            all.extend(
                (0..batch.num_rows()).map(|row| cell(row).map(|cell| cell.flatten().map(str::to_owned)).collect()),
            );
        }
        Ok(all)
    }

    /// Reads in pieces and as a whole, on any number of threads; returns whether the text is sound.
    fn is_alike(text: &str, columns: &[&str], literal_quotes: bool, piece: u64) -> bool {
        let options = options(columns, literal_quotes);
        let whole = cells(&reader(text, &options, None), &Selection::all().batch_rows(3));
        let one = survey(text, &options, piece, 1);
        for threads in [2, 5] {
            let several = survey(text, &options, piece, threads);
            assert_eq!(format!("{one:?}"), format!("{several:?}"), "{text:?}, {piece}, {threads}");
        }
        let Ok(whole) = whole else {
            assert!(one.is_err(), "{text:?}, {piece}: {whole:?}");
            return false;
        };
        let (index, seen) = one.unwrap();
        assert_eq!(index.rows(), whole.len() as u64, "{text:?}, {piece}");
        let (indexed, plain) = (reader(text, &options, Some(&index)), reader(text, &options, None));
        assert_eq!(cells(&indexed, &Selection::all()).unwrap(), whole, "{text:?}, {piece}");
        let mut rows = Vec::new();
        for (group, seen) in (0..indexed.row_groups()).zip(seen) {
            assert_eq!(indexed.rows_of_group(group).unwrap().start, rows.len() as u64);
            let own = cells(&indexed, &Selection::all().row_groups(group..group + 1).batch_rows(2)).unwrap();
            for (at, seen) in seen.iter().enumerate() {
                let texts: Vec<&String> = own.iter().filter_map(|row| row[at].as_ref()).collect();
                assert_eq!(seen.iter().collect::<Vec<_>>(), texts, "{text:?}, {piece}");
            }
            rows.extend(own);
            assert_eq!(indexed.rows_of_group(group).unwrap().end, rows.len() as u64);
        }
        assert_eq!(rows, whole, "{text:?}, {piece}");
        for row in 0..whole.len() as u64 {
            assert_eq!(indexed.line_of(row).unwrap(), plain.line_of(row).unwrap(), "{text:?}, {piece}, {row}");
            let few = Selection::all().rows(std::iter::once(row..row + 1));
            assert_eq!(cells(&indexed, &few).unwrap(), cells(&plain, &few).unwrap());
        }
        assert!(cells(&indexed, &Selection::all().rows(std::iter::once(0..whole.len() as u64 + 1))).is_err());
        true
    }

    #[test]
    fn pieces_are_whole_records_wherever_the_file_is_divided() {
        let text = "x,y\r\n1,a\r\n\"two\r\nlines, \"\"quoted\"\"\",b\r\n\r\n3,5\" pipe\r\n\"\n\n\n\",\r\nn,\"\"\r\n";
        for piece in 1..text.len() as u64 + 2 {
            assert!(is_alike(text, &["x", "y"], false, piece));
            assert!(is_alike(&text.replace("\r\n", "\n"), &["y", "x"], false, piece));
            assert!(is_alike(&format!("\u{feff}{text}"), &["y"], false, piece));
            assert!(is_alike("x\na\n\n\nb", &["x"], false, piece));
            assert!(is_alike("x,y\n\"a,b\n5\",6\"\n", &["x", "y"], true, piece));
        }
        assert!(is_alike("x,y\n", &["x", "y"], false, 2) && is_alike("x,y", &["x", "y"], false, 2));
    }

    #[test]
    fn any_bytes_are_read_alike_in_pieces() {
        let (mut state, mut sound) = (5u64, 0);
        for round in 0..3_000u64 {
            let mut text = String::from(if round % 5 == 0 { "x\n" } else { "x,y\n" });
            for _ in 0..round % 40 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(
                    ["1,2\n", "\"", "\n", "\r\n", "a", "\"\"", "1,\"\n", "b,\"c\"\n"][(state >> 60) as usize % 8],
                );
            }
            let columns: &[&str] = if round % 5 == 0 { &["x"] } else { &["x", "y"] };
            sound += usize::from(is_alike(&text, columns, round % 7 == 0, 1 + state % 23));
        }
        assert!(sound > 100, "{sound}");
    }

    #[test]
    fn errors_name_the_line_and_the_row() {
        let text = "x,y\n1,\"a\nb\"\n2,c\n3\n4,d\n";
        for (piece, threads) in [(4, 1), (4, 3), (9, 2), (1 << 20, 2)] {
            let error = survey(text, &options(&["x"], false), piece, threads).unwrap_err();
            assert_eq!((error.place().line, error.place().row), (Some(5), Some(2)), "{piece}: {error:?}");
        }
        // A file that has other rows than its index says was changed.
        let (index, _) = survey("x\n1\n2\n", &options(&["x"], false), 100, 1).unwrap();
        let changed = reader("x\n1234\n", &options(&["x"], false), Some(&index));
        assert!(cells(&changed, &Selection::all().row_groups(0..1)).is_err());
    }
}
