//! Texts divided into pieces of whole records, and blocks with their content.

use std::io::Read;

use bytes::Bytes;
use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_storage::{Location, pool};
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

use super::files::{self, Packing, TextFile};
use super::{Defaults, Parser, Reading, TextFormat, json};
use crate::OpenOptions;
use crate::block::Block;

/// Size of a piece in bytes. Large enough to be worth a thread, small enough that the resulting block stays in the
/// cache.
const PIECE: u64 = 1 << 20;

/// Maximum size of a record in bytes, whatever the memory.
const RECORD: u64 = 1 << 30;

/// The limit for a record in bytes is at least this, however little memory there is.
const LEAST_RECORD: u64 = 4 << 20;

/// A record may take this fraction of the memory: pieces are read while others are processed, and the block of a piece
/// is about three times as large.
const PART: u64 = 8;

/// Number of bytes in which the reader determines whether a JSON object takes one line or several.
const LOOK: u64 = 1 << 20;

/// The files of a text, and how they are read.
#[derive(Debug, Clone)]
pub struct Text {
    pub(super) files: Vec<TextFile>,
    pub(crate) reading: Reading,
    /// Findings made while opening.
    pub(crate) noticed: Findings,
    /// Whether features are only bytes.
    pub(crate) raw: bool,
    /// Whether weights of nodes are shown.
    pub(crate) node_weights: bool,
    /// Maximum size of a record in bytes.
    record: u64,
}

/// Whole records of one file.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub file: usize,
    /// The line on which it begins, counted from 1.
    pub line: u64,
    /// Its offset in the file, if the file is not compressed.
    pub offset: u64,
    pub text: Bytes,
    /// Whether it is the last piece of the file.
    pub is_last: bool,
}

impl Text {
    /// Opens a file, a directory of files, or the files that match a pattern in the last component (`part-*.tsv`).
    ///
    /// Nothing of the text itself is read, except the beginning of JSON.
    ///
    /// # Errors
    /// Returns an error if nothing exists there, names do not determine the format, or defaults are invalid.
    pub fn open(location: &Location, options: &OpenOptions) -> Result<Text> {
        let (files, meta) = files::find(location, options.format)?;
        let format = options.format.map_or_else(|| files::format(&files, location), Ok)?;
        let mut noticed = Findings::keeping(8);
        let meta = match &options.defaults {
            Some(place) => {
                let blob = isomorph_storage::Blob::open(place)?;
                Some((place.to_string(), blob.read_all(isomorph_storage::limits::MANIFEST_BYTES)?))
            }
            // JSON and TSV state everything.
            None if !format.has_defaults() => None,
            None => meta?.filter(|(_, text)| Defaults::looks_like(text)),
        };
        let defaults = match meta {
            Some((name, text)) => {
                Defaults::parse(&text, &name, format.length(), format.word_for_text().as_bytes(), &mut noticed)?
            }
            None => Defaults::default(),
        };
        let mut reading = Reading {
            format,
            defaults,
            compat: options.compat,
            temporal: options.temporal,
            pretty: false,
            lenient: options.lenient,
        };
        if format == TextFormat::Json
            && let Some(first) = files.first()
        {
            reading.pretty = is_pretty(&first.begin(LOOK)?);
        }
        let record = (options.budget.limit() / PART).clamp(LEAST_RECORD, RECORD);
        Ok(Text { files, reading, noticed, raw: options.raw, node_weights: !options.no_node_weights, record })
    }

    /// Returns the same text as its binary would show it: features are bytes, nodes have no weights, and nothing has
    /// times.
    pub fn as_binary(&self) -> Text {
        Text { raw: true, ..self.clone() }
    }

    /// Returns whether the lines are stated to have times ([`OpenOptions::temporal`]).
    pub fn is_temporal(&self) -> bool {
        self.reading.temporal
    }

    /// Returns the format.
    pub fn format(&self) -> TextFormat {
        self.reading.format
    }

