//! Row → integer key, as unsigned numbers in the order of the keys.

use std::ops::Range;

use isomorph_error::Result;
use isomorph_storage::{Budget, Scratch};

use super::bytes::{BytesBuilder, Frozen};

/// Numbers that are being appended.
pub(super) struct IntegerBuilder {
    /// Set as long as each number is its predecessor plus 1, as in most graphs.
    consecutive: Option<Range<u64>>,
    listed: BytesBuilder,
    rows: u64,
}

impl IntegerBuilder {
    /// Creates an empty list that will use at most `memory` bytes of the budget.
    pub fn new(budget: &Budget, scratch: &Scratch, memory: u64) -> Self {
        let listed = BytesBuilder::new(budget, scratch, memory);
        IntegerBuilder { consecutive: Some(0..0), listed, rows: 0 }
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the size of the stored numbers, bytes.
    pub fn bytes(&self) -> u64 {
        self.listed.len()
    }

    pub fn is_spilled(&self) -> bool {
        self.listed.is_spilled()
    }

    /// Moves everything to a temporary file.
    pub fn spill(&mut self) -> Result<()> {
        self.listed.spill()
    }

    /// Appends numbers.
    ///
    /// # Errors
    /// Same as [`BytesBuilder::push`].
    pub fn push(&mut self, numbers: &[u64]) -> Result<()> {
        let Some(&first) = numbers.first() else { return Ok(()) };
        if let Some(run) = &mut self.consecutive {
            if self.rows == 0 {
                *run = first..first;
            }
            let expected = (0..).map(|step: u64| run.end.checked_add(step));
            let continues = numbers.iter().zip(expected).all(|(number, expected)| Some(*number) == expected);
            match run.end.checked_add(numbers.len() as u64) {
                Some(end) if continues => {
                    run.end = end;
                    self.rows += numbers.len() as u64;
                    return Ok(());
                }
                _ => self.list()?,
            }
        }
        self.rows += numbers.len() as u64;
        self.append(numbers.iter().copied())
    }

    /// Writes the consecutive numbers to the list, because the next one does not follow.
    fn list(&mut self) -> Result<()> {
        match self.consecutive.take() {
            Some(run) => self.append(run),
            None => Ok(()),
        }
    }

    fn append(&mut self, mut numbers: impl Iterator<Item = u64>) -> Result<()> {
        loop {
            let bytes: Vec<u8> = numbers.by_ref().take(1 << 16).flat_map(u64::to_le_bytes).collect();
            if bytes.is_empty() {
                return Ok(());
            }
            self.listed.push(&bytes)?;
        }
    }

    /// Returns the numbers for reading.
    pub fn finish(self) -> Result<Integers> {
        Ok(match self.consecutive {
            Some(run) => Integers::Consecutive(run),
            None => Integers::Listed(self.listed.finish()?),
        })
    }
}

/// Numbers by row.
pub(super) enum Integers {
    Consecutive(Range<u64>),
    Listed(Frozen),
}

impl Integers {
    pub fn rows(&self) -> u64 {
        match self {
            Integers::Consecutive(run) => run.end - run.start,
            Integers::Listed(numbers) => numbers.count::<8>(),
        }
    }

    /// Returns the number of a row.
    #[inline]
    pub fn get(&self, row: u64) -> Option<u64> {
        match self {
            Integers::Consecutive(run) => run.start.checked_add(row).filter(|number| *number < run.end),
            Integers::Listed(numbers) => numbers.get(row).map(u64::from_le_bytes),
        }
    }

    /// Returns the first number, if all numbers are consecutive.
    pub fn consecutive_from(&self) -> Option<u64> {
        match self {
            Integers::Consecutive(run) => Some(run.start),
            Integers::Listed(_) => None,
        }
    }

    /// Returns the numbers of all rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let (run, listed) = match self {
            Integers::Consecutive(run) => (run.clone(), [].as_slice()),
            Integers::Listed(numbers) => (0..0, numbers.bytes().as_chunks::<8>().0),
        };
        run.chain(listed.iter().map(|bytes| u64::from_le_bytes(*bytes)))
    }
}
