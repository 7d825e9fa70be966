//! Tables for weighted sampling, built by Vose's method with 32-bit floats.
//!
//! The method keeps two stacks of elements, those below the mean and the others, filled in ascending order. An element
//! that becomes small is pushed onto the stack of small ones and popped next. Both stacks are therefore traversed from
//! their end to their beginning, with at most one element in between: two cursors that run backwards over the weights
//! replace the stacks, and tables larger than memory consist of pages that are read a few times.

use std::borrow::Cow;

use isomorph_error::{Error, Kind, Result};

use super::buffered::Gathered;
use super::pages::{Pages, Room};

/// Number of elements of a page.
const PAGE: usize = 16_384;

/// Maximum number of values that numpy sums with eight parallel sums.
const BLOCK: usize = 128;

/// The weighted elements of one type, with `ID` bytes of ids each.
#[derive(Debug)]
pub(super) struct Alias<const ID: usize> {
    room: Room,
    pages: Pages,
    /// The last page, which is not yet full: ids and weight of each element.
    open: Vec<u8>,
    count: u64,
}

impl<const ID: usize> Alias<ID> {
    const RECORD: usize = ID + 4;

    pub fn new(room: &Room) -> Self {
        Alias { room: room.clone(), pages: Pages::new(room), open: Vec::new(), count: 0 }
    }

    /// Adds an element.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory or disk space.
    #[inline]
    pub fn push(&mut self, id: [u8; ID], weight: f32) -> Result<()> {
        if self.open.capacity() == 0 {
            self.open.reserve_exact(PAGE * Self::RECORD);
        }
        self.open.extend_from_slice(&id);
        self.open.extend_from_slice(&weight.to_le_bytes());
        self.count += 1;
        if self.open.len() == PAGE * Self::RECORD {
            self.pages.push(std::mem::take(&mut self.open))?;
        }
        Ok(())
    }

