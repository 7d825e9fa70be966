//! Ids of triples used as terms: an id represents a triple term if the store has its triple.

use isomorph_error::{Findings, Place, Result};

use super::files::Sums;
use crate::id::TripleId;
use crate::read::GraphLake;
use crate::rules;
use crate::snapshot::file_of;

/// Ids that are not quoted are looked up in the whole store, at most this many.
const LOOKED_FOR: usize = 1_000;

pub(super) fn quoted(lake: &GraphLake, sums: &Sums<'_>, findings: &mut Findings) -> Result<()> {
    if sums.1.is_empty() {
        return Ok(());
    }
    let known = match lake.quoted() {
        Ok(known) => known,
        // Broken files were reported before.
        Err(error) if error.broken_rule().is_some() => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut unknown = Vec::new();
    for id in sums.1.iter().filter(|id| !known.has(id)) {
        unknown.push(*id);
    }
    let place = || Place::file(file_of(&lake.snapshot.id));
    for id in unknown.iter().take(LOOKED_FOR) {
        match is_there(lake, id) {
            Ok(true) => {}
            Ok(false) => {
                let message = format!("{} is the id of a triple that is not in the store", id.iri());
                findings.push(&rules::QUOTED, message, place());
            }
            Err(error) if error.broken_rule().is_some() => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_there(lake: &GraphLake, id: &TripleId) -> Result<bool> {
    let mut found = false;
    lake.by_id(id, &mut |_| {
        found = true;
        Ok(())
    })?;
    Ok(found)
}
