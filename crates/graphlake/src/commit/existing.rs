//! Finds out which of a transaction's triples exist already: which deletions have an effect, and how many triples of a
//! predicate are live afterwards.

use std::cmp::Ordering;

use isomorph_error::Result;
use isomorph_storage::{Additions, Scheme};

use super::change::Tally;
use super::work::{Fate, Rows};
use crate::read::Order;
use crate::snapshot::{DataFile, Living};
use crate::triple::Triple;
use crate::{GraphLake, lookup};

/// This many inserts are looked up in any case.
const FEW: usize = 4096;

/// And this many in an object store, where each look-up takes requests.
const FEW_REMOTE: usize = 16;

/// More of them, or a bulk load, are looked up if there are at most this many records, or this many for each triple.
const RECORDS: u64 = 1 << 20;
const RECORDS_OF_EACH: u64 = 8;

/// The triples of one predicate that a transaction changes.
pub(super) struct Wanted<'r> {
    rows: &'r Rows,
    /// Those in memory, by subject.
    held: Vec<(&'r Triple, Fate)>,
}

/// The result of the look-up.
#[derive(Default)]
pub(super) struct Found<'r> {
    /// The triples to be deleted that are live, by subject.
    pub(super) dead: Vec<&'r Triple>,
    /// The number of those that are not.
    pub(super) missing: u64,
    /// The number of triples to be inserted that are live already, if the look-up was cheap.
    pub(super) again: Option<u64>,
    /// The number of live triples afterwards, if the look-up was cheap.
    pub(super) tally: Option<Tally>,
}

impl<'r> Wanted<'r> {
    pub(super) fn of(rows: &'r Rows) -> Self {
        Wanted { rows, held: rows.rows.iter().map(|(row, fate)| (&row.0, *fate)).collect() }
    }

    /// Whether one of the subjects may be within bounds.
    pub(super) fn near(&self, least: &str, most: &str) -> bool {
        let first = self.held.partition_point(|(triple, _)| triple.subject.as_str() < least);
        let held = self.held.get(first).is_some_and(|(triple, _)| triple.subject.as_str() <= most);
        held || self.rows.spilled.subject.iter().any(|file| overlap(file, least, most))
    }

    /// Looks up the triples in the existing files of the predicate; does nothing if there are none.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub(super) fn found(&self, open: Option<&GraphLake>, predicate: &str, additions: &Additions) -> Result<Found<'r>> {
        let graph = open.and_then(|open| Some((open, open.snapshot.graphs.first()?)));
        let files = graph.map(|(_, graph)| graph.subject_files.as_slice()).unwrap_or_default();
        let records = files.iter().map(|file| file.triple_count).fold(0, u64::saturating_add);
        let new: u64 = self.rows.spilled.subject.iter().map(|file| file.triple_count).sum();
        let inserts = self.rows.inserts().count();
        // A triple that was written in two parts is not recognised as one.
        let once = self.rows.spills == 0 || self.rows.spills == 1 && inserts == 0;
        let is_cheap = |count: u64| records <= RECORDS.max(count.saturating_mul(RECORDS_OF_EACH));
        // In an object store, files that were written are not fetched again.
        let near = open.is_none_or(|open| open.root.location().scheme() == Scheme::Local);
        let few = match near {
            true => inserts <= FEW || is_cheap(inserts as u64),
            false => inserts <= FEW_REMOTE,
        };
        let counts = once && (records == 0 || few && (new == 0 || near && is_cheap(new)));
        let asked = self.held.iter().filter(|(_, fate)| counts || *fate == Fate::Delete);
        let (triples, fates): (Vec<&'r Triple>, Vec<Fate>) = asked.copied().unzip();
        let live = match open {
            Some(open) => open.which_live(predicate, &triples)?,
            None => vec![false; triples.len()],
        };
        let (mut more, mut less) = (Living::default(), Living::default());
        let (mut found, mut there) = (Found::default(), 0);
        for ((triple, fate), lives) in triples.into_iter().zip(fates).zip(live) {
            match (fate, lives) {
                (Fate::Delete, true) => {
                    less = less.plus(one(triple));
                    found.dead.push(triple);
                }
                (Fate::Insert, false) => more = more.plus(one(triple)),
                (Fate::Delete, false) => found.missing += 1,
                (Fate::Insert, true) => there += 1,
            }
        }
        if counts {
            let written = Living::in_files(&self.rows.spilled.subject);
            let again = match open.filter(|_| new > 0 && records > 0) {
                Some(open) => self.again(open, predicate, additions)?,
                None => Living::default(),
            };
            found.again = Some(there + again.triples);
            found.tally = written.map(|written| Tally::Differs { more: more.plus(written), less: less.plus(again) });
        }
        Ok(found)
    }

    /// The number of the written triples that are live already without them.
    fn again(&self, open: &GraphLake, predicate: &str, additions: &Additions) -> Result<Living> {
        additions.settle()?;
        let mut again = Living::default();
        let files = &self.rows.spilled.subject;
        let (Some(graph), Some(least)) = (open.snapshot.graphs.first(), files.iter().map(|file| &file.min_value).min())
        else {
            return Ok(again);
        };
        let from = lookup::Wanted::Between(Some(least.as_str().into()), None);
        let mut there = open.stretch(graph, predicate, &from)?;
        let mut more = there.next()?.is_some();
        for file in files {
            let mut cursor = open.cursor(file, Order::Subject)?;
            while more && cursor.advance()? {
                while let Some((triple, _)) = there.current().filter(|_| more) {
                    match triple.compare(&cursor.triple, Order::Subject) {
                        Ordering::Less => {}
                        Ordering::Equal => again = again.plus(one(triple)),
                        Ordering::Greater => break,
                    }
                    more = there.next()?.is_some();
                }
            }
        }
        Ok(again)
    }
}

fn one(triple: &Triple) -> Living {
    Living { triples: 1, literals: u64::from(triple.literal) }
}

fn overlap(file: &DataFile, least: &str, most: &str) -> bool {
    file.min_value.as_str() <= most && least <= file.max_value.as_str()
}
