//! Bytes that are written once and then read at random: in memory, or mapped from a temporary file.

use std::io::{BufWriter, Seek, SeekFrom, Write};

use isomorph_error::{Result, index};
use isomorph_storage::{Budget, Reservation, Scratch, ScratchFile};

use super::map::Map;

/// The minimum growth of the memory, bytes.
const STEP: usize = 64 << 10;

/// The size of a file's write buffer, bytes.
const WRITE_BUFFER: usize = 256 << 10;

/// Bytes that are being written.
pub(super) struct BytesBuilder {
    budget: Budget,
    scratch: Scratch,
    /// The maximum memory, bytes.
    memory: u64,
    held: Option<Reservation>,
    store: Store,
}

enum Store {
    Memory(Vec<u8>),
    File { writer: BufWriter<ScratchFile>, position: u64, size: u64 },
}

impl BytesBuilder {
    /// Creates an empty buffer that will use at most `memory` bytes of the budget.
    pub fn new(budget: &Budget, scratch: &Scratch, memory: u64) -> Self {
        let (budget, scratch) = (budget.clone(), scratch.clone());
        BytesBuilder { budget, scratch, memory, held: None, store: Store::Memory(Vec::new()) }
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> u64 {
        match &self.store {
            Store::Memory(bytes) => bytes.len() as u64,
            Store::File { size, .. } => *size,
        }
    }

    pub fn is_spilled(&self) -> bool {
        matches!(self.store, Store::File { .. })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// [`Kind::NoSpace`](isomorph_error::Kind::NoSpace), [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(self.len(), bytes)
    }

    /// Writes bytes at an offset. A gap between the previous end and the offset is filled with zeros.
    ///
    /// # Errors
    /// Same as [`BytesBuilder::push`].
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = offset + bytes.len() as u64;
        if !self.has_room(end) {
            self.spill()?;
        }
        match &mut self.store {
            Store::Memory(memory) => {
                let (start, end) = (index(offset), index(end));
                if start == memory.len() {
                    memory.extend_from_slice(bytes);
                } else {
                    memory.resize(memory.len().max(end), 0);
                    memory[start..end].copy_from_slice(bytes);
                }
            }
            Store::File { writer, position, size } => {
                if offset != *position {
                    writer.seek(SeekFrom::Start(offset))?;
                }
                writer.write_all(bytes)?;
                *position = end;
                *size = end.max(*size);
            }
        }
        Ok(())
    }

    /// Whether bytes up to `end` fit into memory; if so, the memory is reserved.
    fn has_room(&mut self, end: u64) -> bool {
        let Store::Memory(memory) = &mut self.store else { return true };
        let Some(missing) = usize::try_from(end).ok().map(|end| end.saturating_sub(memory.capacity())) else {
            return false;
        };
        if missing == 0 {
            return true;
        }
        let (budget, limit, held) = (&self.budget, self.memory, &mut self.held);
        let mut take = |bytes: usize| {
            let bytes = bytes as u64;
            match held {
                Some(held) => held.bytes() + bytes <= limit && held.try_grow(bytes),
                None if bytes <= limit => {
                    *held = budget.try_reserve(bytes);
                    held.is_some()
                }
                None => false,
            }
        };
        let generous = missing.max(memory.capacity() / 2).max(STEP);
        let Some(taken) = [generous, missing].into_iter().find(|bytes| take(*bytes)) else { return false };
        memory.reserve_exact(memory.capacity() + taken - memory.len());
        true
    }

    /// Moves everything to a temporary file.
    ///
    /// # Errors
    /// Same as [`BytesBuilder::push`].
    pub fn spill(&mut self) -> Result<()> {
        if let Store::Memory(memory) = &mut self.store {
            let mut writer = BufWriter::with_capacity(WRITE_BUFFER, self.scratch.create()?);
            writer.write_all(memory)?;
            let size = memory.len() as u64;
            self.store = Store::File { writer, position: size, size };
            self.held = None;
        }
        Ok(())
    }

    /// Returns the bytes for reading.
    ///
    /// # Errors
    /// Same as [`BytesBuilder::push`].
    pub fn finish(mut self) -> Result<Frozen> {
        match self.store {
            Store::Memory(mut memory) => {
                memory.shrink_to_fit();
                if let Some(held) = &mut self.held {
                    held.shrink(held.bytes().saturating_sub(memory.len() as u64));
                }
                Ok(Frozen::Memory { bytes: memory, _held: self.held })
            }
            Store::File { writer, size: 0, .. } => {
                drop(writer);
                Ok(Frozen::Memory { bytes: Vec::new(), _held: self.held })
            }
            Store::File { writer, .. } => {
                let file = writer.into_inner().map_err(|error| error.into_error())?;
                Ok(Frozen::Mapped(Map::new(file)?))
            }
        }
    }
}

/// Bytes that can be read at random.
pub(super) enum Frozen {
    Memory { bytes: Vec<u8>, _held: Option<Reservation> },
    Mapped(Map),
}

impl Frozen {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Frozen::Memory { bytes, .. } => bytes,
            Frozen::Mapped(map) => map.bytes(),
        }
    }

    /// Returns the number of `N`-byte values.
    pub fn count<const N: usize>(&self) -> u64 {
        (self.bytes().len() / N) as u64
    }

    /// Returns the value at an index.
    #[inline]
    pub fn get<const N: usize>(&self, index: u64) -> Option<[u8; N]> {
        let start = usize::try_from(index).ok()?.checked_mul(N)?;
        self.bytes().get(start..)?.first_chunk().copied()
    }
}
