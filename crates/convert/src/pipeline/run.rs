//! Runs of ordered edges, pulled piece by piece.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;

use isomorph_error::{Error, Kind, Result, Rule, Severity};
use isomorph_model::{Batch, EdgeBatch, Graph, Run};

use super::as_rows;
use super::sorted::Sorted;

/// A source does not keep its declared order.
pub static EDGE_ORDER: Rule = Rule {
    id: "MODEL-EDGE-ORDER",
    severity: Severity::Error,
    says: "edges that are declared ordered ascend by the row of their aligned end",
    remedy: "isomorph validate PATH    list every finding",
};

/// Batches of a run that may wait.
const WAITING: usize = 2;

/// A position in a run of edges that are ascending by source row.
pub(super) struct Cursor {
    batches: Receiver<Result<EdgeBatch>>,
    current: Option<EdgeBatch>,
    done: bool,
    last: u64,
}

impl Cursor {
    /// Reads `run` on a separate thread.
    pub fn of_run<'scope, 'env>(scope: &'scope Scope<'scope, 'env>, run: Run<'env>) -> Self {
        let (send, batches) = sync_channel(WAITING);
        scope.spawn(move || {
            let gone = || Error::new(Kind::Cancelled, "the consumer has stopped");
            for mut part in run {
                let read = part.read(&mut |batch| match batch {
                    Batch::Edges(edges) => send.send(Ok(edges)).map_err(|_| gone()),
                    _ => Ok(()),
                });
                if let Err(error) = read {
                    // If the consumer has stopped, nobody needs the error.
                    let _ = send.send(Err(error));
                    return;
                }
            }
        });
        Cursor { batches, current: None, done: false, last: 0 }
    }

    /// Reads sorted edges on a separate thread.
    pub fn of_sorted<'scope, 'env>(scope: &'scope Scope<'scope, 'env>, sorted: &'env Sorted) -> Self {
        let (send, batches) = sync_channel(WAITING);
        scope.spawn(move || {
            let gone = || Error::new(Kind::Cancelled, "the consumer has stopped");
            if let Err(error) = sorted.each(|edges| send.send(Ok(edges)).map_err(|_| gone())) {
                let _ = send.send(Err(error));
            }
        });
        Cursor { batches, current: None, done: false, last: 0 }
    }

    /// The next edges of node type `ty` with a source row below `end`, if any are left.
    ///
    /// # Errors
    /// If the run cannot be read or is not ascending.
    pub fn below(&mut self, ty: usize, end: u64, graph: &Graph) -> Result<Option<EdgeBatch>> {
        let Some(batch) = self.fill()?.cloned() else { return Ok(None) };
        if graph.edges.get(batch.ty).is_none_or(|edge| edge.source != ty) {
            return Ok(None);
        }
        let rows = as_rows(&batch.source).ok_or_else(|| Error::usage("the sources in a run of edges must be rows"))?;
        let count = rows.values().partition_point(|row| *row < end);
        let mut last = self.last;
        for &row in rows.values().iter().take(count) {
            if row < last {
                let message = format!("source row {row} follows source row {last}");
                return Err(Error::broken(&EDGE_ORDER, message));
            }
            last = row;
        }
        if count == 0 {
            return Ok(None);
        }
        self.last = last;
        let piece = batch.slice(0, count);
        self.current = (count < batch.rows).then(|| batch.slice(count, batch.rows - count));
        Ok(Some(piece))
    }

    /// The current batch, read if necessary.
    fn fill(&mut self) -> Result<Option<&EdgeBatch>> {
        while !self.done && self.current.as_ref().is_none_or(|batch| batch.rows == 0) {
            match self.batches.recv() {
                Ok(batch) => self.current = Some(batch?),
                Err(_) => {
                    self.done = true;
                    self.current = None;
                }
            }
        }
        Ok(self.current.as_ref())
    }

    /// Checks that no edges are left after the last node.
    ///
    /// # Errors
    /// If an edge starts at a node that does not exist, or came too late for its node.
    pub fn must_be_done(&mut self) -> Result<()> {
        match self.fill()? {
            None => Ok(()),
            Some(batch) => {
                let row = as_rows(&batch.source).and_then(|rows| rows.values().first().copied()).unwrap_or_default();
                Err(Error::broken(
                    &EDGE_ORDER,
                    format!("an edge starts at row {row}, which has passed or does not exist"),
                ))
            }
        }
    }
}
