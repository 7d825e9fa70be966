//! All terms of all runs in one order, each once; and the new position of each run's terms.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::{BufWriter, Seek, SeekFrom, Write};

use isomorph_error::{Error, Kind, Result, index};
use isomorph_storage::{Budget, Scratch, ScratchFile};

use super::map::Map;
use super::run::{RESOURCE, Run, term_order};

/// Bytes that are gathered before they are written.
const BLOCK: usize = 256 << 10;

/// Maximum and minimum bytes of a run that are read at once.
const MOST: u64 = 256 << 10;
const LEAST: u64 = 16 << 10;

/// Positions of a run's terms that are gathered before they are written.
const PLACES: usize = 2 << 10;

/// Bytes of a cache line on almost every machine.
const LINE: u64 = 64;

/// Tag and length before the text of a term in a run.
const HEAD: usize = 8;

/// Different terms in order, in temporary files.
pub(super) struct Dictionary {
    /// Tag and text of each.
    terms: Map,
    /// Where each begins, and where the last one ends.
    starts: Map,
    /// For every run the new positions of its terms, run after run; `None` if there is only one run, whose terms keep
    /// their positions.
    places: Option<Map>,
    /// Where the positions of each run begin.
    firsts: Vec<usize>,
    datatypes: Vec<String>,
}

/// A term: its text and, if it is a literal, its datatype.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term<'a> {
    pub(super) text: &'a str,
    pub(super) datatype: Option<&'a str>,
}

impl Dictionary {
    /// Merges the terms of the runs of several files.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] for more than 2^32 terms; [`Kind::NoSpace`], [`Kind::Io`].
    pub(super) fn merge(
        files: &[(ScratchFile, Vec<Run>)],
        datatypes: Vec<String>,
        budget: &Budget,
        scratch: &Scratch,
    ) -> Result<Self> {
        let runs = || files.iter().flat_map(|(file, runs)| runs.iter().map(move |run| (file, run)));
        let count = runs().count();
        let once = (budget.available() / 4 / (count as u64 + 1)).clamp(LEAST, MOST);
        let _held = budget.reserve(count as u64 * (once + 4 * PLACES as u64))?;
        let mut firsts = Vec::with_capacity(count);
        let mut first = 0;
        let mut heap = BinaryHeap::with_capacity(count);
        for (number, (file, run)) in runs().enumerate() {
            firsts.push(first);
            let mut input = Input {
                file,
                datatypes: &datatypes,
                number,
                once,
                read: run.terms_at,
                end: run.terms_end,
                block: Vec::new(),
                at: 0,
                length: 0,
                places: Vec::new(),
                written: first,
            };
            first += run.terms as usize;
            if input.advance()? {
                heap.push(input);
            }
        }
        let mut terms = BufWriter::with_capacity(BLOCK, scratch.create()?);
        let mut starts = BufWriter::with_capacity(BLOCK, scratch.create()?);
        let mut places = scratch.create()?;
        let (mut place, mut position) = (0u64, 0u64);
        let (mut last, mut last_tag) = (Vec::new(), RESOURCE);
        while let Some(mut top) = heap.peek_mut() {
            let again = place > 0 && last_tag == top.tag() && last == top.text();
            if !again {
                last.clear();
                last.extend_from_slice(top.text());
                last_tag = top.tag();
                starts.write_all(&position.to_le_bytes())?;
                terms.write_all(&last_tag.to_le_bytes())?;
                terms.write_all(&last)?;
                position += 4 + last.len() as u64;
                place += 1;
            }
            if count > 1 {
                let too_many = |_| Error::new(Kind::TooLarge, "more than 2^32 different terms");
                top.note(u32::try_from(place - 1).map_err(too_many)?, &mut places)?;
            }
            if !top.advance()? {
                let done = PeekMut::pop(top);
                done.flush(&mut places)?;
            }
        }
        starts.write_all(&position.to_le_bytes())?;
        let whole = |file: BufWriter<ScratchFile>| file.into_inner().map_err(|error| Error::from(error.into_error()));
        Ok(Dictionary {
            terms: Map::new(whole(terms)?)?,
            starts: Map::new(whole(starts)?)?,
            places: if count > 1 { Some(Map::new(places)?) } else { None },
            firsts,
            datatypes,
        })
    }

