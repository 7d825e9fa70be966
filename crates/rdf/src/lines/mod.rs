//! Reads N-Triples and N-Quads at the speed of a bulk load: split into chunks at line ends, read on several threads,
//! without copying what needs no unescaping.
//!
//! Lines in their common form do not go through a parser at all, see [`line`]. Any other line goes through the parser
//! that reads every syntax: it determines the meaning or the error. So both accept the same texts, report the same
//! errors, and differ only in speed. `tests/suite/fast.rs` compares them.

mod line;

use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, mpsc};

use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_model::faces::Quad;

use self::line::{Line, Lines};
use crate::read::{MARK, Piece, ReadOptions, Reading, Take, read_line};
use crate::{Syntax, rules};

/// Bytes that a thread gets at once; more if a line is longer.
const CHUNK: usize = 1 << 20;

/// Memory that a thread uses, in bytes: the chunk that it reads, one that waits and one that is being filled.
pub(crate) const MEMORY: u64 = 3 * CHUNK as u64;

/// Number of findings that are kept when malformed statements are skipped.
const KEPT: usize = 8;

/// Whole lines, and their position.
struct Chunk {
    bytes: Vec<u8>,
    number: u64,
    /// Lines before it.
    lines: u64,
    /// Bytes before it.
    offset: u64,
    /// Whether it is the end of the text.
    last: bool,
}

/// A text from some line on: its file, and the position of that line.
pub(crate) struct Part<'p> {
    pub(crate) file: &'p Place,
    pub(crate) lines: u64,
    /// Number of bytes before it.
    pub(crate) offset: u64,
}

impl<'p> Part<'p> {
    /// The whole text.
    pub(crate) fn all(file: &'p Place) -> Self {
        Part { file, lines: 0, offset: 0 }
    }
}

/// The result of one thread.
struct Sum {
    file: Place,
    lines: u64,
    quads: u64,
    skipped: u64,
    findings: Findings,
    /// The error of the earliest chunk that had one.
    failed: Option<(u64, Error)>,
}

impl Sum {
    fn new(file: &Place) -> Self {
        Sum { file: file.clone(), lines: 0, quads: 0, skipped: 0, findings: Findings::keeping(KEPT), failed: None }
    }

    fn merge(&mut self, other: Sum) {
        self.lines += other.lines;
        self.quads += other.quads;
        self.skipped += other.skipped;
        self.findings.merge(other.findings);
        if let Some((number, error)) = other.failed {
            self.fail(number, error);
        }
    }

    /// Reads a line that is not in the common form.
    fn take(
        &mut self,
        line: &[u8],
        place: &Place,
        syntax: Syntax,
        options: &ReadOptions,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let reading = read_whole(line, syntax, options, take).map_err(|error| moved(error, place))?;
        self.quads += reading.quads;
        // A line is one statement, whatever the parser finds in it.
        self.skipped += reading.skipped.min(1);
        for finding in reading.findings.by_rule().flat_map(|(_, kept)| kept).take(1) {
            let place = Place { file: self.file.file.clone(), ..at(&finding.place, place) };
            self.findings.push(&rules::SKIPPED, finding.message.clone(), place);
        }
        Ok(())
    }

    fn fail(&mut self, number: u64, error: Error) {
        if self.failed.as_ref().is_none_or(|(before, _)| number < *before) {
            self.failed = Some((number, error));
        }
    }

    /// The result, and the number of lines.
    fn finish(self, fed: Result<()>) -> Result<(Reading, u64)> {
        match self.failed {
            Some((_, error)) => Err(error),
            None => fed.map(|()| {
                let (quads, skipped, findings) = (self.quads, self.skipped, self.findings.in_order(KEPT));
                (Reading { quads, skipped, findings, ..Reading::default() }, self.lines)
            }),
        }
    }
}

/// Whether a syntax is line-based.
pub(crate) fn is_of_lines(syntax: Syntax) -> bool {
    matches!(syntax, Syntax::NTriples | Syntax::NQuads)
}

