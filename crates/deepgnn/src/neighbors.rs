//! The edges of one node.
//!
//! No metadata states that the entries of a map are sorted. The first look-up therefore reads the ids of all entries,
//! 20 bytes each, and determines whether they are; later look-ups then use binary search. Only the edges of the found
//! entries are read. Edges that reach a node are found by a pass over all ends; for a text, all edges are found by a
//! pass over the text.

use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, EdgeBatch, NodeId, Part, Side, part};
use isomorph_storage::pool;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::binary::{Binary, DUMMY, Partition, Passed, Piece};
use crate::block::{Block, Depth};
use crate::source::{DeepGnn, Form};

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 14;

/// Returns the edges that leave (or reach) a node.
///
/// # Errors
/// Returns [`Kind::NotFound`] if neither a node nor an edge has the id, and an error if files cannot be read.
pub(crate) fn neighbors<'g>(graph: &'g DeepGnn, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + 'g>> {
    let NodeId::Key(key) = node else {
        return Err(Error::unsupported("nodes of DeepGNN are looked up by id").hint("specify the node by its id"));
    };
    let missing = || Error::new(Kind::NotFound, format!("there is no node {key}"));
    let id: u64 = key.parse().map_err(|_| missing())?;
    let (exists, mut found) = match &graph.form {
        Form::Text(text, _) => {
            let (mut exists, mut found) = (false, Vec::new());
            text.each(|_, block| {
                exists |= block.nodes.ids.contains(&id);
                only(graph, block, id, side, &mut |batch| {
                    found.push(batch);
                    Ok(())
                })
            })?;
            (exists, part::edges(found))
        }
        Form::Binary(binary) => match side {
            Side::Out => leaving(graph, binary, id)?,
            Side::In => reaching(graph, binary, id)?,
        },
    };
    let first = found.next().transpose()?;
    if first.is_none() && !exists {
        return Err(missing());
    }
    Ok(part::of(None, first.map(Ok).into_iter().chain(found)))
}

/// Returns the edges of a block that have the node on one side.
fn only(
    graph: &DeepGnn,
    block: &Block,
    id: u64,
    side: Side,
    found: &mut dyn FnMut(EdgeBatch) -> Result<()>,
) -> Result<()> {
    let edges = &block.edges;
    let ends = if side == Side::Out { &edges.sources } else { &edges.targets };
    if !ends.contains(&id) {
        return Ok(());
    }
    let mut start = 0;
    graph.columns.edges(block, BATCH_ROWS, Depth::Full, &mut |batch| {
        let Batch::Edges(batch) = batch else { return Ok(()) };
        let wanted = ends.get(start..start + batch.rows).unwrap_or_default();
        start += batch.rows;
        let mut at = 0;
        for run in wanted.chunk_by(|a, b| (*a == id) == (*b == id)) {
            if run.first() == Some(&id) {
                found(batch.slice(at, run.len()))?;
            }
            at += run.len();
        }
        Ok(())
    })
}

/// Finds the entries of a node in each partition, with their types.
fn entries(binary: &Binary, id: u64) -> Result<Vec<(&Partition, u64, i32)>> {
    let mut found = Vec::new();
    let mut unknown = vec![false; binary.partitions.len()];
    for (partition, unknown) in binary.partitions.iter().zip(&mut unknown) {
        match partition.search(id)? {
            Some(entries) => found.extend(entries.into_iter().map(|(entry, ty)| (partition, entry, ty))),
            None => *unknown = true,
        }
    }
    let pieces: Vec<Piece> = binary.pieces().filter(|piece| unknown.get(piece.partition) == Some(&true)).collect();
    let pass = |piece: &Piece| match binary.partitions.get(piece.partition) {
        Some(partition) => partition.pass(piece.entries.clone(), |own| own == id),
        None => Ok(Passed::default()),
    };
    let passed: Vec<Passed> = pool::run(|| pieces.par_iter().map(pass).collect::<Result<_>>())?;
    let mut passed = passed.as_slice();
    for same in pieces.chunk_by(|a, b| a.partition == b.partition) {
        let (own, rest) = passed.split_at(same.len().min(passed.len()));
        passed = rest;
        let Some(partition) = same.first().and_then(|piece| binary.partitions.get(piece.partition)) else { continue };
        partition.note_order(own.iter());
        found.extend(own.iter().flat_map(|passed| &passed.found).map(|(entry, ty)| (partition, *entry, *ty)));
    }
    Ok(found)
}

/// Returns whether the node exists, and the edges that leave it, block by block.
fn leaving<'g>(graph: &'g DeepGnn, binary: &'g Binary, id: u64) -> Result<(bool, Box<dyn Part + 'g>)> {
    let entries = entries(binary, id)?;
    let exists = entries.iter().any(|(_, _, ty)| *ty != DUMMY);
    let (mut entries, open) = (entries.into_iter(), || Ok((None, Block::default())));
    let found = part::stepped(None, open, move |(blocks, block), take| {
        let Some(reading) = blocks else {
            let Some((partition, entry, _)) = entries.next() else { return Ok(false) };
            *blocks = Some(partition.edge_blocks(entry..entry + 1, &graph.columns.edge_features, Depth::Full)?);
            return Ok(true);
        };
        match reading.fill(block)? {
            Some(_) => only(graph, block, id, Side::Out, &mut |batch| take(Batch::Edges(batch)))?,
            None => *blocks = None,
        }
        Ok(true)
    });
    Ok((exists, found))
}

/// Returns whether the node exists, and the edges that reach it; several pieces are read in parallel.
fn reaching<'g>(graph: &'g DeepGnn, binary: &'g Binary, id: u64) -> Result<(bool, Box<dyn Part + 'g>)> {
    let exists = entries(binary, id)?.iter().any(|(_, _, ty)| *ty != DUMMY);
    let of_piece = move |piece: &Piece| -> Result<Vec<EdgeBatch>> {
        let (mut found, mut named) = (Vec::new(), false);
        let Some(partition) = binary.partitions.get(piece.partition) else { return Ok(found) };
        let features = &graph.columns.edge_features;
        partition.edges(piece.entries.clone(), features, Depth::Bare, &mut |_, block| {
            named |= block.edges.targets.contains(&id);
            Ok(())
        })?;
        if named {
            partition.edges(piece.entries.clone(), features, Depth::Full, &mut |_, block| {
                only(graph, block, id, Side::In, &mut |batch| {
                    found.push(batch);
                    Ok(())
                })
            })?;
        }
        Ok(found)
    };
    let mut pieces = binary.pieces();
    let found = part::stepped(
        None,
        || Ok(()),
        move |(), take| {
            let some: Vec<Piece> = pieces.by_ref().take(4 * pool::threads()).collect();
            let found: Vec<Vec<EdgeBatch>> = pool::run(|| some.par_iter().map(of_piece).collect::<Result<_>>())?;
            found.into_iter().flatten().try_for_each(|batch| take(Batch::Edges(batch)))?;
            Ok(!some.is_empty())
        },
    );
    Ok((exists, found))
}
