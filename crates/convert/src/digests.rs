//! The three digests of a source, computed on all threads.

use isomorph_error::Result;
use isomorph_model::digest::{Digest, FactTaker, Table};
use isomorph_model::{EndForm, Request, Source, Tables};
use isomorph_storage::Resources;
use serde::{Deserialize, Serialize};

use crate::parallel::Pass;
use crate::progress::Progress;
use crate::running::Running;

/// The digests of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests {
    /// The digest of the contents.
    pub content: Digest,
    /// The digest of positions that have a meaning.
    pub order: Digest,
    /// The digest of the declarations.
    pub schema: Digest,
}

/// The digests of a graph, and the table that the first is computed from.
#[derive(Debug, Clone)]
pub struct Digested {
    /// The digests.
    pub digests: Digests,
    /// The sums by kind, type and property.
    pub table: Table,
}

/// Reads all of `source` and computes its digests.
///
/// # Errors
/// If the source cannot be read or is invalid.
pub fn digest(source: &dyn Source, resources: &Resources, progress: &dyn Progress) -> Result<Digested> {
    digest_with(Running::new(source, resources)?, source, resources, progress)
}

/// The same, and also passes on every fact.
///
/// # Errors
/// As [`digest`].
pub(crate) fn each_fact(
    source: &dyn Source,
    taker: FactTaker,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    digest_with(Running::new(source, resources)?.with_taker(taker), source, resources, progress).map(|_| ())
}

fn digest_with(
    running: Running,
    source: &dyn Source,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Digested> {
    source.prepare(resources.threads, progress)?;
    let by_row = (0..source.graph().edges.len()).any(|ty| source.end_form(ty) == EndForm::Rows);
    let passes: &[(&str, Tables)] = match by_row || running.has_rest() {
        true => &[("nodes", Tables::AllNodes), ("edges", Tables::AllEdges)],
        false => &[("read", Tables::All)],
    };
    for (stage, tables) in passes {
        let parts = source.scan(&Request::of(*tables))?;
        let pass = Pass::new(parts, stage, resources.threads, progress);
        if *tables == Tables::AllEdges && running.numbers_edges() {
            // Edges have no row numbers: they are numbered in order of arrival.
            let mut state = running.state();
            pass.in_order(|batch| running.add(&mut state, &batch))?;
            running.merge(state);
        } else {
            let states = pass.fold(|| running.state(), |state, _, batch| running.add(state, &batch))?;
            states.into_iter().for_each(|state| running.merge(state));
        }
        running.nodes_done()?;
    }
    running.rest(source, resources, progress)?;
    running.finish()
}
