//! The rows of a join, which are found when they are read.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use datafusion::common::Statistics;
use futures::StreamExt;
use isomorph::dataset::{Cancel, PlannedRead};
use isomorph::model::Comparison;
use isomorph::storage::Resources;
use isomorph::{Error, Kind, Predicate, Result};
use isomorph_cypher::{Found, Joined, JoinedLink};
use tokio::sync::mpsc::Sender;

use super::numbers::{Numbering, Numbers, ReadTable, Type};
use crate::errors::internal;
use crate::tables::columns::Column;
use crate::tables::matched::Matches;
use crate::tables::parts::{Part, Rows, Wanted};
use crate::wait::{LOOK, within};

/// Rows of a batch.
const BATCH: usize = 8192;

/// A table of a join: one or two columns of some rows.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub name: String,
    pub rows: Arc<dyn Rows>,
    /// Positions in its schema.
    pub columns: Vec<usize>,
    pub filter: Option<Predicate>,
}

impl Leaf {
    /// What is read of it.
    pub fn wanted(&self) -> Wanted {
        Wanted { columns: self.columns.clone(), filter: self.filter.clone(), ..Wanted::default() }
    }
}

/// What is joined. Columns are those of all leaves, one after another.
#[derive(Debug)]
pub(super) struct Spec {
    pub leaves: Vec<Leaf>,
    pub types: Vec<Type>,
    /// The node of each column: those that are equal are one node.
    pub nodes: Vec<usize>,
    pub node_count: usize,
    /// Comparisons of two nodes.
    pub comparisons: Vec<(usize, Comparison, usize)>,
    /// Columns whose rows without a value are not in the answer, as no comparison is true of them.
    pub required: Vec<bool>,
    /// Whether the last column of the table is the number of equal rows that a row stands for, instead of that many rows.
    pub counts: bool,
}

/// The rows of a join.
#[derive(Clone)]
pub(super) struct JoinedRows {
    spec: Arc<Spec>,
    schema: SchemaRef,
    resources: Resources,
}

impl fmt::Debug for JoinedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinedRows").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// A table that is read once, however often it is joined.
struct Source<'s> {
    leaf: &'s Leaf,
    types: [Option<Type>; 2],
    required: [bool; 2],
}

impl Source<'_> {
    fn is(&self, other: &Source<'_>) -> bool {
        Arc::ptr_eq(&self.leaf.rows, &other.leaf.rows)
            && self.leaf.columns == other.leaf.columns
            && self.leaf.filter == other.leaf.filter
            && self.required == other.required
    }
}

impl JoinedRows {
    pub fn new(spec: Spec, schema: SchemaRef, resources: &Resources) -> Self {
        JoinedRows { spec: Arc::new(spec), schema, resources: resources.clone() }
    }

