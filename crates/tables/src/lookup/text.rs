//! Texts by row, without an allocation for each.

use isomorph_error::{Error, Kind, Result, index};
use isomorph_storage::{Budget, Scratch};

use super::bytes::{BytesBuilder, Frozen};

/// The number of texts in a block, as a power of two. Ends are 32-bit numbers within a block.
const BLOCK: u32 = 16;

/// Texts that are being appended.
pub(super) struct TextBuilder {
    /// The start of each block in `bytes`.
    blocks: Vec<u64>,
    /// The end of each text within its block.
    ends: BytesBuilder,
    bytes: BytesBuilder,
    rows: u64,
}

impl TextBuilder {
    /// Creates an empty list that will use at most `memory` bytes of the budget.
    pub fn new(budget: &Budget, scratch: &Scratch, memory: u64) -> Self {
        // An end takes 4 bytes, a text usually more than 12.
        let ends = BytesBuilder::new(budget, scratch, memory / 4);
        let bytes = BytesBuilder::new(budget, scratch, memory - memory / 4);
        TextBuilder { blocks: Vec::new(), ends, bytes, rows: 0 }
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the size of the stored texts, bytes.
    pub fn bytes(&self) -> u64 {
        self.ends.len() + self.bytes.len()
    }

    pub fn is_spilled(&self) -> bool {
        self.ends.is_spilled() || self.bytes.is_spilled()
    }

    /// Moves everything to temporary files.
    pub fn spill(&mut self) -> Result<()> {
        self.ends.spill()?;
        self.bytes.spill()
    }

    /// Appends texts.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if 65,536 texts take 4 GiB; otherwise the same as [`BytesBuilder::push`].
    pub fn push<'a>(&mut self, texts: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        let (mut ends, mut bytes) = (Vec::new(), Vec::new());
        let base = self.bytes.len();
        let mut start = self.blocks.last().copied().unwrap_or(0);
        for text in texts {
            if self.rows.is_multiple_of(1 << BLOCK) {
                start = base + bytes.len() as u64;
                self.blocks.push(start);
            }
            bytes.extend_from_slice(text);
            let end = u32::try_from(base + bytes.len() as u64 - start)
                .map_err(|_| Error::new(Kind::TooLarge, "65,536 consecutive keys take more than 4 GiB"))?;
            ends.extend_from_slice(&end.to_le_bytes());
            self.rows += 1;
        }
        self.bytes.push(&bytes)?;
        self.ends.push(&ends)
    }

    /// Returns the texts for reading.
    pub fn finish(self) -> Result<Texts> {
        Ok(Texts { blocks: self.blocks, ends: self.ends.finish()?, bytes: self.bytes.finish()?, rows: self.rows })
    }
}

/// Texts by row.
pub(super) struct Texts {
    blocks: Vec<u64>,
    ends: Frozen,
    bytes: Frozen,
    rows: u64,
}

impl Texts {
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the average size of a text, bytes.
    pub fn usual(&self) -> usize {
        self.bytes.bytes().len() / index(self.rows.max(1)) + 1
    }

    /// Returns the text of a row.
    #[inline]
    pub fn get(&self, row: u64) -> Option<&[u8]> {
        let end = u32::from_le_bytes(self.ends.get(row)?);
        let first = row.is_multiple_of(1 << BLOCK);
        let start = if first { 0 } else { u32::from_le_bytes(self.ends.get(row - 1)?) };
        let block = usize::try_from(*self.blocks.get((row >> BLOCK) as usize)?).ok()?;
        self.bytes.bytes().get(block + start as usize..block + end as usize)
    }
}
