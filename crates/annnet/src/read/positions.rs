//! Positions of edges among the columns of the matrix, which are their order in the published library.

use std::ops::Range;

use arrow_array::Array;
use isomorph_error::{Findings, Place, Result};
use isomorph_storage::Budget;

use super::edges::{BATCH_ROWS, Class, Edges, within};
use crate::layout::column;
use crate::order::Runs;
use crate::rules;

/// A `col_idx` and its row. If values are equal, the order of the file decides, as in the published library.
type At = (i64, u64);

/// What was seen of `col_idx` so far.
#[derive(Default)]
struct Seen {
    /// A value that several edges have.
    equal: Option<i64>,
}

impl Seen {
    /// Compares two consecutive values. Several edges without a column of their own are not reported.
    fn pair(&mut self, before: i64, next: i64) {
        self.equal = self.equal.or((before == next && next >= 0).then_some(next));
    }
}

impl Edges {
    /// Returns the positions of hyperedges and edges with a missing end among all columns of the matrix, for the
    /// metadata of the description, and those of the other edges if their order in the file differs; `None` if they
    /// carry no information. Positions are counted: the values of `col_idx` only give the order.
    ///
    /// # Errors
    /// Returns an error if the table cannot be read, or the order must be held and exceeds the budget.
    pub fn positions(&self, budget: &Budget, findings: &mut Findings) -> Result<(Option<String>, Option<String>)> {
        let place = || Place::file(&self.table.name).in_field(column::COL_IDX);
        let mut seen = Seen::default();
        let mut firsts: Vec<At> = Vec::new();
        let (mut last, mut ascend, mut is_told) = (None, true, true);
        self.each_position(&mut |position, row, is_first| match position {
            None => is_told = false,
            Some(position) if is_first => firsts.push((position, row)),
            Some(position) => {
                ascend &= last <= Some(position);
                last.into_iter().for_each(|last| seen.pair(last, position));
                last = Some(position);
            }
        })?;
        if !is_told {
            return Ok((None, None));
        }
        let mut first = Runs::default();
        let mut others = Runs::default();
        if ascend {
            firsts.sort_unstable();
            let ranks = self.among(&firsts, &mut seen)?;
            is_told = ranks.iter().all(|(_, rank)| first.push(i64::try_from(*rank).ok()));
        } else {
            let _held = budget.reserve(self.table.rows() * 24)?;
            let mut all: Vec<At> = Vec::with_capacity(self.table.rows() as usize);
            self.each_position(&mut |position, row, _| all.extend(position.map(|position| (position, row))))?;
            all.sort_unstable();
            all.windows(2).for_each(|pair| seen.pair(pair[0].0, pair[1].0));
            let mut ranks: Vec<u64> = vec![0; self.table.rows() as usize];
            (0u64..).zip(&all).for_each(|(at, (_, row))| ranks[*row as usize] = at);
            let rank = |row: u64| ranks.get(row as usize).and_then(|rank| i64::try_from(*rank).ok());
            for class in [Class::Hyperedge, Class::OneSided] {
                is_told &= self.rows_of(class).iter().all(|row| first.push(rank(*row)));
            }
            let is_other = |row: &u64| Class::OTHERS.iter().all(|own| self.rows_of(*own).binary_search(row).is_err());
            is_told &= (0..self.table.rows()).filter(is_other).all(|row| others.push(rank(row)));
        }
        if let Some(equal) = seen.equal {
            findings.push(&rules::EDGE_ORDER, format!("several edges have col_idx {equal}"), place());
        }
        if !is_told {
            let message = "the order of col_idx has too many runs in the file";
            findings.push(&rules::EDGE_ORDER, message, place());
            return Ok((None, None));
        }
        match ascend {
            true => Ok((first.to_metadata(), None)),
            // All positions are stated, so that none must be guessed.
            false => Ok(((!first.is_empty()).then(|| first.to_string()), Some(others.to_string()))),
        }
    }

    /// Returns the rows of edges that come before those with two ends, in the order in which they are delivered, with
    /// their ranks among all edges. Edges with two ends ascend.
    fn among(&self, sorted: &[At], seen: &mut Seen) -> Result<Vec<(u64, u64)>> {
        sorted.windows(2).for_each(|pair| seen.pair(pair[0].0, pair[1].0));
        let mut ranks: Vec<(u64, u64)> = Vec::with_capacity(sorted.len());
        let mut before = 0;
        if !sorted.is_empty() {
            self.each_position(&mut |position, row, is_first| {
                let Some(position) = position.filter(|_| !is_first) else { return };
                while let Some((own, of)) = sorted.get(ranks.len()).filter(|own| **own < (position, row)) {
                    seen.pair(*own, position);
                    ranks.push((*of, ranks.len() as u64 + before));
                }
                sorted.get(ranks.len()).into_iter().for_each(|(own, _)| seen.pair(position, *own));
                before += 1;
            })?;
        }
        for (_, row) in sorted.iter().skip(ranks.len()) {
            ranks.push((*row, ranks.len() as u64 + before));
        }
        ranks.sort_unstable_by_key(|(row, _)| (self.rows_of(Class::Hyperedge).binary_search(row).is_err(), *row));
        Ok(ranks)
    }

    /// Calls `take` for each edge except placeholders with its `col_idx`, its row, and whether it is delivered before
    /// the edges with two ends.
    fn each_position(&self, take: &mut dyn FnMut(Option<i64>, u64, bool)) -> Result<()> {
        let mut start = 0;
        for cells in self.table.batches(&[column::COL_IDX], 0..self.table.rows(), BATCH_ROWS)? {
            let positions = cells?.integers(column::COL_IDX)?;
            let rows: Range<u64> = start..start + positions.len() as u64;
            let mask = self.mask(Class::TwoEnded, rows.clone());
            let placeholders = within(self.rows_of(Class::Placeholder), &rows);
            for (at, row) in rows.clone().enumerate() {
                let is_first = mask.as_ref().is_some_and(|mask| !mask.value(at));
                if !is_first || placeholders.binary_search(&row).is_err() {
                    take(positions.is_valid(at).then(|| positions.value(at)), row, is_first);
                }
            }
            start = rows.end;
        }
        Ok(())
    }
}
