//! All partitions of a binary, and what they share.

use std::io::Write;

use isomorph_error::{Result, index};
use isomorph_storage::{Scratch, Staging};

use super::meta::{self, PartitionMeta};
use super::pages::Room;
use super::partition::{Partition, Refused};
use crate::binary::layout;
use crate::block::{Block, RecordEnd};
use crate::{BuildOptions, Dispatch};

/// Partitions that are being written.
pub(crate) struct Partitions<'a> {
    staging: &'a Staging,
    options: BuildOptions,
    partitions: Vec<Partition<'a>>,
}

impl<'a> Partitions<'a> {
    /// Begins the files of all partitions.
    ///
    /// # Errors
    /// Returns an error if one cannot be created.
    pub fn create(staging: &'a Staging, options: &BuildOptions) -> Result<Self> {
        let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        let room = Room { budget: options.budget.clone(), scratch: Some(scratch) };
        let numbers = 0..options.partitions.max(1);
        let partitions = numbers.map(|number| Partition::create(staging, number, options, &room));
        Ok(Partitions { staging, options: options.clone(), partitions: partitions.collect::<Result<_>>()? })
    }

    /// Appends the records of a block; `line` returns the line number of a record.
    ///
    /// # Errors
    /// Returns an error with the edge's number in the block if an edge breaks a rule, or if a file cannot be written.
    pub fn append(&mut self, block: &Block, line: impl Fn(usize) -> u64) -> Result<Result<(), Refused>> {
        let whole = block.records.last().copied().unwrap_or_default();
        if let [partition] = self.partitions.as_mut_slice()
            && block.nodes.lives.is_empty()
            && block.edges.lives.is_empty()
        {
            return partition.append(block, RecordEnd::default(), whole);
        }
        let count = self.partitions.len() as u64;
        let mut from = RecordEnd::default();
        for (at, to) in block.records.iter().enumerate() {
            let number = match self.options.dispatch {
                Dispatch::Line => line(at),
                Dispatch::Id => first_id(block, from, *to),
            } % count;
            if let Some(partition) = self.partitions.get_mut(index(number))
                && let Err(refused) = partition.append(block, from, *to)?
            {
                return Ok(Err(refused));
            }
            from = *to;
        }
        Ok(Ok(()))
    }

    /// Completes the files and writes the metadata. `several` says whether a feature id has several types. Returns the
    /// numbers of nodes and edges.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn finish(self, watermark: Option<i64>, several: bool) -> Result<(u64, u64)> {
        let mut metas = Vec::with_capacity(self.partitions.len());
        for (number, partition) in (0..).zip(self.partitions) {
            metas.push(partition.finish(self.staging, number, several)?);
        }
        empty_tables(self.staging, &metas, &self.options)?;
        let mut file = self.staging.create(layout::META)?;
        file.write_all(meta::text(&metas, watermark).as_bytes())?;
        file.finish()?;
        let total = |of: fn(&PartitionMeta) -> u64| metas.iter().map(of).sum();
        Ok((total(|meta| meta.nodes), total(|meta| meta.edges)))
    }
}

/// Returns the first id of a record; 0 for an empty one.
pub(crate) fn first_id(block: &Block, from: RecordEnd, to: RecordEnd) -> u64 {
    let (node, edge) = (from.nodes as usize, from.edges as usize);
    let first_is_node = from.nodes < to.nodes && block.nodes.edges_before[node] == from.edges;
    match (first_is_node, from.edges < to.edges) {
        (true, _) => block.nodes.ids[node],
        (false, true) => block.edges.sources[edge],
        (false, false) => 0,
    }
}

/// Writes empty tables: a type that occurs in some partitions needs a table in every partition.
fn empty_tables(staging: &Staging, metas: &[PartitionMeta], options: &BuildOptions) -> Result<()> {
    let (node_types, edge_types) = meta::types(metas);
    for (number, meta) in (0..).zip(metas) {
        let nodes = (meta.node_counts.0.len()..node_types).filter(|_| options.node_samplers);
        let edges = (meta.edge_counts.0.len()..edge_types).filter(|_| options.edge_samplers);
        let names =
            nodes.map(|ty| layout::alias("node", ty, number)).chain(edges.map(|ty| layout::alias("edge", ty, number)));
        for name in names {
            staging.create(&name)?.finish()?;
        }
    }
    Ok(())
}