    /// Returns the number of files.
    pub(crate) fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Returns the total size of the files in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.blob.size()).sum()
    }

    /// Returns the name of a file.
    pub(crate) fn file_name(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |file| file.blob.name())
    }

    /// Returns whether pieces of a file can be read again by their offset.
    pub(crate) fn is_plain(&self, file: usize) -> bool {
        !self.reading.pretty && self.files.get(file).is_some_and(|file| file.packing == Packing::None)
    }

    /// Returns the pieces of all files in order.
    pub(crate) fn pieces(&self) -> Pieces<'_> {
        Pieces { text: self, file: 0, line: 1, offset: 0, packed: None }
    }

    /// Returns the pieces of one file.
    pub(crate) fn pieces_of(&self, file: usize) -> Pieces<'_> {
        Pieces { text: self, file, line: 1, offset: 0, packed: None }
    }

    /// Reads a piece of an uncompressed file again.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub(crate) fn piece_at(&self, file: usize, line: u64, range: std::ops::Range<u64>) -> Result<Piece> {
        let found = self.files.get(file).ok_or_else(|| Error::usage("no such file"))?;
        let is_last = range.end == found.blob.size();
        Ok(Piece { file, line, offset: range.start, text: found.blob.read(range)?, is_last })
    }

    /// Parses a piece into `block`.
    ///
    /// # Errors
    /// Returns an error with file, line and column if a record is malformed.
    pub(crate) fn parse(&self, parser: &mut Parser, piece: &Piece, block: &mut Block) -> Result<()> {
        block.clear();
        let parsed = parser.piece(&self.reading, &piece.text, piece.is_last, block);
        parsed.map_err(|fault| fault.in_text(&piece.text, piece.line).at(Place::file(self.file_name(piece.file))))
    }

    /// Reads everything with all threads, and calls `take` with the blocks in order. While `take` runs, further pieces
    /// are read.
    ///
    /// # Errors
    /// Returns the first error, in the order of the text, of reading or of `take`.
    pub(crate) fn each(&self, mut take: impl FnMut(&Piece, &Block) -> Result<()> + Send) -> Result<()> {
        let slots = || (0..pool::threads() * 2).map(|_| Slot::default()).collect::<Vec<_>>();
        let (mut ready, mut next) = (slots(), slots());
        let mut pieces = self.pieces();
        let mut count = self.fill(&mut pieces, &mut ready)?;
        loop {
            let (taken, filled) = pool::run(|| {
                rayon::join(
                    || {
                        ready.iter_mut().take(count).try_for_each(|slot| {
                            slot.parsed.take().unwrap_or(Ok(()))?;
                            slot.piece.as_ref().map_or(Ok(()), |piece| take(piece, &slot.block))
                        })
                    },
                    || self.fill(&mut pieces, &mut next),
                )
            });
            taken?;
            count = filled?;
            if count == 0 {
                return Ok(());
            }
            std::mem::swap(&mut ready, &mut next);
        }
    }

    /// Reads as many pieces as there are slots, or fewer if records are long; returns their number.
    fn fill(&self, pieces: &mut Pieces<'_>, slots: &mut [Slot]) -> Result<usize> {
        let (mut count, mut bytes) = (0, 0);
        let most = self.record.max(slots.len() as u64 * PIECE);
        for slot in slots.iter_mut() {
            if slot.piece.take().is_some_and(|piece| piece.text.len() as u64 > 2 * PIECE) {
                // Memory for a long record is not kept for short ones.
                (slot.parser, slot.block) = Default::default();
            }
            if bytes >= most {
                continue;
            }
            slot.piece = pieces.next_piece()?;
            let Some(piece) = &slot.piece else { break };
            bytes += piece.text.len() as u64;
            count += 1;
        }
        pool::run(|| {
            slots[..count].par_iter_mut().for_each(|slot| {
                if let Some(piece) = &slot.piece {
                    slot.parsed = Some(self.parse(&mut slot.parser, piece, &mut slot.block));
                }
            });
        });
        Ok(count)
    }
}

/// A piece and its block.
#[derive(Default)]
struct Slot {
    piece: Option<Piece>,
    parser: Parser,
    block: Block,
    parsed: Option<Result<()>>,
}

/// Returns whether the first object continues after the first line.
fn is_pretty(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let line = memchr::memchr(b'\n', text).map_or(text, |end| &text[..end]);
    line.len() < text.len() && line.first() == Some(&b'{') && json::object_end(line).is_none()
}

