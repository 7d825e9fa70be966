//! Checks that need all ids: ids are unique, and edges end in nodes.

use isomorph_error::{Findings, Result};
use isomorph_model::{Batch, Request, Source, Tables};
use isomorph_records::{check_ids, repeats};
use isomorph_storage::Scratch;
use isomorph_tables::lookup::{KeyRowsBuilder, LookupOptions};

use crate::rules;
use crate::source::GraphMl;

/// Adds findings about ids to `findings`.
///
/// # Errors
/// Returns an error if the file cannot be read, or there is no space for temporary files.
pub(crate) fn validate(graph: &GraphMl, findings: &mut Findings) -> Result<()> {
    let budget = &graph.options.budget;
    let scratch = graph.options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
    check_ids(graph, &graph.file.blob.place(), (&rules::ID, &rules::END), (budget, &scratch), findings)?;
    hyperedges(graph, &scratch, findings)
}

/// Adds hyperedges with the same id: their ends cannot be distinguished.
fn hyperedges(graph: &GraphMl, scratch: &Scratch, findings: &mut Findings) -> Result<()> {
    let budget = &graph.options.budget;
    let mut keys = KeyRowsBuilder::new(LookupOptions::new(budget, scratch).memory(budget.available() / 2));
    for part in graph.scan(&Request::of(Tables::Rest))? {
        for batch in part {
            if let Batch::Hyperedges(own) = batch? {
                keys.push(own.keys.as_ref())?;
            }
        }
    }
    repeats(&keys.finish()?, "hyperedge", &rules::HYPEREDGE, &graph.file.blob.place(), findings);
    Ok(())
}