    /// Reads the tables, searches, and sends the rows while somebody wants them.
    fn find(&self, wanted: &Wanted, cancel: &Cancel, to: &Sender<Result<RecordBatch>>) -> Result<()> {
        let spec = &*self.spec;
        let mut sources: Vec<Source<'_>> = Vec::new();
        let mut links = Vec::new();
        let mut first = 0;
        // A table of one column gets a second node of its own.
        let mut nodes = spec.node_count;
        for leaf in &spec.leaves {
            let column = |at: usize| (at < leaf.columns.len()).then_some(first + at);
            let both = [column(0), column(1)];
            let source = Source {
                leaf,
                types: both.map(|column| column.and_then(|column| spec.types.get(column)).copied()),
                required: both.map(|column| column.and_then(|column| spec.required.get(column)) == Some(&true)),
            };
            let mut node = |column: Option<usize>| {
                column.and_then(|column| spec.nodes.get(column).copied()).unwrap_or_else(|| {
                    nodes += 1;
                    nodes - 1
                })
            };
            let (left, right) = (node(both[0]), node(both[1]));
            let known = sources.iter().position(|other| other.is(&source));
            let edges = known.unwrap_or(sources.len());
            if known.is_none() {
                sources.push(source);
            }
            links.push(JoinedLink { edges, left, right });
            first += leaf.columns.len();
        }
        let shown = self.shown(wanted);
        let (numbers, edges, memory) = self.read(&sources, cancel)?;
        let joined = Joined {
            values: numbers.count,
            edges,
            links,
            nodes,
            comparisons: spec.comparisons.clone(),
            shown: shown.clone(),
            merges: spec.counts,
        };
        let mut matches = joined.search(self.resources.threads, memory, cancel)?;
        let mut left = wanted.limit.unwrap_or(usize::MAX);
        let mut total = 0_u64;
        while let Some(found) = matches.more()? {
            total = found.times.iter().fold(total, |sum, times| sum.saturating_add(*times));
            if i64::try_from(total).is_err() {
                return Err(Error::new(Kind::Unsupported, "a join has more than 9,223,372,036,854,775,807 rows"));
            }
            let mut pieces = Pieces { found: &found, at: 0, given: 0, counts: spec.counts };
            while left > 0 {
                let piece = pieces.next(left.min(BATCH));
                if piece.is_empty() {
                    break;
                }
                left -= piece.len();
                let batch = self.batch(wanted, &shown, &found, &piece, &numbers)?;
                if to.blocking_send(Ok(batch)).is_err() {
                    return Ok(());
                }
            }
            if left == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The nodes whose values are wanted.
    fn shown(&self, wanted: &Wanted) -> Vec<usize> {
        let mut shown: Vec<usize> =
            wanted.columns.iter().filter_map(|column| self.spec.nodes.get(*column)).copied().collect();
        shown.sort_unstable();
        shown.dedup();
        shown
    }

    /// Reads all tables, on all threads.
    fn read(
        &self,
        sources: &[Source<'_>],
        cancel: &Cancel,
    ) -> Result<(Numbers, Vec<isomorph_cypher::JoinedEdges>, isomorph::storage::Reservation)> {
        let reading = Mutex::new(Numbering::new(self.resources.budget.reserve(0)?));
        let mut tables = Vec::new();
        for source in sources {
            let leaf = source.leaf;
            let rows = leaf.rows.statistics().num_rows.get_value().copied().filter(|_| leaf.filter.is_none());
            let table = Mutex::new(ReadTable::new(source.types, source.required, rows.unwrap_or_default()));
            let parts = leaf.rows.parts(&leaf.wanted())?;
            let threads = self.resources.threads.clamp(1, parts.len().max(1));
            let parts = Mutex::new(parts.into_iter());
            let work = || -> Result<()> {
                loop {
                    let Some(part) = parts.lock().unwrap_or_else(PoisonError::into_inner).next() else { return Ok(()) };
                    let mut part = part;
                    loop {
                        if cancel.is_cancelled() {
                            return Err(Error::new(Kind::Cancelled, "the question was left"));
                        }
                        let Poll::Ready(batch) = within(pin!(part.next()), LOOK) else { continue };
                        let Some(batch) = batch else { break };
                        let batch = batch?;
                        let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
                        let mut reading = reading.lock().unwrap_or_else(PoisonError::into_inner);
                        reading.add(&mut table, &batch)?;
                    }
                }
            };
            std::thread::scope(|scope| {
                let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
                let own = work();
                let others = others.into_iter().map(|thread| thread.join());
                others.fold(own, |all, other| all.and(other.unwrap_or_else(|_| Err(internal("a reader panicked")))))
            })?;
            tables.push(table.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        reading.into_inner().unwrap_or_else(PoisonError::into_inner).finish(tables)
    }

    fn batch(
        &self,
        wanted: &Wanted,
        shown: &[usize],
        found: &Found,
        piece: &[(usize, i64)],
        numbers: &Numbers,
    ) -> Result<RecordBatch> {
        let spec = &*self.spec;
        let column = |column: &usize| -> ArrayRef {
            let (Some(node), Some(of)) = (spec.nodes.get(*column), spec.types.get(*column)) else {
                return Arc::new(piece.iter().map(|(_, times)| *times).collect::<Int64Array>());
            };
            let place = shown.iter().position(|one| one == node).unwrap_or_default();
            let number = |(row, _): &(usize, i64)| found.values.get(row * shown.len() + place);
            numbers.values(*of, piece.iter().filter_map(number).copied())
        };
        let columns = wanted.columns.iter().map(column).collect();
        let schema = self.schema.project(&wanted.columns).map_err(|error| internal(&error.to_string()))?;
        let options = RecordBatchOptions::new().with_row_count(Some(piece.len()));
        RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)
            .map_err(|error| internal(&error.to_string()))
    }
}

/// Rows of what was found: each with its number of matches, or as often as there are matches.
struct Pieces<'f> {
    found: &'f Found,
    at: usize,
    /// How often the row was given.
    given: u64,
    counts: bool,
}

impl Pieces<'_> {
    /// At most so many rows.
    fn next(&mut self, most: usize) -> Vec<(usize, i64)> {
        let mut piece = Vec::new();
        while let Some(times) = self.found.times.get(self.at).copied().filter(|_| piece.len() < most) {
            if self.counts {
                piece.push((self.at, i64::try_from(times).unwrap_or(i64::MAX)));
                self.at += 1;
                continue;
            }
            let room = (most - piece.len()) as u64;
            let now = room.min(times - self.given);
            (0..now).for_each(|_| piece.push((self.at, 1)));
            self.given += now;
            if self.given == times {
                (self.at, self.given) = (self.at + 1, 0);
            }
        }
        piece
    }
}

impl Rows for JoinedRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn column(&self, _: &str) -> Option<Column> {
        None
    }

    fn statistics(&self) -> Statistics {
        Statistics::new_unknown(&self.schema)
    }

    fn fraction(&self, _: &Predicate) -> f64 {
        1.0
    }

    fn parts(&self, wanted: &Wanted) -> Result<Vec<Part>> {
        let (own, wanted) = (self.clone(), wanted.clone());
        Ok(vec![Matches::later("isomorph-join", move |cancel, to| own.find(&wanted, cancel, to))])
    }

    fn holds_tables(&self) -> bool {
        true
    }

    fn reads(&self, _: &Wanted) -> Result<Vec<PlannedRead>> {
        let mut reads = Vec::new();
        for leaf in &self.spec.leaves {
            for read in leaf.rows.reads(&leaf.wanted())? {
                if !reads.contains(&read) {
                    reads.push(read);
                }
            }
        }
        Ok(reads)
    }

    fn way(&self, _: &Wanted) -> String {
        let names: Vec<&str> = self.spec.leaves.iter().map(|leaf| leaf.name.as_str()).collect();
        format!("search over lists of neighbours of {}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_as_often_as_they_were_found() {
        let found = Found { values: Vec::new(), times: vec![1, 5, 2] };
        let mut pieces = Pieces { found: &found, at: 0, given: 0, counts: false };
        let rows: Vec<Vec<usize>> = (0..4).map(|_| pieces.next(3).into_iter().map(|(row, _)| row).collect()).collect();
        assert_eq!(rows, [vec![0, 1, 1], vec![1, 1, 1], vec![2, 2], vec![]]);
        let mut pieces = Pieces { found: &found, at: 0, given: 0, counts: true };
        assert_eq!(pieces.next(9), [(0, 1), (1, 5), (2, 2)]);
        assert!(pieces.next(9).is_empty());
    }
}