/// Reads a text of N-Triples or N-Quads on this thread and passes it on, quad by quad, in the order of the text. `done`
/// is called for each chunk without errors. Also returns the number of lines.
pub(crate) fn read_here<T>(
    input: &mut dyn Read,
    syntax: Syntax,
    options: &ReadOptions,
    part: &Part<'_>,
    taker: &mut T,
    take: &dyn Fn(&mut T, Quad<'_>) -> Result<()>,
    done: &dyn Fn(&mut T, Piece) -> Result<()>,
) -> Result<(Reading, u64)> {
    let mut held = options.budget.reserve(2 * CHUNK as u64)?;
    let (mut sum, mut lines) = (Sum::new(part.file), Lines::default());
    let fed = feed(input, part, &mut |bytes| held.grow(bytes), &mut |chunk| {
        let read = chunk.hand_over(&mut lines, syntax, options, &mut sum, &mut |quad| take(taker, quad));
        if let Err(error) = read.and_then(|piece| piece.map_or(Ok(()), |piece| done(taker, piece))) {
            sum.fail(chunk.number, error);
            return None;
        }
        Some(chunk.bytes)
    });
    sum.finish(fed)
}

/// Reads a text of N-Triples or N-Quads and passes its quads to `takers`, each on a separate thread. The distribution
/// of the parts of the text is arbitrary; each part is read in order.
///
/// # Errors
/// As [`crate::read`]; of several errors, the first in the text is returned. [`Kind::Usage`] for another syntax.
pub fn read_lines<T: Send>(
    input: &mut dyn Read,
    syntax: Syntax,
    options: &ReadOptions,
    takers: &mut [T],
    take: &(dyn Fn(&mut T, Quad<'_>) -> Result<()> + Sync),
) -> Result<Reading> {
    if !is_of_lines(syntax) {
        return Err(Error::usage(format!("{syntax} is not a line-based syntax")));
    }
    let (file, done) = (Place::default(), |_: &mut T, _| Ok(()));
    read_shared(input, syntax, options, &Part::all(&file), takers, take, &done).map(|(reading, _)| reading)
}

/// The same for a part of a text in a line-based syntax; `done` is called for each chunk without errors, on the thread
/// of its taker. Also returns the number of lines.
pub(crate) fn read_shared<T: Send>(
    input: &mut dyn Read,
    syntax: Syntax,
    options: &ReadOptions,
    part: &Part<'_>,
    takers: &mut [T],
    take: &(dyn Fn(&mut T, Quad<'_>) -> Result<()> + Sync),
    done: &(dyn Fn(&mut T, Piece) -> Result<()> + Sync),
) -> Result<(Reading, u64)> {
    let file = part.file;
    let threads = takers.len().max(1);
    let mut held = options.budget.reserve(threads as u64 * MEMORY + CHUNK as u64)?;
    // Chunks after this one need not be read any more.
    let last = AtomicU64::new(u64::MAX);
    let (send, receive) = mpsc::sync_channel::<Chunk>(threads);
    let (give_back, spare) = mpsc::channel::<Vec<u8>>();
    let receive = Mutex::new(receive);
    let (fed, sums) = std::thread::scope(|scope| {
        let (receive, last) = (&receive, &last);
        let workers: Vec<_> = takers
            .iter_mut()
            .map(|taker| {
                let give_back = give_back.clone();
                scope.spawn(move || {
                    let (mut sum, mut lines) = (Sum::new(file), Lines::default());
                    loop {
                        let next = receive.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok(chunk) = next else { return sum };
                        if chunk.number < last.load(Relaxed) {
                            let mut take = |quad: Quad<'_>| take(taker, quad);
                            let read = chunk.hand_over(&mut lines, syntax, options, &mut sum, &mut take);
                            let told = read.and_then(|piece| piece.map_or(Ok(()), |piece| done(taker, piece)));
                            if let Err(error) = told {
                                last.fetch_min(chunk.number, Relaxed);
                                sum.fail(chunk.number, error);
                            }
                        }
                        // At the end of the text, it is not needed any more.
                        let _ = give_back.send(chunk.bytes);
                    }
                })
            })
            .collect();
        drop(give_back);
        let fed = feed(input, part, &mut |bytes| held.grow(bytes), &mut |chunk| {
            let wanted = chunk.number < last.load(Relaxed) && send.send(chunk).is_ok();
            // If none was returned yet, a new one is created.
            wanted.then(|| spare.try_recv().unwrap_or_default())
        });
        drop(send);
        let sums: Vec<_> = workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        (fed, sums)
    });
    let mut all = Sum::new(file);
    all.findings = Findings::keeping(KEPT * threads);
    for sum in sums {
        all.merge(sum.map_err(|_| Error::malformed("a thread that reads lines ended early"))?);
    }
    all.finish(fed)
}

/// Splits the text into chunks that end with a line. `give` takes each chunk and returns memory for another one, or
/// `None` if no more are needed.
fn feed(
    input: &mut dyn Read,
    part: &Part<'_>,
    grow: &mut dyn FnMut(u64) -> Result<()>,
    give: &mut dyn FnMut(Chunk) -> Option<Vec<u8>>,
) -> Result<()> {
    let (mut number, mut lines, mut offset) = (0, part.lines, part.offset);
    let (mut rest, mut bytes): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
    let mut largest = CHUNK;
    loop {
        bytes.clear();
        bytes.append(&mut rest);
        let mut wanted = CHUNK.max(bytes.len());
        let end = loop {
            let before = bytes.len();
            let read = Read::take(&mut *input, (wanted - before) as u64).read_to_end(&mut bytes);
            read.map_err(Error::from)?;
            if bytes.len() < wanted {
                break None;
            }
            if let Some(end) = memchr::memrchr(b'\n', bytes.get(before..).unwrap_or_default()) {
                break Some(before + end + 1);
            }
            // One line, longer than all before.
            wanted *= 2;
            if wanted > largest {
                grow((wanted - largest) as u64).map_err(|error| error.at(reached(&bytes, lines, offset)))?;
                largest = wanted;
            }
        };
        if let Some(end) = end {
            rest = bytes.split_off(end);
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let (here, length) = (memchr::memchr_iter(b'\n', &bytes).count() as u64, bytes.len() as u64);
        let Some(spare) = give(Chunk { bytes, number, lines, offset, last: end.is_none() }) else { return Ok(()) };
        if end.is_none() {
            return Ok(());
        }
        bytes = spare;
        number += 1;
        lines += here;
        offset += length;
    }
}

/// The position up to which a line was read; it starts after `lines` lines and `offset` bytes, and has `bytes` so far.
fn reached(bytes: &[u8], lines: u64, offset: u64) -> Place {
    let seen = if offset == 0 { bytes.strip_prefix(MARK).unwrap_or(bytes) } else { bytes };
    // Columns are characters, as the parsers count them.
    let column = 1 + seen.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    let place = Place::default().line(lines + 1).offset(offset + bytes.len() as u64);
    place.in_field(format!("column {column}"))
}

impl Chunk {
    /// Passes its quads on and returns the piece of the text; `None` if some of it was skipped.
    fn hand_over(
        &self,
        lines: &mut Lines,
        syntax: Syntax,
        options: &ReadOptions,
        sum: &mut Sum,
        take: &mut Take<'_>,
    ) -> Result<Option<Piece>> {
        let (quads, skipped) = (sum.quads, sum.skipped);
        let count = self.read(lines, syntax, options, sum, take)?;
        sum.lines += count;
        let (begin, end) = (self.offset, self.offset + self.bytes.len() as u64);
        let piece = Piece { begin, end, lines: count, quads: sum.quads - quads, last: self.last };
        Ok((sum.skipped == skipped).then_some(piece))
    }

    /// Returns its number of lines.
    fn read(
        &self,
        lines: &mut Lines,
        syntax: Syntax,
        options: &ReadOptions,
        sum: &mut Sum,
        take: &mut Take<'_>,
    ) -> Result<u64> {
        // Checking all of it at once is faster; if it is not UTF-8, each line is checked separately.
        let whole = std::str::from_utf8(&self.bytes).ok();
        let marked = self.offset == 0 && self.bytes.starts_with(MARK);
        let (mut start, mut number) = (if marked { MARK.len() } else { 0 }, self.lines);
        while start < self.bytes.len() {
            let rest = self.bytes.get(start..).unwrap_or_default();
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = match whole {
                Some(text) => text.get(start..start + length),
                None => std::str::from_utf8(&rest[..length]).ok(),
            };
            let place = Place::default().line(number + 1).offset(self.offset + start as u64);
            match line.map_or(Line::Unusual, |line| lines.read(line, syntax == Syntax::NQuads)) {
                Line::Quad(quad) => {
                    take(quad).map_err(|error| error.at(place))?;
                    sum.quads += 1;
                }
                Line::Empty => {}
                Line::Unusual => {
                    let mut begin = self.offset + start as u64;
                    // Carriage returns also end lines; each of these is skipped separately if malformed.
                    for line in rest[..length].split(|byte| options.lenient && *byte == b'\r') {
                        let place = Place::default().line(number + 1).offset(begin);
                        sum.take(line, &place, syntax, options, take)?;
                        begin += line.len() as u64 + 1;
                    }
                }
            }
            start += length + 1;
            number += 1;
        }
        Ok(number - self.lines)
    }
}

/// Reads a line. In lenient mode, nothing of a malformed line is passed on: what the parser could read of it may have
/// another meaning than intended, such as the statement of a graph whose name is malformed.
fn read_whole(line: &[u8], syntax: Syntax, options: &ReadOptions, take: &mut Take<'_>) -> Result<Reading> {
    if options.lenient {
        let tried = read_line(line, syntax, options, &mut |_| Ok(()))?;
        if tried.skipped > 0 {
            return Ok(Reading { quads: 0, ..tried });
        }
    }
    read_line(line, syntax, options, take)
}

/// Converts an error of a line to one of the text.
fn moved(error: Error, line: &Place) -> Error {
    match (error.kind(), error.broken_rule()) {
        (Kind::Malformed, Some(rule)) if !error.place().is_empty() => {
            Error::broken(rule, error.message()).at(at(error.place(), line))
        }
        // If a line needs too much memory, the error has its position in the line too, and a hint.
        (Kind::TooLarge, None) if error.place().line.is_some() => {
            let moved = Error::new(Kind::TooLarge, error.message()).at(at(error.place(), line));
            error.hints().fold(moved, Error::hint)
        }
        _ => error.at(line.clone()),
    }
}

/// Converts a place in a line to one in the text.
fn at(inner: &Place, line: &Place) -> Place {
    Place { field: inner.field.clone(), offset: inner.offset.and_then(|at| Some(at + line.offset?)), ..line.clone() }
}
