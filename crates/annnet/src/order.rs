//! The order of edges across their kinds.
//!
//! Hyperedges, placeholders and edges with a missing end are separate types in the model and are written before the
//! edges with two ends. Their positions among all columns of the incidence matrix are kept in the metadata of the
//! graph, as runs of positions, so that a rewrite gives each edge the position that its `col_idx` had: the published
//! library sorts by it. Edges with two ends are delivered in the order of their file; if that is not the order of
//! `col_idx`, their positions are kept as well.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use arrow_array::Int64Array;
use isomorph_model::Graph;

/// Metadata key: runs as `start+length`, hyperedges before edges with a missing end.
pub(crate) const METADATA: &str = "annnet.positions";
/// Metadata key: the runs of edges with two ends, if they do not ascend.
pub(crate) const OTHERS: &str = "annnet.order";
/// Maximum number of runs; if there are more, the order of writing is used.
const RUNS: usize = 1 << 17;
/// Positions are smaller than this, so that the sum of two fits into 63 bits.
const LARGEST: u64 = 1 << 61;

/// Positions as runs, in the order in which they are added.
#[derive(Debug, Default, Clone)]
pub(crate) struct Runs(Vec<Range<u64>>);

impl fmt::Display for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, run) in self.0.iter().enumerate() {
            write!(f, "{}{}+{}", if at > 0 { "," } else { "" }, run.start, run.end - run.start)?;
        }
        Ok(())
    }
}

impl Runs {
    /// Adds a position. Returns false if it is invalid, or if there are too many runs.
    pub fn push(&mut self, position: Option<i64>) -> bool {
        let Some(position) = position.and_then(|own| u64::try_from(own).ok()).filter(|own| *own < LARGEST) else {
            return false;
        };
        match self.0.last_mut() {
            Some(last) if last.end == position => last.end += 1,
            _ => self.0.push(position..position + 1),
        }
        self.0.len() <= RUNS
    }

    /// Adds the positions of `other`, shifted by `offset`. Returns false under the same conditions as [`Runs::push`].
    pub fn append(&mut self, other: &Runs, offset: u64) -> bool {
        for run in &other.0 {
            let (start, end) = (run.start.saturating_add(offset), run.end.saturating_add(offset));
            if end >= LARGEST {
                return false;
            }
            match self.0.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => self.0.push(start..end),
            }
        }
        self.0.len() <= RUNS
    }

    /// Returns whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the run with number `at`.
    pub fn get(&self, at: usize) -> Option<&Range<u64>> {
        self.0.get(at)
    }

    /// Returns the runs as text; `None` if they are what a writer does by default.
    pub fn to_metadata(&self) -> Option<String> {
        if matches!(self.0.as_slice(), [] | [Range { start: 0, .. }]) {
            return None;
        }
        Some(self.to_string())
    }

    /// Parses runs from a text, if it is valid.
    pub fn of_text(text: &str) -> Option<Runs> {
        let mut runs = Vec::new();
        for run in text.split(',').take(RUNS + 1) {
            let (start, length) = run.split_once('+')?;
            let (start, length) = (start.parse::<u64>().ok()?, length.parse::<u64>().ok()?);
            if length == 0 || start >= LARGEST || length >= LARGEST {
                return None;
            }
            runs.push(start..start + length);
        }
        (runs.len() <= RUNS).then_some(Runs(runs))
    }
}

/// The order of edges that a description states.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Positions of the edges that come before those with two ends.
    pub first: Option<String>,
    /// Positions of the edges with two ends, if they do not ascend, and their number.
    pub others: Option<(String, u64)>,
}

impl Told {
    /// Reads the order from the metadata of a graph.
    pub fn of(graph: &Graph) -> Told {
        let rows = graph.edges.first().and_then(|edge| edge.rows);
        Told { first: graph.metadata.get(METADATA).cloned(), others: graph.metadata.get(OTHERS).cloned().zip(rows) }
    }
}

/// Assigns positions to edges: edges that are written first get their original positions, all others the positions in
/// between, or their own.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    /// In the order in which they are assigned.
    kept: VecDeque<Range<u64>>,
    /// The same runs sorted by position, from the next position on.
    taken: VecDeque<Range<u64>>,
    were_kept: bool,
    /// Positions of the other edges, if they do not ascend.
    others: VecDeque<Range<u64>>,
    are_mixed: bool,
    next: u64,
}

impl Positions {
    /// Starts at `next`, in the order of writing.
    pub fn from(next: u64) -> Self {
        Positions { next, ..Positions::default() }
    }

