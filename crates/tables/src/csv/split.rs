//! Splits CSV into records and remembers, unlike other splitters, whether a field was quoted.

use std::borrow::Cow;
use std::io::Read;

use isomorph_error::{Error, Kind, Place, Result};

use super::foreign::separator_line;
use super::marks::Marks;
use crate::rules::CSV_RECORD;

/// The number of bytes that are read at a time.
const READ: usize = 256 << 10;

/// The position of a field's text in the buffer, without its quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    start: u32,
    end: u32,
    /// Whether it was quoted.
    pub quoted: bool,
    /// Whether it contains doubled quotes.
    doubled: bool,
}

/// Complete records of a CSV file.
#[derive(Default)]
pub(super) struct Records {
    buffer: Vec<u8>,
    /// All fields, record by record.
    fields: Vec<Field>,
    /// The end of each record's fields.
    ends: Vec<usize>,
    /// The line on which each record starts, from 1.
    lines: Vec<u64>,
}

impl Records {
    /// Number of records.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the fields of a record.
    pub(super) fn fields(&self, record: usize) -> &[Field] {
        let start = record.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.fields[start..self.ends[record]]
    }

    /// Returns field number `field` of every record; all records must have it.
    pub(super) fn column(&self, field: usize, width: usize) -> impl ExactSizeIterator<Item = (Field, &[u8])> {
        (0..self.len()).map(move |record| {
            let field = self.fields[record * width + field];
            (field, &self.buffer[field.start as usize..field.end as usize])
        })
    }

    /// Gives each record that has another number of fields `width` empty ones.
    pub(super) fn even_out(&mut self, width: usize) {
        let (mut fields, mut ends) = (Vec::with_capacity(self.len() * width), Vec::with_capacity(self.len()));
        for record in 0..self.len() {
            let own = self.fields(record);
            match own.len() == width {
                true => fields.extend_from_slice(own),
                false => {
                    fields.extend(std::iter::repeat_n(Field { start: 0, end: 0, quoted: false, doubled: false }, width))
                }
            }
            ends.push(fields.len());
        }
        (self.fields, self.ends) = (fields, ends);
    }

    /// Returns the line on which a record starts, from 1.
    pub(super) fn line(&self, record: usize) -> u64 {
        self.lines.get(record).copied().unwrap_or_default()
    }

    /// Returns the text of a field.
    pub(super) fn text(&self, field: Field) -> Cow<'_, [u8]> {
        field.text(&self.buffer[field.start as usize..field.end as usize])
    }
}

impl Field {
    /// Returns the text that `bytes`, those of this field, represent.
    pub(super) fn text(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        if !self.doubled {
            return Cow::Borrowed(bytes);
        }
        let mut text = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'"', rest) {
            text.extend_from_slice(&rest[..=at]);
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        text.extend_from_slice(rest);
        Cow::Owned(text)
    }
}

/// Splits a reader into records.
pub(super) struct Splitter<R> {
    input: R,
    /// Bytes that were read but not returned yet.
    pending: Vec<u8>,
    /// The number of bytes before those.
    offset: u64,
    at_end: bool,
    /// The number of the next line, from 1.
    line: u64,
    /// The maximum size of a record, bytes.
    most: usize,
    /// The byte between fields.
    pub separator: u8,
    /// Whether quotation marks are ordinary characters.
    pub literal_quotes: bool,
    /// Whether an empty line is a record with one empty field.
    pub keep_blank_lines: bool,
    /// The offset at or behind which no further record begins.
    pub stop: u64,
    /// Records that are not needed any more, whose memory the next ones take.
    spare: Option<Records>,
}

/// The result of scanning a record.
enum Found {
    /// A record, and where the next one starts.
    Record(usize),
    /// An empty line, and where the next one starts.
    Blank(usize),
    /// The buffer ends within the record.
    Cut,
}

impl<R: Read> Splitter<R> {
    /// Splits `input`, in which a record may have at most `most` bytes.
    pub(super) fn new(input: R, most: usize) -> Self {
        Splitter {
            input,
            pending: Vec::new(),
            offset: 0,
            at_end: false,
            line: 1,
            most: most.min(u32::MAX as usize / 4),
            separator: b',',
            literal_quotes: false,
            keep_blank_lines: false,
            stop: u64::MAX,
            spare: None,
        }
    }

    /// The same of an input that begins at a record inside a file, on this line.
    pub(super) fn starting_at(mut self, offset: u64, line: u64) -> Self {
        (self.offset, self.line) = (offset, line);
        self
    }

    /// Where the next record starts, bytes.
    pub(super) fn position(&self) -> u64 {
        self.offset
    }

    /// The line on which the next record starts, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Whether all of the input was returned.
    pub(super) fn is_done(&self) -> bool {
        self.at_end && self.pending.is_empty()
    }

