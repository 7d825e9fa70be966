//! Look-up of a node by name: the specification's look-up across partitions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::channel::oneshot;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::NodeBatch;
use isomorph_storage::pool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::Nock;
use crate::columns::{Column, ColumnSet};
use crate::dataset::Named;
use crate::node_rows::is_foreign;
use crate::rows::{Depth, Rows, Split, split};

/// The result of a look-up.
#[derive(Debug, Clone)]
pub struct Found {
    /// The node according to its owner's row: one row, numbered 0.
    pub node: NodeBatch,
    /// Number of the partition that owns it. `None` if no partition here does: the node is only a shadow, or only
    /// an end of edges.
    pub owner: Option<u64>,
    /// The owner according to a shadow row, if the owner is not here.
    pub shadow: Option<i64>,
    /// The file of the row, and the number of the row in it; `None` for a node that only edges mention.
    pub place: Option<(String, u64)>,
}

/// A node row of one partition.
struct Candidate {
    partition: usize,
    rows: Rows,
    row: usize,
    foreign: bool,
    /// For a shadow row, the number of its values: the row with the most is chosen.
    said: usize,
}

impl Candidate {
    /// Returns the rank of the candidate; the last one of the highest rank is chosen.
    fn rank(&self) -> (bool, usize) {
        (!self.foreign, self.said)
    }
}

impl Nock {
    /// Looks up a node by its name, in all partitions in parallel. Row groups and pages whose statistics exclude the
    /// name are not read. If a node has several rows, the same row is chosen as in a scan.
    ///
    /// ```no_run
    /// # use isomorph_nock::{Nock, OpenOptions};
    /// # use isomorph_storage::Location;
    /// let nock = Nock::open(&Location::parse("graph/")?, &OpenOptions::default().settle_up_to(0))?;
    /// if let Some(found) = nock.lookup("tea")? {
    ///     println!("owned by partition {:?}", found.owner);
    /// }
    /// # Ok::<(), isomorph_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or a row is invalid.
    pub fn lookup(&self, name: &str) -> Result<Option<Found>> {
        let found = (0..self.partitions.len()).into_par_iter().map(|partition| self.candidate(partition, name));
        self.choose(name, pool::run(|| found.collect::<Result<Vec<_>>>())?)
    }

    /// Looks up a node without blocking the caller: each partition is searched on its own thread, and the future is
    /// ready when all are done. No particular runtime is needed.
    ///
    /// # Errors
    /// As [`Nock::lookup`].
    pub async fn lookup_async(self: &Arc<Self>, name: &str) -> Result<Option<Found>> {
        let waiting: Vec<_> = (0..self.partitions.len())
            .map(|partition| {
                let (send, receive) = oneshot::channel();
                let (nock, name) = (Arc::clone(self), name.to_owned());
                pool::spawn(move || {
                    // A panic here would end the process; instead, the closed channel tells the waiting task, and
                    // nothing needs to be told if the future was dropped.
                    if let Ok(found) = catch_unwind(AssertUnwindSafe(|| nock.candidate(partition, &name))) {
                        let _ = send.send(found);
                    }
                });
                receive
            })
            .collect();
        let mut found = Vec::with_capacity(waiting.len());
        for receive in waiting {
            let one = receive.await.map_err(|_| Error::new(Kind::Cancelled, "a look-up in a partition stopped"))?;
            found.push(one?);
        }
        self.choose(name, found)
    }

    /// Returns the row of a node that is chosen within one partition.
    fn candidate(&self, partition: usize, name: &str) -> Result<Option<Candidate>> {
        let Some(file) = self.partitions.get(partition) else { return Ok(None) };
        let mut best: Option<Candidate> = None;
        let columns = ColumnSet::of(&[Column::Truth, Column::Shadow, Column::IsRdf, Column::Labels, Column::Props]);
        for rows in file.named(Named::Node(name), self.wanted(columns, true))? {
            let rows = rows?;
            for row in 0..rows.len {
                let foreign = rows.shadow.as_ref().is_some_and(|shadow| is_foreign(shadow, row));
                let said = if foreign { self.cells_said(&rows, row)? } else { 0 };
                let found = Candidate { partition, rows: rows.clone(), row, foreign, said };
                if best.as_ref().is_none_or(|best| best.rank() <= found.rank()) {
                    best = Some(found);
                }
            }
        }
        Ok(best)
    }

    fn choose(&self, name: &str, candidates: Vec<Option<Candidate>>) -> Result<Option<Found>> {
        let best = candidates.into_iter().flatten().max_by_key(|candidate| (candidate.rank(), candidate.partition));
        let Some(best) = best else { return self.only_mentioned(name) };
        let what = Split {
            nodes: Depth::Full,
            edges: Depth::None,
            shadow: self.has_shadows,
            edge_id: false,
            shape: &self.shape,
        };
        let others: Vec<usize> = (0..best.rows.len).filter(|&row| row != best.row).collect();
        let (node, _) = split(&best.rows, &what, 0, &others)?;
        let node = node.ok_or_else(|| Error::malformed("a node row has disappeared"))?;
        let shadow = best.rows.shadow.as_ref().filter(|_| best.foreign).map(|shadow| shadow.value(best.row));
        let partition = self.partitions.get(best.partition);
        Ok(Some(Found {
            node,
            owner: partition.filter(|_| !best.foreign).map(|partition| partition.id),
            shadow,
            place: partition.map(|partition| (partition.name.clone(), best.rows.numbers.at(best.row))),
        }))
    }

    /// Returns a node without a row, if an edge mentions it.
    fn only_mentioned(&self, name: &str) -> Result<Option<Found>> {
        let mut mentioned = false;
        for partition in &self.partitions {
            for side in [Named::Source(name), Named::Target(name)] {
                let mut rows = partition.named(side, self.wanted(ColumnSet::of(&[Column::DstName]), false))?;
                mentioned |= rows.next().transpose()?.is_some();
            }
        }
        let node = || self.implicit_nodes([name].into_iter().collect(), 0);
        Ok(mentioned.then(|| Found { node: node(), owner: None, shadow: None, place: None }))
    }
}