    /// Uses the stated positions for the `count` edges that come first, and for the others. If the stated positions are
    /// not for this number of edges, or are not unique, they are ignored.
    pub fn keep(&mut self, told: &Told, count: u64) {
        let sum = |runs: &[Range<u64>]| runs.iter().try_fold(0u64, |sum, run| sum.checked_add(run.end - run.start));
        let first = told.first.as_deref().map_or(Some(Runs::default()), Runs::of_text);
        let Some(Runs(first)) = first.filter(|first| sum(&first.0) == Some(count)) else { return };
        let others = told.others.as_ref().and_then(|(text, rows)| Some((Runs::of_text(text)?.0, *rows)));
        if let Some((others, rows)) = others.filter(|(others, rows)| sum(others) == Some(*rows)) {
            let mut sorted = [first.as_slice(), others.as_slice()].concat();
            sorted.sort_by_key(|run| run.start);
            let adjoin = sorted.windows(2).all(|pair| pair[0].end == pair[1].start);
            if adjoin && sorted.first().is_some_and(|run| run.start == 0) {
                self.next = rows.saturating_add(count);
                (self.kept, self.others) = (first.into(), others.into());
                (self.were_kept, self.are_mixed) = (true, true);
            }
            return;
        }
        let mut sorted = first.clone();
        sorted.sort_by_key(|run| run.start);
        if !first.is_empty() && sorted.windows(2).all(|pair| pair[0].end <= pair[1].start) {
            (self.kept, self.taken, self.were_kept) = (first.into(), sorted.into(), true);
        }
    }

    /// Returns whether edges with two ends have their original positions, which do not ascend.
    pub fn are_mixed(&self) -> bool {
        self.are_mixed
    }

    /// Returns whether edges that are written first have their original positions.
    pub fn were_kept(&self) -> bool {
        self.were_kept
    }

    /// Returns the next positions of edges that are written first.
    pub fn first(&mut self, rows: usize) -> Int64Array {
        if self.kept.is_empty() {
            return self.between(rows);
        }
        Int64Array::from(taken_from(&mut self.kept, rows))
    }

    /// Returns the next positions of the other edges.
    pub fn between(&mut self, rows: usize) -> Int64Array {
        if !self.others.is_empty() {
            let mut all = taken_from(&mut self.others, rows);
            // There are no further stated positions.
            while all.len() < rows {
                all.push(self.next as i64);
                self.next += 1;
            }
            return Int64Array::from(all);
        }
        if self.taken.front().is_none_or(|run| run.start >= self.next + rows as u64) {
            let start = self.next as i64;
            self.next += rows as u64;
            return Int64Array::from_iter_values(start..start + rows as i64);
        }
        let mut all: Vec<i64> = Vec::with_capacity(rows);
        while all.len() < rows {
            match self.taken.front() {
                Some(run) if run.start <= self.next => {
                    self.next = self.next.max(run.end);
                    self.taken.pop_front();
                }
                _ => {
                    all.push(self.next as i64);
                    self.next += 1;
                }
            }
        }
        Int64Array::from(all)
    }
}

/// Takes the next positions from runs, at most `rows`.
fn taken_from(runs: &mut VecDeque<Range<u64>>, rows: usize) -> Vec<i64> {
    let mut all: Vec<i64> = Vec::with_capacity(rows);
    while all.len() < rows {
        let Some(run) = runs.front_mut() else { break };
        all.push(run.start as i64);
        run.start += 1;
        if run.start == run.end {
            runs.pop_front();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str, first: u64, others: usize) -> (Vec<i64>, Vec<i64>) {
        let mut positions = Positions::from(0);
        positions.keep(&Told { first: Some(text.to_owned()), others: None }, first);
        let own = positions.first(first as usize);
        let rest: Vec<i64> =
            [1, others - 1].into_iter().flat_map(|rows| positions.between(rows).values().to_vec()).collect();
        (own.values().to_vec(), rest)
    }

    #[test]
    fn each_edge_gets_the_position_that_it_had() {
        assert_eq!(given("2+2,0+1", 3, 4), (vec![2, 3, 0], vec![1, 4, 5, 6]));
        assert_eq!(given("6+1", 1, 6), (vec![6], vec![0, 1, 2, 3, 4, 5]));
    }

    #[test]
    fn what_does_not_fit_counts_for_nothing() {
        for text in ["2+1", "2+2,3+1", "", "x", "1+0,4+3", "0+18446744073709551615", "2+3,9999999999999999999+1"] {
            assert_eq!(given(text, 3, 2), (vec![0, 1, 2], vec![3, 4]), "{text}");
        }
    }

    #[test]
    fn edges_with_two_ends_get_the_positions_that_they_had() {
        let given = |others: &str, rows: u64| {
            let mut positions = Positions::from(0);
            positions.keep(&Told { first: Some("1+1".to_owned()), others: Some((others.to_owned(), rows)) }, 1);
            let first = positions.first(1).values().to_vec();
            (first, [1, 2].map(|rows| positions.between(rows).values().to_vec()).concat())
        };
        assert_eq!(given("3+1,2+1,0+1", 3), (vec![1], vec![3, 2, 0]));
        // Not for this number of edges, or with gaps.
        assert_eq!(given("3+1,2+1,0+1", 4).1, vec![0, 2, 3]);
        assert_eq!(given("4+1,2+1,0+1", 3).1, vec![1, 2, 3]);
    }

    #[test]
    fn runs_are_told_only_where_they_say_something() {
        let runs = |all: &[i64]| {
            let mut runs = Runs::default();
            all.iter().for_each(|own| assert!(runs.push(Some(*own))));
            runs.to_metadata()
        };
        assert_eq!(runs(&[0, 1, 2]), None);
        assert_eq!(runs(&[3, 4, 7, 0]).as_deref(), Some("3+2,7+1,0+1"));
        assert!(!Runs::default().push(Some(-1)) && !Runs::default().push(None));
    }
}