    /// Skips a byte order mark, and Excel's line that states the separator.
    pub(super) fn skip_mark(&mut self) -> Result<()> {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        while self.pending.len() < 16 && !self.at_end {
            self.fill()?;
        }
        let mark = if self.pending.starts_with(MARK) { MARK.len() } else { 0 };
        let line = self.pending.get(mark..).and_then(separator_line).map(|(_, length)| length);
        self.line += u64::from(line.is_some());
        let skipped = mark + line.unwrap_or_default();
        self.pending.drain(..skipped);
        self.offset += skipped as u64;
        Ok(())
    }

    /// Returns the next records: at most `most_records`, at most those in `most_bytes`, or all remaining ones; at least one
    /// unless the input has ended.
    pub(super) fn next(&mut self, most_records: usize, most_bytes: usize) -> Result<Option<Records>> {
        let mut records = self.spare.take().unwrap_or_default();
        records.fields.clear();
        records.ends.clear();
        records.lines.clear();
        let mut marks = Marks::new(self.separator);
        let mut at = 0;
        loop {
            let has_enough = !records.ends.is_empty() && at >= most_bytes.min(u32::MAX as usize / 4);
            if records.len() == most_records || has_enough || self.offset + at as u64 >= self.stop {
                break;
            }
            let line = self.line;
            let kept = records.fields.len();
            match self.record(at, &mut records.fields, &mut marks)? {
                Found::Record(next) => {
                    records.ends.push(records.fields.len());
                    records.lines.push(line);
                    at = next;
                }
                Found::Blank(next) => {
                    records.fields.truncate(kept);
                    at = next;
                }
                Found::Cut => {
                    records.fields.truncate(kept);
                    self.line = line;
                    if self.at_end {
                        break;
                    }
                    if self.pending.len() - at > self.most {
                        let message = format!("a record has more than {} bytes; is a quote missing?", self.most);
                        return Err(Error::new(Kind::TooLarge, message).at(Place::default().line(line)));
                    }
                    self.fill()?;
                    marks.forget();
                }
            }
        }
        // The next records take about as many bytes, and what is read beyond them.
        let room = if self.at_end { self.pending.len() - at } else { self.pending.len() + READ };
        let mut rest = std::mem::take(&mut records.buffer);
        rest.clear();
        rest.reserve(room);
        rest.extend_from_slice(&self.pending[at..]);
        self.pending.truncate(at);
        records.buffer = std::mem::replace(&mut self.pending, rest);
        self.offset += at as u64;
        Ok((records.len() > 0).then_some(records))
    }

    /// Takes back records that are not needed any more: the next ones are put into their memory.
    pub(super) fn recycle(&mut self, records: Records) {
        self.spare = Some(records);
    }

    fn fill(&mut self) -> Result<()> {
        let before = self.pending.len();
        // An incomplete record is scanned again from its start, so the steps grow with it.
        let step = READ.max(before / 2);
        let read = (&mut self.input).take(step as u64).read_to_end(&mut self.pending);
        self.at_end = read.map_err(Error::from)? == 0;
        Ok(())
    }

    /// Scans the record that starts at `start`; `marks` are those of the bytes that are held.
    fn record(&mut self, start: usize, fields: &mut Vec<Field>, marks: &mut Marks) -> Result<Found> {
        let bytes = &self.pending;
        if start == bytes.len() {
            return Ok(Found::Cut);
        }
        let broken = |line: u64, reason: &str| Error::broken(&CSV_RECORD, reason).at(Place::default().line(line));
        let mut line = self.line;
        let mut at = start;
        let mut is_first = true;
        loop {
            let quoted = !self.literal_quotes && bytes.get(at) == Some(&b'"');
            let (from, to, doubled);
            if quoted {
                from = at + 1;
                let Some(quoted) = quoted_field(bytes, from) else {
                    if self.at_end {
                        return Err(broken(self.line, "a quoted field has no closing quote"));
                    }
                    return Ok(Found::Cut);
                };
                (to, doubled) = quoted;
                line += memchr::memchr_iter(b'\n', &bytes[from..to]).count() as u64;
                at = to + 1;
            } else {
                from = at;
                at = marks.next(bytes, at);
                (to, doubled) = (at, false);
            }
            let end = bytes.get(at).copied();
            let (next, is_last) = match end {
                Some(byte) if byte == self.separator => (at + 1, false),
                Some(b'\n') => (at + 1, true),
                Some(b'\r') => match bytes.get(at + 1) {
                    Some(b'\n') => (at + 2, true),
                    None if !self.at_end => return Ok(Found::Cut),
                    _ => (at + 1, true),
                },
                None if self.at_end => (at, true),
                None => return Ok(Found::Cut),
                Some(_) => return Err(broken(line, "text follows the closing quote of a field")),
            };
            if is_last {
                self.line = line + u64::from(end.is_some());
            }
            if is_last && is_first && !quoted && from == to && !self.keep_blank_lines {
                return Ok(Found::Blank(next));
            }
            #[expect(clippy::cast_possible_truncation, reason = "bytes that are held are fewer than 2^32: see `most`")]
            fields.push(Field { start: from as u32, end: to as u32, quoted, doubled });
            if is_last {
                return Ok(Found::Record(next));
            }
            at = next;
            is_first = false;
        }
    }
}

