//! Building a binary from a text in one pass.

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::Graph;
use isomorph_storage::Staging;

use super::partition::Refused;
use super::partitions::Partitions;
use crate::BuildOptions;
use crate::block::Block;
use crate::rules;
use crate::survey::Noted;
use crate::text::{Fault, Piece, Text};

/// The result of a build.
#[derive(Debug, Clone, Default)]
pub struct Built {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// The graph of the text, including what the binary cannot store.
    pub graph: Graph,
    /// Whether a node of the text states a lifetime.
    pub lives: bool,
    /// Whether the ids of nodes ascend; if so, no node has several statements.
    pub ascends: bool,
    /// Repairs of the text.
    pub findings: Findings,
}

/// Writes the binary of a text into `staging`, which is a directory: the same bytes that the published converter writes
/// for the same text, number of partitions and dispatcher.
///
/// The text is read by all threads; the output does not depend on their number. Memory is needed for the sampling
/// tables, 24 to 30 bytes for each edge (in temporary files beyond the budget), and for a few pieces of text for each
/// thread.
///
/// # Errors
/// Returns an error if the text is malformed (with file, line, column and rule), if files cannot be written, or if
/// `advance`, which is called with the numbers of finished nodes and edges, returns one.
pub fn build(
    text: &Text,
    staging: &Staging,
    options: &BuildOptions,
    advance: &(dyn Fn(u64) -> Result<()> + Sync),
) -> Result<Built> {
    let mut partitions = Partitions::create(staging, options)?;
    let mut findings = text.noticed.clone();
    let (mut records, mut noted) = (0u64, Noted::default());
    let (mut ascends, mut last) = (true, None);
    text.each(|piece, block| {
        noted.see(block);
        for id in &block.nodes.ids {
            ascends &= last < Some(*id);
            last = Some(*id);
        }
        note_repairs(text, piece, block, &mut findings);
        let appended = partitions.append(block, |at| records + at as u64)?;
        appended.map_err(|refused| place(text, piece, block, refused))?;
        records += block.records.len() as u64;
        advance((block.nodes.ids.len() + block.edges.sources.len()) as u64)
    })?;
    let columns = noted.columns(text);
    let (nodes, edges) = partitions.finish(options.watermark, columns.has_several())?;
    let graph = columns.graph(Some(nodes), Some(edges));
    Ok(Built { nodes, edges, graph, lives: noted.lives, ascends, findings })
}

/// Returns the error for an edge that broke a rule, with the record that contains it.
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
            findings.push(
                repair.rule,
                repair.message.as_deref().unwrap_or_else(|| rules::repair(repair.rule)),
                place.clone(),
            );
        }
    }
}
