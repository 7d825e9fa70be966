//! Merges sorted runs with a loser tree.

use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use arrow_select::interleave::interleave;
use isomorph_error::Result;

use super::payload::{Payload, arrow};
use super::rows::Rows;
use super::run::{Release, Run};

/// The first remaining edge of a run, in the order of the edges. An exhausted run comes after all others; it also has the
/// largest key, because keys almost always decide the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    /// Both ends, the aligned one in the high half.
    key: u128,
    exhausted: bool,
    sequence: u64,
}

impl Head {
    const EXHAUSTED: Head = Head { key: u128::MAX, exhausted: true, sequence: u64::MAX };
}

/// A position in a run.
struct Cursor<'a> {
    run: &'a Run,
    /// Blocks not read yet.
    blocks: Range<usize>,
    rows: Rows,
    at: usize,
    /// The number of this block among the sources of the collected rows.
    source: Option<usize>,
    /// Set if the run is read for the last time.
    release: Option<Release>,
}

impl Cursor<'_> {
    fn head(&self) -> Head {
        let Some(&aligned) = self.rows.aligned.get(self.at) else {
            return Head::EXHAUSTED;
        };
        Head {
            key: u128::from(aligned) << 64 | u128::from(self.rows.other[self.at]),
            exhausted: false,
            sequence: self.rows.sequence.get(self.at).copied().unwrap_or(0),
        }
    }

    /// Reads the next block, if there is one. All edges of the previous block have been returned.
    fn load(&mut self, payload: &Payload) -> Result<()> {
        self.source = None;
        self.at = 0;
        if let (Some(release), Some(passed)) = (&mut self.release, self.blocks.start.checked_sub(1)) {
            release.passed(self.run, passed)?;
        }
        self.rows = match self.blocks.next() {
            Some(block) => self.run.read(&self.run.blocks[block], payload)?,
            None => Rows::default(),
        };
        Ok(())
    }
}

/// The merged edges of several runs.
pub(super) struct Merge<'a> {
    payload: &'a Payload,
    cursors: Vec<Cursor<'a>>,
    heads: Vec<Head>,
    /// The winner, then the loser of each match.
    tree: Vec<usize>,
}

impl<'a> Merge<'a> {
    /// Starts at the first edges whose aligned end is not below `from`. If `last` is set, edges from there
    /// to the start of the next merge are read for the last time, and their space is released.
    ///
    /// # Errors
    /// Same as [`Run::read`].
    pub fn new(runs: &'a [Run], payload: &'a Payload, from: u64, last: bool) -> Result<Self> {
        let mut cursors = Vec::with_capacity(runs.len());
        for run in runs {
            let first = run.blocks.partition_point(|block| block.last < from);
            // The first and the last block may contain edges of other merges; those between do not.
            let release = last.then(|| Release::new(if from == 0 { first } else { first + 1 }));
            let blocks = first..run.blocks.len();
            let mut cursor = Cursor { run, blocks, rows: Rows::default(), at: 0, source: None, release };
            cursor.load(payload)?;
            cursor.at = cursor.rows.aligned.partition_point(|aligned| *aligned < from);
            cursors.push(cursor);
        }
        let heads = cursors.iter().map(Cursor::head).collect();
        let mut merge = Merge { payload, cursors, heads, tree: Vec::new() };
        merge.play();
        Ok(merge)
    }

    /// Plays all matches.
    fn play(&mut self) {
        let runs = self.cursors.len();
        self.tree = vec![0; runs.max(1)];
        let mut winners: Vec<usize> = vec![0; 2 * runs];
        for node in (1..2 * runs).rev() {
            winners[node] = if node >= runs {
                node - runs
            } else {
                let (left, right) = (winners[2 * node], winners[2 * node + 1]);
                let (winner, loser) = if self.before(right, left) { (right, left) } else { (left, right) };
                self.tree[node] = loser;
                winner
            };
        }
        if let Some(winner) = winners.get(1) {
            self.tree[0] = *winner;
        }
    }

    fn before(&self, a: usize, b: usize) -> bool {
        (&self.heads[a], a) < (&self.heads[b], b)
    }

    /// Replays the matches of `run`, whose head has changed.
    fn replay(&mut self, run: usize) {
        let mut winner = run;
        let mut node = (run + self.cursors.len()) / 2;
        while node > 0 {
            let loser = self.tree[node];
            if self.before(loser, winner) {
                self.tree[node] = winner;
                winner = loser;
            }
            node /= 2;
        }
        self.tree[0] = winner;
    }

    /// Returns the next edges, at most `limit`, with an aligned end below `below` if it is given; empty at the end.
    ///
    /// # Errors
    /// Same as [`Run::read`]; [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if a text column of so many rows exceeds
    /// 2 GiB.
    pub fn next(&mut self, limit: usize, below: Option<u64>) -> Result<Rows> {
        let bound = below.map(|below| u128::from(below) << 64);
        let mut merged = Rows::with_capacity(limit);
        let mut sources: Vec<Vec<ArrayRef>> = Vec::new();
        let mut picks: Vec<(usize, usize)> = Vec::new();
        self.cursors.iter_mut().for_each(|cursor| cursor.source = None);
        while merged.len() < limit {
            let Some(&winner) = self.tree.first().filter(|_| !self.cursors.is_empty()) else { break };
            let head = self.heads[winner];
            if head.exhausted || bound.is_some_and(|bound| head.key >= bound) {
                break;
            }
            let cursor = &mut self.cursors[winner];
            merged.aligned.push((head.key >> 64) as u64);
            #[expect(clippy::cast_possible_truncation, reason = "truncation to the low half is intended")]
            merged.other.push(head.key as u64);
            if !cursor.rows.sequence.is_empty() {
                merged.sequence.push(head.sequence);
            }
            if !self.payload.is_empty() {
                let source = *cursor.source.get_or_insert_with(|| {
                    sources.push(cursor.rows.payload.clone());
                    sources.len() - 1
                });
                picks.push((source, cursor.at));
            }
            cursor.at += 1;
            if cursor.at == cursor.rows.len() {
                cursor.load(self.payload)?;
            }
            self.heads[winner] = self.cursors[winner].head();
            self.replay(winner);
        }
        merged.payload = gather(&sources, &picks, self.payload.columns())?;
        Ok(merged)
    }
}

/// Collects the selected rows, given as (source, row).
fn gather(sources: &[Vec<ArrayRef>], picks: &[(usize, usize)], columns: usize) -> Result<Vec<ArrayRef>> {
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let column = |at: usize| {
        let parts: Vec<&dyn Array> = sources.iter().map(|columns| columns[at].as_ref()).collect();
        interleave(&parts, picks).map_err(arrow)
    };
    (0..columns).map(column).collect()
}