/// Pieces of files, in order.
pub(crate) struct Pieces<'a> {
    text: &'a Text,
    file: usize,
    line: u64,
    offset: u64,
    packed: Option<Packed>,
}

/// A file that must be read from its beginning.
struct Packed {
    reader: Box<dyn Read + Send>,
    left: Vec<u8>,
}

impl Pieces<'_> {
    /// Returns the next piece of this file or of a later one.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or a record is too long.
    pub fn next_piece(&mut self) -> Result<Option<Piece>> {
        while self.file < self.text.files.len() {
            if let Some(piece) = self.next_of_file()? {
                return Ok(Some(piece));
            }
            (self.file, self.line, self.offset, self.packed) = (self.file + 1, 1, 0, None);
        }
        Ok(None)
    }

    /// Returns the next piece of this file.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or a record is too long.
    pub fn next_of_file(&mut self) -> Result<Option<Piece>> {
        let (text, is_last) = if self.text.is_plain(self.file) { self.plain()? } else { self.packed()? };
        if text.is_empty() {
            return Ok(None);
        }
        let piece = Piece { file: self.file, line: self.line, offset: self.offset, text, is_last };
        self.line += memchr::memchr_iter(b'\n', &piece.text).count() as u64;
        self.offset += piece.text.len() as u64;
        Ok(Some(piece))
    }

    fn too_long(&self) -> Error {
        let place = Place::file(self.text.file_name(self.file)).line(self.line);
        let limit = self.text.record;
        let error = Error::new(Kind::TooLarge, format!("a record is longer than {limit} bytes")).at(place);
        match limit < RECORD {
            true => error.hint(format!("--memory SIZE    a record may take 1/{PART} of it, up to {RECORD} bytes")),
            false => error.hint("divide the edges of the node among several records"),
        }
    }

    /// Returns a larger size to try if a piece of `size` bytes contains no whole record.
    ///
    /// # Errors
    /// Returns an error if a record is too long.
    fn larger(&self, size: u64) -> Result<u64> {
        if size >= self.text.record { Err(self.too_long()) } else { Ok((size * 4).min(self.text.record)) }
    }

    /// Reads up to the last line end within the size of a piece, or to the first line end beyond it. Returns whether
    /// the file ends there.
    fn plain(&self) -> Result<(Bytes, bool)> {
        let Some(file) = self.text.files.get(self.file) else { return Ok((Bytes::new(), true)) };
        let mut size = PIECE;
        loop {
            let end = file.blob.size().min(self.offset.saturating_add(size));
            let bytes = file.blob.read(self.offset..end)?;
            if end == file.blob.size() {
                return Ok((bytes, true));
            }
            if let Some(cut) = memchr::memrchr(b'\n', &bytes) {
                return Ok((bytes.slice(..=cut), false));
            }
            size = self.larger(size)?;
        }
    }

    fn packed(&mut self) -> Result<(Bytes, bool)> {
        let Some(file) = self.text.files.get(self.file) else { return Ok((Bytes::new(), true)) };
        let mut packed = match self.packed.take() {
            Some(packed) => packed,
            None => Packed { reader: file.reader()?, left: Vec::new() },
        };
        let mut size = PIECE;
        loop {
            // One more byte shows whether the file ends with the piece.
            let wanted = (size + 1).saturating_sub(packed.left.len() as u64);
            let read = packed.reader.by_ref().take(wanted).read_to_end(&mut packed.left);
            let read = read.map_err(|error| {
                let damaged = "the file cannot be decompressed completely";
                Error::malformed(damaged).caused_by(error).at(file.blob.place())
            })? as u64;
            let cut = match read < wanted {
                true => packed.left.len(),
                false => self.cut(&packed.left),
            };
            if cut > 0 || read < wanted {
                let rest = packed.left.split_off(cut);
                let piece = std::mem::replace(&mut packed.left, rest);
                let is_last = read < wanted && packed.left.is_empty();
                self.packed = Some(packed);
                return Ok((piece.into(), is_last));
            }
            size = self.larger(size)?;
        }
    }

    /// Returns where the last whole record ends.
    fn cut(&self, text: &[u8]) -> usize {
        if !self.text.reading.pretty {
            return memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
        }
        let mut cut = 0;
        while let Some(end) = json::object_end(&text[cut..]) {
            cut += end;
        }
        cut
    }
}