    /// Writes the table: for each element its ids, those of its alias (0 if there is none), and its own probability. If
    /// an id has two parts, both precede those of the alias.
    ///
    /// # Errors
    /// Returns an error if there are more than 2^32 elements, or a file cannot be written.
    pub fn write(mut self, out: &mut Gathered) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let count = u32::try_from(self.count).map_err(|_| {
            Error::new(Kind::TooLarge, "more than 4294967295 elements of one type in one partition")
                .hint("write more partitions")
        })?;
        if !self.open.is_empty() {
            self.pages.push(std::mem::take(&mut self.open))?;
        }
        let sum = self.sum(count as usize)?;
        let scale = count as f32 / sum;
        let (of_small, of_large) = self.sweep(scale)?;
        self.emit(scale, &of_small, &of_large, out)
    }

    /// Returns the bytes of page `page`.
    fn page(&self, page: usize) -> Result<Cow<'_, [u8]>> {
        self.pages.get(page)
    }

    /// Returns the sum of the weights, in the order in which numpy adds them.
    fn sum(&self, count: usize) -> Result<f32> {
        let (mut page, mut bytes, mut at) = (0, Cow::Borrowed(&[][..]), 0);
        pairwise(count, &mut || {
            if at == bytes.len() {
                (bytes, at) = (self.page(page)?, 0);
                page += 1;
            }
            at += Self::RECORD;
            Ok(weight_of(&bytes[at - Self::RECORD..at]))
        })
    }

    /// Pops both stacks until one is empty. Returns the results of small elements (their alias) and of large ones.
    fn sweep(&self, scale: f32) -> Result<(Results<4>, Results<8>)> {
        let mut small = Sweep::new(self, scale, true);
        let mut large = Sweep::new(self, scale, false);
        let (mut of_small, mut of_large) = (Results::new(self), Results::new(self));
        // An element that was large and has become small is on top of the stack of small ones.
        let mut fallen: Option<(u32, f32)> = None;
        let mut top = large.next()?;
        while let Some((high, high_weight)) = top {
            let low_weight = match fallen.take() {
                Some((low, weight)) => {
                    of_large.push(low, result(weight, high))?;
                    weight
                }
                None => {
                    let Some((low, weight)) = small.next()? else { break };
                    of_small.push(low, high.to_le_bytes())?;
                    weight
                }
            };
            let weight = (high_weight + low_weight) - 1.0;
            if weight < 1.0 {
                fallen = Some((high, weight));
                top = large.next()?;
            } else {
                top = Some((high, weight));
            }
        }
        // The remaining element has probability 1.
        if let Some((low, _)) = fallen {
            of_large.push(low, result(1.0, NONE))?;
        }
        while let Some((high, _)) = top {
            of_large.push(high, result(1.0, NONE))?;
            top = large.next()?;
        }
        while let Some((low, _)) = small.next()? {
            of_small.push(low, NONE.to_le_bytes())?;
        }
        of_small.finish()?;
        of_large.finish()?;
        Ok((of_small, of_large))
    }

    /// Writes the records in their order.
    fn emit(&self, scale: f32, of_small: &Results<4>, of_large: &Results<8>, out: &mut Gathered) -> Result<()> {
        let mut buffer = Vec::with_capacity(PAGE * (2 * ID + 4));
        // Aliases of either kind ascend with their elements, so that each needs only one page at a time.
        let (mut beside_small, mut beside_large) = (Ids::new(self), Ids::new(self));
        for page in 0..self.pages.len() {
            let bytes = self.page(page)?;
            let (small, large) = (of_small.page(page)?, of_large.page(page)?);
            let (mut small, mut large) = (small.rchunks_exact(4), large.rchunks_exact(8));
            for record in bytes.chunks_exact(Self::RECORD) {
                buffer.extend_from_slice(&record[..ID]);
                let weight = weight_of(record) * scale;
                let (probability, alias, ids) = if weight < 1.0 {
                    let alias = small.next().map_or(NONE, number);
                    (if alias == NONE { 1.0 } else { weight }, alias, &mut beside_small)
                } else {
                    let (probability, alias) =
                        large.next().map_or((1.0, NONE), |result| (weight_of(&result[..4]), number(&result[4..])));
                    (probability, alias, &mut beside_large)
                };
                match alias {
                    NONE => buffer.extend_from_slice(&[0; ID]),
                    alias => buffer.extend_from_slice(ids.of(alias)?),
                }
                buffer.extend_from_slice(&probability.to_le_bytes());
            }
            out.push(&buffer)?;
            buffer.clear();
        }
        Ok(())
    }
}

/// No alias.
const NONE: u32 = u32::MAX;

/// Returns the result of a large element: its probability and its alias.
fn result(probability: f32, alias: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&probability.to_le_bytes());
    bytes[4..].copy_from_slice(&alias.to_le_bytes());
    bytes
}

fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Returns the float at the end of a record.
fn weight_of(record: &[u8]) -> f32 {
    record.last_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
}

/// The elements of one stack, from its end to its beginning.
struct Sweep<'a, const ID: usize> {
    alias: &'a Alias<ID>,
    scale: f32,
    small: bool,
    /// The current page; lower pages follow.
    page: usize,
    bytes: Cow<'a, [u8]>,
    /// The elements of the page that belong to this stack. They are found without branches, which a processor could not
    /// predict.
    found: Vec<u16>,
    /// The number of elements that are still to come.
    left: usize,
}

// 16 bits are enough for the elements of a page.
const _: () = assert!(PAGE <= 1 << 16);

impl<'a, const ID: usize> Sweep<'a, ID> {
    fn new(alias: &'a Alias<ID>, scale: f32, small: bool) -> Self {
        let found = vec![0; PAGE];
        Sweep { alias, scale, small, page: alias.pages.len(), bytes: Cow::Borrowed(&[]), found, left: 0 }
    }

