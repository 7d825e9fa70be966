//! From text to a binary in one pass.

use std::io::Write;

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_storage::{Scratch, Staging};

use super::meta::{self, PartitionMeta};
use super::pages::Room;
use super::partition::{Partition, Refused};
use crate::binary::layout;
use crate::block::{Block, RecordEnd};
use crate::text::{Fault, Piece, Text};
use crate::{BuildOptions, Dispatch};

/// What was built.
#[derive(Debug, Clone, Default)]
pub struct Built {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// What was mended in the text.
    pub findings: Findings,
}

/// Writes the binary of a text into `staging`, which is a directory: the files that the published converter writes for the same text,
/// number of partitions and dispatcher, byte by byte.
///
/// Text is read on all threads; what is written does not depend on their number. Held in memory are the tables for
/// weighted sampling, 24 to 30 bytes for each edge, or in temporary files beyond the budget; and, for each
/// thread, a few pieces of text.
///
/// # Errors
/// When the text is not sound (with file, line, column and rule), files cannot be written, or `advance`, which is told
/// of each number of nodes and edges that are done, ends the work with an error.
pub fn build(
    text: &Text,
    staging: &Staging,
    options: &BuildOptions,
    advance: &(dyn Fn(u64) -> Result<()> + Sync),
) -> Result<Built> {
    let count = options.partitions.max(1);
    let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
    let room = Room { budget: options.budget.clone(), scratch: Some(scratch) };
    let mut partitions =
        (0..count).map(|number| Partition::create(staging, number, options, &room)).collect::<Result<Vec<_>>>()?;
    let mut findings = text.noticed.clone();
    let mut records = 0u64;
    text.each(|piece, block| {
        note_repairs(text, piece, block, &mut findings);
        let appended = append(&mut partitions, block, records, options.dispatch)?;
        appended.map_err(|refused| place(text, piece, block, refused))?;
        records += block.records.len() as u64;
        advance((block.nodes.ids.len() + block.edges.sources.len()) as u64)
    })?;
    let mut metas = Vec::with_capacity(partitions.len());
    for (number, partition) in partitions.into_iter().enumerate() {
        metas.push(partition.finish(staging, number as u32)?);
    }
    empty_tables(staging, &metas, options)?;
    let mut file = staging.create(layout::META)?;
    file.write_all(meta::text(&metas, options.watermark).as_bytes())?;
    file.finish()?;
    let total = |of: fn(&PartitionMeta) -> u64| metas.iter().map(of).sum();
    Ok(Built { nodes: total(|meta| meta.nodes), edges: total(|meta| meta.edges), findings })
}

fn append(
    partitions: &mut [Partition],
    block: &Block,
    records: u64,
    dispatch: Dispatch,
) -> Result<Result<(), Refused>> {
    let whole = block.records.last().copied().unwrap_or_default();
    if let [partition] = partitions
        && block.nodes.lives.is_empty()
        && block.edges.lives.is_empty()
    {
        return partition.append(block, RecordEnd::default(), whole);
    }
    let count = partitions.len() as u64;
    let mut from = RecordEnd::default();
    for (at, to) in block.records.iter().enumerate() {
        let number = match dispatch {
            Dispatch::Line => records + at as u64,
            Dispatch::Id => first_id(block, from, *to),
        } % count;
        if let Some(partition) = partitions.get_mut(number as usize)
            && let Err(refused) = partition.append(block, from, *to)?
        {
            return Ok(Err(refused));
        }
        from = *to;
    }
    Ok(Ok(()))
}

/// The first id of a record; 0 for one that says nothing.
fn first_id(block: &Block, from: RecordEnd, to: RecordEnd) -> u64 {
    let (node, edge) = (from.nodes as usize, from.edges as usize);
    let first_is_node = from.nodes < to.nodes && block.nodes.edges_before[node] == from.edges;
    match (first_is_node, from.edges < to.edges) {
        (true, _) => block.nodes.ids[node],
        (false, true) => block.edges.sources[edge],
        (false, false) => 0,
    }
}

/// The error for an edge that broke a rule, at the record that it came in.
fn place(text: &Text, piece: &Piece, block: &Block, refused: Refused) -> Error {
    let record = block.records.partition_point(|end| end.edges as usize <= refused.edge);
    let at = block.records.get(record).map_or(0, |end| end.at as usize);
    let line = Fault::place_in(&piece.text, piece.line, at);
    refused.error.at(Place { file: Some(text.file_name(piece.file).to_owned()), ..line })
}

/// Adds the repairs of a block to the findings.
pub(crate) fn note_repairs(text: &Text, piece: &Piece, block: &Block, findings: &mut Findings) {
    for repair in &block.repairs {
        let line = Fault::place_in(&piece.text, piece.line, repair.at);
        let place = Place { file: Some(text.file_name(piece.file).to_owned()), ..line };
        for _ in 0..repair.count {
            findings.push(repair.rule, repair.rule.remedy, place.clone());
        }
    }
}

/// Types that some partitions have have a table in every partition, which is empty in the others.
fn empty_tables(staging: &Staging, metas: &[PartitionMeta], options: &BuildOptions) -> Result<()> {
    let (node_types, edge_types) = meta::types(metas);
    for (number, meta) in metas.iter().enumerate() {
        let number = number as u32;
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
