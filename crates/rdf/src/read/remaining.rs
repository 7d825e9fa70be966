//! Reading what is left of a text of which pieces were read before.

use std::io::{self, Read};

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::Quad;
use isomorph_storage::{Blob, BlobReader};

use super::{ReadOptions, Reading, Text, read_of};
use crate::Syntax;
use crate::lines::{self, Part};
use crate::packing::Packing;

/// Quads of a text that is no text of lines between two pieces.
const QUADS: u64 = 1 << 12;

/// A piece of a text whose quads were all handed over.
///
/// Texts of lines are counted in bytes, as they are when they are unpacked; others in quads, because nothing behind a place can be
/// understood without what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins.
    pub begin: u64,
    /// Where it ends.
    pub end: u64,
    /// Lines in it; 0 in a text that is counted in quads.
    pub lines: u64,
    /// Quads in it, equal ones each time.
    pub quads: u64,
    /// Whether the text ends with it.
    pub last: bool,
}

impl Text {
    /// Reads as [`Text::read_shared`] what is not in `before`, pieces of the same text in their order, and tells `done` of each piece
    /// whose quads a taker has got, on the thread of that taker; not of those with mistakes that were skipped, so that they
    /// are told again. The quads of `before` count as read.
    ///
    /// # Errors
    /// As [`Text::read_shared`], and those of `done`.
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
                None => Err(Error::usage("nobody takes what is read")),
            },
        };
        let reading = reading.map_err(|error| self.nearer(error, options).at(self.blob.place()))?;
        self.blob.check_unchanged()?;
        Ok(reading)
    }

    /// Reads one of the pieces that make up a text of lines which is not packed, behind so many lines, and hands its quads over in their order.
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

    /// The rest of a text that must be understood from its beginning: what was read before is read again, and not handed over.
    fn read_rest<T>(
        &self,
        options: &ReadOptions,
        before: &[Piece],
        taker: &mut T,
        take: &dyn Fn(&mut T, Quad<'_>) -> Result<()>,
        done: &dyn Fn(&mut T, Piece) -> Result<()>,
    ) -> Result<Reading> {
        // There is one piece at most: quads come in their order.
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

    /// What lies between pieces of a text of lines, and behind them.
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
        // Behind the last piece there may be more, up to an end that nobody knows.
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

/// The error for a text that is not as it was when it was opened.
pub(crate) fn changed() -> Error {
    Error::new(Kind::Conflict, "the text changed while it was read")
}

/// Those of `takers` that share the work: each needs memory for its part, and where there is little, they are fewer.
pub(super) fn sharing<'t, T>(options: &ReadOptions, takers: &'t mut [T]) -> &'t mut [T] {
    let many = usize::try_from(options.budget.available() / 4 / lines::MEMORY).unwrap_or(usize::MAX);
    let used = takers.len().min(many).max(1);
    takers.get_mut(..used).unwrap_or_default()
}

/// Reads a part of a text of lines on as many threads as there are takers.
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
        [] => Err(Error::usage("nobody takes what is read")),
        [only] => lines::read_here(input, syntax, options, part, only, take, done),
        takers => lines::read_shared(input, syntax, options, part, takers, take, done),
    }
}

/// A text that is read from places further and further behind.
enum Passing {
    Plain(BlobReader),
    /// What is passed over is unpacked all the same.
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
