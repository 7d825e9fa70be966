//! Splits the text into pieces of whole lines.

use std::io::Read;
use std::ops::Range;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_tables::{PackedFile, Packing};

/// Bytes in a piece. Large enough to be worth a thread, small enough for its results to stay in the cache.
const PIECE: usize = 1 << 20;

/// Maximum length of a line, in bytes.
const LINE: usize = 64 << 20;

/// Whole lines of a text.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The number of its first line, from 1.
    pub line: u64,
    /// Its offset in the decompressed text.
    pub offset: u64,
    pub text: Bytes,
}

/// The pieces of a file, in order.
pub(crate) struct Pieces {
    reader: Box<dyn Read + Send>,
    place: Place,
    left: Vec<u8>,
    line: u64,
    offset: u64,
    is_done: bool,
}

impl Pieces {
    /// Returns the pieces of a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be decompressed.
    pub fn of(file: &PackedFile) -> Result<Pieces> {
        let (reader, place) = (file.reader()?, file.blob.place());
        Ok(Pieces { reader, place, left: Vec::new(), line: 1, offset: 0, is_done: false })
    }

    /// Returns the next piece.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or decompressed, or a line is too long.
    pub fn next(&mut self) -> Result<Option<Piece>> {
        let mut size = PIECE;
        while !self.is_done {
            let wanted = size.saturating_sub(self.left.len());
            let read = self.reader.by_ref().take(wanted as u64).read_to_end(&mut self.left);
            let read = read.map_err(|error| Error::from(error).at(self.place.clone()))?;
            self.is_done = read < wanted;
            let cut = match self.is_done {
                true => self.left.len(),
                false => memchr::memrchr(b'\n', &self.left).map_or(0, |at| at + 1),
            };
            if cut > 0 {
                let rest = self.left.split_off(cut);
                let text = Bytes::from(std::mem::replace(&mut self.left, rest));
                let piece = Piece { line: self.line, offset: self.offset, text };
                self.line += memchr::memchr_iter(b'\n', &piece.text).count() as u64;
                self.offset += piece.text.len() as u64;
                return Ok(Some(piece));
            }
            if self.left.len() >= LINE {
                let message = format!("a line is longer than {LINE} bytes");
                return Err(Error::new(Kind::TooLarge, message).at(self.place.clone().line(self.line)));
            }
            size = (size * 4).min(LINE);
        }
        Ok(None)
    }
}

/// Reads a piece of an uncompressed file again.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(crate) fn piece_at(file: &PackedFile, line: u64, range: Range<u64>) -> Result<Piece> {
    Ok(Piece { line, offset: range.start, text: file.blob.read(range)? })
}

/// Returns whether pieces can be read individually.
pub(crate) fn is_plain(file: &PackedFile) -> bool {
    file.packing == Packing::None
}
