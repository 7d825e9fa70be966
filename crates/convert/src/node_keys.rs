//! The keys of nodes, in as few passes as the source allows.

use isomorph_error::Result;
use isomorph_model::{Batch, NodeBatch, Progress, Request, Source, Tables};

use crate::parallel::Pass;

/// Types whose nodes are read in one pass.
pub(crate) type Together = Vec<usize>;

/// Divides node types into those that one pass reads together: all types that share a table, at most `most` at once; otherwise each type alone.
pub(crate) fn passes(source: &dyn Source, types: impl IntoIterator<Item = usize>, most: usize) -> Vec<Together> {
    let types: Vec<usize> = types.into_iter().collect();
    let together = if source.is_one_table(Tables::AllNodes) { most.max(1) } else { 1 };
    types.chunks(together).map(<[usize]>::to_vec).collect()
}

/// Reads the keys of the nodes of `types` in one pass and hands them to `take`, the nodes of each type in the order of their rows.
///
/// # Errors
/// Returns the errors of reading and of `take`.
pub(crate) fn read(
    source: &dyn Source,
    types: &[usize],
    stage: &str,
    threads: usize,
    progress: &dyn Progress,
    mut take: impl FnMut(&NodeBatch) -> Result<()>,
) -> Result<()> {
    let request = match types {
        [] => return Ok(()),
        [only] => Request::of(Tables::NodeKeys(*only)),
        _ => Request::of_all_keys(),
    };
    let parts = source.scan(&request)?;
    Pass::new(parts, stage, threads, progress).in_order(|batch| match batch {
        Batch::Nodes(nodes) if types.contains(&nodes.ty) => take(&nodes),
        _ => Ok(()),
    })
}