/// Returns the end of the field that starts after an opening quote at `from`, and whether it contains doubled quotes;
/// `None` if the buffer ends before.
fn quoted_field(bytes: &[u8], from: usize) -> Option<(usize, bool)> {
    let mut doubled = false;
    let mut at = from;
    loop {
        at += memchr::memchr(b'"', bytes.get(at..)?)?;
        if bytes.get(at + 1) != Some(&b'"') {
            return Some((at, doubled));
        }
        doubled = true;
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A reader that returns its bytes in small pieces.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.0.len().min(self.1).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    type Split = Result<Vec<(u64, Vec<(String, bool)>)>>;

    fn split_with(text: &[u8], most: usize, input: impl Read, batch: usize, blank: bool) -> Split {
        let mut splitter = Splitter::new(input, most);
        splitter.keep_blank_lines = blank;
        splitter.skip_mark()?;
        let mut all = Vec::new();
        while let Some(records) = splitter.next(batch, usize::MAX)? {
            for record in 0..records.len() {
                let fields = records.fields(record).iter();
                let fields =
                    fields.map(|field| (String::from_utf8_lossy(&records.text(*field)).into_owned(), field.quoted));
                all.push((records.line(record), fields.collect()));
            }
            assert!(all.len() <= text.len() + 1);
        }
        Ok(all)
    }

    fn split(text: &str) -> Split {
        let whole = split_with(text.as_bytes(), 1 << 20, text.as_bytes(), 1000, false);
        // The records are the same, however the input is split into reads and batches.
        for piece in 1..5 {
            let pieces = split_with(text.as_bytes(), 1 << 20, Trickle(text.as_bytes(), piece), 1 + piece % 2, false);
            assert_eq!(format!("{whole:?}"), format!("{pieces:?}"));
        }
        whole
    }

    fn plain(fields: &[&str]) -> Vec<(String, bool)> {
        fields.iter().map(|field| ((*field).to_owned(), false)).collect()
    }

    #[test]
    fn records_and_their_lines() {
        let records = split("a,b\n1,\r\n\n\"x\ny\",\"q\"\"q\"\n,\"\"").unwrap();
        let quoted = |text: &str| (text.to_owned(), true);
        assert_eq!(
            records,
            [
                (1, plain(&["a", "b"])),
                (2, plain(&["1", ""])),
                (4, vec![quoted("x\ny"), quoted("q\"q")]),
                (6, vec![(String::new(), false), quoted("")]),
            ]
        );
    }

    #[test]
    fn line_ends_and_marks() {
        let expected = [(1, plain(&["a", "b"])), (2, plain(&["c", "d"]))];
        for text in ["a,b\nc,d", "a,b\r\nc,d\r\n", "a,b\rc,d", "\u{feff}a,b\nc,d\n\n"] {
            let records = split(text).unwrap();
            assert_eq!(records.iter().map(|(_, fields)| fields).collect::<Vec<_>>(), [&expected[0].1, &expected[1].1]);
        }
        let blank = split_with(b"a\n\nb\n", 100, &b"a\n\nb\n"[..], 9, true).unwrap();
        assert_eq!(blank, [(1, plain(&["a"])), (2, plain(&[""])), (3, plain(&["b"]))]);
    }

    #[test]
    fn broken_quotes() {
        let error = split("a,b\n1,\"x\n\n").unwrap_err();
        assert_eq!((error.place().line, error.message()), (Some(2), "a quoted field has no closing quote"));
        let error = split("a\n\"x\"y\n").unwrap_err();
        assert_eq!((error.place().line, error.message()), (Some(2), "text follows the closing quote of a field"));
        let long = format!("a\n\"{}", "x".repeat(1 << 20));
        let error = split_with(long.as_bytes(), 1000, long.as_bytes(), 9, false).unwrap_err();
        assert_eq!((error.kind(), error.place().line), (Kind::TooLarge, Some(2)));
    }

    #[test]
    fn any_bytes_split_the_same_in_any_pieces() {
        let mut state = 3u64;
        for _ in 0..2000 {
            let text: String = (0..24)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    [',', '"', '\n', '\r', 'a', '"', ',', 'b'][(state >> 60) as usize % 8]
                })
                .collect();
            let _ = split(&text);
        }
    }
}
