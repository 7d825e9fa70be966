//! The lines on which the rows of a text start, as far as somebody asked for them: messages name lines, and a text with many wrong rows is
//! read once for all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use isomorph_error::Result;

/// The most runs that are kept.
const RUNS: usize = 1 << 20;

/// Rows of a text, in parts that are read on their own.
pub(crate) struct Lines<R>(Mutex<BTreeMap<usize, Known<R>>>);

/// What is known of a part.
struct Known<R> {
    /// The first row and its line of each run of rows that are on successive lines, in order.
    runs: Vec<(u64, u64)>,
    /// The row after the last one that is known.
    end: u64,
    /// What reads the rows from there on, if there are more.
    rest: Option<R>,
}

/// How the rows of a part are read.
pub(crate) trait LineReader: Sized {
    /// Passes on the lines of the next rows; returns false at the end.
    ///
    /// # Errors
    /// If they cannot be read.
    fn next_lines(&mut self, give: &mut dyn FnMut(u64)) -> Result<bool>;
}

impl<R> Default for Lines<R> {
    fn default() -> Self {
        Lines(Mutex::default())
    }
}

impl<R: LineReader> Lines<R> {
    /// Returns the line of a row of part `part`; `None` if there is no such row. Reads up to row `until`, and what is already known
    /// is not read again. `open` starts to read the part, and returns its first row.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub fn line_of(
        &self,
        (part, row, until): (usize, u64, u64),
        open: impl FnOnce() -> Result<(R, u64)>,
    ) -> Result<Option<u64>> {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = parts.remove(&part).filter(|known| known.runs.first().is_some_and(|(first, _)| *first <= row));
        let mut known = match known {
            Some(known) => known,
            None => {
                let (reader, first) = open()?;
                Known { runs: Vec::new(), end: first, rest: Some(reader) }
            }
        };
        known.read(until)?;
        let line = known.line_of(row);
        if known.runs.len() + parts.values().map(|known| known.runs.len()).sum::<usize>() > RUNS {
            parts.clear();
        }
        parts.insert(part, known);
        Ok(line)
    }
}

impl<R: LineReader> Known<R> {
    /// Reads the rows up to `until`, which is the last that must be known.
    fn read(&mut self, until: u64) -> Result<()> {
        while self.end <= until
            && let Some(mut rest) = self.rest.take()
        {
            // Rows that are asked for later can be read again.
            if self.runs.len() > RUNS {
                self.runs.drain(..RUNS / 2);
            }
            let (runs, end) = (&mut self.runs, &mut self.end);
            let more = rest.next_lines(&mut |line| {
                let follows = runs.last().is_some_and(|(first, start)| *start + (*end - *first) == line);
                if !follows {
                    runs.push((*end, line));
                }
                *end += 1;
            })?;
            self.rest = more.then_some(rest);
        }
        Ok(())
    }

    fn line_of(&self, row: u64) -> Option<u64> {
        let run = self.runs.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, line) = self.runs.get(run).filter(|_| row < self.end)?;
        Some(line + (row - first))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::cell::Cell;

    use super::*;

    /// Reads three rows at a time.
    struct Three<'a>(&'a [u64], &'a Cell<usize>);

    impl LineReader for Three<'_> {
        fn next_lines(&mut self, give: &mut dyn FnMut(u64)) -> Result<bool> {
            let (now, later) = self.0.split_at(self.0.len().min(3));
            now.iter().for_each(|line| give(*line));
            self.1.set(self.1.get() + now.len());
            self.0 = later;
            Ok(!later.is_empty())
        }
    }

    #[test]
    fn lines_are_read_once_and_as_far_as_needed() {
        let texts = [vec![2u64, 3, 4, 6, 7, 11, 12, 20], vec![21, 22], vec![]];
        let (lines, read) = (Lines::default(), Cell::new(0));
        let line_of = |part: usize, row: u64, until: u64| {
            let first = if part == 0 { 0 } else { 8 };
            lines.line_of((part, row, until), || Ok((Three(&texts[part], &read), first))).unwrap()
        };
        assert_eq!((line_of(0, 1, 1), read.get()), (Some(3), 3));
        assert_eq!((line_of(0, 4, 4), read.get()), (Some(7), 6));
        let all: Vec<_> = (0..9).rev().map(|row| line_of(0, row, row)).collect();
        assert_eq!(all, [None, Some(20), Some(12), Some(11), Some(7), Some(6), Some(4), Some(3), Some(2)]);
        assert_eq!((line_of(1, 9, u64::MAX), line_of(1, 8, 8), line_of(1, 10, 10)), (Some(22), Some(21), None));
        assert_eq!(line_of(2, 8, 8), None);
        assert_eq!(read.get(), 10);
    }
}
