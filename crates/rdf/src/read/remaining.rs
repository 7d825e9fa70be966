//! Reads the rest of a text of which pieces were read before.

use std::io::{self, Read};

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::Quad;
use isomorph_storage::{Blob, BlobReader};

use super::{ReadOptions, Reading, Text, read_of};
use crate::Syntax;
use crate::lines::{self, Part};
use crate::packing::Packing;

/// Number of quads between two pieces of a text that is not line-based.
const QUADS: u64 = 1 << 12;

/// A piece of a text whose quads were all passed on.
///
/// Positions in line-based texts are bytes of the decompressed text. In other texts they are numbers of quads, because
/// the text after a position can only be read with everything before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Its start.
    pub begin: u64,
    /// Its end.
    pub end: u64,
    /// Number of lines in it; 0 if positions are numbers of quads.
    pub lines: u64,
    /// Number of quads in it, including duplicates.
    pub quads: u64,
    /// Whether it is the end of the text.
    pub last: bool,
}

impl Text {
    /// Reads, like [`Text::read_shared`], what is not in `before`, pieces of the same text in order. Calls `done` for
    /// each piece whose quads were all passed on, on the thread of its taker; but not for pieces with errors that were
    /// skipped, so that these are reported again. The quads of `before` count as read.
    ///
    /// # Errors
    /// As [`Text::read_shared`], and the errors of `done`.
    pub fn read_pieces<T: Send>(
        &self,
        options: &ReadOptions,
        before: &[Piece],
        takers: &mut [T],
        take: &(dyn Fn(&mut T, Quad<'_>) -> Result<()> + Sync),
        done: &(dyn Fn(&mut T, Piece) -> Result<()> + Sync),
    ) -> Result<Reading> {
        let reading = match lines::is_of_lines(self.syntax) {
            true => self.read_gaps(options, before, takers, take, done),
            false => match takers.first_mut() {
                Some(first) => self.read_rest(options, before, first, take, done),
                None => Err(Error::usage("there must be at least one taker")),
            },
        };
        let reading = reading.map_err(|error| self.nearer(error, options).at(self.blob.place()))?;
        self.blob.check_unchanged()?;
        Ok(reading)
    }

    /// Reads one of the pieces that make up a line-based, uncompressed text, which starts after this number of lines,
    /// and passes its quads on in order.
    ///
    /// # Errors
    /// As [`Text::read`].
    pub(crate) fn read_piece(
        &self,
        options: &ReadOptions,
        (piece, lines): (&Piece, u64),
        take: &mut super::Take<'_>,
    ) -> Result<()> {
        let (file, length) = (self.blob.place(), piece.end - piece.begin);
        let read = || -> Result<()> {
            let mut input = self.blob.reader();
            input.go_to(piece.begin);
            let part = Part { file: &file, lines, offset: piece.begin };
            let (mut input, mut taker) = (Read::take(&mut input, length), take);
            let all = |_: &mut &mut super::Take<'_>, _| Ok(());
            let read =
                lines::read_here(&mut input, self.syntax, options, &part, &mut taker, &|take, quad| take(quad), &all);
            if read?.0.quads == piece.quads { Ok(()) } else { Err(changed()) }
        };
        read().map_err(|error| error.at(self.blob.place()))
    }

    /// The rest of a text that must be read from its beginning: what was read before is read again, but not passed on.
    fn read_rest<T>(
        &self,
        options: &ReadOptions,
        before: &[Piece],
        taker: &mut T,
        take: &dyn Fn(&mut T, Quad<'_>) -> Result<()>,
        done: &dyn Fn(&mut T, Piece) -> Result<()>,
    ) -> Result<Reading> {
        // There is at most one piece: quads are read in order.
        let before = before.first().filter(|piece| piece.begin == 0);
        if let Some(piece) = before.filter(|piece| piece.last) {
            return Ok(Reading { quads: piece.quads, ..Reading::default() });
        }
        let known = before.map_or(0, |piece| piece.end);
        let (mut number, mut told) = (0, known);
        let piece = |begin: u64, end: u64, last| Piece { begin, end, lines: 0, quads: end - begin, last };
        let mut input = self.packing.reader(&self.blob)?;
        let reading = read_of(&mut input, self.syntax, options, &self.blob.place(), &mut |quad| {
            number += 1;
            if number <= known {
                return Ok(());
            }
            take(taker, quad)?;
            if number - told == QUADS {
                done(taker, piece(told, number, false))?;
                told = number;
            }
            Ok(())
        })?;
        if reading.skipped == 0 && number >= told {
            done(taker, piece(told, number, true))?;
        }
        Ok(reading)
    }

    /// The parts between and after the pieces of a line-based text.
    fn read_gaps<T: Send>(
        &self,
        options: &ReadOptions,
        before: &[Piece],
        takers: &mut [T],
        take: &(dyn Fn(&mut T, Quad<'_>) -> Result<()> + Sync),
        done: &(dyn Fn(&mut T, Piece) -> Result<()> + Sync),
    ) -> Result<Reading> {
        let takers = sharing(options, takers);
        let mut input = Passing::new(self.packing, &self.blob)?;
        let mut all = Reading { quads: before.iter().map(|piece| piece.quads).sum(), ..Reading::default() };
        let (mut begin, mut lines) = (0, 0);
        let file = self.blob.place();
        // There may be more after the last piece, up to an unknown end.
        for piece in before.iter().map(Some).chain([None]) {
            let end = piece.map(|piece| piece.begin);
            if end.is_none_or(|end| end > begin) {
                input.go_to(begin)?;
                let mut input = Read::take(&mut input, end.map_or(u64::MAX, |end| end - begin));
                let part = Part { file: &file, lines, offset: begin };
                let told =
                    |taker: &mut T, piece: Piece| done(taker, Piece { last: piece.last && end.is_none(), ..piece });
                let (reading, read) = read_part(&mut input, self.syntax, options, &part, takers, take, &told)?;
                all.quads += reading.quads;
                all.skipped += reading.skipped;
                all.findings.merge(reading.findings);
                lines += read;
            }
            if let Some(piece) = piece {
                if piece.last {
                    break;
                }
                (begin, lines) = (piece.end, lines + piece.lines);
            }
        }
        Ok(all)
    }
}

/// The error for a text that has changed since it was opened.
pub(crate) fn changed() -> Error {
    Error::new(Kind::Conflict, "the text changed while it was read")
}

/// The `takers` that share the work: each needs memory for its part, so with little memory there are fewer.
pub(super) fn sharing<'t, T>(options: &ReadOptions, takers: &'t mut [T]) -> &'t mut [T] {
    let many = usize::try_from(options.budget.available() / 4 / lines::MEMORY).unwrap_or(usize::MAX);
    let used = takers.len().min(many).max(1);
    takers.get_mut(..used).unwrap_or_default()
}

/// Reads a part of a line-based text on as many threads as there are takers.
pub(super) fn read_part<T: Send>(
    input: &mut dyn Read,
    syntax: Syntax,
    options: &ReadOptions,
    part: &Part<'_>,
    takers: &mut [T],
    take: &(dyn Fn(&mut T, Quad<'_>) -> Result<()> + Sync),
    done: &(dyn Fn(&mut T, Piece) -> Result<()> + Sync),
) -> Result<(Reading, u64)> {
    match takers {
        [] => Err(Error::usage("there must be at least one taker")),
        [only] => lines::read_here(input, syntax, options, part, only, take, done),
        takers => lines::read_shared(input, syntax, options, part, takers, take, done),
    }
}

/// A text that is read from increasing positions.
enum Passing {
    Plain(BlobReader),
    /// Skipped parts must be decompressed as well.
    Packed(Box<dyn Read + Send>, u64),
}

impl Passing {
    fn new(packing: Packing, blob: &Blob) -> Result<Self> {
        Ok(match packing {
            Packing::None => Passing::Plain(blob.reader()),
            packed => Passing::Packed(packed.reader(blob)?, 0),
        })
    }

    fn go_to(&mut self, offset: u64) -> Result<()> {
        match self {
            Passing::Plain(reader) => reader.go_to(offset),
            Passing::Packed(reader, position) => {
                let mut between = Read::take(&mut *reader, offset.saturating_sub(*position));
                *position += io::copy(&mut between, &mut io::sink())?;
            }
        }
        Ok(())
    }
}

impl Read for Passing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Passing::Plain(reader) => reader.read(buffer),
            Passing::Packed(reader, position) => {
                let read = reader.read(buffer)?;
                *position += read as u64;
                Ok(read)
            }
        }
    }
}
