//! Sorts lines by (name, number, line) within a memory budget.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};

use isomorph_error::{Error, Result, index};
use isomorph_storage::{Budget, Reservation, Scratch, ScratchFile};

/// Step in bytes in which memory is reserved from the budget.
const STEP: u64 = 1 << 20;

/// Minimum number of buffered bytes, so that runs are not tiny.
const LEAST: usize = 64 << 10;

/// A line and its sort key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Line {
    /// First key: a name, by its bytes (which is the order of code points).
    pub name: Vec<u8>,
    /// Second key: a number.
    pub number: i64,
    /// Last key: the line.
    pub text: Vec<u8>,
}

/// Collects lines and sorts them.
pub(crate) struct LineSorter {
    bytes: Vec<u8>,
    /// Start of a line, end of its name, its number, end of its text.
    lines: Vec<(usize, usize, i64, usize)>,
    runs: Vec<ScratchFile>,
    reservation: Reservation,
    scratch: Option<Scratch>,
}

impl LineSorter {
    /// Creates a sorter that reserves memory from `budget` and spills to `scratch`.
    ///
    /// # Errors
    /// Never fails because of an empty budget.
    pub fn new(budget: &Budget, scratch: Option<Scratch>) -> Result<Self> {
        let reservation = budget.reserve(0)?;
        Ok(LineSorter { bytes: Vec::new(), lines: Vec::new(), runs: Vec::new(), reservation, scratch })
    }

    /// Adds a line.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn push(&mut self, name: &[u8], number: i64, text: &[u8]) -> Result<()> {
        let start = self.bytes.len();
        let needed = start + name.len() + text.len() + size_of_val(self.lines.as_slice());
        while needed as u64 > self.reservation.bytes() {
            if !self.reservation.try_grow(STEP) {
                if needed > LEAST {
                    self.spill()?;
                    return self.push(name, number, text);
                }
                break;
            }
        }
        self.bytes.extend_from_slice(name);
        let middle = self.bytes.len();
        self.bytes.extend_from_slice(text);
        self.lines.push((start, middle, number, self.bytes.len()));
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |&(start, middle, number, end): &(usize, usize, i64, usize)| {
            (bytes.get(start..middle).unwrap_or_default(), number, bytes.get(middle..end).unwrap_or_default())
        };
        self.lines.sort_unstable_by(|left, right| key(left).cmp(&key(right)));
    }

    fn spill(&mut self) -> Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.sort();
        let scratch = match &self.scratch {
            Some(scratch) => scratch.clone(),
            None => Scratch::new(None)?,
        };
        let mut file = scratch.create()?;
        let mut out = Vec::with_capacity(index(STEP));
        for &(start, middle, number, end) in &self.lines {
            out.extend_from_slice(&((middle - start) as u64).to_le_bytes());
            out.extend_from_slice(&number.to_le_bytes());
            out.extend_from_slice(&((end - middle) as u64).to_le_bytes());
            out.extend_from_slice(self.bytes.get(start..end).unwrap_or_default());
            if out.len() as u64 >= STEP {
                file.write_all(&out).map_err(scratch_error)?;
                out.clear();
            }
        }
        file.write_all(&out).map_err(scratch_error)?;
        self.runs.push(file);
        self.bytes.clear();
        self.lines.clear();
        Ok(())
    }

    /// Returns the lines in order.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written or read.
    pub fn finish(mut self) -> Result<Sorted> {
        if self.runs.is_empty() {
            self.sort();
            return Ok(Sorted::Memory { sorter: self, next: 0 });
        }
        self.spill()?;
        let mut runs = Vec::with_capacity(self.runs.len());
        let mut heap = BinaryHeap::new();
        for (index, mut file) in std::mem::take(&mut self.runs).into_iter().enumerate() {
            file.seek(SeekFrom::Start(0)).map_err(scratch_error)?;
            let mut run = BufReader::new(file);
            if let Some(line) = read_line(&mut run)? {
                heap.push(Reverse((line, index)));
            }
            runs.push(run);
        }
        Ok(Sorted::Runs { runs, heap })
    }
}

/// Sorted lines.
pub(crate) enum Sorted {
    /// All in memory.
    Memory {
        /// The sorter with the lines.
        sorter: LineSorter,
        /// Index of the next line.
        next: usize,
    },
    /// Merged from temporary files.
    Runs {
        /// The temporary files.
        runs: Vec<BufReader<ScratchFile>>,
        /// The first line of each.
        heap: BinaryHeap<Reverse<(Line, usize)>>,
    },
}

impl Sorted {
    /// Returns the next line, or `None` after the last.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be read.
    pub fn next_line(&mut self) -> Result<Option<Line>> {
        match self {
            Sorted::Memory { sorter, next } => {
                let line = sorter.lines.get(*next).map(|&(start, middle, number, end)| Line {
                    name: sorter.bytes.get(start..middle).unwrap_or_default().to_vec(),
                    number,
                    text: sorter.bytes.get(middle..end).unwrap_or_default().to_vec(),
                });
                *next += 1;
                Ok(line)
            }
            Sorted::Runs { runs, heap } => {
                let Some(Reverse((line, index))) = heap.pop() else { return Ok(None) };
                if let Some(following) = runs.get_mut(index).map(read_line).transpose()?.flatten() {
                    heap.push(Reverse((following, index)));
                }
                Ok(Some(line))
            }
        }
    }
}

fn scratch_error(error: std::io::Error) -> Error {
    Error::from(error).at("temporary file")
}

fn read_line(run: &mut BufReader<ScratchFile>) -> Result<Option<Line>> {
    if run.fill_buf().map_err(scratch_error)?.is_empty() {
        return Ok(None);
    }
    let mut word = || -> Result<[u8; 8]> {
        let mut word = [0; 8];
        run.read_exact(&mut word).map_err(scratch_error)?;
        Ok(word)
    };
    let (name, number, text) = (u64::from_le_bytes(word()?), i64::from_le_bytes(word()?), u64::from_le_bytes(word()?));
    let mut line = Line { name: vec![0; index(name)], number, text: vec![0; index(text)] };
    run.read_exact(&mut line.name).map_err(scratch_error)?;
    run.read_exact(&mut line.text).map_err(scratch_error)?;
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sorted(budget: u64) -> (Vec<Line>, bool) {
        let mut sorter = LineSorter::new(&Budget::new(budget), None).unwrap();
        for n in 0..20_000u64 {
            let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let name = format!("n{}", mixed % 1000);
            sorter.push(name.as_bytes(), (mixed % 7) as i64 - 1, &mixed.to_be_bytes()).unwrap();
        }
        let mut sorted = sorter.finish().unwrap();
        let spilled = matches!(sorted, Sorted::Runs { .. });
        let mut lines = Vec::new();
        while let Some(line) = sorted.next_line().unwrap() {
            lines.push(line);
        }
        (lines, spilled)
    }

    #[test]
    fn the_same_order_with_and_without_memory() {
        let (roomy, in_files) = sorted(1 << 30);
        assert!(!in_files);
        let (tight, in_files) = sorted(0);
        assert!(in_files);
        assert!(roomy.is_sorted());
        assert_eq!(roomy.len(), 20_000);
        assert_eq!(roomy, tight);
    }
}