    #[inline]
    fn next(&mut self) -> Result<Option<(u32, f32)>> {
        while self.left == 0 {
            if self.page == 0 {
                return Ok(None);
            }
            self.page -= 1;
            self.bytes = self.alias.page(self.page)?;
            self.find();
        }
        self.left -= 1;
        let at = usize::from(self.found[self.left]);
        let weight = weight_of(&self.bytes[..(at + 1) * Alias::<ID>::RECORD]) * self.scale;
        #[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 elements")]
        Ok(Some(((self.page * PAGE + at) as u32, weight)))
    }

    /// Finds the elements of this stack in the page.
    fn find(&mut self) {
        self.left = 0;
        for (at, record) in self.bytes.chunks_exact(Alias::<ID>::RECORD).enumerate() {
            if let Some(place) = self.found.get_mut(self.left) {
                #[expect(clippy::cast_possible_truncation, reason = "16 bits are enough for the elements of a page")]
                let at = at as u16;
                *place = at;
            }
            // A weight that is not a number is not small.
            self.left += usize::from((weight_of(record) * self.scale < 1.0) == self.small);
        }
    }
}

/// The results of elements, from the last to the first, in a page for each page of elements.
struct Results<const SIZE: usize> {
    pages: Pages,
    count: usize,
    /// The current page of elements.
    page: usize,
    open: Vec<u8>,
}

impl<const SIZE: usize> Results<SIZE> {
    fn new<const ID: usize>(alias: &Alias<ID>) -> Self {
        let count = alias.pages.len();
        Results { pages: Pages::new(&alias.room), count, page: count.saturating_sub(1), open: Vec::new() }
    }

    fn push(&mut self, element: u32, result: [u8; SIZE]) -> Result<()> {
        while self.page > element as usize / PAGE {
            self.pages.push(std::mem::take(&mut self.open))?;
            self.page -= 1;
        }
        self.open.extend_from_slice(&result);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        while self.pages.len() < self.count {
            self.pages.push(std::mem::take(&mut self.open))?;
        }
        Ok(())
    }

    /// Returns the results of the elements of a page, from the last to the first.
    fn page(&self, page: usize) -> Result<Cow<'_, [u8]>> {
        self.pages.get(self.count - 1 - page)
    }
}

/// Ids of elements, one page at a time.
struct Ids<'a, const ID: usize> {
    alias: &'a Alias<ID>,
    page: Option<usize>,
    bytes: Cow<'a, [u8]>,
}

impl<'a, const ID: usize> Ids<'a, ID> {
    fn new(alias: &'a Alias<ID>) -> Self {
        Ids { alias, page: None, bytes: Cow::Borrowed(&[]) }
    }

    fn of(&mut self, element: u32) -> Result<&[u8]> {
        let (page, at) = (element as usize / PAGE, element as usize % PAGE);
        if self.page != Some(page) {
            (self.bytes, self.page) = (self.alias.page(page)?, Some(page));
        }
        let start = at * Alias::<ID>::RECORD;
        Ok(&self.bytes[start..start + ID])
    }
}

/// Returns the sum of `count` values as numpy computes it: recursively in halves down to blocks, with eight parallel
/// sums in a block.
pub(crate) fn pairwise(count: usize, next: &mut impl FnMut() -> Result<f32>) -> Result<f32> {
    if count > BLOCK {
        let half = count / 2 / 8 * 8;
        let first = pairwise(half, next)?;
        return Ok(first + pairwise(count - half, next)?);
    }
    let mut sum = 0.0;
    let mut left = count;
    if count >= 8 {
        let mut sums = [0.0f32; 8];
        for slot in &mut sums {
            *slot = next()?;
        }
        left -= 8;
        while left >= 8 {
            for slot in &mut sums {
                *slot += next()?;
            }
            left -= 8;
        }
        let [a, b, c, d, e, f, g, h] = sums;
        sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    }
    for _ in 0..left {
        sum += next()?;
    }
    Ok(sum)
}