    /// The new position of a term of a run.
    pub(super) fn place(&self, run: usize, place: u32) -> u32 {
        match &self.places {
            None => place,
            Some(places) => places.u32(self.firsts.get(run).copied().unwrap_or_default() + place as usize),
        }
    }

    /// Touches the terms at these positions, which are far apart, so that they are in the cache when they are used one
    /// by one: the machine waits for many of them at the same time. The result has no meaning.
    pub(super) fn touch(&self, places: &[u32]) -> u64 {
        let begin = |place: &u32| self.starts.u64(*place as usize);
        let starts = places.iter().fold(0u64, |sum, place| sum.wrapping_add(begin(place)));
        let byte = |at: u64| u64::from(self.terms.bytes().get(index(at)).copied().unwrap_or_default());
        // Most terms are in one or two cache lines.
        places.iter().fold(starts, |sum, place| {
            sum.wrapping_add(byte(begin(place))).wrapping_add(byte(begin(place).wrapping_add(LINE)))
        })
    }

    /// The term at a position.
    ///
    /// # Errors
    /// Returns an error if the temporary file was changed.
    pub(super) fn term(&self, place: u32) -> Result<Term<'_>> {
        let changed = || Error::new(Kind::Io, "a temporary file was changed");
        let at = place as usize;
        let (start, end) = (index(self.starts.u64(at)), index(self.starts.u64(at + 1)));
        let (tag, text) = self.terms.bytes().get(start..end).and_then(<[u8]>::split_first_chunk).ok_or_else(changed)?;
        let text = std::str::from_utf8(text).map_err(|_| changed())?;
        let datatype = match u32::from_le_bytes(*tag) {
            RESOURCE => None,
            tag => Some(self.datatypes.get(tag as usize - 1).map_or("", String::as_str)),
        };
        Ok(Term { text, datatype })
    }
}

/// The terms of one run, one after another.
struct Input<'a> {
    file: &'a ScratchFile,
    datatypes: &'a [String],
    number: usize,
    /// Bytes that are read at once.
    once: u64,
    /// Offset in the file of the block's end.
    read: u64,
    end: u64,
    block: Vec<u8>,
    at: usize,
    length: usize,
    /// New positions that are not written yet, and where they belong.
    places: Vec<u8>,
    written: usize,
}

impl Input<'_> {
    fn number_at(&self, at: usize) -> u32 {
        let bytes = self.block.get(self.at + at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    fn tag(&self) -> u32 {
        self.number_at(0)
    }

    fn text(&self) -> &[u8] {
        self.block.get(self.at + HEAD..self.at + self.length).unwrap_or_default()
    }

    /// Advances to the next term; false at the end.
    fn advance(&mut self) -> Result<bool> {
        self.at += self.length;
        self.length = 0;
        let mut needed = HEAD;
        loop {
            let there = self.block.len() - self.at;
            if there >= needed {
                let length = HEAD + self.number_at(4) as usize;
                if there >= length {
                    self.length = length;
                    return Ok(true);
                }
                needed = length;
            }
            if self.read >= self.end {
                return Ok(false);
            }
            self.block.drain(..self.at);
            self.at = 0;
            let kept = self.block.len();
            let more = self.once.max((needed - kept) as u64).min(self.end - self.read);
            self.block.resize(kept + index(more), 0);
            self.file.read_exact_at(&mut self.block[kept..], self.read)?;
            self.read += more;
        }
    }

    /// Records the new position of the current term.
    fn note(&mut self, place: u32, out: &mut ScratchFile) -> Result<()> {
        self.places.extend_from_slice(&place.to_le_bytes());
        if self.places.len() < 4 * PLACES {
            return Ok(());
        }
        self.flush(out)?;
        self.written += self.places.len() / 4;
        self.places.clear();
        Ok(())
    }

    fn flush(&self, out: &mut ScratchFile) -> Result<()> {
        if self.places.is_empty() {
            return Ok(());
        }
        out.seek(SeekFrom::Start(4 * self.written as u64))?;
        out.write_all(&self.places).map_err(Error::from)
    }
}

impl Ord for Input<'_> {
    /// The heap returns its greatest element first, which must be the smallest term.
    fn cmp(&self, other: &Self) -> Ordering {
        let tags = || term_order(self.datatypes, other.tag(), self.tag());
        other.text().cmp(self.text()).then_with(tags).then_with(|| other.number.cmp(&self.number))
    }
}

impl PartialOrd for Input<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Input<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Input<'_> {}
